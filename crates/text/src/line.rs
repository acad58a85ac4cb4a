//! A stranger's text in a message of ours: on one line, short, and with nothing in it that deceives.
//!
//! These are for sentences. What is shown in columns, or has to be read back, is for `Escape` (feature `terminal`).

use std::fmt::{self, Write as _};

use crate::characters::{is_deceptive, is_private_or_unassigned};

/// Whether a character becomes an escape in a message.
fn is_escaped(c: char) -> bool {
    is_deceptive(c) || is_private_or_unassigned(c)
}

/// The text on one line: line ends, tabs, every [deceptive](is_deceptive) character and every one that nobody knows how to draw
/// become a visible escape.
///
/// ```
/// use skillsandbox_text::escape_line;
///
/// assert_eq!(escape_line("a\u{1b}[2J\r\nb\u{202e}c"), r"a\u{1b}[2J\r\nb\u{202e}c");
/// assert_eq!(escape_line("Köln ☀\u{fe0f}"), "Köln ☀\u{fe0f}");
/// ```
#[must_use]
pub fn escape_line(text: &str) -> String {
    shorten_line(text, usize::MAX)
}

/// The same for a text of several lines, whose line feeds and tabs stay.
///
/// ```
/// use skillsandbox_text::escape_lines;
///
/// assert_eq!(escape_lines("a\n\tb\u{200b}\r\n"), "a\n\tb\\u{200b}\\r\n");
/// ```
#[must_use]
pub fn escape_lines(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if is_escaped(c) { out.extend(c.escape_default()) } else { out.push(c) }
    }
    out
}

/// As [`escape_line`], with at most so many characters of the text; an ellipsis stands for the rest.
///
/// ```
/// use skillsandbox_text::shorten_line;
///
/// assert_eq!(shorten_line("one\ntwo", 5), "one\\nt…");
/// ```
#[must_use]
pub fn shorten_line(text: &str, most: usize) -> String {
    let mut out = String::with_capacity(text.len().min(most));
    let mut chars = text.chars();
    for c in chars.by_ref().take(most) {
        if is_escaped(c) || matches!(c, '\n' | '\t') {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    if chars.next().is_some() {
        out.push('…');
    }
    out
}

/// Adds a character, or `\u{…}` if [`escape_lines`] would not leave it: for a writer that has escapes of its own, such as of XML.
pub fn push_visible(out: &mut String, c: char) {
    if is_escaped(c) {
        out.extend(c.escape_unicode());
    } else {
        out.push(c);
    }
}

/// Bytes that need not be text, for a message in backquotes: as [`shorten_line`], with a backquote escaped and a byte that is no
/// text as `\xNN`. Makes no text of its own.
///
/// ```
/// use skillsandbox_text::ShownBytes;
///
/// assert_eq!(ShownBytes::new(b"a`\xff\n", 200).to_string(), r"a\u{60}\xff\n");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ShownBytes<'a> {
    bytes: &'a [u8],
    most: usize,
}

impl<'a> ShownBytes<'a> {
    /// At most so many characters of these bytes.
    #[must_use]
    pub fn new(bytes: &'a [u8], most: usize) -> Self {
        Self { bytes, most }
    }
}

impl fmt::Display for ShownBytes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut left = self.most;
        for chunk in self.bytes.utf8_chunks() {
            for c in chunk.valid().chars() {
                if left == 0 {
                    return f.write_char('…');
                }
                left -= 1;
                match c {
                    '`' => write!(f, "{}", c.escape_unicode())?,
                    c if is_escaped(c) || matches!(c, '\n' | '\t') => write!(f, "{}", c.escape_default())?,
                    c => f.write_char(c)?,
                }
            }
            for byte in chunk.invalid() {
                if left == 0 {
                    return f.write_char('…');
                }
                left -= 1;
                write!(f, "\\x{byte:02x}")?;
            }
        }
        Ok(())
    }
}

/// At most so many characters of a text, and a mark if that is not all. Nothing is escaped.
///
/// ```
/// use skillsandbox_text::shorten;
///
/// assert_eq!(shorten("Köln", 4, "…"), "Köln");
/// assert_eq!(shorten("Köln am Rhein", 4, "…"), "Köln…");
/// ```
#[must_use]
pub fn shorten(text: &str, most: usize, mark: &str) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => text.get(..end).unwrap_or_default().to_owned() + mark,
        None => text.to_owned(),
    }
}

/// Cuts a text to so many bytes, with a note of how many there were more.
///
/// ```
/// use skillsandbox_text::truncate_bytes;
///
/// let mut text = "a".repeat(100);
/// truncate_bytes(&mut text, 50);
/// assert_eq!(text, "aaaaaaaaaa[... 90 bytes more]");
/// ```
pub fn truncate_bytes(text: &mut String, most: usize) {
    if text.len() > most {
        // Room for the note.
        let end = text.floor_char_boundary(most.saturating_sub(40));
        let note = format!("[... {} bytes more]", text.len() - end);
        text.truncate(end);
        text.push_str(&note);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::characters::is_hidden;

    #[test]
    fn a_line_stays_one_and_hides_nothing() {
        for c in '\0'..=char::MAX {
            let line = escape_line(&format!("a{c}b"));
            let same = line == format!("a{c}b");
            assert_eq!(same, !is_escaped(c) && !matches!(c, '\n' | '\t'), "{c:?}");
            assert!(same || line.is_ascii(), "{c:?} {line}");
            assert!(!line.chars().any(is_hidden) || same, "{c:?}");
            assert_eq!(
                ShownBytes::new(format!("a{c}b").as_bytes(), 9).to_string() == line,
                c != '`',
                "{c:?}"
            );
        }
    }

    #[test]
    fn what_is_short_enough_is_whole() {
        assert_eq!(shorten_line("abc", 3), "abc");
        assert_eq!(shorten_line("abcd", 3), "abc…");
        assert_eq!(shorten_line("", 0), "");
        assert_eq!(ShownBytes::new(b"abcd", 3).to_string(), "abc…");
        assert_eq!(ShownBytes::new(b"abc", 3).to_string(), "abc");
        assert_eq!(ShownBytes::new(b"\xff\xff\xff", 2).to_string(), "\\xff\\xff…");
    }
}
