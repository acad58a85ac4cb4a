//! A record in the spool: one line that says of itself whether it is whole.
//!
//! ```text
//! 1 5d41402abc4b2a76 {"id":"…","started":…}
//! ```
//!
//! The form's version, the first eight bytes of the SHA-256 of that version and of the rest, and the record as JSON, in which no line break can
//! stand. A line break is written before each line, too: what follows a line that was cut off is a line of its own. Later versions keep the first
//! two words, so that an earlier one knows what it cannot read from what was cut off.

use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};

use super::clean::Clean;

/// The version that this program writes.
pub(super) const VERSION: i64 = 1;
/// The most bytes of a line. A record has at most some 2 MiB, where every character of it has to be escaped.
pub(super) const MOST_BYTES: usize = 4 << 20;
/// The bytes of the checksum.
const CHECKSUM: usize = 8;

/// What a line of the spool is.
#[derive(Debug)]
pub(super) enum Line {
    /// A run.
    Run(Box<Clean>),
    /// Whole, and of a later version.
    Newer(i64),
    /// Not whole, or nothing of ours.
    Damaged,
}

/// A run as it is appended; `None` where it would be too long.
pub(super) fn encode(run: &Clean) -> Option<Vec<u8>> {
    let json = serde_json::to_string(run).ok()?;
    let version = VERSION.to_string();
    let line = format!("\n{version} {} {json}\n", checksum(version.as_bytes(), json.as_bytes()));
    (line.len() <= MOST_BYTES).then(|| line.into_bytes())
}

/// What a line, without its line break, is.
pub(super) fn decode(line: &[u8]) -> Line {
    read(line).unwrap_or(Line::Damaged)
}

fn read(line: &[u8]) -> Option<Line> {
    let mut words = line.splitn(3, |byte| *byte == b' ');
    let (version, stated, json) = (words.next()?, words.next()?, words.next()?);
    if stated != checksum(version, json).as_bytes() || !version.iter().all(u8::is_ascii_digit) {
        return None;
    }
    match std::str::from_utf8(version).ok()?.parse().ok()? {
        VERSION => Some(Line::Run(serde_json::from_slice(json).ok()?)),
        newer if newer > VERSION => Some(Line::Newer(newer)),
        _ => None,
    }
}

fn checksum(version: &[u8], json: &[u8]) -> String {
    let hash = Sha256::new().chain_update(version).chain_update(b" ").chain_update(json).finalize();
    HEXLOWER.encode(hash.get(..CHECKSUM).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt as _;

    use super::super::{Classified, Denied, Entry};
    use super::*;

    fn run(text: &str) -> Clean {
        let mut entry = Entry::new(uuid::Uuid::new_v4(), jiff::Timestamp::MAX, text, text);
        entry.parameters.insert(text.to_owned(), text.into());
        entry.arguments = vec![text.to_owned()];
        entry.error = Some(text.to_owned());
        entry.denials = vec![Denied { what: text.to_owned(), ..Denied::default() }];
        entry.classes = vec![Classified { message: text.to_owned(), ..Classified::default() }];
        entry.trace = Some(std::ffi::OsString::from_vec(b"/a \xff%\n".to_vec()).into());
        entry.denied = u64::MAX;
        Clean::new(&entry).unwrap()
    }

    /// The lines in these bytes, as whoever takes them in sees them.
    fn lines(bytes: &[u8]) -> Vec<Line> {
        bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).map(decode).collect()
    }

    #[test]
    fn a_record_is_one_line_and_comes_back_whatever_its_texts_are() {
        let forged = String::from_utf8(encode(&run("forged")).unwrap()).unwrap();
        for text in ["", "plain", "\n\r\0\u{2028}\"\\", &forged, "𝔘 é"] {
            let run = run(text);
            let bytes = encode(&run).unwrap();
            let found = lines(&bytes);
            assert!(matches!(&found[..], [Line::Run(found)] if **found == run), "{text:?}");
        }
    }

    #[test]
    fn a_record_that_was_cut_off_anywhere_is_none_and_the_next_one_is_whole() {
        let (first, second) = (encode(&run("first")).unwrap(), encode(&run("second")).unwrap());
        for cut in 2..first.len() - 1 {
            let found = lines(&[&first[..cut], &second].concat());
            assert!(
                matches!(&found[..], [Line::Damaged, Line::Run(run)] if run.skill == "second"),
                "cut after {cut}: {found:?}"
            );
        }
    }

    #[test]
    fn any_changed_byte_is_seen() {
        let whole = encode(&run("x")).unwrap();
        let line = &whole[1..whole.len() - 1];
        for at in 0..line.len() {
            let mut other = line.to_vec();
            other[at] ^= 1;
            assert!(matches!(decode(&other), Line::Damaged), "{at}");
        }
        for none in [&b"\0\0\0\0"[..], b"1", b"1 ", b"1  ", b"\xff\xff \xff {}", b"-1 x {}"] {
            assert!(matches!(decode(none), Line::Damaged));
        }
    }

    #[test]
    fn a_later_version_is_known_as_one_and_never_read_as_this() {
        let json = r#"{"quite":"another form"}"#;
        for (version, is_newer) in [("2", true), ("99", true), ("0", false), ("1", false), ("+2", false)] {
            let line = format!("{version} {} {json}", checksum(version.as_bytes(), json.as_bytes()));
            assert_eq!(matches!(decode(line.as_bytes()), Line::Newer(_)), is_newer, "{version}");
        }
    }

    #[test]
    fn no_record_is_too_long_for_a_line() {
        let long = "\u{1}".repeat(1 << 16);
        let mut entry = Entry::new(uuid::Uuid::new_v4(), jiff::Timestamp::MIN, &long, &long);
        (entry.version, entry.user, entry.error) =
            (Some(long.clone()), Some(long.clone()), Some(long.clone()));
        let denial = Denied {
            kind: long.clone(),
            what: long.clone(),
            rule: Some(long.clone()),
            process: Some(long.clone()),
            count: 1,
            declare: Some(long.clone()),
        };
        entry.denials = vec![denial; 100];
        let class = Classified { class: long.clone(), message: long.clone(), ..Classified::default() };
        entry.classes = vec![class; 100];
        entry.arguments = vec![long.clone(); 100];
        entry.parameters = (0..100).map(|number| (format!("{number}"), long.clone().into())).collect();
        let bytes = encode(&Clean::new(&entry).unwrap()).map(|line| line.len());
        assert!(bytes.is_some_and(|bytes| bytes > 500_000), "{bytes:?}");
    }
}
