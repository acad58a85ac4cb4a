//! What a text hides, made readable: encodings, escapes, invisible and look-alike characters, turned and spaced letters.
//!
//! Each layer is taken off and looked at again, to a fixpoint within bounds.

use std::io::Read as _;
use std::ops::Range;
use std::sync::OnceLock;

use aho_corasick::AhoCorasick;
use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use unicode_normalization::UnicodeNormalization as _;
use unicode_security::confusable_detection::skeleton;

/// Decoding goes no deeper.
const MAX_DEPTH: usize = 4;
/// Most decoded bytes of one text.
const MAX_DECODED: usize = 2 << 20;
/// Most words of one text that are tried as encodings, and most hidden texts that are looked at.
const MAX_PIECES: usize = 4000;

/// A text that was hidden in another.
#[derive(Clone, Debug)]
pub(crate) struct Hidden {
    /// What it says.
    pub(crate) text: String,
    /// Where its outermost form stands.
    pub(crate) range: Range<usize>,
    /// How it was hidden, outermost first.
    pub(crate) chain: Vec<&'static str>,
}

/// Everything that is hidden in a text, to a fixpoint; and whether that is all, or a bound was met first.
pub(crate) fn uncover(text: &str) -> (Vec<Hidden>, bool) {
    let mut all: Vec<Hidden> = Vec::new();
    let mut queue: Vec<Hidden> = Vec::new();
    let mut budget = MAX_DECODED;
    let mut complete = layer(text, &mut |hidden| queue.push(hidden));
    while let Some(found) = queue.pop() {
        if found.text.len() > budget || all.len() >= MAX_PIECES {
            return (all, false);
        }
        budget -= found.text.len();
        if found.chain.len() < MAX_DEPTH {
            complete &= layer(&found.text, &mut |mut inner| {
                inner.range = found.range.clone();
                inner.chain = found.chain.iter().copied().chain(inner.chain).collect();
                queue.push(inner);
            });
        }
        all.push(found);
    }
    (all, complete)
}

/// One layer of hiding; whether all of it was looked at.
fn layer(text: &str, add: &mut dyn FnMut(Hidden)) -> bool {
    let whole = 0..text.len();
    let mut push = |text: String, range: Range<usize>, how: &'static str| {
        if !text.trim().is_empty() {
            add(Hidden { text, range, chain: vec![how] });
        }
    };
    if !text.is_ascii() {
        invisible(text, &mut push);
        if looks_mixed(text) {
            push(unlike(text), whole.clone(), "look-alike letters");
        }
    }
    if text.contains('\u{8}') {
        push(backspaced(text), whole.clone(), "backspaces");
    }
    if text.contains("hxxp") || text.contains("[.]") || text.contains("[dot]") {
        let plain =
            text.replace("hxxp", "http").replace("[.]", ".").replace("[dot]", ".").replace("[:]", ":");
        push(plain, whole.clone(), "defanged address");
    }
    let complete = tokens(text, &mut push);
    escapes(text, &mut push);
    if let Some(joined) = joined_strings(text) {
        push(joined, whole.clone(), "split strings");
    }
    turned(text, &mut push);
    spaced(text, &mut push);
    complete
}

/// Tag characters, variation selectors and zero-width characters: what they spell, and the text without them.
fn invisible(text: &str, push: &mut dyn FnMut(String, Range<usize>, &'static str)) {
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

/// Whether some word mixes Latin with letters that look Latin.
pub(crate) fn looks_mixed(text: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric()).any(|word| {
        let latin = word.bytes().any(|b| b.is_ascii_alphabetic());
        (latin && word.chars().any(is_look_alike)) || (word.chars().count() >= 3 && word.chars().all(|c| matches!(c, '\u{ff21}'..='\u{ff5a}' | '\u{1d400}'..='\u{1d7ff}' | '\u{24b6}'..='\u{24e9}')))
    })
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

const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_padding_mode(DecodePaddingMode::Indifferent)
    .with_decode_allow_trailing_bits(true);
pub(crate) const STANDARD: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, LENIENT);
const URL_SAFE: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, LENIENT);

/// Base64 and hexadecimal words; whether all of them were tried.
fn tokens(text: &str, push: &mut dyn FnMut(String, Range<usize>, &'static str)) -> bool {
    let bytes = text.as_bytes();
    let part = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'-' | b'_' | b'=');
    let mut at = 0;
    let mut pieces = 0;
    while at < bytes.len() {
        if pieces >= MAX_PIECES {
            return false;
        }
        let Some(rest) = bytes.get(at..) else { break };
        let start = at + rest.iter().position(|b| part(*b)).unwrap_or(rest.len());
        let Some(rest) = bytes.get(start..) else { break };
        let end = start + rest.iter().position(|b| !part(*b)).unwrap_or(rest.len());
        at = end.max(start + 1);
        if end - start < 20 || end - start > 1 << 20 {
            continue;
        }
        let Some(word) = text.get(start..end) else { continue };
        pieces += 1;
        if word.len() >= 24 && word.len().is_multiple_of(2) && word.bytes().all(|b| b.is_ascii_hexdigit()) {
            let decoded: Vec<u8> = word
                .as_bytes()
                .chunks_exact(2)
                .filter_map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok())
                .collect();
            if let Some(words) = printable(&decoded) {
                push(words, start..end, "hex");
                continue;
            }
        }
        // A word or a path in plain letters is no encoding.
        let mixed =
            word.bytes().any(|b| b.is_ascii_uppercase()) && word.bytes().any(|b| b.is_ascii_lowercase());
        if !mixed {
            continue;
        }
        let trimmed = word.trim_end_matches('=');
        for engine in [&STANDARD, &URL_SAFE] {
            let Ok(decoded) = engine.decode(trimmed) else { continue };
            if let Some(words) = printable(&decoded).or_else(|| inflated(&decoded)) {
                push(words, start..end, "base64");
            }
            break;
        }
    }
    true
}

/// Bytes that are a text people wrote, not chance.
fn printable(bytes: &[u8]) -> Option<String> {
    if bytes.len() < 8 {
        return None;
    }
    let text = std::str::from_utf8(bytes).ok()?;
    let fine = text
        .chars()
        .filter(|c| c.is_ascii_graphic() || matches!(c, ' ' | '\n' | '\t' | '\r') || c.is_alphabetic())
        .count();
    let total = text.chars().count();
    let letters = text.chars().filter(char::is_ascii_lowercase).count();
    (fine * 100 >= total * 97 && letters * 3 >= total).then(|| text.to_owned())
}

/// gzip or zlib, within bounds.
fn inflated(bytes: &[u8]) -> Option<String> {
    let mut out = Vec::new();
    match bytes.get(..2)? {
        [0x1f, 0x8b] => flate2::read::GzDecoder::new(bytes).take(1 << 20).read_to_end(&mut out).ok()?,
        [0x78, 0x01 | 0x5e | 0x9c | 0xda] => {
            flate2::read::ZlibDecoder::new(bytes).take(1 << 20).read_to_end(&mut out).ok()?
        }
        _ => return None,
    };
    printable(&out)
}

/// `&#105;`, `%69`, `\u0069`, `\x69`: runs of them, decoded.
fn escapes(text: &str, push: &mut dyn FnMut(String, Range<usize>, &'static str)) {
    for (mark, how) in
        [("&#", "html entities"), ("%", "url encoding"), ("\\u", "unicode escapes"), ("\\x", "byte escapes")]
    {
        if text.matches(mark).take(8).count() < 8 {
            continue;
        }
        let mut out = String::with_capacity(text.len());
        let mut decoded = 0;
        let mut first = None;
        let mut rest = text;
        while let Some(at) = rest.find(mark) {
            let (before, tail) = rest.split_at(at);
            out.push_str(before);
            if let Some((c, width)) = escape(tail, mark) {
                first.get_or_insert(text.len() - tail.len());
                out.push(c);
                decoded += 1;
                rest = tail.get(width..).unwrap_or_default();
            } else {
                out.push_str(mark);
                rest = tail.get(mark.len()..).unwrap_or_default();
            }
        }
        out.push_str(rest);
        if decoded >= 8 {
            let at = first.unwrap_or(0);
            push(out, at..at, how);
        }
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
        "%" | "\\x" => (body.get(..2)?, 16, mark.len() + 2),
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

/// `"cu" + "rl"` joined.
fn joined_strings(text: &str) -> Option<String> {
    const JOINTS: &[&str] = &["\" + \"", "' + '", "\"+\"", "'+'", "\" \"", "''", "\"\""];
    let count: usize = JOINTS.iter().take(4).map(|joint| text.matches(joint).count()).sum();
    if count < 3 {
        return None;
    }
    let mut out = text.to_owned();
    for joint in JOINTS.iter().take(4) {
        out = out.replace(joint, "");
    }
    Some(out)
}

/// Words that give hidden text away, as they look turned.
const TRIGGERS: &[&str] = &[
    "ignore",
    "previous",
    "instruction",
    "system prompt",
    "disregard",
    "credentials",
    "password",
    "send",
    "execute",
    "secret",
    "reveal",
    "override",
    "upload",
    "curl",
];

/// Paragraphs in rot13, reversed, or in leet.
fn turned(text: &str, push: &mut dyn FnMut(String, Range<usize>, &'static str)) {
    static ROT: OnceLock<AhoCorasick> = OnceLock::new();
    static BACK: OnceLock<AhoCorasick> = OnceLock::new();
    let build = |turn: fn(&str) -> String| {
        let words: Vec<String> =
            TRIGGERS.iter().filter(|word| word.len() >= 6).map(|word| turn(word)).collect();
        #[allow(clippy::expect_used)] // fixed words
        AhoCorasick::builder().ascii_case_insensitive(true).build(words).expect("fixed words fit")
    };
    let reverse = |text: &str| text.chars().rev().collect::<String>();
    let rot = ROT.get_or_init(|| build(rot13));
    let back = BACK.get_or_init(|| build(|text| text.chars().rev().collect()));
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let range = start..start + line.len();
        start = range.end;
        if line.len() > 4096 {
            continue;
        }
        if rot.find_iter(line).take(2).count() >= 2 {
            push(rot13(line), range.clone(), "rot13");
        }
        if back.find_iter(line).take(2).count() >= 2 {
            push(reverse(line.trim_end()), range.clone(), "reversed");
        }
        if line.bytes().any(|b| b.is_ascii_digit()) && leet_words(line) >= 4 {
            push(unleet(line), range, "leet");
        }
    }
}

fn rot13(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            'a'..='m' | 'A'..='M' => char::from_u32(u32::from(c) + 13).unwrap_or(c),
            'n'..='z' | 'N'..='Z' => char::from_u32(u32::from(c) - 13).unwrap_or(c),
            c => c,
        })
        .collect()
}

fn unleet(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '0' => 'o',
            '1' | '!' => 'i',
            '3' => 'e',
            '4' | '@' => 'a',
            '5' | '$' => 's',
            '7' => 't',
            c => c,
        })
        .collect()
}

/// Words in which digits stand for letters, with letters round them.
fn leet_words(line: &str) -> usize {
    let suspicious = |word: &&str| {
        let digits = word.chars().filter(|c| matches!(c, '0' | '1' | '3' | '4' | '5' | '7')).count();
        let letters = word.chars().filter(char::is_ascii_alphabetic).count();
        let hex = word.chars().all(|c| c.is_ascii_hexdigit());
        digits >= 1
            && letters >= 1
            && digits + letters == word.chars().count()
            && digits * 3 <= word.len() * 2
            && !hex
    };
    line.split(|c: char| c.is_whitespace() || matches!(c, '.' | ',' | '/' | ':')).filter(suspicious).count()
}

/// `i g n o r e   a l l`: single letters with single spaces.
fn spaced(text: &str, push: &mut dyn FnMut(String, Range<usize>, &'static str)) {
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let range = start..start + line.len();
        start = range.end;
        if line.len() > 4096 || line.len() < 24 {
            continue;
        }
        // Of spaced text, every second character separates.
        let separators = line.bytes().filter(|b| matches!(b, b' ' | b'.' | b'-' | b'_' | b'*')).count();
        if separators * 3 < line.len() {
            continue;
        }
        let singles = line
            .split([' ', '.', '-', '_', '*'])
            .filter(|part| part.chars().count() == 1 && part.chars().all(char::is_alphabetic))
            .count();
        if singles < 10 {
            continue;
        }
        // A wider gap is a space between words.
        let wide = line.replace("   ", "\u{1}").replace("  ", "\u{1}");
        let joined: String = wide
            .chars()
            .filter(|c| !matches!(c, ' ' | '.' | '-' | '_' | '*'))
            .map(|c| if c == '\u{1}' { ' ' } else { c })
            .collect();
        push(joined, range, "spaced letters");
    }
}
