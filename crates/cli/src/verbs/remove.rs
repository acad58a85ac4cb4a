//! `skillsandbox remove`: an installed skill goes.

use clap::Args;

use super::installing::Place;
use crate::output::{self, Answer, visible};

/// Remove installed skills; their reports stay
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  skillsandbox remove weather-lookup")]
pub(crate) struct Remove {
    /// Which
    #[arg(value_name = "NAME", required = true)]
    names: Vec<String>,

    #[command(flatten)]
    place: Place,
}

impl Remove {
    pub(crate) fn run(&self) -> anyhow::Result<Answer> {
        let store = self.place.store(None)?;
        for name in &self.names {
            let entry = store.remove(name)?;
            output::result(&format!("removed {}\n", visible(&entry.name)))?;
        }
        Ok(Answer::Yes)
    }
}
