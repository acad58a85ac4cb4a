//! Where a path leads inside: as the kernel would walk it, links and all, from outside.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2, readlinkat};
use rustix::io::Errno;

use super::Actor;
use super::sandbox_root::Root;
use super::syscall_record::RawPath;
use crate::prepare::grants::{Access, Grants, Source, is_within};

/// Links that are followed, as many as the kernel does (`MAXSYMLINKS`).
const MOST_LINKS: usize = 40;

/// Parts of a path that are walked one by one: more than a path of 4,096 bytes has.
const MOST_PARTS: usize = 4096;

/// Where a path leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Lead {
    /// The path without links.
    pub(super) path: PathBuf,
    pub(super) found: Found,
}

/// What is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    /// It is.
    There,
    /// Only the folder it would be in.
    Folder,
    /// Not even that.
    Nothing,
}

/// The sandbox's root, and what cannot change in it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Inside {
    root: Root,
    /// Folders of the system, which nobody inside can change: a path in them leads where it led.
    settled: Vec<PathBuf>,
}

impl Inside {
    pub(super) fn new(grants: &Grants) -> Self {
        let of_system = |path: &Path| {
            let grant = grants.deciding(path);
            grant.is_some_and(|grant| {
                grant.access == Access::Read && matches!(grant.source, Source::System | Source::Program(_))
            })
        };
        let grants_of_system = grants.all.iter().map(|grant| &grant.path).filter(|path| of_system(path));
        // Some are links on the host too, like /bin and /lib; those of the sandbox cannot be changed either.
        let links = grants.links.iter().filter(|(link, target)| {
            let target = link.parent().unwrap_or(Path::new("/")).join(target);
            grants.deciding(link).is_none() && of_system(&target)
        });
        let settled = grants_of_system.chain(links.map(|(link, _)| link)).cloned().collect();
        Self { root: Root::default(), settled }
    }

    /// Whether a path is the same later on, so that nobody has to wait while it is looked at.
    pub(super) fn is_settled(&self, path: &RawPath) -> bool {
        let text = &*path.text;
        text.first() == Some(&b'/')
            && !text.windows(3).any(|three| three == b"/..")
            && self.settled.iter().any(|settled| is_within(Path::new(OsStr::from_bytes(text)), settled))
    }

    /// Takes hold of the root while a process waits, so that it is there when that is gone.
    pub(super) fn hold(&self, pid: u32) {
        self.root.hold(pid);
    }

    /// Where a path leads now. `None` where no process could be asked for the root.
    pub(super) fn lead(&self, raw: &RawPath, actor: Option<&Actor>) -> Option<Lead> {
        if let Some(actor) = actor {
            self.hold(actor.pid);
        }
        let root = self.root.descriptor()?;
        // What a descriptor is of is there, whatever it is called by now.
        if raw.text.is_empty() {
            let path = raw.base.clone().map(OsString::from_vec).unwrap_or_default();
            let found = if raw.is_descriptor() { Found::There } else { Found::Nothing };
            return Some(Lead { path: path.into(), found });
        }
        let path = joined(raw);
        let own = actor.and_then(|actor| actor.inner_pid);
        let nofollow = if raw.follows { OFlags::empty() } else { OFlags::NOFOLLOW };
        if let Some(lead) = without_links(root, &path, nofollow) {
            return Some(lead);
        }
        match look(root, &path, nofollow) {
            Ok(there) => Some(Lead { path: name_of(&there)?, found: Found::There }),
            Err(Errno::NOENT) => {
                Some(absent(root, &path).unwrap_or_else(|| walk(root, &path, raw.follows, own)))
            }
            Err(_) => Some(walk(root, &path, raw.follows, own)),
        }
    }
}

fn joined(raw: &RawPath) -> PathBuf {
    let text = Path::new(OsStr::from_bytes(&raw.text));
    raw.base.as_deref().map_or(Path::new("/"), |base| Path::new(OsStr::from_bytes(base))).join(text)
}

/// Most paths have no link in them, and lead where they say: the kernel need not be asked for their name. `None` for all others.
fn without_links(root: &OwnedFd, path: &Path, flags: OFlags) -> Option<Lead> {
    let resolve = ResolveFlags::IN_ROOT | ResolveFlags::NO_SYMLINKS;
    let flags = OFlags::PATH | OFlags::CLOEXEC | flags;
    let is_there = |path: &Path| openat2(root, path, flags, Mode::empty(), resolve).map(drop);
    let found = match is_there(path) {
        Ok(()) => Found::There,
        // No part of it that is there is a link.
        Err(Errno::NOENT) if path.parent().is_some_and(|folder| is_there(folder).is_ok()) => Found::Folder,
        Err(Errno::NOENT) => Found::Nothing,
        Err(_) => return None,
    };
    Some(Lead { path: plain(path), found })
}

/// Without `.` and `..`, by their names.
pub(super) fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::from("/");
    for part in path.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            Component::Normal(part) => plain.push(part),
            _ => {}
        }
    }
    plain
}

fn look(root: &OwnedFd, path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    let flags = OFlags::PATH | OFlags::CLOEXEC | flags;
    openat2(root, path, flags, Mode::empty(), ResolveFlags::IN_ROOT)
}

/// What the kernel calls something that was opened here: its path from the root of the sandbox on.
fn name_of(file: &OwnedFd) -> Option<PathBuf> {
    let link = readlinkat(CWD, format!("/proc/self/fd/{}", file.as_raw_fd()), Vec::new()).ok()?;
    Some(PathBuf::from(OsString::from_vec(link.into_bytes())))
}

/// Most of what is not there is not there in a folder that is. `None` for everything else.
fn absent(root: &OwnedFd, path: &Path) -> Option<Lead> {
    let Some(Component::Normal(last)) = path.components().next_back() else { return None };
    // A link that leads nowhere is there.
    if look(root, path, OFlags::NOFOLLOW).err() != Some(Errno::NOENT) {
        return None;
    }
    let folder = look(root, path.parent()?, OFlags::DIRECTORY).ok()?;
    Some(Lead { path: name_of(&folder)?.join(last), found: Found::Folder })
}

/// One part after the other. Some links lead elsewhere for whoever asks: to a process's own files, and to what its descriptors are
/// of. And what is not there inside still has a name, which says what was wanted.
fn walk(root: &OwnedFd, path: &Path, follows: bool, own: Option<u32>) -> Lead {
    let follows = follows || path.as_os_str().as_bytes().ends_with(b"/");
    let mut done = PathBuf::from("/");
    let mut rest: VecDeque<OsString> = VecDeque::new();
    push(&mut rest, path);
    let mut found = Found::There;
    let (mut links, mut parts) = (0, 0);
    while let Some(part) = rest.pop_front() {
        parts += 1;
        if part == ".." {
            done.pop();
            continue;
        }
        let is_self = done == Path::new("/proc") && (part == "self" || part == "thread-self");
        match own.filter(|_| is_self) {
            Some(own) => done.push(own.to_string()),
            None => done.push(&part),
        }
        if found != Found::There || parts > MOST_PARTS {
            found = Found::Nothing;
            continue;
        }
        let Ok(here) = look(root, &done, OFlags::NOFOLLOW) else {
            found = if rest.is_empty() { Found::Folder } else { Found::Nothing };
            continue;
        };
        if rest.is_empty() && !follows {
            break;
        }
        let Ok(target) = readlinkat(&here, "", Vec::new()) else { continue };
        links += 1;
        if links > MOST_LINKS {
            found = Found::Nothing;
            continue;
        }
        let target = PathBuf::from(OsString::from_vec(target.into_bytes()));
        if is_of_process(&done) {
            // What it leads to is open, whatever its name is by now; pipes and sockets have none.
            if target.is_absolute() {
                done = target;
            }
            if rest.is_empty() {
                break;
            }
            continue;
        }
        done.pop();
        if target.is_absolute() {
            done = PathBuf::from("/");
        }
        push(&mut rest, &target);
    }
    Lead { path: done, found }
}

/// Puts the parts of a path before those that are left.
fn push(rest: &mut VecDeque<OsString>, path: &Path) {
    let parts = path.components().filter_map(|part| match part {
        Component::Normal(part) => Some(part.to_owned()),
        Component::ParentDir => Some("..".into()),
        _ => None,
    });
    for part in parts.collect::<Vec<_>>().into_iter().rev() {
        rest.push_front(part);
    }
}

/// Whether a link is one of those in a process's folder, which lead to the thing itself and not to its name.
fn is_of_process(path: &Path) -> bool {
    let mut parts = path.components().skip(1).map(|part| part.as_os_str().as_bytes());
    parts.next() == Some(b"proc")
        && parts.next().is_some_and(|number| !number.is_empty() && number.iter().all(u8::is_ascii_digit))
        && parts.next().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    use rustix::fs::openat;

    /// A folder as a root, with links in it.
    fn root() -> (tempfile::TempDir, Inside) {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir_all(at("a/b")).unwrap();
        std::fs::write(at("a/file"), "").unwrap();
        for (text, name) in
            [("/a/b", "deep"), ("loop", "loop"), ("../a/file", "a/up"), ("/none/x", "gone"), ("/", "a/root")]
        {
            std::os::unix::fs::symlink(text, at(name)).unwrap();
        }
        let root = openat(CWD, folder.path(), OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).unwrap();
        (folder, Inside { root: Root::of(root), settled: vec!["/usr".into()] })
    }

    #[test]
    fn paths_lead_where_the_kernel_would_go() {
        let (folder, inside) = root();
        let top = folder.path().canonicalize().unwrap();
        for (text, follows, expected, found) in [
            ("/a/file", true, "/a/file", Found::There),
            ("/a/up", true, "/a/file", Found::There),
            ("/a/up", false, "/a/up", Found::There),
            ("/deep/../file", true, "/a/file", Found::There),
            ("/deep/../other", true, "/a/other", Found::Folder),
            ("/gone", true, "/none/x", Found::Nothing),
            ("/gone/y/z", true, "/none/x/y/z", Found::Nothing),
            ("/a/root/home/u/.ssh/id", true, "/home/u/.ssh/id", Found::Nothing),
            ("/a/root/etc", true, "/etc", Found::Folder),
            ("/../../a/file", true, "/a/file", Found::There),
        ] {
            let raw = RawPath::new(text.into(), None, follows, false);
            let lead = inside.lead(&raw, None).unwrap();
            // What is there is called by the kernel, which knows where this root is.
            let path =
                lead.path.strip_prefix(&top).map_or(lead.path.clone(), |rest| Path::new("/").join(rest));
            assert_eq!((path.as_path(), lead.found), (Path::new(expected), found), "{text}");
        }
        let looped = inside.lead(&RawPath::new("/loop".into(), None, true, false), None).unwrap();
        assert_eq!(looped.found, Found::Nothing);
    }

    #[test]
    fn only_what_nobody_can_change_is_settled() {
        let (_folder, inside) = root();
        for (text, expected) in [
            ("/usr/lib/x", true),
            ("/usr", true),
            ("/usr/../tmp/x", false),
            ("/usr/lib/..", false),
            ("/usrx", false),
            ("/tmp/x", false),
            ("usr/lib", false),
        ] {
            let raw = RawPath::new(text.into(), None, true, false);
            assert_eq!(inside.is_settled(&raw), expected, "{text}");
        }
    }
}
