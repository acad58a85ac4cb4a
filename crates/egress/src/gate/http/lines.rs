//! Lines, and where a section of them ends.

/// Looks for the end of a line or of a section, and remembers how far it has looked.
#[derive(Debug, Default)]
pub(super) struct SectionScanner {
    /// Bytes that were looked at.
    at: usize,
    /// Bytes since the last line end.
    in_line: usize,
    /// Whether the last byte was a carriage return.
    after_cr: bool,
}

impl SectionScanner {
    /// Where the first empty line ends, once it is there; `None` for what cannot be lines of text, or ends after `most` of
    /// them. The bytes
    /// are those of the last time, and more.
    #[allow(clippy::option_option, reason = "not yet, and never, are different")]
    pub(super) fn end(&mut self, bytes: &[u8], most: usize) -> Option<Option<usize>> {
        self.look(bytes, most, |in_line| in_line == 0)
    }

    /// Where the first line ends, likewise.
    #[allow(clippy::option_option, reason = "not yet, and never, are different")]
    pub(super) fn line(&mut self, bytes: &[u8], most: usize) -> Option<Option<usize>> {
        self.look(bytes, most, |_| true)
    }

    #[allow(clippy::option_option, reason = "not yet, and never, are different")]
    fn look(&mut self, bytes: &[u8], most: usize, ends: impl Fn(usize) -> bool) -> Option<Option<usize>> {
        while let Some(&byte) = bytes.get(self.at) {
            // Neither line end comes without the other. Other control characters, and what is not ASCII, are line ends or
            // spaces to some readers (0x0b, 0x85, 0xa0).
            let sound = match byte {
                b'\n' => self.after_cr,
                b'\r' | b'\t' | b' '..=b'~' => !self.after_cr,
                _ => false,
            };
            if !sound {
                return None;
            }
            self.at += 1;
            self.after_cr = byte == b'\r';
            match byte {
                b'\n' if ends(self.in_line) => return Some(Some(self.at)),
                b'\n' => self.in_line = 0,
                b'\r' => {}
                _ => self.in_line += 1,
            }
            if self.at >= most {
                return None;
            }
        }
        Some(None)
    }
}
