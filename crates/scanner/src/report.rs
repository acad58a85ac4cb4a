//! The outcome of a scan.

use serde::Serialize;

use crate::finding::Finding;
use crate::rule::{CheckId, Status};
use crate::skill::Unread;

/// The judgement over a skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Verdict {
    /// All checks passed, and everything was read.
    Safe,
    /// A person should look before installing.
    Warning,
    /// Clearly malicious.
    Blocked,
}

impl Verdict {
    /// The word that stands for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Safe => "SAFE",
            Self::Warning => "WARNING",
            Self::Blocked => "BLOCKED",
        }
    }
}

/// The status of one check, and why in a line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct CheckResult {
    /// The check.
    pub id: CheckId,
    /// Its name.
    pub name: &'static str,
    /// What it came to.
    pub status: Status,
    /// Why, in a line.
    pub detail: String,
}

/// What a scan came to.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// The skill's name: its front matter's, else its folder's.
    pub skill: String,
    /// Where it came from.
    pub source: String,
    /// The judgement.
    pub verdict: Verdict,
    /// All eight checks, in their order.
    pub checks: Vec<CheckResult>,
    /// What was found, gravest first.
    pub findings: Vec<Finding>,
    /// What was not read. It makes `SAFE` impossible.
    pub unread: Vec<Unread>,
    /// How many files and bytes were scanned.
    pub scanned: Scanned,
    /// SHA-256 over the paths and bytes scanned.
    pub digest: String,
    /// The version of the rules.
    pub scanner_version: &'static str,
}

/// How much was scanned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Scanned {
    /// Files.
    pub files: usize,
    /// Bytes.
    pub bytes: usize,
}

impl Report {
    pub(crate) fn checks(findings: &[Finding]) -> Vec<CheckResult> {
        CheckId::ALL.into_iter().map(|id| CheckResult::of(id, findings)).collect()
    }

    pub(crate) fn verdict(checks: &[CheckResult], unread: &[Unread]) -> Verdict {
        let worst = checks.iter().map(|check| check.status).max().unwrap_or(Status::Pass);
        match worst {
            Status::Block => Verdict::Blocked,
            Status::Warn => Verdict::Warning,
            Status::Pass if !unread.is_empty() => Verdict::Warning,
            Status::Pass => Verdict::Safe,
        }
    }
}

impl CheckResult {
    fn of(id: CheckId, findings: &[Finding]) -> Self {
        let own = || findings.iter().filter(|finding| finding.check == id);
        let status = own().map(|finding| finding.status).max().unwrap_or(Status::Pass);
        let detail = match own().find(|finding| finding.status == status && status > Status::Pass) {
            Some(first) => first.why.clone(),
            None => "No patterns found".to_owned(),
        };
        Self { id, name: id.title(), status, detail }
    }
}
