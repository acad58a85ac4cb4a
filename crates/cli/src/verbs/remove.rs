//! `skillsandbox remove`: an installed skill goes.

use clap::Args;
use skillsandbox_run::UserManifests;

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
            let own = UserManifests::open().and_then(|users| users.find(&entry.name, &entry.source));
            if let Ok(Some(own)) = own {
                let path = visible(&own.path.display().to_string());
                output::message(&format!("your own manifest for it stays: {path}"));
            }
        }
        Ok(ExitAnswer::Yes)
    }
}
