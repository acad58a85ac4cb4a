//! The two streams, and the two answers.

use std::fmt::Write as _;
use std::io::{self, Write as _};

use skillsandbox_manifest::is_deceptive;

/// What the exit code says: 0 or 1, or the code of what was run. An error that is no answer is 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExitAnswer {
    Yes,
    No,
    Code(u8),
}

/// Writes a result.
pub(crate) fn result(text: &str) -> anyhow::Result<()> {
    let mut out = anstream::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}

/// Writes a message for a person.
pub(crate) fn message(text: &str) {
    // A closed standard error leaves nobody to tell.
    let _ = writeln!(anstream::stderr().lock(), "{text}");
}

pub(crate) fn error(error: &anyhow::Error) {
    message(&format!("\u{1b}[1;31merror\u{1b}[0m: {}", visible(&format!("{error:#}"))));
}

/// Writes a result for a program.
pub(crate) fn json(value: &serde_json::Value) -> anyhow::Result<()> {
    result(&(escaped(&serde_json::to_string_pretty(value)?) + "\n"))
}

/// JSON in which what could deceive a person who looks at it all the same is escaped.
pub(crate) fn escaped(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for c in json.chars() {
        if is_deceptive(c) {
            // Such characters stand in strings only.
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(text, "\\u{unit:04x}");
            }
        } else {
            text.push(c);
        }
    }
    text
}

/// Whether the reader went away, as `head` does: nothing to complain about.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

/// Text of unknown origin for a terminal: what could deceive the reader becomes a visible escape.
pub(crate) fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if is_deceptive(c) || matches!(c, '\n' | '\t') {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    out
}
