//! Tar archives, read by every header in them.
//!
//! A header may be followed by another that overrules it (pax, GNU long names), its size among the rest; readers that do not
//! know the second kind go on at another place. So beside the ordinary walk, every block that is a valid header counts.

use std::collections::BTreeSet;
use std::ops::Range;

use super::{ArchiveMember, ArchiveOddity, OpenArchive};
use crate::kind;
use crate::skill::{MAX_FILE, MAX_FILES};

const BLOCK: usize = 512;

/// Whether the first block is a header with the right checksum.
pub(crate) fn is_tar(bytes: &[u8]) -> bool {
    TarHeader::at(bytes, 0).is_some()
}

/// One block.
struct TarHeader<'b> {
    block: &'b [u8],
    size: u64,
}

/// What a header, and those before that overrule it, say of a member.
#[derive(Default)]
struct PaxOverrides {
    name: Option<Vec<u8>>,
    link: Option<Vec<u8>>,
    size: Option<u64>,
    sparse: bool,
}

impl<'b> TarHeader<'b> {
    fn at(bytes: &'b [u8], at: usize) -> Option<Self> {
        let block = bytes.get(at..at + BLOCK)?;
        if *block.first()? == 0 {
            return None;
        }
        let declared = octal(block.get(148..156)?)?;
        let sum = |signed: bool| -> i64 {
            let value = |(at, b): (usize, &u8)| match at {
                148..156 => 32,
                _ if signed => i64::from(b.cast_signed()),
                _ => i64::from(*b),
            };
            block.iter().enumerate().map(value).sum()
        };
        // Some writers summed signed bytes.
        let declared = i64::try_from(declared).ok()?;
        if declared == 0 || (declared != sum(false) && declared != sum(true)) {
            return None;
        }
        Some(Self { block, size: number(block.get(124..136)?)? })
    }

    fn field(&self, range: Range<usize>) -> &'b [u8] {
        let field = self.block.get(range).unwrap_or_default();
        field.split(|b| *b == 0).next().unwrap_or_default()
    }

    fn kind(&self) -> u8 {
        self.block.get(156).copied().unwrap_or(0)
    }

    fn name(&self) -> Vec<u8> {
        let name = self.field(0..100);
        let prefix = self.field(345..500);
        // Only POSIX archives have a prefix; in GNU's the place holds times.
        if self.block.get(257..263) == Some(b"ustar\0") && !prefix.is_empty() {
            [prefix, b"/", name].concat()
        } else {
            name.to_vec()
        }
    }
}

pub(super) fn read(bytes: &[u8], archive: &mut OpenArchive<'_>) {
    let mut nested: Vec<Range<usize>> = Vec::new();
    let mut seen = BTreeSet::new();
    walk(bytes, archive, &mut nested, &mut seen);
    let mut hidden = 0;
    let mut claimed = 0;
    for at in (0..bytes.len()).step_by(BLOCK) {
        if seen.contains(&at) || nested.iter().any(|range| range.contains(&at)) {
            continue;
        }
        let Some(header) = TarHeader::at(bytes, at) else { continue };
        hidden += 1;
        if hidden > MAX_FILES || archive.is_full() {
            archive.unread("", "too many files, or too large together");
            break;
        }
        archive
            .odd(ArchiveOddity::Ambiguous("some readers would find a member that others do not".to_owned()));
        if matches!(header.kind(), b'x' | b'g' | b'L' | b'K') {
            continue;
        }
        let data = at + BLOCK..at.saturating_add(BLOCK).saturating_add(to_size(header.size));
        // In one other reading, all members together are no larger than the archive.
        claimed += to_size(header.size).min(bytes.len() - at);
        if claimed > bytes.len() {
            archive.unread("", "its members claim the same bytes again and again");
            break;
        }
        member(bytes, &header, data, &PaxOverrides::default(), archive, &mut nested);
    }
}

/// From header to header, as most readers do.
fn walk(
    bytes: &[u8],
    archive: &mut OpenArchive<'_>,
    nested: &mut Vec<Range<usize>>,
    seen: &mut BTreeSet<usize>,
) {
    let mut at = 0;
    let mut rules = PaxOverrides::default();
    while at < bytes.len() {
        let Some(header) = TarHeader::at(bytes, at) else {
            if bytes.get(at..(at + BLOCK).min(bytes.len())).unwrap_or_default().iter().any(|b| *b != 0) {
                archive.unread("", "damaged: a header is missing");
            }
            return;
        };
        seen.insert(at);
        if seen.len() > 2 * MAX_FILES {
            archive.unread("", "too many files");
            return;
        }
        let size = match header.kind() {
            b'x' | b'g' | b'L' | b'K' => header.size,
            _ => rules.size.unwrap_or(header.size),
        };
        let data = at + BLOCK..(at + BLOCK).saturating_add(to_size(size));
        let content = || bytes.get(data.start..data.end.min(bytes.len())).unwrap_or_default();
        match header.kind() {
            b'L' => rules.name = Some(until_zero(content())),
            b'K' => rules.link = Some(until_zero(content())),
            b'x' | b'g' => rules.pax(content()),
            _ => {
                if rules.size.is_some_and(|size| size != header.size) {
                    let why = "the two headers of a member differ in its size";
                    archive.odd(ArchiveOddity::Ambiguous(why.to_owned()));
                }
                member(bytes, &header, data.clone(), &rules, archive, nested);
                rules = PaxOverrides::default();
            }
        }
        at = data.end.div_ceil(BLOCK).saturating_mul(BLOCK);
    }
}

fn member(
    bytes: &[u8],
    header: &TarHeader<'_>,
    data: Range<usize>,
    rules: &PaxOverrides,
    archive: &mut OpenArchive<'_>,
    nested: &mut Vec<Range<usize>>,
) {
    let name = archive.judge_name(rules.name.as_ref().unwrap_or(&header.name()));
    match header.kind() {
        b'1' | b'2' => {
            let target = rules.link.clone().unwrap_or_else(|| header.field(157..257).to_vec());
            return archive.link(&name, &String::from_utf8_lossy(&target));
        }
        b'3' | b'4' | b'6' => return archive.link(&name, "a device"),
        b'5' => return,
        _ => {}
    }
    if archive.is_full() {
        return archive.unread(&name, "too many files, or too large together");
    }
    let content = bytes.get(data.start..data.end.min(bytes.len())).unwrap_or_default();
    if header.kind() == b'S' || rules.sparse {
        archive.unread(&name, "a sparse file, whose parts are not put together");
    }
    if data.end > bytes.len() {
        archive.unread(&name, "damaged: it is said to be longer than the archive");
    } else if content.len() > MAX_FILE {
        archive.unread(&name, "too large");
    }
    let content = content.get(..content.len().min(MAX_FILE)).unwrap_or_default();
    // Headers in a member's data may claim the same bytes again and again.
    archive.spent(content.len());
    if is_tar(content) {
        nested.push(data);
    }
    // The other name is what readers show that do not know the longer one.
    let short = header.name();
    if let Some(long) = &rules.name
        && !long.starts_with(short.get(..short.len().min(90)).unwrap_or_default())
        && kind::FileKind::of(&String::from_utf8_lossy(&short), content) != kind::FileKind::of(&name, content)
    {
        let short = archive.judge_name(&short);
        archive.odd(ArchiveOddity::Ambiguous("the two headers of a member name it differently".to_owned()));
        archive.member(ArchiveMember { name: short, bytes: content.to_vec() });
    }
    archive.member(ArchiveMember { name, bytes: content.to_vec() });
}

impl PaxOverrides {
    /// Records `LENGTH KEY=VALUE\n`.
    fn pax(&mut self, mut records: &[u8]) {
        while let Some(space) = records.iter().position(|b| *b == b' ') {
            let length = records
                .get(..space)
                .and_then(|digits| std::str::from_utf8(digits).ok()?.parse::<usize>().ok());
            let Some(record) = length.and_then(|length| records.get(space + 1..length)) else { return };
            records = records.get(length.unwrap_or(0)..).unwrap_or_default();
            let Some(equals) = record.iter().position(|b| *b == b'=') else { continue };
            let (key, value) = record.split_at(equals);
            let value = value.get(1..).unwrap_or_default().trim_ascii_end();
            match key {
                b"path" | b"GNU.sparse.name" => self.name = Some(value.to_vec()),
                b"linkpath" => self.link = Some(value.to_vec()),
                b"size" => self.size = std::str::from_utf8(value).ok().and_then(|text| text.parse().ok()),
                _ => {}
            }
            self.sparse |= key.starts_with(b"GNU.sparse");
        }
    }
}

fn until_zero(bytes: &[u8]) -> Vec<u8> {
    bytes.split(|b| *b == 0).next().unwrap_or_default().to_vec()
}

fn to_size(size: u64) -> usize {
    usize::try_from(size).unwrap_or(usize::MAX)
}

/// Digits to the base of eight, with blanks before and behind.
fn octal(field: &[u8]) -> Option<u64> {
    let digits = until_zero(field).trim_ascii().to_vec();
    digits.iter().try_fold(0_u64, |sum, b| {
        matches!(b, b'0'..=b'7').then(|| sum.checked_mul(8)?.checked_add(u64::from(b - b'0')))?
    })
}

/// A size: octal, or GNU's binary form for large ones.
fn number(field: &[u8]) -> Option<u64> {
    match field.first()? {
        0x80 => {
            field.get(1..)?.iter().try_fold(0_u64, |sum, b| sum.checked_mul(256)?.checked_add(u64::from(*b)))
        }
        0x81..=0xff => Some(u64::MAX),
        _ => octal(field),
    }
}
