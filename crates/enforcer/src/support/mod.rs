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
use crate::cgroup::Mechanism;
use crate::child::step::Step;
use crate::cures::{self, Cure};
use crate::error::Error;
use crate::layers::Layer;
use crate::sys::Errno;

use self::checks::Trial as Attempt;
use self::child::{Tried, Trouble};

pub use facts::{Facts, Limiting, Observation};
pub(crate) use host::Host;
pub use host::{Container, KernelKind};
pub use trial::Trial;

/// What this host offers, layer by layer. See [`Support::probe`].
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Support {
    /// Every layer, in the order in which they are put up.
    pub layers: Vec<LayerSupport>,
    /// What was tried for that.
    pub checks: Vec<Check>,
    /// A whole run, tried last.
    pub trial: Trial,
    /// What else is worth knowing of this host.
    pub facts: Facts,
}

/// What there is of one layer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct LayerSupport {
    /// Which one.
    pub layer: Layer,
    /// What there is of it.
    #[serde(flatten)]
    pub state: State,
}

/// What there is of a layer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "state")]
#[non_exhaustive]
pub enum State {
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
pub struct Check {
    /// Its name; kernel calls by theirs.
    pub name: &'static str,
    /// The layer that needs it.
    pub layer: Layer,
    /// How it went.
    #[serde(flatten)]
    pub result: CheckResult,
}

/// How a check went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "result")]
#[non_exhaustive]
pub enum CheckResult {
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

impl Support {
    /// Tries everything a run needs, each in a process of its own that is thrown away, and at last a whole run of `true`.
    ///
    /// Nothing is changed in this process, and nothing is left behind. Takes some ten milliseconds, and is not needed before a
    /// run: a run that lacks something refuses by itself and says the same.
    #[must_use]
    pub fn probe() -> Self {
        let host = Host::look();
        let checks = try_all(checks::all(), &host);
        let facts = Facts::gather(&host);
        let mut layers: Vec<LayerSupport> = Layer::ALL
            .into_iter()
            .map(|layer| LayerSupport { layer, state: state(layer, &checks, &facts, &host) })
            .collect();
        let trial = trial::run();
        if let Trial::Refused { layer: Some(layer), reason, cure } = &trial {
            overrule(&mut layers, *layer, reason, cure.as_ref());
        }
        Self { layers, checks, trial, facts }
    }

    /// What there is of one layer.
    #[must_use]
    pub fn of(&self, layer: Layer) -> &State {
        let found = self.layers.iter().find(|support| support.layer == layer);
        found.map_or(&State::Available, |support| &support.state)
    }

    /// Whether a run that waives nothing would start here.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        let stands =
            |support: &LayerSupport| matches!(support.state, State::Available | State::Partial { .. });
        self.layers.iter().all(stands) && !matches!(self.trial, Trial::Refused { .. })
    }
}

/// What a run meets counts for more than what its parts do alone.
fn overrule(layers: &mut [LayerSupport], layer: Layer, reason: &str, cure: Option<&Cure>) {
    let named = layers.iter_mut().find(|support| support.layer == layer);
    if let Some(support) = named.filter(|support| !matches!(support.state, State::Missing { .. })) {
        let reason = format!("each part of it worked alone, but a run was refused: {reason}");
        support.state = State::Missing { reason, cure: cure.cloned() };
    }
}

fn try_all(attempts: impl Iterator<Item = &'static Attempt>, host: &Host) -> Vec<Check> {
    let mut checks: Vec<Check> = Vec::new();
    for attempt in attempts {
        let worked = |name: &&&str| {
            checks.iter().any(|check| check.name == **name && check.result == CheckResult::Worked)
        };
        let result = match attempt.after.iter().find(|name| !worked(name)) {
            Some(needs) => CheckResult::Untried { needs: (*needs).to_owned() },
            None => judge(attempt, (attempt.run)(), host),
        };
        checks.push(Check { name: attempt.name, layer: attempt.layer(), result });
    }
    checks
}

fn judge(attempt: &Attempt, tried: Tried, host: &Host) -> CheckResult {
    let failed = |said: String, cure| {
        let call = attempt.name;
        CheckResult::Failed { reason: format!("cannot {}: {call}: {said}", attempt.what), cure }
    };
    let cure = |step, errno: Errno| cures::find(step, errno.0, host);
    let text = |errno: Errno| std::io::Error::from(errno).to_string();
    match tried {
        Tried::Worked => CheckResult::Worked,
        // Another check is about that; this one was never reached.
        Tried::NoChild(errno) if attempt.step != Step::Clone => {
            CheckResult::Untried { needs: format!("a process to be tried in ({})", text(errno)) }
        }
        Tried::Trouble(Trouble::Before) => {
            CheckResult::Untried { needs: format!("more than {} alone", attempt.name) }
        }
        Tried::NoChild(errno) | Tried::Trouble(Trouble::Here(errno)) => {
            failed(text(errno), cure(attempt.step, errno))
        }
        Tried::Trouble(Trouble::Step(failure)) => CheckResult::Failed {
            reason: format!("cannot {}: {}", failure.step.text(), text(failure.errno)),
            cure: cure(failure.step, failure.errno),
        },
        Tried::Trouble(Trouble::NoEffect) => {
            failed("it was accepted and had no effect".into(), cure(attempt.step, Errno(libc::ENOSYS)))
        }
        Tried::Killed(signal) => {
            // A filter may end the process rather than answer.
            let cure = cure(attempt.step, Errno(libc::EPERM));
            failed(format!("the process was ended by signal {signal}"), cure)
        }
        Tried::Silent(_) => failed("the process ended without an answer".into(), None),
        Tried::Stuck => failed("it did not come to an end".into(), None),
    }
}

/// A layer is what its checks say; for two of them there is more and less of it.
fn state(layer: Layer, checks: &[Check], facts: &Facts, host: &Host) -> State {
    let own = || checks.iter().filter(|check| check.layer == layer);
    let failed: Vec<(&str, Option<&Cure>)> = own()
        .filter_map(|check| match &check.result {
            CheckResult::Failed { reason, cure } => Some((reason.as_str(), cure.as_ref())),
            _ => None,
        })
        .collect();
    if !failed.is_empty() {
        let reasons: Vec<&str> = failed.iter().map(|(reason, _)| *reason).collect();
        let cure = failed.iter().find_map(|(_, cure)| *cure).cloned();
        return State::Missing { reason: reasons.join("; "), cure };
    }
    let untried = own().find_map(|check| match &check.result {
        CheckResult::Untried { needs } => Some(needs),
        _ => None,
    });
    if let Some(needs) = untried {
        return State::Untried { reason: format!("could not be tried: it needs {needs}") };
    }
    let (missing, cure) = match layer {
        Layer::Cgroup => facts.limiting.missing(host),
        Layer::Landlock => (facts::missing_of_landlock(facts.landlock), None),
        _ => (Vec::new(), None),
    };
    if missing.is_empty() { State::Available } else { State::Partial { missing, cure } }
}

/// A refusal in the words of a report.
fn described(error: &Error) -> (Option<Layer>, String) {
    match error {
        Error::Layer { layer, step, source, .. } => (Some(*layer), format!("{step}: {source}")),
        other => (None, other.to_string()),
    }
}
