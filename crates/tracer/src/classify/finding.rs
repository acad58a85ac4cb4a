//! What was gathered for one class: which events, how bad, and whether all of it was prevented.

use crate::format::event::{Event, Prevention};
use crate::format::trace::{AttackClass, AttackSeverity, Classification};

use super::techniques::{class, technique};

/// Events that are named as evidence, and no more: the trace has all of them.
pub(super) const EVIDENCE: usize = 100;

/// Reasons that are named in words.
const REASONS: usize = 6;

/// When an event happened, for the question which of two came first. Events that happened at the same time are ordered by their
/// places.
pub(super) type EventOrder = (u64, u64);

/// When an event happened first.
pub(super) fn moment(event: &Event) -> EventOrder {
    (event.elapsed_us, event.sequence)
}

/// When it happened last: an event may stand for many.
pub(super) fn last_moment(event: &Event) -> EventOrder {
    (event.last_elapsed_us.unwrap_or(event.elapsed_us).max(event.elapsed_us), event.sequence)
}

/// What was gathered.
#[derive(Debug, Clone, Default)]
pub(super) struct ClassFinding {
    evidence: Vec<u64>,
    severity: Option<AttackSeverity>,
    techniques: Vec<&'static str>,
    reasons: Vec<&'static str>,
    more_reasons: bool,
    /// The first event of it that was not prevented.
    happened: Option<u64>,
    /// The first event of it of which nobody saw what became of it.
    unknown: Option<u64>,
    /// When the first of it happened.
    pub(super) first: Option<EventOrder>,
    /// When the last of it happened.
    pub(super) last: Option<EventOrder>,
}

impl ClassFinding {
    /// Adds an event, for a reason.
    pub(super) fn add(
        &mut self,
        event: &Event,
        severity: AttackSeverity,
        techniques: &[&'static str],
        reason: &'static str,
    ) {
        self.evidence(event.sequence);
        match event.prevention() {
            Prevention::Prevented => {}
            Prevention::NotPrevented => self.happens(event.sequence),
            Prevention::Unknown => self.is_unknown(event.sequence),
        }
        self.raise(severity);
        self.first = self.first.min(Some(moment(event))).or(Some(moment(event)));
        self.last = self.last.max(Some(last_moment(event)));
        for id in techniques {
            if !self.techniques.contains(id) {
                self.techniques.push(id);
            }
        }
        if !self.reasons.contains(&reason) {
            if self.reasons.len() < REASONS {
                self.reasons.push(reason);
            } else {
                self.more_reasons = true;
            }
        }
    }

    /// Adds all that was gathered elsewhere.
    pub(super) fn join(&mut self, other: &Self) {
        self.join_some(other, EVIDENCE);
    }

    /// Adds what was gathered elsewhere, with so many events of it.
    pub(super) fn join_some(&mut self, other: &Self, most: usize) {
        other.evidence.iter().take(most).for_each(|sequence| self.evidence(*sequence));
        if let Some(sequence) = other.happened {
            self.happens(sequence);
        }
        if let Some(sequence) = other.unknown {
            self.is_unknown(sequence);
        }
        self.severity = self.severity.max(other.severity);
        self.first = match (self.first, other.first) {
            (Some(one), Some(two)) => Some(one.min(two)),
            (one, two) => one.or(two),
        };
        self.last = self.last.max(other.last);
        self.techniques
            .extend(other.techniques.iter().filter(|id| !self.techniques.contains(id)).collect::<Vec<_>>());
        for reason in &other.reasons {
            if !self.reasons.contains(reason) && self.reasons.len() < REASONS {
                self.reasons.push(reason);
            }
        }
        self.more_reasons |= other.more_reasons;
    }

    /// An event that proves nothing by itself, and belongs to what the others prove.
    pub(super) fn mention(&mut self, sequence: u64) {
        self.must_name(sequence);
    }

    pub(super) fn also(&mut self, techniques: &[&'static str]) {
        self.techniques
            .extend(techniques.iter().filter(|id| !self.techniques.contains(id)).collect::<Vec<_>>());
    }

    /// Makes it at least as bad as this.
    pub(super) fn raise(&mut self, severity: AttackSeverity) {
        self.severity = self.severity.max(Some(severity));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.evidence.is_empty()
    }

    /// Whether some of it took effect, or may have.
    pub(super) fn may_have_happened(&self) -> bool {
        self.happened.is_some() || self.unknown.is_some()
    }

    /// Nothing of it took effect after all.
    pub(super) fn came_to_nothing(&mut self) {
        self.happened = None;
    }

    fn evidence(&mut self, sequence: u64) {
        if self.evidence.len() < EVIDENCE
            && let Err(place) = self.evidence.binary_search(&sequence)
        {
            self.evidence.insert(place, sequence);
        }
    }

    /// Something was not prevented: the event that shows it is always among those that are named.
    fn happens(&mut self, sequence: u64) {
        if self.happened.is_none() {
            self.must_name(sequence);
            self.happened = Some(sequence);
        }
    }

    /// Nobody saw what became of an event: it is always among those that are named, too.
    fn is_unknown(&mut self, sequence: u64) {
        if self.unknown.is_none() {
            self.must_name(sequence);
            self.unknown = Some(sequence);
        }
    }

    /// Names an event, in the place of another one if there must be.
    fn must_name(&mut self, sequence: u64) {
        if self.evidence.len() >= EVIDENCE && self.evidence.binary_search(&sequence).is_err() {
            let keep = [self.happened, self.unknown];
            let last = self.evidence.iter().rposition(|named| !keep.contains(&Some(*named)));
            last.map(|last| self.evidence.remove(last));
        }
        self.evidence(sequence);
    }

    /// What it amounts to; `None` where nothing was gathered.
    pub(super) fn classified(mut self, what: AttackClass) -> Option<Classification> {
        let severity = self.severity.filter(|_| !self.evidence.is_empty())?;
        let (tactic, says) = class(what);
        let reasons = self.reasons.join(", ");
        let more = if self.more_reasons { ", and more" } else { "" };
        self.techniques.sort_unstable_by_key(|id| (id.starts_with("AML"), *id));
        Some(Classification {
            class: what,
            severity,
            mitre_tactic: tactic.to_owned(),
            techniques: self.techniques.iter().map(|id| technique(id)).collect(),
            evidence: self.evidence,
            prevented: self.happened.is_none() && self.unknown.is_none(),
            unknown: self.happened.is_none() && self.unknown.is_some(),
            message: format!("{says}: {reasons}{more}"),
        })
    }
}

/// Something that means nothing until enough different ones of it were seen.
#[derive(Debug, Clone, Default)]
pub(super) struct DistinctCount {
    seen: Vec<u64>,
    pub(super) finding: ClassFinding,
}

impl DistinctCount {
    /// Counts an event if it is about something new, up to a number; whether that number is reached.
    pub(super) fn add(&mut self, about: u64, enough: usize, add: impl FnOnce(&mut ClassFinding)) -> bool {
        if !self.seen.contains(&about) && self.seen.len() < enough {
            self.seen.push(about);
        }
        add(&mut self.finding);
        self.seen.len() >= enough
    }

    pub(super) fn len(&self) -> usize {
        self.seen.len()
    }
}

/// A number for a text, to tell different ones apart without keeping them.
pub(super) fn mark(parts: &[&str]) -> u64 {
    // FNV-1a. An attacker who makes two the same hides one of the two, not both.
    parts
        .iter()
        .flat_map(|part| part.bytes().chain([0]))
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
