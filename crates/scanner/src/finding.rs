//! What was found, where, and in which role.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use serde::Serialize;
use skillsandbox_text::{REDACTED, Redactor, push_visible};

use crate::checks;
use crate::checks::exfiltration::TOO_LONG;
use crate::checks::front_matter::NOTHING_TO_JUDGE;
use crate::checks::obfuscation::{ENCODED_ARCHIVE, TOO_MUCH};
use crate::evidence::FindingRaise;
use crate::grade::{FindingConfidence, FindingSeverity};
use crate::rule::{CheckId, FindingStatus, RuleInfo};
use crate::skill::SkillFile;
use crate::text::{self, PassageRole};

/// One thing that was found.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Finding {
    #[serde(skip)]
    info: &'static RuleInfo,
    /// The rule, under its check: `CHECK-04/secret-to-network`.
    pub rule: String,
    /// The check.
    pub check: CheckId,
    /// What it amounts to here, its role taken into account.
    pub status: FindingStatus,
    /// How much harm it would do.
    pub severity: FindingSeverity,
    /// How sure it is.
    pub confidence: FindingConfidence,
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
    pub role: PassageRole,
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
    /// Why it amounts to more than its rule alone: other signs were counted with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raised_by: Option<FindingRaise>,
    /// Why it does not count, where somebody outside the skill has said so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suppressed: Option<FindingSuppression>,
}

/// Why a finding does not count for the verdict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct FindingSuppression {
    /// The reason that was given.
    pub reason: String,
    /// The last day on which it holds: `2027-01-31`.
    pub expires: String,
}

impl Finding {
    /// Something about the skill as a whole.
    pub(crate) fn new(rule: &'static RuleInfo, why: impl Into<String>) -> Self {
        debug_assert!(checks::all_rules().any(|known| known == rule), "{} is in no registry", rule.name());
        Self {
            info: rule,
            rule: rule.name(),
            check: rule.check,
            status: rule.status,
            severity: FindingSeverity::Low,
            confidence: FindingConfidence::Low,
            file: String::new(),
            line: 0,
            column: 0,
            range: (0, 0),
            snippet: String::new(),
            role: rule.role,
            mitigations: Vec::new(),
            decoded_from: Vec::new(),
            why: why.into(),
            advice: rule.advice.to_owned(),
            techniques: rule.techniques.to_vec(),
            owasp: rule.check.owasp(),
            raised_by: None,
            suppressed: None,
        }
    }

    /// Something about a passage of a file.
    pub(crate) fn in_file(
        rule: &'static RuleInfo,
        file: &SkillFile,
        range: Range<usize>,
        why: impl Into<String>,
    ) -> Self {
        let (line, column) = text::locate(&file.bytes, range.start);
        Self {
            file: file.path.clone(),
            line,
            column,
            snippet: snippet(file.bytes.get(range.clone()).unwrap_or_default()),
            range: (range.start, range.end),
            ..Self::new(rule, why)
        }
    }

    /// The same, milder than its rule is at most.
    pub(crate) fn with_status(self, status: FindingStatus) -> Self {
        Self { status, ..self }
    }

    /// The same, with advice that only this case needs.
    pub(crate) fn with_advice(self, advice: &str) -> Self {
        Self { advice: advice.to_owned(), ..self }
    }

    /// What the registry says of its rule.
    #[must_use]
    pub fn info(&self) -> &'static RuleInfo {
        self.info
    }

    /// Whether it says that a part of the skill was not judged: a bound was met, or something stands there that is not opened.
    #[must_use]
    pub fn is_bound(&self) -> bool {
        [&TOO_MUCH, &TOO_LONG, &ENCODED_ARCHIVE, &NOTHING_TO_JUDGE].contains(&self.info)
    }

    /// What it amounts to without the other signs of the skill.
    #[must_use]
    pub fn status_alone(&self) -> FindingStatus {
        self.raised_by.as_ref().map_or(self.status, |raise| raise.from)
    }

    /// Makes it what it is alone.
    pub(crate) fn lower(&mut self) {
        if let Some(raise) = self.raised_by.take() {
            self.status = raise.from;
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
