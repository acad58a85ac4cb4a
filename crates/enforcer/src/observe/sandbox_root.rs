//! The root of the sandbox, held: whoever judges later than the last process ends still sees what there was.

use std::os::fd::OwnedFd;
use std::sync::{Arc, OnceLock};

use rustix::fs::{CWD, Mode, OFlags, openat};

/// Shared by the eye, which can take hold of it while a process waits, and the desk, which looks things up in it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Root(Arc<OnceLock<Held>>);

#[derive(Debug)]
struct Held {
    root: OwnedFd,
    /// Without it, the mounts below the root would go with the last process: a descriptor keeps a namespace alive (namespaces(7)).
    _mounts: Option<OwnedFd>,
}

impl Root {
    /// Takes hold of the root of a process, if none is held yet. Before it has executed its program, a process shows nothing of
    /// itself; then this is tried again.
    pub(super) fn hold(&self, pid: u32) {
        if self.0.get().is_none()
            && let Some(held) = Held::of(pid)
        {
            // Whoever was first: it is the same root.
            let _ = self.0.set(held);
        }
    }

    /// This one.
    #[cfg(test)]
    pub(super) fn of(root: OwnedFd) -> Self {
        Self(Arc::new(OnceLock::from(Held { root, _mounts: None })))
    }

    pub(super) fn descriptor(&self) -> Option<&OwnedFd> {
        self.0.get().map(|held| &held.root)
    }
}

impl Held {
    fn of(pid: u32) -> Option<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root = openat(CWD, format!("/proc/{pid}/root"), flags, Mode::empty()).ok()?;
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let mounts = openat(CWD, format!("/proc/{pid}/ns/mnt"), flags, Mode::empty()).ok()?;
        Some(Self { root, _mounts: Some(mounts) })
    }
}
