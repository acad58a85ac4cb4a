//! Escapes in shell texts: `$'…'`, `echo -e` and `printf`.

/// Puts in the characters that backslashes stand for.
pub(super) fn decode_escapes(text: &str) -> String {
    // Bytes, because several escapes together may make one character.
    let mut out: Vec<u8> = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        let (before, tail) = rest.split_at(at);
        out.extend_from_slice(before.as_bytes());
        let body = tail.get(1..).unwrap_or_default();
        let Some(mark) = body.chars().next() else {
            out.push(b'\\');
            rest = "";
            continue;
        };
        let after = body.get(mark.len_utf8()..).unwrap_or_default();
        let plain = match mark {
            'n' => Some(b'\n'),
            't' => Some(b'\t'),
            'r' => Some(b'\r'),
            'a' | 'b' | 'f' | 'v' => Some(b' '),
            'e' | 'E' => Some(0x1b),
            '\\' | '\'' | '"' | '?' => u8::try_from(mark).ok(),
            _ => None,
        };
        if let Some(byte) = plain {
            out.push(byte);
            rest = after;
            continue;
        }
        let (digits_from, radix, most) = match mark {
            'x' => (after, 16, 2),
            'u' => (after, 16, 4),
            'U' => (after, 16, 8),
            '0' => (after, 8, 3),
            '1'..='7' => (body, 8, 3),
            _ => {
                out.push(b'\\');
                rest = body;
                continue;
            }
        };
        let width =
            digits_from.bytes().take(most).take_while(|byte| char::from(*byte).is_digit(radix)).count();
        let number = u32::from_str_radix(digits_from.get(..width).unwrap_or_default(), radix).ok();
        match (number, mark) {
            (Some(number), 'u' | 'U') => {
                let mut buffer = [0; 4];
                let c = char::from_u32(number).unwrap_or(char::REPLACEMENT_CHARACTER);
                out.extend_from_slice(c.encode_utf8(&mut buffer).as_bytes());
            }
            (Some(number), _) => out.push(u8::try_from(number & 0xff).unwrap_or_default()),
            (None, _) => {}
        }
        rest = digits_from.get(width..).unwrap_or_default();
    }
    out.extend_from_slice(rest.as_bytes());
    String::from_utf8_lossy(&out).into_owned()
}

/// Whether a text has letters that are written as numbers.
pub(super) fn has_numbered_letters(text: &str) -> bool {
    let mut count = 0;
    for (at, _) in text.match_indices('\\') {
        let next = text.as_bytes().get(at + 1).copied().unwrap_or_default();
        if matches!(next, b'x' | b'u' | b'1') {
            count += 1;
        }
    }
    count >= 3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_put_in() {
        for (written, read) in [
            (r"\x63\165rl", "curl"),
            (r"a\tb\nc", "a\tb\nc"),
            (r"\u0063url", "curl"),
            (r"\0143url", "curl"),
            (r"\q\\", r"\q\"),
            (r"\xc3\xa9", "é"),
            (r"end\", r"end\"),
        ] {
            assert_eq!(decode_escapes(written), read, "{written}");
        }
    }
}
