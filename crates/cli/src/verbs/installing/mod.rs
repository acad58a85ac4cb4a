//! What the verbs about installed skills have in common: which store, who is asked, and how git is held.

mod prompt;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context as _;
use clap::Args;
use serde_json::{Value, json};
use skillsandbox_run::{AddressPin, ConfinedGit, UserPolicy};
use skillsandbox_scanner::ScanVerdict;
use skillsandbox_store::{
    Approval, Error, InstallOutcome, InstallResult, OwnManifest, PermissionDiff, SkillSource, Store,
    StoreLayout,
};

use crate::args::OutputFormat;
use crate::output::{self, ExitAnswer, message, visible};
use crate::style::{RED, RESET, YELLOW};
use crate::verbs::judging::{JudgeArgs, Sending};
use crate::verbs::policy::load_policy;
use crate::verbs::run_history::user_history;
use crate::verbs::running::flags::pin;
use crate::verbs::scan::ReportView;
use crate::verbs::scan::output::{as_text, report_json};

pub(super) use prompt::Prompt;

/// Which store.
#[derive(Debug, Args)]
pub(super) struct StoreArgs {
    /// A tree as `SkillOS` has it (system/skills, system/packages.lock, system/security) instead of the user's own store
    #[arg(long, value_name = "DIR")]
    system_dir: Option<PathBuf>,

    /// A policy file instead of ~/.config/skillsandbox/policy.yaml; its `scan` section applies here
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,

    /// Wait this many seconds at most for another skillsandbox that works on the store; 0 not at all; without it, as long as it takes
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32))]
    wait: Option<u32>,
}

/// How git reaches a server.
#[derive(Debug, Args)]
pub(super) struct FetchArgs {
    /// Let a name lead to this address, as curl has it; for tests and development
    #[arg(long, value_name = "HOST:PORT:ADDR", value_parser = pin)]
    resolve: Vec<AddressPin>,

    #[command(flatten)]
    judge: JudgeArgs,
}

impl StoreArgs {
    pub(super) fn layout(&self) -> anyhow::Result<StoreLayout> {
        match &self.system_dir {
            Some(dir) => {
                let dir = dir.canonicalize().with_context(|| format!("cannot find {}", dir.display()))?;
                Ok(StoreLayout::system(dir))
            }
            None => {
                StoreLayout::user().context("there is no home to keep skills in; set HOME or XDG_DATA_HOME")
            }
        }
    }

    /// The store, under the user's policy. One that lies in the skill to be judged is refused.
    pub(super) fn store(&self, source: Option<&SkillSource>) -> anyhow::Result<Store> {
        Ok(self.open_store(self.layout()?, source.and_then(local_folder), &[])?.0)
    }

    /// The same, for what fetches.
    pub(super) fn fetching_store(
        &self,
        source: Option<&SkillSource>,
        fetching: &FetchArgs,
    ) -> anyhow::Result<Store> {
        self.judging_store(self.layout()?, source.and_then(local_folder), fetching)
    }

    /// The same, for what fetches installed skills again: all of them where none is named. Their sources are in the lock.
    pub(super) fn updating_store(&self, names: &[String], fetching: &FetchArgs) -> anyhow::Result<Store> {
        let layout = self.layout()?;
        let lock = Store::new(layout.clone()).list()?;
        let fetched = lock.entries().filter(|entry| names.is_empty() || names.contains(&entry.name));
        // A source that cannot be read is told of when its skill is fetched.
        let sources = fetched.filter_map(|entry| entry.source.parse().ok());
        let folders: Vec<PathBuf> = sources.filter_map(|source| local_folder(&source)).collect();
        self.judging_store(layout, folders, fetching)
    }

    /// The same with a second opinion, where one is asked for.
    fn judging_store(
        &self,
        layout: StoreLayout,
        sources: impl IntoIterator<Item = PathBuf>,
        fetching: &FetchArgs,
    ) -> anyhow::Result<Store> {
        let (store, policy) = self.open_store(layout, sources, &fetching.resolve)?;
        Ok(match fetching.judge.open(&policy, Sending::Asked)? {
            Some(judge) => store.with_judge(judge),
            None => store,
        })
    }

    /// A policy is not taken from an installed skill, nor from these sources.
    fn open_store(
        &self,
        layout: StoreLayout,
        sources: impl IntoIterator<Item = PathBuf>,
        pins: &[AddressPin],
    ) -> anyhow::Result<(Store, UserPolicy)> {
        let judged = std::iter::once(layout.skills()).chain(sources);
        let policy = load_policy(self.policy.as_deref(), judged)?;
        let git = ConfinedGit::new(user_history()).pins(pins.iter().cloned());
        let waiting = || message("another skillsandbox is working on this store; waiting for it");
        let store = Store::new(layout).with_policy(policy.clone()).with_git(git).on_waiting(waiting);
        let store = match self.wait {
            Some(seconds) => store.wait_at_most(Duration::from_secs(seconds.into())),
            None => store,
        };
        Ok((store, policy))
    }
}

/// The folder, or the file, of this machine that a skill is read from.
fn local_folder(source: &SkillSource) -> Option<PathBuf> {
    match source {
        SkillSource::Local(path) => Some(path.clone()),
        _ => None,
    }
}

/// How a report is shown where warnings are asked about, and so stop something.
pub(super) fn review_view(policy: &UserPolicy) -> ReportView<'_> {
    ReportView { policy, refused_from: ScanVerdict::Warning, capabilities: false }
}

pub(super) fn approval(force: bool) -> Approval {
    if force { Approval::Forced } else { Approval::Ask }
}

/// Says what became of an install or an update. Whether it is there now.
pub(super) fn tell(
    outcome: &InstallResult,
    policy: &UserPolicy,
    format: OutputFormat,
) -> anyhow::Result<ExitAnswer> {
    let there = !matches!(outcome.done, InstallOutcome::Blocked | InstallOutcome::Declined);
    let answer = if there { ExitAnswer::Yes } else { ExitAnswer::No };
    if format == OutputFormat::Json {
        output::json(&as_json(outcome, policy))?;
        return Ok(answer);
    }
    let name = visible(&outcome.name);
    let verdict = outcome.report.verdict.as_str();
    match outcome.done {
        InstallOutcome::Installed => output::result(&format!("installed {name} ({verdict})\n"))?,
        InstallOutcome::Updated => output::result(&format!("updated {name} ({verdict})\n"))?,
        InstallOutcome::Unchanged => {
            output::result(&format!("{name} is there already, unchanged ({verdict})\n"))?;
        }
        InstallOutcome::Blocked => {
            message(&as_text(&outcome.page, &outcome.report, review_view(policy)));
            if outcome.report.has_nothing_to_judge() {
                message(&format!("{name} was not installed: there is nothing in it to judge"));
            } else {
                message(&format!(
                    "{name} was not installed: it is {verdict}. No flag changes that; a reviewed suppression in the policy file, with a \
                     reason, does: `skillsandbox allow`, as printed above"
                ));
            }
        }
        InstallOutcome::Declined => message(&format!("{name} was not installed: not confirmed")),
    }
    if let Some(diff) = outcome.diff.as_ref().filter(|_| there) {
        message(differences(diff).trim_end());
    }
    if let Some(own) = outcome.own_manifest.as_ref().filter(|_| there) {
        tell_own_manifest(own);
    }
    message(&format!("report: {}", visible(&outcome.page.display().to_string())));
    Ok(answer)
}

/// How the user's own manifest goes with the version that is there now.
fn tell_own_manifest(own: &OwnManifest) {
    let path = visible(&own.path.display().to_string());
    if own.moved {
        message(&format!(
            "{YELLOW}a manifest that was put into its folder by hand was moved{RESET} to your own manifests: {path}"
        ));
    }
    for name in &own.gone {
        message(&format!(
            "  {YELLOW}{path} names {}, which this version does not have{RESET}",
            visible(name)
        ));
    }
    if let Some(diff) = &own.differences {
        message(&format!("this version has a manifest of its own; yours goes before it: {path}"));
        let differences = differences(diff);
        if differences.is_empty() {
            message("  both allow the same: yours can be removed");
        } else {
            message(&format!(
                "  its own wants more (+) and less (-) than yours:\n{}",
                differences.trim_end()
            ));
        }
    }
    if own.gone.is_empty() && own.differences.is_none() && !own.moved {
        message(&format!("your own manifest stays: {path}"));
    }
}

fn as_json(outcome: &InstallResult, policy: &UserPolicy) -> Value {
    let done = match outcome.done {
        InstallOutcome::Installed => "installed",
        InstallOutcome::Updated => "updated",
        InstallOutcome::Unchanged => "unchanged",
        InstallOutcome::Blocked => "blocked",
        InstallOutcome::Declined => "declined",
    };
    json!({
        "name": outcome.name,
        "done": done,
        "page": outcome.page,
        "permissions": outcome.diff,
        "own_manifest": outcome.own_manifest,
        "report": report_json(&outcome.report, policy),
    })
}

/// What changed in a declaration, a line each.
pub(super) fn differences(diff: &PermissionDiff) -> String {
    let wider = diff.wider.iter().map(|item| format!("  {YELLOW}+ {}{RESET}\n", visible(&item.to_string())));
    let narrower = diff.narrower.iter().map(|item| format!("  - {}\n", visible(&item.to_string())));
    wider.chain(narrower).collect()
}

/// A skill that was refused for what it is is an answer; everything else an error.
pub(super) fn refused(error: Error) -> anyhow::Result<ExitAnswer> {
    if !error.is_refusal() {
        return Err(error.into());
    }
    message(&format!("{RED}refused{RESET}: {}", visible(&error.to_string())));
    Ok(ExitAnswer::No)
}
