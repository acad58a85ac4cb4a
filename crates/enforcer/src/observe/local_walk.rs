//! Looks a path up without asking anybody but this kernel: it never enters a file system that another machine, a daemon or a program
//! answers for. The names are a skill's to choose, and whoever is asked for them is told them.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{Mode, OFlags, ResolveFlags, openat2, readlinkat};
use rustix::io::Errno;

use super::mount_table::MountTable;

/// Links that are followed, as many as the kernel does (`MAXSYMLINKS`).
const MOST_LINKS: usize = 40;

/// Parts of a path that are walked: more than a path of 4,096 bytes has, and all that links can add.
const MOST_PARTS: usize = 8192;

/// How far a walk came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WalkEnd {
    /// To the end, or to something that is not for us to look into.
    There,
    /// There is no such thing.
    Absent,
    /// To a file system that would ask somebody else.
    NotLocal,
}

/// Walks a path from a root. The last part is not followed if it is a link.
pub(super) fn walk(root: BorrowedFd<'_>, mounts: &mut MountTable, path: &Path) -> WalkEnd {
    let mut done = PathBuf::from("/");
    let mut folders: Vec<OwnedFd> = Vec::new();
    let mut rest: VecDeque<OsString> = parts(path).collect();
    let (mut links, mut count) = (0, 0);
    while let Some(part) = rest.pop_front() {
        count += 1;
        if count > MOST_PARTS {
            return WalkEnd::NotLocal;
        }
        if part == ".." {
            done.pop();
            folders.pop();
            continue;
        }
        done.push(&part);
        // What is mounted here is known before it is touched; what was mounted since is not entered.
        let flags = match mounts.is_local_mount(&done) {
            Some(false) => return WalkEnd::NotLocal,
            Some(true) => ResolveFlags::empty(),
            None => ResolveFlags::NO_XDEV,
        };
        let folder = folders.last().map_or(root, |folder| folder.as_fd());
        // Without O_DIRECTORY, this triggers no automount (path_resolution(7), open(2)).
        let open = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let here = match openat2(folder, &part, open, Mode::empty(), flags | ResolveFlags::NO_MAGICLINKS) {
            Ok(here) => here,
            Err(Errno::NOENT | Errno::NOTDIR | Errno::NAMETOOLONG) => return WalkEnd::Absent,
            Err(Errno::XDEV) => return WalkEnd::NotLocal,
            Err(_) => return WalkEnd::There,
        };
        if rest.is_empty() {
            return WalkEnd::There;
        }
        match readlinkat(&here, "", Vec::new()) {
            Ok(target) => {
                links += 1;
                if links > MOST_LINKS {
                    return WalkEnd::Absent;
                }
                let target = PathBuf::from(OsString::from_vec(target.into_bytes()));
                done.pop();
                if target.is_absolute() {
                    done = PathBuf::from("/");
                    folders.clear();
                }
                for part in parts(&target).collect::<Vec<_>>().into_iter().rev() {
                    rest.push_front(part);
                }
            }
            Err(_) => folders.push(here),
        }
    }
    WalkEnd::There
}

fn parts(path: &Path) -> impl Iterator<Item = OsString> + '_ {
    path.components().filter_map(|part| match part {
        Component::Normal(part) => Some(part.to_owned()),
        Component::ParentDir => Some("..".into()),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    use rustix::fs::{CWD, openat};

    #[test]
    fn a_walk_goes_where_the_kernel_would_and_stops_where_others_answer() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        std::fs::create_dir_all(top.join("a/b")).unwrap();
        std::fs::write(top.join("a/file"), "").unwrap();
        std::os::unix::fs::symlink("../a/file", top.join("a/link")).unwrap();
        std::os::unix::fs::symlink(top.join("a"), top.join("abs")).unwrap();
        std::os::unix::fs::symlink("loop", top.join("loop")).unwrap();
        let root = openat(CWD, "/", OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).unwrap();
        let mut mounts = MountTable::of("thread-self").unwrap();
        for (path, expected) in [
            ("a/file", WalkEnd::There),
            ("a/link", WalkEnd::There),
            ("abs/b/../link", WalkEnd::There),
            ("abs/none", WalkEnd::Absent),
            ("a/file/x", WalkEnd::Absent),
            ("loop", WalkEnd::There),
            ("loop/x", WalkEnd::Absent),
            ("none/x", WalkEnd::Absent),
        ] {
            assert_eq!(walk(root.as_fd(), &mut mounts, &top.join(path)), expected, "{path}");
        }
        assert_eq!(walk(root.as_fd(), &mut mounts, Path::new("/proc/self/status")), WalkEnd::There);
    }
}
