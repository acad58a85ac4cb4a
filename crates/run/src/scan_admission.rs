//! The scanner's word, before anything runs.

use skillsandbox_scanner::ScanVerdict;

use crate::refusal::Refusal;
use crate::skill::LoadedSkill;

/// Most reasons that are told.
const REASONS: usize = 3;

/// Whether a skill is scanned before it runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ScanAdmission {
    /// It is scanned as the policy it was loaded under says, and refused where that refuses the verdict.
    #[default]
    Required,
    /// It runs without being scanned, and the trace says so.
    DangerouslySkipped,
}

impl ScanAdmission {
    /// What the trace of a run says of the scan.
    ///
    /// # Errors
    /// A skill that is refused, or cannot be scanned.
    pub fn admit(self, skill: &LoadedSkill) -> Result<String, Refusal> {
        match self {
            Self::Required => scan(skill),
            Self::DangerouslySkipped => Ok("skipped: the skill was not scanned".to_owned()),
        }
    }
}

fn scan(skill: &LoadedSkill) -> Result<String, Refusal> {
    let policy = skill.policy();
    let report = policy.scan_folder(skill.folder())?;
    if !policy.refuses(report.verdict) {
        let suppressed = match report.suppressed() {
            0 => String::new(),
            count => format!(", {count} findings suppressed by the user's policy"),
        };
        return Ok(format!(
            "{} by scanner {}, digest {}{suppressed}",
            report.verdict.as_str(),
            report.scanner_version,
            report.digest
        ));
    }
    let findings = report.findings.iter().filter(|finding| finding.counts()).take(REASONS);
    let mut reasons: Vec<String> = findings
        .map(|finding| format!("{}:{}: {} ({})", finding.file, finding.line, finding.why, finding.rule))
        .collect();
    if reasons.is_empty() {
        reasons.push("not all of it could be read".to_owned());
    }
    if report.verdict < ScanVerdict::Blocked {
        reasons.push("the user's policy refuses warnings (scan.fail_on)".to_owned());
    }
    Err(Refusal::Scanned { verdict: report.verdict.as_str(), reasons })
}
