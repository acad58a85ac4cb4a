//! Whether two rehearsals came to the same.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::rehearse::RehearsedRun;

/// What a run came to, as far as another can be compared with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunOutcome {
    exit_code: Option<i32>,
    signal: Option<i32>,
    stdout: Vec<u8>,
    changed: BTreeSet<PathBuf>,
}

impl RunOutcome {
    /// Of a rehearsal: how it ended, what it printed, and which files it changed.
    #[must_use]
    pub fn of(run: &RehearsedRun) -> Self {
        let changed = run.seen.files.iter().filter(|(_, seen)| seen.writes() && !seen.is_denied);
        Self {
            exit_code: run.exit.exit_code,
            signal: run.exit.signal,
            stdout: run.stdout.clone(),
            changed: changed.map(|(path, _)| path.clone()).collect(),
        }
    }

    /// The same, but for changes below a path.
    #[must_use]
    pub(crate) fn is_same_but(&self, other: &Self, steady: SteadyParts, path: &Path) -> bool {
        let without = |outcome: &Self| {
            let mut outcome = outcome.clone();
            outcome.changed.retain(|changed| !changed.starts_with(path));
            outcome
        };
        without(self).is_same(&without(other), steady)
    }

    /// Whether another run came to the same. What changes from run to run by itself is not compared.
    #[must_use]
    pub fn is_same(&self, other: &Self, steady: SteadyParts) -> bool {
        self.difference(other, steady).is_none()
    }

    /// In what another run differs, in words.
    #[must_use]
    pub fn difference(&self, other: &Self, steady: SteadyParts) -> Option<String> {
        let code = |outcome: &Self| match (outcome.exit_code, outcome.signal) {
            (Some(code), _) => format!("exit code {code}"),
            (None, Some(signal)) => format!("signal {signal}"),
            (None, None) => "no end".to_owned(),
        };
        if (self.exit_code, self.signal) != (other.exit_code, other.signal) {
            return Some(format!("{} instead of {}", code(other), code(self)));
        }
        if steady.stdout && self.stdout != other.stdout {
            return Some("it prints something else".to_owned());
        }
        (steady.changed && self.changed != other.changed).then(|| "it changes other files".to_owned())
    }
}

/// What of a run is the same each time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SteadyParts {
    /// What it prints.
    pub stdout: bool,
    /// Which files it changes.
    pub changed: bool,
}

impl SteadyParts {
    /// By two runs that had the same.
    #[must_use]
    pub fn of(one: &RunOutcome, other: &RunOutcome) -> Self {
        Self { stdout: one.stdout == other.stdout, changed: one.changed == other.changed }
    }
}
