//! Untrusted text for a message: short, and without anything that deceives a reader.

use std::fmt::{self, Write as _};

use crate::lookalike;

/// Characters shown of one piece of text.
const MOST: usize = 200;

pub(crate) struct Shown<'a>(pub(crate) &'a [u8]);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut left = MOST;
        for chunk in self.0.utf8_chunks() {
            for c in chunk.valid().chars() {
                if left == 0 {
                    return f.write_str("…");
                }
                left -= 1;
                if c.is_control() || c == '`' || lookalike::is_invisible(c) || lookalike::is_joiner(c) {
                    write!(f, "{}", c.escape_unicode())?;
                } else {
                    f.write_char(c)?;
                }
            }
            for byte in chunk.invalid() {
                write!(f, "\\x{byte:02x}")?;
            }
        }
        Ok(())
    }
}
