//! What the walls of a run hold, as events: nothing was tried.

use std::collections::BTreeSet;

use skillsandbox_enforcer::{Plan, RunOutcome};
use skillsandbox_text::is_secret_name;
use skillsandbox_tracer::{Event, EventKind, Redactor};

use crate::job::{Job, JobLimits};
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

/// Grants of one kind that are named; the rest is counted.
const MAX_NAMED: usize = 60;

/// What a run is given, for whoever reads its trace: grants, limits, the skill's digest, and the names of variables and credentials, never
/// their values.
pub(crate) fn given(job: &Job, plan: &Plan) -> Vec<Event> {
    let mut events = Vec::new();
    for (access, paths) in
        [("read", &job.read), ("write", &job.write), ("connect to the socket", &job.unix_sockets)]
    {
        for path in paths.iter().take(MAX_NAMED) {
            events.push(note("grant", format!("{access} {}", path.display())));
        }
        if let more @ 1.. = paths.len().saturating_sub(MAX_NAMED) {
            events.push(note("grant", format!("{access} {more} more")));
        }
    }
    events.push(note("limits", limits(&job.limits)));
    let host = std::env::vars_os().map(|(name, _)| name).filter(|name| plan.hands_on(name));
    let host = host.filter_map(|name| name.into_string().ok());
    let names: BTreeSet<String> = host.chain(job.set_env.keys().cloned()).collect();
    events.push(note("variables", named("handed over", names.iter())));
    // A parameter that is a secret has a variable of its own whose name need not say so.
    let parameters = job.secrets.iter().map(|(name, _)| format!("{}{name}", crate::call::ONE));
    let parameters: BTreeSet<String> = parameters.map(|name| name.to_uppercase().replace('-', "_")).collect();
    let secret = |name: &&String| is_secret_name(name) || parameters.contains(*name);
    events.push(note("credentials", named("handed over", names.iter().filter(secret))));
    if let Some(scanned) = &job.scanned {
        events.push(note("digest", format!("of the skill's files: {}", scanned.digest)));
    }
    events
}

/// `handed over: A, B`, or that there are none.
fn named<'a>(what: &str, names: impl Iterator<Item = &'a String>) -> String {
    let names: Vec<&str> = names.map(String::as_str).collect();
    let more = names.len().saturating_sub(MAX_NAMED);
    let shown = names.get(..names.len() - more).unwrap_or_default().join(", ");
    match (names.len(), more) {
        (0, _) => format!("none {what}"),
        (_, 0) => format!("{what}: {shown}"),
        (_, more) => format!("{what}: {shown} and {more} more"),
    }
}

fn limits(limits: &JobLimits) -> String {
    let JobLimits { memory, processes, cpu_percent, cpu_time, open_files, disk, timeout, output } = limits;
    let mib = |bytes: &u64| {
        if *bytes >= 1 << 20 { format!("{} MiB", bytes >> 20) } else { format!("{bytes} bytes") }
    };
    let seconds = |time: &std::time::Duration| format!("{} s", time.as_secs_f64());
    let all = [
        memory.as_ref().map(|bytes| format!("memory {}", mib(bytes))),
        processes.map(|count| format!("{count} processes")),
        cpu_percent.map(|percent| format!("processor {percent} %")),
        cpu_time.as_ref().map(|time| format!("processor time {}", seconds(time))),
        open_files.map(|count| format!("{count} open files")),
        disk.as_ref().map(|bytes| format!("disk {}", mib(bytes))),
        timeout.as_ref().map(|time| format!("time {}", seconds(time))),
        output.as_ref().map(|bytes| format!("output {}", mib(bytes))),
    ];
    let all: Vec<String> = all.into_iter().flatten().collect();
    if all.is_empty() { "none but those that every run has".to_owned() } else { all.join(", ") }
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
