//! Characters that are not seen, or that look like others.

use std::collections::HashMap;

use skillsandbox_text::{is_bidi_control, is_emoji_selector, is_filler, is_invisible, is_variation_selector};
use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

use super::HiddenSink;
use super::encodings::printable;
use crate::look_alikes::skeleton;
use crate::runs::{foreign, word_at};

/// Everything that characters hide in a text that is not ASCII.
pub(super) fn uncover(text: &str, push: HiddenSink<'_>) {
    if memchr::memchr(8, text.as_bytes()).is_some() {
        push(backspaced(text), 0..text.len(), "backspaces");
    }
    if let Some(plain) = without_invisible_entities(text) {
        push(plain, 0..text.len(), "html entities");
    }
    if text.is_ascii() {
        return;
    }
    // One pass, which most texts need no more than.
    let (mut has_invisible, mut has_suspicious, mut braille, mut accented) = (false, false, 0, 0);
    for (_, c) in foreign(text) {
        has_invisible |= is_invisible(c);
        has_suspicious |= is_suspicious(c);
        braille += usize::from(matches!(c, '\u{2800}'..='\u{28ff}'));
        accented += usize::from(is_accented(c));
    }
    if has_invisible {
        invisible(text, push);
    }
    if has_suspicious && looks_mixed(text) {
        push(unlike(text), 0..text.len(), "look-alike letters");
    }
    if braille >= 8 {
        push(from_braille(text), 0..text.len(), "Braille");
    }
    if accented >= 3 {
        push(unmarked(text), 0..text.len(), "marks on letters");
    }
}

/// The text without entities of invisible characters, if it has any: shown as a page, the words around them are whole.
fn without_invisible_entities(text: &str) -> Option<String> {
    let mut plain = String::new();
    let mut kept = 0;
    for at in memchr::memchr_iter(b'&', text.as_bytes()) {
        let Some(length) = text.get(at..).and_then(invisible_entity) else { continue };
        plain.push_str(text.get(kept..at).unwrap_or_default());
        kept = at + length;
    }
    if kept == 0 {
        return None;
    }
    plain.push_str(text.get(kept..).unwrap_or_default());
    (plain.len() < text.len()).then_some(plain)
}

/// How long the entity is that begins here, if it is one of an invisible character.
fn invisible_entity(text: &str) -> Option<usize> {
    // Zeros may stand before a number, but nobody writes so many.
    let end = text.bytes().take(64).position(|b| b == b';')?;
    let name = text.get(1..end)?;
    let c = match name {
        "shy"
        | "zwnj"
        | "zwj"
        | "lrm"
        | "rlm"
        | "NoBreak"
        | "ZeroWidthSpace"
        | "InvisibleTimes"
        | "it"
        | "InvisibleComma"
        | "ic"
        | "ApplyFunction"
        | "af"
        | "NegativeThinSpace"
        | "NegativeMediumSpace"
        | "NegativeThickSpace"
        | "NegativeVeryThinSpace" => '\u{200b}',
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(digits) => u32::from_str_radix(digits, 16),
                None => number.parse(),
            };
            char::from_u32(code.ok()?)?
        }
    };
    is_invisible(c).then_some(end + 1)
}

/// Whether an invisible character stands where no script and no emoji needs one.
pub(crate) fn is_misplaced(before: char, c: char, after: char) -> bool {
    match c {
        '\u{200b}' => true,
        '\u{200c}' | '\u{2060}' | '\u{ad}' | '\u{180e}' => before.is_ascii(),
        '\u{200d}' => before.is_ascii_alphanumeric(),
        // Nothing in ASCII is drawn in two ways, but for the keys of a telephone.
        c if is_emoji_selector(c) => {
            (before.is_ascii() && !is_keycap(before, after))
                || (is_styled(before) && !is_emoji_like_a_letter(before))
        }
        // Variants of Chinese characters are told apart by them.
        '\u{e0100}'..='\u{e01ef}' => !is_ideograph(before),
        c if is_variation_selector(c) => before.is_ascii(),
        // Pictures are made of Braille, from the beginning of a line.
        '\u{2800}' => before.is_ascii_alphabetic() || after.is_ascii_alphabetic(),
        // Marks of direction are honest beside a script that runs from right to left.
        c if is_bidi_control(c) => before.is_ascii_alphanumeric() && after.is_ascii_alphanumeric(),
        c => is_invisible(c) && (before.is_ascii_alphanumeric() || after.is_ascii_alphanumeric()),
    }
}

/// Whether a character with a selector behind it is a key of a telephone, by what follows.
fn is_keycap(before: char, after: char) -> bool {
    after == '\u{20e3}' && (before.is_ascii_digit() || matches!(before, '#' | '*'))
}

/// Emoji that are letters, too: a selector behind one is honest, but it may also part a word that is written with them.
fn is_emoji_like_a_letter(c: char) -> bool {
    matches!(c, '\u{2139}' | '\u{24c2}' | '\u{1f170}' | '\u{1f171}' | '\u{1f17e}' | '\u{1f17f}')
}

/// Whether it may be an emoji, by the blocks that have some. A wrong yes only leaves a selector unquestioned behind a picture.
fn is_emoji(c: char) -> bool {
    matches!(c, '\u{a9}' | '\u{ae}' | '\u{203c}' | '\u{2049}' | '\u{20e3}' | '\u{2122}' | '\u{2190}'..='\u{21ff}' | '\u{2300}'..='\u{23ff}' | '\u{25a0}'..='\u{27bf}' | '\u{2900}'..='\u{297f}' | '\u{2b00}'..='\u{2bff}' | '\u{3030}' | '\u{303d}' | '\u{3297}' | '\u{3299}' | '\u{1f000}'..='\u{1f12f}' | '\u{1f18a}'..='\u{1faff}')
}

/// Whether the text is to be read again without the selector behind a visible character.
fn may_part_words(visible: char, after: char) -> bool {
    if is_emoji_like_a_letter(visible) {
        return after.is_alphanumeric() || is_styled(after);
    }
    !is_emoji(visible) && !is_keycap(visible, after)
}

fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// Selectors in a row from which on they are a text: a character has one, and two where somebody mistyped.
pub(crate) const SELECTORS_IN_A_ROW: usize = 4;

/// Tag characters, variation selectors and other invisible characters: what they spell, and the text without them.
fn invisible(text: &str, push: HiddenSink<'_>) {
    let mut tags = String::new();
    let mut selectors: Vec<(usize, char)> = Vec::new();
    let mut others: Vec<char> = Vec::new();
    let mut first: Option<usize> = None;
    let (mut removed, mut misplaced, mut has_filler) = (0, false, false);
    let mut clean = String::with_capacity(text.len());
    let mut before = '\n';
    let mut visible = '\n';
    let mut parts_words = false;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let after = chars.peek().map_or('\n', |(_, c)| *c);
        if !is_invisible(c) {
            clean.push(c);
            visible = c;
        } else if let '\u{e0020}'..='\u{e007e}' = c {
            tags.extend(char::from_u32(u32::from(c) - 0xe0000));
            first.get_or_insert(at);
        } else {
            let is_wrong = is_misplaced(before, c, after) && !(c == '\u{feff}' && at == 0);
            if is_variation_selector(c) {
                selectors.push((at, c));
            } else {
                others.push(c);
            }
            // An emoji that is drawn as one is nothing to look at again.
            let parts = is_emoji_selector(c) && may_part_words(visible, after);
            parts_words |= parts;
            if is_wrong || parts || !is_emoji_selector(c) {
                removed += 1;
                first.get_or_insert(at);
            }
            misplaced |= is_wrong;
            has_filler |= is_filler(c);
        }
        before = c;
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
    if misplaced || parts_words || removed >= 2 {
        push(clean, at..at, "invisible characters");
    }
    if has_filler {
        // Drawn as wide as a letter, they part words, too.
        let spaced = |c: char| if is_filler(c) { Some(' ') } else { (!is_invisible(c)).then_some(c) };
        push(text.chars().filter_map(spaced).collect(), at..at, "fillers for spaces");
    }
    spelled_by_selectors(&selectors, push);
    let selectors: Vec<char> = selectors.into_iter().map(|(_, c)| c).collect();
    for symbols in [&others, &selectors] {
        if let Some(words) = from_bits(symbols) {
            push(words, at..at, "zero-width bits");
        }
    }
}

/// What variation selectors spell, of which there are as many as bytes. The first 16 are the bytes 0 to 15, the others 16 to 255;
/// some begin to count at the others.
fn spelled_by_selectors(selectors: &[(usize, char)], push: HiddenSink<'_>) {
    let number = |first_of_others: u32, c: char| match c {
        '\u{fe00}'..='\u{fe0f}' => u8::try_from(u32::from(c) - 0xfe00).ok(),
        '\u{e0100}'..='\u{e01ef}' => u8::try_from(u32::from(c) - 0xe0100 + first_of_others).ok(),
        _ => None,
    };
    let mut alone: Vec<char> = Vec::new();
    for row in selectors.chunk_by(|(at, c), (next, _)| at + c.len_utf8() == *next) {
        let Some((at, _)) = row.first() else { continue };
        if row.len() < SELECTORS_IN_A_ROW {
            // As every emoji has it.
            alone.extend(row.iter().map(|(_, c)| *c).filter(|c| row.len() > 1 || !is_emoji_selector(*c)));
            continue;
        }
        let bytes = |first: u32| row.iter().filter_map(|(_, c)| number(first, *c)).collect::<Vec<u8>>();
        let words = [16, 0].into_iter().find_map(|first| printable(&bytes(first)));
        let halves: Vec<u8> = bytes(16).chunks_exact(2).filter_map(two_halves).collect();
        let words = words.or_else(|| printable(&halves));
        // Nobody puts so many in a row for another reason: what is no text as a whole may be one in part.
        let words = words.unwrap_or_else(|| String::from_utf8_lossy(&bytes(16)).into_owned());
        push(words, *at..*at, "variation selectors");
    }
    // One behind each character of another text.
    let bytes = |first: u32| alone.iter().filter_map(|c| number(first, *c)).collect::<Vec<u8>>();
    let halves: Vec<u8> = bytes(16).chunks_exact(2).filter_map(two_halves).collect();
    let at = selectors.first().map_or(0, |(at, _)| *at);
    for bytes in [bytes(16), bytes(0), halves] {
        if let Some(words) = printable(&bytes) {
            push(words, at..at, "variation selectors");
        }
    }
}

/// Two hexadecimal digits as one byte.
fn two_halves(pair: &[u8]) -> Option<u8> {
    match pair {
        [high @ 0..16, low @ 0..16] => Some(high << 4 | low),
        _ => None,
    }
}

/// The text whose bits two different characters are; others among them part its bytes.
fn from_bits(symbols: &[char]) -> Option<String> {
    if symbols.len() < 32 {
        return None;
    }
    let mut counts: HashMap<char, usize> = HashMap::new();
    for c in symbols {
        *counts.entry(*c).or_default() += 1;
    }
    let mut counts: Vec<(usize, char)> = counts.into_iter().map(|(c, count)| (count, c)).collect();
    counts.sort_unstable_by(|a, b| b.cmp(a));
    let [(_, one), (_, other), ..] = counts.as_slice() else { return None };
    let bits: Vec<char> = symbols.iter().copied().filter(|c| c == one || c == other).collect();
    [one, other].into_iter().find_map(|set| {
        let byte = |chunk: &[char]| chunk.iter().fold(0, |byte, bit| byte << 1 | u8::from(bit == set));
        printable(&bits.chunks_exact(8).map(byte).collect::<Vec<u8>>())
    })
}

/// Whether some word mixes Latin with letters of another alphabet, or is written in letters that only look Latin.
pub(crate) fn looks_mixed(text: &str) -> bool {
    foreign(text).filter(|(_, c)| is_suspicious(*c)).any(|(at, _)| {
        let word = word_at(text, at);
        let latin = word.bytes().any(|b| b.is_ascii_alphabetic());
        latin || (word.chars().count() >= 3 && word.chars().all(is_styled))
    })
}

/// Whether a letter may stand for a Latin one.
fn is_suspicious(c: char) -> bool {
    is_look_alike(c) || is_of_another_alphabet(c) || is_styled(c)
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
