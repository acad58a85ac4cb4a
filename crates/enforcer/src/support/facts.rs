//! What else is worth knowing of a host.

use landlock::{ABI, Access as _, AccessFs, BitFlags, Scope};
use serde::Serialize;

use super::checks;
use super::child::{TrialFailure, TrialOutcome};
use super::host::{Container, HostProfile, KernelKind};
use crate::cgroup::{ControlGroup, GroupLimits, LimitMechanism};
use crate::cures::{self, Cure};
use crate::layers::landlock::NEWEST;
use crate::sys::Errno;

/// What else is worth knowing of a host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct HostFacts {
    /// The kernel's own name for itself.
    pub kernel: String,
    /// Whose kernel it is.
    pub kernel_kind: KernelKind,
    /// The processor.
    pub architecture: &'static str,
    /// The newest version of Landlock that the kernel speaks.
    pub landlock: Option<i32>,
    /// What holds the limits on a whole run.
    pub limiting: LimitFacts,
    /// Whether this program runs as root.
    pub is_root: bool,
    /// The container it runs in.
    pub container: Option<Container>,
    /// Whether it runs inside a sandbox of this project.
    pub is_own_sandbox: bool,
    /// How many filters of system calls it is under already.
    pub seccomp_filters: u32,
    /// Whether what a run tries can be observed.
    pub observation: ObserveSupport,
}

/// What holds the limits on a whole run here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct LimitFacts {
    /// The mechanism.
    pub mechanism: LimitMechanism,
    /// Why it is not a better one.
    pub why_not_better: Option<String>,
}

/// Whether what a run tries can be observed: by a listener to its filter, of which there can be one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "state", content = "reason")]
pub enum ObserveSupport {
    /// Yes.
    Possible,
    /// No: a sandbox around this one listens already.
    Nested,
    /// No, for another reason.
    Impossible(String),
}

impl HostFacts {
    pub(super) fn gather(host: &HostProfile) -> Self {
        Self {
            kernel: host.kernel.clone(),
            kernel_kind: host.kind,
            architecture: host.architecture,
            landlock: checks::landlock_version(),
            limiting: LimitFacts::look(),
            is_root: host.is_root,
            container: host.container,
            is_own_sandbox: host.is_own_sandbox,
            seccomp_filters: host.filters,
            observation: observation(checks::observe()),
        }
    }
}

fn observation(tried: TrialOutcome) -> ObserveSupport {
    match tried {
        TrialOutcome::Worked => ObserveSupport::Possible,
        TrialOutcome::Trouble(TrialFailure::Here(Errno(libc::EBUSY))) => ObserveSupport::Nested,
        TrialOutcome::Trouble(TrialFailure::Here(errno)) => {
            ObserveSupport::Impossible(std::io::Error::from(errno).to_string())
        }
        TrialOutcome::Trouble(TrialFailure::Step(_) | TrialFailure::Before | TrialFailure::NoEffect)
        | TrialOutcome::NoChild(_)
        | TrialOutcome::Killed(_)
        | TrialOutcome::Silent(_)
        | TrialOutcome::Stuck => ObserveSupport::Impossible("a filter could not be tried".to_owned()),
    }
}

impl LimitFacts {
    /// Makes a group with every kind of limit, and removes it again.
    fn look() -> Self {
        let wanted = GroupLimits {
            memory: Some(64 << 20),
            processes: Some(16),
            cpu_percent: Some(50),
            counts_cpu: false,
        };
        match ControlGroup::create(&wanted) {
            Ok(group) => Self { mechanism: group.mechanism(), why_not_better: None },
            Err(error) => {
                Self { mechanism: LimitMechanism::Supervised, why_not_better: Some(error.to_string()) }
            }
        }
    }

    /// What is missing where no group holds the limits.
    pub(super) fn missing(&self, host: &HostProfile) -> (Vec<String>, Option<Cure>) {
        if self.mechanism != LimitMechanism::Supervised {
            return (Vec::new(), None);
        }
        let why = self.why_not_better.as_deref().map(|why| format!(" ({why})")).unwrap_or_default();
        let missing =
            format!("no cgroup holds limits on memory, processes and CPU: the launching program does{why}");
        (vec![missing], Some(cures::delegation_cure(host)))
    }
}

/// What a kernel's Landlock lacks of what the layer would use.
pub(super) fn missing_of_landlock(version: Option<i32>) -> Vec<String> {
    let abi = version.map_or(ABI::Unsupported, ABI::from).min(NEWEST);
    let mut missing: Vec<String> = Vec::new();
    let lacks = |right: AccessFs| (AccessFs::from_all(NEWEST) & !AccessFs::from_all(abi)).contains(right);
    let rights: [(AccessFs, &str); 3] = [
        (AccessFs::Refer, "files cannot be moved between folders (Landlock 2, Linux 5.19)"),
        (AccessFs::Truncate, "truncating is held by the mounts alone (Landlock 3, Linux 6.2)"),
        (AccessFs::IoctlDev, "control calls to devices are not refused (Landlock 5, Linux 6.10)"),
    ];
    missing.extend(rights.into_iter().filter(|(right, _)| lacks(*right)).map(|(_, text)| text.to_owned()));
    let scopes: BitFlags<Scope> = Scope::from_all(NEWEST) & !Scope::from_all(abi);
    if !scopes.is_empty() {
        let text = "signals and abstract sockets are held by namespaces alone (Landlock 6, Linux 6.12)";
        missing.push(text.to_owned());
    }
    missing
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_older_landlock_says_what_it_lacks() {
        for (version, count) in [(1, 4), (2, 3), (3, 2), (4, 2), (5, 1), (6, 0), (7, 0), (9, 0)] {
            let missing = missing_of_landlock(Some(version));
            assert_eq!(missing.len(), count, "version {version}: {missing:?}");
        }
    }

    #[test]
    fn a_listener_above_is_told_from_other_reasons() {
        let refused = |errno| observation(TrialOutcome::Trouble(TrialFailure::Here(Errno(errno))));
        assert_eq!(refused(libc::EBUSY), ObserveSupport::Nested);
        assert!(matches!(refused(libc::EINVAL), ObserveSupport::Impossible(_)));
        assert_eq!(observation(TrialOutcome::Worked), ObserveSupport::Possible);
    }
}
