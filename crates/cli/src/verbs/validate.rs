//! `skillsandbox validate`: is this a valid skill?

use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use skillsandbox_manifest::{LoadError, Manifest};

use crate::args::OutputFormat;
use crate::output::{self, ExitAnswer, visible};
use crate::render;

/// Check the manifests of skills
///
/// Reads DIR/skillsandbox.yaml and shows everything that is wrong with it. Runs nothing.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  skillsandbox validate examples/skills/weather
  skillsandbox validate skills/*
  skillsandbox validate --format json skills/weather | jq '.[].diagnostics'")]
pub(crate) struct ValidateArgs {
    /// Folders that hold a skillsandbox.yaml
    #[arg(required = true, value_name = "DIR")]
    dirs: Vec<PathBuf>,

    /// How to show the result
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: OutputFormat,
}

impl ValidateArgs {
    pub(crate) fn run(&self) -> anyhow::Result<ExitAnswer> {
        let results: Vec<_> = self.dirs.iter().map(|dir| (dir, Manifest::load(dir))).collect();
        let refused = results.iter().filter(|(_, result)| result.is_err()).count();
        match self.format {
            OutputFormat::Text => {
                for (dir, result) in &results {
                    let dir = visible(&dir.display().to_string());
                    match result {
                        Ok(manifest) => {
                            let skill = manifest.skill();
                            output::result(&format!("{dir}: valid ({} {})\n", skill.name, skill.version))?;
                        }
                        Err(error) => output::message(&render::load_error(error)),
                    }
                }
                if results.len() > 1 && refused > 0 {
                    output::message(&format!("{refused} of {} skills refused", results.len()));
                }
            }
            OutputFormat::Json => {
                let all: Vec<_> =
                    results.iter().map(|(dir, result)| report(&dir.display().to_string(), result)).collect();
                output::json(&json!(all))?;
            }
        }
        Ok(if refused == 0 { ExitAnswer::Yes } else { ExitAnswer::No })
    }
}

fn report(dir: &str, result: &Result<Manifest, LoadError>) -> serde_json::Value {
    match result {
        Ok(manifest) => json!({
            "path": dir, "valid": true,
            "skill": { "name": manifest.skill().name, "version": manifest.skill().version },
        }),
        Err(LoadError::Invalid { invalid, .. }) => json!({
            "path": dir, "valid": false, "diagnostics": invalid.diagnostics, "more": invalid.more,
        }),
        Err(error) => json!({ "path": dir, "valid": false, "error": error.to_string() }),
    }
}
