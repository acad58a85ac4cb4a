//! Something that was tried and prevented, in words.

use serde::Serialize;
use skillsandbox_tracer::{AttackClass, Event, EventKind, FileOperation, NetConnection};

use crate::grant_hint::{NOT_GRANTED, READ_ONLY};

/// Something that was tried and prevented, or several of the same kind in one folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct DeniedAttempt {
    /// Its place in the trace; of several, that of the first.
    pub sequence: u64,
    /// What kind of thing it was: `net_connect`, `dns_query`, `file`, `exec`, `syscall_refused`, ...
    pub kind: &'static str,
    /// What was tried, in a line.
    pub what: String,
    /// Which rule prevented it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Why, for a person, where "it was not granted" does not say it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Who tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process: Option<String>,
    /// How often.
    pub count: u64,
    /// How many different files or names it stands for.
    #[serde(skip_serializing_if = "is_one")]
    pub distinct: u64,
    /// Which class of attacks it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<AttackClass>,
    /// What would have let it happen: an entry of `skillsandbox.yaml`, or a flag, as whoever runs it would type it. Never of anything that an
    /// attack wants, nor in a run that looks like one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_one(count: &u64) -> bool {
    *count == 1
}

impl DeniedAttempt {
    /// What an event says of a denial; `None` for one that says of none. Without a hint: those depend on the rest of the run.
    pub(crate) fn of(event: &Event, class: Option<AttackClass>) -> Option<Self> {
        if !event.is_violation() {
            return None;
        }
        let (kind, what) = match &event.kind {
            EventKind::NetConnect(to) => ("net_connect", connection(to)),
            EventKind::DnsQuery { name, .. } => {
                let name = name.as_deref().unwrap_or("a host name");
                ("dns_query", format!("look up {name}"))
            }
            EventKind::File { operation, path, to } => {
                let arrow = to.as_ref().map(|to| format!(" to {to}")).unwrap_or_default();
                ("file", format!("{} {path}{arrow}", operation_verb(*operation)))
            }
            EventKind::Exec { path, .. } => ("exec", format!("execute {path}")),
            EventKind::SyscallRefused { name, .. } => ("syscall_refused", format!("call {name}")),
            EventKind::ResourceLimitHit { limit, .. } => {
                ("resource_limit_hit", format!("use more {limit} than granted"))
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
            why: reason(event),
            process,
            count: event.count,
            distinct: 1,
            class,
            hint: None,
        })
    }
}

/// Why it was refused, where "not granted" does not say it.
fn reason(event: &Event) -> Option<String> {
    let rule = event.rule.as_deref()?;
    match &event.kind {
        // The words of the rule are for people: "the name belongs to 10.0.0.1, a private address".
        EventKind::NetConnect(to) if to.reason.as_deref() != Some("not_granted") => Some(rule.to_owned()),
        EventKind::DnsQuery { name: None, .. } => {
            Some("no network is granted, so nobody read the name".to_owned())
        }
        EventKind::DnsQuery { .. } => match rule {
            "looks_like_data" => Some("it looks like data and not like a host name".to_owned()),
            "too_many_names" => Some("too many different names below a granted wildcard".to_owned()),
            _ => None,
        },
        EventKind::SyscallRefused { reason, .. } => Some(reason.clone()),
        EventKind::File { .. } | EventKind::Exec { .. } => match rule {
            NOT_GRANTED => None,
            READ_ONLY => Some("it may be read, and not changed".to_owned()),
            "forbidden" => Some("it is forbidden, whatever is granted around it".to_owned()),
            "another process" => Some("it belongs to another process".to_owned()),
            rule if rule.starts_with("a socket of the host") => Some("a socket of this machine".to_owned()),
            rule => Some(rule.to_owned()),
        },
        EventKind::NetConnect(_)
        | EventKind::ResourceLimitHit { .. }
        | EventKind::RunStarted { .. }
        | EventKind::Policy { .. }
        | EventKind::Stdout(_)
        | EventKind::Stderr(_)
        | EventKind::Lost { .. }
        | EventKind::RunEnded { .. } => None,
    }
}

/// Where a connection was to go: `api.weather.test:443`.
pub(crate) fn target(to: &NetConnection) -> String {
    let host = to.name.as_deref().or(to.address.as_deref()).unwrap_or("an address");
    if host.contains(':') { format!("[{host}]:{}", to.port) } else { format!("{host}:{}", to.port) }
}

fn connection(to: &NetConnection) -> String {
    let host = to.name.as_deref().or(to.address.as_deref()).unwrap_or("an address");
    format!("connect to {host} port {} by {}", to.port, to.transport)
}

pub(crate) fn operation_verb(operation: FileOperation) -> &'static str {
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

#[cfg(test)]
mod tests {
    use skillsandbox_tracer::EventVerdict;

    use super::*;

    fn denied(kind: EventKind, rule: &str) -> DeniedAttempt {
        let event = Event::new(kind).with_verdict(EventVerdict::Denied, rule.to_owned());
        DeniedAttempt::of(&event, None).unwrap()
    }

    #[test]
    fn a_denial_says_what_was_tried_and_why_it_was_refused() {
        let mut to = NetConnection::default();
        (to.name, to.port, to.transport) = (Some("api.x.test".into()), 443, "tcp".into());
        to.reason = Some("not_granted".into());
        let attempt = denied(EventKind::NetConnect(to.clone()), "not in permissions.network.egress");
        assert_eq!((attempt.what.as_str(), attempt.why), ("connect to api.x.test port 443 by tcp", None));
        to.reason = Some("special_address".into());
        let attempt = denied(EventKind::NetConnect(to), "the name belongs to 10.0.0.1, a private address");
        assert_eq!(attempt.why.as_deref(), Some("the name belongs to 10.0.0.1, a private address"));
        let attempt = denied(EventKind::DnsQuery { name: None, server: None }, "not_granted");
        assert_eq!(attempt.what, "look up a host name");
        assert_eq!(attempt.why.as_deref(), Some("no network is granted, so nobody read the name"));
        let file = EventKind::File { operation: FileOperation::Write, path: "/srv/x".into(), to: None };
        assert_eq!(denied(file, "read-only").why.as_deref(), Some("it may be read, and not changed"));
    }

    #[test]
    fn only_what_was_tried_and_prevented_counts() {
        let what = || EventKind::File { operation: FileOperation::Read, path: "/x".into(), to: None };
        for verdict in [EventVerdict::Allowed, EventVerdict::Failed, EventVerdict::Unknown] {
            assert_eq!(DeniedAttempt::of(&Event::new(what()).with_verdict(verdict, None), None), None);
        }
        let policy = EventKind::Policy {
            subject: "network".into(),
            message: "nothing".into(),
            figures: std::collections::BTreeMap::new(),
        };
        assert_eq!(DeniedAttempt::of(&Event::new(policy), None), None);
    }
}
