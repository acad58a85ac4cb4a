//! What the enforcer sees, as events of a trace.

use std::path::PathBuf;
use std::time::Instant;

use jiff::Timestamp;
use skillsandbox_enforcer::egress::{Attempt, AttemptAction, AttemptEnd, AttemptVerdict, RefusalReason};
use skillsandbox_enforcer::{
    AccessVerdict, Actor, CommandStatus, Execution, ObservedAction, ObservedEvent, ObservedFile, RunLimit,
    RunOutcome,
};
use skillsandbox_tracer::{Event, EventKind, EventVerdict, NetConnection, TracedProcess};

/// Something that was seen, in a run whose clock was started then. `None` for the beginning of a connection, which is told again when
/// it has ended, with all there is to say of it.
pub(crate) fn observed(observed: &ObservedEvent, started: Instant) -> Option<Event> {
    if matches!(&observed.tried, ObservedAction::Network(attempt) if goes_on(attempt)) {
        return None;
    }
    let mut event = match &observed.tried {
        ObservedAction::File(file) => self::file(file),
        ObservedAction::Exec(exec) => self::exec(exec),
        ObservedAction::Network(attempt) => network(attempt),
        ObservedAction::Refused(call) => {
            let verdict = if call.errno.is_some() { EventVerdict::Denied } else { EventVerdict::Allowed };
            let (name, reason) = (call.name.clone(), call.reason.to_owned());
            Event::new(EventKind::SyscallRefused { name, reason, errno: call.errno })
                .with_verdict(verdict, "permissions.syscalls.profile".to_owned())
        }
        ObservedAction::Lost(count) => {
            let mut event = Event::new(EventKind::Lost { at: "observer".to_owned() });
            event.count = *count;
            event
        }
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
    matches!((&attempt.verdict, attempt.action), (AttemptVerdict::Allowed(_), AttemptAction::Reach(_)))
        && attempt.end.is_none()
}

fn process(actor: &Actor) -> TracedProcess {
    let mut process = TracedProcess::new(actor.pid, actor.binary.clone());
    process.inner_pid = actor.inner_pid;
    process.parent = actor.parent;
    process
}

fn judged(event: Event, access: &AccessVerdict) -> Event {
    match access {
        AccessVerdict::Allowed(rule) => event.with_verdict(EventVerdict::Allowed, rule.clone()),
        AccessVerdict::Denied(reason) => event.with_verdict(EventVerdict::Denied, (*reason).to_owned()),
        AccessVerdict::Unknown(reason) => event.with_verdict(EventVerdict::Unknown, (*reason).to_owned()),
        AccessVerdict::NotThere => event.with_verdict(EventVerdict::Failed, "no such file".to_owned()),
    }
}

fn file(file: &ObservedFile) -> Event {
    let operation = file.operation;
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
        AttemptAction::LookUp => EventKind::DnsQuery { name: attempt.name.clone(), server: address },
        AttemptAction::Reach(transport) => {
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
            connection.detail = detail(attempt);
            EventKind::NetConnect(connection)
        }
    };
    let event = Event::new(what);
    match &attempt.verdict {
        AttemptVerdict::Allowed(rule) if has_failed(attempt) => {
            event.with_verdict(EventVerdict::Failed, rule.clone())
        }
        AttemptVerdict::Allowed(rule) => event.with_verdict(EventVerdict::Allowed, rule.clone()),
        // A lookup has no place of its own for the word.
        AttemptVerdict::Refused(_) if attempt.action == AttemptAction::LookUp => {
            event.with_verdict(EventVerdict::Denied, reason(attempt))
        }
        AttemptVerdict::Refused(reason) | AttemptVerdict::Cut(reason) => {
            event.with_verdict(EventVerdict::Denied, reason.to_string())
        }
    }
}

fn has_failed(attempt: &Attempt) -> bool {
    matches!(attempt.end, Some(AttemptEnd::NotResolved(_) | AttemptEnd::NotConnected(_)))
}

/// What was said where the name was not resolved, or no connection was made.
fn detail(attempt: &Attempt) -> Option<String> {
    match &attempt.end {
        Some(AttemptEnd::NotResolved(said) | AttemptEnd::NotConnected(said)) => Some(said.clone()),
        None
        | Some(
            AttemptEnd::Closed
            | AttemptEnd::ResetByProgram
            | AttemptEnd::ResetByDestination
            | AttemptEnd::Idle
            | AttemptEnd::RunEnded,
        ) => None,
    }
}

/// One word for how it ended, or why it was refused.
fn reason(attempt: &Attempt) -> Option<String> {
    let word = match (&attempt.verdict, &attempt.end) {
        (AttemptVerdict::Refused(reason) | AttemptVerdict::Cut(reason), _) => match reason {
            RefusalReason::NotGranted => "not_granted",
            RefusalReason::LooksLikeData => "looks_like_data",
            RefusalReason::TooManyNames => "too_many_names",
            RefusalReason::Special { .. } => "special_address",
            RefusalReason::NotTls => "not_tls",
            RefusalReason::NoServerName => "no_server_name",
            RefusalReason::OtherServerName(_) => "other_server_name",
            RefusalReason::HiddenServerName => "hidden_server_name",
            RefusalReason::BadHello => "bad_hello",
            RefusalReason::NotHttp => "not_http",
            RefusalReason::NoHost => "no_host",
            RefusalReason::OtherHost(_) => "other_host",
            RefusalReason::Http2 => "http2",
        },
        (_, None) => return None,
        (_, Some(end)) => match end {
            AttemptEnd::Closed => "closed",
            AttemptEnd::ResetByProgram => "reset_by_program",
            AttemptEnd::ResetByDestination => "reset_by_destination",
            AttemptEnd::NotResolved(_) => "not_resolved",
            AttemptEnd::NotConnected(_) => "not_connected",
            AttemptEnd::Idle => "idle",
            AttemptEnd::RunEnded => "run_ended",
        },
    };
    Some(word.to_owned())
}

/// Limits that were reached.
pub(crate) fn limits(outcome: &RunOutcome) -> impl Iterator<Item = Event> + '_ {
    outcome.limits_hit.iter().map(|hit| {
        let limit = hit.limit.as_str();
        let what =
            EventKind::ResourceLimitHit { limit: limit.to_owned(), mechanism: hit.mechanism.to_string() };
        let event = Event::new(what);
        // Who is slowed down was kept from nothing, and on a busy machine that is anybody.
        if hit.limit == RunLimit::Cpu {
            event
        } else {
            event.with_verdict(EventVerdict::Denied, format!("resources: {limit}"))
        }
    })
}

/// The end of a run.
pub(crate) fn ended(outcome: &RunOutcome) -> Event {
    let (exit_code, signal) = match outcome.status {
        CommandStatus::Exited(code) => (Some(code), None),
        CommandStatus::Signalled(signal) => (None, Some(signal)),
    };
    let end = outcome.end.as_str().to_owned();
    Event::new(EventKind::RunEnded { exit_code, signal, end, error: None })
}
