//! Lifetime: the end of the run is the end of every process of it.
//!
//! Everything that a run starts is in its pid namespace, daemons too, and the kernel ends them all when the init of that
//! namespace ends. The init is this code: it reaps, reports how the command ended, and ends when the command does, when it is
//! killed, or when the launching program dies.

use std::os::fd::BorrowedFd;

use rustix::event::{PollFd, PollFlags};
use rustix::process::{DumpableBehavior, Pid, Signal, WaitOptions};
use rustix::thread::{CapabilitySet, CapabilitySets};

use crate::child::step::{AtStep as _, SetupStep, StepResult};
use crate::sys;
use crate::sys::signals;

/// Sent by the supervisor to stop every process of the run, and to let it go on.
const STOP: i32 = libc::SIGUSR1;
const GO_ON: i32 = libc::SIGUSR2;

/// Ties the init to the launching program: the kernel ends it, and with it the run, when the thread that made it dies. Of both
/// descriptors only that program has the other end.
pub(crate) fn tie_to_launcher(ready: BorrowedFd<'_>, result: BorrowedFd<'_>) -> StepResult {
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL)).at(SetupStep::DeathSignal)?;
    // It may have died just before; then nobody reads any more.
    if is_gone(ready) || is_gone(result) {
        return Err(sys::Errno(libc::ECANCELED)).at(SetupStep::DeathSignal);
    }
    Ok(())
}

/// Whether nobody has the other end of a pipe or a socket any more.
fn is_gone(end: BorrowedFd<'_>) -> bool {
    let mut poll = [PollFd::new(&end, PollFlags::empty())];
    let _ = rustix::event::poll(&mut poll, Some(&rustix::event::Timespec::default()));
    poll.iter().any(|fd| fd.revents().intersects(PollFlags::ERR | PollFlags::HUP))
}

/// The init's memory is a copy of the launching program's: nobody may look into it.
pub(crate) fn hide_memory() -> StepResult {
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable).at(SetupStep::NotDumpable)
}

/// What is left of the init once the command runs: no capability. Its descriptors are closed after that.
pub(crate) fn shrink_init() -> StepResult {
    let none = CapabilitySet::empty();
    let none = CapabilitySets { effective: none, permitted: none, inheritable: none };
    rustix::thread::set_capabilities(None, none).at(SetupStep::Capabilities)
}

/// Reaps until the command ends, and writes how it did to `result`.
pub(crate) fn reap(command: i32, result: BorrowedFd<'_>) -> i32 {
    // The death signal is not sent for a death that came before it was asked for, and a copy of the other end may have hidden that death
    // for a moment: so when the last reader of `result` goes, that is told too.
    if sys::fds::signal_changes(result).is_err() || is_gone(result) {
        return 1;
    }
    let awaited = [libc::SIGCHLD, libc::SIGIO, STOP, GO_ON];
    let mask = awaited.into_iter().fold(0, |mask, one| mask | signals::bit(one));
    loop {
        match signals::wait(mask) {
            Ok(arrived) if arrived.signal == libc::SIGCHLD => {}
            // Whoever sent it: it is looked at, not believed.
            Ok(arrived) if arrived.signal == libc::SIGIO => {
                if is_gone(result) {
                    return 1;
                }
                continue;
            }
            // The run itself has no say in these.
            Ok(arrived) if !arrived.from_outside => continue,
            Ok(arrived) => {
                signals::send_to_all(if arrived.signal == STOP { libc::SIGSTOP } else { libc::SIGCONT });
                continue;
            }
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
