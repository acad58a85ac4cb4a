//! Whether what is covered is still what has that name.
//!
//! A mask lies on a file, not on a name: where the host puts another file in its place, or moves a folder on the way, the new one has the
//! name and no mask. The same goes for the name of something forbidden that is not there yet, and for that of a link on the way to it. Nobody can keep the host from that, so it is watched, from before anything is mounted, and the run is ended. Below a
//! read grant Landlock holds the new file back in any case (`landlock.rs`); below a write grant it is readable until the run has ended.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};
use rustix::io::Errno;

use super::grants::{Grants, is_within};
use crate::error::Error;
use crate::layers::mounts::{HOME, TMP};
use crate::plan::PathAccess;

/// Names that must go on meaning what they meant.
#[derive(Debug)]
pub(crate) struct CoverWatch {
    pub(crate) events: OwnedFd,
    /// By the number of a watched folder: the names in it.
    names: BTreeMap<i32, Vec<OsString>>,
}

impl CoverWatch {
    /// `None` where nothing is covered.
    pub(crate) fn start(grants: &Grants) -> Result<Option<Self>, Error> {
        let mut folders: BTreeMap<PathBuf, Vec<OsString>> = BTreeMap::new();
        let mut needed = BTreeSet::new();
        let left_out = grants.left_out.iter().map(|path| (path.as_path(), false));
        for (path, is_there) in covered(grants).map(|path| (path, true)).chain(left_out) {
            // From the grant that holds it down: what is above that is held by the mount of the grant.
            let Some(root) = holder(grants, path) else { continue };
            for part in path.ancestors().take_while(|part| *part != root) {
                let (Some(folder), Some(name)) = (part.parent(), part.file_name()) else { continue };
                let names = folders.entry(folder.to_owned()).or_default();
                if !names.iter().any(|known| known == name) {
                    names.push(name.to_owned());
                }
                if is_there {
                    needed.insert(folder.to_owned());
                }
            }
        }
        if folders.is_empty() {
            return Ok(None);
        }
        let failed = |errno: Errno| Error::Host { what: "watch what is covered", source: errno.into() };
        let events = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).map_err(failed)?;
        let flags = WatchFlags::CREATE
            | WatchFlags::DELETE
            | WatchFlags::MOVED_FROM
            | WatchFlags::MOVED_TO
            | WatchFlags::ONLYDIR
            | WatchFlags::DONT_FOLLOW;
        let mut names = BTreeMap::new();
        for (folder, known) in folders {
            let number = match inotify::add_watch(&events, &folder, flags) {
                Ok(number) => number,
                // The one above is watched already, and tells when this one is made.
                Err(Errno::NOENT | Errno::NOTDIR) if !needed.contains(&folder) => continue,
                // Nobody tells when it may be looked into, but Landlock has no rule for what is in it.
                Err(Errno::ACCESS) if !needed.contains(&folder) && is_held_back(grants, &folder) => continue,
                Err(errno) => {
                    let source = errno.into();
                    return Err(Error::Path { what: "cannot watch", path: folder, source });
                }
            };
            names.entry(number).or_insert_with(Vec::new).extend(known);
        }
        grants.check_left_out()?;
        Ok(Some(Self { events, names }))
    }

    /// Whether a covered name means something else by now, or might.
    pub(crate) fn is_broken(&self) -> bool {
        let mut buffer = [MaybeUninit::<u8>::uninit(); 8192];
        let mut events = inotify::Reader::new(&self.events, &mut buffer);
        loop {
            match events.next() {
                // Too many at once: nobody knows what was among them.
                Ok(event) if event.events().contains(ReadFlags::QUEUE_OVERFLOW) => return true,
                Ok(event) => {
                    let name = event.file_name().map(|name| OsStr::from_bytes(name.to_bytes()));
                    let known = self.names.get(&event.wd());
                    if name.is_some_and(|name| known.is_some_and(|names| names.iter().any(|own| own == name)))
                    {
                        return true;
                    }
                }
                Err(Errno::AGAIN) => return false,
                Err(Errno::INTR) => {}
                Err(_) => return true,
            }
        }
    }
}

/// What is hidden, and what may be read only below a write grant.
fn covered(grants: &Grants) -> impl Iterator<Item = &Path> {
    let masks = grants.masks.iter().map(|(path, _)| path.as_path());
    let reads = grants.all.iter().filter(|grant| grant.access == PathAccess::Read);
    masks.chain(reads.map(|grant| grant.path.as_path()))
}

/// The outermost grant that something lies in, which is mounted where the host cannot reach.
fn holder<'g>(grants: &'g Grants, path: &Path) -> Option<&'g Path> {
    let above = grants.all.iter().filter(|grant| grant.path != path && is_within(path, &grant.path));
    above.map(|grant| grant.path.as_path()).min_by_key(|path| path.as_os_str().len())
}

/// Whether Landlock holds back what has no rule of its own in a folder: not where a folder above has one for all that the run makes in it.
fn is_held_back(grants: &Grants, folder: &Path) -> bool {
    let own = [TMP, HOME, "/dev/shm"];
    let writable = grants.all.iter().filter(|grant| grant.access == PathAccess::Write);
    !own.iter().any(|own| folder.starts_with(own))
        && !writable.into_iter().any(|grant| is_within(folder, &grant.path))
}
