//! The root of the sandbox, held open, so that paths can be judged after the last process has ended.

use std::os::fd::{AsFd as _, OwnedFd};
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rustix::fs::{CWD, Mode, OFlags, openat};

use super::leave_to_kernel::leave_to_kernel;
use super::local_walk::{WalkEnd, walk};
use super::mount_table::{FirstMounts, MountTable};

/// Shared by the listener, which can open it while a process waits, and the reporter, which looks paths up in it.
#[derive(Debug, Clone, Default)]
pub(crate) struct SandboxRoot(Arc<OnceLock<HeldRoot>>);

#[derive(Debug)]
struct HeldRoot {
    root: OwnedFd,
    /// Without it, the mounts below the root would go with the last process: a descriptor keeps a namespace alive (namespaces(7)).
    mounts: Option<OwnedFd>,
    /// The mounts below it, as they were when the run began: of these there is no waiting.
    first: Option<Arc<FirstMounts>>,
    /// And as they are.
    table: Mutex<Option<MountTable>>,
}

/// Where a mount of the sandbox is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MountPlace<'a> {
    /// It was here when the run began.
    First(&'a Path),
    /// It came later.
    Later,
}

impl SandboxRoot {
    /// Takes hold of the root of a process, if none is held yet. Before it has executed its program, a process shows nothing of
    /// itself; then this is tried again.
    pub(super) fn hold_of(&self, pid: u32) {
        if self.0.get().is_none()
            && let Some(held) = HeldRoot::of(pid)
        {
            // Another thread may have been first: it is the same root.
            let _ = self.0.set(held);
        }
    }

    /// This one.
    #[cfg(test)]
    pub(super) fn of(root: OwnedFd) -> Self {
        Self(Arc::new(OnceLock::from(HeldRoot { root, mounts: None, first: None, table: Mutex::new(None) })))
    }

    pub(super) fn descriptor(&self) -> Option<&OwnedFd> {
        self.0.get().map(|held| &held.root)
    }

    /// Where a mount is, by its number; `None` where the mounts are not known.
    pub(super) fn mount_place(&self, number: u64) -> Option<MountPlace<'_>> {
        let place = self.first()?.place(number);
        Some(place.map_or(MountPlace::Later, MountPlace::First))
    }

    /// Whether a path lay on the mount of this place when the run began, so that what is on that mount now may be it.
    pub(super) fn was_on_mount(&self, path: &Path, place: &Path) -> bool {
        self.first().is_some_and(|first| first.mount_of(path) == Some(place))
    }

    /// Whether all of it could be looked up without asking anybody but this kernel when the run began.
    pub(super) fn was_local(&self) -> bool {
        self.first().is_some_and(FirstMounts::are_all_local)
    }

    fn first(&self) -> Option<&FirstMounts> {
        self.0.get()?.first.as_deref()
    }

    /// Whether a path can be looked up without asking anybody but this kernel.
    pub(super) fn is_local(&self, path: &Path) -> bool {
        let Some(held) = self.0.get() else { return true };
        let mut table = held.table.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(table) = table.as_mut() else { return true };
        table.are_all_local() || walk(held.root.as_fd(), table, path) != WalkEnd::NotLocal
    }
}

/// Whoever closes the last descriptor of a namespace of mounts waits until all of them are gone, which takes as long as a fifth of a short run.
impl Drop for HeldRoot {
    fn drop(&mut self) {
        let table = self.table.get_mut().unwrap_or_else(PoisonError::into_inner);
        let held = [Some(self.root.as_fd()), self.mounts.as_ref().map(OwnedFd::as_fd)];
        let list = table.as_ref().map(MountTable::descriptor);
        let all: Vec<_> = held.into_iter().chain([list]).flatten().collect();
        leave_to_kernel(&all);
    }
}

impl HeldRoot {
    fn of(pid: u32) -> Option<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root = openat(CWD, format!("/proc/{pid}/root"), flags, Mode::empty()).ok()?;
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let mounts = openat(CWD, format!("/proc/{pid}/ns/mnt"), flags, Mode::empty()).ok()?;
        let table = MountTable::of(&pid.to_string());
        let first = table.as_ref().map(MountTable::first);
        Some(Self { root, mounts: Some(mounts), first, table: Mutex::new(table) })
    }
}
