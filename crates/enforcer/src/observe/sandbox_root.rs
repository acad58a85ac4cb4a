//! The root of the sandbox, held open, so that paths can be judged after the last process has ended.

use std::os::fd::OwnedFd;
use std::sync::{Arc, OnceLock};

use rustix::fs::{CWD, Mode, OFlags, openat};

/// Shared by the listener, which can open it while a process waits, and the reporter, which looks paths up in it.
#[derive(Debug, Clone, Default)]
pub(crate) struct SandboxRoot(Arc<OnceLock<HeldRoot>>);

#[derive(Debug)]
struct HeldRoot {
    root: OwnedFd,
    /// Without it, the mounts below the root would go with the last process: a descriptor keeps a namespace alive (namespaces(7)).
    _mounts: Option<OwnedFd>,
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
        Self(Arc::new(OnceLock::from(HeldRoot { root, _mounts: None })))
    }

    pub(super) fn descriptor(&self) -> Option<&OwnedFd> {
        self.0.get().map(|held| &held.root)
    }
}

impl HeldRoot {
    fn of(pid: u32) -> Option<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root = openat(CWD, format!("/proc/{pid}/root"), flags, Mode::empty()).ok()?;
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let mounts = openat(CWD, format!("/proc/{pid}/ns/mnt"), flags, Mode::empty()).ok()?;
        Some(Self { root, _mounts: Some(mounts) })
    }
}
