//! What the enforcer sees, as events of a trace.

use std::path::PathBuf;
use std::time::Instant;

use jiff::Timestamp;
use skillsandbox_enforcer::egress::{Action, Attempt, End as Ended, Reason, Verdict as Judged};
use skillsandbox_enforcer::{
    Access, Actor, End, Execution, FileAccess, Limit, Observed, Operation, Outcome, Status, Tried,
};
use skillsandbox_tracer::{Event, EventKind, EventVerdict, FileOperation, NetConnection, TracedProcess};

/// Something that was seen, in a run whose clock was started then. `None` for the beginning of a connection, which is told again when
/// it has ended, with all there is to say of it.
pub(crate) fn observed(observed: &Observed, started: Instant) -> Option<Event> {
    if matches!(&observed.tried, Tried::Network(attempt) if goes_on(attempt)) {
        return None;
    }
    let mut event = match &observed.tried {
        Tried::File(file) => self::file(file),
        Tried::Exec(exec) => self::exec(exec),
        Tried::Network(attempt) => network(attempt),
        Tried::Refused(call) => {
            let verdict = if call.errno.is_some() { EventVerdict::Denied } else { EventVerdict::Allowed };
            let (name, reason) = (call.name.clone(), call.reason.to_owned());
            Event::new(EventKind::SyscallRefused { name, reason, errno: call.errno })
                .with_verdict(verdict, "permissions.syscalls.profile".to_owned())
        }
        Tried::Lost(count) => {
            let mut event = Event::new(EventKind::Lost { at: "observer".to_owned() });
            event.count = *count;
            event
        }
        _ => Event::new(EventKind::Lost { at: "observer".to_owned() }),
    };
    let elapsed = observed.instant.saturating_duration_since(started);
    event.elapsed_us = elapsed.as_micros().try_into().unwrap_or(u64::MAX);
    event.time = Timestamp::try_from(observed.at).unwrap_or_else(|_| Timestamp::now());
    if event.process.is_none() {
        event.process = observed.actor.as_deref().map(process);
    }
    Some(event)
}

fn goes_on(attempt: &Attempt) -> bool {
    matches!((&attempt.verdict, attempt.action), (Judged::Allowed(_), Action::Reach(_)))
        && attempt.end.is_none()
}

fn process(actor: &Actor) -> TracedProcess {
    let mut process = TracedProcess::new(actor.pid, actor.binary.clone());
    process.inner_pid = actor.inner_pid;
    process.parent = actor.parent;
    process
}

fn judged(event: Event, access: &Access) -> Event {
    match access {
        Access::Allowed(rule) => event.with_verdict(EventVerdict::Allowed, rule.clone()),
        Access::Denied(reason) => event.with_verdict(EventVerdict::Denied, (*reason).to_owned()),
        _ => event.with_verdict(EventVerdict::Failed, "no such file".to_owned()),
    }
}

fn file(file: &FileAccess) -> Event {
    let operation = match file.operation {
        Operation::Read => FileOperation::Read,
        Operation::Write => FileOperation::Write,
        Operation::Remove => FileOperation::Remove,
        Operation::Rename => FileOperation::Rename,
        Operation::Link => FileOperation::Link,
        Operation::Symlink => FileOperation::Symlink,
        Operation::MakeFolder => FileOperation::MakeFolder,
        Operation::MakeNode => FileOperation::MakeNode,
        Operation::Truncate => FileOperation::Truncate,
        Operation::ChangeMode => FileOperation::ChangeMode,
        Operation::Connect => FileOperation::Connect,
        _ => FileOperation::ChangeAttributes,
    };
    let path = file.path.to_string_lossy().into_owned();
    let to = file.to.as_ref().map(|to| to.to_string_lossy().into_owned());
    let event =
        Event::new(EventKind::File { operation, path, to }).with_resolved_path(real(file.real.as_ref()));
    judged(event, &file.verdict)
}

fn real(path: Option<&PathBuf>) -> Option<String> {
    path.map(|path| path.to_string_lossy().into_owned())
}

fn exec(exec: &Execution) -> Event {
    let path = exec.path.to_string_lossy().into_owned();
    let mut argv = exec.arguments.clone();
    if exec.are_cut {
        argv.push("[... more]".to_owned());
    }
    let event = Event::new(EventKind::Exec { path, argv }).with_resolved_path(real(exec.real.as_ref()));
    judged(event, &exec.verdict)
}

fn network(attempt: &Attempt) -> Event {
    let address = attempt.address.map(|address| address.to_string());
    let what = match attempt.action {
        Action::LookUp => EventKind::DnsQuery { name: attempt.name.clone(), server: address },
        Action::Reach(transport) => {
            let mut connection = NetConnection::default();
            connection.name.clone_from(&attempt.name);
            connection.address = address;
            connection.port = attempt.port;
            connection.transport = transport.to_string();
            connection.server_name.clone_from(&attempt.server_name);
            connection.dialled = attempt.dialled.map(|dialled| dialled.to_string());
            connection.sent = attempt.sent;
            connection.received = attempt.received;
            connection.duration_us = attempt.duration.as_micros().try_into().unwrap_or(u64::MAX);
            connection.reason = reason(attempt);
            EventKind::NetConnect(connection)
        }
        _ => return Event::new(EventKind::Lost { at: "observer".to_owned() }),
    };
    let event = Event::new(what);
    match &attempt.verdict {
        Judged::Allowed(rule) if has_failed(attempt) => {
            event.with_verdict(EventVerdict::Failed, rule.clone())
        }
        Judged::Allowed(rule) => event.with_verdict(EventVerdict::Allowed, rule.clone()),
        // A lookup has no place of its own for the word.
        Judged::Refused(_) if attempt.action == Action::LookUp => {
            event.with_verdict(EventVerdict::Denied, reason(attempt))
        }
        Judged::Refused(reason) | Judged::Cut(reason) => {
            event.with_verdict(EventVerdict::Denied, reason.to_string())
        }
        _ => event,
    }
}

fn has_failed(attempt: &Attempt) -> bool {
    matches!(attempt.end, Some(Ended::NotResolved(_) | Ended::NotConnected(_)))
}

/// One word for how it ended, or why it was refused.
fn reason(attempt: &Attempt) -> Option<String> {
    let word = match (&attempt.verdict, &attempt.end) {
        (Judged::Refused(reason) | Judged::Cut(reason), _) => match reason {
            Reason::NotGranted => "not_granted",
            Reason::LooksLikeData => "looks_like_data",
            Reason::TooManyNames => "too_many_names",
            Reason::Special { .. } => "special_address",
            Reason::NotTls => "not_tls",
            Reason::NoServerName => "no_server_name",
            Reason::OtherServerName(_) => "other_server_name",
            Reason::HiddenServerName => "hidden_server_name",
            Reason::BadHello => "bad_hello",
            Reason::NotHttp => "not_http",
            Reason::NoHost => "no_host",
            Reason::OtherHost(_) => "other_host",
            Reason::Http2 => "http2",
            _ => "refused",
        },
        (_, None) => return None,
        (_, Some(end)) => match end {
            Ended::Closed => "closed",
            Ended::ResetByProgram => "reset_by_program",
            Ended::ResetByDestination => "reset_by_destination",
            Ended::NotResolved(_) => "not_resolved",
            Ended::NotConnected(_) => "not_connected",
            Ended::Idle => "idle",
            Ended::RunEnded => "run_ended",
            _ => "ended",
        },
    };
    Some(word.to_owned())
}

/// The name of a limit.
pub(crate) fn limit(limit: Limit) -> &'static str {
    match limit {
        Limit::Memory => "memory",
        Limit::Processes => "processes",
        Limit::Cpu => "cpu",
        Limit::Timeout => "timeout",
        Limit::Output => "output",
        _ => "other",
    }
}

/// Limits that were reached.
pub(crate) fn limits(outcome: &Outcome) -> impl Iterator<Item = Event> + '_ {
    outcome.limits_hit.iter().map(|hit| {
        let limit = limit(hit.limit);
        let what =
            EventKind::ResourceLimitHit { limit: limit.to_owned(), mechanism: hit.mechanism.to_string() };
        let event = Event::new(what);
        // Who is slowed down was kept from nothing, and on a busy machine that is anybody.
        if hit.limit == Limit::Cpu {
            event
        } else {
            event.with_verdict(EventVerdict::Denied, format!("resources: {limit}"))
        }
    })
}

/// The end of a run.
pub(crate) fn ended(outcome: &Outcome) -> Event {
    let (exit_code, signal) = match outcome.status {
        Status::Exited(code) => (Some(code), None),
        Status::Signalled(signal) => (None, Some(signal)),
    };
    let end = match outcome.end {
        End::Itself => "itself",
        End::Timeout => "timeout",
        End::Memory => "memory",
        End::Processes => "processes",
        End::Killed => "killed",
        End::Unobserved => "unobserved",
        _ => "other",
    };
    Event::new(EventKind::RunEnded { exit_code, signal, end: end.to_owned(), error: None })
}
