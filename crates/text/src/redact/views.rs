//! A text as it is, and as it reads once its percent signs, backslashes, entities or hexadecimal digits are undone.
//!
//! By hand, since every byte has to know where it came from, which no decoder tells.

use std::borrow::Cow;

/// A text, and where each of its bytes came from.
#[derive(Debug)]
pub(super) struct View<'a> {
    bytes: Cow<'a, [u8]>,
    /// Where each byte begins in the original, and where the last one ends; `None` where nothing was decoded.
    from: Option<Vec<usize>>,
}

impl<'a> View<'a> {
    /// A text as it is.
    pub(super) fn raw(bytes: &'a [u8]) -> Self {
        Self { bytes: Cow::Borrowed(bytes), from: None }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The part of the original that a part of the view came from.
    pub(super) fn original(&self, start: usize, end: usize) -> (usize, usize) {
        let place = |at: usize| match &self.from {
            None => at,
            Some(from) => from.get(at).or(from.last()).copied().unwrap_or(at),
        };
        (place(start), place(end))
    }
}

/// What the text reads once it is decoded, where it has something to be decoded.
pub(super) fn decoded(bytes: &[u8]) -> impl Iterator<Item = View<'static>> + '_ {
    let has = |wanted: u8| bytes.contains(&wanted);
    let percent = has(b'%').then(|| decode(bytes, percent));
    let form = (has(b'+')).then(|| decode(bytes, form));
    let backslash = has(b'\\').then(|| decode(bytes, backslash));
    let entity = has(b'&').then(|| decode(bytes, entity));
    let hex = has_hex(bytes).then(|| [hex(bytes, 0), hex(bytes, 1)]);
    [percent, form, backslash, entity]
        .into_iter()
        .chain(hex.map_or([None, None], |hex| hex.map(Some)))
        .flatten()
}

/// Decodes with a function that reads what stands at the beginning: the bytes it means, and how many it is made of.
fn decode(bytes: &[u8], read: impl Fn(&[u8]) -> Option<(Letter, usize)>) -> View<'static> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut from = Vec::with_capacity(bytes.len() + 1);
    let mut at = 0;
    while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
        let byte = rest.first().copied().unwrap_or_default();
        let (letter, length) = read(rest).unwrap_or((Letter::byte(byte), 1));
        for byte in letter.bytes() {
            out.push(*byte);
            from.push(at);
        }
        at += length.max(1);
    }
    from.push(bytes.len());
    View { bytes: Cow::Owned(out), from: Some(from) }
}

/// Digits that are the fewest worth decoding: those of the shortest value.
const FEWEST: usize = 12;

/// Whether there are so many hexadecimal digits in a row, signs between them aside.
fn has_hex(bytes: &[u8]) -> bool {
    let mut row = 0;
    bytes.iter().any(|byte| {
        row = if byte.is_ascii_hexdigit() {
            row + 1
        } else if is_between(*byte) || *byte == b'x' {
            row
        } else {
            0
        };
        row >= FEWEST
    })
}

/// What may stand between two bytes in hexadecimal.
fn is_between(byte: u8) -> bool {
    b" :-,_\t".contains(&byte)
}

/// Decodes every row of hexadecimal digits, from its first digit on or from its second.
fn hex(bytes: &[u8], skip: usize) -> View<'static> {
    let mut out = Vec::with_capacity(bytes.len() / 2);
    let mut from = Vec::with_capacity(bytes.len() / 2 + 1);
    let mut high: Option<(u8, usize)> = None;
    let mut to_skip = skip;
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        // 0x73, 0x65
        let is_prefix = *byte == b'0' && matches!(bytes.get(at + 1), Some(b'x' | b'X'));
        if is_prefix {
            at += 2;
            continue;
        }
        match (char::from(*byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok()), high) {
            (Some(_), _) if to_skip > 0 => to_skip -= 1,
            (Some(digit), None) => high = Some((digit, at)),
            (Some(digit), Some((first, start))) => {
                out.push(first << 4 | digit);
                from.push(start);
                high = None;
            }
            (None, _) if is_between(*byte) => {}
            (None, _) => {
                out.push(*byte);
                from.push(at);
                (high, to_skip) = (None, skip);
            }
        }
        at += 1;
    }
    from.push(bytes.len());
    View { bytes: Cow::Owned(out), from: Some(from) }
}

/// Up to four bytes.
struct Letter([u8; 4], usize);

impl Letter {
    fn byte(byte: u8) -> Self {
        Self([byte, 0, 0, 0], 1)
    }

    fn of(number: u32) -> Self {
        let mut bytes = [0; 4];
        let length =
            char::from_u32(number).unwrap_or(char::REPLACEMENT_CHARACTER).encode_utf8(&mut bytes).len();
        Self(bytes, length)
    }

    fn bytes(&self) -> &[u8] {
        self.0.get(..self.1).unwrap_or_default()
    }
}

fn percent(text: &[u8]) -> Option<(Letter, usize)> {
    let [b'%', high, low, ..] = text else { return None };
    Some((Letter::byte(u8::try_from(number(&[*high, *low], 16)?).ok()?), 3))
}

/// As forms are sent: a plus sign is a space.
fn form(text: &[u8]) -> Option<(Letter, usize)> {
    if text.first() == Some(&b'+') { Some((Letter::byte(b' '), 1)) } else { percent(text) }
}

/// The escapes of JSON, C, Python and shells.
fn backslash(text: &[u8]) -> Option<(Letter, usize)> {
    let [b'\\', kind, rest @ ..] = text else { return None };
    let byte = |byte| Some((Letter::byte(byte), 2));
    match kind {
        b'n' => byte(b'\n'),
        b't' => byte(b'\t'),
        b'r' => byte(b'\r'),
        b'b' => byte(8),
        b'f' => byte(12),
        b'x' => Some((Letter::byte(u8::try_from(number(rest.get(..2)?, 16)?).ok()?), 4)),
        b'u' => {
            let first = number(rest.get(..4)?, 16)?;
            // Two of them make one letter beyond the first 65,536.
            if let (0xd800..0xdc00, Some([b'\\', b'u'])) = (first, rest.get(4..6))
                && let Some(second @ 0xdc00..0xe000) = rest.get(6..10).and_then(|digits| number(digits, 16))
            {
                return Some((Letter::of(0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00)), 12));
            }
            Some((Letter::of(first), 6))
        }
        b'U' => Some((Letter::of(number(rest.get(..8)?, 16)?), 10)),
        b'0'..=b'7' => match text.get(1..4).and_then(|digits| number(digits, 8)) {
            Some(number) => Some((Letter::byte(u8::try_from(number & 0xff).ok()?), 4)),
            None => byte(0),
        },
        other if other.is_ascii_punctuation() || *other == b' ' => byte(*other),
        _ => None,
    }
}

/// The entities of HTML and XML that values get.
fn entity(text: &[u8]) -> Option<(Letter, usize)> {
    const NAMED: &[(&[u8], u8)] =
        &[(b"&amp;", b'&'), (b"&lt;", b'<'), (b"&gt;", b'>'), (b"&quot;", b'"'), (b"&apos;", b'\'')];
    if let Some((name, byte)) = NAMED.iter().find(|(name, _)| text.starts_with(name)) {
        return Some((Letter::byte(*byte), name.len()));
    }
    let digits = text.strip_prefix(b"&#")?;
    let (digits, base, before) = match digits {
        [b'x' | b'X', rest @ ..] => (rest, 16, 3),
        _ => (digits, 10, 2),
    };
    let length = digits.iter().take(8).position(|byte| *byte == b';')?;
    Some((Letter::of(number(digits.get(..length)?, base)?), before + length + 1))
}

fn number(digits: &[u8], base: u32) -> Option<u32> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0_u32, |number, digit| {
        number.checked_mul(base)?.checked_add(char::from(*digit).to_digit(base)?)
    })
}
