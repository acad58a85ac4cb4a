//! Archives into memory. Nothing is written, no link is made, and every amount is bounded.
//!
//! The scanner reads archives by every header that any program might go by, since it must see what others would unpack. Here one
//! reading is enough, because what it yields is what is scanned and what is installed: the readers are those of the `zip`, `tar`,
//! `flate2` and `ruzstd` libraries, and only their lists of members are used, never their unpacking to a disk.

use std::io::{self, Cursor, Read};

use flate2::read::MultiGzDecoder;
use ruzstd::decoding::StreamingDecoder;
use zip::ZipArchive;

use crate::error::Error;
use crate::tree::{MAX_FILES, MAX_TOTAL, SkillTree};

/// Most bytes that a compressed tar may come to: its files, and for each of them headers and padding, twice over.
const MAX_STREAM: u64 = MAX_TOTAL as u64 + 4096 * MAX_FILES as u64;
/// Most members of any kind, folders included.
const MAX_MEMBERS: usize = 4 * MAX_FILES;

/// What Macs add of their own accord; it belongs to no skill and is left out.
const MAC: &str = "__MACOSX/";

/// The kinds of archives, by their first bytes: a name proves nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MemberKind {
    Zip,
    Gzip,
    Zstd,
    Tar,
}

fn kind(bytes: &[u8]) -> Option<MemberKind> {
    match bytes {
        [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] => Some(MemberKind::Zip),
        [0x1f, 0x8b, ..] => Some(MemberKind::Gzip),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(MemberKind::Zstd),
        _ if bytes.get(257..262) == Some(b"ustar") => Some(MemberKind::Tar),
        _ => None,
    }
}

/// Unpacks an archive (zip, tar, tar.gz, tar.zst). Where all of it stands in one folder, that folder is the tree.
///
/// # Errors
/// What is no such archive or is damaged, and whatever would leave the folder, be too much, or not be a plain file.
pub fn unpack(name: &str, bytes: &[u8]) -> Result<UnpackedArchive, Error> {
    let tree = match kind(bytes) {
        Some(MemberKind::Zip) => zip(name, bytes)?,
        Some(MemberKind::Tar) => tar(name, bytes)?,
        Some(MemberKind::Gzip) => tar(name, Bounded::new(MultiGzDecoder::new(bytes)))?,
        Some(MemberKind::Zstd) => {
            let decoder = StreamingDecoder::new(bytes).map_err(|error| damaged(name, &error))?;
            tar(name, Bounded::new(decoder))?
        }
        None => return Err(damaged(name, &"it is none of zip, tar, gzip or zstandard")),
    };
    let Some(folder) = only_folder(&tree) else { return Ok(UnpackedArchive { tree, folder: None }) };
    Ok(UnpackedArchive { tree: tree.below(&folder)?, folder: Some(folder) })
}

/// What was in an archive.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct UnpackedArchive {
    /// The files.
    pub tree: SkillTree,
    /// The folder that all of them stood in.
    pub folder: Option<String>,
}

/// Whether a file's first bytes are those of an archive that [`unpack`] knows.
pub(crate) fn is_archive(bytes: &[u8]) -> bool {
    kind(bytes).is_some()
}

fn damaged(name: &str, why: &dyn std::fmt::Display) -> Error {
    Error::Damaged { what: name.to_owned(), why: why.to_string() }
}

/// The one folder that all files stand in.
fn only_folder(tree: &SkillTree) -> Option<String> {
    let (first, _) = tree.files().next()?.0.split_once('/')?;
    let inside = |path: &str| path.split_once('/').is_some_and(|(folder, _)| folder == first);
    tree.files().all(|(path, _)| inside(path)).then(|| first.to_owned())
}

/// Reads no more than there is room for; one byte more is too much, whatever a header promised.
fn contents(name: &str, from: impl Read, room: usize) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    from.take(room as u64 + 1).read_to_end(&mut bytes).map_err(|error| failed(name, &error))?;
    if bytes.len() > room {
        return Err(Error::hostile(name, format!("it unpacks to more than {MAX_TOTAL} bytes")));
    }
    Ok(bytes)
}

fn zip(name: &str, bytes: &[u8]) -> Result<SkillTree, Error> {
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(|error| damaged(name, &error))?;
    if archive.len() > MAX_MEMBERS {
        return Err(Error::hostile(name, format!("it has more than {MAX_MEMBERS} members")));
    }
    if archive.has_duplicate_names() {
        return Err(Error::hostile(name, "two of its members have one name"));
    }
    let mut tree = SkillTree::default();
    for number in 0..archive.len() {
        let raw = archive.by_index_raw(number).map_err(|error| damaged(name, &error))?;
        // The name as it is written: the library's own idea of a safe one is not asked for.
        let member = text(raw.name_raw().to_vec())?;
        let mode = raw.unix_mode();
        let (folder, encrypted) = (raw.is_dir(), raw.encrypted());
        drop(raw);
        if folder {
            folder_name(&member)?;
            continue;
        }
        // The kind of file, where the archive says one: 0 is that of writers who know none.
        if !matches!(mode.unwrap_or(0) & 0o170_000, 0 | 0o100_000) {
            return Err(Error::hostile(member, "it is a link or a device, not a file"));
        }
        if encrypted {
            return Err(Error::hostile(member, "only a password opens it, so it cannot be scanned"));
        }
        if member.starts_with(MAC) {
            continue;
        }
        let file = archive.by_index(number).map_err(|error| damaged(&member, &error))?;
        let bytes = contents(&member, file, tree.room())?;
        tree.insert(&member, bytes, mode.unwrap_or(0) & 0o111 != 0)?;
    }
    Ok(tree)
}

pub(crate) fn tar(name: &str, from: impl Read) -> Result<SkillTree, Error> {
    let mut archive = ::tar::Archive::new(from);
    let mut tree = SkillTree::default();
    let entries = archive.entries().map_err(|error| failed(name, &error))?;
    for (number, entry) in entries.enumerate() {
        if number > MAX_MEMBERS {
            return Err(Error::hostile(name, format!("it has more than {MAX_MEMBERS} members")));
        }
        let entry = entry.map_err(|error| failed(name, &error))?;
        let header = entry.header().entry_type();
        // The commit that `git archive` writes down.
        if header.is_pax_global_extensions() {
            continue;
        }
        let member = text(entry.path_bytes().into_owned())?;
        // As `tar .` names them. What is left is checked like any other name.
        let member = member.strip_prefix("./").unwrap_or(&member).to_owned();
        if header.is_dir() {
            folder_name(&member)?;
            continue;
        }
        if !matches!(header, ::tar::EntryType::Regular | ::tar::EntryType::Continuous) {
            let what =
                if header.is_symlink() || header.is_hard_link() { "a link" } else { "a device or the like" };
            return Err(Error::hostile(member, format!("it is {what}, not a file")));
        }
        // A file of old whose name ends in a slash is a folder.
        if member.ends_with('/') && entry.size() == 0 {
            folder_name(&member)?;
            continue;
        }
        if member.starts_with(MAC) {
            continue;
        }
        let executable = entry.header().mode().is_ok_and(|mode| mode & 0o111 != 0);
        let bytes = contents(&member, entry, tree.room())?;
        tree.insert(&member, bytes, executable)?;
    }
    Ok(tree)
}

fn text(name: Vec<u8>) -> Result<String, Error> {
    String::from_utf8(name)
        .map_err(|error| Error::hostile(error.as_bytes().escape_ascii().to_string(), "its name is not UTF-8"))
}

/// A folder that holds nothing is not kept, but one that leads elsewhere says what the archive is for.
fn folder_name(member: &str) -> Result<(), Error> {
    let name = member.trim_end_matches('/');
    if matches!(name, "" | ".") && !member.starts_with('/') {
        return Ok(());
    }
    crate::names::unfit(name).map_or(Ok(()), |why| Err(Error::hostile(member, why)))
}

/// What a decoder yields, up to a bound.
struct Bounded<R> {
    inner: R,
    left: u64,
}

impl<R> Bounded<R> {
    fn new(inner: R) -> Self {
        Self { inner, left: MAX_STREAM }
    }
}

/// How [`Bounded`] ends, told from damage.
const TOO_MUCH: &str = "it unpacks to more than a skill may have";

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(to)?;
        self.left = self.left.checked_sub(read as u64).ok_or_else(|| io::Error::other(TOO_MUCH))?;
        Ok(read)
    }
}

fn failed(name: &str, error: &io::Error) -> Error {
    let text = error.to_string();
    if text.contains(TOO_MUCH) { Error::hostile(name, TOO_MUCH) } else { damaged(name, &text) }
}
