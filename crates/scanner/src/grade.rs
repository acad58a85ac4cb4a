//! How grave a finding is, how sure, and under which heads others file it. All of it follows from what is already known of the
//! finding, so that two scanners of the same version never grade one passage differently.

use serde::Serialize;

use crate::finding::Finding;
use crate::rule::{CheckId, FindingStatus, RuleInfo};
use crate::text::PassageRole;

/// How much harm it would do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum FindingSeverity {
    /// Worth knowing: form, or a passage that several signs make harmless.
    Low,
    /// A person should look.
    Medium,
    /// Clearly wrong, but it needs somebody to go along with it.
    High,
    /// Acts by itself, once an agent reads or runs it.
    Critical,
}

/// How sure it is that the passage is what the rule takes it for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum FindingConfidence {
    /// Often something harmless.
    Low,
    /// More likely than not.
    Medium,
    /// A fact that was read, or a passage with no other sense.
    High,
}

impl FindingSeverity {
    /// The word that stands for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Critical => "critical",
        }
    }

    /// `BLOCK` in a passage that acts by itself is critical, elsewhere high. `WARN` is medium; low where only form is at stake or
    /// where signs made it milder.
    fn of(finding: &Finding) -> Self {
        let acts =
            matches!(finding.role, PassageRole::Instruction | PassageRole::Code | PassageRole::Decoded);
        let form = finding.check == CheckId::FrontMatter;
        let is_certain = finding.mitigations.is_empty() && finding.raised_by.is_none();
        match finding.status {
            FindingStatus::Block if acts && is_certain => Self::Critical,
            FindingStatus::Block => Self::High,
            FindingStatus::Warn if form || !finding.mitigations.is_empty() => Self::Low,
            FindingStatus::Warn => Self::Medium,
            FindingStatus::Pass => Self::Low,
        }
    }
}

impl FindingConfidence {
    /// The word that stands for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }

    /// A fact, or something that had to be decoded first, is certain. Otherwise what blocks is certain and what warns is likely,
    /// one step less for each sign of the contrary.
    fn of(finding: &Finding) -> Self {
        if finding.info().is_fact || finding.role == PassageRole::Decoded {
            return Self::High;
        }
        // What only several signs together make grave is likely, not certain.
        if finding.raised_by.is_some() {
            return Self::Medium;
        }
        match (finding.status, finding.mitigations.len()) {
            (FindingStatus::Block, 0) => Self::High,
            (FindingStatus::Block, 1) | (FindingStatus::Warn, 0) => Self::Medium,
            _ => Self::Low,
        }
    }
}

/// The OWASP Agentic Skills Top 10 (version 1.0, 2026).
pub(crate) const OWASP: &[(&str, &str)] = &[
    ("AST01", "Malicious Skills"),
    ("AST02", "Supply Chain Compromise"),
    ("AST03", "Over-Privileged Skills"),
    ("AST04", "Insecure Metadata"),
    ("AST05", "Untrusted External Instructions"),
    ("AST06", "Weak Isolation"),
    ("AST07", "Update Drift"),
    ("AST08", "Poor Scanning"),
    ("AST09", "No Governance"),
    ("AST10", "Cross-Platform Reuse"),
];

impl CheckId {
    /// The risks of the OWASP Agentic Skills Top 10 that the check is about. `AST06`, `AST07`, `AST09` and `AST10` are about how
    /// skills are run and governed, which no skill's text shows.
    #[must_use]
    pub fn owasp(self) -> &'static [&'static str] {
        match self {
            Self::Injection => &["AST01", "AST05"],
            Self::Spoofing | Self::FrontMatter => &["AST04"],
            Self::Tools | Self::Delegation => &["AST03"],
            Self::Exfiltration => &["AST01"],
            Self::Obfuscation => &["AST01", "AST08"],
            Self::SupplyChain => &["AST01", "AST02"],
        }
    }
}

impl RuleInfo {
    /// How much harm a finding would do at most.
    #[must_use]
    pub fn severity(&'static self) -> FindingSeverity {
        FindingSeverity::of(&Finding::new(self, ""))
    }

    /// How sure a finding is at most.
    #[must_use]
    pub fn confidence(&'static self) -> FindingConfidence {
        FindingConfidence::of(&Finding::new(self, ""))
    }
}

impl Finding {
    /// Sets what follows from the rest.
    pub(crate) fn grade(&mut self) {
        self.severity = FindingSeverity::of(self);
        self.confidence = FindingConfidence::of(self);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graded(
        name: &str,
        status: FindingStatus,
        role: PassageRole,
        mitigations: &[&'static str],
    ) -> (&'static str, &'static str) {
        let mut finding = Finding::new(RuleInfo::find(name).unwrap(), "").with_status(status);
        finding.role = role;
        finding.mitigations = mitigations.to_vec();
        finding.grade();
        (finding.severity.as_str(), finding.confidence.as_str())
    }

    #[test]
    fn grades_follow_from_status_role_and_signs() {
        for (name, status, role, signs, expected) in [
            (
                "CHECK-01/override",
                FindingStatus::Block,
                PassageRole::Instruction,
                &[][..],
                ("critical", "high"),
            ),
            ("CHECK-01/override", FindingStatus::Block, PassageRole::Data, &[], ("high", "high")),
            (
                "CHECK-01/override",
                FindingStatus::Block,
                PassageRole::Instruction,
                &["quoted"],
                ("high", "medium"),
            ),
            ("CHECK-01/override", FindingStatus::Warn, PassageRole::Quotation, &["quoted"], ("low", "low")),
            ("CHECK-04/unknown-host", FindingStatus::Warn, PassageRole::Code, &[], ("medium", "medium")),
            ("CHECK-04/blocklisted", FindingStatus::Block, PassageRole::Data, &[], ("high", "high")),
            (
                "CHECK-05/hidden-payload",
                FindingStatus::Block,
                PassageRole::Decoded,
                &[],
                ("critical", "high"),
            ),
            ("CHECK-07/missing", FindingStatus::Warn, PassageRole::Data, &[], ("low", "high")),
            ("CHECK-08/other-source", FindingStatus::Warn, PassageRole::Data, &[], ("medium", "high")),
            ("CHECK-08/archive-link", FindingStatus::Pass, PassageRole::Data, &[], ("low", "low")),
        ] {
            assert_eq!(graded(name, status, role, signs), expected, "{name} {status:?} {role:?} {signs:?}");
        }
    }

    #[test]
    fn a_rule_is_graded_as_its_gravest_finding() {
        for (name, expected) in [
            ("CHECK-01/override", ("critical", "high")),
            ("CHECK-02/exact", ("high", "high")),
            ("CHECK-04/unknown-host", ("medium", "medium")),
            ("CHECK-05/tag-characters", ("high", "high")),
            ("CHECK-07/missing", ("low", "high")),
        ] {
            let rule = RuleInfo::find(name).unwrap();
            assert_eq!((rule.severity().as_str(), rule.confidence().as_str()), expected, "{name}");
        }
    }

    #[test]
    fn every_check_has_heads_that_exist() {
        for check in CheckId::ALL {
            assert!(!check.owasp().is_empty());
            assert!(check.owasp().iter().all(|id| OWASP.iter().any(|(known, _)| known == id)), "{check:?}");
        }
    }
}
