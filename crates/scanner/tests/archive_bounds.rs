//! Archives that are made to cost: what is over a bound is not read, and is said so.
// A test may fail by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod packing;

use std::io::Write as _;

use packing::{
    EVIL, Entry, Raw, deflate, expect, expect_unread, gzip, listed, scan, tar, tar_header, tar_member, zip,
};
use skillsandbox_scanner::{FindingStatus, ScanReport, ScanVerdict};

/// Most bytes that a scan may have unpacked: the skill's own, and what its archives hold.
const MOST: usize = (64 << 20) + (8 << 20);

#[track_caller]
fn expect_bounded(report: &ScanReport) {
    assert_ne!(report.verdict, ScanVerdict::Safe, "{}", listed(report));
    assert!(!report.unread.is_empty(), "{}", listed(report));
    assert!(report.unread.len() < 100, "{} are listed", report.unread.len());
    assert!(report.scanned.bytes < MOST, "{} bytes", report.scanned.bytes);
    assert!(report.scanned.files <= 4002, "{} files", report.scanned.files);
}

#[test]
fn a_zip_that_unpacks_to_a_thousand_times_its_size() {
    let zeros = vec![0; 7 << 20];
    let report = scan([("bomb.zip", zip(&[("a.bin", &zeros)]))]);
    expect_bounded(&report);
    expect(&report, "CHECK-08/archive-bomb", "bomb.zip", FindingStatus::Warn);
    assert!(report.scanned.bytes < 3 << 20, "{}", report.scanned.bytes);
    // The same in a gzip, in a tar in a gzip, and one archive deeper.
    for (name, bytes) in [
        ("bomb.gz", gzip(&zeros)),
        ("bomb.tgz", gzip(&tar(&[("a.bin", &zeros)]))),
        ("nested.zip", zip(&[("b.zip", zip(&[("a.bin", &zeros)]))])),
    ] {
        let report = scan([(name, bytes)]);
        expect_bounded(&report);
        assert!(report.findings.iter().any(|finding| finding.rule == "CHECK-08/archive-bomb"), "{name}");
    }
}

#[test]
fn many_large_members_that_are_no_bomb_each() {
    // Three megabytes at a ratio of some hundred, forty times over, in two layers. No text, which would take its time.
    let text: Vec<u8> = (0..3_u32 << 20)
        .map(|i| if i % 512 < 3 { (i.wrapping_mul(2_654_435_761) >> 24) as u8 | 0x80 } else { 0 })
        .collect();
    let packed = deflate(&text);
    assert!(text.len() / packed.len() < 150);
    let entry = Entry::deflated("", &text);
    let mut raw = Raw::default();
    for i in 0..20 {
        let entry = Entry { name: format!("{i}.bin").into_bytes(), ..entry.clone() };
        raw.add(&entry, &entry, &packed);
    }
    let inner = raw.finish();
    let mut outer = Raw::default();
    for i in 0..2 {
        let entry = Entry::stored(&format!("{i}.zip"), &inner);
        outer.add(&entry, &entry, &inner);
    }
    expect_bounded(&scan([("large.zip", outer.finish())]));
}

#[test]
fn entries_that_share_their_data() {
    // A thousand entries of the directory, one member.
    let data = deflate(&vec![b'x'; 900 << 10]);
    let entry = Entry::deflated("a.txt", &vec![b'x'; 900 << 10]);
    let mut raw = Raw::default();
    raw.add(&entry, &entry, &data);
    for i in 0..3000 {
        raw.directory.push(Entry { name: format!("{i}.txt").into_bytes(), ..entry.clone() }.central(0));
    }
    let report = scan([("p.zip", raw.finish())]);
    assert!(report.scanned.bytes < MOST);
    expect(&report, "CHECK-05/ambiguous-archive", "p.zip", FindingStatus::Warn);
    assert_ne!(report.verdict, ScanVerdict::Safe);
    // Headers quoted in the data of those before: each member is all that follow (42.zip's successor).
    let kernel = deflate(&vec![0; 6 << 20]);
    let mut bytes = [Entry::deflated("k", &vec![0; 6 << 20]).local(), kernel].concat();
    for i in 0..200 {
        let quoted = u16::try_from(bytes.len().min(60)).unwrap();
        let entry = Entry { method: 8, ..Entry::stored(&format!("{i:03}"), b"") };
        // A stored block of DEFLATE that holds the beginning of the next header.
        let block = [vec![0], quoted.to_le_bytes().to_vec(), (!quoted).to_le_bytes().to_vec()].concat();
        bytes = [entry.local(), block, bytes].concat();
    }
    let report = scan([("p.zip", bytes)]);
    expect_bounded(&report);
    expect(&report, "CHECK-05/ambiguous-archive", "p.zip", FindingStatus::Warn);
}

#[test]
fn a_tar_that_is_said_to_be_huge() {
    for size in [&b"77777777777"[..], b"\x80\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff", &[0xff; 12]] {
        let mut bytes = tar_header("a.sh", size, b'0', "");
        bytes.extend(EVIL.as_bytes());
        let report = scan([("p.tar", bytes.clone())]);
        expect_unread(&report, "p.tar!/a.sh", "longer");
        // What is there is read nevertheless.
        expect(&report, "CHECK-08/reverse-shell", "p.tar!/a.sh", FindingStatus::Block);
        expect_unread(&scan([("p.tgz", gzip(&bytes))]), "p.tgz!/a.sh", "longer");
    }
    // The same by a pax record.
    let mut bytes = tar_member("pax", b'x', b"29 size=18446744073709551615\n");
    bytes.extend(tar_member("a.sh", b'0', EVIL.as_bytes()));
    let report = scan([("p.tar", bytes)]);
    expect_unread(&report, "p.tar!/a.sh", "longer");
    expect(&report, "CHECK-08/reverse-shell", "p.tar!/a.sh", FindingStatus::Block);
}

#[test]
fn headers_that_claim_the_same_bytes_again_and_again() {
    // Every other block is a header whose member is all that follow.
    let header = [tar_header("a.bin", b"00017777777", b'0', ""), vec![0; 512]].concat();
    let report = scan([("p.tar", header.repeat(1000))]);
    expect_unread(&report, "p.tar", "again and again");
    assert!(report.scanned.bytes < 5 << 20, "{}", report.scanned.bytes);
    expect(&report, "CHECK-05/ambiguous-archive", "p.tar", FindingStatus::Warn);
    // Headers by the ten thousand with names as long as can be, and one over another.
    let entry = Entry { name: vec![b'n'; 65_000], ..Entry::stored("", b"") };
    for header in [entry.local(), entry.central(0)] {
        let many = header[..46].repeat(50_000);
        let report = scan([("p.zip", [b"PK\x03\x04".to_vec(), many, vec![0; 70_000]].concat())]);
        expect_unread(&report, "p.zip", "no directory");
    }
}

#[test]
fn a_gzip_that_never_ends_or_breaks_off() {
    let whole = gzip(EVIL.repeat(50).as_bytes());
    for cut in [1, 8, whole.len() / 2, whole.len() - 19] {
        let report = scan([("run.sh.gz", whole[..whole.len() - cut].to_vec())]);
        expect_unread(&report, "run.sh.gz", "damaged");
    }
    // Thousands of parts, most of them empty.
    let report = scan([("a.gz", gzip(b"").repeat(50_000))]);
    expect_unread(&report, "a.gz", "too many parts");
    // One long stream of random bytes, larger than what is read.
    let mut state = 1_u64;
    let mut noise = Vec::with_capacity(20 << 20);
    while noise.len() < 20 << 20 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        noise.extend(&state.to_be_bytes()[..4]);
    }
    let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
    writer.write_all(&noise).unwrap();
    expect_bounded(&scan([("a.gz", writer.finish().unwrap())]));
}

#[test]
fn a_hundred_thousand_members() {
    let entry = Entry::stored("a", b"");
    let mut raw = Raw::default();
    for i in 0..100_000 {
        let entry = Entry { name: format!("{i}.txt").into_bytes(), ..entry.clone() };
        raw.add(&entry, &entry, b"");
    }
    let report = scan([("many.zip", raw.finish())]);
    expect_bounded(&report);
    let members: Vec<u8> =
        (0..100_000).flat_map(|i| tar_header(&format!("{i}.txt"), b"00000000000", b'0', "")).collect();
    expect_bounded(&scan([("many.tgz", gzip(&members))]));
}

#[test]
fn every_cut_and_every_flipped_byte_is_survived() {
    let members = [("a.txt", "hello hello hello"), ("b/run.sh", EVIL)];
    for bytes in [zip(&members), tar(&members), gzip(&tar(&members))] {
        for cut in 0..bytes.len().min(2000) {
            scan([("p.bin", bytes[..cut].to_vec())]);
        }
        for at in 0..bytes.len().min(1200) {
            for value in [0, 0xff, bytes[at] ^ 0x40] {
                let mut broken = bytes.clone();
                broken[at] = value;
                scan([("p.bin", broken)]);
            }
        }
    }
}
