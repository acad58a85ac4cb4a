//! `skillsandbox convert`: a declaration of another form as a manifest.

use std::path::PathBuf;

use anyhow::{Context as _, bail};
use clap::Args;
use serde_json::json;
use skillsandbox_learn::{ConvertedSkill, convert_toml};

use crate::args::OutputFormat;
use crate::output::{self, ExitAnswer, message, visible};
use crate::style::{RESET, YELLOW};

/// Convert a declaration in TOML (`[[skills]]`) to a skillsandbox.yaml, and name what cannot be carried over
#[derive(Debug, Args)]
#[command(
    after_help = "The manifest goes to standard output, what is lost to standard error and into the manifest as comments.

Exit codes: 0 all of it was carried over, 1 some of it was not.

Examples:
  skillsandbox convert skills.toml > skillsandbox.yaml
  skillsandbox convert skills.toml --skill kubernetes"
)]
pub(crate) struct ConvertArgs {
    /// The file
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Which of its skills, where it has several
    #[arg(long, value_name = "NAME")]
    skill: Option<String>,

    /// How to show the result
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: OutputFormat,
}

impl ConvertArgs {
    pub(crate) fn run(&self) -> anyhow::Result<ExitAnswer> {
        let shown = || format!("{}", self.file.display());
        let text = std::fs::read_to_string(&self.file).with_context(shown)?;
        let skills = convert_toml(&text).with_context(shown)?;
        let skill = self.choose(&skills)?;
        let manifest = skill.draft.to_text()?;
        match self.format {
            OutputFormat::Text => output::result(&manifest)?,
            OutputFormat::Json => output::json(
                &json!({ "version": 1, "skill": skill.name, "manifest": manifest, "lost": skill.lost }),
            )?,
        }
        if self.format == OutputFormat::Text {
            for lost in &skill.lost {
                message(&format!("{YELLOW}not carried over{RESET}: {}", visible(lost)));
            }
        }
        Ok(if skill.lost.is_empty() { ExitAnswer::Yes } else { ExitAnswer::No })
    }

    fn choose<'s>(&self, skills: &'s [ConvertedSkill]) -> anyhow::Result<&'s ConvertedSkill> {
        let names: Vec<&str> = skills.iter().map(|skill| skill.name.as_str()).collect();
        match (&self.skill, skills) {
            (None, [only]) => Ok(only),
            (None, _) => bail!("it declares several skills; choose one by --skill: {}", names.join(", ")),
            (Some(name), _) => {
                let found = skills.iter().find(|skill| skill.name == *name);
                found.with_context(|| format!("it declares no skill `{name}`, only: {}", names.join(", ")))
            }
        }
    }
}
