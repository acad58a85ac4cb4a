//! Ctrl-C and its like end the run, not this command: the trace is to have an end.

#[cfg(target_os = "linux")]
use std::io;

#[cfg(target_os = "linux")]
use anyhow::Context as _;
#[cfg(unix)]
use nix::sys::signal::{SigSet, Signal};
#[cfg(target_os = "linux")]
use nix::sys::signalfd::{SfdFlags, SignalFd};
#[cfg(target_os = "linux")]
use skillsandbox_run::StopSignals;
use skillsandbox_run::{RunTerminal, StopHandle};

/// From now on, an interrupt ends the run. Called before any other thread exists.
pub(in crate::verbs) fn watch(stop: &StopHandle) -> anyhow::Result<()> {
    let stop = stop.clone();
    on_signal(move |signal| stop.stop_for_signal(signal))
}

/// A handle for one run that an interrupt ends from now on; a new size of the window is told to the run's terminal, where it has one. Called
/// before any other thread exists. None waits for signals before the run goes on, so that it starts without one.
#[cfg(target_os = "linux")]
pub(in crate::verbs) fn stop_handle(terminal: Option<&RunTerminal>) -> anyhow::Result<StopHandle> {
    let mut set = watched_signals();
    if terminal.is_some() {
        set.add(Signal::SIGWINCH);
    }
    set.thread_block().context("cannot block signals")?;
    Ok(StopHandle::with_signals(BlockedSignals { set, terminal: terminal.cloned() }))
}

/// The same where nothing runs yet.
#[cfg(not(target_os = "linux"))]
pub(in crate::verbs) fn stop_handle(_: Option<&RunTerminal>) -> anyhow::Result<StopHandle> {
    let stop = StopHandle::new();
    watch(&stop)?;
    Ok(stop)
}

/// Signals that are blocked in every thread: the kernel keeps them until they are asked for.
#[cfg(target_os = "linux")]
struct BlockedSignals {
    set: SigSet,
    terminal: Option<RunTerminal>,
}

#[cfg(target_os = "linux")]
impl StopSignals for BlockedSignals {
    fn take_arrived(&mut self) -> Option<i32> {
        // A new size of the window is for the thread.
        let arrivals =
            SignalFd::with_flags(&watched_signals(), SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC);
        number_of(&arrivals.ok()?)
    }

    fn start_waiting(self: Box<Self>, stop: StopHandle) -> io::Result<()> {
        let terminal = self.terminal;
        wait_for(&self.set, move |signal| match &terminal {
            Some(terminal) if signal == Signal::SIGWINCH as i32 => {
                if let Some((rows, columns)) = super::user_terminal::size() {
                    terminal.resize(rows, columns);
                }
            }
            _ => stop.stop_for_signal(signal),
        })
    }
}

/// The next signal. Not by `sigwait`: that has no name for a real-time signal.
#[cfg(target_os = "linux")]
fn number_of(arrivals: &SignalFd) -> Option<i32> {
    arrivals.read_signal().ok().flatten().map(|found| found.ssi_signo.cast_signed())
}

/// Does this at every signal of a set, in a thread of its own.
#[cfg(target_os = "linux")]
fn wait_for(set: &SigSet, act: impl Fn(i32) + Send + 'static) -> io::Result<()> {
    let arrivals = SignalFd::with_flags(set, SfdFlags::SFD_CLOEXEC)?;
    let wait = move || {
        while let Some(signal) = number_of(&arrivals) {
            act(signal);
        }
    };
    std::thread::Builder::new().name(THREAD.into()).spawn(wait).map(drop)
}

/// What the thread that waits for signals is called.
#[cfg(unix)]
const THREAD: &str = "skillsandbox-signals";

/// Signals that do not end a program, or that its own faults cause, after which it cannot go on. A pipe that nobody reads is an error
/// of the write.
#[cfg(unix)]
const LEFT_ALONE: [Signal; 15] = [
    Signal::SIGCHLD,
    Signal::SIGCONT,
    Signal::SIGTSTP,
    Signal::SIGTTIN,
    Signal::SIGTTOU,
    Signal::SIGURG,
    Signal::SIGWINCH,
    Signal::SIGPIPE,
    Signal::SIGSEGV,
    Signal::SIGBUS,
    Signal::SIGILL,
    Signal::SIGFPE,
    Signal::SIGTRAP,
    Signal::SIGSYS,
    Signal::SIGSTOP,
];

/// From now on, an interrupt does this, and so does every other signal that would end this command and with it a run whose end nobody
/// records: also those that limits of its own send (SIGXCPU; SIGXFSZ, which leaves the write that goes too far with an error) and
/// real-time signals. Called before any other thread exists.
#[cfg(target_os = "linux")]
pub(in crate::verbs) fn on_interrupt(act: impl Fn() + Send + 'static) -> anyhow::Result<()> {
    on_signal(move |_| act())
}

/// The same, for whoever wants to know which it was.
#[cfg(target_os = "linux")]
fn on_signal(act: impl Fn(i32) + Send + 'static) -> anyhow::Result<()> {
    let set = watched_signals();
    set.thread_block().context("cannot block signals")?;
    wait_for(&set, act).context("cannot wait for signals")
}

#[cfg(all(unix, not(target_os = "linux")))]
fn on_signal(act: impl Fn(i32) + Send + 'static) -> anyhow::Result<()> {
    use anyhow::Context as _;

    let set = watched_signals();
    set.thread_block().context("cannot block signals")?;
    let wait = move || {
        while let Ok(signal) = set.wait() {
            act(signal as i32);
        }
    };
    std::thread::Builder::new().name(THREAD.into()).spawn(wait).context("cannot wait for signals")?;
    Ok(())
}

/// All that would end this command, but for [`LEFT_ALONE`].
#[cfg(unix)]
fn watched_signals() -> SigSet {
    let mut set = SigSet::all();
    for signal in LEFT_ALONE {
        set.remove(signal);
    }
    set
}

/// Nothing runs any more, and a person is asked: an interrupt ends this command again.
pub(in crate::verbs) fn release() -> anyhow::Result<()> {
    #[cfg(unix)]
    anyhow::Context::context(watched_signals().thread_unblock(), "cannot unblock signals")?;
    Ok(())
}

#[cfg(not(unix))]
fn on_signal(_: impl Fn(i32) + Send + 'static) -> anyhow::Result<()> {
    Ok(())
}
