//! What a scan prints.

use std::fmt::Write as _;
use std::path::Path;

use anstyle::Style;
use rayon::prelude::*;
use serde_json::{Value, json};
use skillsandbox_scanner::{Finding, FindingStatus, ScanReport, ScanStamp, ScanVerdict, to_junit, to_sarif};

use super::{ReportFormat, ScannedSkill};
use crate::output::{self, visible};
use crate::style::{DIM, GREEN, RED, RESET, YELLOW};

/// Prints reports; those that could not be made are passed over.
pub(super) fn show(format: ReportFormat, reports: &[ScannedSkill]) -> anyhow::Result<()> {
    let done = || reports.iter().filter_map(|(path, report)| Some((path.as_path(), report.as_ref().ok()?)));
    match format {
        ReportFormat::Text => {
            let text: String = done().map(|(path, report)| as_text(path, report)).collect();
            output::result(&text)
        }
        ReportFormat::Json => {
            output::json(&Value::Array(done().map(|(path, report)| as_json(path, report)).collect()))
        }
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
                Some(output::escaped(&as_json(path, report).to_string()) + "\n")
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

fn as_json(path: &Path, report: &ScanReport) -> Value {
    let mut value = serde_json::to_value(report).unwrap_or_else(|_| json!({}));
    if let Some(object) = value.as_object_mut() {
        object.insert("path".to_owned(), json!(path.display().to_string()));
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
pub(in crate::verbs) fn as_text(path: &Path, report: &ScanReport) -> String {
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
    for finding in &report.findings {
        finding_text(&mut out, finding);
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
    out
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
    if let Some(suppressed) = &finding.suppressed {
        let _ =
            writeln!(out, "        suppressed until {}: {}", suppressed.expires, visible(&suppressed.reason));
    }
}
