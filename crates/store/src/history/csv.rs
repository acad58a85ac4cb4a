//! Runs for a spreadsheet: RFC 4180, one line a run whatever is in it.
//!
//! A spreadsheet takes a cell that begins with `=`, `+`, `-` or `@` for a formula and executes it (CWE-1236), and a skill chooses its own
//! name. Many other signs become one of these (wide, small and superscript forms, U+2212), so every cell that begins with anything but a letter, a
//! digit or one of `/ \ { [ _ .`, also behind blanks or quotes, gets an apostrophe in front: what spreadsheets write before text that is only text. Numbers are never touched, for no skill chooses what they begin with.

use serde_json::Value;
use skillsandbox_text::{Escape, Glyphs};

use super::record::Record;

const NAMES: [&str; 18] = [
    "timestamp",
    "execution_id",
    "skill",
    "version",
    "tool",
    "parameters",
    "arguments",
    "user",
    "status",
    "ending",
    "duration_ms",
    "exit_code",
    "error",
    "denied",
    "classes",
    "complete",
    "trace",
    "digest",
];

/// The first line, with its end.
#[must_use]
pub fn csv_header() -> String {
    NAMES.join(",") + "\r\n"
}

/// The line of one run, with its end.
#[must_use]
pub fn csv_line(record: &Record) -> String {
    let json = |value: &Value| cell(&value.to_string());
    let or_none = |text: Option<&str>| cell(text.unwrap_or_default());
    let cells = [
        format!("{:.3}", record.timestamp),
        cell(&record.execution_id),
        cell(&record.skill),
        or_none(record.version.as_deref()),
        cell(&record.tool),
        json(&record.parameters),
        json(&record.arguments),
        or_none(record.user.as_deref()),
        record.status.as_str().to_owned(),
        cell(&record.ending),
        record.duration_ms.to_string(),
        record.exit_code.map(|code| code.to_string()).unwrap_or_default(),
        or_none(record.error.as_deref()),
        record.denied.to_string(),
        cell(&record.classes.join(" ")),
        record.complete.to_string(),
        cell(&record.trace.as_ref().map(|trace| trace.display().to_string()).unwrap_or_default()),
        or_none(record.digest.as_deref()),
    ];
    cells.join(",") + "\r\n"
}

/// One cell: no line break or control character in it, no formula, quoted where it must be.
fn cell(text: &str) -> String {
    // Twice as long at most, and it says exactly what it was.
    let mut text = Escape::text(Glyphs::Unicode).whole(text);
    if is_formula(&text) {
        text.insert(0, '\'');
    }
    if text.contains([',', '"', '\'', ';']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}

fn is_formula(text: &str) -> bool {
    let start = text.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '"' | '\''));
    // Unicode has many pluses and minuses, and programs differ in which they take for one: what may begin a cell is listed, not what may not.
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '/' | '\\' | '{' | '[' | '_' | '.');
    start.chars().next().is_some_and(|first| !is_plain(first))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_unicode_sign_of_a_formula_gets_an_apostrophe_and_no_cell_is_two_lines() {
        for (text, shown) in [
            ("weather", "weather"),
            ("", ""),
            ("a,b", "\"a,b\""),
            ("say \"x\"", "\"say \"\"x\"\"\""),
            ("=cmd|' /C calc'!A0", "\"'=cmd|' /C calc'!A0\""),
            ("+1", "\"'+1\""),
            ("-1", "\"'-1\""),
            ("@SUM(A1)", "\"'@SUM(A1)\""),
            ("  =1", "\"'  =1\""),
            ("\"=1", "\"'\"\"=1\""),
            ("\t=1", "\\t=1"),
            ("\r\n=1", "\\r\\n=1"),
            ("\u{feff}=1", "\\u{feff}=1"),
            ("＝1", "\"'＝1\""),
            ("\u{fe62}1", "\"'\u{fe62}1\""),
            ("\u{2212}1", "\"'\u{2212}1\""),
            ("\u{fe63}1", "\"'\u{fe63}1\""),
            ("\u{fe66}1", "\"'\u{fe66}1\""),
            ("\u{fe6b}1", "\"'\u{fe6b}1\""),
            ("\u{207a}1", "\"'\u{207a}1\""),
            ("\u{208b}1", "\"'\u{208b}1\""),
            ("\u{2795}1", "\"'\u{2795}1\""),
            ("\u{3000}=1", "\\u{3000}=1"),
            ("'=1", "\"''=1\""),
            ("|calc", "\"'|calc\""),
            ("%0", "\"'%0\""),
            ("{}", "{}"),
            ("[]", "[]"),
            ("/tmp/trace.json", "/tmp/trace.json"),
            ("größe", "größe"),
            ("温度", "温度"),
            ("a\nb,c", "\"a\\nb,c\""),
            ("\u{1b}[2J", "\\u{1b}[2J"),
        ] {
            assert_eq!(cell(text), shown, "{text:?}");
        }
    }
}
