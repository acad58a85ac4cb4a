//! Reports as `JUnit` XML, for pipelines that show tests: a suite a skill, a case a check.

use std::fmt::Write as _;

use skillsandbox_text::push_visible;

use crate::report::{ScanReport, ScanVerdict};
use crate::rule::FindingStatus;

/// One document of the scans of several skills, each with the path it was read from. A check that blocks is a failure.
#[must_use]
pub fn to_junit<'r>(reports: impl IntoIterator<Item = (&'r str, &'r ScanReport)>) -> String {
    let mut suites = String::new();
    let (mut tests, mut failures) = (0, 0);
    for (path, report) in reports {
        let failed = report.checks.iter().filter(|check| check.status == FindingStatus::Block).count();
        tests += report.checks.len();
        failures += failed;
        let _ = writeln!(
            suites,
            "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{failed}\">",
            escape_text(path),
            report.checks.len()
        );
        for check in &report.checks {
            let _ = write!(
                suites,
                "    <testcase classname=\"{}\" name=\"{} {}\"",
                escape_text(&report.skill),
                check.id.as_str(),
                check.name
            );
            match check.status {
                FindingStatus::Pass => suites.push_str("/>\n"),
                status => {
                    let element = if status == FindingStatus::Block { "failure" } else { "system-out" };
                    let own = report.findings.iter().filter(|finding| finding.check == check.id);
                    let lines: Vec<_> = own
                        .map(|finding| {
                            let mark = if finding.counts() { "" } else { "(suppressed) " };
                            format!(
                                "{mark}{}:{} {} {}",
                                finding.file, finding.line, finding.rule, finding.why
                            )
                        })
                        .collect();
                    let message = if status == FindingStatus::Block {
                        format!(" message=\"{}\"", escape_text(&check.detail))
                    } else {
                        String::new()
                    };
                    let _ = writeln!(
                        suites,
                        ">\n      <{element}{message}>{}</{element}>\n    </testcase>",
                        escape_text(&lines.join("\n"))
                    );
                }
            }
        }
        if report.verdict == ScanVerdict::Warning && !report.unread.is_empty() {
            let _ =
                writeln!(suites, "    <system-out>{} files not scanned</system-out>", report.unread.len());
        }
        suites.push_str("  </testsuite>\n");
    }
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"skillsandbox scan\" tests=\"{tests}\" failures=\"{failures}\">\n{suites}</testsuites>\n"
    )
}

/// Text of unknown origin in XML: what is markup is escaped, what XML cannot hold or a reader cannot see is spelt out.
fn escape_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            '\n' | '\t' => out.push(c),
            '\u{fffe}' | '\u{ffff}' => out.extend(c.escape_unicode()),
            c => push_visible(&mut out, c),
        }
    }
    out
}
