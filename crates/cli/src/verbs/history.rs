//! `skillsandbox history`: what every run came to. One file a verb, in `history/`.

mod list;
mod pin;
mod show;
mod stats;
mod tidy;
mod verify;

use anstyle::Style;
use anyhow::Context as _;
use clap::{Args, Subcommand, ValueEnum};
use skillsandbox_manifest::user_folders;
use skillsandbox_store::history::{Edge, Filter, History, Status, moment};
use skillsandbox_text::{Escape, Glyphs, Keep};
use skillsandbox_tracer::AttackClass;

use crate::output::{ExitAnswer, message, visible};
use crate::style::{BOLD, DIM, GREEN, RED, RESET, YELLOW};

/// List what was run and what came of it; `show` tells all of one run, `stats` counts them, `verify` checks the chain, `pin` keeps a trace
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(
    after_help = "Every run is recorded, of `run`, `exec`, `serve` and the git of `install` and `update`, refused ones too, unless it has --no-history; secrets are taken out before. The oldest of a
million records, or of 2 GiB, go first. Times are of the clock here; a day (2026-01-31) is meant with its end in --until.

In CSV, a cell that a spreadsheet would take for a formula gets an apostrophe in front; no cell has a line break in it.

Examples:
  skillsandbox history --skill weather-lookup --since 7d
  skillsandbox history --status failure --since 2026-01-01 --until 2026-01-31
  skillsandbox history --class credential_harvesting --format ndjson | jq .execution_id
  skillsandbox history --format csv > audit.csv
  skillsandbox history show 3f2a9c1b
  skillsandbox history stats --since 30d
  skillsandbox history verify"
)]
pub(crate) struct HistoryArgs {
    #[command(subcommand)]
    verb: Option<HistoryVerb>,

    #[command(flatten)]
    list: list::HistoryListArgs,
}

#[derive(Debug, Subcommand)]
enum HistoryVerb {
    Show(show::HistoryShowArgs),
    Stats(stats::HistoryStatsArgs),
    Verify(verify::HistoryVerifyArgs),
    Pin(pin::HistoryPinArgs),
    #[command(hide = true)]
    Tidy(tidy::HistoryTidyArgs),
}

impl HistoryArgs {
    pub(crate) fn run(&self) -> anyhow::Result<ExitAnswer> {
        match &self.verb {
            None => self.list.run(),
            Some(HistoryVerb::Show(verb)) => verb.run(),
            Some(HistoryVerb::Stats(verb)) => verb.run(),
            Some(HistoryVerb::Verify(verb)) => verb.run(),
            Some(HistoryVerb::Pin(verb)) => verb.run(),
            Some(HistoryVerb::Tidy(verb)) => verb.run(),
        }
    }
}

/// Which runs are meant.
#[derive(Debug, Args)]
struct RunFilterArgs {
    /// Only of this skill, or command, by its whole name
    #[arg(long, value_name = "NAME")]
    skill: Option<String>,

    /// From this day or time on, or so long ago: 2026-01-31, 2026-01-31T10:30, 7d, 2h
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,

    /// Up to this day or time
    #[arg(long, value_name = "WHEN")]
    until: Option<String>,

    /// Only those that went so
    #[arg(long, value_name = "STATUS")]
    status: Option<StatusFilter>,

    /// Only those with attempts of this class, such as `credential_harvesting`
    #[arg(long, value_name = "CLASS", value_parser = class)]
    class: Option<String>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum StatusFilter {
    /// Exited with 0
    Success,
    /// Exited otherwise, was ended or was refused
    Failure,
    /// Its time was up
    Timeout,
}

impl RunFilterArgs {
    fn filter(&self) -> anyhow::Result<Filter> {
        let now = jiff::Zoned::now();
        let at = |flag: &str, text: Option<&String>, edge| {
            text.map(|text| moment(text, &now, edge)).transpose().with_context(|| format!("--{flag}"))
        };
        let mut filter = Filter::default();
        filter.skill.clone_from(&self.skill);
        filter.since = at("since", self.since.as_ref(), Edge::Since)?;
        filter.until = at("until", self.until.as_ref(), Edge::Until)?;
        filter.status = self.status.map(|how| match how {
            StatusFilter::Success => Status::Success,
            StatusFilter::Failure => Status::Failure,
            StatusFilter::Timeout => Status::Timeout,
        });
        filter.class.clone_from(&self.class);
        Ok(filter)
    }
}

/// A class by its name; a misspelt one would find nothing, and look like good news.
fn class(text: &str) -> anyhow::Result<String> {
    let name = text.replace('-', "_");
    let known: Result<AttackClass, _> = serde_json::from_value(name.as_str().into());
    // serde's own words list all there are.
    known.map(|_| name).map_err(|error| anyhow::anyhow!("{error}"))
}

/// The history of this user; `None` where nothing was ever recorded.
fn open() -> anyhow::Result<Option<History>> {
    let file = user_folders::history_file()
        .context("there is no home directory: HOME is not set to an absolute path")?;
    let history = History::read(&file)?;
    for note in history.iter().flat_map(History::notes) {
        message(&format!("{YELLOW}warning{RESET}: {}", visible(note)));
    }
    Ok(history)
}

/// Text of unknown origin in so many columns.
fn cut(text: &str, columns: usize) -> String {
    Escape::text(Glyphs::Unicode).cut(text, columns, Keep::Start)
}

/// All of it.
fn whole(text: &str) -> String {
    Escape::text(Glyphs::Unicode).whole(text)
}

fn colour(status: Status) -> Style {
    match status {
        Status::Success => GREEN,
        Status::Failure => RED,
        Status::Timeout => YELLOW,
    }
}

/// A time as a person reads it.
fn duration(milliseconds: u64) -> String {
    match milliseconds {
        0..1000 => format!("{milliseconds} ms"),
        1000..60_000 => format!("{}.{} s", milliseconds / 1000, milliseconds % 1000 / 100),
        _ => format!("{} min {} s", milliseconds / 60_000, milliseconds / 1000 % 60),
    }
}
