//! `skillsandbox learn`: a manifest from what a skill is seen to need.

mod checked;
pub(in crate::verbs) mod destination;
mod progress;
mod review;
mod shown;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Read as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use clap::Args;
use skillsandbox_learn::{
    FileGrant, LearnPlaces, ManifestDraft, RaisedLimit, Rehearsal, RehearsalResult, StaticFacts,
};
use skillsandbox_manifest::Manifest;
use skillsandbox_run::{
    AddressPin, LoadChoice, LoadedSkill, ManifestOrigin, Refusal, ScanAdmission, SkillCall, UserPolicy,
    read_parameters, real_path,
};

use skillsandbox_scanner::SkillFiles;

use super::running::grants::{GrantFlags, NarrowFlags};
use super::running::{self, flags, signals, skill_target::SkillTarget};
use crate::args::OutputFormat;
use crate::output::{ExitAnswer, message, visible};

use destination::ManifestDestination;
use progress::RoundProgress;
use review::Review;

/// Most bytes of standard input.
const MOST_INPUT: u64 = 16 << 20;
/// The exit code of what was interrupted.
const INTERRUPTED: u8 = 130;
/// The variables that a skill without a manifest is handed.
const HANDED: [&str; 2] = ["LANG", "PATH"];

/// Rehearse a skill in the sandbox, and write the manifest of what it needs
#[derive(Debug, Args)]
#[command(
    after_help = "Nothing of this machine is changed: what the skill writes ends with the rehearsal, and no packet leaves but to --allow-host.
Each round grants what the last one wanted, five at most. Credentials, start-up files, /proc and your home as a whole are never granted.

On a terminal you are asked for each grant. Without one, --yes-files accepts the files that were seen and --allow-host the hosts; without
these only a draft is written.

Exit codes: 0 the manifest is written and the skill ended well with it, 1 only a draft, or the skill did not end well, 125 refused.

Examples:
  skillsandbox learn ./skills/pdf --workspace . -- python3 scripts/fill.py in.pdf
  skillsandbox learn pdf --workspace ~/forms --yes-files -- python3 scripts/fill.py in.pdf
  skillsandbox learn ./skills/weather --allow-host api.weather.test -- --city Oslo
  skillsandbox learn --verify pdf --workspace ~/forms -- python3 scripts/fill.py in.pdf
  skillsandbox learn --diff pdf --trace run.json"
)]
#[allow(clippy::struct_excessive_bools, reason = "flags are flags")]
pub(crate) struct LearnArgs {
    /// An installed skill, by its name; or a skill's folder, written with a slash: ./skill
    #[arg(value_name = "NAME|DIR")]
    skill: PathBuf,

    /// Accept the files that were seen to be needed, without asking
    #[arg(long)]
    yes_files: bool,

    /// Rehearse without each grant of the manifest, and say which are needed; write nothing
    #[arg(long, conflicts_with_all = ["yes_files", "output", "diff"])]
    verify: bool,

    /// Show what is declared and unused, and what is used and undeclared; write nothing
    #[arg(long, conflicts_with_all = ["yes_files", "output"])]
    diff: bool,

    /// Compare with this trace of an earlier run, instead of a rehearsal
    #[arg(long, value_name = "FILE", requires = "diff")]
    trace: Option<PathBuf>,

    /// Write the manifest to this file
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// The value of a parameter: a text as it is, anything else as JSON
    #[arg(long = "set", value_name = "NAME=VALUE")]
    values: Vec<String>,

    /// Narrow by this policy file instead of ~/.config/skillsandbox/policy.yaml
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,

    /// Rehearse it even if the scanner or the policy's `fail_on` refuses it
    #[arg(long)]
    skip_scan: bool,

    /// Look for NAME in this tree (system/skills, system/packages.lock) instead of your own store
    #[arg(long, value_name = "DIR")]
    system_dir: Option<PathBuf>,

    /// End each rehearsal after this many seconds
    #[arg(long, value_name = "SECONDS", value_parser = flags::seconds)]
    timeout: Option<Duration>,

    /// Give standard input to each rehearsal, 16 MiB at most; without this flag it is empty
    #[arg(long)]
    stdin: bool,

    /// Connect to ADDR instead of HOST:PORT, like curl's --resolve; ADDR may include a port
    #[arg(long, value_name = "HOST:PORT:ADDR", value_parser = flags::pin)]
    resolve: Vec<AddressPin>,

    /// How to show the result
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: OutputFormat,

    #[command(flatten, next_help_heading = "What a rehearsal has")]
    grants: GrantFlags,

    /// Arguments that come after the manifest's own; where it has no entrypoint, the command
    #[arg(value_name = "ARGS", last = true)]
    arguments: Vec<OsString>,
}

impl LearnArgs {
    pub(crate) fn run(&self) -> anyhow::Result<ExitAnswer> {
        match self.learn() {
            Ok(answer) => answer,
            Err(refusal) => {
                running::show_refusal(self.format, &refusal)?;
                Ok(ExitAnswer::Code(refusal.exit_code()))
            }
        }
    }

    /// What is refused is the outer error.
    fn learn(&self) -> Result<anyhow::Result<ExitAnswer>, Refusal> {
        let target = SkillTarget::find(&self.skill, self.system_dir.as_deref())?;
        let policy = UserPolicy::load(self.policy.as_deref(), [&target.folder])?;
        let mut choice = LoadChoice::default();
        choice.installed = target.installed;
        choice.workspace = self.grants.workspace()?;
        choice.grants = match self.grants.for_skill(&NarrowFlags::default()) {
            Ok(grants) => grants,
            Err(error) => return Ok(Err(error)),
        };
        let skill = LoadedSkill::load_with(&target.folder, &choice, &policy)?;
        skill.remark().into_iter().for_each(|remark| message(&visible(remark)));
        let workspace = choice.workspace.as_ref().map(skillsandbox_run::Workspace::folder);
        let mut places = LearnPlaces::new(skill.folder(), workspace).ok_or(Refusal::NoHome)?;
        places.named_folders = choice.grants.read.iter().map(|path| real_path(path)).collect();
        places.named_grants = named_grants(&skill, &choice, &places)?;
        places.handed = places.named_grants.iter().map(|grant| grant.path().to_owned()).collect();
        if let Some(trace) = &self.trace {
            let seen = checked::seen_in(trace, skill.manifest(), &places);
            return Ok(seen.and_then(|seen| checked::diff(skill.manifest(), &seen, &places, self.format)));
        }
        let admission =
            if self.skip_scan { ScanAdmission::DangerouslySkipped } else { ScanAdmission::Required };
        admission.admit(&skill)?;
        let parameters = read_parameters(skill.manifest(), self.values.iter().map(String::as_str))?;
        let call = SkillCall { arguments: self.arguments.clone(), parameters };
        let mut job = skill.job(&call)?;
        job.pins.extend(self.resolve.iter().cloned());
        if self.timeout.is_some() {
            job.limits.timeout = self.timeout;
        }
        let mut rehearsal = Rehearsal::new(job, places);
        rehearsal.open_to(&choice.grants.egress);
        if self.stdin {
            match read_input() {
                Ok(input) => rehearsal.input = Some(input),
                Err(error) => return Ok(Err(error)),
            }
        }
        if *skill.origin() == ManifestOrigin::Defaults {
            rehearsal.doubted_variables = HANDED.map(str::to_owned).to_vec();
        }
        if let Err(error) = signals::watch(&rehearsal.stop) {
            return Ok(Err(error));
        }
        if self.verify {
            return checked::verify(&rehearsal, &declared_manifest(&skill)?, self.format);
        }
        let result = rehearsal.learn(&mut RoundProgress::new(self.format))?;
        if rehearsal.stop.is_stopped() {
            message("interrupted; nothing is written");
            return Ok(Ok(ExitAnswer::Code(INTERRUPTED)));
        }
        if let Err(error) = signals::release() {
            return Ok(Err(error));
        }
        if self.diff {
            let manifest = declared_manifest(&skill)?;
            return Ok(checked::diff(&manifest, &result.seen, &rehearsal.places, self.format));
        }
        Ok(self.conclude(&skill, &choice, &rehearsal, &result))
    }

    /// Asks what is accepted, and writes that.
    fn conclude(
        &self,
        skill: &LoadedSkill,
        choice: &LoadChoice,
        rehearsal: &Rehearsal,
        result: &RehearsalResult,
    ) -> anyhow::Result<ExitAnswer> {
        let destination = ManifestDestination::find(skill, choice, self.output.as_deref())?;
        let is_carried_over = destination.is_carried_over(skill);
        let mut draft = destination.draft(skill, &rehearsal.places, &result.needed_variables)?;
        let review = Review::new(self.yes_files, self.format);
        review.show_findings(result);
        let is_accepted = review.accept(&mut draft, result, &rehearsal.places)?;
        for name in skill.granted().env.iter().map(ToString::to_string) {
            draft.grant_variable(&name, "named by --env");
        }
        let left_out = if is_carried_over {
            let manifest = declared_manifest(skill)?;
            review.accept_declared(&mut draft, &manifest, &choice.grants, &rehearsal.places)?
        } else {
            Vec::new()
        };
        let variables = read_variables(skill, &draft)?;
        review.ask_for_variables(&mut draft, &variables)?;
        let declared = skill.manifest().resources().runtime;
        let runtime = RaisedLimit::runtime(result.last.exit.duration, declared, self.timeout);
        result.raised.iter().chain(&runtime).for_each(|limit| draft.raise_limit(limit));
        let text = draft.to_text().context("no manifest is written")?;
        let written = if is_accepted { destination.write(&text)? } else { destination.write_draft(&text)? };
        let went_well = result.last.exit.exit_code == Some(0);
        if self.format == OutputFormat::Json {
            shown::json(result, &text, &written, is_accepted, &variables, &left_out)?;
        } else {
            shown::text(result, &written, is_accepted);
        }
        Ok(if is_accepted && went_well { ExitAnswer::Yes } else { ExitAnswer::No })
    }
}

/// What the person grants by flags, and in a manifest of their own. What a skill's author declares is none of it.
fn named_grants(
    skill: &LoadedSkill,
    choice: &LoadChoice,
    places: &LearnPlaces,
) -> Result<Vec<FileGrant>, Refusal> {
    let reads = choice.grants.read.iter().map(|path| FileGrant::Read(real_path(path)));
    let mut named: Vec<FileGrant> =
        reads.chain(choice.grants.write.iter().map(|path| FileGrant::Write(real_path(path)))).collect();
    if matches!(skill.origin(), ManifestOrigin::User(_) | ManifestOrigin::File(_)) {
        let bases = places.bases();
        let manifest = declared_manifest(skill)?;
        let files = manifest.filesystem();
        named.extend(files.read.iter().map(|grant| FileGrant::Read(real_path(&grant.value.resolve(&bases)))));
        named.extend(
            files.write.iter().map(|grant| FileGrant::Write(real_path(&grant.value.resolve(&bases)))),
        );
    }
    Ok(named)
}

/// All of standard input, for every rehearsal again.
fn read_input() -> anyhow::Result<Arc<[u8]>> {
    let mut input = Vec::new();
    let read = std::io::stdin().lock().take(MOST_INPUT + 1).read_to_end(&mut input);
    read.context("cannot read standard input")?;
    ensure!(input.len() as u64 <= MOST_INPUT, "standard input is longer than 16 MiB");
    Ok(input.into())
}

/// Variables that the skill's scripts read by name, each with where, and that the draft does not hand on.
fn read_variables(
    skill: &LoadedSkill,
    draft: &ManifestDraft,
) -> anyhow::Result<BTreeMap<String, Vec<String>>> {
    let scanner = skill.policy().scanner_builder()?.list_capabilities().build();
    let files = SkillFiles::from_dir(skill.folder())?;
    let mut variables = StaticFacts::of(&files, &scanner.scan(&files)).variables;
    variables.retain(|name, _| !draft.env.iter().any(|entry| entry.value == *name));
    Ok(variables)
}

/// What is declared, without what the person adds for the rehearsal.
fn declared_manifest(skill: &LoadedSkill) -> Result<Manifest, Refusal> {
    Ok(match skill.origin() {
        ManifestOrigin::Skill => Manifest::load(skill.folder())?,
        ManifestOrigin::User(file) | ManifestOrigin::File(file) => Manifest::load_file(file)?,
        ManifestOrigin::Defaults => {
            let identity = skill.manifest().skill();
            Manifest::safe_defaults(&identity.name.value, &identity.version.value)
                .map_err(|fault| Refusal::Unscanned(fault.to_string()))?
        }
    })
}
