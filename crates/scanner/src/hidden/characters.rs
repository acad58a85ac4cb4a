//! Characters that are not seen, or that look like others.

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;
use unicode_security::confusable_detection::skeleton;

use super::HiddenSink;
use super::encodings::printable;
use crate::runs::{foreign, word_at};

/// Everything that characters hide in a text that is not ASCII.
pub(super) fn uncover(text: &str, push: HiddenSink<'_>) {
    if text.contains('\u{8}') {
        push(backspaced(text), 0..text.len(), "backspaces");
    }
    if text.is_ascii() {
        return;
    }
    if foreign(text).any(|(_, c)| is_invisible(c)) {
        invisible(text, push);
    }
    if looks_mixed(text) {
        push(unlike(text), 0..text.len(), "look-alike letters");
    }
    if foreign(text).filter(|(_, c)| matches!(c, '\u{2800}'..='\u{28ff}')).take(8).count() >= 8 {
        push(from_braille(text), 0..text.len(), "Braille");
    }
    if foreign(text).filter(|(_, c)| is_accented(*c)).take(3).count() >= 3 {
        push(unmarked(text), 0..text.len(), "marks on letters");
    }
}

/// Tag characters, variation selectors and zero-width characters: what they spell, and the text without them.
fn invisible(text: &str, push: HiddenSink<'_>) {
    let mut tags = String::new();
    let mut bits = String::new();
    let mut first: Option<usize> = None;
    let mut removed = 0;
    let mut clean = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        match c {
            '\u{e0020}'..='\u{e007e}' => {
                tags.extend(char::from_u32(u32::from(c) - 0xe0000));
                first.get_or_insert(at);
            }
            '\u{200b}'
            | '\u{200c}'
            | '\u{200d}'
            | '\u{2060}'
            | '\u{feff}'
            | '\u{ad}'
            | '\u{180e}'
            | '\u{34f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}' => {
                match c {
                    '\u{200b}' => bits.push('0'),
                    '\u{200c}' => bits.push('1'),
                    _ => {}
                }
                removed += 1;
                first.get_or_insert(at);
            }
            c => clean.push(c),
        }
    }
    for (at, _) in text.match_indices('\u{202e}') {
        // Shown right to left: what a person reads is the reverse of what is written.
        let rest = text.get(at + '\u{202e}'.len_utf8()..).unwrap_or_default();
        let end = rest.find(['\n', '\u{202c}']).unwrap_or(rest.len());
        push(rest.get(..end).unwrap_or_default().chars().rev().collect(), at..at, "right-to-left override");
    }
    let at = first.unwrap_or(0);
    if tags.len() >= 4 {
        push(tags, at..(at + 4).min(text.len()), "tag characters");
    }
    if removed >= 2 {
        push(clean, at..at, "invisible characters");
    }
    if bits.len() >= 32 {
        for flip in [false, true] {
            let bytes: Vec<u8> = bits
                .as_bytes()
                .chunks_exact(8)
                .map(|chunk| chunk.iter().fold(0, |byte, bit| byte << 1 | u8::from((*bit == b'1') != flip)))
                .collect();
            if let Some(words) = printable(&bytes) {
                push(words, at..at, "zero-width bits");
            }
        }
    }
}

/// Whether some word mixes Latin with letters of another alphabet, or is written in letters that only look Latin.
pub(crate) fn looks_mixed(text: &str) -> bool {
    let suspicious = |c: char| is_look_alike(c) || is_of_another_alphabet(c) || is_styled(c);
    foreign(text).filter(|(_, c)| suspicious(*c)).any(|(at, _)| {
        let word = word_at(text, at);
        let latin = word.bytes().any(|b| b.is_ascii_alphabetic());
        latin || (word.chars().count() >= 3 && word.chars().all(is_styled))
    })
}

/// Characters that are not seen, and those that turn the direction.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{34f}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

fn is_of_another_alphabet(c: char) -> bool {
    matches!(c, '\u{370}'..='\u{58f}' | '\u{13a0}'..='\u{13ff}')
}

/// Fullwidth, mathematical and encircled letters.
fn is_styled(c: char) -> bool {
    matches!(c, '\u{ff21}'..='\u{ff5a}' | '\u{1d400}'..='\u{1d7ff}' | '\u{24b6}'..='\u{24e9}' | '\u{1f130}'..='\u{1f189}')
}

pub(crate) fn is_look_alike(c: char) -> bool {
    matches!(c, '\u{430}' | '\u{435}' | '\u{43e}' | '\u{440}' | '\u{441}' | '\u{443}' | '\u{445}' | '\u{456}' | '\u{458}' | '\u{455}' | '\u{501}' | '\u{410}' | '\u{412}' | '\u{415}' | '\u{41a}' | '\u{41c}' | '\u{41d}' | '\u{41e}' | '\u{420}' | '\u{421}' | '\u{422}' | '\u{425}' | '\u{406}' | '\u{3bf}' | '\u{3b1}' | '\u{3bd}' | '\u{391}' | '\u{395}' | '\u{39f}' | '\u{4cf}' | '\u{ff21}'..='\u{ff5a}' | '\u{1d400}'..='\u{1d7ff}')
}

/// The text with look-alikes replaced, by compatibility forms and by Unicode's table of confusables.
fn unlike(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.nfkc() {
        if c.is_ascii() {
            out.push(c);
            continue;
        }
        let mut utf8 = [0; 4];
        let plain: String = skeleton(c.encode_utf8(&mut utf8)).collect();
        if plain.len() == 1 { out.push_str(&plain) } else { out.push(c) }
    }
    out
}

/// The letters of Braille, by the dots of each.
const BRAILLE: [u8; 26] = [
    0x01, 0x03, 0x09, 0x19, 0x11, 0x0b, 0x1b, 0x13, 0x0a, 0x1a, 0x05, 0x07, 0x0d, 0x1d, 0x15, 0x0f, 0x1f,
    0x17, 0x0e, 0x1e, 0x25, 0x27, 0x3a, 0x2d, 0x3d, 0x35,
];

/// The text with Braille as letters.
fn from_braille(text: &str) -> String {
    let letter = |c: char| match u8::try_from(u32::from(c).wrapping_sub(0x2800)) {
        Ok(0) => ' ',
        Ok(dots) => {
            BRAILLE.iter().zip('a'..='z').find(|(known, _)| **known == dots).map_or(c, |(_, letter)| letter)
        }
        Err(_) => c,
    };
    text.chars().map(letter).collect()
}

/// Small capitals, in the order of the alphabet.
const SMALL_CAPITALS: [char; 26] = [
    '\u{1d00}', '\u{299}', '\u{1d04}', '\u{1d05}', '\u{1d07}', '\u{a730}', '\u{262}', '\u{29c}', '\u{26a}',
    '\u{1d0a}', '\u{1d0b}', '\u{29f}', '\u{1d0d}', '\u{274}', '\u{1d0f}', '\u{1d18}', '\u{a7af}', '\u{280}',
    '\u{a731}', '\u{1d1b}', '\u{1d1c}', '\u{1d20}', '\u{1d21}', '\u{2e3}', '\u{28f}', '\u{1d22}',
];

fn is_accented(c: char) -> bool {
    matches!(c, '\u{c0}'..='\u{24f}' | '\u{300}'..='\u{36f}' | '\u{1e00}'..='\u{1eff}')
        || SMALL_CAPITALS.contains(&c)
}

/// The text without marks on its letters, and with small capitals as letters.
fn unmarked(text: &str) -> String {
    let plain = |c: char| {
        let number = SMALL_CAPITALS.iter().zip('a'..='z').find(|(small, _)| **small == c);
        number.map_or(c, |(_, letter)| letter)
    };
    text.nfd().filter(|c| !is_combining_mark(*c)).map(plain).collect()
}

fn backspaced(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if c == '\u{8}' {
            out.pop();
        } else {
            out.push(c);
        }
    }
    out
}
