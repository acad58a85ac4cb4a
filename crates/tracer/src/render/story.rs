//! A run in three sentences: what happened, whether anything got out, and what to do.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::tally::TraceTally;
use super::words::{self, counted, size};
use crate::{AttackSeverity, Event, EventKind, EventVerdict, Prevention, Trace};
use skillsandbox_terms::FileOperation;

/// Hosts that are named in one sentence.
const HOSTS: usize = 5;
/// Characters of a name or of a reason that are kept: a sentence is no place for a page.
const MAX_WORDS: usize = 300;

/// How bad it is, for the colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StoryMood {
    /// Nothing was denied, and nothing looks like an attack.
    Good,
    /// Something was tried and held.
    Held,
    /// Something took effect, or nobody knows, or the trace contradicts itself.
    Bad,
}

/// The three sentences. They contain names that others chose, and are escaped by whoever shows them.
#[derive(Debug)]
pub(super) struct RunStory {
    pub(super) mood: StoryMood,
    pub(super) happened: String,
    pub(super) got_out: String,
    pub(super) advice: String,
}

impl RunStory {
    pub(super) fn of(trace: &Trace, tally: &TraceTally) -> Self {
        let summary = &trace.violation_summary;
        let doubts = doubts(trace, tally);
        let ending = RunEnding::of(&trace.events);
        let (mut mood, amounts_to) = amounts_to(trace);
        let mut happened = match &ending.refused {
            Some(why) => format!("Nothing was executed: {}.", cut(why)),
            None => format!("{amounts_to}. {}", ending.sentence(summary.duration_us)),
        };
        if !doubts.is_empty() {
            mood = StoryMood::Bad;
            happened = format!("Doubtful: {}. {happened}", doubts.join("; "));
        }
        let traffic = Traffic::of(trace);
        if traffic.is_uncertain() {
            mood = StoryMood::Bad;
        }
        let advice = advice(trace, &ending, !doubts.is_empty());
        Self { mood, happened, got_out: traffic.sentence(), advice }
    }
}

/// Where what the trace says of itself is not what its events say.
pub(super) fn doubts(trace: &Trace, tally: &TraceTally) -> Vec<String> {
    let summary = &trace.violation_summary;
    let have = trace.events.len() as u64;
    // A trace that is too long is read in part: then there may be less than it says of itself, and never more.
    let is_part = summary.events > have;
    let claims = [
        ("events", if is_part { have } else { summary.events }, tally.events),
        ("denied", summary.denied, tally.all.denied),
        ("allowed", summary.allowed, tally.all.allowed),
        ("failed", summary.failed, tally.all.failed),
        ("unknown", summary.unknown, tally.all.unknown),
    ];
    let mut doubts = Vec::new();
    if is_part {
        doubts.push(format!("these are {have} of the {} events that the trace says it has", summary.events));
    }
    for (name, said, counted) in claims {
        if counted > said || (counted < said && !is_part) {
            doubts.push(format!("the summary says {said} {name}, its events add up to {counted}"));
        }
    }
    doubts
}

/// What the attempts amount to, without an end.
fn amounts_to(trace: &Trace) -> (StoryMood, String) {
    let summary = &trace.violation_summary;
    let found = &summary.classifications;
    if found.is_empty() {
        return match (summary.denied, summary.unknown) {
            (denied, 1..) => {
                let unknown = counted(summary.unknown, "attempt");
                (StoryMood::Bad, format!("{denied} denied; of {unknown} it is not known what became of them"))
            }
            (0, 0) => (StoryMood::Good, "Nothing was denied, and nothing looks like an attack".to_owned()),
            (denied, 0) => (
                StoryMood::Held,
                format!("{} denied; nothing looks like an attack", counted(denied, "attempt")),
            ),
        };
    }
    let worst = summary.max_severity.map_or("unknown", words::severity_name);
    let (mood, prevented) = if summary.all_prevented {
        (StoryMood::Held, "no attempt that proves it took effect")
    } else if found.iter().all(|found| found.prevention() != Prevention::NotPrevented) {
        (StoryMood::Bad, "not known whether everything was prevented")
    } else {
        (StoryMood::Bad, "not everything was prevented")
    };
    let count = counted(found.len() as u64, "finding");
    // What was not prevented is worse than what was.
    let first =
        found.iter().max_by_key(|found| (found.prevention() != Prevention::Prevented, found.severity));
    let first = first.map(|found| format!(". The worst: {}", cut(&found.message))).unwrap_or_default();
    (mood, format!("{count}, severity {worst}: {prevented}{first}"))
}

/// How it ended, as its last event says.
#[derive(Debug, Default)]
pub(super) struct RunEnding {
    pub(super) exit: Option<String>,
    refused: Option<String>,
    pub(super) limits: Vec<String>,
}

impl RunEnding {
    pub(super) fn of(events: &[Event]) -> Self {
        let mut ending = Self::default();
        for event in events {
            match &event.kind {
                EventKind::ResourceLimitHit { limit, .. }
                    if !ending.limits.contains(limit) && ending.limits.len() < HOSTS =>
                {
                    ending.limits.push(limit.clone());
                }
                EventKind::RunEnded { exit_code, signal, end, error } => {
                    ending.exit = Some(match (exit_code, signal) {
                        (Some(code), _) => format!("exit code {code}"),
                        (None, Some(signal)) => format!("ended by signal {signal}"),
                        (None, None) => "no exit code".to_owned(),
                    });
                    if end == "refused" {
                        ending.refused = Some(error.clone().unwrap_or_else(|| "it was refused".to_owned()));
                    }
                }
                _ => {}
            }
        }
        ending
    }

    fn sentence(&self, duration_us: u64) -> String {
        let limits = match self.limits.as_slice() {
            [] => String::new(),
            limits => format!("It reached its limit of {}. ", cut(&limits.join(", "))),
        };
        match &self.exit {
            Some(exit) => format!("{limits}It ended with {exit} after {}.", words::duration(duration_us)),
            None => format!("{limits}The trace has no end: the run was cut off, or still goes on."),
        }
    }
}

/// What left the machine.
#[derive(Debug, Default)]
struct Traffic {
    /// Bytes by destination.
    sent: BTreeMap<String, u64>,
    /// Connections that nobody can say the end of.
    unknown: u64,
    /// Connections to services of this machine, whose bytes nobody counts.
    local: u64,
    /// Names that were asked of a resolver.
    names: u64,
    reason: Option<String>,
}

impl Traffic {
    fn of(trace: &Trace) -> Self {
        let mut traffic = Self::default();
        for event in &trace.events {
            match (&event.kind, event.verdict) {
                (EventKind::NetConnect(_) | EventKind::DnsQuery { .. }, Some(EventVerdict::Unknown)) => {
                    traffic.unknown = traffic.unknown.saturating_add(event.count);
                }
                (EventKind::NetConnect(connection), _) if connection.sent > 0 => {
                    let bytes = traffic.sent.entry(cut(&words::destination(connection))).or_default();
                    *bytes = bytes.saturating_add(connection.sent);
                }
                // Somebody's server was asked where the name leads, though nothing was sent there.
                (EventKind::NetConnect(connection), _)
                    if connection.name.is_some()
                        && !matches!(
                            connection.reason.as_deref(),
                            Some("not_granted" | "looks_like_data" | "too_many_names")
                        ) =>
                {
                    traffic.names = traffic.names.saturating_add(event.count);
                }
                (EventKind::DnsQuery { .. }, Some(EventVerdict::Allowed)) => {
                    traffic.names = traffic.names.saturating_add(event.count);
                }
                (EventKind::File { operation: FileOperation::Connect, .. }, Some(EventVerdict::Allowed)) => {
                    traffic.local = traffic.local.saturating_add(event.count);
                }
                (EventKind::SyscallRefused { name, errno: None, .. }, _) => {
                    let passed = format!("{} passed, which no observer follows", cut(name));
                    traffic.reason.get_or_insert(passed);
                }
                _ => {}
            }
        }
        let summary = &trace.violation_summary;
        if summary.events > trace.events.len() as u64 {
            traffic.reason = Some("not all events of the trace are here".to_owned());
        } else if !summary.complete || summary.lost > 0 {
            traffic.reason = Some("the trace is not complete".to_owned());
        }
        traffic
    }

    fn is_uncertain(&self) -> bool {
        self.unknown > 0
    }

    fn sentence(&self) -> String {
        let total = self.sent.values().fold(0, |sum: u64, bytes| sum.saturating_add(*bytes));
        let mut text = match self.sent.len() {
            0 if self.names > 0 => {
                format!("No connection carried a byte out; {} looked up.", counted(self.names, "name"))
            }
            0 => "Nothing: no connection carried a byte out.".to_owned(),
            hosts => {
                let mut most: Vec<(&String, &u64)> = self.sent.iter().collect();
                most.sort_by_key(|(_, bytes)| std::cmp::Reverse(**bytes));
                let named: Vec<String> = most
                    .iter()
                    .take(HOSTS)
                    .map(|(host, bytes)| format!("{} to {host}", size(**bytes)))
                    .collect();
                let more = hosts.saturating_sub(HOSTS);
                let more = if more > 0 { format!(" and {more} more") } else { String::new() };
                format!("{} sent: {}{more}.", size(total), named.join(", "))
            }
        };
        if self.local > 0 {
            let _ = write!(
                text,
                " {} to services of this machine; what those were told was not counted.",
                counted(self.local, "connection")
            );
        }
        if self.unknown > 0 {
            let _ = write!(
                text,
                " Of {} it is not known whether anything was sent.",
                counted(self.unknown, "network attempt")
            );
        }
        if let Some(reason) = &self.reason {
            let _ = write!(text, " Whether more got out is not known: {reason}.");
        }
        text
    }
}

fn advice(trace: &Trace, ending: &RunEnding, is_doubtful: bool) -> String {
    let summary = &trace.violation_summary;
    let worst = |how: Prevention| {
        let found = summary.classifications.iter().filter(|found| found.prevention() == how);
        found.map(|found| found.severity).max()
    };
    if is_doubtful {
        return "Check the trace: `skillsandbox trace verify` says whether it is as it was written."
            .to_owned();
    }
    if ending.refused.is_some() {
        return "Mend what is named, and run it again.".to_owned();
    }
    if worst(Prevention::NotPrevented).is_some() {
        return "Do not run it again. Look at what was not prevented, and replace every credential that it could read."
            .to_owned();
    }
    if worst(Prevention::Unknown).is_some() || summary.unknown > 0 {
        return "Look at the attempts marked unknown before you run it again.".to_owned();
    }
    match worst(Prevention::Prevented) {
        Some(AttackSeverity::High | AttackSeverity::Critical) => {
            "Do not run it again before somebody has read its code. Grant it nothing of what it was denied."
                .to_owned()
        }
        Some(AttackSeverity::Low | AttackSeverity::Medium) => {
            "Read the findings before you grant it anything more.".to_owned()
        }
        None if !ending.limits.is_empty() => {
            "If it needs more than its limits, raise them; if not, find out what used them up.".to_owned()
        }
        None if summary.denied > 0 => {
            "Nothing, if it did its job. If not, see what was denied and whether it should be granted."
                .to_owned()
        }
        None => "Nothing.".to_owned(),
    }
}

fn cut(text: &str) -> String {
    let short = text.get(..text.floor_char_boundary(MAX_WORDS)).unwrap_or(text);
    if short.len() < text.len() { format!("{short}[cut]") } else { short.to_owned() }
}
