//! The scanner's word, before anything runs.

use std::path::Path;

use skillsandbox_manifest::{Date, Policy};
use skillsandbox_scanner::{ScanReport, ScanVerdict, Scanner, SkillFiles, Suppressions};

use crate::refusal::Refusal;
use crate::state::policy_file;

/// Most reasons that are told.
const REASONS: usize = 3;

/// Scans a skill's folder as the user's policy says, with the findings that it suppresses today.
///
/// # Errors
/// A folder that cannot be read, or a policy that suppresses a rule that does not exist.
pub fn scan(folder: &Path, policy: Option<&Policy>) -> Result<ScanReport, Refusal> {
    let skill = SkillFiles::from_dir(folder).map_err(|error| Refusal::Unscanned(error.to_string()))?;
    let scanner = match policy {
        Some(policy) => Scanner::from_policy(policy.scan(), today()?)?,
        None => Scanner::new(),
    };
    Ok(scanner.scan(&skill))
}

/// The day, in UTC.
fn today() -> Result<Date, Refusal> {
    let today = jiff::Timestamp::now().strftime("%Y-%m-%d").to_string();
    today.parse().map_err(|_| Refusal::Unscanned(format!("the clock says {today}, which is not a date")))
}

/// Refuses a skill that the scanner blocks; otherwise what the trace says of the scan.
pub(crate) fn admit(folder: &Path, policy: Option<&Policy>) -> Result<String, Refusal> {
    let report = scan(folder, policy)?;
    if report.verdict < ScanVerdict::Blocked {
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
    Err(Refusal::Scanned { verdict: report.verdict.as_str(), reasons })
}

/// The policy that a user's runs are under: the file that is named, or the user's own where there is one.
///
/// # Errors
/// One that cannot be read or is not valid, or suppresses a rule that does not exist: without it nothing should run. One that lies in the skill it would judge is the skill's own word.
pub fn user_policy(named: Option<&Path>, skill: &Path) -> Result<Option<Policy>, Refusal> {
    let file = match named {
        Some(file) => file.to_owned(),
        None => match policy_file().filter(|file| std::fs::symlink_metadata(file).is_ok()) {
            Some(file) => file,
            None => return Ok(None),
        },
    };
    let real = |path: &Path| path.canonicalize();
    if let (Ok(inside), Ok(skill)) = (real(&file), real(skill))
        && inside.starts_with(skill)
    {
        return Err(Refusal::PolicyInSkill(file));
    }
    let policy = Policy::load(&file)?;
    // A suppression of nothing is a mistake in the policy, so it is told wherever one is read.
    Suppressions::from_policy(policy.scan())?;
    Ok(Some(policy))
}
