//! What was found, where, and in which role.

use std::borrow::Cow;
use std::sync::LazyLock;

use serde::Serialize;
use skillsandbox_text::{REDACTED, Redactor, push_visible};

use crate::grade::{Confidence, Severity};
use crate::rule::{CheckId, Status};
use crate::text::Role;

/// One thing that was found.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Finding {
    /// The rule, under its check: `CHECK-04/secret-to-network`.
    pub rule: String,
    /// The check.
    pub check: CheckId,
    /// What it amounts to here, its role taken into account.
    pub status: Status,
    /// How much harm it would do.
    pub severity: Severity,
    /// How sure it is.
    pub confidence: Confidence,
    /// The file, below the skill's folder; empty for the skill as a whole.
    pub file: String,
    /// The line, from 1; 0 for the skill as a whole.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// The byte range in the file.
    pub range: (usize, usize),
    /// The passage, shortened and escaped, with secrets masked.
    pub snippet: String,
    /// What the passage is there for.
    pub role: Role,
    /// What made it milder than the rule alone would be.
    pub mitigations: Vec<&'static str>,
    /// How it was encoded, outermost first.
    pub decoded_from: Vec<String>,
    /// Why it matters.
    pub why: String,
    /// What to do.
    pub advice: String,
    /// MITRE ATT&CK or ATLAS techniques.
    pub techniques: Vec<&'static str>,
    /// Risks of the OWASP Agentic Skills Top 10.
    pub owasp: &'static [&'static str],
    /// Why it does not count, where somebody outside the skill has said so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suppressed: Option<Suppressed>,
}

/// Why a finding does not count for the verdict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Suppressed {
    /// The reason that was given.
    pub reason: String,
    /// The last day on which it holds: `2027-01-31`.
    pub expires: String,
}

impl Finding {
    /// Something about the skill as a whole.
    pub(crate) fn whole(check: CheckId, rule: &str, status: Status, why: String, advice: &str) -> Self {
        Self {
            rule: format!("{}/{rule}", check.as_str()),
            check,
            status,
            severity: Severity::Low,
            confidence: Confidence::Low,
            file: String::new(),
            line: 0,
            column: 0,
            range: (0, 0),
            snippet: String::new(),
            role: Role::Data,
            mitigations: Vec::new(),
            decoded_from: Vec::new(),
            why,
            advice: advice.to_owned(),
            techniques: Vec::new(),
            owasp: &[],
            suppressed: None,
        }
    }

    /// Whether it counts for the verdict.
    #[must_use]
    pub fn counts(&self) -> bool {
        self.suppressed.is_none()
    }
}

/// Most characters of a snippet.
const MAX_SNIPPET: usize = 160;

/// Bytes of a passage that are looked at: what is shown, and a secret that begins in it.
const LOOKED_AT: usize = MAX_SNIPPET * 4 + 512;

/// A passage for people: one line, short, nothing that moves a cursor, no secret readable.
pub(crate) fn snippet(passage: &[u8]) -> String {
    static SHAPES: LazyLock<Option<Redactor>> = LazyLock::new(|| Redactor::of_shapes().ok());
    let text = String::from_utf8_lossy(passage.get(..passage.len().min(LOOKED_AT)).unwrap_or_default());
    // Before it is cut: half a secret has no shape.
    let text = SHAPES.as_ref().map_or(Cow::Borrowed(REDACTED), |shapes| shapes.redact(text.trim()));
    let mut out = String::new();
    for (length, c) in text.chars().enumerate() {
        if length >= MAX_SNIPPET {
            out.push('…');
            break;
        }
        match c {
            '\n' | '\r' | '\t' => out.push(' '),
            c => push_visible(&mut out, c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snippet_shows_no_key() {
        let key = format!("ghp_{}", "aB3dE6gH9jK2mN5pQ8sT1vW4xY7z".repeat(2).get(..36).unwrap());
        for before in [0, 100, 130, 155, 159, 170] {
            let shown = snippet(format!("{}{key} {key}", "x ".repeat(before / 2)).as_bytes());
            assert!(!shown.contains("ghp_a"), "{before}: {shown}");
        }
        assert_eq!(snippet(b" a\nb\x1b[2J "), "a b\\u{1b}[2J");
    }
}
