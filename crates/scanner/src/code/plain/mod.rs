//! Stub.
use super::capability::CodeFacts;
/// The languages.
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
/// Reads.
pub(crate) fn read_plain(_language: PlainLanguage, _text: &str) -> CodeFacts {
    CodeFacts::default()
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
