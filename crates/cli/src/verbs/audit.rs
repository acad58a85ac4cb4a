//! `skillsandbox audit`: are they still what was installed, and would they be today?

use std::fmt::Write as _;
use std::io::IsTerminal as _;

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use skillsandbox_scanner::ScanVerdict;
use skillsandbox_store::{AuditReport, AuditScope};

use super::installing::StoreArgs;
use super::scan::ReportView;
use super::scan::output::as_text;
use crate::args::OutputFormat;
use crate::output::{self, ExitAnswer, visible};
use crate::style::{RED, RESET};

/// Compare installed skills with the lock, and scan them again with today's rules, policy and blocklist
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  skillsandbox audit                      # the whole store: what is installed, and whatever else lies there
  skillsandbox audit weather-lookup
  skillsandbox audit --format json | jq '.skills[] | select(.changed != [])'

Exit codes: 0 all as installed and none BLOCKED, 1 otherwise (also where packages.lock is empty beside skills), 2 an error.")]
pub(crate) struct AuditArgs {
    /// Only this skill
    #[arg(value_name = "NAME", conflicts_with = "all")]
    name: Option<String>,

    /// The whole store, which is the default
    #[arg(long, hide = true)]
    all: bool,

    /// Scan every skill again, also those whose files, rules and policy are the same as in an earlier audit that found nothing in them
    #[arg(long)]
    rescan: bool,

    /// How to show the result
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: OutputFormat,

    #[command(flatten)]
    place: StoreArgs,
}

impl AuditArgs {
    pub(crate) fn run(&self) -> anyhow::Result<ExitAnswer> {
        let scope = match &self.name {
            Some(name) => AuditScope::One(name.clone()),
            None => AuditScope::Everything,
        };
        let bar = bar();
        let store = self.place.store(None)?;
        let store = if self.rescan { store } else { store.remember_audits(None) };
        let audit = store.audit(&scope, &|total| bar.set_length(total as u64), &|| bar.inc(1))?;
        bar.finish_and_clear();
        match self.format {
            OutputFormat::Json => output::json(&serde_json::to_value(&audit)?)?,
            OutputFormat::Text => {
                let policy = store.policy();
                let view = ReportView { policy, refused_from: policy.refused_from(), capabilities: false };
                output::result(&text(&audit, view))?;
            }
        }
        Ok(if audit.clean { ExitAnswer::Yes } else { ExitAnswer::No })
    }
}

fn text(audit: &AuditReport, view: ReportView<'_>) -> String {
    let mut text = String::new();
    let (mut wrong, mut warned) = (0, 0);
    for problem in &audit.problems {
        let _ = writeln!(text, "{RED}wrong{RESET}: {}", visible(problem));
    }
    for skill in &audit.skills {
        wrong += usize::from(!skill.is_clean());
        warned += usize::from(skill.verdict() == Some(ScanVerdict::Warning));
        if let Some(report) = skill.report.as_ref().filter(|report| report.verdict > ScanVerdict::Safe) {
            text.push_str(&as_text(&skill.path, report, view));
        } else if !skill.is_clean() {
            let _ =
                writeln!(text, "{}  ({})", visible(&skill.name), visible(&skill.path.display().to_string()));
        }
        for (what, paths) in
            [("changed", &skill.changed), ("missing", &skill.missing), ("added", &skill.added)]
        {
            for path in paths {
                let _ = writeln!(text, "  {RED}{what}{RESET}: {}", visible(path));
            }
        }
        for problem in &skill.problems {
            let _ = writeln!(text, "  {RED}wrong{RESET}: {}", visible(problem));
        }
    }
    let _ = writeln!(
        text,
        "{} skills: {wrong} changed or BLOCKED, {warned} with warnings, {} fine",
        audit.skills.len(),
        audit
            .skills
            .iter()
            .filter(|skill| skill.is_clean() && skill.verdict() == Some(ScanVerdict::Safe))
            .count()
    );
    text
}

fn bar() -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(0);
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos}/{len} skills, {per_sec}") {
        bar.set_style(style);
    }
    bar
}
