//! `skillsandbox history tidy`: what runs leave for later. They start it themselves.

use clap::Args;
use skillsandbox_run::{TraceBudget, tidy};
use skillsandbox_store::history::HistoryFile;

use crate::output::ExitAnswer;

/// Take what runs have recorded into the history, and remove the oldest traces; runs do this themselves once in a while
#[derive(Debug, Args)]
pub(super) struct HistoryTidyArgs {}

impl HistoryTidyArgs {
    #[allow(clippy::unused_self, reason = "all verbs are called alike")]
    pub(super) fn run(&self) -> anyhow::Result<ExitAnswer> {
        // Whoever started it may have blocked them all; this is to be ended like any other program.
        #[cfg(unix)]
        let _ = nix::sys::signal::SigSet::all().thread_unblock();
        tidy(&HistoryFile::of_user(), TraceBudget::default()).map_err(|error| anyhow::anyhow!("{error}"))?;
        Ok(ExitAnswer::Yes)
    }
}
