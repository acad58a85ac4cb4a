//! `skillsandbox install`: a skill from elsewhere, scanned before it is there.

use clap::Args;
use skillsandbox_store::SkillSource;

use super::installing::{FetchArgs, Prompt, StoreArgs, approval, refused, tell};
use crate::args::OutputFormat;
use crate::output::ExitAnswer;

/// Fetch a skill, scan it, and install it only if it passes
///
/// SAFE is installed, WARNING is asked about, BLOCKED is refused. Nothing of the skill is executed, and nothing of it is written to the
/// store before it was scanned.
#[derive(Debug, Args)]
#[command(after_help = "Sources:
  skills/weather, weather.md                       a folder or a document
  weather.zip, weather.skill, .tar, .tar.gz, .tgz, .tar.zst
  github:owner/repo/skills/weather@v1.2            a folder of a repository, at a branch, tag or commit
  https://git.example/team/skills.git#main:weather the same of any git server
  file:///srv/skills#:weather                      and of this machine

Examples:
  skillsandbox install github:owner/skills/weather
  skillsandbox install github:owner/skills/weather --judge --judge-model llama3.1    # with a second opinion
  skillsandbox install --force downloads/weather.zip    # after a review of the warnings
  skillsandbox install --system-dir ~/skillos agents/researcher.md

Exit codes: 0 it is installed, 1 it was refused, blocked or declined, 2 an error.")]
pub(crate) struct InstallArgs {
    /// Where the skill is
    #[arg(value_name = "SOURCE")]
    source: String,

    /// Install it in spite of warnings; the lock says so. It does not help against BLOCKED
    #[arg(long)]
    force: bool,

    /// How to show the result
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: OutputFormat,

    #[command(flatten)]
    fetching: FetchArgs,

    #[command(flatten)]
    place: StoreArgs,
}

impl InstallArgs {
    pub(crate) fn run(&self) -> anyhow::Result<ExitAnswer> {
        let source: SkillSource = self.source.parse()?;
        let store = self.place.fetching_store(Some(&source), &self.fetching)?;
        let policy = store.policy().clone();
        match store.install(source, approval(self.force), &mut Prompt { policy: policy.clone() }) {
            Ok(outcome) => tell(&outcome, &policy, self.format),
            Err(error) => refused(error),
        }
    }
}
