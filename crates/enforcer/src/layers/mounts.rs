//! A root of its own: what was not granted does not exist.
//!
//! The new root is a small tmpfs. The host's folders are cloned into it by the mount interface of Linux 5.12 (`open_tree`,
//! `mount_setattr`, `move_mount`): attributes are set on the detached clone, on all its submounts, before anybody can reach
//! it. Then `pivot_root`, and the host's root is detached. The older `mount(2)` cannot make submounts read-only in one step;
//! there is no fallback to it (docs/adr/0007).

mod layout;
mod proc_files;
mod rehearsal;

use std::ffi::{CStr, CString};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags};
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MoveMountFlags, OpenTreeFlags, UnmountFlags, fsconfig_create,
    fsconfig_set_string, fsmount, fsopen, move_mount, open_tree, unmount,
};

use crate::child::step::{AtStep as _, SetupStep, StepResult};
use crate::layers::settings::KernelSettings;
use crate::sys;
use crate::sys::mount::{AttributeReach, NODEV, NOEXEC, NOSUID, RDONLY, set_attributes};

use rehearsal::RehearsalStore;

pub(crate) use layout::{HOME, ID, NAME, PRIVATE, RUNTIME_DIR, TMP};

/// Where the private file system is mounted, out of everybody's sight: see [`MountsLayer::mount_private`].
const STAGE: &CStr = c"run";

/// All that the child does to make its root.
#[derive(Debug)]
pub(crate) struct MountsLayer {
    operations: Vec<MountOperation>,
    /// `size=` of the private file system, in bytes.
    private_size: CString,
    private_attributes: u64,
    workdir: CString,
    settings: KernelSettings,
}

/// One thing put in place. Targets are relative to the new root.
#[derive(Debug)]
enum MountOperation {
    Folder {
        target: CString,
        mode: u32,
    },
    File {
        target: CString,
        content: Vec<u8>,
        mode: u32,
    },
    Link {
        target: CString,
        text: CString,
    },
    /// A folder of the private file system.
    Private {
        folder: &'static CStr,
        target: CString,
    },
    /// The file systems of processes.
    Proc {
        target: CString,
    },
    /// Terminals of the sandbox's own.
    Terminals {
        target: CString,
    },
    /// A file or folder of the host.
    Bind {
        source: CString,
        identity: (u64, u64),
        target: CString,
        attributes: u64,
        reach: AttributeReach,
    },
    /// What a rehearsal has in the place of a folder of the host that it may write.
    Overlay {
        source: CString,
        identity: (u64, u64),
        target: CString,
        attributes: u64,
        store: RehearsalStore,
    },
    /// The same of a file.
    Copy {
        source: CString,
        identity: (u64, u64),
        target: CString,
        attributes: u64,
        store: RehearsalStore,
    },
    /// The same of a folder that a run would make.
    Fresh {
        target: CString,
        attributes: u64,
        store: RehearsalStore,
    },
    /// The same below an overlay.
    FreshBelow {
        parent: CString,
        target: CString,
        name: CString,
    },
    /// A part of a write grant as a mount of its own, so that it cannot be renamed.
    Pin {
        target: CString,
    },
    /// An empty, unreadable file or folder over something forbidden.
    Mask {
        cover: &'static CStr,
        target: CString,
    },
    /// The same over a file of /proc. One that the run's own /proc does not have need not be hidden.
    HideProc {
        cover: &'static CStr,
        target: CString,
    },
}

impl MountsLayer {
    /// What an operation was about, for a message.
    pub(crate) fn describe(&self, index: u16) -> String {
        let Some(
            MountOperation::Folder { target, .. }
            | MountOperation::File { target, .. }
            | MountOperation::Link { target, .. }
            | MountOperation::Private { target, .. }
            | MountOperation::Proc { target }
            | MountOperation::Terminals { target }
            | MountOperation::Bind { target, .. }
            | MountOperation::Overlay { target, .. }
            | MountOperation::Copy { target, .. }
            | MountOperation::Fresh { target, .. }
            | MountOperation::FreshBelow { target, .. }
            | MountOperation::Pin { target }
            | MountOperation::Mask { target, .. }
            | MountOperation::HideProc { target, .. },
        ) = self.operations.get(usize::from(index))
        else {
            return String::new();
        };
        format!("/{}", target.to_string_lossy())
    }

    /// Makes the root and moves into it. Returns the private file system.
    pub(crate) fn apply(&self) -> StepResult<OwnedFd> {
        rustix::process::umask(Mode::empty());
        let root = Self::mount_root()?;
        let private = self.mount_private(root.as_fd())?;
        for (index, operation) in self.operations.iter().enumerate() {
            if let MountOperation::Proc { target } = operation {
                self.mount_proc(root.as_fd(), target, index)?;
            } else {
                let is_overlay = matches!(operation, MountOperation::Overlay { .. });
                let step = if is_overlay { SetupStep::Overlay } else { SetupStep::Place };
                operation.apply(root.as_fd(), private.as_fd()).at_index(step, index)?;
            }
        }
        Self::pivot(root.as_fd())?;
        set_attributes(root.as_fd(), RDONLY | NOSUID | NODEV, AttributeReach::One).at(SetupStep::Seal)?;
        rustix::process::umask(Mode::from_raw_mode(0o022));
        rustix::process::chdir(self.workdir.as_c_str()).at(SetupStep::Workdir)?;
        Ok(private)
    }

    /// A fresh /proc is refused for reasons of its own, with cures of their own. Through it the namespaces of the run are set.
    fn mount_proc(&self, root: BorrowedFd<'_>, target: &CStr, index: usize) -> StepResult {
        let proc = make_proc().at_index(SetupStep::ProcFs, index)?;
        self.settings.apply(proc.as_fd())?;
        let attributes = RDONLY | NOSUID | NODEV | NOEXEC;
        let sealed = set_attributes(proc.as_fd(), attributes, AttributeReach::One);
        sealed.and_then(|()| attach(proc.as_fd(), root, target)).at_index(SetupStep::ProcFs, index)
    }

    /// Whether the kernel gives out no more numbers of processes than there may be.
    pub(crate) fn bounds_processes(&self) -> bool {
        self.settings.bounds_processes()
    }

    pub(crate) fn describe_setting(&self, index: u16) -> String {
        self.settings.describe(index)
    }

    /// A new tmpfs over the root that we stand in; paths still lead to the old one until we pivot.
    fn mount_root() -> StepResult<OwnedFd> {
        let root = make_tmpfs(c"1048576", c"4096", c"0755", NOSUID | NODEV).at(SetupStep::RootFs)?;
        let onto = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH;
        move_mount(root.as_fd(), c"", CWD, c"/", onto).at(SetupStep::RootFs)?;
        Ok(root)
    }

    /// The file system of which the private folders are parts. Only what is mounted can be cloned from, so it is mounted at /run,
    /// where one of its own folders then covers it for good. (To unmount it would take as long as all the rest.)
    fn mount_private(&self, root: BorrowedFd<'_>) -> StepResult<OwnedFd> {
        let private = make_tmpfs(&self.private_size, c"65536", c"0755", self.private_attributes)
            .at(SetupStep::PrivateFs)?;
        for (folder, mode) in PRIVATE {
            let mode = Mode::from_raw_mode(mode);
            rustix::fs::mkdirat(private.as_fd(), folder, mode).at(SetupStep::PrivateFs)?;
        }
        let new = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        rustix::fs::openat(private.as_fd(), c"hidden-file", new, Mode::empty()).at(SetupStep::PrivateFs)?;
        let onto = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH;
        rustix::fs::mkdirat(root, STAGE, Mode::RWXU).at(SetupStep::PrivateFs)?;
        move_mount(private.as_fd(), c"", root, STAGE, onto).at(SetupStep::PrivateFs)?;
        Ok(private)
    }

    /// The new root becomes the root; the old one goes, with all that was mounted in it.
    fn pivot(root: BorrowedFd<'_>) -> StepResult {
        rustix::process::fchdir(root).at(SetupStep::Pivot)?;
        // Both the same: the old root ends up mounted over the new one, and "." leads to it (pivot_root(2)).
        rustix::process::pivot_root(c".", c".").at(SetupStep::Pivot)?;
        unmount(c".", UnmountFlags::DETACH).at(SetupStep::Pivot)?;
        rustix::process::chdir(c"/").at(SetupStep::Pivot)?;
        Self::check_that_nothing_covers(root).at(SetupStep::Pivot)
    }

    /// Whatever is still mounted over the root can be reached by `/..`, where the kernel looks for mounts once more.
    fn check_that_nothing_covers(root: BorrowedFd<'_>) -> sys::Result<()> {
        let (own, above) = (rustix::fs::fstat(root)?, rustix::fs::stat(c"/..")?);
        if (own.st_dev, own.st_ino) == (above.st_dev, above.st_ino) {
            Ok(())
        } else {
            Err(sys::Errno(libc::EBUSY))
        }
    }
}

impl MountOperation {
    fn apply(&self, root: BorrowedFd<'_>, private: BorrowedFd<'_>) -> sys::Result<()> {
        match self {
            Self::Folder { target, mode } => {
                rustix::fs::mkdirat(root, target.as_c_str(), Mode::from_raw_mode(*mode))?;
            }
            Self::File { target, content, mode } => {
                let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
                let file = rustix::fs::openat(root, target.as_c_str(), flags, Mode::from_raw_mode(*mode))?;
                let mut rest = content.as_slice();
                while !rest.is_empty() {
                    let written = rustix::io::write(&file, rest)?;
                    rest = rest.get(written..).unwrap_or_default();
                }
            }
            Self::Link { target, text } => rustix::fs::symlinkat(text.as_c_str(), root, target.as_c_str())?,
            Self::Private { folder, target } => {
                let clone = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
                let tree = open_tree(private, *folder, clone)?;
                attach(tree.as_fd(), root, target)?;
            }
            // Made with what is set through it: see `mount_proc`.
            Self::Proc { .. } => {}
            Self::Terminals { target } => attach(make_devpts()?.as_fd(), root, target)?,
            Self::Bind { source, identity, target, attributes, reach } => {
                let tree = clone_of(source, *identity)?;
                set_attributes(tree.as_fd(), *attributes, *reach)?;
                attach(tree.as_fd(), root, target)?;
            }
            Self::Overlay { source, identity, target, attributes, store } => {
                store.overlay(source, *identity, target, *attributes, root, private)?;
            }
            Self::Copy { source, identity, target, attributes, store } => {
                store.copy(source, *identity, target, *attributes, root, private)?;
            }
            Self::Fresh { target, attributes, store } => store.fresh(target, *attributes, root, private)?,
            Self::FreshBelow { parent, name, .. } => rehearsal::make_below(root, parent, name)?,
            Self::Pin { target } => {
                let place = open_in(root, target)?;
                attach(clone_fd(place.as_fd())?.as_fd(), root, target)?;
            }
            Self::Mask { cover, target } => mask(root, private, cover, target)?,
            Self::HideProc { cover, target } => match mask(root, private, cover, target) {
                Err(sys::Errno(libc::ENOENT)) => {}
                hidden => hidden?,
            },
        }
        Ok(())
    }
}

/// Puts a cover over something.
fn mask(root: BorrowedFd<'_>, private: BorrowedFd<'_>, cover: &CStr, target: &CStr) -> sys::Result<()> {
    let clone = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
    let tree = open_tree(private, cover, clone)?;
    set_attributes(tree.as_fd(), RDONLY | NOSUID | NODEV | NOEXEC, AttributeReach::Tree)?;
    attach(tree.as_fd(), root, target)
}

/// A new, empty file system in memory.
fn make_tmpfs(size: &CStr, inodes: &CStr, mode: &CStr, attributes: u64) -> sys::Result<OwnedFd> {
    let context = fsopen(c"tmpfs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_set_string(context.as_fd(), c"size", size)?;
    fsconfig_set_string(context.as_fd(), c"nr_inodes", inodes)?;
    fsconfig_set_string(context.as_fd(), c"mode", mode)?;
    fsconfig_create(context.as_fd())?;
    Ok(fsmount(context.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, attribute_flags(attributes))?)
}

/// The processes of this pid namespace, and no others. To be made read-only before anybody can reach it: nothing of the host is set
/// through it, by any user that runs this. Processes that may not be looked into are not even listed, so the init is not.
fn make_proc() -> sys::Result<OwnedFd> {
    let context = fsopen(c"proc", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_set_string(context.as_fd(), c"hidepid", c"ptraceable")?;
    fsconfig_create(context.as_fd())?;
    let attributes = attribute_flags(NOSUID | NODEV | NOEXEC);
    Ok(fsmount(context.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, attributes)?)
}

/// Pseudo-terminals of this sandbox, and no others: each such mount has its own (Documentation/filesystems/devpts.rst). All of
/// the machine share one number of them, so a sandbox gets only some.
fn make_devpts() -> sys::Result<OwnedFd> {
    let context = fsopen(c"devpts", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_set_string(context.as_fd(), c"mode", c"0600")?;
    fsconfig_set_string(context.as_fd(), c"ptmxmode", c"0666")?;
    fsconfig_set_string(context.as_fd(), c"max", c"64")?;
    fsconfig_create(context.as_fd())?;
    Ok(fsmount(context.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, attribute_flags(NOSUID | NOEXEC))?)
}

fn attribute_flags(attributes: u64) -> MountAttrFlags {
    MountAttrFlags::from_bits_retain(u32::try_from(attributes).unwrap_or(0))
}

/// A detached copy of a mount and of all below it, provided that it is still what the parent saw.
fn clone_of(source: &CStr, identity: (u64, u64)) -> sys::Result<OwnedFd> {
    let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let place = rustix::fs::openat2(CWD, source, OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), resolve)?;
    let found = rustix::fs::fstat(&place)?;
    if (found.st_dev, found.st_ino) != identity {
        return Err(sys::Errno(libc::ESTALE));
    }
    clone_fd(place.as_fd())
}

fn clone_fd(place: BorrowedFd<'_>) -> sys::Result<OwnedFd> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_RECURSIVE
        | OpenTreeFlags::AT_EMPTY_PATH;
    Ok(open_tree(place, c"", flags)?)
}

/// A place in the new root, reached without following any link: what is granted may hold links that somebody else made.
fn open_in(root: BorrowedFd<'_>, target: &CStr) -> sys::Result<OwnedFd> {
    let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS | ResolveFlags::IN_ROOT;
    Ok(rustix::fs::openat2(root, target, OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), resolve)?)
}

fn attach(tree: BorrowedFd<'_>, root: BorrowedFd<'_>, target: &CStr) -> sys::Result<()> {
    let place = open_in(root, target)?;
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    Ok(move_mount(tree, c"", place.as_fd(), c"", flags)?)
}
