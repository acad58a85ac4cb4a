//! Zip archives, read by every header in them.
//!
//! A zip names each member twice: in a header before its data, and in the directory at the end. Readers that stream believe
//! the first, most others the second, and they differ in which directory they take where there are several. Here every
//! header of either kind counts, wherever it stands. [APPNOTE.TXT] is the format.
//!
//! [APPNOTE.TXT]: https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;

use super::inflate::{StreamEnd, inflate};
use super::{ArchiveMember, ArchiveOddity, OpenArchive, office, u16_at, u32_at, u64_at};
use crate::kind;
use crate::skill::{MAX_FILE, MAX_FILES};

const LOCAL: &[u8] = b"PK\x03\x04";
const CENTRAL: &[u8] = b"PK\x01\x02";
const END: &[u8] = b"PK\x05\x06";
const END_64: &[u8] = b"PK\x06\x06";
/// Longer names are none.
const MAX_NAME: usize = 4096;
/// Under so many names the same data is judged.
const MAX_NAMES: usize = 8;
/// Fewer bytes between members are descriptors and padding.
const MIN_GAP: usize = 32;

/// A header of a member, of either kind.
#[derive(Clone, Debug)]
struct ZipHeader {
    at: usize,
    /// Behind it, its name and its extra fields.
    end: usize,
    name: Vec<u8>,
    /// Another name, in an extra field that some readers prefer.
    other_name: Option<Vec<u8>>,
    view: MemberView,
    crc: u32,
    /// Of a central header: where its local one stands, as written.
    offset: u64,
    /// Of a central header: whether the member is a link.
    is_link: bool,
    comment: Range<usize>,
}

/// How a header says that the member is to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct MemberView {
    encrypted: bool,
    method: u16,
    packed: u64,
    /// Whether its sizes stand behind the data instead.
    streamed: bool,
}

/// Whether a zip's end of directory stands anywhere in it. Some readers go by the number of entries it gives, others by the
/// directory's size.
pub(super) fn has_directory(bytes: &[u8]) -> bool {
    memchr::memmem::find_iter(bytes, END).any(|at| {
        u16_at(bytes, at + 10).is_some_and(|count| count > 0)
            || u32_at(bytes, at + 12).is_some_and(|size| size > 0)
    })
}

/// The names in the directory, as written.
pub(super) fn names(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    memchr::memmem::find_iter(bytes, CENTRAL).take(MAX_FILES).filter_map(|at| {
        let length = usize::from(u16_at(bytes, at + 28)?);
        bytes.get(at + 46..at + 46 + length)
    })
}

pub(super) fn read(bytes: &[u8], archive: &mut OpenArchive<'_>) {
    archive.office = office::is_office(bytes);
    let mut zip = ZipReader { bytes, claimed: Vec::new(), nested: Vec::new(), said: HashSet::new() };
    let ends: Vec<usize> = memchr::memmem::find_iter(bytes, END).take(MAX_FILES).collect();
    if ends.is_empty() {
        archive.unread("", "damaged: the archive has no directory");
    }
    // What is beyond the bounds is not even parsed; a few more than can be kept, as both headers of a member count.
    let mut locals = BTreeMap::new();
    let mut centrals = Vec::new();
    let mut more = 0;
    for at in memchr::memmem::find_iter(bytes, b"PK") {
        let rest = bytes.get(at..).unwrap_or_default();
        if rest.starts_with(LOCAL) {
            if locals.len() > MAX_FILES {
                more += 1;
            } else if let Some(header) = local(bytes, at) {
                locals.insert(at, header);
            }
        } else if rest.starts_with(CENTRAL) && centrals.len() <= MAX_FILES {
            centrals.extend(central(bytes, at));
        }
    }
    if more > 0 {
        archive.unread("", &format!("too many files: {more} more members were not read"));
    }
    let bases = bases(bytes, &ends);
    let owners = zip.resolve(&locals, &centrals, &bases, archive);
    for (at, header) in &locals {
        let owned = owners.get(at).map(Vec::as_slice).unwrap_or_default();
        let is_nested = |at: usize| zip.nested.iter().any(|range| range.contains(&at));
        // The headers of an archive in this one are its own, unless this one's directory claims them as well.
        let owned: Vec<&ZipHeader> = owned.iter().copied().filter(|header| !is_nested(header.at)).collect();
        if !is_nested(*at) || !owned.is_empty() {
            zip.member(header, &owned, archive);
        }
    }
    let of_end = |at: usize| {
        let length = u16_at(bytes, at + 20).map_or(0, usize::from);
        (at, (at + 22).min(bytes.len())..(at + 22 + length).min(bytes.len()))
    };
    let comments = centrals.iter().map(|header| (header.at, header.comment.clone()));
    let mut text = Vec::new();
    for (at, comment) in comments.chain(ends.into_iter().map(of_end)) {
        if !zip.nested.iter().any(|range| range.contains(&at)) {
            zip.claimed.push(at..comment.end);
            text.extend_from_slice(bytes.get(comment).unwrap_or_default());
            text.push(b'\n');
        }
    }
    archive.remark("(comment)", &text);
    zip.gaps(archive);
}

struct ZipReader<'b> {
    bytes: &'b [u8],
    /// What belongs to a header or a member.
    claimed: Vec<Range<usize>>,
    /// Members that are archives themselves: their headers are theirs.
    nested: Vec<Range<usize>>,
    /// Disagreements that were reported.
    said: HashSet<&'static str>,
}

impl ZipReader<'_> {
    /// For each local header, the central ones that speak of it.
    fn resolve<'h>(
        &mut self,
        locals: &BTreeMap<usize, ZipHeader>,
        centrals: &'h [ZipHeader],
        bases: &[i128],
        archive: &mut OpenArchive<'_>,
    ) -> BTreeMap<usize, Vec<&'h ZipHeader>> {
        let mut owners: BTreeMap<usize, Vec<&ZipHeader>> = BTreeMap::new();
        for header in centrals {
            let at = |base: &i128| usize::try_from(base + i128::from(header.offset)).ok();
            let mut found = false;
            for at in bases.iter().filter_map(at).filter(|at| locals.contains_key(at)) {
                let list = owners.entry(at).or_default();
                if !list.iter().any(|known| known.at == header.at) {
                    list.push(header);
                }
                found = true;
            }
            let known = || locals.values().any(|local| local.name == header.name);
            if !found && (locals.len() > MAX_FILES || known()) {
                // Its bytes are read, or counted as unread, by the other header.
                self.say("the directory points to nowhere", archive);
            } else if !found {
                let name = archive.judge_name(&header.name);
                archive.unread(&name, "damaged: the directory names a member that is not there");
            }
        }
        owners
    }

    /// Reads what a local header stands before, as it says and as the directory says.
    fn member(&mut self, local: &ZipHeader, owners: &[&ZipHeader], archive: &mut OpenArchive<'_>) {
        if owners.is_empty() {
            self.say("a member is missing in the directory", archive);
        }
        if owners.len() > 1 {
            self.say("two entries of the directory share their data", archive);
        }
        if self.claimed.iter().any(|range| range.contains(&local.at)) {
            self.say("members overlap", archive);
        }
        let mut names: Vec<&[u8]> = vec![&local.name];
        let mut views = vec![local.view];
        for header in owners {
            let mut view = header.view;
            view.streamed = false;
            names.push(&header.name);
            if local.view.streamed && local.view.packed == 0 {
                // The usual thing for archives that were written in one go: only the directory has the sizes.
                views.retain(|view| *view != local.view);
                if (local.view.method, local.view.encrypted) != (view.method, view.encrypted) {
                    self.say("the two headers of a member differ", archive);
                    views.push(MemberView { packed: view.packed, ..local.view });
                }
            } else if (MemberView { streamed: false, ..local.view }) != view {
                self.say("the two headers of a member differ", archive);
            } else {
                continue;
            }
            views.push(view);
        }
        let others: Vec<&[u8]> =
            owners.iter().copied().chain([local]).filter_map(|h| h.other_name.as_deref()).collect();
        names.extend(others);
        // Some readers end a name at a zero byte.
        let cut: Vec<&[u8]> = names.iter().filter_map(|name| name.split(|b| *b == 0).next()).collect();
        names.extend(cut);
        names.sort_unstable();
        names.dedup();
        if names.len() > 1 {
            self.say("the two headers of a member name it differently", archive);
        }
        if names.len() > MAX_NAMES {
            let more = format!(
                "the same data has {} more names, under which it was not judged",
                names.len() - MAX_NAMES
            );
            archive.unread("", &more);
            names.truncate(MAX_NAMES);
        }
        let names: Vec<String> = names.into_iter().map(|name| archive.judge_name(name)).collect();
        let first = names.first().cloned().unwrap_or_default();
        let crcs: Vec<u32> = owners.iter().map(|header| header.crc).chain([local.crc]).collect();
        views.dedup();
        let mut known: Vec<Vec<u8>> = Vec::new();
        for view in views {
            if archive.is_full() {
                archive.unread(&first, "too many files, or too large together");
                return;
            }
            let Some(bytes) = self.data(local, view, &crcs, &first, archive) else { continue };
            if owners.iter().any(|header| header.is_link) {
                let target = String::from_utf8_lossy(bytes.get(..bytes.len().min(200)).unwrap_or_default());
                archive.link(&first, &target);
            }
            if known.contains(&bytes) || (bytes.is_empty() && first.ends_with('/')) {
                continue;
            }
            for name in &names {
                archive.member(ArchiveMember { name: name.clone(), bytes: bytes.clone() });
            }
            known.push(bytes);
        }
    }

    /// The bytes of a member in one view; what keeps them from being read is listed.
    fn data(
        &mut self,
        local: &ZipHeader,
        view: MemberView,
        crcs: &[u32],
        name: &str,
        archive: &mut OpenArchive<'_>,
    ) -> Option<Vec<u8>> {
        let rest = self.bytes.get(local.end..).unwrap_or_default();
        let packed = usize::try_from(view.packed).unwrap_or(usize::MAX);
        let limit = MAX_FILE.min(archive.work_left());
        let matches = |bytes: &[u8]| {
            let mut crc = flate2::Crc::new();
            crc.update(bytes);
            crcs.contains(&crc.sum())
        };
        let (bytes, read, end) = match view.method {
            0 if view.streamed && packed == 0 => {
                // Nothing says where it ends but what follows.
                let next = [LOCAL, CENTRAL, b"PK\x07\x08"];
                let end = next.iter().filter_map(|mark| memchr::memmem::find(rest, mark)).min();
                let end = end.unwrap_or(rest.len());
                (rest.get(..end.min(limit)).unwrap_or_default().to_vec(), end, StreamEnd::Complete)
            }
            0 => {
                let end = if packed > rest.len() {
                    StreamEnd::Damaged
                } else if packed > limit {
                    StreamEnd::TooLarge
                } else {
                    StreamEnd::Complete
                };
                let read = packed.min(rest.len());
                (rest.get(..read.min(limit)).unwrap_or_default().to_vec(), read, end)
            }
            8 => {
                let inflated = inflate(rest, limit);
                (inflated.bytes, inflated.read, inflated.end)
            }
            method => {
                let end = local.end + packed.min(rest.len());
                self.claimed.push(local.at..end);
                if view.encrypted {
                    archive.odd_member(name, ArchiveOddity::Password);
                }
                archive
                    .unread(name, &format!("packed by a method that is not read: {}", method_name(method)));
                return None;
            }
        };
        archive.spent(bytes.len());
        // A member that is said to need a password and reads without one was not encrypted.
        if view.encrypted && !(end == StreamEnd::Complete && matches(&bytes)) {
            self.claimed.push(local.at..local.end + packed.min(rest.len()));
            archive.odd_member(name, ArchiveOddity::Password);
            archive.unread(name, "only a password opens it");
            return None;
        }
        if view.encrypted {
            self.say("a member is said to be encrypted and is not", archive);
        }
        self.claimed.push(local.at..local.end + read);
        if view.method == 0 && (kind::detect_archive(&bytes).is_some() || has_directory(&bytes)) {
            self.nested.push(local.end..local.end + read);
        }
        if let Some(reason) = end.reason() {
            archive.unread(name, reason);
        } else if !matches(&bytes) && crcs.iter().any(|crc| *crc != 0) {
            self.say("a member's checksum is wrong", archive);
        }
        if end == StreamEnd::Bomb {
            archive.odd(ArchiveOddity::Bomb);
        }
        Some(bytes)
    }

    /// Bytes that no header and no member claims.
    fn gaps(&mut self, archive: &mut OpenArchive<'_>) {
        self.claimed.sort_by_key(|range| range.start);
        let mut at = 0;
        let end = self.bytes.len();
        let mut unclaimed = Vec::new();
        for range in self.claimed.iter().cloned().chain(std::iter::once(end..end)) {
            let gap = self.bytes.get(at..range.start).unwrap_or_default();
            // What stands before an archive is the beginning of a file of another kind, and looked at as that.
            let counts = at > 0 || gap.starts_with(b"PK");
            if counts && gap.len() >= MIN_GAP && gap.iter().any(|b| *b != 0) && !is_directory_record(gap) {
                unclaimed.extend_from_slice(gap);
                unclaimed.push(b'\n');
            }
            at = at.max(range.end);
        }
        if !unclaimed.is_empty() {
            archive.odd(ArchiveOddity::Unclaimed);
            if kind::detect_archive(&unclaimed) == Some(kind::ArchiveKind::Zip) {
                // Its headers were looked at already, and came to nothing.
                archive.words("(between members)", &unclaimed);
            } else {
                archive.remark("(between members)", &unclaimed);
            }
        }
    }

    fn say(&mut self, what: &'static str, archive: &mut OpenArchive<'_>) {
        if self.said.insert(what) {
            archive.odd(ArchiveOddity::Ambiguous(what.to_owned()));
        }
    }
}

/// The directory's larger form, and nothing behind it.
fn is_directory_record(gap: &[u8]) -> bool {
    gap.starts_with(END_64) && gap.len() <= 56 + 20
}

/// What has to be added to the directory's offsets: nothing, or what was put before the archive.
fn bases(bytes: &[u8], ends: &[usize]) -> Vec<i128> {
    let mut bases = vec![0];
    let mut add = |at: usize, size: Option<u64>, offset: Option<u64>| {
        if let (Some(size), Some(offset)) = (size, offset) {
            let base = at as i128 - i128::from(size) - i128::from(offset);
            // A zip of thousands of ends is none; its members are read by their own headers.
            if !bases.contains(&base) && bases.len() < 16 {
                bases.push(base);
            }
        }
    };
    for at in ends {
        add(*at, u32_at(bytes, at + 12).map(u64::from), u32_at(bytes, at + 16).map(u64::from));
    }
    for at in memchr::memmem::find_iter(bytes, END_64).take(16) {
        add(at, u64_at(bytes, at + 40), u64_at(bytes, at + 48));
    }
    bases
}

fn local(bytes: &[u8], at: usize) -> Option<ZipHeader> {
    let flags = u16_at(bytes, at + 6)?;
    let name = at + 30..at + 30 + usize::from(u16_at(bytes, at + 26)?);
    let extra = name.end..name.end + usize::from(u16_at(bytes, at + 28)?);
    let (packed, size) = (u32_at(bytes, at + 18)?, u32_at(bytes, at + 22)?);
    let method = u16_at(bytes, at + 8)?;
    if name.len() > MAX_NAME {
        return None;
    }
    let header = ZipHeader {
        at,
        end: extra.end,
        name: bytes.get(name)?.to_vec(),
        other_name: unicode_name(bytes.get(extra.clone())?),
        view: MemberView {
            encrypted: flags & 1 != 0,
            method,
            packed: large(packed, &[size], bytes.get(extra)?),
            streamed: flags & 8 != 0,
        },
        crc: u32_at(bytes, at + 14)?,
        offset: 0,
        is_link: false,
        comment: 0..0,
    };
    is_plausible(&header).then_some(header)
}

fn central(bytes: &[u8], at: usize) -> Option<ZipHeader> {
    let flags = u16_at(bytes, at + 8)?;
    let name = at + 46..at + 46 + usize::from(u16_at(bytes, at + 28)?);
    let extra = name.end..name.end + usize::from(u16_at(bytes, at + 30)?);
    let comment = extra.end..extra.end + usize::from(u16_at(bytes, at + 32)?);
    let (packed, size, offset) = (u32_at(bytes, at + 20)?, u32_at(bytes, at + 24)?, u32_at(bytes, at + 42)?);
    let fields = bytes.get(extra.clone())?;
    let mode = u32_at(bytes, at + 38)? >> 16;
    if name.len() > MAX_NAME {
        return None;
    }
    let header = ZipHeader {
        at,
        end: extra.end,
        name: bytes.get(name)?.to_vec(),
        other_name: unicode_name(fields),
        view: MemberView {
            encrypted: flags & 1 != 0,
            method: u16_at(bytes, at + 10)?,
            packed: large(packed, &[size], fields),
            streamed: flags & 8 != 0,
        },
        crc: u32_at(bytes, at + 16)?,
        offset: large(offset, &[size, packed], fields),
        is_link: mode & 0o170_000 == 0o120_000,
        comment: comment.start.min(bytes.len())..comment.end.min(bytes.len()),
    };
    is_plausible(&header).then_some(header)
}

/// Four bytes that look like a header's beginning stand in eight megabytes of packed data once in five hundred times; with a
/// method that exists and a name behind them, never by chance.
fn is_plausible(header: &ZipHeader) -> bool {
    (1..=MAX_NAME).contains(&header.name.len())
        && (header.view.method <= 20 || (93..=99).contains(&header.view.method))
}

/// A number, or where it does not fit in four bytes, the one in the extra field; there it stands behind those of `before` that did
/// not fit either.
fn large(number: u32, before: &[u32], extra: &[u8]) -> u64 {
    if number != u32::MAX {
        return u64::from(number);
    }
    let skip = before.iter().filter(|number| **number == u32::MAX).count() * 8;
    field(extra, 1).and_then(|data| u64_at(data, skip)).unwrap_or(u64::from(number))
}

/// Info-ZIP's field with the name in UTF-8.
fn unicode_name(extra: &[u8]) -> Option<Vec<u8>> {
    Some(field(extra, 0x7075)?.get(5..)?.to_vec()).filter(|name| !name.is_empty())
}

fn field(mut extra: &[u8], wanted: u16) -> Option<&[u8]> {
    loop {
        let (id, length) = (u16_at(extra, 0)?, usize::from(u16_at(extra, 2)?));
        let data = extra.get(4..4 + length)?;
        if id == wanted {
            return Some(data);
        }
        extra = extra.get(4 + length..)?;
    }
}

fn method_name(method: u16) -> String {
    match method {
        1..=6 => "an old one".to_owned(),
        9 => "DEFLATE64".to_owned(),
        12 => "bzip2".to_owned(),
        14 => "LZMA".to_owned(),
        93 | 20 => "zstd".to_owned(),
        95 => "xz".to_owned(),
        98 => "PPMd".to_owned(),
        99 => "AES encryption".to_owned(),
        other => format!("number {other}"),
    }
}
