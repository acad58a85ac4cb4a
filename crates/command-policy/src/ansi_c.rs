//! The escapes of `$'…'`, where they mean the same in every version of bash and in every locale.

/// Reads one escape at the start of a text: its byte, and how long it is. The error says why it is refused.
///
/// Only what comes out as one ASCII character counts: what lies beyond (`\u`, bytes from 0x80 on) depends on the locale, and
/// the character itself can be written instead.
pub(crate) fn escape(text: &[u8]) -> Result<(u8, usize), &'static str> {
    let byte = text.get(1).copied().ok_or("the quote does not end")?;
    let simple = match byte {
        b'\\' | b'\'' | b'"' | b'?' => Some(byte),
        b'n' => Some(b'\n'),
        b't' => Some(b'\t'),
        _ => None,
    };
    if let Some(simple) = simple {
        return Ok((simple, 2));
    }
    let (value, length) = match byte {
        b'x' => number(text, 2, 2, 16),
        b'0'..=b'7' => number(text, 1, 3, 8),
        b'a' | b'b' | b'e' | b'E' | b'f' | b'r' | b'v' | b'c' => return Err(CONTROL),
        b'u' | b'U' => return Err("what it becomes depends on the locale"),
        _ => return Err("shells disagree on what this escape is"),
    };
    if length == 0 {
        return Err("the escape has no digits");
    }
    match u8::try_from(value) {
        Ok(byte @ (0x20..=0x7e | b'\n' | b'\t')) => Ok((byte, length)),
        Ok(0..=0x7f) => Err(CONTROL),
        _ => Err("what it becomes depends on the locale"),
    }
}

const CONTROL: &str = "control characters have no place in a command";

/// A number of at most so many digits from a place on, and where it ends; 0 where there is none.
fn number(text: &[u8], start: usize, most: usize, base: u32) -> (u32, usize) {
    let digits = text.iter().skip(start).take(most).map_while(|byte| char::from(*byte).to_digit(base));
    let (value, count) = digits.fold((0, 0), |(value, count), digit| (value * base + digit, count + 1));
    (value, if count == 0 { 0 } else { start + count })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_read_or_refused() {
        for (text, expected) in [
            (r"\n", Some((b'\n', 2))),
            (r"\x41B", Some((b'A', 4))),
            (r"\x4", None), // a control character
            (r"\x7g", None),
            (r"\1012", Some((b'A', 4))),
            (r"\0", None),
            (r"\400", None),
            (r"\x00", None),
            (r"\x{41}", None),
            (r"\u0041", None),
            (r"\cA", None),
            (r"\e", None),
            (r"\q", None),
            (r"\", None),
            (r"\xe9", None),
        ] {
            assert_eq!(escape(text.as_bytes()).ok(), expected, "{text}");
        }
    }
}
