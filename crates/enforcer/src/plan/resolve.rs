//! What a plan gets on a host: pure, so that any host can be thought of.

use serde::Serialize;

use super::Plan;
use crate::cgroup::LimitMechanism;
use crate::cures::Cure;
use crate::layers::Layer;
use crate::support::{HostSupport, LayerState, TrialRun};

/// What a plan gets of each layer on a host. See [`Plan::resolve`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct PlanResolution {
    /// Every layer, in the order in which they are put in place.
    pub layers: Vec<LayerResolution>,
}

/// What a plan gets of one layer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct LayerResolution {
    /// Which one.
    pub layer: Layer,
    /// Whether the plan goes on without it where it is missing.
    pub best_effort: bool,
    /// How much of it there is.
    #[serde(flatten)]
    pub standing: ResolvedStanding,
}

/// How much of a layer there is.
///
/// A closed set: a new variant is a compile error in every `match` over it, so that none is let through unnoticed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "standing")]
pub enum ResolvedStanding {
    /// All that the plan asks for.
    Full,
    /// Some of it. A run goes on, and this is said.
    Partial {
        /// What is not there.
        missing: Vec<String>,
        /// What to do about it.
        cure: Option<Cure>,
    },
    /// Nothing. A run is refused, unless the plan named the layer best-effort.
    Missing {
        /// Why.
        reason: String,
        /// What to do about it.
        cure: Option<Cure>,
    },
}

impl Plan {
    /// What this plan gets on a host that offers this much. Looks at nothing and executes nothing.
    #[must_use]
    pub fn resolve(&self, support: &HostSupport) -> PlanResolution {
        let resolved = |layer| LayerResolution {
            layer,
            best_effort: self.waives(layer),
            standing: self.layer_standing(layer, support),
        };
        PlanResolution { layers: Layer::ALL.into_iter().map(resolved).collect() }
    }

    fn layer_standing(&self, layer: Layer, support: &HostSupport) -> ResolvedStanding {
        match support.of(layer) {
            LayerState::Partial { .. } if layer == Layer::Cgroup => self.limits_standing(support),
            LayerState::Available => ResolvedStanding::Full,
            LayerState::Partial { missing, cure } => {
                ResolvedStanding::Partial { missing: missing.clone(), cure: cure.clone() }
            }
            LayerState::Missing { reason, cure } => {
                ResolvedStanding::Missing { reason: reason.clone(), cure: cure.clone() }
            }
            LayerState::Untried { reason } => {
                ResolvedStanding::Missing { reason: reason.clone(), cure: None }
            }
        }
    }

    /// Where no group holds limits, only those are weaker that the plan asks for.
    fn limits_standing(&self, support: &HostSupport) -> ResolvedStanding {
        let limits = self.limits();
        let LayerState::Partial { cure, .. } = support.of(Layer::Cgroup) else {
            return ResolvedStanding::Full;
        };
        let processes = if crate::layers::settings::has_own_pid_limit() {
            "processes are limited by the numbers that they can have"
        } else {
            "processes are limited for the user inside, by RLIMIT_NPROC, which does not hold root"
        };
        let asked = [
            (
                limits.memory.is_some(),
                "memory is measured by the launching program, so the limit can be exceeded for a moment",
            ),
            (limits.processes.is_some(), processes),
            (limits.cpu_percent.is_some(), "the CPU share is held by pausing the run, 20 ms at a time"),
        ];
        let missing: Vec<String> =
            asked.into_iter().filter(|(asked, _)| *asked).map(|(_, text)| text.to_owned()).collect();
        if missing.is_empty() || support.facts.limiting.mechanism != LimitMechanism::Supervised {
            return ResolvedStanding::Full;
        }
        ResolvedStanding::Partial { missing, cure: cure.clone() }
    }
}

impl PlanResolution {
    /// The first layer for whose lack a run is refused. The others may be missing only because this one is.
    #[must_use]
    pub fn refuses(&self) -> Option<&LayerResolution> {
        let refuses = |resolved: &&LayerResolution| {
            matches!(resolved.standing, ResolvedStanding::Missing { .. }) && !resolved.best_effort
        };
        // What was found missing comes before what could not be tried because of it.
        let has_cure = |resolved: &&LayerResolution| {
            matches!(&resolved.standing, ResolvedStanding::Missing { cure: Some(_), .. })
        };
        let all = || self.layers.iter().filter(refuses);
        all().find(has_cure).or_else(|| all().next())
    }

    /// What there is of one layer.
    #[must_use]
    pub fn of(&self, layer: Layer) -> Option<&LayerResolution> {
        self.layers.iter().find(|resolved| resolved.layer == layer)
    }
}

impl HostSupport {
    /// Why no run would start here, where a whole run was refused for a reason outside the layers.
    #[must_use]
    pub fn refused_otherwise(&self) -> Option<&str> {
        match &self.trial {
            TrialRun::Refused { layer: None, reason, .. } => Some(reason),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::support::mock;

    const CURE: &str = "do something";

    fn missing(reason: &str) -> LayerState {
        LayerState::Missing { reason: reason.into(), cure: Some(mock::cure(CURE)) }
    }

    fn plan() -> Plan {
        Plan::builder().build().expect("it is valid")
    }

    fn refused(plan: &Plan, support: &HostSupport) -> Option<Layer> {
        plan.resolve(support).refuses().map(|resolved| resolved.layer)
    }

    #[test]
    fn a_host_that_has_everything_refuses_nothing() {
        let resolution = plan().resolve(&mock::full());
        assert!(resolution.layers.iter().all(|resolved| resolved.standing == ResolvedStanding::Full));
        assert_eq!(resolution.layers.len(), Layer::ALL.len());
        assert_eq!(resolution.refuses(), None);
    }

    #[test]
    fn a_missing_layer_refuses_unless_it_was_named_best_effort() {
        for layer in Layer::ALL {
            let support = mock::with(&[(layer, missing("not there"))]);
            assert_eq!(refused(&plan(), &support), Some(layer));
            if layer.may_be_waived() {
                let waiving = Plan::builder().best_effort(layer).build().expect("it is valid");
                assert_eq!(refused(&waiving, &support), None, "{layer}");
                let resolution = waiving.resolve(&support);
                let resolved = resolution.of(layer).expect("it is there");
                assert!(
                    resolved.best_effort && matches!(resolved.standing, ResolvedStanding::Missing { .. }),
                    "{layer}"
                );
            }
        }
    }

    #[test]
    fn waiving_one_layer_waives_no_other() {
        let support = mock::with(&[(Layer::Landlock, missing("a")), (Layer::Seccomp, missing("b"))]);
        let plan = Plan::builder().best_effort(Layer::Landlock).build().expect("it is valid");
        assert_eq!(refused(&plan, &support), Some(Layer::Seccomp));
    }

    #[test]
    fn linux_5_13_has_the_first_landlock_and_goes_on_with_that() {
        let support = mock::landlock(1);
        let resolution = plan().resolve(&support);
        assert_eq!(resolution.refuses(), None);
        let Some(LayerResolution { standing: ResolvedStanding::Partial { missing, .. }, .. }) =
            resolution.of(Layer::Landlock)
        else {
            panic!("{resolution:?}");
        };
        assert_eq!(missing.len(), 4, "{missing:?}");
    }

    #[test]
    fn a_host_without_user_namespaces_is_refused_for_them_and_not_for_what_needs_them() {
        let untried = || LayerState::Untried { reason: "could not be tried: it needs user namespace".into() };
        let support = mock::with(&[
            (Layer::Mounts, untried()),
            (Layer::Namespaces, missing("cannot make a user namespace")),
            (Layer::Network, untried()),
            (Layer::Caps, untried()),
        ]);
        assert_eq!(refused(&plan(), &support), Some(Layer::Namespaces));
        assert!(!support.is_ready());
        // An untried layer is not available.
        let only = mock::with(&[(Layer::Network, untried())]);
        assert_eq!(refused(&plan(), &only), Some(Layer::Network));
        assert!(!only.is_ready());
    }

    #[test]
    fn a_host_without_a_group_weakens_exactly_the_limits_that_are_asked_for() {
        let support = mock::supervised();
        let standing =
            |plan: Plan| plan.resolve(&support).of(Layer::Cgroup).map(|resolved| resolved.standing.clone());
        assert_eq!(standing(plan()), Some(ResolvedStanding::Full));
        let limited = Plan::builder().memory(1 << 20).cpu_percent(50).build().expect("it is valid");
        assert_eq!(refused(&limited, &support), None);
        let Some(ResolvedStanding::Partial { missing, cure: Some(_) }) = standing(limited) else {
            panic!("not partial")
        };
        assert_eq!(missing.len(), 2, "{missing:?}");
        assert!(missing.iter().any(|text| text.contains("memory")), "{missing:?}");
        assert!(missing.iter().all(|text| !text.contains("processes are")), "{missing:?}");
    }

    #[test]
    fn a_run_that_was_refused_is_never_called_ready() {
        let mut support = mock::full();
        assert!(support.is_ready());
        support.trial = TrialRun::Refused { layer: None, reason: "cannot start a thread".into(), cure: None };
        assert!(!support.is_ready());
        assert_eq!(support.refused_otherwise(), Some("cannot start a thread"));
    }

    #[test]
    fn a_resolution_reads_well_in_json() {
        let support = mock::with(&[(Layer::Seccomp, missing("not built"))]);
        let json = serde_json::to_value(plan().resolve(&support)).expect("it serializes");
        let last = json["layers"].as_array().and_then(|layers| layers.last()).expect("there are some");
        assert_eq!(last["layer"], "seccomp");
        assert_eq!(last["standing"], "missing");
        assert_eq!(last["reason"], "not built");
        assert_eq!(last["cure"]["what"], CURE);
    }
}
