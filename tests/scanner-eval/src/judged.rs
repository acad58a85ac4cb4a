//! The skills of the corpora, scanned: what each came to, and by which signs.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Context as _;
use rayon::prelude::*;
use skillsandbox_scanner::{
    FindingStatus, RuleInfo, ScanReport, ScanVerdict, Scanner, SignSet, SkillCalls, SkillLinks,
};

use crate::corpus::{LabelledSkill, read_labels, read_skill};
use crate::fit::RuleKey;
use crate::rules::is_promised;
use crate::sources::{find_family, find_source, is_clear, is_contested};

/// A skill, and what the scanner says of it.
pub(crate) struct JudgedSkill {
    /// The name of its corpus.
    pub(crate) corpus: String,
    pub(crate) path: String,
    /// Sources that are left out together.
    pub(crate) family: String,
    pub(crate) source: String,
    pub(crate) category: String,
    pub(crate) is_malicious: bool,
    pub(crate) is_contested: bool,
    /// What the scanner says, with the weights it has.
    pub(crate) verdict: ScanVerdict,
    /// What it says without adding up.
    pub(crate) alone: ScanVerdict,
    /// What it says where nothing was found: it may have files that were not read.
    empty: ScanVerdict,
    /// What is added up.
    pub(crate) signs: SignSet,
    /// Each rule that was met, gravest first.
    pub(crate) fires: Vec<RuleFire>,
}

/// A rule that was met, at its gravest.
pub(crate) struct RuleFire {
    pub(crate) rule: &'static RuleInfo,
    /// Without what other signs make of it.
    pub(crate) status: FindingStatus,
    pub(crate) snippet: String,
    pub(crate) file: String,
}

impl JudgedSkill {
    /// Whether it is a benign skill about security.
    pub(crate) fn is_about_security(&self) -> bool {
        !self.is_malicious && self.category.starts_with("hard_negative")
    }

    /// Whether an official vendor published it.
    pub(crate) fn is_official(&self) -> bool {
        !self.is_malicious && self.category == "official"
    }

    /// Whether it carries a clear payload.
    pub(crate) fn is_clear(&self) -> bool {
        self.is_malicious && !self.is_contested && is_clear(&self.category)
    }

    /// What it would come to without adding up, if some rules only warned.
    pub(crate) fn judge_alone(&self, demoted: &BTreeSet<RuleKey>) -> ScanVerdict {
        let worst = self.fires.iter().map(|fire| match fire.status {
            FindingStatus::Block
                if demoted.contains(&(fire.rule.check, fire.rule.id)) && !is_promised(fire) =>
            {
                ScanVerdict::Warning
            }
            FindingStatus::Block => ScanVerdict::Blocked,
            FindingStatus::Warn => ScanVerdict::Warning,
            FindingStatus::Pass => ScanVerdict::Safe,
        });
        let worst = worst.max().unwrap_or(ScanVerdict::Safe).max(self.empty);
        if demoted.is_empty() { worst.max(self.alone) } else { worst }
    }

    /// Takes over what a report says.
    fn new(corpus: &str, labelled: LabelledSkill, report: &ScanReport) -> Self {
        let mut fires: Vec<RuleFire> = Vec::new();
        for finding in &report.findings {
            let status = finding.status_alone();
            match fires.iter_mut().find(|fire| fire.rule == finding.info()) {
                Some(fire) if fire.status >= status => {}
                Some(fire) => fire.status = status,
                None => fires.push(RuleFire {
                    rule: finding.info(),
                    status,
                    snippet: finding.snippet.clone(),
                    file: finding.file.clone(),
                }),
            }
        }
        fires.sort_by_key(|fire| std::cmp::Reverse(fire.status));
        let source = find_source(&labelled.path).to_owned();
        Self {
            corpus: corpus.to_owned(),
            family: find_family(&source).to_owned(),
            is_contested: is_contested(&source),
            source,
            path: labelled.path,
            category: labelled.category,
            is_malicious: labelled.is_malicious,
            verdict: report.verdict,
            alone: report.evidence.alone,
            empty: if report.unread.is_empty() { ScanVerdict::Safe } else { ScanVerdict::Warning },
            signs: report.signs(),
            fires,
        }
    }
}

/// Scans all skills of a corpus as `skillsandbox scan` does: each by itself, then who calls whom.
pub(crate) fn judge_corpus(scanner: &Scanner, corpus: &Path) -> anyhow::Result<Vec<JudgedSkill>> {
    let corpus =
        corpus.canonicalize().with_context(|| format!("there is no corpus at {}", corpus.display()))?;
    let name = corpus.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let labels = read_labels(&corpus)?;
    let parts = labels.into_par_iter().map(|labelled| {
        let path = corpus.join(&labelled.path);
        let skill = read_skill(&path)?;
        Ok((SkillCalls::find(&skill, &path.to_string_lossy()), scanner.scan(&skill), labelled))
    });
    let (mut calls, mut reports) = (Vec::new(), Vec::new());
    for (call, report, labelled) in parts.collect::<anyhow::Result<Vec<_>>>()? {
        calls.push(call);
        reports.push((report, labelled));
    }
    let links = SkillLinks::new(&calls);
    let judged = reports.into_par_iter().enumerate().map(|(number, (mut report, labelled))| {
        scanner.add_links(&links, number, &mut report);
        JudgedSkill::new(&name, labelled, &report)
    });
    Ok(judged.collect())
}
