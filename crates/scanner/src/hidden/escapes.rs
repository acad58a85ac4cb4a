//! Characters written as escapes or as numbers.

use percent_encoding::percent_decode_str;

use super::HiddenSink;
use crate::prefilter::TextSignals;

/// Fewer escapes are what they seem.
const FEWEST: usize = 8;

/// Everything that is written in escapes or numbers.
pub(super) fn uncover(text: &str, signals: TextSignals, push: HiddenSink<'_>) {
    let bytes = text.as_bytes();
    let hex = |at: usize, skip: usize| {
        bytes.get(at + skip..at + skip + 2).is_some_and(|two| two.iter().all(u8::is_ascii_hexdigit))
    };
    let many = |mut places: memchr::Memchr<'_>, is: &dyn Fn(usize) -> bool| {
        places.by_ref().filter(|at| is(*at)).take(FEWEST).count() >= FEWEST
    };
    if many(memchr::memchr_iter(b'&', bytes), &|at| bytes.get(at + 1) == Some(&b'#')) {
        escapes(text, "&#", "html entities", push);
    }
    if many(memchr::memchr_iter(b'%', bytes), &|at| hex(at, 1)) {
        push(percent_decode_str(text).decode_utf8_lossy().into_owned(), 0..text.len(), "url encoding");
    }
    let after = |at: usize| bytes.get(at + 1).copied().unwrap_or(0);
    for (letter, mark, how) in [(b'u', "\\u", "unicode escapes"), (b'x', "\\x", "byte escapes")] {
        if many(memchr::memchr_iter(b'\\', bytes), &|at| after(at) == letter) {
            escapes(text, mark, how, push);
        }
    }
    if many(memchr::memchr_iter(b'\\', bytes), &|at| after(at).is_ascii_digit()) {
        octal(text, push);
    }
    if signals.has(TextSignals::CODES) {
        codes(text, push);
    }
}

/// `&#105;`, `\u0069`, `\x69`: runs of them, decoded.
fn escapes(text: &str, mark: &str, how: &'static str, push: HiddenSink<'_>) {
    let mut out = String::with_capacity(text.len());
    let mut decoded = 0;
    let mut rest = text;
    while let Some(at) = rest.find(mark) {
        let (before, tail) = rest.split_at(at);
        out.push_str(before);
        if let Some((c, width)) = escape(tail, mark) {
            out.push(c);
            decoded += 1;
            rest = tail.get(width..).unwrap_or_default();
        } else {
            out.push_str(mark);
            rest = tail.get(mark.len()..).unwrap_or_default();
        }
    }
    out.push_str(rest);
    if decoded >= FEWEST {
        push(out, 0..text.len(), how);
    }
}

fn escape(text: &str, mark: &str) -> Option<(char, usize)> {
    let body = text.get(mark.len()..)?;
    let (digits, radix, extra) = match mark {
        "&#" => {
            let end = body.find(';').filter(|end| *end <= 8)?;
            match body.get(..end)?.strip_prefix(['x', 'X']) {
                Some(hex) => (hex, 16, mark.len() + end + 1),
                None => (body.get(..end)?, 10, mark.len() + end + 1),
            }
        }
        "\\x" => (body.get(..2)?, 16, mark.len() + 2),
        _ => match body.strip_prefix('{') {
            Some(braced) => {
                let end = braced.find('}').filter(|end| *end <= 6)?;
                (braced.get(..end)?, 16, mark.len() + end + 2)
            }
            None => (body.get(..4)?, 16, mark.len() + 4),
        },
    };
    let c = char::from_u32(u32::from_str_radix(digits, radix).ok()?)?;
    (c.is_ascii_graphic() || c == ' ' || c == '\n' || c.is_alphabetic()).then_some((c, extra))
}

/// `\\143\\165`: characters in octal.
fn octal(text: &str, push: HiddenSink<'_>) {
    let mut out = String::with_capacity(text.len());
    let mut decoded = 0;
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        let (before, tail) = rest.split_at(at);
        out.push_str(before);
        let digits = tail.bytes().skip(1).take(4).take_while(|b| matches!(b, b'0'..=b'7')).count();
        let code = tail.get(1..=digits).and_then(|digits| u8::from_str_radix(digits, 8).ok());
        if let Some(code) = code.filter(|code| digits >= 2 && (code.is_ascii_graphic() || *code == b' ')) {
            decoded += 1;
            out.push(char::from(code));
            rest = tail.get(digits + 1..).unwrap_or_default();
        } else {
            out.push('\\');
            rest = tail.get(1..).unwrap_or_default();
        }
    }
    out.push_str(rest);
    if decoded >= FEWEST {
        push(out, 0..text.len(), "octal escapes");
    }
}

/// `[99, 117, 114, 108]`, `chr(99)+chr(117)`, `0x63,0x75`: characters as numbers.
fn codes(text: &str, push: HiddenSink<'_>) {
    let mut said = String::new();
    let mut place = 0..0;
    let mut end = |said: &mut String, place: &std::ops::Range<usize>| {
        if said.len() >= FEWEST {
            push(std::mem::take(said), place.clone(), "character codes");
        }
        said.clear();
    };
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(start) =
        bytes.get(at..).and_then(|rest| rest.iter().position(u8::is_ascii_digit)).map(|to| at + to)
    {
        let hex = text.get(start..).is_some_and(|rest| rest.starts_with("0x") || rest.starts_with("0X"));
        let from = if hex { start + 2 } else { start };
        let digit = |b: &&u8| if hex { b.is_ascii_hexdigit() } else { b.is_ascii_digit() };
        let length = bytes.get(from..).map_or(0, |rest| rest.iter().take_while(digit).count());
        let number = text
            .get(from..from + length)
            .and_then(|n| u32::from_str_radix(n, if hex { 16 } else { 10 }).ok());
        // Numbers that follow each other closely are one list.
        if start > place.end + 14 {
            end(&mut said, &place);
            place.start = start;
        }
        match number
            .and_then(char::from_u32)
            .filter(|c| c.is_ascii_graphic() || matches!(c, ' ' | '\n' | '\t'))
        {
            Some(c) if length <= 3 => said.push(c),
            _ => end(&mut said, &place),
        }
        place.end = from + length;
        at = place.end.max(start + 1);
    }
    end(&mut said, &place);
}
