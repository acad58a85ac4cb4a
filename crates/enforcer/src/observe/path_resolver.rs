//! Resolves a path inside the sandbox from outside, as the kernel would walk it, with its links.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat, openat2, readlinkat};
use rustix::io::Errno;

use super::Actor;
use super::mount_table::mount_number;
use super::sandbox_root::{MountPlace, SandboxRoot};
use super::syscall_record::CallerPath;
use crate::plan::PathAccess;
use crate::prepare::grants::{GrantSource, Grants, is_within};

/// Links that are followed, as many as the kernel does (`MAXSYMLINKS`).
const MOST_LINKS: usize = 40;

/// Parts of a path that are walked one by one: more than a path of 4,096 bytes has.
const MOST_PARTS: usize = 4096;

/// Where a path leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ResolvedPath {
    /// The path without links.
    pub(super) path: PathBuf,
    pub(super) found: PathPresence,
    /// The number of the mount that it, or the folder it would be in, lies on, where that is known.
    pub(super) mount: Option<u64>,
}

/// What is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PathPresence {
    /// It is.
    There,
    /// Only the folder it would be in.
    Folder,
    /// Not even that.
    Nothing,
    /// It was not looked up: somebody else would have been asked for it.
    NotAsked,
    /// It begins in a folder that was removed, and what has the name of that folder now is another.
    Unnamed,
}

/// The sandbox's root, and what cannot change in it.
#[derive(Debug, Clone, Default)]
pub(crate) struct SandboxPathResolver {
    root: SandboxRoot,
    /// Folders of the system, which nobody inside can change: a path in them leads where it led.
    settled: Vec<PathBuf>,
}

impl SandboxPathResolver {
    pub(super) fn new(grants: &Grants) -> Self {
        let of_system = |path: &Path| {
            let grant = grants.deciding_grant(path);
            grant.is_some_and(|grant| {
                grant.access == PathAccess::Read
                    && matches!(grant.source, GrantSource::System | GrantSource::Program(_))
            })
        };
        let grants_of_system = grants.all.iter().map(|grant| &grant.path).filter(|path| of_system(path));
        // Some are links on the host too, like /bin and /lib; those of the sandbox cannot be changed either.
        let links = grants.links.iter().filter(|(link, target)| {
            let target = link.parent().unwrap_or(Path::new("/")).join(target);
            grants.deciding_grant(link).is_none() && of_system(&target)
        });
        let settled = grants_of_system.chain(links.map(|(link, _)| link)).cloned().collect();
        Self { root: SandboxRoot::default(), settled }
    }

    /// Whether a path is the same later on, so that nobody has to wait while it is looked at.
    pub(super) fn is_settled(&self, path: &CallerPath) -> bool {
        let text = &*path.text;
        text.first() == Some(&b'/')
            && !text.windows(3).any(|three| three == b"/..")
            && self.settled.iter().any(|settled| is_within(Path::new(OsStr::from_bytes(text)), settled))
    }

    /// Where a mount of the sandbox is, by its number.
    pub(super) fn mount_place(&self, number: u64) -> Option<MountPlace<'_>> {
        self.root.mount_place(number)
    }

    /// Whether a path lay on the mount of this place when the run began.
    pub(super) fn was_on_mount(&self, path: &Path, place: &Path) -> bool {
        self.root.was_on_mount(path, place)
    }

    /// Whether there is a folder at a path without links, as far as that can be found out without asking anybody else.
    pub(super) fn is_folder(&self, path: &Path) -> bool {
        let Some(root) = self.root.descriptor().filter(|_| self.root.is_local(path)) else { return false };
        open_path(root, path, OFlags::NOFOLLOW | OFlags::DIRECTORY).is_ok()
    }

    /// The root that is held open, shared.
    pub(super) fn root(&self) -> SandboxRoot {
        self.root.clone()
    }

    /// Opens the root while a process waits, so that it is there when the process is gone.
    pub(super) fn hold_root(&self, pid: u32) {
        self.root.hold_of(pid);
    }

    /// Where a path leads now. `None` where no process could be asked for the root.
    pub(super) fn resolve(&self, raw: &CallerPath, actor: Option<&Actor>) -> Option<ResolvedPath> {
        if let Some(actor) = actor {
            self.hold_root(actor.pid);
        }
        let root = self.root.descriptor()?;
        // What a descriptor is of is there, whatever it is called by now.
        if raw.text.is_empty() {
            let path = PathBuf::from(raw.base.clone().map(OsString::from_vec).unwrap_or_default());
            if !raw.is_descriptor() {
                return Some(ResolvedPath { path, found: PathPresence::Nothing, mount: None });
            }
            let by_name = path.is_absolute() && self.root.is_local(&path);
            let named =
                by_name.then(|| resolve_without_links(root, &path, OFlags::NOFOLLOW, ResolveFlags::empty()));
            let named = named.and_then(Result::ok);
            let mount =
                named.filter(|named| named.found == PathPresence::There).and_then(|named| named.mount);
            return Some(ResolvedPath { path, found: PathPresence::There, mount });
        }
        let path = join_base(raw);
        let nofollow = if raw.follows { OFlags::empty() } else { OFlags::NOFOLLOW };
        let mut has_link = false;
        // Nearly always the kernel knows all of a path already, and nobody can be asked for it, whatever was mounted since.
        if self.root.was_local() && !begins_removed(raw) {
            match resolve_without_links(root, &path, nofollow, ResolveFlags::CACHED) {
                Ok(resolved) => return Some(resolved),
                Err(errno) => has_link = errno == Errno::LOOP,
            }
        }
        if !self.root.is_local(&path) {
            return Some(ResolvedPath { path: normalise(&path), found: PathPresence::NotAsked, mount: None });
        }
        if begins_nowhere(root, raw) {
            // There is nothing in it, and nothing can be made; but one can go up from it, to where it was.
            let text = Path::new(OsStr::from_bytes(&raw.text));
            let stays =
                text.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
                    && text.components().any(|part| matches!(part, Component::Normal(_)));
            let found = if stays { PathPresence::Nothing } else { PathPresence::Unnamed };
            return Some(ResolvedPath { path: normalise(&path), found, mount: None });
        }
        let own = actor.and_then(|actor| actor.inner_pid);
        if !has_link && let Ok(resolved) = resolve_without_links(root, &path, nofollow, ResolveFlags::empty())
        {
            return Some(resolved);
        }
        match open_path(root, &path, nofollow) {
            Ok(there) => {
                let (path, mount) = (name_of(&there)?, mount_number(&there));
                Some(ResolvedPath { path, found: PathPresence::There, mount })
            }
            Err(Errno::NOENT) => {
                Some(resolve_absent(root, &path).unwrap_or_else(|| walk_parts(root, &path, raw.follows, own)))
            }
            Err(_) => Some(walk_parts(root, &path, raw.follows, own)),
        }
    }
}

pub(super) fn join_base(raw: &CallerPath) -> Cow<'_, Path> {
    let text = Path::new(OsStr::from_bytes(&raw.text));
    if text.is_absolute() {
        return Cow::Borrowed(text);
    }
    let base = raw.base.as_deref().map_or(Path::new("/"), |base| Path::new(OsStr::from_bytes(base)));
    Cow::Owned(base.join(text))
}

/// What the kernel puts behind the name of something that has none any more (`d_path`).
pub(super) const REMOVED: &[u8] = b" (deleted)";

/// Whether a path begins in a folder whose name looks as if it was removed.
fn begins_removed(raw: &CallerPath) -> bool {
    let is_relative = raw.text.first() != Some(&b'/');
    is_relative && raw.base.as_deref().is_some_and(|base| base.ends_with(REMOVED))
}

/// Whether a path begins in a folder that was removed, and by whose name another is found. The name of a folder has no link in it; with
/// one, it leads elsewhere than the folder does.
fn begins_nowhere(root: &OwnedFd, raw: &CallerPath) -> bool {
    let Some(base) = raw.base.as_deref().filter(|_| begins_removed(raw)) else { return false };
    let resolve = ResolveFlags::IN_ROOT | ResolveFlags::NO_SYMLINKS;
    let flags = OFlags::PATH | OFlags::CLOEXEC | OFlags::DIRECTORY;
    openat2(root, Path::new(OsStr::from_bytes(base)), flags, Mode::empty(), resolve).is_err()
}

/// Most paths have no link in them, and lead where they say: the kernel need not be asked for their name. An error for all others:
/// `LOOP` where there is a link, `AGAIN` where the kernel knows only a part of the path and was to ask nobody ([`ResolveFlags::CACHED`]).
fn resolve_without_links(
    root: &OwnedFd,
    path: &Path,
    flags: OFlags,
    also: ResolveFlags,
) -> Result<ResolvedPath, Errno> {
    let resolve = ResolveFlags::IN_ROOT | ResolveFlags::NO_SYMLINKS | also;
    let flags = OFlags::PATH | OFlags::CLOEXEC | flags;
    let open = |path: &Path| openat2(root, path, flags, Mode::empty(), resolve);
    let (found, mount) = match open(path) {
        Ok(there) => (PathPresence::There, mount_number(&there)),
        // No part of it that is there is a link.
        Err(Errno::NOENT) => match path.parent().map(open) {
            Some(Ok(folder)) => (PathPresence::Folder, mount_number(&folder)),
            Some(Err(errno @ Errno::AGAIN)) => return Err(errno),
            _ => (PathPresence::Nothing, None),
        },
        Err(errno) => return Err(errno),
    };
    Ok(ResolvedPath { path: normalise(path), found, mount })
}

/// Without `.` and `..`, by their names.
pub(super) fn normalise(path: &Path) -> PathBuf {
    if is_normal(path.as_os_str().as_bytes()) {
        return path.to_owned();
    }
    let mut normal = PathBuf::from("/");
    for part in path.components() {
        match part {
            Component::ParentDir => {
                normal.pop();
            }
            Component::Normal(part) => normal.push(part),
            _ => {}
        }
    }
    normal
}

/// Whether a path is written as [`normalise`] writes it.
fn is_normal(path: &[u8]) -> bool {
    let mut parts = path.strip_prefix(b"/").into_iter().flat_map(|rest| rest.split(|byte| *byte == b'/'));
    path == b"/"
        || (path.starts_with(b"/") && parts.all(|part| !part.is_empty() && part != b"." && part != b".."))
}

fn open_path(root: &OwnedFd, path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    let flags = OFlags::PATH | OFlags::CLOEXEC | flags;
    openat2(root, path, flags, Mode::empty(), ResolveFlags::IN_ROOT)
}

/// What the kernel calls something that was opened here: its path from the root of the sandbox on.
fn name_of(file: &OwnedFd) -> Option<PathBuf> {
    let link = readlinkat(CWD, format!("/proc/self/fd/{}", file.as_raw_fd()), Vec::new()).ok()?;
    Some(PathBuf::from(OsString::from_vec(link.into_bytes())))
}

/// Most of what is not there is not there in a folder that is. `None` for everything else.
fn resolve_absent(root: &OwnedFd, path: &Path) -> Option<ResolvedPath> {
    let Some(Component::Normal(last)) = path.components().next_back() else { return None };
    // A link that leads nowhere is there.
    if open_path(root, path, OFlags::NOFOLLOW).err() != Some(Errno::NOENT) {
        return None;
    }
    let folder = open_path(root, path.parent()?, OFlags::DIRECTORY).ok()?;
    let mount = mount_number(&folder);
    Some(ResolvedPath { path: name_of(&folder)?.join(last), found: PathPresence::Folder, mount })
}

/// One part after the other. Some links lead elsewhere for each process: to a process's own files, and to what its descriptors are
/// of. And what is not there inside still has a name, which says what was wanted.
fn walk_parts(root: &OwnedFd, path: &Path, follows: bool, own: Option<u32>) -> ResolvedPath {
    let follows = follows || path.as_os_str().as_bytes().ends_with(b"/");
    let mut done = PathBuf::from("/");
    let mut rest: VecDeque<OsString> = VecDeque::new();
    push_parts(&mut rest, path);
    let mut found = PathPresence::There;
    let (mut links, mut parts) = (0, 0);
    let mut mount = None;
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
        if found != PathPresence::There || parts > MOST_PARTS {
            found = PathPresence::Nothing;
            continue;
        }
        let Ok(here) = open_path(root, &done, OFlags::NOFOLLOW) else {
            found = if rest.is_empty() { PathPresence::Folder } else { PathPresence::Nothing };
            continue;
        };
        mount = mount_number(&here);
        if rest.is_empty() && !follows {
            break;
        }
        let Ok(target) = readlinkat(&here, "", Vec::new()) else { continue };
        links += 1;
        if links > MOST_LINKS {
            found = PathPresence::Nothing;
            continue;
        }
        let target = PathBuf::from(OsString::from_vec(target.into_bytes()));
        if is_process_link(&done) {
            mount = None;
            // What it leads to is open, whatever its name is by now; pipes and sockets have none.
            if target.is_absolute() {
                mount = follow_process_link(root, &done).and_then(|there| mount_number(&there));
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
        push_parts(&mut rest, &target);
    }
    // What is not there lies on no mount.
    let mount = mount.filter(|_| matches!(found, PathPresence::There | PathPresence::Folder));
    ResolvedPath { path: done, found, mount }
}

/// What a link in a process's folder leads to. It is open already, and no part before the last is a link.
fn follow_process_link(root: &OwnedFd, link: &Path) -> Option<OwnedFd> {
    let relative = link.strip_prefix("/").ok()?;
    openat(root, relative, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).ok()
}

/// Puts the parts of a path before those that are left.
fn push_parts(rest: &mut VecDeque<OsString>, path: &Path) {
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
fn is_process_link(path: &Path) -> bool {
    let mut parts = path.components().skip(1).map(|part| part.as_os_str().as_bytes());
    parts.next() == Some(b"proc")
        && parts.next().is_some_and(|number| !number.is_empty() && number.iter().all(u8::is_ascii_digit))
        && parts.next().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder as a root, with links in it.
    fn root() -> (tempfile::TempDir, SandboxPathResolver) {
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
        (folder, SandboxPathResolver { root: SandboxRoot::of(root), settled: vec!["/usr".into()] })
    }

    #[test]
    fn paths_lead_where_the_kernel_would_go() {
        let (folder, resolver) = root();
        let top = folder.path().canonicalize().unwrap();
        for (text, follows, expected, found) in [
            ("/a/file", true, "/a/file", PathPresence::There),
            ("/a/up", true, "/a/file", PathPresence::There),
            ("/a/up", false, "/a/up", PathPresence::There),
            ("/deep/../file", true, "/a/file", PathPresence::There),
            ("/deep/../other", true, "/a/other", PathPresence::Folder),
            ("/gone", true, "/none/x", PathPresence::Nothing),
            ("/gone/y/z", true, "/none/x/y/z", PathPresence::Nothing),
            ("/a/root/home/u/.ssh/id", true, "/home/u/.ssh/id", PathPresence::Nothing),
            ("/a/root/etc", true, "/etc", PathPresence::Folder),
            ("/../../a/file", true, "/a/file", PathPresence::There),
        ] {
            let raw = CallerPath::new(text.into(), None, follows, false);
            let answer = resolver.resolve(&raw, None).unwrap();
            // What is there is called by the kernel, which knows where this root is.
            let path =
                answer.path.strip_prefix(&top).map_or(answer.path.clone(), |rest| Path::new("/").join(rest));
            assert_eq!((path.as_path(), answer.found), (Path::new(expected), found), "{text}");
        }
        let looped = resolver.resolve(&CallerPath::new("/loop".into(), None, true, false), None).unwrap();
        assert_eq!(looped.found, PathPresence::Nothing);
    }

    #[test]
    fn what_is_normal_is_left_as_it_is() {
        for (text, expected, normal) in [
            ("/", "/", true),
            ("/a/b", "/a/b", true),
            ("/a/..b/.c", "/a/..b/.c", true),
            ("/a/", "/a", false),
            ("//a", "/a", false),
            ("/a//b", "/a/b", false),
            ("/a/./b", "/a/b", false),
            ("/a/../b", "/b", false),
            ("/..", "/", false),
            ("a", "/a", false),
            ("", "/", false),
        ] {
            assert_eq!(is_normal(text.as_bytes()), normal, "{text}");
            assert_eq!(normalise(Path::new(text)).as_os_str(), expected, "{text}");
        }
    }

    /// The kernel is asked to ask nobody; what it does not know then is looked up as before, and comes to the same.
    #[test]
    fn a_path_leads_to_the_same_whether_the_kernel_knows_it_or_not() {
        let (folder, resolver) = root();
        let root = resolver.root.descriptor().unwrap();
        for text in ["/a/file", "/a/b/absent", "/a/absent/file", "/a/./b/../file", "/"] {
            let plain = resolve_without_links(root, Path::new(text), OFlags::empty(), ResolveFlags::empty());
            let cached = resolve_without_links(root, Path::new(text), OFlags::empty(), ResolveFlags::CACHED);
            assert_eq!(cached, plain, "{text}");
        }
        let linked = resolve_without_links(root, Path::new("/deep"), OFlags::empty(), ResolveFlags::CACHED);
        assert_eq!(linked, Err(Errno::LOOP));
        // A folder that nobody has looked into: what is in it is not known yet.
        let fresh = folder.path().join("fresh");
        std::fs::create_dir(&fresh).unwrap();
        let raw = CallerPath::new("/fresh/never".into(), None, true, false);
        assert_eq!(resolver.resolve(&raw, None).unwrap().found, PathPresence::Folder);
    }

    #[test]
    fn only_what_nobody_can_change_is_settled() {
        let (_folder, resolver) = root();
        for (text, expected) in [
            ("/usr/lib/x", true),
            ("/usr", true),
            ("/usr/../tmp/x", false),
            ("/usr/lib/..", false),
            ("/usrx", false),
            ("/tmp/x", false),
            ("usr/lib", false),
        ] {
            let raw = CallerPath::new(text.into(), None, true, false);
            assert_eq!(resolver.is_settled(&raw), expected, "{text}");
        }
    }
}
