//! Namespaces: each by itself, then all of them with users mapped, as a run has them.

use super::Trial;
use crate::child::step::Step;
use crate::layers::namespaces::{AT_CLONE, Namespaces};
use crate::support::child::{Inside, Tried, Trouble, within};
use crate::sys::Errno;

pub(super) const TRIALS: &[Trial] = &[
    Trial {
        name: "clone3",
        what: "make a process with clone3",
        step: Step::Clone,
        after: &[],
        run: || made(0),
    },
    Trial {
        name: "user namespace",
        what: "make a user namespace",
        step: Step::Clone,
        after: &["clone3"],
        run: || made(libc::CLONE_NEWUSER),
    },
    Trial {
        name: "mount namespace",
        what: "make a mount namespace",
        step: Step::Clone,
        after: &["user namespace"],
        run: || made(libc::CLONE_NEWUSER | libc::CLONE_NEWNS),
    },
    Trial {
        name: "pid namespace",
        what: "make a pid namespace",
        step: Step::Clone,
        after: &["user namespace"],
        run: || made(libc::CLONE_NEWUSER | libc::CLONE_NEWPID),
    },
    Trial {
        name: "net namespace",
        what: "make a network namespace",
        step: Step::Clone,
        after: &["user namespace"],
        run: || made(libc::CLONE_NEWUSER | libc::CLONE_NEWNET),
    },
    Trial {
        name: "ipc namespace",
        what: "make an IPC namespace",
        step: Step::Clone,
        after: &["user namespace"],
        run: || made(libc::CLONE_NEWUSER | libc::CLONE_NEWIPC),
    },
    Trial {
        name: "uts namespace",
        what: "make a host name namespace",
        step: Step::Clone,
        after: &["user namespace"],
        run: || made(libc::CLONE_NEWUSER | libc::CLONE_NEWUTS),
    },
    Trial {
        name: "cgroup namespace",
        what: "make a cgroup namespace",
        step: Step::Clone,
        after: &["user namespace"],
        run: || made(libc::CLONE_NEWUSER | libc::CLONE_NEWCGROUP),
    },
    Trial {
        name: "all namespaces, with users mapped",
        what: "make all namespaces at once and map users in them",
        step: Step::Clone,
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

fn made(namespaces: i32) -> Tried {
    within(Inside::New(namespaces), |_| Ok(()))
}

/// Maps, groups, host name and keyring as a run sets them.
fn all() -> Tried {
    match Namespaces::prepare(false) {
        Ok(namespaces) => within(Inside::Mapped(AT_CLONE, &namespaces), |_| Ok(namespaces.apply()?)),
        Err(_) => Tried::Trouble(Trouble::Here(Errno(libc::EMFILE))),
    }
}
