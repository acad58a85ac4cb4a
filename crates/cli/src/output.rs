//! The two streams, and the two answers.

use std::io::{self, Write as _};

/// Text of unknown origin for a terminal, and JSON for one.
pub(crate) use skillsandbox_text::{escape_json as escaped, escape_line as visible};

use crate::style::{RED, RESET};

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
    message(&format!("{RED}error{RESET}: {}", visible(&format!("{error:#}"))));
}

/// Writes a result for a program.
pub(crate) fn json(value: &serde_json::Value) -> anyhow::Result<()> {
    result(&(escaped(&serde_json::to_string_pretty(value)?) + "\n"))
}

/// Whether the reader went away, as `head` does: nothing to complain about.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
