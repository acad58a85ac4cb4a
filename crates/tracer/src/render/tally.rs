//! What events add up to: bounded, however many there are.

use std::collections::BTreeMap;

use super::words;
use crate::{Event, FileOperation, Verdict, What};

/// Rows of a table that are kept apart; what comes later is only counted.
const MAX_ROWS: usize = 4096;
/// Characters of a key that are kept: a table of destinations is no place for a megabyte.
const MAX_KEY: usize = 1024;

/// How often something went which way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Verdicts {
    pub(super) allowed: u64,
    pub(super) denied: u64,
    pub(super) failed: u64,
    pub(super) other: u64,
}

impl Verdicts {
    fn add(&mut self, event: &Event) {
        let place = match event.verdict.filter(|_| !matches!(event.what, What::Policy { .. })) {
            Some(Verdict::Allowed) => &mut self.allowed,
            Some(Verdict::Denied) => &mut self.denied,
            Some(Verdict::Failed) => &mut self.failed,
            None => &mut self.other,
        };
        *place = place.saturating_add(event.count);
    }

    pub(super) fn total(self) -> u64 {
        [self.allowed, self.denied, self.failed, self.other].into_iter().fold(0, u64::saturating_add)
    }
}

/// Rows by key, no more than there is room for.
#[derive(Debug)]
pub(super) struct Table<V> {
    rows: BTreeMap<String, V>,
    /// Events that found no row.
    pub(super) left_out: u64,
}

impl<V> Default for Table<V> {
    fn default() -> Self {
        Self { rows: BTreeMap::new(), left_out: 0 }
    }
}

impl<V: Default> Table<V> {
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
pub(super) struct Flow {
    pub(super) transport: String,
    pub(super) verdicts: Verdicts,
    pub(super) sent: u64,
    pub(super) received: u64,
    /// Why it ended or was refused, the last time.
    pub(super) reason: Option<String>,
}

/// Attempts of one kind at one object that were denied.
#[derive(Debug, Default)]
pub(super) struct Violation {
    pub(super) count: u64,
    /// Place of the first.
    pub(super) first: u64,
    pub(super) kind: &'static str,
    pub(super) object: String,
    pub(super) rule: Option<String>,
}

/// What was done in one folder.
#[derive(Debug, Default)]
pub(super) struct Folder {
    pub(super) verdicts: Verdicts,
    pub(super) reads: u64,
    pub(super) changes: u64,
}

/// What events add up to.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) events: u64,
    pub(super) all: Verdicts,
    pub(super) kinds: BTreeMap<&'static str, Verdicts>,
    pub(super) network: Table<Flow>,
    pub(super) violations: Table<Violation>,
    pub(super) folders: Table<Folder>,
    /// Files that were changed, or nearly.
    pub(super) changed: Table<Verdicts>,
}

impl Tally {
    pub(super) fn add(&mut self, event: &Event) {
        self.events += 1;
        self.all.add(event);
        self.kinds.entry(words::kind(&event.what)).or_default().add(event);
        if event.is_violation() {
            self.violation(event);
        }
        match &event.what {
            What::NetConnect(connection) => {
                let key = format!("{} {}", words::destination(connection), connection.transport);
                if let Some(flow) = self.network.row(&key) {
                    flow.transport = short(&connection.transport);
                    flow.verdicts.add(event);
                    flow.sent = flow.sent.saturating_add(connection.sent);
                    flow.received = flow.received.saturating_add(connection.received);
                    flow.reason = connection.reason.as_deref().map(short).or(flow.reason.take());
                }
            }
            What::File { operation, path, to } => {
                self.file(event, *operation, event.leads_to.as_deref().unwrap_or(path));
                if let Some(to) = to {
                    self.file(event, *operation, to);
                }
            }
            _ => {}
        }
    }

    fn violation(&mut self, event: &Event) {
        let kind = words::kind(&event.what);
        let object = match &event.what {
            What::File { path, to: Some(to), .. } => format!("{path} -> {to}"),
            What::File { path, .. } | What::Exec { path, .. } => match &event.leads_to {
                Some(real) => format!("{path} => {real}"),
                None => path.clone(),
            },
            What::NetConnect(connection) => words::destination(connection),
            What::DnsQuery { name, .. } => name.clone().unwrap_or_else(|| "?".to_owned()),
            What::SyscallRefused { name, .. } => name.clone(),
            _ => String::new(),
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
    use super::{MAX_ROWS, Tally};
    use crate::{Event, FileOperation, Verdict, What};

    #[test]
    fn a_million_paths_are_bounded() {
        let mut tally = Tally::default();
        for number in 0..2 * MAX_ROWS {
            let path = format!("/tmp/{number}/{}", "x".repeat(2000));
            let what = What::File { operation: FileOperation::Write, path, to: None };
            tally.add(&Event::new(what).judged(Verdict::Denied, None));
        }
        assert_eq!(tally.violations.len(), MAX_ROWS);
        assert_eq!(tally.violations.left_out, MAX_ROWS as u64);
        assert_eq!(tally.all.denied, 2 * MAX_ROWS as u64);
    }

    #[test]
    fn a_policy_is_never_counted_as_denied() {
        let mut tally = Tally::default();
        let what = What::Policy { subject: "network".into(), message: "nothing".into(), figures: [].into() };
        tally.add(&Event::new(what).judged(Verdict::Denied, None));
        assert_eq!((tally.all.denied, tally.violations.len()), (0, 0));
    }
}
