//! `skillsandbox history stats`: what many runs came to.

use std::fmt::Write as _;

use clap::Args;
use skillsandbox_store::history::{Counts, SkillStats, Stats};
use unicode_width::UnicodeWidthStr as _;

use super::{BOLD, DIM, GREEN, RED, RESET, RunFilterArgs, YELLOW, cut, open};
use crate::args::OutputFormat;
use crate::output::{self, ExitAnswer};

/// Columns of the longest bar.
const BAR: u64 = 40;
/// Columns of a name.
const NAME: usize = 24;
/// Columns of what was denied.
const WHAT: usize = 100;
/// Skills that are shown to a person.
const SHOWN: usize = 20;

/// Count runs, failures and what was denied most, skill by skill
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  skillsandbox history stats
  skillsandbox history stats --skill weather-lookup --since 30d
  skillsandbox history stats --format json | jq '.skills[] | select(.failures > 0)'")]
pub(super) struct HistoryStatsArgs {
    #[command(flatten)]
    which: RunFilterArgs,

    /// How to show them
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: OutputFormat,
}

impl HistoryStatsArgs {
    pub(super) fn run(&self) -> anyhow::Result<ExitAnswer> {
        let filter = self.which.filter()?;
        let stats = match open()? {
            Some(mut history) => history.stats(&filter)?,
            None => Stats::default(),
        };
        match self.format {
            OutputFormat::Text => output::result(&page(&stats))?,
            OutputFormat::Json => output::json(&serde_json::to_value(&stats)?)?,
        }
        Ok(ExitAnswer::Yes)
    }
}

fn page(stats: &Stats) -> String {
    let total = &stats.total;
    let mut page = format!(
        "{BOLD}runs {}{RESET}: {GREEN}success {}{RESET}, {RED}failure {}{RESET}, {YELLOW}timeout {}{RESET}\n",
        total.runs, total.successes, total.failures, total.timeouts
    );
    if total.runs == 0 {
        return page;
    }
    let _ = writeln!(
        page,
        "{DIM}{GREEN}█{RESET}{DIM} success {RED}▓{RESET}{DIM} failure {YELLOW}░{RESET}{DIM} timeout{RESET}\n"
    );
    let most = stats.skills.iter().map(|skill| skill.counts.runs).max().unwrap_or_default();
    for skill in stats.skills.iter().take(SHOWN) {
        of_skill(&mut page, skill, most);
    }
    if let more @ 1.. = stats.skills_omitted + stats.skills.len().saturating_sub(SHOWN) as u64 {
        let _ = writeln!(page, "{DIM}and {more} more skills: --skill NAME counts one{RESET}");
    }
    if !stats.classes.is_empty() {
        let _ = writeln!(page, "\n{BOLD}what attempts amounted to, in so many runs{RESET}");
        for class in &stats.classes {
            let _ = writeln!(page, "  {:>8}  {}", class.runs, cut(&class.class, WHAT));
        }
    }
    page
}

fn of_skill(page: &mut String, skill: &SkillStats, most: u64) {
    let name = cut(&skill.skill, NAME);
    let room = NAME.saturating_sub(name.width());
    let counts = &skill.counts;
    let _ = writeln!(page, "{BOLD}{name}{RESET}{:room$} {} {}", "", bar(counts, most), counts.runs);
    for denial in &skill.top_denials {
        let times = format!("tried {} x, in runs: {}", denial.count, denial.runs);
        let _ = writeln!(page, "  {YELLOW}denied{RESET} {} {DIM}{times}{RESET}", cut(&denial.what, WHAT));
    }
}

/// As long as there are runs, beside the skill that has most. What there is of each kind has a column at least, so that one failure
/// among thousands is seen.
fn bar(counts: &Counts, most: u64) -> String {
    let columns = |count: u64| {
        let scaled = u128::from(count) * u128::from(BAR) / u128::from(most.max(1));
        usize::try_from(scaled).unwrap_or_default().max(usize::from(count > 0))
    };
    let rest = columns(counts.failures) + columns(counts.timeouts);
    let good = if counts.successes > 0 { columns(counts.runs).saturating_sub(rest).max(1) } else { 0 };
    format!(
        "{GREEN}{}{RED}{}{YELLOW}{}{RESET}",
        "█".repeat(good),
        "▓".repeat(columns(counts.failures)),
        "░".repeat(columns(counts.timeouts))
    )
}
