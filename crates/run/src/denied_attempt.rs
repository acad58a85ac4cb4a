//! What was prevented, in words, with what would have to be declared to allow it.

use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;
use skillsandbox_tracer::{AttackClass, Event, EventKind, EventSink, FileOperation, NetConnection};

/// Most denials that are kept of a run; the trace has all of them.
const MOST: usize = 200;

/// Something that was tried and prevented.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct DeniedAttempt {
    /// Its place in the trace.
    pub sequence: u64,
    /// What kind of thing it was: `net_connect`, `dns_query`, `file`, `exec`, `syscall_refused`, ...
    pub kind: &'static str,
    /// What was tried, in a line.
    pub what: String,
    /// Which rule prevented it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Who tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process: Option<String>,
    /// How often.
    pub count: u64,
    /// What the skill's author would have to declare, if it is meant to be allowed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub declare: Option<String>,
}

impl DeniedAttempt {
    /// What an event says of a denial; `None` for one that says of none.
    #[must_use]
    pub fn of(event: &Event) -> Option<Self> {
        if !event.is_violation() {
            return None;
        }
        let (kind, what, declare) = match &event.kind {
            EventKind::NetConnect(to) => ("net_connect", connection(to), egress(to)),
            EventKind::DnsQuery { name, .. } => {
                let name = name.as_deref().unwrap_or("a name");
                let declare = grant("permissions.network.egress", &format!("- {{ domain: {name} }}"));
                ("dns_query", format!("look up {name}"), Some(declare).filter(|_| is_name(name)))
            }
            EventKind::File { operation, path, to } => {
                let arrow = to.as_ref().map(|to| format!(" to {to}")).unwrap_or_default();
                let list = if *operation == FileOperation::Read { "read" } else { "write" };
                let declare = grant(&format!("permissions.filesystem.{list}"), &format!("- {path}"));
                ("file", format!("{} {path}{arrow}", word(*operation)), Some(declare))
            }
            EventKind::Exec { path, .. } => {
                let declare = grant(
                    "permissions.filesystem.read (or permissions.commands.allow)",
                    &format!("- {path}"),
                );
                ("exec", format!("execute {path}"), Some(declare))
            }
            EventKind::SyscallRefused { name, reason, .. } => {
                ("syscall_refused", format!("call {name}: {reason}"), None)
            }
            EventKind::ResourceLimitHit { limit, .. } => {
                ("resource_limit_hit", format!("use more {limit} than granted"), resource(limit))
            }
            // Nothing of these is an attempt.
            EventKind::RunStarted { .. }
            | EventKind::Policy { .. }
            | EventKind::Stdout(_)
            | EventKind::Stderr(_)
            | EventKind::Lost { .. }
            | EventKind::RunEnded { .. } => return None,
        };
        let process = event.process.as_ref().map(|process| {
            let binary = process.binary.as_deref().unwrap_or("a process");
            format!("{binary} ({})", process.pid)
        });
        Some(Self {
            sequence: event.sequence,
            kind,
            what,
            rule: event.rule.clone(),
            process,
            count: event.count,
            declare,
        })
    }
}

fn grant(section: &str, entry: &str) -> String {
    format!("{section}: {entry}")
}

fn resource(limit: &str) -> Option<String> {
    let key = match limit {
        "memory" => "memory_mb",
        "processes" => "max_processes",
        "cpu" => "max_cpu_percent",
        "cpu_time" => "max_cpu_seconds",
        "timeout" => "max_runtime_seconds",
        "output" => "max_output_bytes",
        _ => return None,
    };
    Some(format!("resources.{key}: a higher limit"))
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_'))
}

fn connection(to: &NetConnection) -> String {
    let host = to.name.as_deref().or(to.address.as_deref()).unwrap_or("an address");
    format!("connect to {host} port {} by {}", to.port, to.transport)
}

fn egress(to: &NetConnection) -> Option<String> {
    if to.reason.as_deref().is_some_and(|reason| reason != "not_granted") {
        return None;
    }
    let protocol = if to.transport == "udp" { ", protocol: udp" } else { "" };
    let host = match (&to.name, &to.address) {
        (Some(name), _) if is_name(name) => format!("domain: {name}"),
        (_, Some(address)) => format!("cidr: {address}"),
        _ => return None,
    };
    Some(grant("permissions.network.egress", &format!("- {{ {host}, ports: [{}]{protocol} }}", to.port)))
}

fn word(operation: FileOperation) -> &'static str {
    match operation {
        FileOperation::Read => "read",
        FileOperation::Write => "write",
        FileOperation::Remove => "remove",
        FileOperation::Rename => "rename",
        FileOperation::Link | FileOperation::Symlink => "link",
        FileOperation::MakeFolder => "make the folder",
        FileOperation::MakeNode => "make the node",
        FileOperation::Truncate => "truncate",
        FileOperation::ChangeMode => "change the mode of",
        FileOperation::ChangeAttributes => "change the attributes of",
        FileOperation::Connect => "connect to",
    }
}

/// Collects them as they happen.
#[derive(Debug, Clone, Default)]
pub(crate) struct AttemptCollector(Arc<Mutex<AttemptList>>);

#[derive(Debug, Default)]
struct AttemptList {
    kept: Vec<DeniedAttempt>,
    omitted: u64,
}

impl AttemptCollector {
    /// Those that were kept, and how many were not.
    pub(crate) fn take(&self) -> (Vec<DeniedAttempt>, u64) {
        let mut book = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        (std::mem::take(&mut book.kept), book.omitted)
    }
}

impl EventSink for AttemptCollector {
    fn event(&mut self, event: &Event, _: Option<AttackClass>) {
        let Some(denial) = DeniedAttempt::of(event) else { return };
        let mut book = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let first = event.repeats.and_then(|first| book.kept.iter_mut().find(|kept| kept.sequence == first));
        if let Some(first) = first {
            first.count += denial.count;
        } else if book.kept.len() < MOST {
            book.kept.push(denial);
        } else {
            book.omitted += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use skillsandbox_tracer::EventVerdict;

    use super::*;

    fn denied(what: EventKind) -> Event {
        Event::new(what).with_verdict(EventVerdict::Denied, "a rule".to_owned())
    }

    #[test]
    fn a_denial_says_what_would_have_to_be_declared() {
        let mut to = NetConnection::default();
        (to.name, to.port, to.transport) = (Some("webhook.test".into()), 443, "tcp".into());
        to.reason = Some("not_granted".into());
        let denial = DeniedAttempt::of(&denied(EventKind::NetConnect(to.clone()))).unwrap();
        assert_eq!(denial.what, "connect to webhook.test port 443 by tcp");
        assert_eq!(
            denial.declare.as_deref(),
            Some("permissions.network.egress: - { domain: webhook.test, ports: [443] }")
        );
        to.reason = Some("special_address".into());
        assert_eq!(DeniedAttempt::of(&denied(EventKind::NetConnect(to))).unwrap().declare, None);
        let file = EventKind::File { operation: FileOperation::Remove, path: "/srv/x".into(), to: None };
        let denial = DeniedAttempt::of(&denied(file)).unwrap();
        assert_eq!(denial.declare.as_deref(), Some("permissions.filesystem.write: - /srv/x"));
        let socket = EventKind::File { operation: FileOperation::Connect, path: "/run/x".into(), to: None };
        assert_eq!(DeniedAttempt::of(&denied(socket)).unwrap().what, "connect to /run/x");
        let name = Some("a\nforged: line".to_owned());
        assert_eq!(
            DeniedAttempt::of(&denied(EventKind::DnsQuery { name, server: None })).unwrap().declare,
            None
        );
    }

    #[test]
    fn only_what_was_tried_and_prevented_counts() {
        let what = || EventKind::File { operation: FileOperation::Read, path: "/x".into(), to: None };
        for verdict in [EventVerdict::Allowed, EventVerdict::Failed] {
            assert_eq!(DeniedAttempt::of(&Event::new(what()).with_verdict(verdict, None)), None);
        }
        let policy = EventKind::Policy {
            subject: "network".into(),
            message: "nothing".into(),
            figures: std::collections::BTreeMap::new(),
        };
        assert_eq!(DeniedAttempt::of(&Event::new(policy)), None);
    }

    #[test]
    fn repeats_are_counted_and_there_is_an_end_to_what_is_kept() {
        let denials = AttemptCollector::default();
        let mut sink = denials.clone();
        for place in 0..(MOST as u64 + 5) {
            let path = format!("/x/{place}");
            let mut event = denied(EventKind::File { operation: FileOperation::Read, path, to: None });
            event.sequence = place;
            sink.event(&event, None);
            event.repeats = Some(place);
            event.count = 3;
            sink.event(&event, None);
        }
        let (kept, omitted) = denials.take();
        assert_eq!((kept.len(), kept[0].count), (MOST, 4));
        assert_eq!(omitted, 10);
    }
}
