//! Code of other languages that a shell hands to an interpreter: `perl -e '…'`, `python3 - <<EOF`.

use super::super::capability::CodeFacts;
use super::super::plain::{PlainLanguage, read_nested};
use super::super::{Language, MAX_NESTING, read_text};

/// What the reader of a language says of code; nothing for a language that has none.
pub(super) fn read_embedded(program: &str, code: &str, nesting: u32) -> CodeFacts {
    let program = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let language = match program {
        "perl" => PlainLanguage::Perl,
        "ruby" => PlainLanguage::Ruby,
        "php" => PlainLanguage::Php,
        "lua" | "luajit" => PlainLanguage::Lua,
        "osascript" => PlainLanguage::AppleScript,
        "pwsh" | "powershell" => PlainLanguage::PowerShell,
        "cmd" => PlainLanguage::Batch,
        "python" | "pypy" => return read_parsed(code, Language::Python, nesting),
        "node" | "nodejs" | "bun" | "deno" | "tsx" | "ts-node" => {
            return read_parsed(code, Language::TypeScript, nesting);
        }
        _ => return CodeFacts::default(),
    };
    read_nested(language, code, nesting)
}

/// A language that is parsed. Commands in it are read again, so what is too deep is left.
fn read_parsed(code: &str, language: Language, nesting: u32) -> CodeFacts {
    let depth = usize::try_from(nesting + 1).unwrap_or(MAX_NESTING);
    if depth >= MAX_NESTING {
        return CodeFacts { is_cut: true, ..CodeFacts::default() };
    }
    read_text(code, language, depth)
}
