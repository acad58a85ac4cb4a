//! Removes the cgroups of a run whose launching program was killed before it could.
//!
//! A cgroup outlives its processes, unlike everything else a sandbox is made of. So as long as a run has one, a small process
//! of the launching program's own rights waits for that program's death, removes the groups, and ends. It runs outside the
//! sandbox, of which it knows nothing but the names of those folders.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};

use rustix::event::Timespec;
use rustix::fs::AtFlags;
use rustix::process::Signal;

use crate::sys;
use crate::sys::clone::ChildProcess;
use crate::sys::signals;

/// How often a group is tried to be removed, and how long to wait in between: its processes may still be dying, and one that
/// was reaped is still in its group for a moment (since Linux 6.18).
const TRIES: u32 = 5000;
const PAUSE: Timespec = Timespec { tv_sec: 0, tv_nsec: 2_000_000 };

/// A group to remove: the folder it is in, and its name there.
pub(crate) type OrphanGroup = (OwnedFd, CString);

/// The waiting process. Dropped when the groups are gone in the ordinary way.
#[derive(Debug)]
pub(crate) struct OrphanReaper(ChildProcess);

impl OrphanReaper {
    /// To be called by the thread whose death is waited for, with all signals blocked.
    pub(crate) fn start(groups: &[OrphanGroup]) -> io::Result<Self> {
        let mut keep: Vec<i32> = groups.iter().map(|(folder, _)| folder.as_raw_fd()).collect();
        keep.sort_unstable();
        let parent = rustix::process::getpid();
        Ok(Self(sys::clone::child(0, || wait_and_remove(groups, &keep, parent))?))
    }
}

impl Drop for OrphanReaper {
    fn drop(&mut self) {
        self.0.kill();
        self.0.reap();
    }
}

/// In a process of its own: only kernel calls, see [`crate::sys`].
fn wait_and_remove(groups: &[OrphanGroup], keep: &[i32], parent: rustix::process::Pid) -> i32 {
    signals::reset();
    let ready = sys::fds::close_but(0, keep).is_ok()
        && rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable).is_ok()
        && rustix::process::set_parent_process_death_signal(Some(Signal::TERM)).is_ok();
    if !ready {
        return 1;
    }
    // It may have died before the signal was asked for; and others may send the same signal.
    while rustix::process::getppid() == Some(parent) {
        if signals::wait(signals::bit(libc::SIGTERM)).is_err() {
            return 1;
        }
    }
    for (folder, name) in groups {
        for _ in 0..TRIES {
            if rustix::fs::unlinkat(folder, name.as_c_str(), AtFlags::REMOVEDIR)
                != Err(rustix::io::Errno::BUSY)
            {
                break;
            }
            let _ = rustix::event::poll(&mut [], Some(&PAUSE));
        }
    }
    0
}
