//! The outcome of a scan.

use serde::Serialize;

use crate::checks::front_matter::NOTHING_TO_JUDGE;
use crate::declared::SeenCapability;
use crate::digest::Sha256Hash;
use crate::evidence::{ScanEvidence, SignSet};
use crate::finding::Finding;
use crate::markdown::ScanStamp;
use crate::opinion::JudgeOpinion;
use crate::rule::{CheckId, FindingStatus};
use crate::skill::{OUTSIDE_LINK, UnreadFile};

/// Most findings that a report lists.
const MAX_FINDINGS: usize = 200;

/// The judgement over a skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "UPPERCASE")]
pub enum ScanVerdict {
    /// All checks passed, and everything was read.
    Safe,
    /// A person should look before installing.
    Warning,
    /// Clearly malicious.
    Blocked,
}

impl ScanVerdict {
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CheckResult {
    /// The check.
    pub id: CheckId,
    /// Its name.
    pub name: &'static str,
    /// What it came to.
    pub status: FindingStatus,
    /// Why, in a line.
    pub detail: String,
}

/// What a scan came to.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ScanReport {
    /// The scan's own name, and when it was, where the caller has said so.
    #[serde(flatten)]
    pub stamp: Option<ScanStamp>,
    /// The skill's name: its front matter's, else its folder's.
    pub skill: String,
    /// Where it came from.
    pub source: String,
    /// The judgement.
    pub verdict: ScanVerdict,
    /// All eight checks, in their order.
    pub checks: Vec<CheckResult>,
    /// What was found, gravest first.
    pub findings: Vec<Finding>,
    /// What the findings add up to.
    pub evidence: ScanEvidence,
    /// Findings that are too many to be listed: for each check how many, and the gravest. They count for the verdict.
    pub left_out: Vec<OmittedFindings>,
    /// What was not read. It makes `SAFE` impossible.
    pub unread: Vec<UnreadFile>,
    /// Whether everything was read and judged, and all that was found is listed.
    pub complete: bool,
    /// What a judge outside the scanner said, where the user has asked one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judge: Option<JudgeOpinion>,
    /// How many files and bytes were scanned.
    pub scanned: ScanSize,
    /// The Merkle root over the paths and bytes scanned, in hexadecimal.
    pub digest: String,
    /// The version of the scanner.
    pub scanner_version: &'static str,
    /// The rules that were applied.
    pub rules: RuleSet,
    /// What the skill's code can do, and whether the skill speaks of it.
    pub capabilities: Vec<SeenCapability>,
    /// What of a tree was judged as one, outside of any skill: the files of a plugin, or those that agents obey. Empty for a skill.
    pub agent_files: Vec<String>,
    /// Folders below the skill's own that hold another skill: each is judged, and reported on, by itself.
    pub judged_apart: Vec<String>,
    /// What of the tree that was named is no part of any report; in the first report of that tree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outside: Option<OutsideFiles>,
    /// The SHA-256 of each file that was scanned.
    #[serde(skip)]
    pub(crate) file_digests: Vec<(String, Sha256Hash)>,
    /// How many of `left_out` say that not everything was judged: no suppression has looked at those.
    #[serde(skip)]
    pub(crate) bounds_left_out: usize,
    /// The signs among `left_out`, which add up with the others.
    #[serde(skip)]
    pub(crate) signs_left_out: SignSet,
}

/// Files of a tree that nobody has judged, because no agent obeys them: they are in no skill, and nothing that was judged names them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct OutsideFiles {
    /// How many files and folders.
    pub count: usize,
    /// The first of them, below the folder that was named, and why.
    pub files: Vec<UnreadFile>,
}

/// Most files outside of any skill that are listed.
const MAX_OUTSIDE: usize = 200;

impl OutsideFiles {
    pub(crate) fn push(&mut self, path: String, reason: &str) {
        self.count += 1;
        if self.files.len() < MAX_OUTSIDE {
            self.files.push(UnreadFile { path, reason: reason.to_owned() });
        }
    }
}

/// Which rules were applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct RuleSet {
    /// Their version.
    pub version: &'static str,
    /// SHA-256 over all that the registry says of them: ids, status, grade, texts, techniques, scope, patterns.
    pub hash: &'static str,
}

/// Findings of one check that are not listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct OmittedFindings {
    /// The check.
    pub check: CheckId,
    /// How many.
    pub count: usize,
    /// The gravest of them.
    pub status: FindingStatus,
}

/// How much was scanned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ScanSize {
    /// Files.
    pub files: usize,
    /// Bytes.
    pub bytes: usize,
}

impl ScanReport {
    /// Gives it a name and a time.
    #[must_use]
    pub fn stamped(mut self, stamp: ScanStamp) -> Self {
        self.stamp = Some(stamp);
        self
    }

    /// How many findings do not count because somebody has said so.
    #[must_use]
    pub fn suppressed(&self) -> usize {
        self.findings.iter().filter(|finding| !finding.counts()).count()
    }

    /// Whether there was no text to judge: an empty folder, a picture, a PDF, only programs. It is not `SAFE`, and no policy lets it stand.
    #[must_use]
    pub fn has_nothing_to_judge(&self) -> bool {
        self.findings.iter().any(|finding| finding.info() == &NOTHING_TO_JUDGE)
    }

    /// Everything that nobody has judged: what was not read, and where a bound was met first. It is empty where all findings of that kind are
    /// listed and suppressed, each with its reason; what is only too much to be listed was judged. A link that leads out of the folder is not in it: it was
    /// judged as the text that it is.
    #[must_use]
    pub fn unjudged(&self) -> Vec<UnreadFile> {
        let bounds = self.findings.iter().filter(|finding| finding.counts() && finding.is_bound());
        // The skill as a whole has no file.
        let place = |file: &str| if file.is_empty() { ".".to_owned() } else { file.to_owned() };
        let bounds =
            bounds.map(|finding| UnreadFile { path: place(&finding.file), reason: finding.why.clone() });
        let unread = self.unread.iter().filter(|file| file.reason != OUTSIDE_LINK).cloned();
        let left_out = (self.bounds_left_out > 0).then(|| UnreadFile {
            path: ".".to_owned(),
            reason: format!("{} places where a bound was met are not listed", self.bounds_left_out),
        });
        unread.chain(bounds).chain(left_out).collect()
    }

    /// All signs that count, for fitting their weights.
    #[doc(hidden)]
    #[must_use]
    pub fn signs(&self) -> SignSet {
        let mut signs = self.signs_left_out.clone();
        self.findings.iter().filter(|finding| finding.counts()).for_each(|finding| signs.add(finding));
        signs
    }

    /// Puts findings in their order, each once, and keeps the gravest; then judges.
    pub(crate) fn settle(&mut self) {
        let findings = &mut self.findings;
        order_findings(findings);
        findings.dedup_by(|a, b| a.rule == b.rule && a.file == b.file && a.line == b.line);
        // One of those that say that not everything was judged stays, however many graver ones there are.
        let first_left = findings.len().min(MAX_FINDINGS);
        if findings.iter().position(Finding::is_bound).is_some_and(|at| at >= first_left)
            && let Some(at) = findings.iter().position(Finding::is_bound)
        {
            findings.swap(first_left - 1, at);
        }
        for finding in findings.drain(first_left..) {
            self.bounds_left_out += usize::from(finding.is_bound());
            self.signs_left_out.add(&finding);
            match self.left_out.iter_mut().find(|left| left.check == finding.check) {
                Some(left) => {
                    left.count += 1;
                    left.status = left.status.max(finding.status);
                }
                None => {
                    self.left_out.push(OmittedFindings {
                        check: finding.check,
                        count: 1,
                        status: finding.status,
                    });
                }
            }
        }
        self.judge();
    }

    /// What the findings add up to, the checks and the verdict, from the findings that count and from those that are not listed. It can be
    /// asked again and again: what the sum had raised is lowered first.
    pub(crate) fn judge(&mut self) {
        order_findings(&mut self.findings);
        let counting = self.findings.iter().filter(|finding| finding.counts()).map(|finding| finding.status);
        let alone = counting.chain(self.left_out.iter().map(|left| left.status)).max();
        let alone = self.find_verdict(alone.unwrap_or(FindingStatus::Pass));
        self.evidence = ScanEvidence::of(&self.signs(), alone);
        let together = self.evidence.status();
        if self.find_verdict(together) > alone {
            self.evidence.raise(&mut self.findings);
            self.findings.sort_by_key(|finding| std::cmp::Reverse(finding.status));
        }
        self.checks = CheckId::ALL.into_iter().map(|id| CheckResult::of(id, self)).collect();
        let worst = self.checks.iter().map(|check| check.status).max().unwrap_or(FindingStatus::Pass);
        // What the sum amounts to counts too where the finding that it would raise is not listed.
        self.verdict = self.find_verdict(worst.max(together));
        let bounded = self.findings.iter().any(Finding::is_bound);
        self.complete = self.unread.is_empty() && self.left_out.is_empty() && !bounded;
    }

    /// The verdict that a status leads to.
    fn find_verdict(&self, worst: FindingStatus) -> ScanVerdict {
        match worst {
            FindingStatus::Block => ScanVerdict::Blocked,
            FindingStatus::Warn => ScanVerdict::Warning,
            FindingStatus::Pass if !self.unread.is_empty() => ScanVerdict::Warning,
            FindingStatus::Pass => ScanVerdict::Safe,
        }
    }
}

/// Makes findings what each is alone, and puts the gravest first. The order is the same in whatever order they were found.
fn order_findings(findings: &mut [Finding]) {
    for finding in findings.iter_mut() {
        finding.lower();
        finding.grade();
    }
    findings.sort_by(|a, b| {
        b.status
            .cmp(&a.status)
            .then(a.check.cmp(&b.check))
            .then(a.file.cmp(&b.file))
            .then(a.line.cmp(&b.line))
            .then(a.rule.cmp(&b.rule))
            .then(a.range.cmp(&b.range))
    });
}

impl CheckResult {
    fn of(id: CheckId, report: &ScanReport) -> Self {
        let own = || report.findings.iter().filter(|finding| finding.check == id);
        let left = report.left_out.iter().find(|left| left.check == id);
        // They stand in the order of their gravity.
        let listed = own().find(|finding| finding.counts());
        let listed_status = listed.map_or(FindingStatus::Pass, |finding| finding.status);
        let status = listed_status.max(left.map_or(FindingStatus::Pass, |left| left.status));
        let detail = match (listed, left) {
            (Some(finding), _) if finding.status == status && status > FindingStatus::Pass => {
                finding.why.clone()
            }
            (_, Some(left)) => {
                format!("{} findings are not listed, so nobody has looked at them", left.count)
            }
            _ => match own().count() {
                0 => "No patterns found".to_owned(),
                1 => "1 finding, suppressed".to_owned(),
                several => format!("{several} findings, all suppressed"),
            },
        };
        Self { id, name: id.title(), status, detail }
    }
}
