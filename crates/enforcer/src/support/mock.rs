//! Hosts that were never seen, for tests.

use super::*;

pub(crate) fn cure(what: &str) -> Cure {
    Cure { what: what.to_owned(), lines: Vec::new() }
}

/// A host that has everything.
pub(crate) fn full() -> HostSupport {
    with(&[])
}

/// One that has everything but this.
pub(crate) fn with(states: &[(Layer, LayerState)]) -> HostSupport {
    let state = |layer| {
        let given = states.iter().find(|(given, _)| *given == layer);
        given.map_or(LayerState::Available, |(_, state)| state.clone())
    };
    HostSupport {
        layers: Layer::ALL.into_iter().map(|layer| LayerSupport { layer, state: state(layer) }).collect(),
        checks: Vec::new(),
        trial: TrialRun::NotTried,
        facts: facts(7, LimitMechanism::CgroupV2),
    }
}

/// One whose kernel has this version of Landlock.
pub(crate) fn landlock(version: i32) -> HostSupport {
    derived(&facts(version, LimitMechanism::CgroupV2))
}

/// One without a group that may be written.
pub(crate) fn supervised() -> HostSupport {
    derived(&facts(7, LimitMechanism::Supervised))
}

/// As if every check had worked.
fn derived(facts: &HostFacts) -> HostSupport {
    let state = |layer| layer_state(layer, &[], facts, &HostProfile::default());
    HostSupport {
        layers: Layer::ALL.into_iter().map(|layer| LayerSupport { layer, state: state(layer) }).collect(),
        facts: facts.clone(),
        ..full()
    }
}

fn facts(landlock: i32, mechanism: LimitMechanism) -> HostFacts {
    HostFacts {
        kernel: "6.1.0".into(),
        kernel_kind: KernelKind::Linux,
        architecture: "x86_64",
        landlock: Some(landlock),
        limiting: LimitFacts { mechanism, why_not_better: None },
        is_root: false,
        container: None,
        is_own_sandbox: false,
        seccomp_filters: 0,
        observation: ObserveSupport::Possible,
    }
}
