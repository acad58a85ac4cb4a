//! Readable text in files that are not text: comments in pictures, metadata, commands between other bytes.

use std::collections::HashSet;

/// Shorter runs are chance.
const MIN_RUN: usize = 16;

/// Runs of printable characters as they stand, and those that there are once zero bytes are dropped, as a shell does.
pub(super) fn readable(bytes: &[u8]) -> String {
    let mut found = printable(bytes);
    if memchr::memchr(0, bytes).is_some() {
        let bare: Vec<u8> = bytes.iter().copied().filter(|b| *b != 0).collect();
        let joined = printable(&bare);
        let known: HashSet<&str> = found.lines().collect();
        let new: Vec<&str> = joined.lines().filter(|line| !known.contains(line)).collect();
        let new = new.join("\n");
        found.push_str(&new);
    }
    found
}

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
