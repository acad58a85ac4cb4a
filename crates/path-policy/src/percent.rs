//! Percent-encoding, decoded as often as somebody might.
//!
//! To the kernel `%2e%2e` is an odd name. To a tool that takes paths from URLs it is `..`, and to one that decodes twice so is
//! `%252e%252e`. So every stage of decoding is judged like a path of its own, in a buffer on the stack.
//!
//! The `percent-encoding` crate gives back the bytes alone. Here it matters which of them were encoded (`%2e` is refused, `.` is
//! not), what only looks encoded (`%u002e`), and that nothing is allocated.

use crate::decision::PathRule;
use crate::syntax::MAX_PATH;

/// Times a path is decoded. Two are seen in attacks; a path that needs more than this is refused.
const MOST_PASSES: usize = 6;

pub(crate) struct PercentDecoder {
    buffer: [u8; MAX_PATH],
    len: usize,
    passes: usize,
}

impl PercentDecoder {
    pub(crate) fn new(path: &[u8]) -> Result<Self, PathRule> {
        let mut buffer = [0; MAX_PATH];
        buffer.get_mut(..path.len()).ok_or(PathRule::TooLong)?.copy_from_slice(path);
        Ok(Self { buffer, len: path.len(), passes: 0 })
    }

    /// The next stage; none when there is nothing left to decode. What would change the structure of the path, or is an encoding
    /// of something other than UTF-8 text, is refused here.
    pub(crate) fn next(&mut self) -> Result<Option<&[u8]>, PathRule> {
        if self.passes >= MOST_PASSES {
            return Err(PathRule::PercentEncoding);
        }
        self.passes += 1;
        let (mut read, mut write, mut changed) = (0, 0, false);
        while read < self.len {
            let rest = self.buffer.get(read..self.len).unwrap_or_default();
            let (byte, width) = match rest {
                [b'%', b'u' | b'U', digits @ ..]
                    if digits.iter().take(4).filter(|d| d.is_ascii_hexdigit()).count() == 4 =>
                {
                    return Err(PathRule::PercentEncoding);
                }
                [b'%', high, low, ..] => match (hex(*high), hex(*low)) {
                    (Some(high), Some(low)) => (high << 4 | low, 3),
                    _ => (b'%', 1),
                },
                [byte, ..] => (*byte, 1),
                [] => break,
            };
            if width == 3 {
                changed = true;
                if matches!(byte, 0..=0x1f | 0x7f | b'/' | b'\\' | b'.' | b'~' | b'$' | b':') {
                    return Err(PathRule::PercentEncoding);
                }
            }
            if let Some(place) = self.buffer.get_mut(write) {
                *place = byte;
            }
            read += width;
            write += 1;
        }
        self.len = write;
        Ok(changed.then(|| self.buffer.get(..write).unwrap_or_default()))
    }
}

fn hex(digit: u8) -> Option<u8> {
    u8::try_from(char::from(digit).to_digit(16)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stages(path: &str) -> Result<Vec<String>, PathRule> {
        let mut decoder = PercentDecoder::new(path.as_bytes())?;
        let mut all = Vec::new();
        while let Some(stage) = decoder.next()? {
            all.push(String::from_utf8_lossy(stage).into_owned());
        }
        Ok(all)
    }

    #[test]
    fn every_stage_is_seen() {
        assert_eq!(stages("a%20b").unwrap(), ["a b"]);
        assert_eq!(stages("100%").unwrap(), Vec::<String>::new());
        assert_eq!(stages("100%25").unwrap(), ["100%"]);
        assert_eq!(stages("sec%2572et").unwrap(), ["sec%72et", "secret"]);
        assert_eq!(stages("%C3%A9").unwrap(), ["é"]);
    }

    #[test]
    fn hidden_structure_is_refused() {
        for path in [
            "%2e%2e/x",
            "%2E%2E%2Fx",
            "..%2f",
            "%252e%252e%252f",
            "%25252e",
            "%%32%65",
            "%2%65",
            "%5c",
            "%255c",
            "%00",
            "a%0a",
            "%u002e",
            "..%u2216x",
            "%uff0e",
            "%7e/x",
            "%24HOME",
            "file%3a/x",
            "%25%32%65",
        ] {
            assert_eq!(stages(path), Err(PathRule::PercentEncoding), "{path}");
        }
        let deep = format!("%{}41", "25".repeat(10));
        assert_eq!(stages(&deep), Err(PathRule::PercentEncoding));
    }
}
