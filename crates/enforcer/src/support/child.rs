//! Throw-away children, in which things are tried that cannot be taken back.

use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, WaitOptions};

use crate::child::step::{SetupStep, StepFailure};
use crate::layers::namespaces::NamespacesLayer;
use crate::sys::clone::EVERY_KIND;
use crate::sys::{self, Errno};

/// How long a child may take: far more than any of them needs, for hosts where a mount hangs.
const TIMEOUT: Timespec = Timespec { tv_sec: 10, tv_nsec: 0 };

/// Why a child did not get to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TrialFailure {
    /// What was to be tried was refused.
    Here(Errno),
    /// A step of the sandbox itself was refused, while it was being done as a run does it.
    Step(StepFailure),
    /// What had to be done before it was refused. Another check is about that.
    Before,
    /// The kernel said yes and did nothing.
    NoEffect,
}

impl From<StepFailure> for TrialFailure {
    fn from(failure: StepFailure) -> Self {
        Self::Step(failure)
    }
}

/// How it went, seen from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TrialOutcome {
    /// Done, and it had the effect it should have.
    Worked,
    /// It did not work.
    Trouble(TrialFailure),
    /// A child could not be made at all.
    NoChild(Errno),
    /// The child was ended by a signal; a filter may do that instead of answering.
    Killed(i32),
    /// The child ended without a word, with this code where that is known: it executed another program, or could not speak.
    Silent(Option<i32>),
    /// The child took longer than [`TIMEOUT`] and was ended.
    Stuck,
}

/// Says whether a refusal is about what is tried or about what comes before it.
pub(super) trait BlameTrial<T> {
    /// It is what is tried.
    fn here(self) -> Result<T, TrialFailure>;
    /// It is not.
    fn before(self) -> Result<T, TrialFailure>;
}

impl<T, E: Into<Errno>> BlameTrial<T> for Result<T, E> {
    fn here(self) -> Result<T, TrialFailure> {
        self.map_err(|errno| TrialFailure::Here(errno.into()))
    }

    fn before(self) -> Result<T, TrialFailure> {
        self.map_err(|_| TrialFailure::Before)
    }
}

/// What a child is.
#[derive(Debug, Clone, Copy)]
pub(super) enum TrialNamespaces<'a> {
    /// An ordinary process, made by the oldest call there is.
    Plain,
    /// Made in new namespaces, as a run makes its own.
    New(i32),
    /// The same, with users mapped from outside where a run does that.
    Mapped(i32, &'a NamespacesLayer),
}

const FINE: u8 = 0;
const HERE: u8 = 1;
const STEP: u8 = 2;
const BEFORE: u8 = 3;
const NO_EFFECT: u8 = 4;
const SIZE: usize = 6;

fn encode(result: Result<(), TrialFailure>) -> [u8; SIZE] {
    let (kind, step, errno) = match result {
        Ok(()) => (FINE, 0, 0),
        Err(TrialFailure::Here(errno)) => (HERE, 0, errno.0),
        Err(TrialFailure::Step(failure)) => (STEP, failure.step as u8, failure.errno.0),
        Err(TrialFailure::Before) => (BEFORE, 0, 0),
        Err(TrialFailure::NoEffect) => (NO_EFFECT, 0, 0),
    };
    let [a, b, c, d] = errno.to_ne_bytes();
    [kind, step, a, b, c, d]
}

fn decode([kind, step, a, b, c, d]: [u8; SIZE]) -> Option<TrialOutcome> {
    let errno = Errno(i32::from_ne_bytes([a, b, c, d]));
    Some(match kind {
        FINE => TrialOutcome::Worked,
        HERE => TrialOutcome::Trouble(TrialFailure::Here(errno)),
        STEP => {
            let step = *SetupStep::ALL.get(usize::from(step))?;
            TrialOutcome::Trouble(TrialFailure::Step(StepFailure { step, index: 0, errno }))
        }
        BEFORE => TrialOutcome::Trouble(TrialFailure::Before),
        NO_EFFECT => TrialOutcome::Trouble(TrialFailure::NoEffect),
        _ => return None,
    })
}

/// Runs `main` in a child and tells how it went. `main` gets the number of a descriptor that it must not close, and keeps to
/// kernel calls: see [`crate::sys`].
pub(super) fn try_in_child(
    inside: TrialNamespaces<'_>,
    main: impl FnOnce(i32) -> Result<(), TrialFailure>,
) -> TrialOutcome {
    let Ok((answer, answer_end)) = pipe() else { return TrialOutcome::NoChild(Errno(libc::EMFILE)) };
    let number = answer_end.as_raw_fd();
    let body = || {
        // Best effort: it is one of the things that are tried. Without it a child lives until its own end.
        let _ = rustix::process::set_parent_process_death_signal(Some(Signal::KILL));
        sys::signals::reset();
        let result = main(number);
        let written = rustix::io::write(sys::fds::borrow(number), &encode(result));
        i32::from(written != Ok(SIZE))
    };
    let child = match TrialChild::make(inside, body) {
        Ok(child) => child,
        Err(errno) => return TrialOutcome::NoChild(errno),
    };
    drop(answer_end);
    if let TrialNamespaces::Mapped(_, namespaces) = inside
        && let Err(error) = namespaces.map_from_outside(child.pid)
    {
        child.kill();
        child.reap();
        let errno = Errno(error.raw_os_error().unwrap_or(libc::EIO));
        return TrialOutcome::Trouble(TrialFailure::Step(StepFailure {
            step: SetupStep::Maps,
            index: 0,
            errno,
        }));
    }
    if !wait_for(&answer) {
        child.kill();
        child.reap();
        return TrialOutcome::Stuck;
    }
    let mut bytes = [0; SIZE];
    let read = rustix::io::retry_on_intr(|| rustix::io::read(&answer, &mut bytes));
    let answer = if read == Ok(SIZE) { decode(bytes) } else { None };
    let (code, signal) = child.reap();
    answer.unwrap_or(match signal {
        Some(signal) => TrialOutcome::Killed(signal),
        None => TrialOutcome::Silent(code),
    })
}

pub(super) fn pipe() -> rustix::io::Result<(OwnedFd, OwnedFd)> {
    rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)
}

/// Whether something can be read, or the last writer is gone, in time.
pub(super) fn wait_for(fd: &OwnedFd) -> bool {
    let mut fds = [PollFd::new(fd, PollFlags::IN)];
    matches!(rustix::io::retry_on_intr(|| poll(&mut fds, Some(&TIMEOUT))), Ok(ready) if ready > 0)
}

/// A child of either kind.
#[derive(Debug)]
pub(super) struct TrialChild {
    pub(super) pid: i32,
    pub(super) pidfd: Option<OwnedFd>,
}

impl TrialChild {
    /// All signals are blocked while it is made: no handler of the embedding program may run in it.
    pub(super) fn make(inside: TrialNamespaces<'_>, main: impl FnOnce() -> i32) -> sys::Result<Self> {
        let before = sys::signals::block(u64::MAX)?;
        let child = match inside {
            TrialNamespaces::Plain => sys::probe::fork(main).map(|pid| Self { pid, pidfd: None }),
            TrialNamespaces::New(flags) | TrialNamespaces::Mapped(flags, _) => {
                sys::clone::child(flags, main).map(|child| Self { pid: child.pid, pidfd: Some(child.pidfd) })
            }
        };
        sys::signals::block(before)?;
        child
    }

    fn kill(&self) {
        // Not reaped yet, so the number is still its own.
        if let Some(pid) = Pid::from_raw(self.pid) {
            let _ = rustix::process::kill_process(pid, Signal::KILL);
        }
    }

    /// Waits for its end: its code or the signal that ended it. Neither is known where the embedding program has said that it
    /// does not care for its children (`SIGCHLD` ignored), or collects them itself.
    pub(super) fn reap(&self) -> (Option<i32>, Option<i32>) {
        if let Some(pidfd) = &self.pidfd {
            let wait =
                || rustix::process::waitid(WaitId::PidFd(pidfd.as_fd()), WaitIdOptions::EXITED | EVERY_KIND);
            let status = rustix::io::retry_on_intr(wait).ok().flatten();
            return status.map_or((None, None), |status| (status.exit_status(), status.terminating_signal()));
        }
        let wait = || rustix::process::waitpid(Pid::from_raw(self.pid), WaitOptions::empty());
        let status = rustix::io::retry_on_intr(wait).ok().flatten();
        status.map_or((None, None), |(_, status)| (status.exit_status(), status.terminating_signal()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_survives_the_pipe() {
        let failure = StepFailure { step: SetupStep::Keyring, index: 0, errno: Errno(1) };
        for trouble in [
            TrialFailure::Here(Errno(38)),
            TrialFailure::Step(failure),
            TrialFailure::Before,
            TrialFailure::NoEffect,
        ] {
            assert_eq!(decode(encode(Err(trouble))), Some(TrialOutcome::Trouble(trouble)));
        }
        assert_eq!(decode(encode(Ok(()))), Some(TrialOutcome::Worked));
        assert_eq!(decode([9, 0, 0, 0, 0, 0]), None);
    }

    #[test]
    fn a_child_says_what_it_met() {
        for inside in [TrialNamespaces::Plain, TrialNamespaces::New(0)] {
            assert_eq!(try_in_child(inside, |_| Ok(())), TrialOutcome::Worked);
            let refused = try_in_child(inside, |_| Err(TrialFailure::Here(Errno(13))));
            assert_eq!(refused, TrialOutcome::Trouble(TrialFailure::Here(Errno(13))));
        }
    }

    #[test]
    fn a_child_that_is_killed_is_not_taken_for_a_good_one() {
        let tried = try_in_child(TrialNamespaces::Plain, |_| {
            let _ = rustix::process::kill_process(rustix::process::getpid(), Signal::KILL);
            Ok(())
        });
        assert_eq!(tried, TrialOutcome::Killed(libc::SIGKILL));
    }
}
