//! `skillsandbox trace prune`: the oldest traces go.

use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;
use skillsandbox_manifest::{ByteSize, user_folders};
use skillsandbox_run::{PruneMode, RunHistory as _, TraceBudget, prune_traces, remove_traces};
use skillsandbox_store::history::{Edge, HistoryFile, moment};

use super::reference;
use crate::args::OutputFormat;
use crate::output::{self, ExitAnswer, visible};

/// Remove the oldest traces of the state folder; pinned ones, and those that are being written, stay
#[derive(Debug, Args)]
#[command(
    after_help = "Runs have the same done once in a while, when they have ended, with 1 GiB and 10,000 traces.

Examples:
  skillsandbox trace prune --dry-run
  skillsandbox trace prune --older-than 30d
  skillsandbox trace prune --max-size 200M
  skillsandbox trace prune 3f2a9c1b                # this one goes
  skillsandbox history pin 3f2a9c1b                # this one stays"
)]
pub(crate) struct TracePruneArgs {
    /// Remove these, and no others: runs by how their ids or their traces' names begin
    #[arg(value_name = "FILE|ID", conflicts_with_all = ["keep", "max_size", "older_than"])]
    traces: Vec<PathBuf>,

    /// Remove what is older: 30d, 12h, 2026-01-31
    #[arg(long, value_name = "WHEN")]
    older_than: Option<String>,

    /// Keep so many traces at most
    #[arg(long, value_name = "N", default_value_t = TraceBudget::default().traces)]
    keep: usize,

    /// Keep so much at most
    #[arg(long, value_name = "SIZE", default_value = "1G", value_parser = size)]
    max_size: u64,

    /// Only say what would be removed
    #[arg(long)]
    dry_run: bool,

    /// How to show the result
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: OutputFormat,
}

impl TracePruneArgs {
    pub(crate) fn run(&self) -> anyhow::Result<ExitAnswer> {
        let folder = user_folders::traces()
            .context("there is no home directory: HOME is not set to an absolute path")?;
        let pinned = HistoryFile::of_user()
            .pinned_traces()
            .map_err(|error| anyhow::anyhow!("{error}"))
            .context("nothing was removed: nobody can say which traces are pinned")?;
        let mode = if self.dry_run { PruneMode::Show } else { PruneMode::Remove };
        let done = if self.traces.is_empty() {
            prune_traces(&folder, self.budget()?, &pinned, mode)
                .with_context(|| format!("cannot look through {}", folder.display()))?
        } else {
            let files =
                self.traces.iter().map(|named| reference::find(named)).collect::<Result<Vec<_>, _>>()?;
            remove_traces(&folder, &files, &pinned, mode)?
        };
        match self.format {
            OutputFormat::Json => output::json(&serde_json::to_value(&done)?)?,
            OutputFormat::Text => {
                let how = if self.dry_run { "would remove" } else { "removed" };
                let mut text = String::new();
                for path in &done.removed {
                    let _ = writeln!(text, "{how} {}", visible(&path.display().to_string()));
                }
                let _ = writeln!(
                    text,
                    "{how} {} traces ({} bytes); {} are left ({} bytes)",
                    done.removed.len(),
                    done.freed,
                    done.left,
                    done.left_bytes
                );
                output::result(&text)?;
            }
        }
        Ok(ExitAnswer::Yes)
    }
}

impl TracePruneArgs {
    fn budget(&self) -> anyhow::Result<TraceBudget> {
        let budget = TraceBudget::new(self.max_size, self.keep);
        let Some(text) = &self.older_than else { return Ok(budget) };
        let oldest = moment(text, &jiff::Zoned::now(), Edge::Since).context("--older-than")?;
        Ok(budget.not_before(oldest.into()))
    }
}

fn size(text: &str) -> anyhow::Result<u64> {
    Ok(text.parse::<ByteSize>()?.bytes())
}
