//! Bytes that were written as numbers, octal or decimal: `163 145 143`, `[115, 101, 99]`, `115101099`.

use super::views::View;

/// Numbers in a row that are the fewest worth decoding: those of the shortest value.
const FEWEST: usize = 6;

/// Whether there are so many numbers in a row that could be letters, in either base. One pass that looks up each byte once.
pub(super) fn has_row(bytes: &[u8]) -> bool {
    // Letters are numbers of two or three digits.
    if bytes.iter().filter(|byte| byte.is_ascii_digit()).count() < FEWEST * 2 {
        return false;
    }
    let (mut row, mut length, mut number) = (0, 0_usize, 0_u32);
    for byte in bytes.iter().chain([&b' ']) {
        match KINDS.get(usize::from(*byte)).copied().unwrap_or(ByteKind::Other) {
            ByteKind::Digit(digit) => {
                length += 1;
                number = number.saturating_mul(10).saturating_add(u32::from(digit));
                // Three digits each, without anything between.
                if length >= FEWEST * 3 {
                    return true;
                }
                continue;
            }
            ByteKind::Between if length == 0 => continue,
            // `40` is the least that is a letter in octal and in decimal; `0163` has four digits.
            ByteKind::Between if (2..=4).contains(&length) && (32..=377).contains(&number) => row += 1,
            // The `0o` of `0o163`.
            ByteKind::Between if length == 1 && number == 0 => {}
            ByteKind::Between | ByteKind::Other => row = 0,
        }
        (length, number) = (0, 0);
        if row >= FEWEST {
            return true;
        }
    }
    false
}

#[derive(Clone, Copy)]
enum ByteKind {
    Digit(u8),
    Between,
    Other,
}

#[allow(clippy::indexing_slicing)] // at compile time
const KINDS: [ByteKind; 256] = {
    let mut kinds = [ByteKind::Other; 256];
    let mut at = 0;
    while at < BETWEEN.len() {
        kinds[BETWEEN[at] as usize] = ByteKind::Between;
        at += 1;
    }
    let mut digit = 0_u8;
    while digit < 10 {
        kinds[(b'0' + digit) as usize] = ByteKind::Digit(digit);
        digit += 1;
    }
    kinds
};

/// Decodes every number. Long rows of digits are taken apart by threes, from their first digit on or from a later one.
pub(super) fn decode(bytes: &[u8], base: u32, skip: usize) -> View<'static> {
    let mut out = Vec::with_capacity(bytes.len() / 2);
    let mut from = Vec::with_capacity(bytes.len() / 2 + 1);
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        if is_prefix(bytes, at) {
            at += 2;
            continue;
        }
        let length = digits(bytes, at, base);
        if length == 0 {
            if !is_between(*byte) {
                out.push(*byte);
                from.push(at);
            }
            at += 1;
            continue;
        }
        let is_packed = length > 4;
        let (mut place, end) = (at + if is_packed { skip } else { 0 }, at + length);
        while place < end {
            let width = if is_packed { 3.min(end - place) } else { length };
            if let Some(number) = value(bytes.get(place..place + width).unwrap_or_default(), base) {
                out.push(number);
                from.push(place);
            }
            place += width;
        }
        at = end;
    }
    from.push(bytes.len());
    View::decoded(out, from)
}

fn digits(bytes: &[u8], from: usize, base: u32) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    rest.iter().take_while(|byte| is_digit(**byte, base)).count()
}

fn is_digit(byte: u8, base: u32) -> bool {
    char::from(byte).is_digit(base)
}

fn value(digits: &[u8], base: u32) -> Option<u8> {
    let number = digits.iter().try_fold(0_u32, |number, digit| {
        number.checked_mul(base)?.checked_add(char::from(*digit).to_digit(base)?)
    })?;
    u8::try_from(number).ok()
}

/// The beginning of `0o163`.
fn is_prefix(bytes: &[u8], at: usize) -> bool {
    matches!(bytes.get(at..at + 3), Some([b'0', b'o' | b'O', b'0'..=b'7']))
}

/// What may stand between two numbers; `o` is that of `0o163`.
const BETWEEN: &[u8] = b" ,;:\t\n\r-_./|\\[](){}'\"o";

fn is_between(byte: u8) -> bool {
    matches!(KINDS.get(usize::from(byte)), Some(ByteKind::Between))
}
