//! The few system calls, one function each.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

/// File system number of procfs (`PROC_SUPER_MAGIC`, statfs(2)).
const PROC_SUPER_MAGIC: u64 = 0x9fa0;

/// Flags for looking at something without opening it.
pub(crate) const LOOK: OFlags = OFlags::PATH.union(OFlags::CLOEXEC);

/// `openat2(2)` that meets no link at all and cannot leave `root`, by `..` or otherwise, even while folders are moved.
///
/// Where links are on the way it fails with `ELOOP`, and the walk decides.
pub(crate) fn open_beneath(
    root: &OwnedFd,
    path: &[u8],
    flags: OFlags,
    mode: Mode,
) -> rustix::io::Result<OwnedFd> {
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS | ResolveFlags::NO_SYMLINKS;
    rustix::fs::openat2(root, if path.is_empty() { b"." } else { path }, flags, mode, resolve)
}

/// Whether the kernel has `openat2` (5.6) and no filter forbids it: old container runtimes answer `EPERM` for calls they do not know.
pub(crate) fn has_openat2(root: &OwnedFd) -> bool {
    open_beneath(root, b".", LOOK, Mode::empty()).is_ok()
}

/// Opens one name in a folder, without following it if it is a link.
pub(crate) fn open_name(
    dir: BorrowedFd<'_>,
    name: &[u8],
    flags: OFlags,
    mode: Mode,
) -> rustix::io::Result<OwnedFd> {
    retried(|| rustix::fs::openat(dir, name, flags | OFlags::NOFOLLOW | OFlags::CLOEXEC, mode))
}

pub(crate) fn kind(fd: &OwnedFd) -> rustix::io::Result<FileType> {
    Ok(FileType::from_raw_mode(rustix::fs::fstat(fd)?.st_mode))
}

/// Where a link that is held open leads.
pub(crate) fn read_link(link: &OwnedFd) -> rustix::io::Result<Vec<u8>> {
    Ok(rustix::fs::readlinkat(link, c"", Vec::new())?.into_bytes())
}

/// Whether something lies on procfs, whose links lead wherever a process has something open, whatever they read as.
pub(crate) fn is_on_procfs(fd: impl AsFd) -> rustix::io::Result<bool> {
    #[allow(clippy::cast_sign_loss, clippy::unnecessary_cast, clippy::useless_conversion)]
    // its type differs by architecture
    Ok(rustix::fs::fstatfs(fd)?.f_type as u64 == PROC_SUPER_MAGIC)
}

pub(crate) fn make_dir(dir: BorrowedFd<'_>, name: &[u8], mode: Mode) -> rustix::io::Result<()> {
    rustix::fs::mkdirat(dir, name, mode)
}

pub(crate) fn unlink(dir: BorrowedFd<'_>, name: &[u8], is_dir: bool) -> rustix::io::Result<()> {
    rustix::fs::unlinkat(dir, name, if is_dir { AtFlags::REMOVEDIR } else { AtFlags::empty() })
}

pub(crate) fn rename(from: (BorrowedFd<'_>, &[u8]), to: (BorrowedFd<'_>, &[u8])) -> rustix::io::Result<()> {
    rustix::fs::renameat(from.0, from.1, to.0, to.1)
}

/// Opening a slow device may be interrupted by a signal; it is tried a bounded number of times.
fn retried<T>(mut call: impl FnMut() -> rustix::io::Result<T>) -> rustix::io::Result<T> {
    for _ in 0..16 {
        match call() {
            Err(Errno::INTR) => {}
            other => return other,
        }
    }
    Err(Errno::INTR)
}
