//! Looking at files without being led astray: bounded reads of regular files, and links followed one by one.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

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

/// The same for settings in the user's own folders, which may be links to where they keep all of theirs.
pub(super) fn own_text(path: &Path) -> Option<String> {
    small_text(&path.canonicalize().ok()?)
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
pub(super) struct PathStep {
    pub(super) at: PathBuf,
    pub(super) through: Vec<PathBuf>,
}

/// Follows the links of all folders of an absolute path, but not that of its last name.
pub(super) fn step(path: &Path) -> io::Result<PathStep> {
    let mut left: VecDeque<OsString> = names_of(path);
    let mut at = PathBuf::from("/");
    let mut through = Vec::new();
    let mut taken = 0;
    while let Some(name) = left.pop_front() {
        taken += 1;
        if taken > MAX_NAMES || through.len() > MAX_LINKS {
            return Err(io::Error::from_raw_os_error(libc::ELOOP));
        }
        match name.as_bytes() {
            b"." => continue,
            b".." => {
                at.pop();
                continue;
            }
            _ => {}
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
    Ok(PathStep { at, through })
}

/// All places where a path's last name stands, from the first link to what is not a link.
pub(super) fn steps(path: &Path) -> io::Result<Vec<PathStep>> {
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
pub(super) fn real(path: &Path) -> io::Result<PathStep> {
    let mut steps = steps(path)?;
    let last = steps.pop().ok_or_else(|| io::Error::from_raw_os_error(libc::ENOENT))?;
    let before = steps.into_iter().flat_map(|step| step.through.into_iter().chain([step.at]));
    Ok(PathStep { through: before.chain(last.through).collect(), at: last.at })
}

/// The names of a path. One slash or dot at the end is kept, as `.`: the kernel takes only folders before it, `Path` forgets it.
fn names_of(path: &Path) -> VecDeque<OsString> {
    let nothing = |name: &[u8]| name.is_empty() || name == b".";
    let mut names: VecDeque<&[u8]> = path.as_os_str().as_bytes().split(|byte| *byte == b'/').collect();
    let ends_with_nothing = names.back().is_some_and(|name| nothing(name));
    names.retain(|name| !nothing(name));
    if ends_with_nothing {
        names.push_back(b".");
    }
    names.into_iter().map(|name| OsStr::from_bytes(name).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::path::Component;

    use proptest::prelude::*;

    use super::*;

    const NAMES: [&str; 4] = ["a", "b", "c", "d"];

    /// A path of a few names, with `..` and `.` among them.
    fn paths() -> impl Strategy<Value = String> {
        let name = prop_oneof![4 => prop::sample::select(&NAMES[..]), 1 => Just(".."), 1 => Just(".")];
        proptest::collection::vec(name, 1..5).prop_map(|names| names.join("/"))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]

        /// Following links by hand leads where the kernel's own way leads, or nowhere where that leads nowhere.
        #[test]
        fn the_way_is_that_of_the_kernel(
            links in proptest::collection::vec((paths(), paths(), any::<bool>()), 0..12),
            files in proptest::collection::vec(paths(), 1..6),
            asked in proptest::collection::vec(paths(), 1..8),
        ) {
            let folder = tempfile::tempdir().unwrap();
            let root = folder.path().canonicalize().unwrap();
            for file in files {
                let path = root.join("x").join(file);
                let _ = std::fs::create_dir_all(path.parent().unwrap());
                let _ = std::fs::write(path, "");
            }
            for (at, target, absolute) in links {
                let target = if absolute { root.join("x").join(target) } else { target.into() };
                let _ = symlink(target, root.join("x").join(at));
            }
            for path in asked {
                let path = root.join("x").join(path);
                match (path.canonicalize(), real(&path)) {
                    (Ok(wanted), Ok(found)) => {
                        prop_assert_eq!(&found.at, &wanted);
                        prop_assert!(found.through.iter().all(|link| link.is_symlink()));
                        prop_assert_eq!(found.through.is_empty(), lexical(&path) == wanted && !passes_link(&path));
                    }
                    (Err(_), Err(_)) => {}
                    (wanted, found) => prop_assert!(false, "{}: {wanted:?} {found:?}", path.display()),
                }
            }
        }
    }

    fn lexical(path: &Path) -> PathBuf {
        let mut plain = PathBuf::new();
        for part in path.components() {
            if part == Component::ParentDir {
                plain.pop();
            } else {
                plain.push(part);
            }
        }
        plain
    }

    fn passes_link(path: &Path) -> bool {
        path.ancestors().any(Path::is_symlink)
    }
}
