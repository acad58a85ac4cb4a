//! `skillsandbox reports`: the scans that were.

use std::fmt::Write as _;

use clap::{Args, Subcommand};
use skillsandbox_store::{KEEP_REPORTS, index, page};

use super::installing::StoreArgs;
use crate::args::OutputFormat;
use crate::output::{self, ExitAnswer, visible};

/// List the scans of installs, updates and audits, or show the report of one
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:
  skillsandbox reports
  skillsandbox reports weather-lookup
  skillsandbox reports show 3f2a91c0
  skillsandbox reports prune --keep 10"
)]
pub(crate) struct ReportsArgs {
    #[command(subcommand)]
    verb: Option<ReportVerb>,

    /// Only those of this skill
    #[arg(value_name = "NAME")]
    name: Option<String>,

    /// How to show it
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: OutputFormat,

    #[command(flatten)]
    place: StoreArgs,
}

#[derive(Debug, Subcommand)]
enum ReportVerb {
    /// Show the report of one scan
    Show {
        /// Its id, or the beginning of it
        #[arg(value_name = "ID")]
        id: String,

        #[command(flatten)]
        place: StoreArgs,
    },
    /// Remove all but the newest reports of each skill; what the lock names stays
    Prune {
        /// How many are kept of each skill
        #[arg(long, value_name = "N", default_value_t = KEEP_REPORTS)]
        keep: usize,

        #[command(flatten)]
        place: StoreArgs,
    },
}

impl ReportsArgs {
    pub(crate) fn run(&self) -> anyhow::Result<ExitAnswer> {
        if let Some(ReportVerb::Show { id, place }) = &self.verb {
            let page = page(&place.layout()?, id)?;
            output::result(&(page.lines().map(visible).collect::<Vec<_>>().join("\n") + "\n"))?;
            return Ok(ExitAnswer::Yes);
        }
        if let Some(ReportVerb::Prune { keep, place }) = &self.verb {
            let removed = place.store(None)?.prune_reports(*keep)?;
            output::result(&format!("removed {removed} reports\n"))?;
            return Ok(ExitAnswer::Yes);
        }
        let rows = index(&self.place.layout()?, self.name.as_deref())?;
        if self.format == OutputFormat::Json {
            output::json(&serde_json::to_value(&rows)?)?;
            return Ok(ExitAnswer::Yes);
        }
        if rows.is_empty() {
            output::message("nothing was scanned here");
        }
        let mut text = String::new();
        for row in rows {
            let id: String = row.scan_id.chars().take(8).collect();
            let _ = writeln!(
                text,
                "{}  {}  {:<8} {}  {}",
                visible(&id),
                visible(&row.scanned_at),
                visible(&row.verdict),
                visible(&row.skill),
                visible(&row.source)
            );
        }
        output::result(&text)?;
        Ok(ExitAnswer::Yes)
    }
}
