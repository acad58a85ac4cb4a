//! Namespaces: each by itself, then all of them with users mapped, as a run has them.

use super::HostTrial;
use crate::child::step::SetupStep;
use crate::layers::namespaces::{AT_CLONE, NamespacesLayer};
use crate::support::child::{TrialFailure, TrialNamespaces, TrialOutcome, try_in_child};
use crate::sys::Errno;

pub(super) const TRIALS: &[HostTrial] = &[
    HostTrial {
        name: "clone3",
        what: "make a process with clone3",
        step: SetupStep::Clone,
        after: &[],
        run: || make_namespaces(0),
    },
    HostTrial {
        name: "user namespace",
        what: "make a user namespace",
        step: SetupStep::Clone,
        after: &["clone3"],
        run: || make_namespaces(libc::CLONE_NEWUSER),
    },
    HostTrial {
        name: "mount namespace",
        what: "make a mount namespace",
        step: SetupStep::Clone,
        after: &["user namespace"],
        run: || make_namespaces(libc::CLONE_NEWUSER | libc::CLONE_NEWNS),
    },
    HostTrial {
        name: "pid namespace",
        what: "make a pid namespace",
        step: SetupStep::Clone,
        after: &["user namespace"],
        run: || make_namespaces(libc::CLONE_NEWUSER | libc::CLONE_NEWPID),
    },
    HostTrial {
        name: "net namespace",
        what: "make a network namespace",
        step: SetupStep::Clone,
        after: &["user namespace"],
        run: || make_namespaces(libc::CLONE_NEWUSER | libc::CLONE_NEWNET),
    },
    HostTrial {
        name: "ipc namespace",
        what: "make an IPC namespace",
        step: SetupStep::Clone,
        after: &["user namespace"],
        run: || make_namespaces(libc::CLONE_NEWUSER | libc::CLONE_NEWIPC),
    },
    HostTrial {
        name: "uts namespace",
        what: "make a host name namespace",
        step: SetupStep::Clone,
        after: &["user namespace"],
        run: || make_namespaces(libc::CLONE_NEWUSER | libc::CLONE_NEWUTS),
    },
    HostTrial {
        name: "cgroup namespace",
        what: "make a cgroup namespace",
        step: SetupStep::Clone,
        after: &["user namespace"],
        run: || make_namespaces(libc::CLONE_NEWUSER | libc::CLONE_NEWCGROUP),
    },
    HostTrial {
        name: "all namespaces, with users mapped",
        what: "make all namespaces at once and map users in them",
        step: SetupStep::Clone,
        after: &[
            "mount namespace",
            "pid namespace",
            "net namespace",
            "ipc namespace",
            "uts namespace",
            "cgroup namespace",
        ],
        run: all,
    },
];

fn make_namespaces(namespaces: i32) -> TrialOutcome {
    try_in_child(TrialNamespaces::New(namespaces), |_| Ok(()))
}

/// Maps, groups, host name and keyring as a run sets them.
fn all() -> TrialOutcome {
    match NamespacesLayer::prepare(false, false) {
        Ok(namespaces) => {
            try_in_child(TrialNamespaces::Mapped(AT_CLONE, &namespaces), |_| Ok(namespaces.apply()?))
        }
        Err(_) => TrialOutcome::Trouble(TrialFailure::Here(Errno(libc::EMFILE))),
    }
}
