//! Ctrl-C and its like end the run, not this command: the trace is to have an end.

#[cfg(unix)]
use nix::sys::signal::Signal;
use skillsandbox_run::{RunTerminal, StopHandle};

/// From now on, an interrupt ends the run. Called before any other thread exists.
pub(in crate::verbs) fn watch(stop: &StopHandle) -> anyhow::Result<()> {
    watch_terminal(stop, None)
}

/// The same, and a new size of the window is told to the run's terminal, where it has one.
pub(super) fn watch_terminal(stop: &StopHandle, terminal: Option<&RunTerminal>) -> anyhow::Result<()> {
    let (stop, terminal) = (stop.clone(), terminal.cloned());
    on_signal(terminal.is_some(), move |signal| match &terminal {
        #[cfg(unix)]
        Some(terminal) if signal == Signal::SIGWINCH as i32 => {
            if let Some((rows, columns)) = super::user_terminal::size() {
                terminal.resize(rows, columns);
            }
        }
        _ => stop.stop_for_signal(signal),
    })
}

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
    on_signal(false, move |_| act())
}

/// The same, for whoever wants to know which it was; `resized`: also when the window has another size.
#[cfg(unix)]
fn on_signal(resized: bool, act: impl Fn(i32) + Send + 'static) -> anyhow::Result<()> {
    use anyhow::Context as _;

    let mut set = watched_signals();
    if resized {
        set.add(Signal::SIGWINCH);
    }
    set.thread_block().context("cannot block signals")?;
    // Not by `sigwait`: it has no name for a real-time signal.
    #[cfg(target_os = "linux")]
    let arrivals = nix::sys::signalfd::SignalFd::new(&set).context("cannot wait for signals")?;
    let wait = move || {
        #[cfg(target_os = "linux")]
        let arrived = || arrivals.read_signal().ok().flatten().map(|found| found.ssi_signo.cast_signed());
        #[cfg(not(target_os = "linux"))]
        let arrived = || set.wait().ok().map(|signal| signal as i32);
        while let Some(signal) = arrived() {
            act(signal);
        }
    };
    std::thread::Builder::new()
        .name("skillsandbox-signals".into())
        .spawn(wait)
        .context("cannot start a thread")?;
    Ok(())
}

/// All that would end this command, but for [`LEFT_ALONE`].
#[cfg(unix)]
fn watched_signals() -> nix::sys::signal::SigSet {
    let mut set = nix::sys::signal::SigSet::all();
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
fn on_signal(_: bool, _: impl Fn(i32) + Send + 'static) -> anyhow::Result<()> {
    Ok(())
}
