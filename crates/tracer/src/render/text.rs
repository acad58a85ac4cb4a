//! A whole trace on a terminal, for somebody who has to decide what to make of it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write};

use skillsandbox_text::Keep;

use super::row::{self, EventRow, RowColour, RowLead};
use super::story::{RunStory, StoryMood, doubts};
use super::tally::TraceTally;
use super::tree::TracedProcessTree;
use super::words::counted;
use super::{RenderOptions, tables};
use crate::{AttackClass, Event, EventKind, Trace, TraceHeader};

/// Events of the timeline that are shown unless all are wanted.
const TIMELINE: usize = 100;
/// Lines of what the sandbox holds.
const STATED: usize = 40;
/// Events that are shown to prove one finding.
const EVIDENCE: usize = 8;

/// How much of the timeline is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Timeline {
    /// The beginning, every denied attempt up to a bound, and the end.
    #[default]
    Short,
    /// Everything.
    All,
}

/// Writes a trace: what it is, what it amounts to and why, who did it, what was denied, where to, which files, and when.
pub fn write_text<W: Write>(
    mut out: W,
    trace: &Trace,
    look: &RenderOptions,
    timeline: Timeline,
) -> io::Result<()> {
    let mut page = String::new();
    header(&mut page, look, &trace.header);
    tables::verdict(&mut page, look, &trace.violation_summary);

    let mut tally = TraceTally::default();
    let mut tree = TracedProcessTree::default();
    for event in &trace.events {
        tally.add(event);
        tree.add(event);
    }
    story(&mut page, look, trace, &tally);
    let classes = classes(trace);
    findings(&mut page, look, trace);
    policies(&mut page, look, trace);
    row::heading(&mut page, look, "processes");
    if tree.is_empty() {
        tables::nothing(&mut page, look, "no event names its process");
    }
    tree.write(&mut page, look);
    tables::counts(&mut page, look, &tally);
    tables::violations(&mut page, look, &tally);
    tables::network(&mut page, look, &tally);
    tables::files(&mut page, look, &tally);
    out.write_all(page.as_bytes())?;
    write_timeline(&mut out, look, trace, &classes, timeline)?;
    out.flush()
}

fn header(out: &mut String, look: &RenderOptions, header: &TraceHeader) {
    let mut line = EventRow::new(out, look);
    // Nothing that somebody else chose begins a line.
    line.padded("skill", 12, RowColour::Dim).theirs(&header.skill_name, 80, Keep::Start, RowColour::Bold);
    if let Some(version) = &header.skill_version {
        line.ours(" ", RowColour::None).theirs(version, 40, Keep::Start, RowColour::None);
    }
    line.end();
    let mut facts = vec![
        ("trace", header.trace_id.to_string()),
        (
            "began",
            header.started.to_zoned(look.zone.clone()).strftime("%Y-%m-%d %H:%M:%S%.3f %Z").to_string(),
        ),
        ("written by", header.tool.clone()),
    ];
    if header.format != crate::TRACE_FORMAT {
        facts.push(("format", format!("{} (this program writes {})", header.format, crate::TRACE_FORMAT)));
    }
    for (name, fact) in facts {
        let mut line = EventRow::new(out, look);
        line.padded(name, 12, RowColour::Dim).theirs(&fact, usize::MAX, Keep::Start, RowColour::None);
        line.end();
    }
    for (name, fact) in header.host.iter().take(tables::SHOWN) {
        let mut line = EventRow::new(out, look);
        line.padded("host", 12, RowColour::Dim)
            .theirs(name, 24, Keep::Start, RowColour::None)
            .ours(": ", RowColour::None);
        line.theirs(fact, usize::MAX, Keep::Start, RowColour::None);
        line.end();
    }
    tables::more(out, look, header.host.len(), 0);
    out.push('\n');
}

/// What got out, what to do, and where the trace contradicts itself.
fn story(out: &mut String, look: &RenderOptions, trace: &Trace, tally: &TraceTally) {
    let story = RunStory::of(trace, tally);
    let colour = match story.mood {
        StoryMood::Good => RowColour::Green,
        StoryMood::Held => RowColour::Yellow,
        StoryMood::Bad => RowColour::Red,
    };
    for (name, text) in [("got out", &story.got_out), ("what to do", &story.advice)] {
        row::wrapped(out, look, name, text, colour);
    }
    for doubt in doubts(trace, tally) {
        row::wrapped(out, look, "DOUBTFUL", &doubt, RowColour::Red);
    }
}

/// Which event proves what.
fn classes(trace: &Trace) -> BTreeMap<u64, Vec<AttackClass>> {
    let mut classes: BTreeMap<u64, Vec<AttackClass>> = BTreeMap::new();
    for found in &trace.violation_summary.classifications {
        for place in &found.evidence {
            let list = classes.entry(*place).or_default();
            if !list.contains(&found.class) {
                list.push(found.class);
            }
        }
    }
    classes
}

fn findings(out: &mut String, look: &RenderOptions, trace: &Trace) {
    let found = &trace.violation_summary.classifications;
    if found.is_empty() {
        return;
    }
    row::heading(out, look, "what it amounts to");
    for found in found {
        tables::classification(out, look, found);
        for place in found.evidence.iter().take(EVIDENCE) {
            match at(trace, *place) {
                Some(event) => {
                    out.push_str("    ");
                    let inner = look.clone().columns(look.columns.saturating_sub(4));
                    row::event(out, &inner, event, &[], RowLead::Listed);
                }
                None => tables::nothing(out, look, &format!("    #{place} is not in this trace")),
            }
        }
        if found.evidence.len() > EVIDENCE {
            tables::nothing(out, look, &format!("    and {} more", found.evidence.len() - EVIDENCE));
        }
    }
}

/// An event by its place, which is where it lies unless somebody took out others.
fn at(trace: &Trace, place: u64) -> Option<&Event> {
    let index = usize::try_from(place).ok();
    let there = index.and_then(|index| trace.events.get(index)).filter(|event| event.sequence == place);
    there.or_else(|| trace.events.iter().find(|event| event.sequence == place))
}

fn policies(out: &mut String, look: &RenderOptions, trace: &Trace) {
    let stated = trace.events.iter().filter_map(|event| match &event.kind {
        EventKind::Policy { subject, message, figures } => Some((subject, message, figures)),
        _ => None,
    });
    let mut count = 0;
    for (subject, message, figures) in stated {
        if count == 0 {
            row::heading(out, look, "what the sandbox holds");
        }
        count += 1;
        if count > STATED {
            continue;
        }
        let mut line = format!("{subject}: {message}");
        for (name, number) in figures.iter().take(12) {
            let _ = write!(line, "; {name} {number}");
        }
        row::wrapped_text(out, look, 2, &line);
    }
    if let more @ 1.. = count.saturating_sub(STATED) {
        tables::nothing(out, look, &format!("and {more} more"));
    }
}

/// How often events were done again that have a place of their own.
fn repeats(trace: &Trace) -> BTreeMap<u64, u64> {
    let mut repeats = BTreeMap::new();
    for event in &trace.events {
        if let Some(first) = event.repeats {
            let count: &mut u64 = repeats.entry(first).or_default();
            *count = count.saturating_add(event.count);
        }
    }
    repeats
}

fn write_timeline<W: Write>(
    out: &mut W,
    look: &RenderOptions,
    trace: &Trace,
    classes: &BTreeMap<u64, Vec<AttackClass>>,
    timeline: Timeline,
) -> io::Result<()> {
    let mut page = String::new();
    row::heading(&mut page, look, "timeline");
    let mut left_out = 0_u64;
    let mut shown = 0;
    let last = trace.events.len().saturating_sub(5);
    let repeats = if timeline == Timeline::All { BTreeMap::new() } else { repeats(trace) };
    for (index, event) in trace.events.iter().enumerate() {
        // Of a long trace: how it began, how it ended, and what was denied in between.
        let is_shown = timeline == Timeline::All
            || trace.events.len() <= TIMELINE
            || index < TIMELINE / 3
            || index >= last
            || (shown < TIMELINE && (event.is_violation() || classes.contains_key(&event.sequence)));
        // What was done again is said where it was done first.
        if timeline == Timeline::Short && event.repeats.is_some() {
            continue;
        }
        if !is_shown {
            left_out += 1;
            continue;
        }
        skipped(&mut page, look, &mut left_out);
        shown += 1;
        let tags = classes.get(&event.sequence).map(Vec::as_slice).unwrap_or_default();
        match repeats.get(&event.sequence) {
            Some(more) => {
                let mut all = event.clone();
                all.count = all.count.saturating_add(*more);
                row::event(&mut page, look, &all, tags, RowLead::Listed);
            }
            None => row::event(&mut page, look, event, tags, RowLead::Listed),
        }
        if page.len() > 64 * 1024 {
            out.write_all(page.as_bytes())?;
            page.clear();
        }
    }
    skipped(&mut page, look, &mut left_out);
    if trace.events.is_empty() {
        tables::nothing(&mut page, look, "no events");
    }
    out.write_all(page.as_bytes())
}

fn skipped(out: &mut String, look: &RenderOptions, left_out: &mut u64) {
    if *left_out > 0 {
        tables::nothing(
            out,
            look,
            &format!("     {} not shown (--all shows them)", counted(*left_out, "event")),
        );
        *left_out = 0;
    }
}
