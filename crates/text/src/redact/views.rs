//! A text as it is, and as it reads once its percent signs, backslashes, entities, numbers or line ends are undone.
//!
//! By hand, since every byte has to know where it came from, which no decoder tells.

use std::borrow::Cow;

use super::numbers;

/// A text, and where each of its bytes came from.
#[derive(Debug)]
pub(super) struct View<'a> {
    bytes: Cow<'a, [u8]>,
    /// Where each byte begins in the original, and where the last one ends; `None` where nothing was decoded.
    from: Option<Vec<usize>>,
}

impl View<'static> {
    /// Bytes, and where each of them came from; the last place is where the text ends.
    pub(super) fn decoded(bytes: Vec<u8>, from: Vec<usize>) -> Self {
        Self { bytes: Cow::Owned(bytes), from: Some(from) }
    }
}

impl<'a> View<'a> {
    /// A text as it is.
    pub(super) fn raw(bytes: &'a [u8]) -> Self {
        Self { bytes: Cow::Borrowed(bytes), from: None }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The same without the bytes that are nothing, if there are any.
    fn without_nul(&self) -> Option<View<'static>> {
        self.bytes.contains(&0).then(|| self.without(|at| self.bytes.get(at) == Some(&0)))
    }

    /// The same with its lines joined, where a line without blanks, such as those of base64, goes on in the next.
    fn unwrapped(&self) -> Option<View<'static>> {
        if !self.bytes.contains(&b'\n') {
            return None;
        }
        let ends = line_ends(&self.bytes);
        let mut next = 0;
        let is_end = |at: usize| {
            while ends.get(next).is_some_and(|(_, end)| *end <= at) {
                next += 1;
            }
            ends.get(next).is_some_and(|(start, _)| *start <= at)
        };
        (!ends.is_empty()).then(|| self.without(is_end))
    }

    /// The same without some of its bytes, which are asked for in order.
    fn without(&self, mut is_left_out: impl FnMut(usize) -> bool) -> View<'static> {
        let mut bytes = Vec::with_capacity(self.bytes.len());
        let mut from = Vec::with_capacity(self.bytes.len() + 1);
        for (at, byte) in self.bytes.iter().enumerate() {
            if !is_left_out(at) {
                bytes.push(*byte);
                from.push(self.original(at, at).0);
            }
        }
        from.push(self.original(self.bytes.len(), self.bytes.len()).1);
        View { bytes: Cow::Owned(bytes), from: Some(from) }
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

/// Looks at what the text reads once it is decoded, where it has something to be decoded. Each costs a pass, so each has a cheap sign.
pub(super) fn each_decoded(bytes: &[u8], mut look: impl FnMut(&View<'_>)) {
    let signs = Signs::of(bytes);
    // Of text in UTF-16 every other byte is nothing, and long lines are broken, before they are escaped or after.
    if signs.nul || signs.line {
        let raw = View::raw(bytes);
        raw.without_nul().iter().chain(&raw.unwrapped()).for_each(&mut look);
    }
    let mut look_twice = |view: View<'_>| {
        look(&view);
        view.without_nul().iter().chain(&view.unwrapped()).for_each(&mut look);
    };
    if signs.percent {
        look_twice(decode(bytes, percent));
    }
    if signs.plus {
        look_twice(decode(bytes, form));
    }
    if signs.backslash {
        look_twice(decode(bytes, backslash));
    }
    if signs.entity {
        look_twice(decode(bytes, entity));
    }
    if signs.equals && has_quoted(bytes) {
        look_twice(decode(bytes, quoted));
    }
    if has_hex(bytes) {
        (0..2).for_each(|skip| look_twice(hex(bytes, skip)));
    }
    if numbers::has_row(bytes) {
        for base in [8, 10] {
            (0..3).for_each(|skip| look_twice(numbers::decode(bytes, base, skip)));
        }
    }
}

/// Which signs of an encoding there are: one pass over the text.
#[derive(Default)]
#[allow(clippy::struct_excessive_bools)] // each says one thing about the bytes
struct Signs {
    percent: bool,
    plus: bool,
    backslash: bool,
    entity: bool,
    equals: bool,
    nul: bool,
    line: bool,
}

impl Signs {
    fn of(bytes: &[u8]) -> Self {
        let has = |wanted: u8| bytes.contains(&wanted);
        Self {
            percent: has(b'%'),
            plus: has(b'+'),
            backslash: has(b'\\'),
            entity: has(b'&'),
            equals: has(b'='),
            nul: has(0),
            line: has(b'\n'),
        }
    }
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

/// Letters of the shortest line that is joined with the next.
const SHORTEST_LINE: usize = 8;

/// The line ends behind lines that hold no blank and are long enough to be part of something.
fn line_ends(bytes: &[u8]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut start = 0;
    for (at, _) in bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n') {
        let line = bytes.get(start..at).unwrap_or_default();
        start = at + 1;
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        // Of the first line only the last word counts: `key: SGVsbG8…`.
        let word = line.rsplit(u8::is_ascii_whitespace).next().unwrap_or_default();
        let goes_on = bytes.get(start).is_some_and(u8::is_ascii_graphic);
        if word.len() >= SHORTEST_LINE && goes_on {
            let from = at - usize::from(bytes.get(at.wrapping_sub(1)) == Some(&b'\r'));
            found.push((from, at + 1));
        }
    }
    found
}

/// Digits that are the fewest worth decoding: those of the shortest value.
const FEWEST: usize = 12;

/// Whether there are so many hexadecimal digits in a row, signs between them aside.
fn has_hex(bytes: &[u8]) -> bool {
    let mut row = 0;
    bytes.iter().any(|byte| {
        row = match HEX_KINDS.get(usize::from(*byte)) {
            Some(HexKind::Digit) => row + 1,
            Some(HexKind::Between) => row,
            Some(HexKind::Other) | None => 0,
        };
        row >= FEWEST
    })
}

#[derive(Clone, Copy)]
enum HexKind {
    Digit,
    Between,
    Other,
}

#[allow(clippy::indexing_slicing)] // at compile time
const HEX_KINDS: [HexKind; 256] = {
    let mut kinds = [HexKind::Other; 256];
    let mut at = 0;
    while at < BETWEEN.len() {
        kinds[BETWEEN[at] as usize] = HexKind::Between;
        at += 1;
    }
    kinds[b'x' as usize] = HexKind::Between;
    let mut byte = 0_u8;
    while byte < 128 {
        if byte.is_ascii_hexdigit() {
            kinds[byte as usize] = HexKind::Digit;
        }
        byte += 1;
    }
    kinds
};

/// What may stand between two bytes in hexadecimal.
const BETWEEN: &[u8] = b" :-,_\t\n\r.;|/";

fn is_between(byte: u8) -> bool {
    byte != b'x' && matches!(HEX_KINDS.get(usize::from(byte)), Some(HexKind::Between))
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

    fn nothing() -> Self {
        Self([0; 4], 0)
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

/// Whether there is an equals sign with the two digits of a letter behind it, or the end of a line.
fn has_quoted(bytes: &[u8]) -> bool {
    let is_one = |three: &[u8]| match three {
        [b'=', b'\n', _] | [b'=', b'\r', b'\n'] => true,
        [b'=', b'2'..=b'9' | b'A'..=b'F' | b'a'..=b'f', low] => low.is_ascii_hexdigit(),
        _ => false,
    };
    bytes.windows(3).any(is_one)
}

/// As mail has it; an equals sign at the end of a line is nothing.
fn quoted(text: &[u8]) -> Option<(Letter, usize)> {
    match text {
        [b'=', b'\n', ..] => Some((Letter::nothing(), 2)),
        [b'=', b'\r', b'\n', ..] => Some((Letter::nothing(), 3)),
        [b'=', high, low, ..] => Some((Letter::byte(u8::try_from(number(&[*high, *low], 16)?).ok()?), 3)),
        _ => None,
    }
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
