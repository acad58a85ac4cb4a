//! Readable text in files that are not text: comments in pictures, metadata, commands between other bytes.

/// Shorter runs are chance.
const MIN_RUN: usize = 16;

/// Runs of printable characters, one behind the other.
pub(super) fn printable(bytes: &[u8]) -> String {
    let part = |b: &u8| matches!(b, b' '..=b'~' | b'\n' | b'\r' | b'\t');
    let mut out = String::new();
    for run in bytes.split(|b| !part(b)).filter(|run| run.len() >= MIN_RUN) {
        out.push_str(&String::from_utf8_lossy(run));
        out.push('\n');
    }
    out
}
