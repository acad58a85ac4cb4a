//! Words in Base64, Base32 or hexadecimal, whole or in pieces, packed or not.

use std::io::Read as _;
use std::ops::Range;
use std::sync::LazyLock;

use data_encoding::{BASE32_NOPAD, BASE64_NOPAD, BASE64URL_NOPAD, Encoding, HEXLOWER_PERMISSIVE};

use super::HiddenSink;
use crate::kind::{self, ArchiveKind};
use crate::prefilter::TextSignals;
use crate::runs::runs;

/// Encodings as those who decode by hand take them: whatever bits are left over at the end. Without padding, which is cut off before.
static BASE64: LazyLock<Option<Encoding>> = LazyLock::new(|| lenient(&BASE64_NOPAD));
static URL_SAFE: LazyLock<Option<Encoding>> = LazyLock::new(|| lenient(&BASE64URL_NOPAD));
static BASE32: LazyLock<Option<Encoding>> = LazyLock::new(|| lenient(&BASE32_NOPAD));

fn lenient(encoding: &Encoding) -> Option<Encoding> {
    let mut lenient = encoding.specification();
    lenient.check_trailing_bits = false;
    lenient.encoding().ok()
}

/// The bytes of a word in Base64, padded or not.
pub(crate) fn from_base64(word: &str) -> Option<Vec<u8>> {
    let word = word.trim_end_matches('=').as_bytes();
    BASE64.as_ref()?.decode(word).ok()
}

/// Shorter words hide nothing that is worth it.
const SHORTEST: usize = 20;
/// Most bytes that one word is unpacked to.
const MAX_INFLATED: u64 = 1 << 20;

/// Every encoded word; whether all that they hold was read.
pub(super) fn uncover(text: &str, most_words: usize, signals: TextSignals, push: HiddenSink<'_>) -> bool {
    let part = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'-' | b'_' | b'=');
    let mut complete = true;
    let mut words = 0;
    for range in runs(text.as_bytes(), SHORTEST, part) {
        let Some(word) = text.get(range.clone()) else { continue };
        // Hashes and ids in hexadecimal come by the thousand, and cost little.
        words += usize::from(word.bytes().any(|b| b.is_ascii_uppercase()));
        if words > most_words {
            return false;
        }
        if let Some((words, how)) = decoded(word, signals) {
            complete &= (words.len() as u64) < MAX_INFLATED || words.len() <= word.len();
            push(words, range, how);
        }
    }
    if signals.has(TextSignals::ENCODING) {
        pieced(text, signals, push);
        quoted85(text, push);
    }
    complete
}

/// The first word that is an archive once it is decoded: where it stands, and which kind. Nobody has looked into it.
pub(super) fn find_archive(text: &str) -> Option<(Range<usize>, &'static str)> {
    let part = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'-' | b'_' | b'=');
    runs(text.as_bytes(), SHORTEST_ARCHIVE, part).find_map(|range| {
        let word = text.get(range.clone())?;
        Some((range, archive_of(word)?))
    })
}

/// A zip of nothing has 22 bytes, which are 30 characters.
const SHORTEST_ARCHIVE: usize = 30;

fn archive_of(word: &str) -> Option<&'static str> {
    let hex = || HEXLOWER_PERMISSIVE.decode(word.as_bytes()).ok();
    let url_safe = || URL_SAFE.as_ref()?.decode(word.trim_end_matches('=').as_bytes()).ok();
    // Most words are none by their first letters; only the others are decoded.
    let head = word.get(..SHORTEST_ARCHIVE - 2)?;
    let likely = |bytes: Option<Vec<u8>>| bytes.is_some_and(|bytes| kind::may_be_archive(&bytes));
    let by_hex = likely(HEXLOWER_PERMISSIVE.decode(head.as_bytes()).ok());
    if !by_hex && !likely(from_base64(head)) {
        return None;
    }
    let bytes = if by_hex { hex()? } else { from_base64(word).or_else(url_safe)? };
    match kind::detect_archive(&bytes)? {
        ArchiveKind::Zip => Some("zip"),
        // Tar has no mark at its beginning; a gzip that holds a text was read as that.
        ArchiveKind::Tar => None,
        ArchiveKind::Gzip => inflated(&bytes).is_none().then_some("gzip"),
        ArchiveKind::Other(name) => Some(name),
    }
}

/// What a word says, and in which encoding.
fn decoded(word: &str, signals: TextSignals) -> Option<(String, &'static str)> {
    if let Some(words) = hexadecimal(word) {
        return Some((words, "hex"));
    }
    let (upper, lower) =
        (word.bytes().any(|b| b.is_ascii_uppercase()), word.bytes().any(|b| b.is_ascii_lowercase()));
    if upper
        && !lower
        && let Some(words) = base32(word)
    {
        return Some((words, "base32"));
    }
    // A word or a path in plain letters is no encoding.
    if !(upper && lower) {
        return None;
    }
    if let Some(words) = base64(word) {
        return Some((words, "base64"));
    }
    if word.starts_with('=') || signals.has(TextSignals::ENCODING) {
        let backwards: String = word.chars().rev().collect();
        return base64(&backwards).map(|words| (words, "reversed base64"));
    }
    None
}

fn hexadecimal(word: &str) -> Option<String> {
    if word.len() < 24 {
        return None;
    }
    let bytes = HEXLOWER_PERMISSIVE.decode(word.as_bytes()).ok()?;
    printable(&bytes).or_else(|| encoded_again(&bytes))
}

fn base64(word: &str) -> Option<String> {
    let url_safe = || URL_SAFE.as_ref()?.decode(word.trim_end_matches('=').as_bytes()).ok();
    let bytes = from_base64(word).or_else(url_safe)?;
    printable(&bytes).or_else(|| encoded_again(&bytes)).or_else(|| inflated(&bytes))
}

/// Bytes that are one long word of another encoding, which need not look like what people write: each time that Base64 is encoded again it has
/// more capital letters. By chance no twenty bytes are.
fn encoded_again(bytes: &[u8]) -> Option<String> {
    let part =
        |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'-' | b'_' | b'=' | b'\n' | b'\r');
    let text = std::str::from_utf8(bytes).ok()?;
    (bytes.len() >= SHORTEST && bytes.iter().all(part)).then(|| text.to_owned())
}

/// RFC 4648, without regard to padding and to bits that are left over.
fn base32(word: &str) -> Option<String> {
    let word = word.trim_end_matches('=').as_bytes();
    // A letter of the last eight that begins no byte.
    let over = usize::from(matches!(word.len() % 8, 1 | 3 | 6));
    let bytes = BASE32.as_ref()?.decode(word.get(..word.len() - over)?).ok()?;
    printable(&bytes).or_else(|| encoded_again(&bytes))
}

/// Base85 between quotation marks or `<~` and `~>`, in both alphabets that are in use.
fn quoted85(text: &str, push: HiddenSink<'_>) {
    let part = |b: u8| b.is_ascii_graphic() && !matches!(b, b'"' | b'\'' | b'\\');
    for range in runs(text.as_bytes(), SHORTEST, part) {
        let Some(word) = text.get(range.clone()) else { continue };
        let word = word.split("<~").last().unwrap_or(word).split("~>").next().unwrap_or(word);
        if let Some(words) = [ascii85, rfc1924].into_iter().find_map(|digit| base85(word, digit)) {
            push(words, range, "base85");
        }
    }
}

/// The value of a character in the older alphabet.
fn ascii85(byte: u8) -> Option<u32> {
    (b'!'..=b'u').contains(&byte).then(|| u32::from(byte - b'!'))
}

/// The value of a character in the alphabet that Python calls `b85`.
fn rfc1924(byte: u8) -> Option<u32> {
    const ALPHABET: &[u8] =
        b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~";
    u32::try_from(memchr::memchr(byte, ALPHABET)?).ok()
}

fn base85(word: &str, digit: fn(u8) -> Option<u32>) -> Option<String> {
    let mut bytes = Vec::with_capacity(word.len());
    for chunk in word.as_bytes().chunks(5) {
        let mut value = 0_u32;
        for at in 0..5 {
            let digit = chunk.get(at).map_or(Some(84), |byte| digit(*byte))?;
            value = value.checked_mul(85)?.checked_add(digit)?;
        }
        let whole = chunk.len().saturating_sub(1);
        bytes.extend(value.to_be_bytes().iter().take(whole));
    }
    printable(&bytes)
}

/// Encoded text that is cut into words of the same length, or into bytes: lines of it, put together.
fn pieced(text: &str, signals: TextSignals, push: HiddenSink<'_>) {
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let range = start..start + line.len();
        start = range.end;
        let separators = [' ', ',', '\n', '\r', '\t', ':', ';', '"', '\'', '`'];
        let mut group = String::new();
        let mut length = 0;
        let mut flush = |group: &mut String| {
            if group.len() >= SHORTEST
                && let Some((words, _)) = decoded(group, signals)
            {
                push(words, range.clone(), "encoding in pieces");
            }
            group.clear();
        };
        for word in line.split(separators).filter(|word| !word.is_empty()) {
            let word = word.trim_start_matches("0x").trim_start_matches("\\x");
            let fits = word.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'='));
            // The last piece may be shorter.
            if !fits || (word.len() != length && word.len() > length) {
                flush(&mut group);
                length = word.len();
            }
            if fits && word.len() >= 2 {
                group.push_str(word);
            }
            // Or it is the first of a new group.
            if fits && word.len() < length {
                flush(&mut group);
                length = word.len();
                group.push_str(word);
            }
        }
        flush(&mut group);
    }
}

/// Bytes that are a text people wrote, not chance.
pub(super) fn printable(bytes: &[u8]) -> Option<String> {
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
        [0x1f, 0x8b] => flate2::read::GzDecoder::new(bytes).take(MAX_INFLATED).read_to_end(&mut out).ok()?,
        [0x78, 0x01 | 0x5e | 0x9c | 0xda] => {
            flate2::read::ZlibDecoder::new(bytes).take(MAX_INFLATED).read_to_end(&mut out).ok()?
        }
        _ => return None,
    };
    printable(&out)
}
