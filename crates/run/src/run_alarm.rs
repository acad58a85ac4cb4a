//! Whether a run looks like an attack, whether anything got out, and what to do: all computed from what was observed.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;
use skillsandbox_terms::EndCause;
use skillsandbox_tracer::{
    AttackClass, AttackSeverity, Classification, Event, EventKind, EventVerdict, FileOperation, Prevention,
};

use crate::denied_attempt::target;
use crate::report::RunExit;

/// Hosts that are told apart, and sockets that are named.
const MOST_HOSTS: usize = 64;
/// Hosts that are named in a sentence.
const MOST_NAMED: usize = 3;

/// What a person should know first of a run that looks like an attack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RunAlarm {
    /// What happened, in a sentence.
    pub what: String,
    /// How bad it is.
    pub severity: AttackSeverity,
    /// Whether all of it was prevented: `prevented`, `not_prevented` or `unknown`.
    pub prevention: &'static str,
    /// Whether anything got out.
    pub got_out: SentData,
    /// What to do.
    pub advice: &'static str,
}

impl RunAlarm {
    /// What a run should alarm about; `None` for one in which nothing looks like an attack.
    pub(crate) fn of(found: &[Classification], got_out: SentData) -> Option<Self> {
        let attacks = || found.iter().filter(|found| is_attack(found));
        let worst = attacks().max_by_key(|found| found.severity)?;
        let prevention = worst_prevention(attacks().map(Classification::prevention));
        let (word, sentence) = match prevention {
            Prevention::Prevented => ("prevented", "All of it was prevented."),
            Prevention::NotPrevented => ("not_prevented", "It was NOT PREVENTED."),
            Prevention::Unknown => ("unknown", "It is UNKNOWN whether that was prevented."),
        };
        let others = match attacks().count() - 1 {
            0 => String::new(),
            1 => "; one other class of attack was seen".to_owned(),
            more => format!("; {more} other classes of attacks were seen"),
        };
        let credentials = |found: &Classification| match found.class {
            AttackClass::CredentialHarvesting
            | AttackClass::CredentialExfiltration
            | AttackClass::SupplyChainAttack => found.prevention() != Prevention::Prevented,
            AttackClass::DataExfiltration
            | AttackClass::PrivilegeEscalation
            | AttackClass::UnauthorizedFileAccess
            | AttackClass::SandboxEscape
            | AttackClass::DnsTunnelling
            | AttackClass::DomainFronting
            | AttackClass::ResourceAbuse
            | AttackClass::Persistence
            | AttackClass::Discovery
            | AttackClass::RemoteExecution => false,
        };
        let advice = if attacks().any(credentials) {
            "Do not run it again. Replace the credentials that it touched, and read its trace."
        } else if worst.severity >= AttackSeverity::High {
            "Do not run it again. Read its trace, and remove it unless you know why it does this."
        } else {
            "Do not run it again before you have read its trace."
        };
        Some(Self {
            what: format!("it {}{others}. {sentence}", worst.message),
            severity: worst.severity,
            prevention: word,
            got_out,
            advice,
        })
    }
}

/// In one line: what happened, whether anything got out, what to do.
impl fmt::Display for RunAlarm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.what, self.got_out, self.advice)
    }
}

/// Whether a class is worth an alarm. What is low is worth knowing, and no more; and files that were not granted, and nothing else, are what a
/// missing grant looks like.
pub(crate) fn is_attack(found: &Classification) -> bool {
    found.severity >= AttackSeverity::Medium && is_accusation(found.class)
}

/// Whether to belong to a class says more than that something was not granted.
pub(crate) fn is_accusation(class: AttackClass) -> bool {
    match class {
        AttackClass::UnauthorizedFileAccess => false,
        AttackClass::CredentialHarvesting
        | AttackClass::CredentialExfiltration
        | AttackClass::DataExfiltration
        | AttackClass::SupplyChainAttack
        | AttackClass::PrivilegeEscalation
        | AttackClass::SandboxEscape
        | AttackClass::DnsTunnelling
        | AttackClass::DomainFronting
        | AttackClass::ResourceAbuse
        | AttackClass::Persistence
        | AttackClass::Discovery
        | AttackClass::RemoteExecution => true,
    }
}

fn worst_prevention(all: impl Iterator<Item = Prevention>) -> Prevention {
    all.fold(Prevention::Prevented, |worst, one| match (worst, one) {
        (Prevention::NotPrevented, _) | (_, Prevention::NotPrevented) => Prevention::NotPrevented,
        (Prevention::Unknown, _) | (_, Prevention::Unknown) => Prevention::Unknown,
        (Prevention::Prevented, Prevention::Prevented) => Prevention::Prevented,
    })
}

/// What a run sent to hosts, as far as that was seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SentData {
    /// `nothing`, `something`, or `unknown`.
    pub answer: SentAnswer,
    /// Bytes by host, the most first.
    pub hosts: Vec<SentBytes>,
    /// Why it is not known, where it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// Whether anything got out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SentAnswer {
    /// No byte was relayed to any host.
    Nothing,
    /// Bytes were relayed.
    Something,
    /// There is a way that nobody watched; `hosts` has what is known.
    Unknown,
}

/// Bytes that were relayed to a host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SentBytes {
    /// The host and port, by the name that was meant where one is known.
    pub host: String,
    /// How many.
    pub bytes: u64,
}

impl fmt::Display for SentData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = self.hosts.iter().take(MOST_NAMED);
        let named: Vec<String> = named.map(|sent| format!("{} bytes to {}", sent.bytes, sent.host)).collect();
        let more = match self.hosts.len().saturating_sub(MOST_NAMED) {
            0 => String::new(),
            more => format!(" and to {more} more"),
        };
        let sent = format!("{}{more}", named.join(", "));
        let why = self.why.as_deref().unwrap_or_default();
        match (self.answer, self.hosts.is_empty()) {
            (SentAnswer::Nothing, _) => f.write_str("Nothing got out: nothing was sent to any host."),
            (SentAnswer::Something, _) => write!(f, "Something GOT OUT: {sent}."),
            (SentAnswer::Unknown, true) => write!(f, "It is UNKNOWN whether anything got out: {why}."),
            (SentAnswer::Unknown, false) => {
                write!(f, "Something GOT OUT: {sent}; there may be more: {why}.")
            }
        }
    }
}

/// Counts what is sent, as it is.
#[derive(Debug, Default)]
pub(crate) struct SentCounter {
    hosts: BTreeMap<String, u64>,
    elsewhere: u64,
    /// Why not all of it is known.
    gaps: Vec<String>,
}

impl SentCounter {
    pub(crate) fn observe(&mut self, event: &Event) {
        match &event.kind {
            EventKind::NetConnect(to) => {
                if event.verdict == Some(EventVerdict::Unknown) {
                    self.gap("it is not known what became of a connection");
                }
                if to.sent > 0 {
                    let host = target(to);
                    if self.hosts.contains_key(&host) || self.hosts.len() < MOST_HOSTS {
                        let bytes = self.hosts.entry(host).or_default();
                        *bytes = bytes.saturating_add(to.sent.saturating_mul(event.count));
                    } else {
                        self.elsewhere = self.elsewhere.saturating_add(to.sent);
                    }
                }
            }
            EventKind::File { operation: FileOperation::Connect, .. } => match event.verdict {
                // Its own sockets lead nowhere else; what it says to those of the machine nobody reads.
                Some(EventVerdict::Allowed) => {
                    let is_own = event.rule.as_deref().is_some_and(|rule| {
                        rule.ends_with("private to the run") || rule == "of the sandbox itself"
                    });
                    if !is_own {
                        self.gap("it was connected to a socket of this machine");
                    }
                }
                Some(EventVerdict::Unknown) => self.gap("it is not known what became of a connection"),
                Some(EventVerdict::Denied | EventVerdict::Failed) | None => {}
            },
            EventKind::DnsQuery { .. } if event.verdict == Some(EventVerdict::Unknown) => {
                self.gap("it is not known what became of a name that was looked up");
            }
            EventKind::SyscallRefused { errno: None, .. } => {
                self.gap("the permissive profile let calls pass that nobody watches");
            }
            EventKind::Lost { at } if at == "observer" => {
                self.gap("not everything that it tried was recorded");
            }
            EventKind::DnsQuery { .. }
            | EventKind::SyscallRefused { .. }
            | EventKind::Lost { .. }
            | EventKind::File { .. }
            | EventKind::Exec { .. }
            | EventKind::ResourceLimitHit { .. }
            | EventKind::RunStarted { .. }
            | EventKind::Policy { .. }
            | EventKind::Stdout(_)
            | EventKind::Stderr(_)
            | EventKind::RunEnded { .. } => {}
        }
    }

    fn gap(&mut self, why: &str) {
        if !self.gaps.iter().any(|known| known == why) {
            self.gaps.push(why.to_owned());
        }
    }

    /// What is known when the run has ended.
    pub(crate) fn finish(mut self, ended: Option<&RunExit>, found: &[Classification]) -> SentData {
        if let Some(ended) = ended {
            if let Some((layer, _)) = ended.waived.first() {
                self.gap(&format!("it ran without the {layer} layer"));
            }
            if matches!(ended.by, EndCause::Unobserved) {
                self.gap("it could not be observed as required");
            }
        }
        let is_tunnel = |found: &&Classification| found.class == AttackClass::DnsTunnelling;
        if found.iter().find(is_tunnel).is_some_and(|found| found.prevention() != Prevention::Prevented) {
            self.gap("names that look like data were looked up, and whoever answers for them was told");
        }
        let mut hosts: Vec<SentBytes> =
            self.hosts.into_iter().map(|(host, bytes)| SentBytes { host, bytes }).collect();
        if self.elsewhere > 0 {
            hosts.push(SentBytes { host: "other hosts".to_owned(), bytes: self.elsewhere });
        }
        hosts.sort_by(|one, two| two.bytes.cmp(&one.bytes).then_with(|| one.host.cmp(&two.host)));
        let answer = match (self.gaps.is_empty(), hosts.is_empty()) {
            (false, _) => SentAnswer::Unknown,
            (true, true) => SentAnswer::Nothing,
            (true, false) => SentAnswer::Something,
        };
        let why = (!self.gaps.is_empty()).then(|| self.gaps.join("; "));
        SentData { answer, hosts, why }
    }
}

#[cfg(test)]
mod tests {
    use skillsandbox_tracer::NetConnection;

    use super::*;

    fn found(class: &str, severity: &str, prevented: bool, unknown: bool) -> Classification {
        serde_json::from_value(serde_json::json!({
            "class": class, "severity": severity, "mitre_tactic": "x", "techniques": [], "evidence": [0],
            "prevented": prevented, "unknown": unknown, "message": "looked for credentials: keys of SSH",
        }))
        .unwrap()
    }

    fn sent(name: &str, bytes: u64, verdict: EventVerdict) -> Event {
        let mut to = NetConnection::default();
        (to.name, to.port, to.transport, to.sent) = (Some(name.into()), 443, "tcp".into(), bytes);
        Event::new(EventKind::NetConnect(to)).with_verdict(verdict, None)
    }

    fn data(events: &[Event]) -> SentData {
        let mut counter = SentCounter::default();
        for event in events {
            counter.observe(event);
        }
        counter.finish(None, &[])
    }

    #[test]
    fn row_177_whether_anything_got_out_is_counted_and_what_is_unknown_is_said_to_be() {
        let none = data(&[sent("a.test", 0, EventVerdict::Denied), sent("b.test", 0, EventVerdict::Failed)]);
        assert_eq!(none.to_string(), "Nothing got out: nothing was sent to any host.");
        // What was cut off had sent something before, and so had what broke off.
        let some = data(&[
            sent("a.test", 10, EventVerdict::Denied),
            sent("b.test", 5, EventVerdict::Failed),
            sent("a.test", 20, EventVerdict::Allowed),
        ]);
        assert_eq!(some.to_string(), "Something GOT OUT: 30 bytes to a.test:443, 5 bytes to b.test:443.");
        let socket = |verdict, rule: &str| {
            let operation = FileOperation::Connect;
            Event::new(EventKind::File { operation, path: "/run/x".into(), to: None })
                .with_verdict(verdict, rule.to_owned())
        };
        assert_eq!(data(&[socket(EventVerdict::Denied, "x")]).answer, SentAnswer::Nothing);
        assert_eq!(
            data(&[socket(EventVerdict::Allowed, "/tmp, private to the run")]).answer,
            SentAnswer::Nothing
        );
        let mut lost = Event::new(EventKind::Lost { at: "observer".into() });
        lost.count = 7;
        let passed = EventKind::SyscallRefused { name: "x".into(), reason: String::new(), errno: None };
        for event in [
            sent("a.test", 0, EventVerdict::Unknown),
            socket(EventVerdict::Allowed, "permissions.filesystem.unix_sockets: /run/x"),
            socket(EventVerdict::Unknown, "x"),
            lost,
            Event::new(passed),
        ] {
            let unknown = data(&[event]);
            assert_eq!(unknown.answer, SentAnswer::Unknown);
            assert!(unknown.to_string().starts_with("It is UNKNOWN whether anything got out: "), "{unknown}");
        }
        // Of what did not fit into the trace everybody was told all the same.
        assert_eq!(data(&[Event::new(EventKind::Lost { at: "trace".into() })]).answer, SentAnswer::Nothing);
        let both = data(&[sent("a.test", 1, EventVerdict::Allowed), socket(EventVerdict::Unknown, "x")]);
        assert!(
            both.to_string().starts_with("Something GOT OUT: 1 bytes to a.test:443; there may be more: ")
        );
    }

    #[test]
    fn hosts_beyond_number_are_counted_together() {
        let many: Vec<Event> =
            (0..1000).map(|at| sent(&format!("h{at}.test"), 1, EventVerdict::Allowed)).collect();
        let data = data(&many);
        assert_eq!(data.hosts.len(), MOST_HOSTS + 1);
        assert_eq!(data.hosts.iter().map(|sent| sent.bytes).sum::<u64>(), 1000);
    }

    #[test]
    fn an_alarm_says_what_happened_whether_it_was_prevented_and_what_to_do() {
        let alarm = |found: &[Classification]| RunAlarm::of(found, data(&[]));
        assert_eq!(alarm(&[]), None);
        assert_eq!(alarm(&[found("discovery", "low", true, false)]), None);
        assert_eq!(alarm(&[found("unauthorized_file_access", "medium", true, false)]), None);
        let one = alarm(&[found("credential_harvesting", "medium", true, false)]).unwrap();
        assert_eq!(
            one.to_string(),
            "it looked for credentials: keys of SSH. All of it was prevented. Nothing got out: nothing was sent to any host. \
             Do not run it again before you have read its trace."
        );
        let worse = alarm(&[
            found("supply_chain_attack", "critical", true, false),
            found("sandbox_escape", "high", true, false),
        ]);
        assert!(worse.unwrap().advice.starts_with("Do not run it again. Read its trace, and remove it"));
        let read = alarm(&[
            found("persistence", "high", true, false),
            found("credential_harvesting", "medium", false, false),
        ])
        .unwrap();
        assert_eq!(read.prevention, "not_prevented");
        assert!(read.advice.contains("Replace the credentials"), "{read}");
        let unknown = alarm(&[found("credential_harvesting", "medium", false, true)]).unwrap();
        assert_eq!(unknown.prevention, "unknown");
        assert!(unknown.what.contains("UNKNOWN whether that was prevented"), "{unknown}");
    }
}
