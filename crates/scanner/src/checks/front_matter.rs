//! # CHECK-07: front matter integrity
//!
//! ## What it looks for
//! Front matter that is missing, broken or says two things: not closed, duplicate keys, YAML tags, bombs, a second block, values that
//! look like commands, `extends` that leads out. A folder or a file without any text to judge is told here, too.
//!
//! ## Why it matters
//! What one reader takes for the name, another takes for text; attackers live in the difference.
//!
//! ## Flagged
//! `!!python/object/apply:os.system`, a key written twice, `on_load: curl … | sh`.
//!
//! ## Not flagged
//! Unknown keys with plain values.
//!
//! ## Blind spots
//! What other agents make of keys only they know.
//!
//! ## References
//! MITRE ATT&CK T1195.

use skillsandbox_manifest::{Code, FrontMatter, SkillDoc};

use crate::checks::{Check, CheckInfo};
use crate::finding::Finding;
use crate::rule::CheckId;
use crate::rule::FindingStatus::{Block, Warn};
use crate::rule::{RuleFamily, RuleInfo, code_rules};
use crate::scan_context::{MainDocument, ScanContext, ScanSubject};

const FAMILY: RuleFamily = RuleFamily {
    check: CheckId::FrontMatter,
    advice: "Ask the author to mend the front matter.",
    techniques: &[],
};

code_rules! {
    MISSING = FAMILY.code("missing", Warn, "There is no front matter").fact();
    UNTERMINATED = FAMILY.code("unterminated", Warn, "The front matter is not closed").fact();
    YAML_TAG =
        FAMILY.code("yaml-tag", Block, "A YAML tag stands there, which makes some readers run code").fact().techniques(&["T1059"]);
    YAML_ALIAS = FAMILY.code("yaml-alias", Warn, "A YAML anchor or alias makes one text mean another").fact();
    YAML_BOMB = FAMILY.code("yaml-bomb", Block, "Aliases multiply into a bomb").fact().techniques(&["T1499"]);
    MERGE_KEY = FAMILY.code("merge-key", Warn, "A merge key brings in values from elsewhere").fact();
    DUPLICATE_KEY = FAMILY.code("duplicate-key", Warn, "A key is written twice, and readers differ in which they take").fact();
    WRONG_TYPE = FAMILY.code("wrong-type", Warn, "The name or the description is not a text").fact();
    CONTROL_CHARACTER =
        FAMILY.code("control-character", Warn, "A character stands there that readers do not see, or that reorders text").fact();
    SECOND_BLOCK = FAMILY.code("second-block", Warn, "There is a second front matter, which some readers take instead").fact();
    MISSING_KEY = FAMILY.code("missing-key", Warn, "The name, the description or the type is missing").fact();
    EXECUTABLE_VALUE = FAMILY.code("executable-value", Warn, "A key that no agent knows holds what looks like a command").fact();
    NOTHING_TO_JUDGE = FAMILY
        .code("nothing-to-judge", Warn, "There is no text in it that could be judged, so nobody can say that it is safe")
        .fact()
        .advice("Name the folder of a skill, or look at the files yourself. No policy can let this stand.");
    EXTENDS_OUTSIDE = FAMILY.code("extends-outside", Warn, "`extends` leads out of system/skills/").fact();
}

/// CHECK-07: what the front matter is made of.
pub(crate) struct FrontMatterCheck;

static INFO: CheckInfo = CheckInfo {
    id: CheckId::FrontMatter,
    source: include_str!("front_matter.rs"),
    pattern_rules: &[],
    code_rules: &[CODE_RULES],
};

impl Check for FrontMatterCheck {
    fn info(&self) -> &'static CheckInfo {
        &INFO
    }

    fn run(&self, _: &ScanContext<'_>, subject: &ScanSubject<'_>, findings: &mut Vec<Finding>) {
        // A command needs no front matter, and an agent none of a skill's keys: only what is wrong with one that is there counts.
        let (MainDocument { file, text, doc }, is_skill) = match *subject {
            ScanSubject::Document(document) => (document, true),
            ScanSubject::AgentDocument(document) => (document, false),
            ScanSubject::Text(_) | ScanSubject::Code(_) | ScanSubject::Files(_) => return,
        };
        for (rule, why, at) in judge_document(doc, text) {
            if !is_skill && [&MISSING, &MISSING_KEY, &EXTENDS_OUTSIDE, &SECOND_BLOCK].contains(&rule) {
                continue;
            }
            findings.push(Finding::in_file(rule, file, at..at, why));
        }
    }
}

/// A rule, why, and the byte it points to.
type FormJudgement = (&'static RuleInfo, String, usize);

fn judge_document(doc: &SkillDoc, text: &str) -> Vec<FormJudgement> {
    let Some(front) = &doc.front_matter else {
        let open = doc.problems.iter().find(|problem| problem.code == Code::Unterminated);
        let (rule, at) = open.map_or((&MISSING, 0), |open| (&UNTERMINATED, open.span.start));
        return vec![(rule, rule.summary.to_owned(), at)];
    };
    let mut found = judge_problems(doc);
    let bomb = doc.problems.iter().filter(|problem| problem.code == Code::Alias).count();
    if bomb >= 8 {
        found.push((&YAML_BOMB, YAML_BOMB.summary.to_owned(), front.span.start));
    }
    found.extend(find_missing_keys(doc, front));
    for (key, value) in &front.other {
        if looks_executable(&value.to_string()) {
            let why = format!("The key `{}` holds what looks like a command", key.value);
            found.push((&EXECUTABLE_VALUE, why, key.span.start));
        }
    }
    if let Some(extends) = &front.extends
        && (!extends.value.starts_with("system/skills/") || extends.value.contains(".."))
    {
        found.push((&EXTENDS_OUTSIDE, EXTENDS_OUTSIDE.summary.to_owned(), extends.span.start));
    }
    if let Some(at) = second_block(text, doc.body_start) {
        let why = "A second front matter stands in the body, which some readers take instead";
        found.push((&SECOND_BLOCK, why.to_owned(), at));
    }
    found
}

/// What the reader of the front matter complained of, where a complaint is more than a matter of taste.
fn judge_problems(doc: &SkillDoc) -> Vec<FormJudgement> {
    let mut found = Vec::new();
    for problem in &doc.problems {
        let rule = match problem.code {
            Code::Tag => &YAML_TAG,
            Code::Alias | Code::Anchor => &YAML_ALIAS,
            Code::MergeKey => &MERGE_KEY,
            Code::DuplicateKey => &DUPLICATE_KEY,
            Code::WrongType
                if ["`name`", "`description`"].iter().any(|key| problem.message.contains(key)) =>
            {
                &WRONG_TYPE
            }
            Code::ForbiddenCharacter => &CONTROL_CHARACTER,
            Code::SeveralDocuments => &SECOND_BLOCK,
            _ => continue,
        };
        found.push((rule, problem.message.clone(), problem.span.start));
    }
    found
}

/// Keys that every skill has. An empty block, and one that was read line by line, were complained of already.
fn find_missing_keys(doc: &SkillDoc, front: &FrontMatter) -> Vec<FormJudgement> {
    let is_empty = doc.problems.iter().any(|problem| problem.code == Code::Empty);
    let keys = [
        ("name", front.name.is_none() && !front.recovered),
        ("description", front.description.is_none() && !front.recovered),
        ("type", front.kind.is_none() && front.extends.is_some()),
    ];
    let missing = keys.into_iter().filter(|(_, missing)| *missing && !is_empty);
    missing.map(|(key, _)| (&MISSING_KEY, format!("`{key}` is missing"), front.span.start)).collect()
}

/// A block of `key: value` lines between two `---` lines in the body, outside code, that names tools or a skill.
fn second_block(text: &str, body_start: usize) -> Option<usize> {
    let mut at = body_start;
    let mut fenced = false;
    let mut open: Option<(usize, bool)> = None;
    for line in text.get(body_start..)?.split_inclusive('\n') {
        let trimmed = line.trim();
        if trimmed.starts_with("```") {
            fenced = !fenced;
        }
        match (&mut open, trimmed) {
            _ if fenced => open = None,
            (Some((start, true)), "---") => return Some(*start),
            (_, "---") => open = Some((at, false)),
            (Some((_, named)), line)
                if line.starts_with("name:")
                    || line.starts_with("allowed-tools:")
                    || line.starts_with("tools:") =>
            {
                *named = true;
            }
            (Some(_), line) if line.contains(':') || line.is_empty() => {}
            (Some(_), _) => open = None,
            (None, _) => {}
        }
        at += line.len();
    }
    None
}

fn looks_executable(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    [
        "curl ",
        "wget ",
        "| sh",
        "| bash",
        "bash -c",
        "sh -c",
        "eval(",
        "exec(",
        "powershell",
        "rm -rf",
        "os.system",
        "subprocess",
        "/dev/tcp",
        "base64 -d",
        "nc -e",
        "$(",
        "`curl",
    ]
    .iter()
    .any(|word| lower.contains(word))
}
