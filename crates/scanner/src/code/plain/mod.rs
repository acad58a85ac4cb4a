//! What code of small languages does: Ruby, PHP, Perl, PowerShell, Go, Lua, `AppleScript` and batch files.
//!
//! A light reader: statements of strings and names, in order. What a variable is given it holds; what a statement of a sender names is
//! sent. It knows functions by their names, not by their scopes, and no types. Commands that the code hands to a shell go to the
//! shell's reader; batch files are put into its spelling line by line.

mod deeds;
mod holding;
mod statements;
mod tables;
mod walker;

use super::capability::CodeFacts;

/// A language that is read so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PlainLanguage {
    Ruby,
    Php,
    Perl,
    PowerShell,
    Go,
    Lua,
    AppleScript,
    Batch,
}

impl PlainLanguage {
    /// The language of files that end so.
    pub(crate) fn from_ending(ending: &str) -> Option<Self> {
        Some(match ending {
            "rb" => Self::Ruby,
            "php" => Self::Php,
            "pl" | "pm" => Self::Perl,
            "ps1" | "psm1" => Self::PowerShell,
            "go" => Self::Go,
            "lua" => Self::Lua,
            "applescript" | "scpt" => Self::AppleScript,
            "bat" | "cmd" => Self::Batch,
            _ => return None,
        })
    }
}

/// Longest text that is read.
const MAX_TEXT: usize = 2 * 1024 * 1024;
/// Code in code that is still read: a shell that starts Perl that starts a shell.
pub(super) const MAX_NESTING: u32 = 3;

/// What a piece of code does. Places are relative to the text.
pub(crate) fn read_plain(language: PlainLanguage, text: &str) -> CodeFacts {
    read_nested(language, text, 0)
}

/// The same, of code that stands in other code.
pub(super) fn read_nested(language: PlainLanguage, text: &str, nesting: u32) -> CodeFacts {
    if nesting >= MAX_NESTING {
        return CodeFacts { is_cut: true, ..CodeFacts::default() };
    }
    let mut end = text.len().min(MAX_TEXT);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let read = text.get(..end).unwrap_or_default();
    let mut facts = match language {
        PlainLanguage::Batch => super::shell::read_batch(read, nesting + 1),
        _ => walker::walk(language, read, nesting),
    };
    facts.is_cut |= end < text.len();
    facts
}
