//! Whether a trace is as it was written.

use std::io::BufRead;
use std::path::Path;

use crate::format::chain::TraceDigest;
use crate::format::error::{TamperError, TamperKind, TraceError};
use crate::format::event::Event;
use crate::format::read::{TraceEnding, TraceReader};
use crate::format::tally::EventTally;
use crate::format::trace::{TraceHeader, TraceSummary};

/// A trace whose chain is whole, and whose end says of its events what is true.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct VerifiedTrace {
    /// What it begins with.
    pub header: TraceHeader,
    /// What it amounts to.
    pub summary: TraceSummary,
    /// The digest of everything. Who has kept the one that the run printed can compare it; nothing else tells this trace from one
    /// that was written anew from the first byte to the last.
    pub digest: TraceDigest,
}

/// Checks a trace: every hash, every place, the digest, and that what the end says of the events is so.
///
/// Reads in bounded memory. An error of the kind [`TraceError::Tampered`] names the first line that is wrong.
pub fn verify_trace(path: &Path) -> Result<VerifiedTrace, TraceError> {
    verify_trace_from(TraceReader::open(path)?)
}

/// Checks a trace that is read from somewhere else.
pub fn verify_trace_from<R: BufRead>(reader: TraceReader<R>) -> Result<VerifiedTrace, TraceError> {
    let checked = check(reader, drop)?;
    Ok(VerifiedTrace {
        header: checked.header,
        summary: checked.ending.violation_summary,
        digest: checked.ending.digest,
    })
}

pub(crate) struct CheckedEnding {
    pub(crate) header: TraceHeader,
    pub(crate) ending: TraceEnding,
}

pub(crate) fn check<R: BufRead>(
    mut reader: TraceReader<R>,
    mut keep: impl FnMut(Event),
) -> Result<CheckedEnding, TraceError> {
    let mut tally = EventTally::default();
    let mut wrong = None;
    for event in reader.by_ref() {
        let event = event?;
        if wrong.is_none() {
            wrong = contradiction(&event).map(|what| (event.sequence, what));
        }
        tally.count(&event);
        keep(event);
    }
    let line = reader.line();
    let header = reader.header().clone();
    let ending = reader.finish()?;
    if let Some((sequence, what)) = wrong {
        let line = line.saturating_sub(1).saturating_sub(tally.events() - 1 - sequence);
        return Err(TamperError::new(TamperKind::Inconsistent, line, sequence, what).into());
    }
    match untrue(&ending, &tally) {
        Some(what) => Err(TamperError::new(TamperKind::Inconsistent, line + 1, None, what).into()),
        None => Ok(CheckedEnding { header, ending }),
    }
}

/// What no event that was written says of itself.
fn contradiction(event: &Event) -> Option<&'static str> {
    if event.count == 0 {
        Some("the event stands for nothing: its count is 0")
    } else if event.last_elapsed_us.is_some_and(|last| last < event.elapsed_us) {
        Some("the event was done for the last time before it was done")
    } else if event.repeats.is_some_and(|first| first >= event.sequence) {
        Some("the event repeats one that does not stand before it")
    } else {
        None
    }
}

/// What the end says, and the events do not bear out.
fn untrue(ending: &TraceEnding, tally: &EventTally) -> Option<String> {
    let summary = &ending.violation_summary;
    if ending.policy_violations != tally.violations() {
        return Some("policy_violations are not those events that were denied".to_owned());
    }
    let mut true_summary = summary.clone();
    tally.complete(&mut true_summary);
    if *summary == true_summary {
        return None;
    }
    for (said, found) in summary.classifications.iter().zip(&true_summary.classifications) {
        if said.evidence != found.evidence {
            return Some(format!("evidence of {:?} is not there", said.class));
        }
        if said.prevented != found.prevented {
            return Some(format!(
                "{:?} is not known to be prevented: an event that is evidence of it was allowed, or unknown",
                said.class
            ));
        }
        if said.unknown != found.unknown {
            return Some(format!("{:?} is said to be unknown, and the events say otherwise", said.class));
        }
    }
    let (said, counted) = (facts(summary), facts(&true_summary));
    let first = said.iter().zip(&counted).find(|((_, said), (_, counted))| said != counted);
    Some(match first {
        Some(((name, said), (_, counted))) => format!("{name} is {said}, and should be {counted}"),
        None => "the summary is not that of these events".to_owned(),
    })
}

fn facts(summary: &TraceSummary) -> [(&'static str, String); 9] {
    [
        ("events", summary.events.to_string()),
        ("allowed", summary.allowed.to_string()),
        ("denied", summary.denied.to_string()),
        ("failed", summary.failed.to_string()),
        ("unknown", summary.unknown.to_string()),
        ("lost", summary.lost.to_string()),
        ("complete", summary.complete.to_string()),
        ("all_prevented", summary.all_prevented.to_string()),
        ("max_severity", format!("{:?}", summary.max_severity)),
    ]
}
