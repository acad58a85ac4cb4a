//! What events add up to: bounded, however many there are.

use std::collections::BTreeMap;

use super::words;
use crate::{Event, EventKind, EventVerdict};
use skillsandbox_terms::FileOperation;

/// Rows of a table that are kept apart; what comes later is only counted.
const MAX_ROWS: usize = 4096;
/// Characters of a key that are kept: a table of destinations is no place for a megabyte.
const MAX_KEY: usize = 1024;

/// How often something went which way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct VerdictCounts {
    pub(super) allowed: u64,
    pub(super) denied: u64,
    pub(super) failed: u64,
    pub(super) unknown: u64,
    pub(super) other: u64,
}

impl VerdictCounts {
    pub(super) fn add(&mut self, event: &Event) {
        let place = match event.verdict.filter(|_| !matches!(event.kind, EventKind::Policy { .. })) {
            Some(EventVerdict::Allowed) => &mut self.allowed,
            Some(EventVerdict::Denied) => &mut self.denied,
            Some(EventVerdict::Failed) => &mut self.failed,
            Some(EventVerdict::Unknown) => &mut self.unknown,
            None => &mut self.other,
        };
        *place = place.saturating_add(event.count);
    }

    /// Both together.
    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            allowed: self.allowed.saturating_add(other.allowed),
            denied: self.denied.saturating_add(other.denied),
            failed: self.failed.saturating_add(other.failed),
            unknown: self.unknown.saturating_add(other.unknown),
            other: self.other.saturating_add(other.other),
        }
    }

    pub(super) fn total(self) -> u64 {
        [self.allowed, self.denied, self.failed, self.unknown, self.other]
            .into_iter()
            .fold(0, u64::saturating_add)
    }
}

/// Rows by key, no more than there is room for.
#[derive(Debug)]
pub(super) struct BoundedTable<V> {
    rows: BTreeMap<String, V>,
    /// Events that found no row.
    pub(super) left_out: u64,
}

impl<V> Default for BoundedTable<V> {
    fn default() -> Self {
        Self { rows: BTreeMap::new(), left_out: 0 }
    }
}

impl<V: Default> BoundedTable<V> {
    fn row(&mut self, key: &str) -> Option<&mut V> {
        let key = key.get(..key.floor_char_boundary(MAX_KEY)).unwrap_or(key);
        if !self.rows.contains_key(key) && self.rows.len() >= MAX_ROWS {
            self.left_out = self.left_out.saturating_add(1);
            return None;
        }
        Some(self.rows.entry(key.to_owned()).or_default())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// The rows with the most of something, the most first.
    pub(super) fn most(&self, of: impl Fn(&V) -> u64) -> Vec<(&str, &V)> {
        let mut rows: Vec<(&str, &V)> = self.rows.iter().map(|(key, value)| (key.as_str(), value)).collect();
        rows.sort_by_key(|(_, value)| std::cmp::Reverse(of(value)));
        rows
    }
}

/// What was sent where.
#[derive(Debug, Default)]
pub(super) struct TrafficFlow {
    pub(super) transport: String,
    pub(super) verdicts: VerdictCounts,
    pub(super) sent: u64,
    pub(super) received: u64,
    /// Why it ended or was refused, the last time.
    pub(super) reason: Option<String>,
}

/// Attempts of one kind at one object that were denied.
#[derive(Debug, Default)]
pub(super) struct DeniedAttempts {
    pub(super) count: u64,
    /// Place of the first.
    pub(super) first: u64,
    pub(super) kind: &'static str,
    pub(super) object: String,
    pub(super) rule: Option<String>,
}

/// What was done in one folder.
#[derive(Debug, Default)]
pub(super) struct FolderCounts {
    pub(super) verdicts: VerdictCounts,
    pub(super) reads: u64,
    pub(super) changes: u64,
}

/// What events add up to.
#[derive(Debug, Default)]
pub(super) struct TraceTally {
    pub(super) events: u64,
    pub(super) all: VerdictCounts,
    pub(super) kinds: BTreeMap<&'static str, VerdictCounts>,
    pub(super) network: BoundedTable<TrafficFlow>,
    pub(super) violations: BoundedTable<DeniedAttempts>,
    pub(super) folders: BoundedTable<FolderCounts>,
    /// Files that were changed, or nearly.
    pub(super) changed: BoundedTable<VerdictCounts>,
}

impl TraceTally {
    pub(super) fn add(&mut self, event: &Event) {
        self.events += 1;
        self.all.add(event);
        self.kinds.entry(words::kind(&event.kind)).or_default().add(event);
        if event.is_violation() {
            self.violation(event);
        }
        match &event.kind {
            EventKind::NetConnect(connection) => {
                let key = format!("{} {}", words::destination(connection), connection.transport);
                if let Some(flow) = self.network.row(&key) {
                    flow.transport = short(&connection.transport);
                    flow.verdicts.add(event);
                    flow.sent = flow.sent.saturating_add(connection.sent);
                    flow.received = flow.received.saturating_add(connection.received);
                    flow.reason = connection.reason.as_deref().map(short).or(flow.reason.take());
                }
            }
            EventKind::File { operation, path, to } => {
                self.file(event, *operation, event.resolved_path.as_deref().unwrap_or(path));
                if let Some(to) = to {
                    self.file(event, *operation, to);
                }
            }
            _ => {}
        }
    }

    fn violation(&mut self, event: &Event) {
        let kind = words::kind(&event.kind);
        let object = match &event.kind {
            EventKind::File { path, to: Some(to), .. } => format!("{path} -> {to}"),
            EventKind::File { path, .. } | EventKind::Exec { path, .. } => match &event.resolved_path {
                Some(real) => format!("{path} => {real}"),
                None => path.clone(),
            },
            EventKind::NetConnect(connection) => words::destination(connection),
            EventKind::DnsQuery { name, .. } => name.clone().unwrap_or_else(|| "?".to_owned()),
            EventKind::SyscallRefused { name, .. } => name.clone(),
            EventKind::ResourceLimitHit { .. }
            | EventKind::RunStarted { .. }
            | EventKind::Policy { .. }
            | EventKind::Stdout(_)
            | EventKind::Stderr(_)
            | EventKind::Lost { .. }
            | EventKind::RunEnded { .. } => String::new(),
        };
        if let Some(violation) = self.violations.row(&format!("{kind}\0{object}")) {
            if violation.count == 0 {
                violation.first = event.sequence;
                violation.kind = kind;
                violation.object = short(&object);
            }
            violation.count = violation.count.saturating_add(event.count);
            violation.rule = event.rule.as_deref().map(short).or(violation.rule.take());
        }
    }

    fn file(&mut self, event: &Event, operation: FileOperation, path: &str) {
        let is_read = matches!(operation, FileOperation::Read | FileOperation::Connect);
        if let Some(folder) = self.folders.row(folder(path)) {
            folder.verdicts.add(event);
            let place = if is_read { &mut folder.reads } else { &mut folder.changes };
            *place = place.saturating_add(event.count);
        }
        if !is_read && let Some(verdicts) = self.changed.row(path) {
            verdicts.add(event);
        }
    }
}

fn short(text: &str) -> String {
    text.get(..text.floor_char_boundary(MAX_KEY)).unwrap_or(text).to_owned()
}

fn folder(path: &str) -> &str {
    match path.trim_end_matches('/').rsplit_once('/') {
        Some(("", _)) => "/",
        Some((folder, _)) => folder,
        None => ".",
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_ROWS, TraceTally};
    use crate::{Event, EventKind, EventVerdict};
    use skillsandbox_terms::FileOperation;

    #[test]
    fn a_million_paths_are_bounded() {
        let mut tally = TraceTally::default();
        for number in 0..2 * MAX_ROWS {
            let path = format!("/tmp/{number}/{}", "x".repeat(2000));
            let what = EventKind::File { operation: FileOperation::Write, path, to: None };
            tally.add(&Event::new(what).with_verdict(EventVerdict::Denied, None));
        }
        assert_eq!(tally.violations.len(), MAX_ROWS);
        assert_eq!(tally.violations.left_out, MAX_ROWS as u64);
        assert_eq!(tally.all.denied, 2 * MAX_ROWS as u64);
    }

    #[test]
    fn a_policy_is_never_counted_as_denied() {
        let mut tally = TraceTally::default();
        let what =
            EventKind::Policy { subject: "network".into(), message: "nothing".into(), figures: [].into() };
        tally.add(&Event::new(what).with_verdict(EventVerdict::Denied, None));
        assert_eq!((tally.all.denied, tally.violations.len()), (0, 0));
    }
}
