//! A whole run, so that what is said of this host is what a run meets.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use serde::Serialize;

use super::describe_error;
use crate::cures::{self, Cure};
use crate::error::Error;
use crate::layers::Layer;
use crate::plan::{Command, OutputMode, Plan, StdinMode};
use crate::supervise::{CommandStatus, RunOutcome};

/// Far more than a program that does nothing needs.
const TIMEOUT: Duration = Duration::from_secs(20);

/// How a whole run went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "result")]
pub enum TrialRun {
    /// It started, with every layer, and ended well.
    Ran {
        /// What was run.
        program: String,
    },
    /// It did not start, or did not end well.
    Refused {
        /// The layer that refused, where it was one.
        layer: Option<Layer>,
        /// Why.
        reason: String,
        /// What to do about it.
        cure: Option<Cure>,
    },
    /// There is no program on this host that is known to do nothing.
    NotTried,
}

pub(super) fn run() -> TrialRun {
    let Some(program) = program() else { return TrialRun::NotTried };
    let shown = program.to_string_lossy().into_owned();
    match attempt(program) {
        Ok(outcome) if outcome.success() => TrialRun::Ran { program: shown },
        Ok(outcome) => {
            TrialRun::Refused { layer: None, reason: format!("{shown} {}", ended(&outcome)), cure: None }
        }
        Err(error) => {
            let (layer, reason) = describe_error(&error);
            let cure = match error {
                Error::Layer { cure: Some(cure), .. } => Some(cures::parse_cure(&cure)),
                _ => None,
            };
            TrialRun::Refused { layer, reason, cure }
        }
    }
}

fn attempt(program: OsString) -> Result<RunOutcome, Error> {
    // With every limit, so that what holds them is tried too.
    let plan = Plan::builder().memory(256 << 20).processes(32).cpu_percent(100).timeout(TIMEOUT).build()?;
    let command = Command::new(program)
        .stdin(StdinMode::Empty)
        .stdout(OutputMode::Discarded)
        .stderr(OutputMode::Discarded);
    plan.spawn(&command)?.wait()
}

/// A program that does nothing.
fn program() -> Option<OsString> {
    let fixed = super::checks::NOTHING
        .iter()
        .filter_map(|path| path.to_str().ok())
        .find(|path| Path::new(path).is_file());
    let searched = || {
        let path = std::env::var_os("PATH")?;
        std::env::split_paths(&path)
            .map(|folder| folder.join("true"))
            .find(|path| path.is_absolute() && path.is_file())
    };
    fixed.map(OsString::from).or_else(|| searched().map(Into::into))
}

fn ended(outcome: &RunOutcome) -> String {
    match outcome.status {
        CommandStatus::Exited(code) => format!("ended with {code}"),
        CommandStatus::Signalled(signal) => format!("was ended by signal {signal}"),
    }
}
