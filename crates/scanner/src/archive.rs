//! What is packed in other files: members of archives and of Office documents, and what hangs behind the end of a picture.
//!
//! A program that unpacks shows one reading of an archive. Two programs may show two, and whoever wants to get past a scanner
//! writes an archive that this one and the user's read differently. So nothing here trusts a table of contents: every header
//! that any reader could come upon is read, and where they disagree both readings are scanned and the disagreement is reported.
//! That is why the headers are read here, and only the decompression is a library's.
//!
//! Nothing is written to the disk, no link is followed, and every amount is bounded. What a bound, a password or damage kept
//! from being read is listed.

mod gzip;
mod inflate;
mod members;
mod office;
mod picture;
mod strings;
mod tar;
mod zip;

use std::collections::HashSet;

use self::members::{ArchiveMember, OpenArchive};
pub(crate) use self::tar::is_tar;
use crate::kind::{self, ArchiveKind, FileKind};
use crate::readings::{self, OtherReadings};
use crate::skill::{MAX_FILE, MAX_FILES, MAX_TOTAL, SkillFile, UnreadFile};

/// An archive in an archive in an archive is opened, what is packed deeper is not.
const MAX_DEPTH: usize = 3;
/// Most bytes that are unpacked for one skill, those in between counted (a `.tar.gz` is unpacked twice).
const MAX_WORK: usize = 2 * MAX_TOTAL;
/// What is unpacked may be this many times as large as what it was packed in, beyond [`inflate::FREE`] bytes. Text comes to
/// 10, tables and logs to 50; DEFLATE ends at 1,032.
const MAX_RATIO: usize = 200;
/// Most members of one archive that are listed as unread one by one, and most of all archives of a skill.
const MAX_LISTED: usize = 20;
const MAX_LISTED_IN_ALL: usize = 64;

/// Something about a packed file that is worth a judgement. What it amounts to is decided in `checks/binaries.rs`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ArchiveOddity {
    /// An archive, or a part of it, that could not be read.
    Closed(String),
    /// A member that only a password opens.
    Password,
    /// It would unpack to far more than it seems.
    Bomb,
    /// A member's name leads out of the folder it is unpacked to.
    Escape,
    /// A member's name begins at the root of the file system.
    Absolute,
    /// A member is a link, or a device.
    Link(String),
    /// A member's name goes through a link of the same archive.
    ThroughLink,
    /// Two programs would unpack it differently.
    Ambiguous(String),
    /// It holds bytes that belong to no member.
    Unclaimed,
    /// An archive stands behind the beginning of something else.
    Polyglot,
    /// Data stands behind the end of a picture.
    Trailing(&'static str),
    /// An Office document has macros.
    Macros,
    /// An Office document loads a part of itself from elsewhere.
    RemotePart(String),
}

/// Everything that a skill's files turned out to hold.
#[derive(Debug, Default)]
pub(crate) struct UnpackedFiles {
    pub(crate) files: Vec<SkillFile>,
    pub(crate) unread: Vec<UnreadFile>,
    /// The path, and what is odd about it.
    pub(crate) oddities: Vec<(String, ArchiveOddity)>,
}

/// Opens files, and the files in them, within bounds that hold for all of them together.
#[derive(Debug)]
pub(crate) struct ArchiveUnpacker {
    contents: UnpackedFiles,
    files_left: usize,
    bytes_left: usize,
    work_left: usize,
    paths: HashSet<String>,
    /// How long the path of the file of the skill is that is being opened.
    disk_length: Option<usize>,
    /// How many parts were not read, listed or not.
    unread: usize,
}

impl ArchiveUnpacker {
    pub(crate) fn new() -> Self {
        Self {
            contents: UnpackedFiles::default(),
            files_left: MAX_FILES,
            bytes_left: MAX_TOTAL,
            work_left: MAX_WORK,
            paths: HashSet::new(),
            disk_length: None,
            unread: 0,
        }
    }

    pub(crate) fn finish(mut self) -> UnpackedFiles {
        let more = self.unread - self.contents.unread.len();
        if let Some(last) = self.contents.unread.last_mut().filter(|_| more > 0) {
            last.reason = format!("{}; and {more} more parts of archives were not read", last.reason);
        }
        self.contents
    }

    /// A file of the skill, and all that is in it.
    pub(crate) fn file(&mut self, path: String, bytes: Vec<u8>) {
        self.disk_length = Some(path.len());
        self.open(path, bytes, 0);
        self.disk_length = None;
    }

    /// A link of the skill: where it leads, as a text.
    pub(crate) fn link(&mut self, path: &str, target: &[u8]) {
        self.disk_length = Some(path.len());
        self.push(SkillFile::data(format!("{path}!/(link)"), target.to_vec()));
        self.disk_length = None;
    }

    /// The members of an archive, as if they had been files: for a skill that is one. Whether it is an archive.
    pub(crate) fn container(&mut self, name: &str, bytes: &[u8]) -> bool {
        let Some(kind) = kind::detect_archive(bytes) else { return false };
        if kind == ArchiveKind::Zip && office::is_office(bytes) {
            return false;
        }
        self.members(name, "", bytes, kind, 1);
        true
    }

    fn open(&mut self, path: String, bytes: Vec<u8>, depth: usize) {
        // Before it is made a file of ours, which turns UTF-16 to UTF-8: two bytes in front must not hide an archive.
        let kind = FileKind::of(&path, &bytes);
        self.look_inside(&path, &bytes, kind, depth);
        self.read_otherwise(&path, &bytes);
        self.push(SkillFile::new(path, bytes));
    }

    fn push(&mut self, mut file: SkillFile) {
        file.disk_length = self.disk_length.unwrap_or(file.path.len());
        self.contents.files.push(file);
    }

    /// What programs could read in a text besides what stands for it.
    fn read_otherwise(&mut self, path: &str, bytes: &[u8]) {
        let unmarked = readings::unmarked(bytes);
        let scanned = unmarked.as_deref().unwrap_or(bytes);
        if !FileKind::of(path, scanned).is_text() {
            return;
        }
        let OtherReadings { texts, unread } = OtherReadings::of_text(path, bytes, scanned);
        for (how, text) in texts {
            let added = self.add(SkillFile::reading(path, how, text));
            self.refused(path, added);
        }
        if let Some(reason) = unread {
            self.unread(path, &reason);
        }
    }

    fn look_inside(&mut self, path: &str, bytes: &[u8], file: FileKind, depth: usize) {
        let inside = format!("{path}!/");
        let mut opened = false;
        let mut polyglot = false;
        if let Some(kind) = kind::detect_archive(bytes) {
            opened = self.members(path, &inside, bytes, kind, depth + 1);
        } else if zip::has_directory(bytes) {
            polyglot = true;
            self.odd(path, ArchiveOddity::Polyglot);
            self.members(path, &inside, bytes, ArchiveKind::Zip, depth + 1);
        }
        if !file.is_text() && !opened {
            let end = picture::end(bytes).unwrap_or(bytes.len());
            self.trailing(path, bytes.get(end..).unwrap_or_default(), depth, polyglot);
            if kind::is_compound(bytes) {
                self.compound(path, bytes);
            }
            let words = match file {
                // A shell runs a file whose first line holds no zero byte, whatever follows.
                FileKind::Executable if !runs_in_a_shell(bytes) => String::new(),
                _ => strings::readable(bytes.get(..end).unwrap_or_default()),
            };
            if !words.is_empty() {
                let added = self.add(SkillFile::data(format!("{inside}(text)"), words.into_bytes()));
                self.refused(path, added);
            }
        }
    }

    /// What stands behind the end of a picture: padding, or something that was to be carried unseen.
    fn trailing(&mut self, path: &str, bytes: &[u8], depth: usize, polyglot: bool) {
        if bytes.iter().all(|b| matches!(b, 0 | 0xff) || b.is_ascii_whitespace()) {
            return;
        }
        let name = format!("{path}!/(trailing data)");
        let kind = FileKind::of(&name, bytes);
        let what = match kind {
            FileKind::Executable => "a program",
            FileKind::Archive => "an archive",
            FileKind::Media => "another picture",
            FileKind::Binary => "unknown data",
            _ if kind::is_script(bytes) => "a script",
            _ => "text",
        };
        // Cameras put a second picture behind the first; look behind that, too.
        if kind != FileKind::Media {
            self.odd(path, ArchiveOddity::Trailing(what));
        }
        if polyglot && kind::detect_archive(bytes) == Some(ArchiveKind::Zip) {
            // Its members were read already, from the file as a whole.
        } else if depth < MAX_DEPTH {
            let added = self.nested(name, bytes.to_vec(), depth + 1);
            self.refused(path, added);
        } else {
            self.closed(path, "packed deeper than is looked at");
        }
    }

    /// An Office document in the form before 2007: a file system in a file, of which only the macros are looked for.
    fn compound(&mut self, path: &str, bytes: &[u8]) {
        if office::has_old_macros(bytes) {
            self.odd(path, ArchiveOddity::Macros);
        }
        self.unread(path, "an Office document of the old form; save it in the new one");
    }

    /// Opens an archive; whether all of it was read.
    fn members(&mut self, path: &str, inside: &str, bytes: &[u8], kind: ArchiveKind, depth: usize) -> bool {
        if let ArchiveKind::Other(name) = kind {
            self.closed(path, &format!("an archive of a kind that is not opened: {name}"));
            return false;
        }
        if depth > MAX_DEPTH {
            self.closed(path, "packed deeper than is looked at");
            return false;
        }
        let unread = self.unread;
        let mut archive = OpenArchive::new(self, path, inside, depth);
        match kind {
            ArchiveKind::Zip => zip::read(bytes, &mut archive),
            ArchiveKind::Tar => tar::read(bytes, &mut archive),
            ArchiveKind::Gzip => gzip::read(bytes, &mut archive),
            ArchiveKind::Other(_) => {}
        }
        archive.finish();
        if self.unread == unread {
            return true;
        }
        let first = self.contents.unread.get(unread).map_or("much of it", |first| &first.reason);
        let oddity = ArchiveOddity::Closed(first.to_owned());
        self.odd(path, oddity);
        false
    }

    /// A file that was found in another, or why there is no room for it.
    fn nested(&mut self, path: String, bytes: Vec<u8>, depth: usize) -> Result<(), &'static str> {
        self.take_room(bytes.len())?;
        self.open(path, bytes, depth);
        Ok(())
    }

    /// A text that was found in a file.
    fn add(&mut self, file: SkillFile) -> Result<(), &'static str> {
        self.take_room(file.bytes.len())?;
        self.push(file);
        Ok(())
    }

    fn take_room(&mut self, size: usize) -> Result<(), &'static str> {
        if self.files_left == 0 {
            return Err("too many files");
        }
        if size > self.bytes_left || size > MAX_FILE {
            return Err("too large");
        }
        self.files_left -= 1;
        self.bytes_left -= size;
        Ok(())
    }

    fn odd(&mut self, path: &str, oddity: ArchiveOddity) {
        let known = self.contents.oddities.iter().rev().take(64);
        if !known.into_iter().any(|(at, same)| at == path && *same == oddity) {
            self.contents.oddities.push((path.to_owned(), oddity));
        }
    }

    fn unread(&mut self, path: &str, reason: &str) {
        self.unread += 1;
        if self.contents.unread.len() < MAX_LISTED_IN_ALL {
            self.contents.unread.push(UnreadFile { path: path.to_owned(), reason: reason.to_owned() });
        }
    }

    /// A part of a file for which there may have been no room.
    fn refused(&mut self, path: &str, added: Result<(), &'static str>) {
        if let Err(reason) = added {
            self.unread(path, reason);
        }
    }

    /// An archive that is not opened at all.
    fn closed(&mut self, path: &str, reason: &str) {
        self.unread(path, reason);
        self.odd(path, ArchiveOddity::Closed(reason.to_owned()));
    }
}

/// Whether a shell would run the file: it looks for a zero byte in the first line, as far as that is among the first eighty bytes, and nowhere else.
fn runs_in_a_shell(bytes: &[u8]) -> bool {
    let head = bytes.get(..bytes.len().min(80)).unwrap_or_default();
    let line = head.split(|b| *b == b'\n').next().unwrap_or_default();
    line.len() < bytes.len() && !line.contains(&0)
}

/// Numbers of two, four and eight bytes in zip's order.
fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_runs_what_has_no_zero_byte_in_its_first_line() {
        assert!(runs_in_a_shell(b"MZ=1\ncurl x\0"));
        assert!(runs_in_a_shell(&[b"MZ=".repeat(30), b"\ncurl x\0".to_vec()].concat()));
        assert!(!runs_in_a_shell(b"MZ\0=1\ncurl x"));
        assert!(!runs_in_a_shell(b"\x7fELF\x02\x01\x01\0\0\n"));
    }
}
