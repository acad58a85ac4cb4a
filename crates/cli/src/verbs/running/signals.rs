//! Ctrl-C and its like end the run, not this command: the trace is to have an end.

use skillsandbox_run::Stop;

/// From now on, an interrupt ends the run. Called before any other thread exists.
#[cfg(unix)]
pub(super) fn watch(stop: &Stop) -> anyhow::Result<()> {
    use anyhow::Context as _;
    use nix::sys::signal::{SigSet, Signal};

    let set: SigSet = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP].into_iter().collect();
    set.thread_block().context("cannot block signals")?;
    let stop = stop.clone();
    let wait = move || {
        while set.wait().is_ok() {
            stop.stop();
        }
    };
    std::thread::Builder::new()
        .name("skillsandbox-signals".into())
        .spawn(wait)
        .context("cannot start a thread")?;
    Ok(())
}

#[cfg(not(unix))]
pub(super) fn watch(_: &Stop) -> anyhow::Result<()> {
    Ok(())
}
