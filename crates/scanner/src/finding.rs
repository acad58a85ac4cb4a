//! What was found, where, and in which role.

use std::ops::Range;

use serde::Serialize;
use skillsandbox_text::push_visible;

use crate::checks;
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

    /// Whether it counts for the verdict.
    #[must_use]
    pub fn counts(&self) -> bool {
        self.suppressed.is_none()
    }
}

/// Most characters of a snippet.
const MAX_SNIPPET: usize = 160;

/// A passage for people: one line, short, nothing that moves a cursor, no secret readable.
pub(crate) fn snippet(passage: &[u8]) -> String {
    let text = String::from_utf8_lossy(passage.get(..passage.len().min(MAX_SNIPPET * 4)).unwrap_or_default());
    let mut out = String::new();
    for (length, c) in text.trim().chars().enumerate() {
        if length >= MAX_SNIPPET {
            out.push('…');
            break;
        }
        match c {
            '\n' | '\r' | '\t' => out.push(' '),
            c => push_visible(&mut out, c),
        }
    }
    mask(&out)
}

/// Hides what looks like a key: a long run without spaces that mixes letters and digits behind a known prefix.
fn mask(text: &str) -> String {
    const PREFIXES: &[&str] =
        &["AKIA", "ghp_", "gho_", "sk-", "sk_live_", "xoxb-", "xoxp-", "AIza", "glpat-", "npm_"];
    let mut out = text.to_owned();
    for prefix in PREFIXES {
        let Some(at) = out.find(prefix) else { continue };
        let tail: String = out
            .chars()
            .skip(out.get(..at).map_or(0, |head| head.chars().count()) + prefix.len())
            .take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
            .collect();
        if tail.len() >= 12 {
            out = out.replace(&tail, "…[masked]");
        }
    }
    out
}
