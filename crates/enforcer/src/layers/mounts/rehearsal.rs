//! Overlays, copies and fresh folders: where a rehearsal writes. Their content is in the private file system, and goes with the run.
//!
//! An overlay shows a folder of the host and keeps what is written above it (Documentation/filesystems/overlayfs.rst; in a user namespace
//! since Linux 5.11). Single files cannot be layers, so they are copied.

use std::ffi::{CStr, CString};
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd};

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags};
use rustix::mount::{
    FsMountFlags, FsOpenFlags, OpenTreeFlags, fsconfig_create, fsconfig_set_flag, fsconfig_set_string,
    fsmount, fsopen, open_tree,
};

use super::{attach, attribute_flags, open_in};
use crate::sys;
use crate::sys::mount::{AttributeReach, set_attributes};

/// Where something of a rehearsal is kept: its folder in the private file system.
#[derive(Debug)]
pub(super) struct RehearsalStore {
    folder: CString,
    upper: CString,
    work: CString,
    content: CString,
}

/// The folder of the private file system that holds all of them. It is mounted nowhere.
pub(super) const STORES: &CStr = c"rehearsal";

impl RehearsalStore {
    /// The one of this number. Made in the parent, where memory may be allocated.
    pub(super) fn new(number: usize) -> Self {
        let part = |rest: &str| {
            let path = format!("{}/{number}{rest}", STORES.to_str().unwrap_or_default());
            CString::new(path).unwrap_or_default()
        };
        Self { folder: part(""), upper: part("/upper"), work: part("/work"), content: part("/content") }
    }

    /// Shows a folder of the host, and takes what is written.
    pub(super) fn overlay(
        &self,
        source: &CStr,
        identity: (u64, u64),
        target: &CStr,
        attributes: u64,
        root: BorrowedFd<'_>,
        private: BorrowedFd<'_>,
    ) -> sys::Result<()> {
        let lower = open_known(source, identity)?;
        let folder = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        rustix::fs::mkdirat(private, self.folder.as_c_str(), Mode::RWXU)?;
        for part in [&self.upper, &self.work] {
            rustix::fs::mkdirat(private, part.as_c_str(), Mode::RWXU)?;
        }
        let upper = rustix::fs::openat(private, self.upper.as_c_str(), folder, Mode::empty())?;
        let work = rustix::fs::openat(private, self.work.as_c_str(), folder, Mode::empty())?;
        let context = fsopen(c"overlay", FsOpenFlags::FSOPEN_CLOEXEC)?;
        for (key, place) in [(c"lowerdir", &lower), (c"upperdir", &upper), (c"workdir", &work)] {
            let path = DescriptorPath::of(place);
            fsconfig_set_string(context.as_fd(), key, path.as_c_str())?;
        }
        // Attributes of its own that an ordinary user may set.
        fsconfig_set_flag(context.as_fd(), c"userxattr")?;
        fsconfig_create(context.as_fd())?;
        let mount = fsmount(context.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, attribute_flags(attributes))?;
        set_attributes(mount.as_fd(), attributes, AttributeReach::One)?;
        attach(mount.as_fd(), root, target)
    }

    /// Puts a copy of a file of the host in its place.
    pub(super) fn copy(
        &self,
        source: &CStr,
        identity: (u64, u64),
        target: &CStr,
        attributes: u64,
        root: BorrowedFd<'_>,
        private: BorrowedFd<'_>,
    ) -> sys::Result<()> {
        let place = open_known(source, identity)?;
        let path = DescriptorPath::of(&place);
        let from = rustix::fs::openat(CWD, path.as_c_str(), OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
        rustix::fs::mkdirat(private, self.folder.as_c_str(), Mode::RWXU)?;
        let new = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode(rustix::fs::fstat(&place)?.st_mode & 0o777) | Mode::RUSR | Mode::WUSR;
        let to = rustix::fs::openat(private, self.content.as_c_str(), new, mode)?;
        // The private file system has an end, so this has one.
        while rustix::fs::sendfile(&to, &from, None, 1 << 20)? > 0 {}
        self.attach_content(target, attributes, root, private)
    }

    /// Puts an empty folder in place.
    pub(super) fn fresh(
        &self,
        target: &CStr,
        attributes: u64,
        root: BorrowedFd<'_>,
        private: BorrowedFd<'_>,
    ) -> sys::Result<()> {
        rustix::fs::mkdirat(private, self.folder.as_c_str(), Mode::RWXU)?;
        rustix::fs::mkdirat(private, self.content.as_c_str(), Mode::from_raw_mode(0o755))?;
        self.attach_content(target, attributes, root, private)
    }

    fn attach_content(
        &self,
        target: &CStr,
        attributes: u64,
        root: BorrowedFd<'_>,
        private: BorrowedFd<'_>,
    ) -> sys::Result<()> {
        let clone = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
        let tree = open_tree(private, self.content.as_c_str(), clone)?;
        set_attributes(tree.as_fd(), attributes, AttributeReach::One)?;
        attach(tree.as_fd(), root, target)
    }
}

/// Makes a folder below an overlay. No link is followed on the way: an absolute one would still lead to the host's root here.
pub(super) fn make_below(root: BorrowedFd<'_>, parent: &CStr, name: &CStr) -> sys::Result<()> {
    let place = open_in(root, parent)?;
    Ok(rustix::fs::mkdirat(&place, name, Mode::from_raw_mode(0o755))?)
}

/// What the parent saw at a path, provided that it is still there.
fn open_known(source: &CStr, identity: (u64, u64)) -> sys::Result<OwnedFd> {
    let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let place = rustix::fs::openat2(CWD, source, OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), resolve)?;
    let found = rustix::fs::fstat(&place)?;
    if (found.st_dev, found.st_ino) == identity { Ok(place) } else { Err(sys::Errno(libc::ESTALE)) }
}

/// The path of a descriptor, made without allocating: what stands there cannot be exchanged, unlike what a name leads to.
struct DescriptorPath([u8; 32]);

impl DescriptorPath {
    const FOLDER: &[u8] = b"/proc/self/fd/";

    fn of(descriptor: &OwnedFd) -> Self {
        let mut digits = [0_u8; 10];
        let mut count = 0;
        let mut rest = descriptor.as_raw_fd().unsigned_abs();
        for place in digits.iter_mut().rev() {
            *place = b'0' + u8::try_from(rest % 10).unwrap_or(0);
            rest /= 10;
            count += 1;
            if rest == 0 {
                break;
            }
        }
        let mut path = [0; 32];
        let number = digits.iter().skip(digits.len() - count);
        for (place, byte) in path.iter_mut().zip(Self::FOLDER.iter().chain(number)) {
            *place = *byte;
        }
        Self(path)
    }

    fn as_c_str(&self) -> &CStr {
        CStr::from_bytes_until_nul(&self.0).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_descriptor_is_named_by_its_number() {
        let file: OwnedFd = std::fs::File::open("/dev/null").unwrap().into();
        let path = DescriptorPath::of(&file);
        assert_eq!(path.as_c_str().to_str().unwrap(), format!("/proc/self/fd/{}", file.as_raw_fd()));
    }
}
