//! The report as the markdown page that is kept with an installed skill.

use std::fmt::Write as _;

use serde::Serialize;
use skillsandbox_text::push_visible;

use crate::evidence::ScanEvidence;
use crate::report::{ScanReport, ScanVerdict};
use crate::rule::FindingStatus;

/// What only the caller knows: the scan's own name, and when it was. No check looks at a clock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ScanStamp {
    /// The scan's id, a UUID as a rule.
    pub scan_id: String,
    /// When it was, in RFC 3339.
    pub scanned_at: String,
}

impl ScanReport {
    /// The page: front matter, the eight checks, the findings, and what to do.
    #[must_use]
    pub fn to_markdown(&self, stamp: &ScanStamp) -> String {
        let (name, source) = (line(&self.skill), line(&self.source));
        let verdict = self.verdict.as_str();
        let mut page = format!(
            "---\nscan_id: {}\nskill_name: {name}\nsource: {source}\nscanned_at: {}\nverdict: {verdict}\nscanner_version: {}\n---\n\n\
             # Security Scan Report: {name}\n\n**Verdict**: {verdict}\n**Source**: {source}\n**Scanned**: {}\n\n## Check Results\n\n\
             | Check | ID | Status | Detail |\n|-------|----|--------|--------|\n",
            stamp.scan_id, stamp.scanned_at, self.scanner_version, stamp.scanned_at
        );
        for check in &self.checks {
            let status = status(check.status);
            let _ = writeln!(
                page,
                "| {} | {} | {status} | {} |",
                check.name,
                check.id.as_str(),
                line(&check.detail)
            );
        }
        page.push_str("\n## Findings Detail\n\n");
        if self.findings.is_empty() {
            page.push_str("None.\n");
        }
        for finding in &self.findings {
            let place = if finding.line > 0 {
                format!("{}:{}", line(&finding.file), finding.line)
            } else {
                line(&finding.file)
            };
            let _ = writeln!(
                page,
                "**{}** ({}{}, {place}): {}. {}",
                line(&finding.rule),
                status(finding.status),
                if finding.counts() { "" } else { ", suppressed" },
                line(&finding.why),
                line(&finding.advice)
            );
            if !finding.snippet.is_empty() {
                let _ = writeln!(page, "\n    {}", line(&finding.snippet));
            }
            if let Some(raise) = &finding.raised_by {
                let _ = writeln!(page, "\nIt is {}", line(&raise.describe(finding.status)));
            }
            if let Some(suppressed) = &finding.suppressed {
                let _ =
                    writeln!(page, "\nSuppressed until {}: {}", suppressed.expires, line(&suppressed.reason));
            }
            page.push('\n');
        }
        for left in &self.left_out {
            let _ = writeln!(
                page,
                "Not listed: {} more of {} (up to {})\n",
                left.count,
                left.check.as_str(),
                left.status.as_str()
            );
        }
        for unread in &self.unread {
            let _ = writeln!(page, "Not scanned: {} ({})\n", line(&unread.path), line(&unread.reason));
        }
        if let Some(judge) = &self.judge {
            let _ = writeln!(page, "## Second Opinion\n\n{}\n", line(&judge.summary()));
            for file in &judge.not_sent {
                let _ = writeln!(page, "Not sent: {} ({})\n", line(&file.path), file.reason.describe());
            }
        }
        write_evidence(&mut page, &self.evidence);
        page.push_str("## Recommended Action\n\n");
        let action = match self.verdict {
            ScanVerdict::Safe => "All checks passed. It may be installed; it still runs only with what it declares.".to_owned(),
            ScanVerdict::Warning => format!(
                "Review findings before installing.\nUse `skillsandbox install {name} --force` to override after manual review."
            ),
            ScanVerdict::Blocked => "Do not install it. A reviewed suppression in the policy file, with a reason, is the only way.".to_owned(),
        };
        let _ = writeln!(page, "{action}");
        page
    }
}

/// What the findings add up to, where there are any.
fn write_evidence(page: &mut String, evidence: &ScanEvidence) {
    if evidence.signs.is_empty() {
        return;
    }
    let _ = writeln!(page, "## Evidence\n\n{}.\n", line(&evidence.describe()));
}

fn status(status: FindingStatus) -> &'static str {
    match status {
        FindingStatus::Pass => "PASS",
        FindingStatus::Warn => "WARN",
        FindingStatus::Block => "BLOCK",
    }
}

/// Text of unknown origin on one line, with nothing that would end a table cell, open HTML or move a cursor.
fn line(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\r' | '\t' => out.push(' '),
            '|' => out.push_str("\\|"),
            '<' => out.push_str("&lt;"),
            c => push_visible(&mut out, c),
        }
    }
    out
}
