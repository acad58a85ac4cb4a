//! `skillsandbox run`: a skill in the sandbox.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use skillsandbox_run::{
    Job, LoadChoice, LoadedSkill, ManifestOrigin, PersonGrants, Refusal, RunRequest, RunStatus,
    ScanAdmission, SkillCall, UserPolicy, read_parameters, refuse_unloaded, run_skill,
};
use skillsandbox_text::quote_word;

use super::run_history::tidy_later;
use super::running::flags::RunFlags;
#[cfg(target_os = "linux")]
use super::running::grants::AskedReach;
use super::running::grants::{GrantFlags, NarrowFlags};
use super::running::{self, skill_target::SkillTarget};
use crate::args::OutputFormat;
use crate::output::{ExitAnswer, message, visible};

/// What the history calls it.
const VERB: &str = "run";

/// Run a skill in the sandbox, held to what it declares, and record what it really tries
#[derive(Debug, Args)]
#[command(
    after_help = "The skill's own output goes to standard output and standard error, unchanged; a summary follows on standard error.

Parameters reach the skill as variables: SKILL_PARAM_CITY for `city`, and all of them as one JSON object in SKILL_PARAMETERS.

Exit codes: the skill's own; 124 it reached its time limit, 125 it was refused or the sandbox failed, 126 the entrypoint cannot be executed,
127 it was not found, 128+n ended by signal n.

Without an entrypoint, ARGS are the command. What has a slash is a folder; a name is that of an installed skill.

Examples:
  skillsandbox run pdf --workspace . -- python3 scripts/check.py in.pdf
  skillsandbox run pdf --dry-run -- python3 scripts/check.py in.pdf
  skillsandbox run --dry-run examples/skills/weather
  skillsandbox run examples/skills/weather --set city=Oslo
  skillsandbox run --watch skills/report -- --verbose
  skillsandbox run --format json skills/weather --set city=Oslo | jq .denials"
)]
pub(crate) struct RunArgs {
    /// An installed skill, by its name; or a skill's folder, written with a slash: ./skill
    #[arg(value_name = "NAME|DIR")]
    skill: PathBuf,

    /// Go by this manifest, instead of your own for this skill and the skill's
    #[arg(long, value_name = "FILE")]
    manifest: Option<PathBuf>,

    /// The value of a parameter: a text as it is, anything else as JSON
    #[arg(long = "set", value_name = "NAME=VALUE")]
    values: Vec<String>,

    /// Narrow by this policy file instead of ~/.config/skillsandbox/policy.yaml
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,

    /// Run it even if the scanner or the policy's `fail_on` refuses it; the trace says so
    #[arg(long)]
    skip_scan: bool,

    /// Look for NAME in this tree (system/skills, system/packages.lock) instead of your own store
    #[arg(long, value_name = "DIR")]
    system_dir: Option<PathBuf>,

    #[command(flatten, next_help_heading = "Grants for this run")]
    grants: GrantFlags,

    #[command(flatten, next_help_heading = "Less for this run")]
    narrow: NarrowFlags,

    #[command(flatten, next_help_heading = "The run")]
    flags: RunFlags,

    /// Arguments that come after the manifest's own; where it has no entrypoint, the command
    #[arg(value_name = "ARGS", last = true)]
    arguments: Vec<OsString>,
}

impl RunArgs {
    /// What decides how far it reaches.
    #[cfg(target_os = "linux")]
    pub(crate) fn asked_reach(&self) -> AskedReach<'_> {
        AskedReach {
            grants: Some(&self.grants),
            manifest: self.manifest.as_deref(),
            policy: self.policy.as_deref(),
            best_effort: &self.flags.best_effort,
            skips_scan: self.skip_scan,
            ..AskedReach::default()
        }
    }

    pub(crate) fn run(&self) -> anyhow::Result<ExitAnswer> {
        let grants = self.grants.for_skill(&self.narrow)?;
        let skill = match self.load(grants) {
            Ok(skill) => skill,
            Err(refusal) => return self.refuse(None, refusal),
        };
        match self.prepared(&skill) {
            Ok(answer) => answer,
            Err(refusal) => self.refuse(Some(&skill), refusal),
        }
    }

    fn load(&self, grants: PersonGrants) -> Result<LoadedSkill, Refusal> {
        let target = SkillTarget::find(&self.skill, self.system_dir.as_deref())?;
        let policy = UserPolicy::load(self.policy.as_deref(), [&target.folder])?;
        let mut choice = LoadChoice::default();
        choice.manifest.clone_from(&self.manifest);
        choice.installed = target.installed;
        choice.workspace = self.grants.workspace()?;
        choice.grants = grants;
        choice.path_base = std::env::current_dir().ok();
        let skill = LoadedSkill::load_with(&target.folder, &choice, &policy)?;
        if let Some(remark) = skill.remark() {
            message(&visible(remark));
        }
        Ok(skill)
    }

    fn values(&self) -> impl Iterator<Item = &str> {
        self.values.iter().map(String::as_str)
    }

    /// Says, and records, why there was no run to report on.
    fn refuse(&self, skill: Option<&LoadedSkill>, refusal: Refusal) -> anyhow::Result<ExitAnswer> {
        let request = RunRequest::new(VERB, &self.arguments)
            .typed_values(self.values(), skill.map(LoadedSkill::manifest));
        let report = refuse_unloaded(&self.skill, &request, self.flags.history()?.as_ref(), refusal);
        if let Err(refusal) = &report.ended {
            running::show_refusal(self.flags.format, refusal)?;
        }
        tidy_later(&report);
        Ok(ExitAnswer::Code(report.exit_code()))
    }

    fn prepared(&self, skill: &LoadedSkill) -> Result<anyhow::Result<ExitAnswer>, Refusal> {
        let parameters = read_parameters(skill.manifest(), self.values())?;
        let call = SkillCall { arguments: self.arguments.clone(), parameters };
        let admission =
            if self.skip_scan { ScanAdmission::DangerouslySkipped } else { ScanAdmission::Required };
        if self.flags.dry_run {
            let mut job = skill.job(&call)?;
            job.notes.push(("scan".to_owned(), admission.admit(skill)?));
            self.flags.apply(&mut job, None);
            return Ok(running::dry_run(&self.flags, &job));
        }
        let kept = match self.flags.keep_tmp() {
            Ok(kept) => kept,
            Err(error) => return Ok(Err(error)),
        };
        let history = match self.flags.history() {
            Ok(history) => history,
            Err(error) => return Ok(Err(error)),
        };
        let mut lacks_something = false;
        let answer = running::run(&self.flags, VERB, |options| {
            let adjust = |job: &mut Job| {
                // Not before: what scans has many busy threads.
                running::prepare_threads();
                self.flags.apply(job, kept.as_ref());
            };
            let report = run_skill(skill, &call, admission, history.as_ref(), adjust, options);
            let is_whole = report.status() == RunStatus::Success && report.denied.denials.is_empty();
            lacks_something = report.ended.is_ok() && report.alarm.is_none() && !is_whole;
            report
        });
        let is_told = self.flags.format == OutputFormat::Text && !self.flags.quiet;
        if lacks_something && is_told && *skill.origin() == ManifestOrigin::Defaults {
            let name = quote_word(&self.skill.to_string_lossy());
            message(&visible(&format!(
                "it ran with safe defaults; `skillsandbox learn {name} -- …` finds out what it needs"
            )));
        }
        Ok(answer)
    }
}
