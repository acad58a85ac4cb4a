//! Colours. `anstream` takes them out again where they are not wanted.

pub(crate) const BOLD: &str = "\u{1b}[1m";
pub(crate) const DIM: &str = "\u{1b}[2m";
pub(crate) const RED: &str = "\u{1b}[1;31m";
pub(crate) const GREEN: &str = "\u{1b}[32m";
pub(crate) const YELLOW: &str = "\u{1b}[33m";
pub(crate) const RESET: &str = "\u{1b}[0m";
