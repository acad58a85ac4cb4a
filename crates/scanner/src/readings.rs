//! What a program could read in a file otherwise than it stands there: a mark of UTF-16 in front of plain letters, a Python source that names its
//! encoding, zero bytes that a shell drops. Every reading is scanned; a file of which one is not known is listed as unread.

use crate::hidden::from_base64;
use crate::kind;

/// The other readings of a file.
#[derive(Debug, Default)]
pub(crate) struct OtherReadings {
    /// What it is read as, and the text.
    pub(crate) texts: Vec<(&'static str, Vec<u8>)>,
    /// Why some program reads what was not scanned.
    pub(crate) unread: Option<String>,
}

impl OtherReadings {
    /// Those of a text. `scanned` is the reading that stands for the file.
    pub(crate) fn of_text(path: &str, bytes: &[u8], scanned: &[u8]) -> Self {
        let mut found = Self::default();
        let mut add = |how, text: Vec<u8>| {
            if text != scanned && !text.trim_ascii().is_empty() {
                found.texts.push((how, text));
            }
        };
        let marked = utf16_mark(bytes);
        let bare = marked.map_or(bytes, |(wide, _)| wide);
        if let Some((wide, order)) = marked {
            add(order.name(), from_utf16(wide, order));
        }
        if marked.is_some() || memchr::memchr(0, bytes).is_some() {
            add("8-bit", plain(bare));
            // Perl reads UTF-16 that has no mark, in either order.
            for order in [ByteOrder::Little, ByteOrder::Big] {
                if marked.is_none() && is_wide(bytes, order) {
                    add(order.name(), from_utf16(bytes, order));
                }
            }
        }
        if bytes.starts_with(b"+/v") {
            add("UTF-7", from_utf7(bytes));
        }
        let Some(name) = find_cookie(bare) else { return found };
        match SourceEncoding::of(&name, is_python(path, bare)) {
            SourceEncoding::AsItStands => {}
            SourceEncoding::Utf7 => add("UTF-7", from_utf7(bare)),
            SourceEncoding::Latin1 | SourceEncoding::Superset if bare.is_ascii() => {}
            SourceEncoding::Latin1 => {
                add("Latin-1", bare.iter().map(|b| char::from(*b)).collect::<String>().into());
            }
            SourceEncoding::Superset | SourceEncoding::Unknown => {
                let name: String = name.chars().take(40).collect();
                found.unread =
                    Some(format!("a source in an encoding that is not decoded: {name}; save it as UTF-8"));
            }
        }
        found
    }
}

const UTF8_MARK: &[u8] = b"\xef\xbb\xbf";

/// Which byte of a unit comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ByteOrder {
    Little,
    Big,
}

impl ByteOrder {
    fn name(self) -> &'static str {
        match self {
            Self::Little => "UTF-16LE",
            Self::Big => "UTF-16BE",
        }
    }
}

/// What follows a mark of UTF-16, and the order it names.
fn utf16_mark(bytes: &[u8]) -> Option<(&[u8], ByteOrder)> {
    match bytes {
        [0xff, 0xfe, wide @ ..] => Some((wide, ByteOrder::Little)),
        [0xfe, 0xff, wide @ ..] => Some((wide, ByteOrder::Big)),
        _ => None,
    }
}

/// What stands for a file that has a mark of UTF-16: its text, or what follows the mark where that is plain letters, which is what shells and
/// people read. The other reading stands beside it.
pub(crate) fn unmarked(bytes: &[u8]) -> Option<Vec<u8>> {
    let (wide, order) = utf16_mark(bytes)?;
    let is_plain = memchr::memchr(0, wide).is_none() && std::str::from_utf8(wide).is_ok();
    Some(if is_plain { wide.to_vec() } else { from_utf16(wide, order) })
}

fn from_utf16(wide: &[u8], order: ByteOrder) -> Vec<u8> {
    let units = wide.chunks_exact(2).map(|pair| match (pair, order) {
        ([a, b], ByteOrder::Big) => u16::from_be_bytes([*a, *b]),
        ([a, b], ByteOrder::Little) => u16::from_le_bytes([*a, *b]),
        _ => 0,
    });
    char::decode_utf16(units).map(|c| c.unwrap_or('\u{fffd}')).collect::<String>().into_bytes()
}

/// Whether a text looks like UTF-16: of its units, a quarter are plain letters.
fn is_wide(bytes: &[u8], order: ByteOrder) -> bool {
    let letters = bytes.chunks_exact(2).filter(|pair| match (pair, order) {
        ([a, 0], ByteOrder::Little) | ([0, a], ByteOrder::Big) => *a != 0,
        _ => false,
    });
    letters.count() * 8 >= bytes.len()
}

/// Bytes as a shell reads them, which drops those that are zero. Other control characters were told where they stand.
pub(crate) fn plain(bytes: &[u8]) -> Vec<u8> {
    let bare: Vec<u8> = bytes.iter().copied().filter(|b| *b != 0).collect();
    let shown =
        |c: char| if c.is_ascii_control() && !matches!(c, '\t' | '\n' | '\r') { '\u{fffd}' } else { c };
    String::from_utf8_lossy(&bare).chars().map(shown).collect::<String>().into_bytes()
}

/// How Python reads a source that names its encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SourceEncoding {
    AsItStands,
    Latin1,
    Utf7,
    /// Plain letters are themselves, others are not decoded here.
    Superset,
    /// In some way that is not known here.
    Unknown,
}

impl SourceEncoding {
    /// By its name, as Python compares names. In a file that is no Python by its name, a word that is no encoding at all is a word.
    fn of(name: &str, is_python: bool) -> Self {
        match name {
            "ascii" | "us_ascii" | "646" | "utf8" | "u8" | "utf" | "cp65001" => Self::AsItStands,
            _ if name.starts_with("utf_8") || name.starts_with("utf8_") => Self::AsItStands,
            "utf_7" | "utf7" | "u7" | "unicode_1_1_utf_7" => Self::Utf7,
            "latin" | "latin1" | "latin_1" | "l1" | "8859" | "cp819" | "iso8859" | "iso8859_1"
            | "iso_8859_1" | "iso_latin_1" | "latin9" | "iso8859_15" | "iso_8859_15" | "latin_9"
            | "cp1252" | "windows_1252" | "1252" => Self::Latin1,
            _ if is_superset(name) => Self::Superset,
            _ if is_python || is_other_codec(name) => Self::Unknown,
            _ => Self::AsItStands,
        }
    }
}

/// Whether plain letters are themselves in an encoding, wherever they stand.
fn is_superset(name: &str) -> bool {
    let single =
        ["latin", "iso8859", "iso_8859", "cp125", "windows_125", "koi8", "mac_", "tis_620", "cp866", "cp437"];
    let double =
        ["euc", "gb2312", "gbk", "gb18030", "cp936", "cp949", "cp950", "big5", "shift_jis", "sjis", "cp932"];
    single.iter().chain(&double).any(|known| name.starts_with(known))
}

/// Names of what else Python decodes, by their beginnings.
fn is_other_codec(name: &str) -> bool {
    const NAMES: [&str; 26] = [
        "utf_16",
        "utf16",
        "utf_32",
        "utf32",
        "u16",
        "u32",
        "hz",
        "iso2022",
        "iso_2022",
        "csiso2022",
        "punycode",
        "idna",
        "unicode_",
        "raw_unicode",
        "string_escape",
        "charmap",
        "palmos",
        "mbcs",
        "oem",
        "rot",
        "hex",
        "base64",
        "uu",
        "zip",
        "zlib",
        "quopri",
    ];
    const EBCDIC: [&str; 11] =
        ["cp037", "ibm037", "cp273", "cp424", "cp500", "cp875", "cp1026", "cp1140", "037", "273", "ebcdic"];
    NAMES.iter().chain(&EBCDIC).any(|known| name.starts_with(known)) || matches!(name, "bz2" | "bz2_codec")
}

fn is_python(path: &str, bytes: &[u8]) -> bool {
    let first = bytes.split(|b| matches!(b, b'\n' | b'\r')).next().unwrap_or_default();
    let lower = path.to_ascii_lowercase();
    let named = [".py", ".pyw", ".pyi"].iter().any(|end| lower.ends_with(end));
    named || (kind::is_script(first) && memchr::memmem::find(first, b"python").is_some())
}

/// The encoding that one of the first two lines names, as Python finds it: in small letters, with `_` for all that is no letter.
fn find_cookie(bytes: &[u8]) -> Option<String> {
    let text = bytes.strip_prefix(UTF8_MARK).unwrap_or(bytes);
    // Three: a `\r` and its `\n` are two ends here.
    let lines = text.split(|b| matches!(b, b'\n' | b'\r')).take(3);
    lines.filter(|line| line.trim_ascii_start().first() == Some(&b'#')).find_map(|line| {
        memchr::memmem::find_iter(line, b"coding").find_map(|at| {
            let [b':' | b'=', rest @ ..] = line.get(at + 6..)? else { return None };
            let rest = rest.trim_ascii_start();
            let word = |b: &&u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
            let name: String =
                rest.iter().take_while(word).map(|b| char::from(b.to_ascii_lowercase())).collect();
            // Python takes several signs for one.
            let parts: Vec<&str> = name.split(['-', '_', '.']).filter(|part| !part.is_empty()).collect();
            let name = parts.join("_");
            (!name.is_empty()).then_some(name)
        })
    })
}

/// UTF-7: plain letters, and others as Base64 between `+` and what ends it.
fn from_utf7(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some(at) = memchr::memchr(b'+', rest) {
        let (before, coded) = rest.split_at(at);
        out.extend(before);
        let coded = coded.get(1..).unwrap_or_default();
        let is_part = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/');
        let length = coded.iter().position(|b| !is_part(b)).unwrap_or(coded.len());
        let (word, after) = coded.split_at(length);
        rest = after.strip_prefix(b"-").unwrap_or(after);
        if word.is_empty() {
            out.push(b'+');
        } else {
            out.extend(from_modified_base64(word));
        }
    }
    out.extend(rest);
    out
}

/// UTF-16 in Base64 without padding. A letter that is left over begins no byte.
fn from_modified_base64(word: &[u8]) -> Vec<u8> {
    let whole = if word.len() % 4 == 1 { word.len() - 1 } else { word.len() };
    let word = std::str::from_utf8(word.get(..whole).unwrap_or_default()).unwrap_or_default();
    let wide = from_base64(word).unwrap_or_default();
    from_utf16(&wide, ByteOrder::Big)
}
