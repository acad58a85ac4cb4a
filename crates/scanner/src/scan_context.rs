//! One scan under way: what the checks are shown, and in which order.
//!
//! The main document comes first, then every text, then the files as files. A text is searched once, with the patterns of all checks; each
//! check then adds what no pattern can say.

use skillsandbox_manifest::SkillDoc;

use crate::Scanner;
use crate::agent_files;
use crate::checks::{self, CHECKS, binaries, front_matter, obfuscation};
use crate::code::skill_code::{ReadCode, read_code};
use crate::declared::{DeclaredPurpose, SeenCapability, compare_declared};
use crate::engine::SearchResult;
use crate::finding::Finding;
use crate::instructions;
use crate::kind::FileKind;
use crate::mitigation;
use crate::prefilter::TextSignals;
use crate::rule::{CheckId, FindingStatus};
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
}

/// What a check is shown.
pub(crate) enum ScanSubject<'s> {
    /// The skill's main document, before anything else.
    Document(MainDocument<'s>),
    /// A document that tells an agent what it is and may do: a command, or an agent of a plugin. It is shown as a text, too.
    AgentDocument(MainDocument<'s>),
    /// Each text of the skill, the main document too.
    Text(ScannedText<'s>),
    /// What the code of all texts does, after them.
    Code(&'s [ReadCode<'s>]),
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
    /// Whether it lies among tests or examples that nobody is sent to.
    pub(crate) is_example: bool,
    /// Where the body begins, of the main document; `None` for every other text.
    pub(crate) body_start: Option<usize>,
}

/// What the checks came to.
pub(crate) struct ContextResult {
    /// The skill's name.
    pub(crate) name: String,
    pub(crate) findings: Vec<Finding>,
    /// What its code can do.
    pub(crate) capabilities: Vec<SeenCapability>,
}

impl SkillFiles {
    /// Its name as reports have it: its front matter's, else its folder's.
    #[must_use]
    pub fn said_name(&self) -> String {
        let file = self.find_document().and_then(|at| self.files.get(at));
        let text = file.map(|file| text::as_text(&file.bytes)).unwrap_or_default();
        choose_name(self, &SkillDoc::parse(&text))
    }
}

fn choose_name(skill: &SkillFiles, doc: &SkillDoc) -> String {
    let front = doc.front_matter.as_ref();
    front.and_then(|front| front.name.as_ref()).map_or_else(|| skill.name.clone(), |name| name.value.clone())
}

/// Runs all checks over all files.
pub(crate) fn scan_skill(scanner: &Scanner, skill: &SkillFiles) -> ContextResult {
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
    let mut signals = Vec::new();
    for (at, file) in skill.files.iter().enumerate().filter(|(_, file)| file.is_text()) {
        if Some(at) != document && agent_files::is_agent_document(&file.path) {
            let text = text::as_text(&file.bytes);
            let doc = SkillDoc::parse(&text);
            let document = MainDocument { file, text: &text, doc: &doc };
            context.run_checks(&ScanSubject::AgentDocument(document), &mut findings);
        }
        let given = context.scan_text(file, (Some(at) == document).then_some(doc.body_start), &mut findings);
        signals.push((at, given));
    }
    let read = read_code(scanner, skill, &signals);
    context.run_checks(&ScanSubject::Code(&read), &mut findings);
    context.run_checks(&ScanSubject::Files(&binaries::judge(skill)), &mut findings);
    if let Some(why) = find_nothing(skill) {
        findings.push(Finding::new(&front_matter::NOTHING_TO_JUDGE, why));
    }
    let capabilities = context.compare_code(&doc, &read, &mut findings);
    ContextResult { name: context.name, findings, capabilities }
}

/// Why there is nothing to judge, where that is so.
fn find_nothing(skill: &SkillFiles) -> Option<String> {
    if skill.files.iter().any(SkillFile::has_text) {
        return None;
    }
    let files = skill.files.iter().filter(|file| file.is_own()).count();
    let why = match (files, skill.unread.len()) {
        (0, 0) => "it is empty".to_owned(),
        (0, unread) => format!("none of it could be read ({unread} left unread)"),
        (1, _) => "its one file holds no text that could be judged".to_owned(),
        (files, _) => format!("none of its {files} files holds a text that could be judged"),
    };
    Some(format!("Nothing to judge: {why}"))
}

impl<'s> ScanContext<'s> {
    fn new(scanner: &'s Scanner, skill: &'s SkillFiles, doc: &SkillDoc, text: &str) -> Self {
        let front = doc.front_matter.as_ref();
        let name = choose_name(skill, doc);
        let description = front.and_then(|front| front.description.as_ref());
        let description = description.map(|text| text.value.as_str()).unwrap_or_default();
        let title = doc.body(text).lines().find(|line| line.starts_with('#')).unwrap_or_default();
        Self { scanner, skill, purpose: format!("{name} {} {description} {title}", skill.name), name }
    }

    /// What the code can do, beside what the skill says of itself.
    fn compare_code(
        &self,
        doc: &SkillDoc,
        read: &[ReadCode<'_>],
        findings: &mut Vec<Finding>,
    ) -> Vec<SeenCapability> {
        if read.iter().all(|code| code.facts.uses.is_empty()) {
            return Vec::new();
        }
        let front = doc.front_matter.as_ref();
        let tools = front.map(|front| front.tools.iter().chain(&front.allowed_tools).flatten());
        let tools: Vec<String> = tools.into_iter().flatten().map(|tool| tool.value.to_string()).collect();
        let declared = DeclaredPurpose::new(&self.purpose, tools.iter().map(String::as_str), self.skill);
        let (capabilities, undeclared) = compare_declared(&declared, read);
        findings.extend(undeclared);
        capabilities
    }

    fn run_checks(&self, subject: &ScanSubject<'_>, findings: &mut Vec<Finding>) {
        for check in CHECKS {
            check.run(self, subject, findings);
        }
    }

    /// Searches a text for the patterns of all rules, then shows it to each check; what it gives signs of.
    fn scan_text(
        &self,
        file: &SkillFile,
        body_start: Option<usize>,
        findings: &mut Vec<Finding>,
    ) -> TextSignals {
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
        let is_example = self.skill.is_example(file);
        let first = findings.len();
        for hit in hits {
            let Some(block) = blocks.get(hit.block) else { continue };
            if checks::is_harmless(hit.rule, file.bytes.get(hit.range.clone()).unwrap_or_default()) {
                continue;
            }
            let weighed = mitigation::weigh(file, &hit, block, is_example);
            let mut finding = Finding::in_file(&hit.rule.info, file, hit.range, hit.rule.info.summary);
            finding.status = weighed.status;
            finding.role = weighed.role;
            finding.mitigations = weighed.signs;
            findings.push(finding);
        }
        drop_covered_notes(findings, first);
        let text = text::as_text(&file.bytes);
        let subject =
            ScannedText { file, text: &text, blocks: &blocks, signals, told: &told, body_start, is_example };
        self.run_checks(&ScanSubject::Text(subject), findings);
        instructions::judge_text(&subject, findings);
        drop_twins(findings, first);
        signals
    }
}

/// Rules about what a sentence tells, each with the rules of patterns that look for the same.
const TWINS: &[(&str, &[&str])] = &[
    ("told-drop-rules", &["override", "override-words"]),
    ("told-persona", &["persona"]),
    ("told-safety-off", &["safety-off"]),
    ("told-hide", &["secrecy", "secrecy-with-action", "covert-action"]),
    ("told-obey", &["fetch-and-obey", "fetch-words"]),
    ("told-deceive", &["deception"]),
    ("told-skip-approval", &["confirmation-bypass"]),
    ("told-send-secret", &["told-to-send", "sending-words"]),
    ("told-ask-secret", &["credential-phishing", "credential-request", "credential-words"]),
    ("told-helper", &["fake-prerequisite"]),
];

/// Leaves one finding where a sentence and a pattern found the same in one passage: the graver, among the findings from a number on.
fn drop_twins(findings: &mut Vec<Finding>, first: usize) {
    let overlap = |one: &Finding, other: &Finding| {
        one.check == other.check
            && one.file == other.file
            && one.range.0 < other.range.1
            && other.range.0 < one.range.1
    };
    let mut dropped = Vec::new();
    let own = findings.get(first..).unwrap_or_default();
    for (number, told) in own.iter().enumerate() {
        let Some((_, twins)) = TWINS.iter().find(|(rule, _)| *rule == told.info().id) else { continue };
        for (other_number, other) in own.iter().enumerate() {
            if twins.contains(&other.info().id) && overlap(told, other) {
                dropped.push(first + if other.status >= told.status { number } else { other_number });
            }
        }
    }
    let mut number = 0;
    findings.retain(|_| {
        number += 1;
        !dropped.contains(&(number - 1))
    });
}

/// Leaves out notes about a passage that a graver rule of the same check has found, among the findings from a number on.
fn drop_covered_notes(findings: &mut Vec<Finding>, first: usize) {
    let is_note = |finding: &Finding| finding.info().status == FindingStatus::Pass;
    let graver: Vec<_> = findings
        .iter()
        .skip(first)
        .filter(|finding| !is_note(finding))
        .map(|finding| (finding.check, finding.range))
        .collect();
    let mut number = 0;
    findings.retain(|finding| {
        number += 1;
        let is_covered = |(check, (start, end)): &(CheckId, (usize, usize))| {
            *check == finding.check && *start < finding.range.1 && finding.range.0 < *end
        };
        number <= first || !is_note(finding) || !graver.iter().any(is_covered)
    });
}
