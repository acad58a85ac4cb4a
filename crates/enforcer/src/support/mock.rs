//! Hosts that were never seen, for tests.

use super::*;

pub(crate) fn cure(what: &str) -> Cure {
    Cure { what: what.to_owned(), lines: Vec::new() }
}

/// A host that has everything.
pub(crate) fn full() -> Support {
    with(&[])
}

/// One that has everything but this.
pub(crate) fn with(states: &[(Layer, State)]) -> Support {
    let state = |layer| {
        let given = states.iter().find(|(given, _)| *given == layer);
        given.map_or(State::Available, |(_, state)| state.clone())
    };
    Support {
        layers: Layer::ALL.into_iter().map(|layer| LayerSupport { layer, state: state(layer) }).collect(),
        checks: Vec::new(),
        trial: Trial::NotTried,
        facts: facts(7, Mechanism::CgroupV2),
    }
}

/// One whose kernel has this version of Landlock.
pub(crate) fn landlock(version: i32) -> Support {
    derived(&facts(version, Mechanism::CgroupV2))
}

/// One without a group that may be written.
pub(crate) fn supervised() -> Support {
    derived(&facts(7, Mechanism::Supervised))
}

/// As if every check had worked.
fn derived(facts: &Facts) -> Support {
    let state = |layer| state(layer, &[], facts, &Host::default());
    Support {
        layers: Layer::ALL.into_iter().map(|layer| LayerSupport { layer, state: state(layer) }).collect(),
        facts: facts.clone(),
        ..full()
    }
}

fn facts(landlock: i32, mechanism: Mechanism) -> Facts {
    Facts {
        kernel: "6.1.0".into(),
        kernel_kind: KernelKind::Linux,
        architecture: "x86_64",
        landlock: Some(landlock),
        limiting: Limiting { mechanism, why_not_better: None },
        is_root: false,
        container: None,
        is_own_sandbox: false,
        seccomp_filters: 0,
        observation: Observation::Possible,
    }
}
