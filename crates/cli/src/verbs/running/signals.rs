//! Ctrl-C and its like end the run, not this command: the trace is to have an end.

use skillsandbox_run::StopHandle;

/// From now on, an interrupt ends the run. Called before any other thread exists.
pub(super) fn watch(stop: &StopHandle) -> anyhow::Result<()> {
    let stop = stop.clone();
    on_interrupt(move || stop.stop())
}

/// From now on, an interrupt does this. Called before any other thread exists.
#[cfg(unix)]
pub(in crate::verbs) fn on_interrupt(act: impl Fn() + Send + 'static) -> anyhow::Result<()> {
    use anyhow::Context as _;
    use nix::sys::signal::{SigSet, Signal};

    let set: SigSet = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP].into_iter().collect();
    set.thread_block().context("cannot block signals")?;
    let wait = move || {
        while set.wait().is_ok() {
            act();
        }
    };
    std::thread::Builder::new()
        .name("skillsandbox-signals".into())
        .spawn(wait)
        .context("cannot start a thread")?;
    Ok(())
}

#[cfg(not(unix))]
pub(in crate::verbs) fn on_interrupt(_: impl Fn() + Send + 'static) -> anyhow::Result<()> {
    Ok(())
}
