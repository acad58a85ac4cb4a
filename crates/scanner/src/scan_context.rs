//! One scan under way: what the checks are shown, and in which order.
//!
//! The main document comes first, then every text, then the files as files. A text is searched once, with the patterns of all checks; each
//! check then adds what no pattern can say.

use skillsandbox_manifest::SkillDoc;

use crate::Scanner;
use crate::checks::{self, CHECKS, binaries, obfuscation};
use crate::engine::SearchResult;
use crate::finding::Finding;
use crate::instructions;
use crate::kind::FileKind;
use crate::mitigation;
use crate::prefilter::TextSignals;
use crate::skill::{SkillFile, SkillFiles};
use crate::text::{self, PassageRole, TextBlock};

/// What holds for a whole scan.
pub(crate) struct ScanContext<'s> {
    pub(crate) scanner: &'s Scanner,
    pub(crate) skill: &'s SkillFiles,
    /// The skill's name: its front matter's, else its folder's.
    pub(crate) name: String,
    /// What the skill says it is for: its names, description and title.
    pub(crate) purpose: String,
    /// Whether the skill says that it is about security.
    pub(crate) is_about_security: bool,
}

/// What a check is shown.
pub(crate) enum ScanSubject<'s> {
    /// The skill's main document, before anything else.
    Document(MainDocument<'s>),
    /// Each text of the skill, the main document too.
    Text(ScannedText<'s>),
    /// What was found out about all files as files, at the end.
    Files(&'s [binaries::FileJudgement]),
}

/// The skill's main document.
#[derive(Clone, Copy)]
pub(crate) struct MainDocument<'s> {
    pub(crate) file: &'s SkillFile,
    pub(crate) text: &'s str,
    pub(crate) doc: &'s SkillDoc,
}

/// One text of the skill, cut into blocks and searched.
#[derive(Clone, Copy)]
pub(crate) struct ScannedText<'s> {
    pub(crate) file: &'s SkillFile,
    pub(crate) text: &'s str,
    pub(crate) blocks: &'s [TextBlock],
    pub(crate) signals: TextSignals,
    /// Where words stand that make sentences worth reading.
    pub(crate) told: &'s [u32],
    /// Where the body begins, of the main document; `None` for every other text.
    pub(crate) body_start: Option<usize>,
}

/// Runs all checks over all files: the skill's name, and what was found.
pub(crate) fn scan_skill(scanner: &Scanner, skill: &SkillFiles) -> (String, Vec<Finding>) {
    let document = skill.find_document();
    let file = document.and_then(|at| skill.files.get(at));
    let text = file.map(|file| text::as_text(&file.bytes)).unwrap_or_default();
    let doc = SkillDoc::parse(&text);
    let context = ScanContext::new(scanner, skill, &doc, &text);
    let mut findings = Vec::new();
    if let Some(file) = file {
        let document = MainDocument { file, text: &text, doc: &doc };
        context.run_checks(&ScanSubject::Document(document), &mut findings);
    }
    for (at, file) in skill.files.iter().enumerate().filter(|(_, file)| file.is_text()) {
        context.scan_text(file, (Some(at) == document).then_some(doc.body_start), &mut findings);
    }
    context.run_checks(&ScanSubject::Files(&binaries::judge(skill)), &mut findings);
    (context.name, findings)
}

impl<'s> ScanContext<'s> {
    fn new(scanner: &'s Scanner, skill: &'s SkillFiles, doc: &SkillDoc, text: &str) -> Self {
        let front = doc.front_matter.as_ref();
        let name = front
            .and_then(|front| front.name.as_ref())
            .map_or_else(|| skill.name.clone(), |name| name.value.clone());
        let description = front.and_then(|front| front.description.as_ref());
        let description = description.map(|text| text.value.as_str()).unwrap_or_default();
        let title = doc.body(text).lines().find(|line| line.starts_with('#')).unwrap_or_default();
        Self {
            scanner,
            skill,
            is_about_security: mitigation::is_about_security(&format!("{name} {description} {title}")),
            purpose: format!("{name} {} {description} {title}", skill.name),
            name,
        }
    }

    fn run_checks(&self, subject: &ScanSubject<'_>, findings: &mut Vec<Finding>) {
        for check in CHECKS {
            check.run(self, subject, findings);
        }
    }

    /// Searches a text for the patterns of all rules, then shows it to each check.
    fn scan_text(&self, file: &SkillFile, body_start: Option<usize>, findings: &mut Vec<Finding>) {
        let blocks = match file.kind {
            FileKind::Markdown => text::split_markdown(&file.bytes, body_start.unwrap_or(0)),
            FileKind::Script => text::split_plain(&file.bytes, PassageRole::Code),
            FileKind::Config => text::split_plain(&file.bytes, PassageRole::Data),
            _ => text::split_plain(&file.bytes, PassageRole::Instruction),
        };
        let SearchResult { hits, complete, signals, told } = self.scanner.engine.search(&file.bytes, &blocks);
        if !complete {
            let why = "A rule matches more often than is looked at, so some passages were not judged";
            findings.push(Finding::in_file(&obfuscation::TOO_MUCH, file, 0..0, why));
        }
        for hit in hits {
            let Some(block) = blocks.get(hit.block) else { continue };
            if checks::is_harmless(hit.rule, file.bytes.get(hit.range.clone()).unwrap_or_default()) {
                continue;
            }
            let Some(weighed) = mitigation::weigh(file, &hit, block, self.is_about_security) else {
                continue;
            };
            let mut finding = Finding::in_file(&hit.rule.info, file, hit.range, hit.rule.info.summary);
            finding.status = weighed.status;
            finding.role = weighed.role;
            finding.mitigations = weighed.signs;
            findings.push(finding);
        }
        let text = text::as_text(&file.bytes);
        let subject = ScannedText { file, text: &text, blocks: &blocks, signals, told: &told, body_start };
        self.run_checks(&ScanSubject::Text(subject), findings);
        instructions::judge_text(&subject, findings);
    }
}
