//! Counting events: the same for whoever writes a trace and for whoever checks one.

use crate::event::{Event, Verdict, What};
use crate::trace::{MAX_VIOLATIONS, Summary};

/// What the end of a trace says of its events.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    events: u64,
    allowed: u64,
    denied: u64,
    failed: u64,
    lost: u64,
    violations: Vec<u64>,
}

impl Tally {
    pub(crate) fn count(&mut self, event: &Event) {
        self.events += 1;
        let times = event.count;
        match &event.what {
            What::Policy { .. } => return,
            What::Lost { .. } => self.lost = self.lost.saturating_add(times),
            _ => {}
        }
        let counter = match event.verdict {
            Some(Verdict::Allowed) => &mut self.allowed,
            Some(Verdict::Denied) => &mut self.denied,
            Some(Verdict::Failed) => &mut self.failed,
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

    /// Fills in what follows from the events, and from the classifications.
    pub(crate) fn complete(&self, summary: &mut Summary) {
        summary.events = self.events;
        summary.allowed = self.allowed;
        summary.denied = self.denied;
        summary.failed = self.failed;
        summary.lost = self.lost;
        summary.complete = self.lost == 0 && summary.incomplete_because.is_empty();
        summary.all_prevented = summary.classifications.iter().all(|found| found.prevented);
        summary.max_severity = summary.classifications.iter().map(|found| found.severity).max();
    }
}
