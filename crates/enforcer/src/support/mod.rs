//! What this host offers of the sandbox, found by trying.

mod checks;
mod child;
mod facts;
mod host;
#[cfg(test)]
pub(crate) mod mock;
mod trial;

use serde::Serialize;

#[cfg(test)]
use crate::cgroup::LimitMechanism;
use crate::child::step::SetupStep;
use crate::cures::{self, Cure};
use crate::error::Error;
use crate::layers::Layer;
use crate::sys::Errno;

use self::checks::HostTrial;
use self::child::{TrialFailure, TrialOutcome};

pub use facts::{HostFacts, LimitFacts, ObserveSupport};
pub(crate) use host::HostProfile;
pub use host::{Container, KernelKind};
pub use trial::TrialRun;

/// What this host offers, layer by layer. See [`HostSupport::probe`].
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct HostSupport {
    /// Every layer, in the order in which they are put in place.
    pub layers: Vec<LayerSupport>,
    /// What was tried for that.
    pub checks: Vec<HostCheck>,
    /// A whole run, tried last.
    pub trial: TrialRun,
    /// What else is worth knowing of this host.
    pub facts: HostFacts,
}

/// What there is of one layer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct LayerSupport {
    /// Which one.
    pub layer: Layer,
    /// What there is of it.
    #[serde(flatten)]
    pub state: LayerState,
}

/// What there is of a layer.
///
/// A closed set: a new variant is a compile error in every `match` over it, so that none is let through unnoticed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum LayerState {
    /// All of it.
    Available,
    /// A run has it, but without these parts.
    Partial {
        /// What is not there.
        missing: Vec<String>,
        /// What to do about it.
        cure: Option<Cure>,
    },
    /// It cannot be had.
    Missing {
        /// What was tried, and what the kernel said.
        reason: String,
        /// What to do about it.
        cure: Option<Cure>,
    },
    /// It could not be tried, because something is missing that it needs.
    Untried {
        /// What that is.
        reason: String,
    },
}

/// One thing that was tried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct HostCheck {
    /// Its name; kernel calls by theirs.
    pub name: &'static str,
    /// The layer that needs it.
    pub layer: Layer,
    /// How it went.
    #[serde(flatten)]
    pub result: HostCheckResult,
}

/// How a check went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "result")]
pub enum HostCheckResult {
    /// It was done, and had the effect that a run counts on.
    Worked,
    /// It was not done.
    Failed {
        /// What could not be done, and what the kernel said.
        reason: String,
        /// What to do about it.
        cure: Option<Cure>,
    },
    /// It was not tried.
    Untried {
        /// What is missing for it.
        needs: String,
    },
}

impl HostSupport {
    /// Tries everything a run needs, each in a process of its own that is thrown away, and finally a whole run of `true`.
    ///
    /// Nothing is changed in this process, and nothing is left behind. Takes some ten milliseconds, and is not needed before a
    /// run: a run that lacks something refuses by itself and says the same.
    ///
    /// ```
    /// use skillsandbox_enforcer::{HostSupport, LayerState};
    ///
    /// for support in HostSupport::probe().layers {
    ///     if let LayerState::Missing { reason, cure } = support.state {
    ///         println!("{}: {reason}", support.layer);
    ///         cure.iter().for_each(|cure| println!("  {cure}"));
    ///     }
    /// }
    /// ```
    #[must_use]
    pub fn probe() -> Self {
        let host = HostProfile::look();
        let checks = try_all(checks::all(), &host);
        let facts = HostFacts::gather(&host);
        let mut layers: Vec<LayerSupport> = Layer::ALL
            .into_iter()
            .map(|layer| LayerSupport { layer, state: layer_state(layer, &checks, &facts, &host) })
            .collect();
        let trial = trial::run();
        if let TrialRun::Refused { layer: Some(layer), reason, cure } = &trial {
            overrule(&mut layers, *layer, reason, cure.as_ref());
        }
        Self { layers, checks, trial, facts }
    }

    /// What there is of one layer.
    #[must_use]
    pub fn of(&self, layer: Layer) -> &LayerState {
        let found = self.layers.iter().find(|support| support.layer == layer);
        found.map_or(&LayerState::Available, |support| &support.state)
    }

    /// Whether a run that waives nothing would start here.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        let is_ready = |support: &LayerSupport| {
            matches!(support.state, LayerState::Available | LayerState::Partial { .. })
        };
        self.layers.iter().all(is_ready) && !matches!(self.trial, TrialRun::Refused { .. })
    }
}

/// What a run meets counts for more than what its parts do alone.
fn overrule(layers: &mut [LayerSupport], layer: Layer, reason: &str, cure: Option<&Cure>) {
    let named = layers.iter_mut().find(|support| support.layer == layer);
    if let Some(support) = named.filter(|support| !matches!(support.state, LayerState::Missing { .. })) {
        let reason = format!("each part of it worked alone, but a run was refused: {reason}");
        support.state = LayerState::Missing { reason, cure: cure.cloned() };
    }
}

fn try_all(trials: impl Iterator<Item = &'static HostTrial>, host: &HostProfile) -> Vec<HostCheck> {
    let mut checks: Vec<HostCheck> = Vec::new();
    for trial in trials {
        let worked = |name: &&&str| {
            checks.iter().any(|check| check.name == **name && check.result == HostCheckResult::Worked)
        };
        let result = match trial.after.iter().find(|name| !worked(name)) {
            Some(needs) => HostCheckResult::Untried { needs: (*needs).to_owned() },
            None => judge(trial, (trial.run)(), host),
        };
        checks.push(HostCheck { name: trial.name, layer: trial.layer(), result });
    }
    checks
}

fn judge(trial: &HostTrial, tried: TrialOutcome, host: &HostProfile) -> HostCheckResult {
    let failed = |said: String, cure| {
        let call = trial.name;
        HostCheckResult::Failed { reason: format!("cannot {}: {call}: {said}", trial.what), cure }
    };
    let cure = |step, errno: Errno| cures::find(step, errno.0, host);
    let text = |errno: Errno| std::io::Error::from(errno).to_string();
    match tried {
        TrialOutcome::Worked => HostCheckResult::Worked,
        // Another check is about that; this one was never reached.
        TrialOutcome::NoChild(errno) if trial.step != SetupStep::Clone => {
            HostCheckResult::Untried { needs: format!("a process to be tried in ({})", text(errno)) }
        }
        TrialOutcome::Trouble(TrialFailure::Before) => {
            HostCheckResult::Untried { needs: format!("more than {} alone", trial.name) }
        }
        TrialOutcome::NoChild(errno) | TrialOutcome::Trouble(TrialFailure::Here(errno)) => {
            failed(text(errno), cure(trial.step, errno))
        }
        TrialOutcome::Trouble(TrialFailure::Step(failure)) => HostCheckResult::Failed {
            reason: format!("cannot {}: {}", failure.step.text(), text(failure.errno)),
            cure: cure(failure.step, failure.errno),
        },
        TrialOutcome::Trouble(TrialFailure::NoEffect) => {
            failed("it was accepted and had no effect".into(), cure(trial.step, Errno(libc::ENOSYS)))
        }
        TrialOutcome::Killed(signal) => {
            // A filter may end the process rather than answer.
            let cure = cure(trial.step, Errno(libc::EPERM));
            failed(format!("the process was ended by signal {signal}"), cure)
        }
        TrialOutcome::Silent(_) => failed("the process ended without an answer".into(), None),
        TrialOutcome::Stuck => failed("it did not end in time".into(), None),
    }
}

/// A layer is what its checks say; for two of them there is more and less of it.
fn layer_state(layer: Layer, checks: &[HostCheck], facts: &HostFacts, host: &HostProfile) -> LayerState {
    let own = || checks.iter().filter(|check| check.layer == layer);
    let failed: Vec<(&str, Option<&Cure>)> = own()
        .filter_map(|check| match &check.result {
            HostCheckResult::Failed { reason, cure } => Some((reason.as_str(), cure.as_ref())),
            HostCheckResult::Worked | HostCheckResult::Untried { .. } => None,
        })
        .collect();
    if !failed.is_empty() {
        let reasons: Vec<&str> = failed.iter().map(|(reason, _)| *reason).collect();
        let cure = failed.iter().find_map(|(_, cure)| *cure).cloned();
        return LayerState::Missing { reason: reasons.join("; "), cure };
    }
    let untried = own().find_map(|check| match &check.result {
        HostCheckResult::Untried { needs } => Some(needs),
        HostCheckResult::Worked | HostCheckResult::Failed { .. } => None,
    });
    if let Some(needs) = untried {
        return LayerState::Untried { reason: format!("could not be tried: it needs {needs}") };
    }
    let (missing, cure) = match layer {
        Layer::Cgroup => facts.limiting.missing(host),
        Layer::Landlock => (facts::missing_of_landlock(facts.landlock), None),
        _ => (Vec::new(), None),
    };
    if missing.is_empty() { LayerState::Available } else { LayerState::Partial { missing, cure } }
}

/// A refusal in the words of a report.
fn describe_error(error: &Error) -> (Option<Layer>, String) {
    match error {
        Error::Layer { layer, step, source, .. } => (Some(*layer), format!("{step}: {source}")),
        other => (None, other.to_string()),
    }
}
