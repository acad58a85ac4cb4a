//! `skillsandbox trace prune`: the oldest traces go.

use std::fmt::Write as _;

use anyhow::Context as _;
use clap::Args;
use skillsandbox_manifest::{ByteSize, user_folders};
use skillsandbox_run::{PruneMode, RunHistory as _, TraceBudget, prune_traces};
use skillsandbox_store::history::HistoryFile;

use crate::args::OutputFormat;
use crate::output::{self, ExitAnswer, visible};

/// Remove the oldest traces of the state folder; pinned ones, and those that are being written, stay
#[derive(Debug, Args)]
#[command(after_help = "A run does the same before it writes its trace there, with 1 GiB and 10,000 traces.

Examples:
  skillsandbox trace prune --dry-run
  skillsandbox trace prune --max-size 200M
  skillsandbox history pin 3f2a9c1b                # this one stays")]
pub(crate) struct TracePruneArgs {
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
        let done = prune_traces(&folder, TraceBudget::new(self.max_size, self.keep), &pinned, mode)
            .with_context(|| format!("cannot look through {}", folder.display()))?;
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

fn size(text: &str) -> anyhow::Result<u64> {
    Ok(text.parse::<ByteSize>()?.bytes())
}
