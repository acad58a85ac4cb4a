//! The tables that the end of a run and a trace of it have in common.

use skillsandbox_text::Keep;

use super::RenderOptions;
use super::row::{self, EventRow, RowColour};
use super::tally::{TraceTally, VerdictCounts};
use super::words::{self, counted, size};
use crate::{AttackSeverity, Classification, Prevention, TraceSummary};

/// Rows of a table that a person reads.
pub(super) const SHOWN: usize = 20;

/// How it went as a whole, in one line, and whether the trace is complete.
pub(super) fn verdict(out: &mut String, look: &RenderOptions, summary: &TraceSummary) {
    let mut line = EventRow::new(out, look);
    let count = u64::try_from(summary.classifications.len()).unwrap_or(u64::MAX);
    if count == 0 && summary.unknown > 0 {
        let unknown = counted(summary.unknown, "attempt");
        let words = format!("{} denied; of {unknown} it is NOT KNOWN what became of them", summary.denied);
        line.ours(&words, RowColour::Red);
    } else if count == 0 && summary.denied == 0 {
        line.ours("nothing was denied, and nothing looks like an attack", RowColour::Green);
    } else if count == 0 {
        let attempts = counted(summary.denied, "attempt");
        line.ours(&format!("{attempts} denied; nothing looks like an attack"), RowColour::Yellow);
    } else {
        let worst = summary.max_severity.map_or("unknown", words::severity_name);
        let (prevented, colour) = if summary.all_prevented {
            ("no attempt that proves it took effect", RowColour::Yellow)
        } else if summary.classifications.iter().all(|found| found.prevention() != Prevention::NotPrevented) {
            ("NOT KNOWN WHETHER EVERYTHING WAS PREVENTED", RowColour::Red)
        } else {
            ("NOT EVERYTHING WAS PREVENTED", RowColour::Red)
        };
        line.ours(&format!("{}, severity {worst}: {prevented}", counted(count, "finding")), colour);
    }
    line.end();
    let mut line = EventRow::new(out, look);
    line.ours(
        &format!(
            "{}: {} allowed, {} denied, {} failed{}, in {}",
            counted(summary.events, "event"),
            summary.allowed,
            summary.denied,
            summary.failed,
            if summary.unknown > 0 { format!(", {} unknown", summary.unknown) } else { String::new() },
            words::duration(summary.duration_us)
        ),
        RowColour::None,
    );
    line.end();
    complete(out, look, summary);
}

fn complete(out: &mut String, look: &RenderOptions, summary: &TraceSummary) {
    let mut line = EventRow::new(out, look);
    // A trace that contradicts itself is not called complete.
    if summary.complete && summary.lost == 0 && summary.incomplete_because.is_empty() {
        line.ours("complete: every attempt that could be observed is in the trace", RowColour::Green);
        line.end();
        return;
    }
    let lost =
        if summary.lost > 0 { format!(" ({} lost)", counted(summary.lost, "event")) } else { String::new() };
    line.ours(&format!("NOT COMPLETE{lost}"), RowColour::Red);
    line.end();
    for reason in summary.incomplete_because.iter().take(SHOWN) {
        let mut line = EventRow::new(out, look);
        line.ours("  because: ", RowColour::None).theirs(reason, usize::MAX, Keep::Start, RowColour::None);
        line.end();
    }
    more(out, look, summary.incomplete_because.len(), 0);
}

/// What was tried, by kind.
pub(super) fn counts(out: &mut String, look: &RenderOptions, tally: &TraceTally) {
    row::heading(out, look, "what was tried");
    let mut line = EventRow::new(out, look);
    line.ours(
        &format!("  {:<12}{:>9}{:>9}{:>9}{:>9}{:>9}", "", "allowed", "denied", "failed", "unknown", "other"),
        RowColour::Dim,
    );
    line.end();
    for (kind, verdicts) in &tally.kinds {
        let mut line = EventRow::new(out, look);
        line.ours(&format!("  {kind:<12}"), RowColour::None);
        figures(&mut line, *verdicts);
        line.ours(&format!("{:>9}", verdicts.other), RowColour::Dim);
        line.end();
    }
}

fn figures(line: &mut EventRow<'_>, verdicts: VerdictCounts) {
    for (count, colour) in [
        (verdicts.allowed, RowColour::Green),
        (verdicts.denied, RowColour::Red),
        (verdicts.failed, RowColour::Yellow),
        (verdicts.unknown, RowColour::Red),
    ] {
        line.ours(&format!("{count:>9}"), if count == 0 { RowColour::Dim } else { colour });
    }
}

/// What was denied.
pub(super) fn violations(out: &mut String, look: &RenderOptions, tally: &TraceTally) {
    row::heading(out, look, "denied");
    if tally.violations.is_empty() {
        nothing(out, look, "nothing that was tried");
        return;
    }
    for (_, violation) in tally.violations.most(|violation| violation.count).into_iter().take(SHOWN) {
        let mut line = EventRow::new(out, look);
        line.ours(&format!("{:>7}x ", violation.count), RowColour::Red).padded(
            violation.kind,
            10,
            RowColour::None,
        );
        let rule = violation.rule.as_ref().map_or(0, |rule| rule.chars().count().min(30) + 4);
        line.theirs(
            &violation.object,
            look.columns.saturating_sub(40 + rule).max(20),
            Keep::Ends,
            RowColour::None,
        );
        line.ours(&format!("  first #{}", violation.first), RowColour::Dim);
        if let Some(rule) = &violation.rule {
            line.ours("  by ", RowColour::Dim).theirs(rule, 60, Keep::Start, RowColour::Dim);
        }
        line.end();
    }
    more(out, look, tally.violations.len(), tally.violations.left_out);
}

/// Where to, and how much.
pub(super) fn network(out: &mut String, look: &RenderOptions, tally: &TraceTally) {
    row::heading(out, look, "network");
    if tally.network.is_empty() {
        nothing(out, look, "no connection was tried");
        return;
    }
    let wide = look.columns.saturating_sub(76).clamp(16, 44);
    let mut line = EventRow::new(out, look);
    line.ours("  ", RowColour::None).padded("destination", wide, RowColour::Dim).ours(
        &format!(
            "{:>9}{:>9}{:>9}{:>9}{:>10}{:>10}  why",
            "allowed", "denied", "failed", "unknown", "sent", "received"
        ),
        RowColour::Dim,
    );
    line.end();
    let rank = |flow: &super::tally::TrafficFlow| {
        flow.verdicts.denied.saturating_mul(1000).saturating_add(flow.verdicts.total())
    };
    for (key, flow) in tally.network.most(rank).into_iter().take(SHOWN) {
        let mut line = EventRow::new(out, look);
        line.ours("  ", RowColour::None).column(key, wide, RowColour::None);
        figures(&mut line, flow.verdicts);
        line.ours(&format!("{:>10}{:>10}  ", size(flow.sent), size(flow.received)), RowColour::None);
        line.theirs(flow.reason.as_deref().unwrap_or_default(), 40, Keep::Start, RowColour::Dim);
        line.end();
    }
    more(out, look, tally.network.len(), tally.network.left_out);
}

/// Which folders were looked into, and which files changed.
pub(super) fn files(out: &mut String, look: &RenderOptions, tally: &TraceTally) {
    row::heading(out, look, "files");
    if tally.folders.is_empty() {
        nothing(out, look, "no file was opened");
        return;
    }
    let wide = look.columns.saturating_sub(58).clamp(16, 60);
    let mut line = EventRow::new(out, look);
    line.ours("  ", RowColour::None).padded("folder", wide, RowColour::Dim).ours(
        &format!(
            "{:>9}{:>9}{:>9}{:>9}{:>9}{:>9}",
            "allowed", "denied", "failed", "unknown", "reads", "changes"
        ),
        RowColour::Dim,
    );
    line.end();
    let rank = |folder: &super::tally::FolderCounts| {
        folder.verdicts.denied.saturating_mul(1000).saturating_add(folder.verdicts.total())
    };
    for (path, folder) in tally.folders.most(rank).into_iter().take(SHOWN) {
        let mut line = EventRow::new(out, look);
        line.ours("  ", RowColour::None).column(path, wide, RowColour::None);
        figures(&mut line, folder.verdicts);
        line.ours(&format!("{:>9}{:>9}", folder.reads, folder.changes), RowColour::None);
        line.end();
    }
    more(out, look, tally.folders.len(), tally.folders.left_out);
    if tally.changed.is_empty() {
        return;
    }
    let mut line = EventRow::new(out, look);
    line.ours("  changed, or tried to be", RowColour::Bold);
    line.end();
    for (path, verdicts) in tally.changed.most(|verdicts| verdicts.total()).into_iter().take(SHOWN) {
        let mut line = EventRow::new(out, look);
        let (word, colour) = match (verdicts.denied, verdicts.unknown) {
            (_, 1..) => ("UNKNOWN", RowColour::Red),
            (1.., 0) => ("DENIED", RowColour::Red),
            (0, 0) => ("", RowColour::None),
        };
        line.ours("    ", RowColour::None).padded(word, 8, colour).theirs(
            path,
            usize::MAX,
            Keep::Ends,
            RowColour::None,
        );
        line.end();
    }
    more(out, look, tally.changed.len(), tally.changed.left_out);
}

/// One finding: what, how bad, whether it was prevented, by which name attackers' handbooks have it.
pub(super) fn classification(out: &mut String, look: &RenderOptions, found: &Classification) {
    let mut line = EventRow::new(out, look);
    let colour = if found.severity >= AttackSeverity::High { RowColour::Red } else { RowColour::Yellow };
    line.ours("  ", RowColour::None).padded(&words::class_name(found.class).to_uppercase(), 26, colour);
    line.padded(words::severity_name(found.severity), 10, colour);
    let (word, colour) = match found.prevention() {
        Prevention::Prevented => ("prevented", RowColour::Green),
        Prevention::NotPrevented => ("NOT PREVENTED", RowColour::Red),
        Prevention::Unknown => ("UNKNOWN", RowColour::Red),
    };
    line.padded(word, 15, colour).theirs(&found.mitre_tactic, 40, Keep::Start, RowColour::Dim);
    line.end();
    row::wrapped_text(out, look, 6, &found.message);
    for technique in found.techniques.iter().take(SHOWN) {
        let mut line = EventRow::new(out, look);
        line.ours("      ", RowColour::None).column(&technique.id, 15, RowColour::Cyan);
        line.theirs(&technique.name, usize::MAX, Keep::Start, RowColour::None);
        line.end();
    }
}

pub(super) fn nothing(out: &mut String, look: &RenderOptions, words: &str) {
    let mut line = EventRow::new(out, look);
    line.ours("  ", RowColour::None).ours(words, RowColour::Dim);
    line.end();
}

/// How much of a table is not shown.
pub(super) fn more(out: &mut String, look: &RenderOptions, rows: usize, left_out: u64) {
    if rows > SHOWN {
        nothing(out, look, &format!("and {} more", rows - SHOWN));
    }
    if left_out > 0 {
        nothing(out, look, &format!("and {} that this table had no room for", counted(left_out, "event")));
    }
}
