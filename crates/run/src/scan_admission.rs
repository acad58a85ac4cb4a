//! The scanner's word, before anything runs.

use skillsandbox_scanner::{
    Finding, FindingStatus, FolderSnapshot, ReadError, ScanReport, ScanVerdict, SkillFiles,
};
use skillsandbox_text::{escape_line, quote_word};

use crate::job::ScannedFolder;
use crate::refusal::Refusal;
use crate::remembered_scan::{RememberedScan, ScanMemory, ScanQuestion};
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
        Ok(self.judge(skill)?.note())
    }

    /// The same, and what was scanned. A scan is remembered for the next run.
    pub(crate) fn admit_folder(
        self,
        skill: &LoadedSkill,
    ) -> Result<(String, Option<ScannedFolder>), Refusal> {
        let mut admitted = self.judge(skill)?;
        admitted.remember();
        Ok((admitted.note(), admitted.scanned))
    }

    fn judge(self, skill: &LoadedSkill) -> Result<AdmittedSkill, Refusal> {
        match self {
            Self::Required => AdmittedSkill::find(skill),
            Self::DangerouslySkipped => {
                skill.check_installed()?;
                Ok(AdmittedSkill { scanned: None, scan: None, source: VerdictSource::None })
            }
        }
    }
}

/// A skill that may run.
struct AdmittedSkill {
    scanned: Option<ScannedFolder>,
    scan: Option<RememberedScan>,
    source: VerdictSource,
}

/// Where a verdict comes from.
enum VerdictSource {
    /// Nobody was asked.
    None,
    /// It was scanned now; by what it is found again, where it can be.
    Scan(Option<(ScanMemory, ScanQuestion)>),
    /// It was scanned now, and could not be remembered.
    Unkept(String),
    /// The same files were scanned before.
    Memory,
}

impl AdmittedSkill {
    /// Asks the memory, and the scanner where that knows nothing. What is compared with what was installed, asked about, and scanned are the same
    /// bytes.
    fn find(skill: &LoadedSkill) -> Result<Self, Refusal> {
        let unread = |error: ReadError| match skill.check_installed() {
            Err(changed) => changed,
            Ok(()) => Refusal::Unscanned(error.to_string()),
        };
        let writable = skill.own_writable();
        let settings = skill.policy().verdict_settings()?;
        let ask = |read: &FolderSnapshot| {
            let memory = ScanMemory::open().filter(|_| read.is_whole())?;
            let tree = read.digest_without(&[]);
            Some((memory, ScanQuestion::new(skill.folder(), &writable, tree, &settings)?))
        };
        let read = FolderSnapshot::read(skill.folder()).map_err(unread)?;
        if let Some((memory, question)) = ask(&read)
            && let Some(scan) = memory.find(&question)
        {
            let scanned = scanned_folder(skill, &read, writable, scan.unwritable_digest.clone())?;
            return Ok(Self { scanned: Some(scanned), scan: Some(scan), source: VerdictSource::Memory });
        }
        let (read, files) = FolderSnapshot::read_with_files(skill.folder()).map_err(unread)?;
        let digest = files.digest_without(&writable);
        let source = VerdictSource::Scan(ask(&read));
        let scanned = scanned_folder(skill, &read, writable, digest)?;
        let scan = scan(skill.policy(), &files, &scanned.digest)?;
        Ok(Self { scanned: Some(scanned), scan: Some(scan), source })
    }

    /// For the next run. That it cannot be is said in the trace, and stops nothing.
    fn remember(&mut self) {
        if let (VerdictSource::Scan(Some((memory, question))), Some(scan)) = (&self.source, &self.scan)
            && let Err(error) = memory.keep(question, scan.clone())
        {
            self.source = VerdictSource::Unkept(error.to_string());
        }
    }

    fn note(&self) -> String {
        let Some(scan) = &self.scan else { return "skipped: the skill was not scanned".to_owned() };
        let RememberedScan { verdict, scanner_version, digest, suppressed, scanned_at, .. } = scan;
        let suppressed = match suppressed {
            0 => String::new(),
            count => format!(", {count} findings suppressed by the user's policy"),
        };
        let source = match &self.source {
            VerdictSource::None | VerdictSource::Scan(_) => String::new(),
            VerdictSource::Unkept(why) => format!("; the next run scans it again, since {why}"),
            VerdictSource::Memory => {
                format!("; remembered from {scanned_at}: files, rules and policy are the same")
            }
        };
        format!("{verdict} by scanner {scanner_version}, digest {digest}{suppressed}{source}")
    }
}

/// What a run is held to. An installed skill is compared with what was installed.
fn scanned_folder(
    skill: &LoadedSkill,
    read: &FolderSnapshot,
    writable: Vec<String>,
    digest: String,
) -> Result<ScannedFolder, Refusal> {
    let is_as_installed =
        skill.installed().is_some_and(|installed| installed.check.is_installed(read, &writable));
    if !is_as_installed {
        skill.check_installed()?;
    }
    let snapshot = read.digest_without(&writable);
    Ok(ScannedFolder { folder: skill.folder().to_owned(), digest, snapshot, is_as_installed, writable })
}

fn scan(policy: &UserPolicy, files: &SkillFiles, unwritable_digest: &str) -> Result<RememberedScan, Refusal> {
    let report = policy.scan_files(files)?;
    if let Some(refusal) = policy.refusal(&report) {
        return Err(refusal);
    }
    Ok(RememberedScan {
        verdict: report.verdict.as_str().to_owned(),
        scanner_version: report.scanner_version.to_owned(),
        suppressed: report.suppressed(),
        digest: report.digest,
        unwritable_digest: unwritable_digest.to_owned(),
        scanned_at: jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
    })
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
