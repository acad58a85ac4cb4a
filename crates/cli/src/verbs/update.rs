//! `skillsandbox update`: newer versions of what is installed.

use clap::Args;
use serde_json::json;
use skillsandbox_store::Store;

use super::installing::{FetchArgs, Prompt, StoreArgs, approval, as_json, is_there, refused, tell};
use crate::args::OutputFormat;
use crate::output::{self, ExitAnswer, error, message, visible};

/// Fetch installed skills again, and replace those that changed and still pass
///
/// A new version is scanned like a new skill. What it wants more than the installed one (hosts, paths, variables, tools) is shown and
/// asked about. One that is BLOCKED leaves the installed version as it is.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  skillsandbox update                  # all of them
  skillsandbox update weather-lookup
  skillsandbox update --judge=http://127.0.0.1:8080/v1 --judge-model local

Exit codes: 0 all are up to date, 1 one was refused, blocked or declined, 2 an error.")]
pub(crate) struct UpdateArgs {
    /// Which; all when left out
    #[arg(value_name = "NAME")]
    names: Vec<String>,

    /// Update in spite of warnings and of wider declarations; the lock says so. It does not help against BLOCKED
    #[arg(long)]
    force: bool,

    /// How to show the result; as JSON an array, and where one NAME is given its object alone
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: OutputFormat,

    #[command(flatten)]
    fetching: FetchArgs,

    #[command(flatten)]
    place: StoreArgs,
}

impl UpdateArgs {
    pub(crate) fn run(&self) -> anyhow::Result<ExitAnswer> {
        let store = self.place.updating_store(&self.names, &self.fetching)?;
        let mut names = self.names.clone();
        if names.is_empty() {
            names = store.list()?.entries().map(|entry| entry.name.clone()).collect();
        }
        if self.format == OutputFormat::Json && self.names.len() != 1 {
            return update_listed(&store, &names, self.force);
        }
        let (mut answer, mut failed) = (ExitAnswer::Yes, 0);
        for name in &names {
            let policy = store.policy().clone();
            let told = match store.update(name, approval(self.force), &mut Prompt { policy: policy.clone() })
            {
                Ok(outcome) => tell(&outcome, &policy, self.format),
                Err(why) => refused(why),
            };
            match told {
                Ok(ExitAnswer::Yes) => {}
                Ok(other) => answer = other,
                // One that cannot be fetched does not keep the others from being updated.
                Err(why) => {
                    message(&visible(name));
                    error(&why);
                    failed += 1;
                }
            }
        }
        anyhow::ensure!(failed == 0, "{failed} of {} could not be updated", names.len());
        Ok(answer)
    }
}

/// Updates several, and prints one array: what came of each, or why nothing did.
fn update_listed(store: &Store, names: &[String], force: bool) -> anyhow::Result<ExitAnswer> {
    let (mut answer, mut outcomes) = (ExitAnswer::Yes, Vec::new());
    for name in names {
        let policy = store.policy().clone();
        match store.update(name, approval(force), &mut Prompt { policy: policy.clone() }) {
            Ok(outcome) => {
                if !is_there(&outcome) && answer == ExitAnswer::Yes {
                    answer = ExitAnswer::No;
                }
                outcomes.push(as_json(&outcome, &policy));
            }
            Err(why) => {
                answer = if why.is_refusal() && answer != ExitAnswer::Code(2) {
                    ExitAnswer::No
                } else {
                    ExitAnswer::Code(2)
                };
                let code = if why.is_refusal() { "REFUSED" } else { "FAILED" };
                outcomes.push(json!({ "name": name, "error": { "code": code, "message": why.to_string() } }));
            }
        }
    }
    output::json(&outcomes.into())?;
    Ok(answer)
}
