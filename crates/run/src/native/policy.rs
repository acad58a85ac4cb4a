//! What the walls of a run hold, as events: nothing was tried.

use skillsandbox_enforcer::{Plan, RunOutcome};
use skillsandbox_tracer::{Event, EventKind, Redactor};

use crate::session::note;

/// What is known before a run begins.
pub(crate) fn before(plan: &Plan) -> Vec<Event> {
    let mut events = Vec::new();
    let rules: Vec<String> = plan.egress().rules().map(ToString::to_string).collect();
    if rules.is_empty() {
        events.push(note("network", "nothing is granted: no network at all"));
    }
    for rule in rules {
        events.push(note("network", format!("granted: {rule}; everything else is refused")));
    }
    events.push(note("syscalls", format!("profile {}", plan.profile())));
    events
}

/// Which secrets would be in the trace if the run said them.
pub(crate) fn not_taken_out(redactor: &Redactor) -> Option<Event> {
    let unused: Vec<String> =
        redactor.unused().iter().map(|unused| format!("{} ({})", unused.name, unused.reason)).collect();
    (!unused.is_empty())
        .then(|| note("secrets", format!("not taken out of this trace: {}", unused.join(", "))))
}

/// What is known when it has ended: what held it.
pub(crate) fn after(outcome: &RunOutcome) -> Vec<Event> {
    let counts = &outcome.environment;
    let figures = [
        ("allowed", counts.allowed),
        ("stripped", counts.stripped),
        ("stripped_secrets", counts.stripped_secrets),
    ];
    let message = format!("environment filtered: {} allowed, {} stripped", counts.allowed, counts.stripped);
    let figures = figures.into_iter().map(|(name, count)| (name.to_owned(), count as u64)).collect();
    let what = EventKind::Policy { subject: "environment".to_owned(), message, figures };
    let mut events = vec![Event::new(what), note("limits", format!("held by {}", outcome.mechanism))];
    if !outcome.supervises_sockets {
        let text = "nobody could judge where Unix sockets lead, so none could be made that connects";
        events.push(note("seccomp", text));
    }
    for (layer, why) in &outcome.waived {
        events.push(note(layer.name(), format!("missing, and was not required: {why}")));
    }
    events
}

/// Calls that open files, reach hosts or act for another process where no observer sees what is done with them.
const PAST_THE_OBSERVER: [&str; 22] = [
    "openat2",
    "open_by_handle_at",
    "io_uring_setup",
    "io_uring_enter",
    "mount",
    "move_mount",
    "open_tree",
    "open_tree_attr",
    "fsmount",
    "pivot_root",
    "chroot",
    "setns",
    "unshare",
    "clone",
    "ptrace",
    "process_vm_writev",
    "pidfd_getfd",
    "memfd_secret",
    "userfaultfd",
    "socket",
    "bpf",
    "sendto",
];

/// Those of them that a permissive profile let pass.
pub(crate) fn unseen(outcome: &RunOutcome) -> Vec<&str> {
    let passed = outcome.refused.iter().filter(|call| call.errno.is_none());
    passed.map(|call| call.name.as_str()).filter(|name| PAST_THE_OBSERVER.contains(name)).collect()
}
