//! The scanner's word, before anything runs.

use std::path::Path;

use skillsandbox_manifest::{Date, Policy, user_folders};
use skillsandbox_scanner::{Report, Scanner, Skill as Scanned, Suppressions, Verdict};

use crate::refusal::Refusal;

/// Most reasons that are told.
const REASONS: usize = 3;

/// Scans a skill's folder as the user's policy says, with the findings that it suppresses today.
///
/// # Errors
/// A folder that cannot be read.
pub fn scan(folder: &Path, policy: Option<&Policy>) -> Result<Report, Refusal> {
    let skill = Scanned::from_dir(folder).map_err(|error| Refusal::Unscanned(error.to_string()))?;
    let Some(policy) = policy.map(Policy::scan) else { return Ok(Scanner::new().scan(&skill)) };
    let scanner = Scanner::builder()
        .blocked_domains(&policy.blocklist)
        .trusted_sources(policy.trusted_sources.iter().cloned())
        .system_names(policy.system_names.iter().cloned())
        .build();
    let mut report = scanner.scan(&skill);
    Suppressions::new(policy.suppressions.iter().cloned()).apply(&mut report, Date::today());
    Ok(report)
}

/// Refuses a skill that the scanner blocks; otherwise what the trace says of the scan.
pub(crate) fn admit(folder: &Path, policy: Option<&Policy>) -> Result<String, Refusal> {
    let report = scan(folder, policy)?;
    if report.verdict < Verdict::Blocked {
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
/// One that cannot be read or is not valid: without it nothing should run. One that lies in the skill it would judge is the skill's own word.
pub fn user_policy(named: Option<&Path>, skill: &Path) -> Result<Option<Policy>, Refusal> {
    let file = match named {
        Some(file) => file.to_owned(),
        None => match user_folders::policy_file().filter(|file| std::fs::symlink_metadata(file).is_ok()) {
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
    Ok(Some(Policy::load(&file)?))
}
