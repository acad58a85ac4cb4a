//! Reports as SARIF 2.1.0, for code hosts that show findings beside the lines.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::report::Report;
use crate::rule::{CheckId, Status};

/// One SARIF log of the scans of several skills, each with the path it was read from.
#[must_use]
pub fn to_sarif<'r>(reports: impl IntoIterator<Item = (&'r str, &'r Report)>) -> Value {
    let mut rules: BTreeMap<String, Value> = BTreeMap::new();
    let mut results = Vec::new();
    let mut version = "";
    for (path, report) in reports {
        version = report.scanner_version;
        for finding in &report.findings {
            rules
                .entry(finding.rule.clone())
                .or_insert_with(|| rule(finding.check, &finding.rule, &finding.why, &finding.advice));
            let uri = [path.trim_end_matches('/'), finding.file.as_str()].join("/");
            let region = json!({
                "startLine": finding.line.max(1),
                "startColumn": finding.column.max(1),
                "snippet": { "text": finding.snippet },
            });
            results.push(json!({
                "ruleId": finding.rule,
                "level": level(finding.status),
                "message": { "text": format!("{}. {}", finding.why, finding.advice) },
                "locations": [{ "physicalLocation": { "artifactLocation": { "uri": escaped(&uri) }, "region": region } }],
                "properties": { "role": finding.role, "mitigations": finding.mitigations, "techniques": finding.techniques },
            }));
        }
    }
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "skillsandbox",
                "version": version,
                "informationUri": "https://github.com/skillsandbox/skillsandbox",
                "rules": rules.into_values().collect::<Vec<_>>(),
            }},
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

fn rule(check: CheckId, id: &str, why: &str, advice: &str) -> Value {
    json!({
        "id": id,
        "name": check.title(),
        "shortDescription": { "text": why },
        "fullDescription": { "text": format!("{why}. {advice}") },
        "help": { "text": advice, "markdown": check.documentation() },
    })
}

fn level(status: Status) -> &'static str {
    match status {
        Status::Pass => "note",
        Status::Warn => "warning",
        Status::Block => "error",
    }
}

/// A path as the reference that SARIF wants: with everything escaped that an address may not hold.
fn escaped(path: &str) -> String {
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
