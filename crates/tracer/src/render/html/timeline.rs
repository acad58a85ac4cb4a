//! The timeline of a page: a bounded number of rows; reads of libraries are folded, the rest is counted and said.

use std::collections::{BTreeMap, BTreeSet};

use super::super::row;
use super::super::tally::VerdictCounts;
use super::super::words::{self, counted};
use super::super::{RenderOptions, TextStyle};
use super::markup::Markup;
use crate::record::fold::system_folder;
use crate::{AttackClass, Event, EventKind, EventVerdict, Trace};
use skillsandbox_terms::FileOperation;
use skillsandbox_text::Keep;

/// Rows from the beginning and from the end of a long run that are shown whatever they are.
const FIRST: usize = 1000;
const LAST: usize = 200;
/// Rows in between that are shown because they were denied, are unknown or prove something.
const NOTABLE: usize = 1500;
/// Bytes that all rows may take: the page stays below five megabytes.
const MAX_BYTES: usize = 2 << 20;
/// Columns of what an event is about.
const ABOUT: usize = 400;
/// Bars of the strip, and how wide each is.
const BARS: usize = 240;
const BAR: u64 = 5;
const TALL: u64 = 60;

/// The rows, and which events have one.
pub(super) struct TimelinePart {
    pub(super) rows: Markup,
    pub(super) shown: BTreeSet<u64>,
    /// Events that have no row of their own.
    pub(super) counted_only: u64,
}

/// Writes the rows.
pub(super) fn timeline(trace: &Trace, classes: &BTreeMap<u64, Vec<AttackClass>>) -> TimelinePart {
    let look = RenderOptions::default().style(TextStyle::Plain);
    let mut part = TimelinePart { rows: Markup::default(), shown: BTreeSet::new(), counted_only: 0 };
    let mut pending = PendingRow::None;
    let (mut rows, mut notable) = (0, 0);
    let from_end = trace.events.len().saturating_sub(LAST);
    let mut repeats: BTreeMap<u64, u64> = BTreeMap::new();
    for (first, event) in trace.events.iter().filter_map(|event| Some((event.repeats?, event))) {
        let count = repeats.entry(first).or_default();
        *count = count.saturating_add(event.count);
    }
    for (index, event) in trace.events.iter().enumerate() {
        let proves = classes.contains_key(&event.sequence);
        let matters =
            proves || event.is_violation() || event.verdict == Some(EventVerdict::Unknown) || is_rare(event);
        // What was done again is said where it was done first.
        if event.repeats.is_some_and(|first| part.shown.contains(&first)) && !proves {
            part.counted_only += 1;
            continue;
        }
        if !matters && let Some(folder) = library_folder(event) {
            part.counted_only += 1;
            pending = pending.library(event, folder);
            continue;
        }
        let has_room = part.rows.len() < MAX_BYTES;
        let is_shown = has_room && (rows < FIRST || index >= from_end || (matters && notable < NOTABLE));
        if !is_shown {
            part.counted_only += 1;
            pending = pending.skipped(&mut part.rows, &look, event);
            continue;
        }
        pending.end(&mut part.rows, &look);
        pending = PendingRow::None;
        rows += 1;
        notable += usize::from(matters && rows > FIRST);
        let tags = classes.get(&event.sequence).map(Vec::as_slice).unwrap_or_default();
        let times = event.count.saturating_add(repeats.get(&event.sequence).copied().unwrap_or(0));
        event_row(&mut part.rows, &look, event, times, tags);
        part.shown.insert(event.sequence);
    }
    pending.end(&mut part.rows, &look);
    part
}

/// What a run has few of and nobody reads a trace without.
fn is_rare(event: &Event) -> bool {
    match event.kind {
        EventKind::RunStarted { .. } | EventKind::RunEnded { .. } => true,
        EventKind::Policy { .. }
        | EventKind::File { .. }
        | EventKind::Exec { .. }
        | EventKind::DnsQuery { .. }
        | EventKind::NetConnect(_)
        | EventKind::SyscallRefused { .. }
        | EventKind::Stdout(_)
        | EventKind::Stderr(_)
        | EventKind::ResourceLimitHit { .. }
        | EventKind::Lost { .. } => false,
    }
}

/// The folder of the system that an event only reads from.
fn library_folder(event: &Event) -> Option<&'static str> {
    if event.resolved_path.is_some() {
        return None;
    }
    match (&event.kind, event.verdict) {
        (
            EventKind::File { operation: FileOperation::Read, path, to: None },
            Some(EventVerdict::Allowed | EventVerdict::Failed),
        ) => system_folder(path),
        _ => None,
    }
}

/// Events that share a row, until another one comes.
enum PendingRow<'a> {
    None,
    Library { first: &'a Event, counts: VerdictCounts, folders: BTreeSet<&'static str> },
    Skipped { first: &'a Event, counts: VerdictCounts },
}

impl<'a> PendingRow<'a> {
    fn library(self, event: &'a Event, folder: &'static str) -> Self {
        match self {
            Self::Library { first, mut counts, mut folders } => {
                counts.add(event);
                folders.insert(folder);
                Self::Library { first, counts, folders }
            }
            // What is left out already is not given a row for its libraries.
            Self::Skipped { first, mut counts } => {
                counts.add(event);
                Self::Skipped { first, counts }
            }
            Self::None => {
                let mut counts = VerdictCounts::default();
                counts.add(event);
                Self::Library { first: event, counts, folders: BTreeSet::from([folder]) }
            }
        }
    }

    fn skipped(self, out: &mut Markup, look: &RenderOptions, event: &'a Event) -> Self {
        let (first, mut counts) = match self {
            Self::Skipped { first, counts } => (first, counts),
            other => {
                other.end(out, look);
                (event, VerdictCounts::default())
            }
        };
        counts.add(event);
        Self::Skipped { first, counts }
    }

    fn end(self, out: &mut Markup, look: &RenderOptions) {
        match self {
            Self::None => {}
            Self::Library { first, counts, folders } => {
                out.tag("<tr class=\"folded\">");
                time_cells(out, look, first);
                out.tag("<td class=\"k\"></td><td class=\"k\">read</td><td></td><td class=\"w\">");
                let folders: Vec<&str> = folders.into_iter().collect();
                out.ours(&counted(counts.total(), "read"));
                out.ours(" of libraries and data of the system: ").ours(&folders.join(", "));
                out.tag("</td></tr>\n");
            }
            Self::Skipped { first, counts } => {
                out.tag("<tr class=\"folded\">");
                time_cells(out, look, first);
                out.tag("<td></td><td></td><td></td><td class=\"w\">");
                out.ours(&format!("{} without a row here: ", counted(counts.total(), "event")));
                out.ours(&figures(counts));
                out.tag("</td></tr>\n");
            }
        }
    }
}

/// `3 allowed, 1 failed`.
fn figures(counts: VerdictCounts) -> String {
    let named = [
        (counts.allowed, "allowed"),
        (counts.denied, "denied"),
        (counts.failed, "failed"),
        (counts.unknown, "unknown"),
        (counts.other, "other"),
    ];
    let said: Vec<String> =
        named.iter().filter(|(count, _)| *count > 0).map(|(count, name)| format!("{count} {name}")).collect();
    said.join(", ")
}

fn time_cells(out: &mut Markup, look: &RenderOptions, event: &Event) {
    out.tag("<td class=\"n s\">#").number(event.sequence).tag("</td><td class=\"k t\">");
    out.ours(&row::clock(event.time, look)).tag("</td>");
}

fn event_row(out: &mut Markup, look: &RenderOptions, event: &Event, times: u64, tags: &[AttackClass]) {
    out.tag("<tr id=\"e").number(event.sequence).tag("\" class=\"").tag(verdict_class(event)).tag("\">");
    time_cells(out, look, event);
    out.tag("<td class=\"k v\">").ours(words::word(event)).tag("</td><td class=\"k\">");
    out.ours(words::kind(&event.kind)).tag("</td><td class=\"k p\">");
    if let Some(process) = &event.process {
        let name = process.binary.as_deref().map_or("?", words::base_name);
        out.theirs(name, 24, Keep::Ends).tag("<i>(").number(process.pid.into()).tag(")</i>");
    }
    out.tag("</td><td class=\"w\">").parts(&words::about(event), ABOUT);
    if times > 1 {
        out.tag(" <i>(").number(times).tag(" times)</i>");
    }
    for class in tags {
        out.tag(" <b class=\"tag denied\">").ours(&words::class_name(*class).replace('_', " ")).tag("</b>");
    }
    out.tag("</td></tr>\n");
}

/// The class of an element for how an event went.
fn verdict_class(event: &Event) -> &'static str {
    if matches!(event.kind, EventKind::Policy { .. }) {
        return "policy";
    }
    match event.verdict {
        Some(EventVerdict::Allowed) => "allowed",
        Some(EventVerdict::Denied) => "denied",
        Some(EventVerdict::Failed) if words::is_absence(event) => "absent",
        Some(EventVerdict::Failed) => "failed",
        Some(EventVerdict::Unknown) => "unknown",
        None => "none",
    }
}

/// All events by time, as bars: denied ones at the bottom, so that one among thousands is still seen.
pub(super) fn strip(out: &mut Markup, trace: &Trace) {
    let last = trace.events.iter().map(|event| event.elapsed_us).max().unwrap_or(0);
    let last = last.max(trace.violation_summary.duration_us).max(1);
    let mut bars = vec![[0_u64; 4]; BARS];
    for event in &trace.events {
        let share = u128::from(event.elapsed_us) * BARS as u128 / u128::from(last);
        let place = usize::try_from(share).unwrap_or(BARS).min(BARS - 1);
        let kind = match verdict_class(event) {
            "denied" | "unknown" => 0,
            "failed" => 1,
            "allowed" => 2,
            _ => 3,
        };
        if let Some(count) = bars.get_mut(place).and_then(|bar| bar.get_mut(kind)) {
            *count += event.count.min(1_000_000);
        }
    }
    let most =
        bars.iter().map(|bar| bar.iter().map(|count| count.isqrt()).sum::<u64>()).max().unwrap_or(0).max(1);
    out.tag("<svg class=\"strip\" viewBox=\"0 0 1200 60\" preserveAspectRatio=\"none\" role=\"img\" ");
    out.tag("aria-label=\"Events over time\">");
    for (place, bar) in (0_u64..).zip(&bars) {
        let mut bottom = TALL;
        for (count, class) in bar.iter().zip([
            "<rect class=\"denied\" x=\"",
            "<rect class=\"failed\" x=\"",
            "<rect class=\"allowed\" x=\"",
            "<rect class=\"none\" x=\"",
        ]) {
            if *count == 0 {
                continue;
            }
            let high = (count.isqrt() * (TALL - 8) / most).max(2).min(bottom);
            bottom -= high;
            out.tag(class).number(place * BAR).tag("\" y=\"").number(bottom).tag("\" width=\"4\" height=\"");
            out.number(high).tag("\"/>");
        }
    }
    out.tag("</svg>\n<p class=\"scale\"><span>0</span><span>")
        .ours(&words::duration(last))
        .tag("</span></p>\n");
}
