//! The two streams, and the two answers.

use std::io::{self, Write};

/// What the exit code says: 0 or 1. An error that is no answer is 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Yes,
    No,
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
    message(&format!("\u{1b}[1;31merror\u{1b}[0m: {error:#}"));
}

/// Whether the reader went away, as `head` does: nothing to complain about.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

/// Whether a character moves the cursor, hides, or reorders the text around it.
pub(crate) fn is_treacherous(c: char) -> bool {
    match c {
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' => true,
        '\u{ad}' | '\u{61c}' | '\u{e0000}'..='\u{e007f}' => true,
        c => c.is_control(),
    }
}

/// Text of unknown origin for a terminal: what could deceive the reader becomes a visible escape.
pub(crate) fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if is_treacherous(c) {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    out
}
