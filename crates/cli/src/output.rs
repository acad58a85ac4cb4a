//! The two streams, and the two answers.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context as _;
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

/// Whether anything of a result was written: a document for programs is one document.
static HAS_RESULT: AtomicBool = AtomicBool::new(false);

/// Whether a part of a result is on standard output already.
pub(crate) fn has_result() -> bool {
    HAS_RESULT.load(Ordering::Relaxed)
}

/// Writes a result.
pub(crate) fn result(text: &str) -> anyhow::Result<()> {
    stream(|out| out.write_all(text.as_bytes()))
}

/// Writes a result piece by piece; colours are taken out where they are not wanted.
pub(crate) fn stream(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> anyhow::Result<()> {
    let mut out = anstream::stdout().lock();
    let written = write(&mut out).and_then(|()| out.flush());
    check_written(written)
}

/// The same as it is: for files, which have no colours.
pub(crate) fn stream_plain(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    let written = write(&mut out).and_then(|()| out.flush());
    check_written(written)
}

/// What came of writing a result. A reader that went away, as `head` does, has had enough: the exit code is still the answer's. Everything
/// else that keeps a result from its reader is an error.
fn check_written(written: io::Result<()>) -> anyhow::Result<()> {
    HAS_RESULT.store(true, Ordering::Relaxed);
    match written {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(error).context("cannot write to standard output"),
        Ok(()) if is_stdout_closed() => {
            anyhow::bail!("cannot write to standard output: it is closed")
        }
        Ok(()) => Ok(()),
    }
}

/// Whether there is no standard output. The standard library puts /dev/null in its place, where every write succeeds.
fn is_stdout_closed() -> bool {
    #[cfg(target_os = "linux")]
    return skillsandbox_enforcer::is_stdout_closed();
    #[cfg(not(target_os = "linux"))]
    false
}

/// Says so before something is run whose output nobody would get.
pub(crate) fn check_stdout() -> anyhow::Result<()> {
    anyhow::ensure!(!is_stdout_closed(), "cannot write to standard output: it is closed");
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

/// The document that says why there is no result, for a program that asked for a document.
pub(crate) fn error_document(code: &str, text: &str, exit_code: u8) -> anyhow::Result<()> {
    json(&serde_json::json!({ "error": { "code": code, "message": text }, "exit_code": exit_code }))
}

/// Whether the verb that is called was told `--format json`.
static WANTS_JSON: AtomicBool = AtomicBool::new(false);

/// Says once, at the beginning, in which form a program wants what it asked for.
pub(crate) fn want_json() {
    WANTS_JSON.store(true, Ordering::Relaxed);
}

/// An answer of no for which there is no result: said to the person, and in a document where one is wanted.
pub(crate) fn answer_no(code: &str, text: &str) -> anyhow::Result<ExitAnswer> {
    message(text);
    if WANTS_JSON.load(Ordering::Relaxed) && !has_result() {
        error_document(code, &anstream::adapter::strip_str(text).to_string(), 1)?;
    }
    Ok(ExitAnswer::No)
}

/// Whether the reader went away, as `head` does: nothing to complain about.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
