//! Whether a run looks like an attack, whether anything got out, and what to do: all computed from what was observed.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::Serialize;
use skillsandbox_manifest::{Destination, DomainPattern, EgressRule};
use skillsandbox_terms::EndCause;
use skillsandbox_tracer::{
    AttackClass, AttackSeverity, Classification, Event, EventKind, EventVerdict, FileOperation, Prevention,
};

use crate::denied_attempt::target;
use crate::report::RunExit;

/// Hosts that are told apart, and sockets that are named.
const MOST_HOSTS: usize = 64;
/// Most names that are remembered to have been asked for; the broker lets fewer through.
const MOST_ASKED: usize = 4096;
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
    /// Names for which somebody's server was asked.
    asked: BTreeSet<String>,
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
                // A name that was let through, or refused for where it leads, was asked for.
                let is_asked = !matches!(
                    to.reason.as_deref(),
                    Some("not_granted" | "looks_like_data" | "too_many_names")
                );
                if let Some(name) = to.name.as_ref().filter(|_| is_asked && self.asked.len() < MOST_ASKED) {
                    self.asked.insert(name.clone());
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

    /// The names below a granted `*.` are of the program's choice, and so is what they tell whoever answers for them.
    fn note_asked(&mut self, egress: &[EgressRule]) {
        let domains: Vec<&DomainPattern> = egress
            .iter()
            .filter_map(|rule| match &rule.to {
                Destination::Domain(domain) => Some(domain),
                Destination::Cidr(_) => None,
            })
            .collect();
        let is_chosen = |name: &&String| {
            let mut granting = domains.iter().filter(|domain| domain.matches(name)).peekable();
            granting.peek().is_some() && granting.all(|domain| domain.is_wildcard())
        };
        let count = self.asked.iter().filter(is_chosen).count();
        if let Some(one) = self.asked.iter().find(is_chosen).filter(|_| count > 0) {
            let more = if count > 1 { format!(" and {} more", count - 1) } else { String::new() };
            let why = format!(
                "names below a granted `*.` name were asked for ({one}{more}), and whoever answers for them was told"
            );
            self.gap(&why);
        }
    }

    fn gap(&mut self, why: &str) {
        if !self.gaps.iter().any(|known| known == why) {
            self.gaps.push(why.to_owned());
        }
    }

    /// What is known when the run has ended.
    pub(crate) fn finish(
        mut self,
        ended: Option<&RunExit>,
        found: &[Classification],
        egress: &[EgressRule],
    ) -> SentData {
        self.note_asked(egress);
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
    use skillsandbox_manifest::Protocol;
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
        counter.finish(None, &[], &[])
    }

    /// Names of the program's own choice tell whoever answers for them something, though nothing was sent to a host.
    #[test]
    fn names_below_a_granted_wildcard_that_were_asked_for_are_not_nothing() {
        let rule = |domain: &str| {
            EgressRule::new(Destination::Domain(domain.parse().unwrap()), vec![443], Protocol::Tcp)
        };
        let after = |reason: &str, egress: &[EgressRule]| {
            let mut counter = SentCounter::default();
            for name in ["00-4b45594b.evil.test", "01-4b455931.evil.test"] {
                let mut to = NetConnection::default();
                (to.name, to.port, to.transport) = (Some(name.into()), 443, "tcp".into());
                to.reason = Some(reason.to_owned());
                let event = Event::new(EventKind::NetConnect(to));
                counter.observe(&event.with_verdict(EventVerdict::Denied, None));
            }
            counter.finish(None, &[], egress)
        };
        let told = after("special_address", &[rule("*.evil.test")]);
        assert_eq!(told.answer, SentAnswer::Unknown);
        assert!(told.to_string().contains("00-4b45594b.evil.test and 1 more"), "{told}");
        assert_eq!(after("not_granted", &[rule("*.evil.test")]).answer, SentAnswer::Nothing);
        let exact = [rule("*.evil.test"), rule("00-4b45594b.evil.test"), rule("01-4b455931.evil.test")];
        assert_eq!(after("special_address", &exact).answer, SentAnswer::Nothing);
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
