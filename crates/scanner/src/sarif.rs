//! Reports as SARIF 2.1.0, for code hosts that show findings beside the lines.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Value, json};

use crate::digest::{hex, sha256};
use crate::finding::{Finding, FindingSuppression};
use crate::grade::{FindingSeverity, OWASP};
use crate::report::ScanReport;
use crate::rule::{FindingStatus, RuleInfo};

/// Where the project's pages are.
const HOME: &str = "https://github.com/skillsandbox/skillsandbox";
/// The list that findings are filed under.
const TAXONOMY: &str = "OWASP Agentic Skills Top 10";

/// One SARIF log of the scans of several skills, each with the folder it was read from; an empty one is the current folder.
#[must_use]
pub fn to_sarif<'r>(reports: impl IntoIterator<Item = (&'r str, &'r ScanReport)>) -> Value {
    let mut log = SarifLog::default();
    for (folder, report) in reports {
        log.add(folder, report);
    }
    log.finish()
}

/// A log under way.
#[derive(Default)]
struct SarifLog {
    rules: BTreeMap<String, &'static RuleInfo>,
    results: Vec<Value>,
    notifications: Vec<Value>,
    /// How often a fingerprint was seen.
    seen: HashMap<String, usize>,
    suppresses: bool,
    version: &'static str,
    rules_hash: &'static str,
}

impl SarifLog {
    fn add(&mut self, folder: &str, report: &ScanReport) {
        self.version = report.scanner_version;
        self.rules_hash = report.rules.hash;
        for finding in &report.findings {
            self.rules.insert(finding.rule.clone(), finding.info());
            let uri = build_uri(folder, &finding.file);
            let result = self.build_result(finding, &uri);
            self.results.push(result);
        }
        for unread in &report.unread {
            let text = format!("not scanned: {} ({})", unread.path, unread.reason);
            self.notifications.push(build_notification(&text, &build_uri(folder, &unread.path)));
        }
        for left in &report.left_out {
            let text = format!("{} more findings of {} are not listed", left.count, left.check.as_str());
            self.notifications.push(build_notification(&text, &build_uri(folder, "")));
        }
    }

    fn build_result(&mut self, finding: &Finding, uri: &str) -> Value {
        let suppression = |suppressed: &FindingSuppression| {
            json!({
                "kind": "external",
                "status": "accepted",
                "justification": suppressed.reason,
                "properties": { "expires": suppressed.expires },
            })
        };
        self.suppresses |= !finding.counts();
        json!({
            "ruleId": finding.rule,
            "level": to_level(finding.status),
            "message": { "text": build_message(finding) },
            "locations": [build_location(uri, finding)],
            "partialFingerprints": { "skillsandbox/v1": self.compute_fingerprint(finding, uri) },
            "suppressions": finding.suppressed.iter().map(suppression).collect::<Vec<_>>(),
            "properties": {
                "severity": finding.severity,
                "confidence": finding.confidence,
                "role": finding.role,
                "mitigations": finding.mitigations,
                "decodedFrom": finding.decoded_from,
                "techniques": finding.techniques,
                "raisedBy": finding.raised_by,
            },
        })
    }

    /// What a finding is known by from one scan to the next, wherever its line has moved to: rule, file and passage, and of
    /// equal ones the number.
    fn compute_fingerprint(&mut self, finding: &Finding, uri: &str) -> String {
        let fields = [finding.rule.as_str(), uri, finding.snippet.as_str()];
        let parts: Vec<Vec<u8>> = fields
            .iter()
            .map(|field| [&(field.len() as u64).to_le_bytes(), field.as_bytes()].concat())
            .collect();
        let hash = sha256(&parts.iter().map(Vec::as_slice).collect::<Vec<_>>());
        let hash = hex(hash.get(..16).unwrap_or_default());
        let number = self.seen.entry(hash.clone()).or_default();
        *number += 1;
        format!("{hash}:{number}")
    }

    fn finish(mut self) -> Value {
        // The format wants suppressions on all results or on none.
        if !self.suppresses {
            for result in &mut self.results {
                result.as_object_mut().map(|result| result.remove("suppressions"));
            }
        }
        json!({
            "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
            "version": "2.1.0",
            "runs": [{
                "tool": { "driver": {
                    "name": "skillsandbox",
                    "version": self.version,
                    "semanticVersion": self.version,
                    "informationUri": HOME,
                    "rules": self.rules.values().map(|rule| describe_rule(rule)).collect::<Vec<_>>(),
                    "supportedTaxonomies": [{ "name": TAXONOMY, "index": 0 }],
                    "properties": { "rulesHash": self.rules_hash },
                }},
                "taxonomies": [{
                    "name": TAXONOMY,
                    "organization": "OWASP",
                    "version": "1.0-2026",
                    "informationUri": "https://owasp.org/www-project-agentic-skills-top-10/",
                    "shortDescription": { "text": "Security risks of AI agent skills" },
                    "isComprehensive": true,
                    "taxa": OWASP.iter().map(|(id, name)| json!({ "id": id, "name": name, "shortDescription": { "text": name } })).collect::<Vec<_>>(),
                }],
                "invocations": [{ "executionSuccessful": true, "toolExecutionNotifications": self.notifications }],
                "columnKind": "unicodeCodePoints",
                "results": self.results,
            }],
        })
    }
}

/// A rule as the registry has it.
fn describe_rule(rule: &'static RuleInfo) -> Value {
    let RuleInfo { check, summary, advice, techniques, .. } = rule;
    let heads = check.owasp().iter().map(|head| {
        let index = OWASP.iter().position(|(known, _)| known == head).unwrap_or_default();
        let target = json!({ "id": head, "index": index, "toolComponent": { "name": TAXONOMY, "index": 0 } });
        json!({ "target": target, "kinds": ["relevant"] })
    });
    json!({
        "id": rule.name(),
        "name": check.title(),
        "shortDescription": { "text": summary },
        "fullDescription": { "text": format!("{summary}. {advice}") },
        "help": { "text": advice, "markdown": check.documentation() },
        "helpUri": format!("{HOME}/blob/main/docs/checks/{}.md", check.as_str()),
        "defaultConfiguration": { "level": to_level(rule.status) },
        "relationships": heads.collect::<Vec<_>>(),
        "properties": {
            "tags": ["security", check.as_str()],
            "precision": rule.confidence().as_str(),
            "security-severity": to_score(rule.severity()),
            "techniques": techniques,
        },
    })
}

/// What it is, what made it grave where that was not it alone, and what to do.
fn build_message(finding: &Finding) -> String {
    match &finding.raised_by {
        Some(raise) => {
            format!("{}; {}. {}", finding.why, raise.describe(finding.status), finding.advice)
        }
        None => format!("{}. {}", finding.why, finding.advice),
    }
}

fn to_level(status: FindingStatus) -> &'static str {
    match status {
        FindingStatus::Pass => "note",
        FindingStatus::Warn => "warning",
        FindingStatus::Block => "error",
    }
}

/// The number that code hosts sort by, in the middle of the range that they give the word.
fn to_score(severity: FindingSeverity) -> &'static str {
    match severity {
        FindingSeverity::Critical => "9.5",
        FindingSeverity::High => "8.0",
        FindingSeverity::Medium => "5.5",
        FindingSeverity::Low => "2.0",
    }
}

fn build_location(uri: &str, finding: &Finding) -> Value {
    let file = json!({ "uri": uri });
    if finding.line == 0 {
        return json!({ "physicalLocation": { "artifactLocation": file } });
    }
    let region = json!({
        "startLine": finding.line,
        "startColumn": finding.column.max(1),
        "snippet": { "text": finding.snippet },
    });
    json!({ "physicalLocation": { "artifactLocation": file, "region": region } })
}

fn build_notification(text: &str, uri: &str) -> Value {
    json!({
        "level": "warning",
        "message": { "text": text },
        "locations": [{ "physicalLocation": { "artifactLocation": { "uri": uri } } }],
    })
}

/// A file of a skill as the reference that SARIF wants: from where the scan was started, with everything escaped that an
/// address may not hold.
fn build_uri(folder: &str, file: &str) -> String {
    let folder = folder.trim_end_matches('/');
    let folder = if folder == "." { "" } else { folder.strip_prefix("./").unwrap_or(folder) };
    let parts = [folder, file].into_iter().filter(|part| !part.is_empty());
    let path = parts.collect::<Vec<_>>().join("/");
    let path = if path.is_empty() { "." } else { &path };
    let mut out = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&["%", &format!("{byte:02X}")].concat());
        }
    }
    out
}
