//! Output for a terminal: what would control it is shown instead of done.

use std::fmt::Write as _;

use skillsandbox_text::push_visible;

/// Makes bytes harmless as they come: characters may lie across two pieces.
#[derive(Debug, Default)]
pub(crate) struct TerminalFilter {
    /// The beginning of a character, or a carriage return of which it is not known yet whether a line feed follows.
    held: Vec<u8>,
    /// Whether the last thing that was shown ended a line.
    mid_line: bool,
}

impl TerminalFilter {
    /// What to show of the next bytes.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> String {
        let mut all = std::mem::take(&mut self.held);
        all.extend_from_slice(bytes);
        let mut shown = String::with_capacity(all.len());
        let mut rest = all.as_slice();
        while !rest.is_empty() {
            let (text, invalid, is_cut) = match str::from_utf8(rest) {
                Ok(text) => (text, 0, false),
                Err(error) => {
                    let text = rest.get(..error.valid_up_to()).and_then(|text| str::from_utf8(text).ok());
                    (
                        text.unwrap_or_default(),
                        error.error_len().unwrap_or_default(),
                        error.error_len().is_none(),
                    )
                }
            };
            let after = rest.get(text.len()..).unwrap_or_default();
            self.show(&mut shown, text, after.is_empty());
            if is_cut {
                self.held.extend_from_slice(after);
                break;
            }
            for byte in after.get(..invalid).unwrap_or_default() {
                let _ = write!(shown, "\\x{byte:02x}");
            }
            rest = after.get(invalid..).unwrap_or_default();
        }
        if let Some(last) = shown.chars().last() {
            self.mid_line = last != '\n';
        }
        shown
    }

    /// What is still to be shown: the rest, and the end of a line that has none, so that what comes next begins one of its own.
    pub(crate) fn finish(&mut self) -> String {
        let mut shown = String::new();
        for byte in std::mem::take(&mut self.held) {
            let _ = if byte == b'\r' { write!(shown, "\\r") } else { write!(shown, "\\x{byte:02x}") };
        }
        if self.mid_line || !shown.is_empty() {
            shown.push('\n');
        }
        self.mid_line = false;
        shown
    }

    fn show(&mut self, shown: &mut String, text: &str, is_last: bool) {
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            match c {
                '\n' | '\t' => shown.push(c),
                '\r' if chars.peek() == Some(&'\n') => {}
                '\r' if chars.peek().is_none() && is_last => self.held.push(b'\r'),
                '\r' => shown.push_str("\\r"),
                c => push_visible(shown, c),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(bytes: &[u8]) -> String {
        let mut filter = TerminalFilter::default();
        let shown = filter.push(bytes);
        shown + &filter.finish()
    }

    #[test]
    fn output_on_a_terminal_neither_moves_the_cursor_nor_hides_text() {
        for (bytes, shown) in [
            (&b"plain\ttext\n"[..], "plain\ttext\n"),
            ("größe 温度\n".as_bytes(), "größe 温度\n"),
            (b"windows\r\n", "windows\n"),
            (b"no end", "no end\n"),
            (b"", ""),
            (b"\x1b[2J\x1b[H", "\\u{1b}[2J\\u{1b}[H\n"),
            (b"over\rwritten\n", "over\\rwritten\n"),
            (b"bell\x07 back\x08\n", "bell\\u{7} back\\u{8}\n"),
            (b"\xff\xfe\n", "\\xff\\xfe\n"),
            ("c1 \u{9b}2J\n".as_bytes(), "c1 \\u{9b}2J\n"),
            ("bidi \u{202e}x\n".as_bytes(), "bidi \\u{202e}x\n"),
        ] {
            assert_eq!(whole(bytes), shown, "{bytes:?}");
        }
    }

    #[test]
    fn pieces_make_no_difference() {
        let bytes = "a\u{1b}[31mé\r\nb\rc温\u{9b}\u{202e}\r".as_bytes();
        let bytes = [bytes, b"\xe6\xb8"].concat();
        let expected = whole(&bytes);
        for cut in 0..=bytes.len() {
            for second in cut..=bytes.len() {
                let mut filter = TerminalFilter::default();
                let mut shown = String::new();
                for piece in [&bytes[..cut], &bytes[cut..second], &bytes[second..]] {
                    shown += &filter.push(piece);
                }
                shown += &filter.finish();
                assert_eq!(shown, expected, "{cut} {second}");
            }
        }
    }
}
