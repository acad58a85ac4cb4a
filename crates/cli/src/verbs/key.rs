//! `skillsandbox key`: the key that `--sign` signs with.

use anyhow::Context as _;
use clap::{Args, Subcommand};
use serde_json::json;
use skillsandbox_store::signing::SigningKey;

use crate::args::OutputFormat;
use crate::output::{self, ExitAnswer, visible};

/// Make the key that `--sign` signs traces with, or show its public half
#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
#[command(
    after_help = "The key lies in ~/.local/state/skillsandbox/signing.key, mode 0600: a folder that no run can see. Its secret half is never shown.

Examples:
  skillsandbox key create
  skillsandbox run --sign skills/weather
  skillsandbox trace verify trace.json --key \"$(skillsandbox key show)\""
)]
pub(crate) struct KeyArgs {
    #[command(subcommand)]
    verb: KeyVerb,
}

#[derive(Debug, Subcommand)]
enum KeyVerb {
    /// Make a key; one that is there is never replaced
    Create {
        /// How to show it
        #[arg(long, value_name = "FORMAT", default_value = "text")]
        format: OutputFormat,
    },
    /// Print the public half
    Show {
        /// How to show it
        #[arg(long, value_name = "FORMAT", default_value = "text")]
        format: OutputFormat,
    },
}

impl KeyArgs {
    pub(crate) fn run(&self) -> anyhow::Result<ExitAnswer> {
        let file = SigningKey::user_file()?;
        let (key, format) = match &self.verb {
            KeyVerb::Create { format } => {
                let key = SigningKey::create(&file).context("no key was made")?;
                output::message(&format!("the key is in {}", visible(&file.display().to_string())));
                (key, *format)
            }
            KeyVerb::Show { format } => (SigningKey::load(&file)?, *format),
        };
        match format {
            OutputFormat::Text => output::result(&format!("{}\n", key.public()))?,
            OutputFormat::Json => {
                output::json(&json!({ "public_key": key.public().to_string(), "file": file }))?;
            }
        }
        Ok(ExitAnswer::Yes)
    }
}
