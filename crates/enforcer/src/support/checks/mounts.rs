//! The mount interface: a new root, clones of the host's folders, a fresh /proc.

use std::os::fd::{AsFd as _, OwnedFd};

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags};
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MoveMountFlags, OpenTreeFlags, UnmountFlags, fsconfig_create,
    fsconfig_set_string, fsmount, fsopen, move_mount, open_tree, unmount,
};

use super::HostTrial;
use crate::child::step::SetupStep;
use crate::support::child::{BlameTrial as _, TrialFailure, TrialNamespaces, try_in_child};
use crate::sys;
use crate::sys::mount::{AttributeReach, NODEV, NOSUID, RDONLY, set_attributes};

/// A file system of processes shows a pid namespace, so one is needed that is owned by the same user namespace.
const NAMESPACES: TrialNamespaces<'_> =
    TrialNamespaces::New(libc::CLONE_NEWUSER | libc::CLONE_NEWNS | libc::CLONE_NEWPID);
const AFTER: &[&str] = &["mount namespace", "pid namespace"];

pub(super) const TRIALS: &[HostTrial] = &[
    HostTrial {
        name: "fsopen, fsmount",
        what: "make a file system in memory",
        step: SetupStep::RootFs,
        after: AFTER,
        run: || try_in_child(NAMESPACES, |_| tmpfs().here().map(drop)),
    },
    HostTrial {
        name: "move_mount",
        what: "put a new file system in place",
        step: SetupStep::RootFs,
        after: &["fsopen, fsmount"],
        run: || try_in_child(NAMESPACES, |_| onto_root(&tmpfs().before()?).here()),
    },
    HostTrial {
        name: "open_tree",
        what: "clone a folder's mount",
        step: SetupStep::Place,
        after: AFTER,
        run: || try_in_child(NAMESPACES, |_| clone_of_root().here().map(drop)),
    },
    HostTrial {
        name: "mount_setattr",
        what: "make a clone and all below it read-only",
        step: SetupStep::Place,
        after: &["open_tree"],
        run: || try_in_child(NAMESPACES, |_| read_only_clone()),
    },
    HostTrial {
        name: "openat2",
        what: "open a place without following links",
        step: SetupStep::Place,
        after: AFTER,
        run: || try_in_child(NAMESPACES, |_| without_links()),
    },
    HostTrial {
        name: "a fresh /proc",
        what: "mount a /proc of its own",
        step: SetupStep::ProcFs,
        after: &["fsopen, fsmount"],
        run: || try_in_child(NAMESPACES, |_| proc(false).here().map(drop)),
    },
    HostTrial {
        name: "hidepid=ptraceable",
        what: "hide processes in /proc that may not be looked into",
        step: SetupStep::ProcFs,
        after: &["a fresh /proc"],
        run: || try_in_child(NAMESPACES, |_| proc(true).here().map(drop)),
    },
    HostTrial {
        name: "pivot_root",
        what: "change to a new root",
        step: SetupStep::Pivot,
        after: &["move_mount"],
        run: || try_in_child(NAMESPACES, |_| pivot().map(drop)),
    },
    HostTrial {
        name: "a read-only root",
        what: "make the new root read-only",
        step: SetupStep::Seal,
        after: &["pivot_root", "mount_setattr"],
        run: || try_in_child(NAMESPACES, |_| check_sealed()),
    },
];

fn tmpfs() -> sys::Result<OwnedFd> {
    let context = fsopen(c"tmpfs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_set_string(context.as_fd(), c"size", c"65536")?;
    fsconfig_set_string(context.as_fd(), c"mode", c"0755")?;
    fsconfig_create(context.as_fd())?;
    let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
    Ok(fsmount(context.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, attributes)?)
}

fn proc(hide: bool) -> sys::Result<OwnedFd> {
    let context = fsopen(c"proc", FsOpenFlags::FSOPEN_CLOEXEC)?;
    if hide {
        fsconfig_set_string(context.as_fd(), c"hidepid", c"ptraceable")?;
    }
    fsconfig_create(context.as_fd())?;
    let attributes = MountAttrFlags::MOUNT_ATTR_RDONLY
        | MountAttrFlags::MOUNT_ATTR_NOSUID
        | MountAttrFlags::MOUNT_ATTR_NODEV
        | MountAttrFlags::MOUNT_ATTR_NOEXEC;
    Ok(fsmount(context.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, attributes)?)
}

fn onto_root(mount: &OwnedFd) -> sys::Result<()> {
    Ok(move_mount(mount.as_fd(), c"", CWD, c"/", MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)?)
}

/// All that is mounted, as one detached tree.
fn clone_of_root() -> sys::Result<OwnedFd> {
    let flags =
        OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC | OpenTreeFlags::AT_RECURSIVE;
    Ok(open_tree(CWD, c"/", flags)?)
}

fn read_only_clone() -> Result<(), TrialFailure> {
    let tree = clone_of_root().before()?;
    set_attributes(tree.as_fd(), RDONLY | NOSUID | NODEV, AttributeReach::Tree).here()?;
    refuses_new_folders(&tree)
}

fn without_links() -> Result<(), TrialFailure> {
    let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS | ResolveFlags::IN_ROOT;
    let root = rustix::fs::open(c"/", OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).before()?;
    rustix::fs::openat2(&root, c".", OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), resolve).here()?;
    // The one link that every Linux has; in it, following one would succeed.
    match rustix::fs::openat2(
        &root,
        c"proc/self/root",
        OFlags::PATH | OFlags::CLOEXEC,
        Mode::empty(),
        resolve,
    ) {
        Err(rustix::io::Errno::LOOP) => Ok(()),
        Err(errno) => Err(TrialFailure::Here(errno.into())),
        Ok(_) => Err(TrialFailure::NoEffect),
    }
}

fn pivot() -> Result<OwnedFd, TrialFailure> {
    let root = tmpfs().before()?;
    onto_root(&root).before()?;
    rustix::process::fchdir(&root).before()?;
    rustix::process::pivot_root(c".", c".").here()?;
    unmount(c".", UnmountFlags::DETACH).here()?;
    rustix::process::chdir(c"/").here()?;
    // Nothing of the host is left: its /proc would be here otherwise.
    match rustix::fs::stat(c"/proc") {
        Err(rustix::io::Errno::NOENT) => Ok(root),
        _ => Err(TrialFailure::NoEffect),
    }
}

fn check_sealed() -> Result<(), TrialFailure> {
    let root = pivot().map_err(|_| TrialFailure::Before)?;
    set_attributes(root.as_fd(), RDONLY | NOSUID | NODEV, AttributeReach::One).here()?;
    refuses_new_folders(&root)
}

/// Read-only comes before every other reason in the kernel's own order but that a name is taken.
fn refuses_new_folders(mount: &OwnedFd) -> Result<(), TrialFailure> {
    match rustix::fs::mkdirat(mount, c".skillsandbox-doctor", Mode::RWXU) {
        Err(rustix::io::Errno::ROFS) => Ok(()),
        Ok(()) => {
            let _ = rustix::fs::unlinkat(mount, c".skillsandbox-doctor", rustix::fs::AtFlags::REMOVEDIR);
            Err(TrialFailure::NoEffect)
        }
        Err(errno) => Err(TrialFailure::Here(errno.into())),
    }
}
