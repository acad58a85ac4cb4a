//! Lifetime: the end of the run is the end of every process of it.
//!
//! Everything that a run starts is in its pid namespace, daemons too, and the kernel ends them all when the init of that
//! namespace ends. The init is this code: it reaps, reports how the command ended, and ends when the command does, when it is
//! killed, or when the launching program dies.

use std::os::fd::BorrowedFd;

use rustix::process::{DumpableBehavior, Pid, Signal, WaitOptions};
use rustix::thread::{CapabilitySet, CapabilitySets};

use crate::step::{Applied, At as _, Step};
use crate::sys;
use crate::sys::signals;

/// Sent by the kernel when the thread dies that made the init. Blocked and waited for, so that there is time to clean up.
const PARENT_DIED: i32 = libc::SIGTERM;

/// Ties the init to the launching program. `alive` is the writing end of a pipe that only that program reads from.
pub(crate) fn tie(alive: BorrowedFd<'_>) -> Applied {
    rustix::process::set_parent_process_death_signal(Some(Signal::TERM)).at(Step::DeathSignal)?;
    // It may have died just before; then nobody reads any more.
    let mut poll = [rustix::event::PollFd::new(&alive, rustix::event::PollFlags::empty())];
    rustix::event::poll(&mut poll, Some(&rustix::event::Timespec::default())).at(Step::DeathSignal)?;
    if poll.iter().any(|fd| fd.revents().contains(rustix::event::PollFlags::ERR)) {
        return Err(sys::Errno(libc::ECANCELED)).at(Step::DeathSignal);
    }
    Ok(())
}

/// The init's memory is a copy of the launching program's: nobody may look into it.
pub(crate) fn hide() -> Applied {
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable).at(Step::NotDumpable)
}

/// What is left of the init once the command runs: no capability. Its descriptors are closed after that.
pub(crate) fn shrink() -> Applied {
    let none = CapabilitySet::empty();
    let none = CapabilitySets { effective: none, permitted: none, inheritable: none };
    rustix::thread::set_capabilities(None, none).at(Step::Capabilities)
}

/// Reaps until the command ends, and writes how it did to `result`. `clean_up` runs when the launching program has died.
pub(crate) fn reap(command: i32, result: BorrowedFd<'_>, clean_up: impl FnOnce()) -> i32 {
    let mask = signals::bit(libc::SIGCHLD) | signals::bit(PARENT_DIED);
    loop {
        match signals::wait(mask) {
            Ok(arrived) if arrived.signal == PARENT_DIED => {
                if !arrived.from_outside {
                    continue;
                }
                signals::kill_all();
                while rustix::process::wait(WaitOptions::empty()).is_ok() {}
                clean_up();
                return 0;
            }
            Ok(_) => {}
            Err(_) => return 1,
        }
        while let Ok(Some((pid, status))) = rustix::process::wait(WaitOptions::NOHANG) {
            if Pid::as_raw(Some(pid)) == command {
                // The reader is gone only if the launching program is.
                let _ = rustix::io::write(result, &status.as_raw().to_ne_bytes());
                return 0;
            }
        }
    }
}
