//! `skillsandbox init`: a first manifest, of what a skill's files say.

use std::path::PathBuf;

use anyhow::bail;
use clap::Args;
use skillsandbox_learn::{StaticFacts, init_draft};
use skillsandbox_manifest::SkillDoc;
use skillsandbox_run::{LoadChoice, Refusal, SkillKey, UserPolicy};
use skillsandbox_scanner::SkillFiles;

use super::learn::destination::ManifestDestination;
use super::running::{self, skill_target::SkillTarget};
use crate::output::{self, ExitAnswer, message, visible};
use crate::style::{BOLD, RESET};

/// Write a first manifest for a skill, of what its files say; nothing is run
#[derive(Debug, Args)]
#[command(
    after_help = "Each entry has the file and line that speaks for it as a comment. `learn` adds what the skill is seen to need.

For a folder it is written there; for an installed skill to your own manifests, which an update leaves alone.

Examples:
  skillsandbox init ./skills/pdf
  skillsandbox init pdf --print"
)]
pub(crate) struct InitArgs {
    /// An installed skill, by its name; or a skill's folder, written with a slash: ./skill
    #[arg(value_name = "NAME|DIR")]
    skill: PathBuf,

    /// Print it, and write nothing
    #[arg(long)]
    print: bool,

    /// Replace a manifest that is there
    #[arg(long)]
    force: bool,

    /// Write it even if the scanner or the policy's `fail_on` refuses the skill
    #[arg(long)]
    skip_scan: bool,

    /// Judge it by this policy file instead of ~/.config/skillsandbox/policy.yaml
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,

    /// Look for NAME in this tree (system/skills, system/packages.lock) instead of your own store
    #[arg(long, value_name = "DIR")]
    system_dir: Option<PathBuf>,
}

impl InitArgs {
    pub(crate) fn run(&self) -> anyhow::Result<ExitAnswer> {
        match self.make() {
            Ok(answer) => answer,
            Err(refusal) => {
                running::refused(&refusal);
                Ok(ExitAnswer::Code(refusal.exit_code()))
            }
        }
    }

    /// What is refused is the outer error.
    fn make(&self) -> Result<anyhow::Result<ExitAnswer>, Refusal> {
        let target = SkillTarget::find(&self.skill, self.system_dir.as_deref())?;
        let policy = UserPolicy::load(self.policy.as_deref(), [&target.folder])?;
        let mut choice = LoadChoice::default();
        choice.installed = target.installed;
        let key = SkillKey::of(&target.folder, &choice)?;
        let scanner = policy.scanner_builder()?.list_capabilities().build();
        let files =
            SkillFiles::from_dir(&target.folder).map_err(|error| Refusal::Unscanned(error.to_string()))?;
        let report = scanner.scan(&files);
        if let Some(refusal) = policy.refusal(&report).filter(|_| !self.skip_scan) {
            return Err(refusal);
        }
        let front = SkillDoc::load(&target.folder).ok().and_then(|(doc, _)| doc.front_matter);
        let draft = init_draft(&key.name, front.as_ref(), &StaticFacts::of(&files, &report));
        let text = match draft.to_text() {
            Ok(text) => text,
            Err(error) => return Ok(Err(error.into())),
        };
        if self.print {
            return Ok(output::result(&text).map(|()| ExitAnswer::Yes));
        }
        let destination = ManifestDestination::of_folder(&target.folder, &choice)?;
        Ok(self.write(&destination, &text))
    }

    fn write(&self, destination: &ManifestDestination, text: &str) -> anyhow::Result<ExitAnswer> {
        if let Some(there) = destination.existing()?.filter(|_| !self.force) {
            bail!("{} is there already; --force replaces it, --print only shows", there.display());
        }
        let written = destination.write(text)?;
        message(&format!("{BOLD}{}{RESET} is written", visible(&written.display().to_string())));
        message("look at it, then let `skillsandbox learn` find the files it needs");
        Ok(ExitAnswer::Yes)
    }
}
