//! The output of a program, cut into lines: nothing is lost but what is too long, and no secret gets through.
//!
//! The text of a [`OutputLine`] stands for bytes, exactly: a byte that is not UTF-8 is `\xNN` and a backslash is `\\`, so that
//! [`decode_line`] gives the bytes back. Control characters are kept as they are; whoever shows a line to a person escapes them.

use std::fmt::Write as _;

use skillsandbox_text::{Redactor, SecretSpan};

use crate::format::event::OutputLine;

/// Bytes of a line that are kept, and of the text that stands for them. The rest is counted.
pub const LINE_LIMIT: usize = 8 * 1024;

/// Bytes that are looked at beyond those that are kept, so that a secret that begins before the limit is seen whole. The longest
/// form of a piece of a value has a few kilobytes; tokens have fewer.
const AHEAD: usize = 8 * 1024;

/// Lines that a private key may have before its end is given up on. RSA with 16,384 bits has about 200.
const KEY_LINES: u32 = 400;

/// Cuts one stream into lines. Memory is bounded, whether or not there are ends of lines.
///
/// The text of a line stands for bytes, exactly: a byte that is not UTF-8 is `\\xNN` and a backslash is `\\\\`. Control characters are
/// kept as they are; a program that shows a line escapes them.
///
/// ```
/// use skillsandbox_tracer::{LineSplitter, Redactor, decode_line};
///
/// let redactor = Redactor::new([("TOKEN", "s3cr3t-value")])?;
/// let (mut lines, mut texts) = (LineSplitter::new(), Vec::new());
/// for chunk in [&b"one s3cr"[..], b"3t-value\n", b"\xff two"] {
///     lines.push(chunk, &redactor, |line| texts.push(line.text));
/// }
/// texts.extend(lines.finish(&redactor).map(|line| line.text));
/// assert_eq!(texts, ["one [REDACTED:TOKEN]", "\\xff two"]);
/// assert_eq!(decode_line(&texts[1]), b"\xff two");
/// # Ok::<(), skillsandbox_tracer::RedactError>(())
/// ```
#[derive(Debug, Default)]
pub struct LineSplitter {
    /// The beginning of the line that has not ended yet.
    line: Vec<u8>,
    /// Bytes of it that are not in `line`.
    beyond: u64,
    /// Whether a line has begun; an empty one counts only if it ends.
    begun: bool,
    /// Lines that are still taken for the inside of a private key.
    inside_key: u32,
}

impl LineSplitter {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// More of the stream; `take` gets each line that has ended.
    pub fn push(&mut self, bytes: &[u8], redactor: &Redactor, mut take: impl FnMut(OutputLine)) {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            let ends = part.ends_with(b"\n");
            let part = part.strip_suffix(b"\n").unwrap_or(part);
            let room = (LINE_LIMIT + AHEAD).saturating_sub(self.line.len()).min(part.len());
            self.line.extend_from_slice(part.get(..room).unwrap_or_default());
            self.beyond = self.beyond.saturating_add((part.len() - room) as u64);
            self.begun = true;
            if ends {
                take(self.line(redactor));
            }
        }
    }

    /// The last line, if the stream did not end with an end of line.
    #[must_use]
    pub fn finish(mut self, redactor: &Redactor) -> Option<OutputLine> {
        self.begun.then(|| self.line(redactor))
    }

    fn line(&mut self, redactor: &Redactor) -> OutputLine {
        let line = std::mem::take(&mut self.line);
        let beyond = std::mem::take(&mut self.beyond);
        self.begun = false;
        let mut out = BoundedLine::new(beyond);
        if self.is_inside_key(&line) {
            out.replace(line.len(), "[REDACTED:private_key]");
            return out.line();
        }
        let mut at = 0;
        for span in redactor.spans(&line) {
            out.bytes(line.get(at..span.start).unwrap_or_default(), at);
            out.span(redactor, span);
            at = span.end;
        }
        out.bytes(line.get(at..).unwrap_or_default(), at);
        out.line()
    }

    /// Whether a line belongs to a private key that began on a line before. Its body is base64, and every line of it looks like
    /// nothing by itself.
    fn is_inside_key(&mut self, line: &[u8]) -> bool {
        let has = |wanted: &[u8]| line.windows(wanted.len()).any(|window| window == wanted);
        if self.inside_key == 0 {
            let begins = has(b"-----BEGIN ") && has(b"PRIVATE KEY") && !has(b"-----END ");
            self.inside_key = if begins { KEY_LINES } else { 0 };
            return false;
        }
        self.inside_key -= 1;
        if has(b"-----END ") {
            self.inside_key = 0;
            return true;
        }
        // Headers of old keys have a colon; prefixes of log lines come before the last word.
        let last = line.trim_ascii_end().rsplit(u8::is_ascii_whitespace).next().unwrap_or_default();
        let is_letter = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/=\\\"',".contains(byte);
        let is_body = last.is_empty() || has(b": ") || last.iter().all(is_letter);
        if !is_body {
            self.inside_key = 0;
        }
        is_body
    }
}

/// A line as far as it fits.
struct BoundedLine {
    text: String,
    omitted: u64,
    full: bool,
}

impl BoundedLine {
    fn new(beyond: u64) -> Self {
        Self { text: String::new(), omitted: beyond, full: false }
    }

    /// Bytes that stand at a place of the line. What stands beyond the limit is not shown, however short the text is: there a
    /// secret may begin whose end was never seen.
    fn bytes(&mut self, bytes: &[u8], at: usize) {
        let shown = LINE_LIMIT.saturating_sub(at).min(bytes.len());
        let (shown, hidden) = bytes.split_at_checked(shown).unwrap_or((bytes, &[]));
        for chunk in shown.utf8_chunks() {
            for letter in chunk.valid().chars() {
                self.put(letter.len_utf8(), |text| {
                    if letter == '\\' {
                        text.push('\\');
                    }
                    text.push(letter);
                });
            }
            for byte in chunk.invalid() {
                self.put(1, |text| {
                    let _ = write!(text, "\\x{byte:02x}");
                });
            }
        }
        self.omitted = self.omitted.saturating_add(hidden.len() as u64);
    }

    fn span(&mut self, redactor: &Redactor, span: SecretSpan) {
        let length = span.end - span.start;
        if span.start < LINE_LIMIT {
            self.replace(length, &redactor.replacement(span));
        } else {
            self.omitted = self.omitted.saturating_add(length as u64);
        }
    }

    fn replace(&mut self, length: usize, with: &str) {
        self.put(length, |text| text.push_str(with));
    }

    /// Adds what stands for so many bytes, whole or not at all.
    fn put(&mut self, bytes: usize, add: impl FnOnce(&mut String)) {
        let before = self.text.len();
        if !self.full {
            add(&mut self.text);
        }
        if self.full || self.text.len() > LINE_LIMIT {
            self.text.truncate(before);
            self.full = true;
            self.omitted = self.omitted.saturating_add(bytes as u64);
        }
    }

    fn line(self) -> OutputLine {
        let mut line = OutputLine::new(self.text);
        line.omitted = self.omitted;
        line
    }
}

/// The bytes that the text of a line stands for.
#[must_use]
pub fn decode_line(text: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        out.extend_from_slice(before.as_bytes());
        let byte = escape.get(2..4).filter(|_| escape.starts_with("\\x"));
        let (byte, length) = match byte.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => (byte, 4),
            None => (b'\\', if escape.starts_with("\\\\") { 2 } else { 1 }),
        };
        out.push(byte);
        rest = escape.get(length..).unwrap_or_default();
    }
    out.extend_from_slice(rest.as_bytes());
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn lines(chunks: &[&[u8]], redactor: &Redactor) -> Vec<OutputLine> {
        let (mut lines, mut out) = (LineSplitter::new(), Vec::new());
        for chunk in chunks {
            lines.push(chunk, redactor, |line| out.push(line));
        }
        out.extend(lines.finish(redactor));
        out
    }

    fn texts(bytes: &[u8]) -> Vec<String> {
        let all = lines(&[bytes], &Redactor::of_shapes().unwrap());
        all.into_iter().map(|line| line.text).collect()
    }

    #[test]
    fn lines_are_kept_byte_by_byte() {
        assert_eq!(texts(b"one\ntwo\r\n\nfour"), ["one", "two\r", "", "four"]);
        assert_eq!(texts(b"\xff\\x41 \0\x1b[2J\xc3\xa4\n"), ["\\xff\\\\x41 \0\u{1b}[2Jä"]);
        assert_eq!(texts(b""), [""; 0]);
        assert_eq!(decode_line("\\xff\\\\x41 \0"), b"\xff\\x41 \0");
    }

    #[test]
    fn a_line_without_end_is_cut_and_counted() {
        let redactor = Redactor::of_shapes().unwrap();
        let mut stream = LineSplitter::new();
        for _ in 0..1000 {
            stream.push(&[b'x'; 1024], &redactor, |_| panic!("no line has ended"));
            assert!(stream.line.capacity() <= 2 * (LINE_LIMIT + AHEAD));
        }
        let line = stream.finish(&redactor).unwrap();
        assert_eq!((line.text.len(), line.omitted), (LINE_LIMIT, 1_024_000 - LINE_LIMIT as u64));
        // What takes four letters for each byte is cut at whole escapes.
        let line = lines(&[&[0xff; 10_000]], &redactor).remove(0);
        assert_eq!((line.text.len(), line.omitted), (LINE_LIMIT, 10_000 - LINE_LIMIT as u64 / 4));
        assert!(line.text.ends_with("\\xff"));
    }

    #[test]
    fn a_secret_across_the_limit_does_not_come_through_in_part() {
        let secret = "correct-horse-battery-staple-0123456789";
        let redactor = Redactor::new([("TOKEN", secret)]).unwrap();
        for before in LINE_LIMIT - 60..LINE_LIMIT + 60 {
            let text = format!("{}{secret}{}", "x".repeat(before), "y".repeat(100));
            let line = lines(&[text.as_bytes()], &redactor).remove(0);
            for part in 6..secret.len() {
                assert!(!line.text.contains(&secret[..part]), "{before} {part}");
            }
            assert!(line.text.len() <= LINE_LIMIT);
        }
    }

    #[test]
    fn long_secrets_do_not_pull_in_the_beginning_of_one_whose_end_was_not_seen() {
        let secret = "correct-horse-battery-staple-0123456789";
        let long: String =
            (0..4000).map(|at| char::from(b'a' + u8::try_from(at * 7 % 26).unwrap())).collect();
        let redactor = Redactor::new([("TOKEN", secret), ("LONG", &long)]).unwrap();
        for cut in 0..secret.len() {
            // After four long ones little text is left, and the last secret is cut by the end of what is looked at.
            let fill = LINE_LIMIT + AHEAD - 4 * long.len() - cut;
            let text = format!("{}{}{secret}", long.repeat(4), "x".repeat(fill));
            let line = lines(&[text.as_bytes()], &redactor).remove(0);
            assert!(!line.text.contains("correct"), "{cut}: {}", line.text);
            assert!(line.text.starts_with("[REDACTED:LONG]"));
        }
    }

    #[test]
    fn what_stands_beyond_the_limit_is_counted_and_not_shown() {
        let long: String =
            (0..4000).map(|at| char::from(b'a' + u8::try_from(at * 7 % 26).unwrap())).collect();
        let redactor = Redactor::new([("TOKEN", "correct-horse-battery"), ("LONG", &long)]).unwrap();
        let text = format!("{long}{}correct-horse-battery!", "x".repeat(LINE_LIMIT - 3000));
        let line = lines(&[text.as_bytes()], &redactor).remove(0);
        assert!(line.text.starts_with("[REDACTED:LONG]xxx") && line.text.ends_with('x'), "{}", line.text);
        let shown = long.len() + line.text.len() - "[REDACTED:LONG]".len();
        assert_eq!((shown, line.omitted), (LINE_LIMIT, (text.len() - LINE_LIMIT) as u64));
    }

    #[test]
    fn a_private_key_is_taken_out_line_by_line() {
        let body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj";
        let text = format!(
            "a\n-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\n{body}\n{body}\nQmFz\n-----END RSA PRIVATE KEY-----\nb\n"
        );
        let all = texts(text.as_bytes());
        assert_eq!((all.first().unwrap().as_str(), all.last().unwrap().as_str(), all.len()), ("a", "b", 9));
        assert!(all[1..8].iter().all(|line| line.contains("[REDACTED:private_key]")), "{all:?}");
        assert!(!all.concat().contains("MII") && !all.concat().contains("Qm"));
        // One without an end does not swallow what follows.
        let all =
            texts(format!("-----BEGIN PRIVATE KEY-----\n{body}\nnow, something else!\nmore\n").as_bytes());
        assert_eq!(all[2..], ["now, something else!", "more"]);
    }

    proptest! {
        #[test]
        fn any_bytes_come_back(bytes in proptest::collection::vec(any::<u8>(), 0..300), cuts in 1..20_usize) {
            let redactor = Redactor::of_shapes().unwrap();
            let chunks: Vec<&[u8]> = bytes.chunks(cuts).collect();
            let all = lines(&chunks, &redactor);
            let mut back = Vec::new();
            for line in &all {
                back.extend(decode_line(&line.text));
                back.push(b'\n');
            }
            if !bytes.ends_with(b"\n") {
                back.pop();
            }
            prop_assert_eq!(back, bytes);
        }

        #[test]
        fn chunks_do_not_matter(before in "[a-z\n]{0,40}", after in "[a-z\n]{0,40}", cut in 1..90_usize) {
            let secret = "S3cr3t/Value+With=Signs";
            let redactor = Redactor::new([("TOKEN", secret)]).unwrap();
            let text = format!("{before}{secret}{after}");
            let whole = lines(&[text.as_bytes()], &redactor);
            let chunks: Vec<&[u8]> = text.as_bytes().chunks(cut).collect();
            prop_assert_eq!(&lines(&chunks, &redactor), &whole);
            let all: String = whole.iter().map(|line| line.text.as_str()).collect();
            prop_assert!(all.contains("[REDACTED:TOKEN]") && !all.contains("S3cr3t"));
        }
    }
}
