//! `skillsandbox history pin`: a trace that is kept.

use anyhow::Context as _;
use clap::Args;

use super::{open, whole};
use crate::output::{self, ExitAnswer};

/// Keep the trace of a run, however many traces there are; `--off` lets it go again
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  skillsandbox history pin 3f2a9c1b
  skillsandbox history pin --off 3f2a9c1b")]
pub(super) struct HistoryPinArgs {
    /// The id of the run, or how it begins
    #[arg(value_name = "ID")]
    id: String,

    /// Keep it no longer than others
    #[arg(long)]
    off: bool,
}

impl HistoryPinArgs {
    pub(super) fn run(&self) -> anyhow::Result<ExitAnswer> {
        let mut history = open()?.context("nothing was recorded yet")?;
        let record = history.pin(&self.id, !self.off)?;
        let done = if record.pinned { "pinned" } else { "no longer pinned" };
        output::result(&format!("{done}: {} ({})\n", whole(&record.execution_id), whole(&record.skill)))?;
        Ok(ExitAnswer::Yes)
    }
}
