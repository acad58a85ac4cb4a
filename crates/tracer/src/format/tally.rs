//! Counting events: the same for whoever writes a trace and for whoever checks one.

use crate::format::event::{Event, EventKind, EventVerdict};
use crate::format::trace::{MAX_VIOLATIONS, TraceSummary};

/// What the end of a trace says of its events.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct EventTally {
    events: u64,
    allowed: u64,
    denied: u64,
    failed: u64,
    unknown: u64,
    lost: u64,
    violations: Vec<u64>,
    /// Which events were let happen.
    allowed_at: EventBits,
    /// Of which events nobody saw what became of them.
    unknown_at: EventBits,
}

impl EventTally {
    pub(crate) fn count(&mut self, event: &Event) {
        self.events += 1;
        self.allowed_at.push(event.verdict == Some(EventVerdict::Allowed));
        self.unknown_at.push(event.verdict == Some(EventVerdict::Unknown));
        let times = event.count;
        match &event.kind {
            EventKind::Policy { .. } => return,
            EventKind::Lost { .. } => self.lost = self.lost.saturating_add(times),
            _ => {}
        }
        let counter = match event.verdict {
            Some(EventVerdict::Allowed) => &mut self.allowed,
            Some(EventVerdict::Denied) => &mut self.denied,
            Some(EventVerdict::Failed) => &mut self.failed,
            Some(EventVerdict::Unknown) => &mut self.unknown,
            None => return,
        };
        *counter = counter.saturating_add(times);
        if event.is_violation() && self.violations.len() < MAX_VIOLATIONS {
            self.violations.push(event.sequence);
        }
    }

    pub(crate) fn events(&self) -> u64 {
        self.events
    }

    /// The places of the first of those events that were denied.
    pub(crate) fn violations(&self) -> &[u64] {
        &self.violations
    }

    /// Puts right what follows from the events, and from the classifications: what was allowed was not prevented, whoever
    /// says so, and what nobody saw the end of is not known to be.
    pub(crate) fn complete(&self, summary: &mut TraceSummary) {
        summary.events = self.events;
        summary.allowed = self.allowed;
        summary.denied = self.denied;
        summary.failed = self.failed;
        summary.unknown = self.unknown;
        summary.lost = self.lost;
        summary.complete = self.lost == 0 && summary.incomplete_because.is_empty();
        for found in &mut summary.classifications {
            found.evidence.retain(|place| self.allowed_at.at(*place).is_some());
            let any = |bits: &EventBits| found.evidence.iter().any(|place| bits.at(*place) == Some(true));
            let (allowed, unknown) = (any(&self.allowed_at), any(&self.unknown_at));
            found.prevented &= !allowed && !unknown && !found.unknown;
            found.unknown &= unknown && !allowed;
        }
        // Of what is missing nobody knows what became of it.
        summary.all_prevented = summary.complete
            && self.unknown == 0
            && summary.classifications.iter().all(|found| found.prevented);
        summary.max_severity = summary.classifications.iter().map(|found| found.severity).max();
    }
}

/// One bit for each event: a thousandth of what the event takes in the file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct EventBits {
    bits: Vec<u64>,
    len: u64,
}

impl EventBits {
    fn push(&mut self, bit: bool) {
        if self.len.is_multiple_of(64) {
            self.bits.push(0);
        }
        if let Some(last) = self.bits.last_mut() {
            *last |= u64::from(bit) << (self.len % 64);
        }
        self.len += 1;
    }

    fn at(&self, place: u64) -> Option<bool> {
        if place >= self.len {
            return None;
        }
        let word = self.bits.get(usize::try_from(place / 64).ok()?)?;
        Some((word >> (place % 64)) & 1 == 1)
    }
}
