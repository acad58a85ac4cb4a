//! What a scan prints.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::path::Path;

use anstyle::Style;
use rayon::prelude::*;
use serde_json::{Value, json};
use skillsandbox_run::UserPolicy;
use skillsandbox_scanner::{Finding, FindingStatus, ScanReport, ScanStamp, ScanVerdict, to_junit, to_sarif};

use super::{ReportFormat, ReportView, ScannedSkill, capabilities};
use crate::output::{self, visible};
use crate::style::{DIM, GREEN, RED, RESET, YELLOW};

/// Prints reports; those that could not be made are passed over.
pub(super) fn show(
    format: ReportFormat,
    reports: &[ScannedSkill],
    view: ReportView<'_>,
) -> anyhow::Result<()> {
    let done = || reports.iter().filter_map(|(path, report)| Some((path.as_path(), report.as_ref().ok()?)));
    match format {
        ReportFormat::Text => {
            let text: String = done().map(|(path, report)| as_text(path, report, view)).collect();
            output::result(&text)
        }
        ReportFormat::Json => output::json(&Value::Array(
            done().map(|(path, report)| as_json(path, report, view.policy)).collect(),
        )),
        ReportFormat::Markdown => {
            let pages = done().map(|(_, report)| report.to_markdown(&stamp_of(report)));
            output::result(&pages.collect::<Vec<_>>().join("\n"))
        }
        ReportFormat::Sarif => {
            let named: Vec<_> = done().map(|(path, report)| (folder(path), report)).collect();
            output::json(&to_sarif(named.iter().map(|(path, report)| (path.as_str(), *report))))
        }
        ReportFormat::Junit => {
            let named: Vec<_> = done().map(|(path, report)| (path.display().to_string(), report)).collect();
            output::result(&to_junit(named.iter().map(|(path, report)| (path.as_str(), *report))))
        }
        ReportFormat::Ndjson => {
            let line = |(path, report): &ScannedSkill| {
                let report = report.as_ref().ok()?;
                Some(output::escaped(&as_json(path, report, view.policy).to_string()) + "\n")
            };
            output::result(&reports.par_iter().filter_map(line).collect::<String>())
        }
    }
}

/// A name and a time for a report that is printed.
pub(super) fn stamp() -> ScanStamp {
    ScanStamp {
        scan_id: uuid::Uuid::new_v4().to_string(),
        scanned_at: jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
    }
}

fn stamp_of(report: &ScanReport) -> ScanStamp {
    report.stamp.clone().unwrap_or_else(stamp)
}

/// The folder that a skill's files are named from: its own, or the one its only file lies in.
fn folder(path: &Path) -> String {
    let folder = if path.is_file() { path.parent().unwrap_or(Path::new("")) } else { path };
    folder.display().to_string()
}

fn as_json(path: &Path, report: &ScanReport, policy: &UserPolicy) -> Value {
    let mut value = report_json(report, policy);
    if let Some(object) = value.as_object_mut() {
        object.insert("path".to_owned(), json!(path.display().to_string()));
    }
    value
}

/// A report for programs; each finding that counts has the command that would let it stand.
pub(in crate::verbs) fn report_json(report: &ScanReport, policy: &UserPolicy) -> Value {
    let mut value = serde_json::to_value(report).unwrap_or_else(|_| json!({}));
    let written = value.get_mut("findings").and_then(Value::as_array_mut);
    for (written, finding) in written.into_iter().flatten().zip(&report.findings) {
        if let (Some(object), Some(command)) =
            (written.as_object_mut(), policy.allow_command(report, finding))
        {
            object.insert("allow".to_owned(), json!(command));
        }
    }
    value
}

fn colour(status: FindingStatus) -> Style {
    match status {
        FindingStatus::Pass => GREEN,
        FindingStatus::Warn => YELLOW,
        FindingStatus::Block => RED,
    }
}

/// A report for people.
pub(in crate::verbs) fn as_text(path: &Path, report: &ScanReport, view: ReportView<'_>) -> String {
    let status = match report.verdict {
        ScanVerdict::Safe => FindingStatus::Pass,
        ScanVerdict::Warning => FindingStatus::Warn,
        ScanVerdict::Blocked => FindingStatus::Block,
    };
    let mut out = format!(
        "{}{}{RESET}  {}  ({}{})\n",
        colour(status),
        report.verdict.as_str(),
        visible(&report.skill),
        visible(&path.display().to_string()),
        match report.suppressed() {
            0 => String::new(),
            count => format!("; {count} suppressed"),
        }
    );
    if !report.agent_files.is_empty() {
        let shown = report.agent_files.iter().take(MAX_LISTED).map(|file| visible(file));
        let more = more_than(report.agent_files.len());
        let _ = writeln!(out, "  judged together: {}{more}", shown.collect::<Vec<_>>().join(", "));
    }
    // One command lets a rule stand in a file, however often it is met there.
    let mut told: HashSet<String> = HashSet::new();
    for finding in &report.findings {
        finding_text(&mut out, finding);
        let stops = status_verdict(finding.status) >= view.refused_from;
        if let Some(command) = view.policy.allow_command(report, finding).filter(|_| stops)
            && told.insert(command.clone())
        {
            let _ = writeln!(out, "        allow: {command}");
        }
    }
    if view.capabilities {
        out.push_str(&capabilities::as_table(&report.capabilities));
    }
    // The sum is told where it decided.
    if report.verdict > report.evidence.alone {
        let _ = writeln!(out, "  {}", visible(&report.evidence.describe()));
    }
    for left in &report.left_out {
        let _ = writeln!(
            out,
            "  not listed: {} more of {}, up to {}",
            left.count,
            left.check.as_str(),
            left.status.as_str()
        );
    }
    for unread in &report.unread {
        let _ = writeln!(out, "  not scanned: {} ({})", visible(&unread.path), visible(&unread.reason));
    }
    if let Some(judge) = &report.judge {
        let _ = writeln!(out, "  second opinion: {}", visible(&judge.summary()));
        for file in &judge.not_sent {
            let _ = writeln!(out, "  not sent: {} ({})", visible(&file.path), file.reason.describe());
        }
    }
    for folder in &report.judged_apart {
        let _ = writeln!(out, "  judged by itself: {}", visible(folder));
    }
    if let Some(outside) = &report.outside {
        let _ = writeln!(out, "  not judged: {} files or folders outside of every skill", outside.count);
        for file in outside.files.iter().take(MAX_LISTED) {
            let _ = writeln!(out, "    {} ({})", visible(&file.path), visible(&file.reason));
        }
        if outside.count > MAX_LISTED {
            let _ =
                writeln!(out, "   {}; --format json lists {}", more_than(outside.count), outside.files.len());
        }
    }
    out
}

/// Most files of a kind that are listed for people.
const MAX_LISTED: usize = 20;

/// How many are not shown.
fn more_than(count: usize) -> String {
    match count.saturating_sub(MAX_LISTED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    }
}

/// The verdict that a finding alone makes.
fn status_verdict(status: FindingStatus) -> ScanVerdict {
    match status {
        FindingStatus::Pass => ScanVerdict::Safe,
        FindingStatus::Warn => ScanVerdict::Warning,
        FindingStatus::Block => ScanVerdict::Blocked,
    }
}

fn finding_text(out: &mut String, finding: &Finding) {
    let place = if finding.line > 0 {
        format!("{}:{}", visible(&finding.file), finding.line)
    } else {
        visible(&finding.file)
    };
    let _ = write!(
        out,
        "  {}{:<5}{RESET} {}  {place}\n        {}\n",
        if finding.counts() { colour(finding.status) } else { DIM },
        finding.status.as_str(),
        finding.rule,
        visible(&finding.why)
    );
    if !finding.snippet.is_empty() {
        let _ = writeln!(out, "        > {}", visible(&finding.snippet));
    }
    if !finding.mitigations.is_empty() {
        let _ = writeln!(out, "        milder, because it is {}", finding.mitigations.join(", "));
    }
    if let Some(raise) = &finding.raised_by {
        let _ = writeln!(out, "        {}", visible(&raise.describe(finding.status)));
    }
    if let Some(suppressed) = &finding.suppressed {
        let _ =
            writeln!(out, "        suppressed until {}: {}", suppressed.expires, visible(&suppressed.reason));
    }
}
