//! What is shown while a skill is rehearsed.

use skillsandbox_learn::{FileGrant, MOST_ROUNDS, RehearsalObserver};

use crate::args::OutputFormat;
use crate::output::{message, visible};
use crate::style::{DIM, RESET};

/// Most grants of one round that are shown.
const MOST_SHOWN: usize = 6;

/// Tells each round, and what is new in it, on standard error.
pub(super) struct RoundProgress {
    is_shown: bool,
}

impl RoundProgress {
    pub(super) fn new(format: OutputFormat) -> Self {
        Self { is_shown: format == OutputFormat::Text }
    }
}

impl RehearsalObserver for RoundProgress {
    fn round(&mut self, number: usize) {
        if self.is_shown {
            message(&format!("rehearsal {number} of at most {MOST_ROUNDS} ..."));
        }
    }

    fn doubted(&mut self, count: usize) {
        if self.is_shown {
            message(&format!("trying without {count} things that may not be needed ..."));
        }
    }

    fn wanted(&mut self, grants: &[FileGrant]) {
        if !self.is_shown {
            return;
        }
        for grant in grants.iter().take(MOST_SHOWN) {
            let what = if grant.writes() { "write" } else { "read" };
            message(&format!(
                "  {DIM}wants to {what}{RESET} {}",
                visible(&grant.path().display().to_string())
            ));
        }
        if grants.len() > MOST_SHOWN {
            message(&format!("  {DIM}and {} more{RESET}", grants.len() - MOST_SHOWN));
        }
    }
}
