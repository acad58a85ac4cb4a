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

/// A line with the text of each `$'…'` in its place, for those who look for something in a line that no policy can read.
///
/// It is a help for the eye, no reading of the line: comments and here-documents are not known, and escapes that mean different things to
/// different shells stay as they are. Whoever needs to know what a line does asks [`crate::CommandPolicy::split`].
#[must_use]
pub fn expand_ansi_c(line: &str) -> String {
    let mut rest = line.as_bytes();
    let mut text = Vec::with_capacity(rest.len());
    let (mut in_single, mut in_ansi) = (false, false);
    while let Some(&byte) = rest.first() {
        let mut length = 1;
        match byte {
            b'\\' if in_ansi => {
                if let Ok((read, taken)) = escape(rest) {
                    text.push(read);
                    length = taken;
                } else {
                    length = 2;
                    text.extend(rest.iter().take(length));
                }
            }
            b'\\' if !in_single => {
                length = 2;
                text.extend(rest.iter().take(length));
            }
            b'\'' if in_ansi => in_ansi = false,
            b'$' if !in_single && !in_ansi && rest.get(1) == Some(&b'\'') => {
                in_ansi = true;
                length = 2;
            }
            _ => {
                in_single ^= byte == b'\'';
                text.push(byte);
            }
        }
        rest = rest.get(length..).unwrap_or_default();
    }
    String::from_utf8_lossy(&text).into_owned()
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
    fn the_text_of_a_quote_takes_its_place() {
        for (line, expected) in [
            (r"cat $'.\x65nv' | x", "cat .env | x"),
            (r"cat .e$'n'v;", "cat .env;"),
            (r"echo '$' $'\x41'", "echo '$' A"),
            (r"a\$'b'", r"a\$'b'"),
            (r"$'\u0041\'b' é", r"\u0041'b é"),
            (r"$'", ""),
            (r"$'\", r"\"),
        ] {
            assert_eq!(expand_ansi_c(line), expected, "{line}");
        }
    }

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
