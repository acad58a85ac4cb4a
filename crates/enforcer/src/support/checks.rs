//! What a run needs of the host, each thing tried by itself.
//!
//! A check does in a throw-away child what a run does in its own, and where the point of it is a refusal, meets that refusal.
//! No version number decides anything here.

mod mounts;
mod namespaces;
mod process;
mod rules;

use super::child::TrialOutcome;
use crate::child::step::SetupStep;
use crate::layers::Layer;

pub(super) use process::NOTHING;
pub(super) use rules::{landlock_version, observe};

/// One thing to try.
pub(super) struct HostTrial {
    /// A short name; kernel calls by theirs.
    pub(super) name: &'static str,
    /// What it is for, to go after "cannot".
    pub(super) what: &'static str,
    /// The step of a run that needs it.
    pub(super) step: SetupStep,
    /// Checks without which this one means nothing.
    pub(super) after: &'static [&'static str],
    pub(super) run: fn() -> TrialOutcome,
}

impl HostTrial {
    pub(super) fn layer(&self) -> Layer {
        self.step.layer()
    }
}

/// Every check, in an order in which none comes before what it is after.
pub(super) fn all() -> impl Iterator<Item = &'static HostTrial> {
    [namespaces::TRIALS, mounts::TRIALS, process::TRIALS, rules::TRIALS].into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_have_names_of_their_own_and_come_after_what_they_need() {
        let mut seen: Vec<&str> = Vec::new();
        for trial in all() {
            assert!(!seen.contains(&trial.name), "{} is there twice", trial.name);
            for before in trial.after {
                assert!(seen.contains(before), "{} comes before {before}", trial.name);
            }
            seen.push(trial.name);
        }
    }

    #[test]
    fn every_layer_that_the_kernel_holds_has_a_check() {
        // Limits are looked at by making a group: support/mod.rs.
        for layer in Layer::ALL.into_iter().filter(|layer| *layer != Layer::Cgroup) {
            assert!(all().any(|trial| trial.layer() == layer), "{layer}");
        }
    }
}
