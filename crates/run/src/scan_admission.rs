//! The scanner's word, before anything runs.

use skillsandbox_scanner::{Finding, FindingStatus, ScanReport, ScanVerdict};
use skillsandbox_text::{escape_line, quote_word};

use crate::job::ScannedFolder;
use crate::refusal::Refusal;
use crate::skill::LoadedSkill;
use crate::user_policy::UserPolicy;

/// Most reasons that are told.
const REASONS: usize = 3;

/// Most commands that are told with a refusal; `scan` tells all.
const MAX_COMMANDS: usize = 20;

/// Whether a skill is scanned before it runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ScanAdmission {
    /// It is scanned as the policy it was loaded under says, and refused where that refuses the verdict, or where not all of it was judged.
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
        Ok(self.admit_folder(skill)?.0)
    }

    /// The same, and what was scanned.
    pub(crate) fn admit_folder(
        self,
        skill: &LoadedSkill,
    ) -> Result<(String, Option<ScannedFolder>), Refusal> {
        skill.check_installed()?;
        match self {
            Self::Required => scan(skill).map(|(note, scanned)| (note, Some(scanned))),
            Self::DangerouslySkipped => Ok(("skipped: the skill was not scanned".to_owned(), None)),
        }
    }
}

fn scan(skill: &LoadedSkill) -> Result<(String, ScannedFolder), Refusal> {
    let policy = skill.policy();
    let files = UserPolicy::read_folder(skill.folder())?;
    let report = policy.scan_files(&files)?;
    if let Some(refusal) = policy.refusal(&report) {
        return Err(refusal);
    }
    let suppressed = match report.suppressed() {
        0 => String::new(),
        count => format!(", {count} findings suppressed by the user's policy"),
    };
    let note = format!(
        "{} by scanner {}, digest {}{suppressed}",
        report.verdict.as_str(),
        report.scanner_version,
        report.digest
    );
    let writable = skill.own_writable();
    let digest = files.digest_without(&writable);
    Ok((note, ScannedFolder { folder: skill.folder().to_owned(), digest, writable }))
}

impl UserPolicy {
    /// The commands that would let stand what makes this policy refuse a report. They write to the file that this policy is from.
    #[must_use]
    pub fn allow_commands(&self, report: &ScanReport) -> Vec<String> {
        let refusing = report.findings.iter().filter(|finding| self.is_refusing(finding.status));
        let mut commands: Vec<String> = Vec::new();
        for command in refusing.filter_map(|finding| self.allow_command(report, finding)) {
            if commands.len() < MAX_COMMANDS && !commands.contains(&command) {
                commands.push(command);
            }
        }
        commands
    }

    /// The command that lets one finding stand; `None` where no policy can.
    #[must_use]
    pub fn allow_command(&self, report: &ScanReport, finding: &Finding) -> Option<String> {
        let command = report.allow_command(finding)?;
        match self.file().filter(|_| !self.is_own()) {
            // A name that cannot be typed cannot be told.
            Some(file) => {
                let file = file.to_str().filter(|file| escape_line(file) == *file)?;
                Some(format!("{command} --policy={}", quote_word(file)))
            }
            None => Some(command),
        }
    }

    /// Whether findings of this status make it refuse a skill.
    #[must_use]
    pub fn is_refusing(&self, status: FindingStatus) -> bool {
        let verdict = match status {
            FindingStatus::Pass => ScanVerdict::Safe,
            FindingStatus::Warn => ScanVerdict::Warning,
            FindingStatus::Block => ScanVerdict::Blocked,
        };
        self.refuses(verdict)
    }

    /// Why a skill with this report is not run: its verdict, or a part of it that nobody has judged.
    #[must_use]
    pub fn refusal(&self, report: &ScanReport) -> Option<Refusal> {
        if self.refuses(report.verdict) {
            return Some(Refusal::Scanned {
                verdict: report.verdict.as_str(),
                reasons: gravest_reasons(report),
                allow: self.allow_commands(report),
            });
        }
        let unjudged = report.unjudged();
        if unjudged.is_empty() {
            return None;
        }
        let mut reasons: Vec<String> =
            unjudged.iter().take(REASONS).map(|file| format!("{}: {}", file.path, file.reason)).collect();
        if unjudged.len() > REASONS {
            reasons.push(format!("and {} more", unjudged.len() - REASONS));
        }
        Some(Refusal::Unjudged { reasons })
    }
}

/// The gravest of what was found.
fn gravest_reasons(report: &ScanReport) -> Vec<String> {
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
    reasons
}
