//! Looking at files without being led astray: bounded reads of regular files, and links followed one by one.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{Access, AtFlags, CWD};

/// Links followed on one way; the kernel's own limit (`path_resolution(7)`).
pub(super) const MAX_LINKS: usize = 40;
/// Names on one way, all links' included.
const MAX_NAMES: usize = 4096;
/// Entries looked at in one folder.
pub(super) const MAX_ENTRIES: usize = 4096;

/// Opens a regular file, and nothing else: neither a link nor a FIFO, which would wait for a writer, nor a device.
pub(super) fn open_regular(path: &Path) -> io::Result<File> {
    let refused = || io::Error::new(io::ErrorKind::InvalidInput, "not a regular file");
    // Opening a device can do things, so it is asked for before as well as after.
    if !path.symlink_metadata()?.is_file() {
        return Err(refused());
    }
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_NOCTTY;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(refused()) }
}

/// The first bytes of a regular file.
pub(super) fn head(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_regular(path)?.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A small text: `None` where there is none, or where it is a link, too long or no text. Settings in a skill's folder may be
/// links to the user's secrets, and what is read from settings is repeated in messages.
pub(super) fn small_text(path: &Path) -> Option<String> {
    const MOST: u64 = 64 * 1024;
    let bytes = head(path, MOST + 1).ok()?;
    if bytes.len() as u64 > MOST {
        return None;
    }
    String::from_utf8(bytes).ok()
}

/// Whether the kernel would let this process execute the file.
pub(super) fn executable(path: &Path) -> bool {
    rustix::fs::accessat(CWD, path, Access::EXEC_OK, AtFlags::EACCESS).is_ok()
}

/// The names in a folder, as many as are ever looked at; none where it cannot be read.
pub(super) fn names(folder: &Path) -> Vec<OsString> {
    let Ok(entries) = folder.read_dir() else { return Vec::new() };
    entries.take(MAX_ENTRIES).filter_map(|entry| Some(entry.ok()?.file_name())).collect()
}

/// A folder's real path and the last name as it is written, with the links that were met before that name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) at: PathBuf,
    pub(super) through: Vec<PathBuf>,
}

/// Follows the links of all folders of an absolute path, but not that of its last name.
pub(super) fn step(path: &Path) -> io::Result<Step> {
    let mut left: VecDeque<OsString> = names_of(path);
    let mut at = PathBuf::from("/");
    let mut through = Vec::new();
    let mut taken = 0;
    while let Some(name) = left.pop_front() {
        taken += 1;
        if taken > MAX_NAMES || through.len() > MAX_LINKS {
            return Err(io::Error::from_raw_os_error(libc::ELOOP));
        }
        if name == ".." {
            at.pop();
            continue;
        }
        let next = at.join(&name);
        let kind = next.symlink_metadata()?.file_type();
        if kind.is_symlink() && !left.is_empty() {
            let target = next.read_link()?;
            if target.is_absolute() {
                at = PathBuf::from("/");
            }
            for name in names_of(&target).into_iter().rev() {
                left.push_front(name);
            }
            through.push(next);
        } else if !left.is_empty() && !kind.is_dir() {
            return Err(io::Error::from_raw_os_error(libc::ENOTDIR));
        } else {
            at = next;
        }
    }
    Ok(Step { at, through })
}

/// All places where a path's last name stands, from the first link to what is no link.
pub(super) fn steps(path: &Path) -> io::Result<Vec<Step>> {
    let mut found = Vec::new();
    let mut next = path.to_path_buf();
    while found.len() <= MAX_LINKS {
        let step = step(&next)?;
        let link = step.at.symlink_metadata()?.is_symlink();
        if link {
            next = step.at.parent().unwrap_or(Path::new("/")).join(step.at.read_link()?);
        }
        found.push(step);
        if !link {
            return Ok(found);
        }
    }
    Err(io::Error::from_raw_os_error(libc::ELOOP))
}

/// The path without links, and all links on the way to it.
pub(super) fn real(path: &Path) -> io::Result<Step> {
    let mut steps = steps(path)?;
    let last = steps.pop().ok_or_else(|| io::Error::from_raw_os_error(libc::ENOENT))?;
    let before = steps.into_iter().flat_map(|step| step.through.into_iter().chain([step.at]));
    Ok(Step { through: before.chain(last.through).collect(), at: last.at })
}

fn names_of(path: &Path) -> VecDeque<OsString> {
    path.components()
        .filter_map(|part| match part {
            Component::Normal(name) => Some(name.to_owned()),
            Component::ParentDir => Some("..".into()),
            Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
        })
        .collect()
}
