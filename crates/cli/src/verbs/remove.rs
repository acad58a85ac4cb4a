//! `skillsandbox remove`: an installed skill goes.

use clap::Args;

use super::installing::StoreArgs;
use crate::output::{self, ExitAnswer, visible};

/// Remove installed skills; their reports stay
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  skillsandbox remove weather-lookup")]
pub(crate) struct RemoveArgs {
    /// Which
    #[arg(value_name = "NAME", required = true)]
    names: Vec<String>,

    #[command(flatten)]
    place: StoreArgs,
}

impl RemoveArgs {
    pub(crate) fn run(&self) -> anyhow::Result<ExitAnswer> {
        let store = self.place.store(None)?;
        for name in &self.names {
            let entry = store.remove(name)?;
            output::result(&format!("removed {}\n", visible(&entry.name)))?;
        }
        Ok(ExitAnswer::Yes)
    }
}
