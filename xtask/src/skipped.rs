//! Tests that were left out for want of a program: a test runner shows nothing of a test that passes, so each writes a line to a
//! file, and the lines are printed at the end.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Names the file to the tests.
pub(crate) const VARIABLE: &str = "SKILLSANDBOX_SKIPPED";

/// Prints what was left out.
pub(crate) fn print(file: &Path) {
    for line in lines(&fs::read_to_string(file).unwrap_or_default()) {
        println!("{line}");
    }
}

/// Each once, in order.
fn lines(text: &str) -> BTreeSet<&str> {
    text.lines().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_printed_once() {
        assert_eq!(lines("b\na\nb\n").into_iter().collect::<Vec<_>>(), ["a", "b"]);
        assert!(lines("").is_empty());
    }
}
