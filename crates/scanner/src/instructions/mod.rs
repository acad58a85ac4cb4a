//! What sentences tell the agent: who is told, to do what, to what, where it goes, hidden from whom.
//!
//! ```text
//!  text ──► places.rs: passages, each with its place ──► sentences.rs ──► lexicon.rs: words with classes, by languages/
//!                                                                            │
//!              findings ◄── weigh: place, quotation, report ◄── intents.rs ◄─┴── reading.rs: told, negated, asked, reported
//! ```
//!
//! A sentence is judged by its structure, never by what the skill says of itself: a negated harm is protection ("never send the key"), a negated
//! protection is harm ("do not tell the user"), and what somebody else does is a report. Languages differ in their tables only.

mod addresses;
mod classes;
mod gate;
mod intents;
mod languages;
mod lexicon;
mod places;
mod reading;
mod sentences;

use std::ops::Range;

use classes::{ANY_SECRET, OUTSIDE, WordClass as C};
use intents::{Said, ToldIntent, find_intents};
use places::{Passage, Place};
use reading::Reading;

use crate::checks::{injection, obfuscation};
use crate::finding::Finding;
use crate::rule::FindingStatus;
use crate::scan_context::ScannedText;
use crate::text::{PassageRole, TextBlock};

pub(crate) use gate::GATE_WORDS;

/// Most findings of one text: each says where it stands, which costs a look at all that is before it.
const MAX_FOUND: usize = 512;

/// How far the sentence before may be for this one to go on with it.
const FOLLOWS: usize = 240;

/// Judges what the sentences of a text tell.
pub(crate) fn judge_text(subject: &ScannedText<'_>, findings: &mut Vec<Finding>) {
    judge_name(subject, findings);
    let mut passages = Vec::new();
    let mut memory = Memory::default();
    for (number, block) in subject.blocks.iter().enumerate() {
        if !is_worth_reading(subject, &block.range, &memory) {
            continue;
        }
        passages.clear();
        places::split_block(subject, number, block, &mut passages);
        for passage in &passages {
            sentences::split_sentences(subject.text, passage.range.clone(), |range| {
                judge_sentence(subject, passage, range, &mut memory, findings);
            });
        }
    }
    if memory.found > MAX_FOUND {
        let why = "More sentences tell something than are listed, so some are not shown";
        findings.push(Finding::in_file(&obfuscation::TOO_MUCH, subject.file, 0..0, why));
    }
}

/// Whether a stretch of text may tell something: a word of the gate stands in it, it has letters that the gate does not know, or it goes on with
/// what was told before.
fn is_worth_reading(subject: &ScannedText<'_>, range: &Range<usize>, memory: &Memory) -> bool {
    let from = subject.told.partition_point(|at| (*at as usize) < range.start);
    if subject.told.get(from).is_some_and(|at| (*at as usize) < range.end) {
        return true;
    }
    if !memory.classes.is_none() && range.start.saturating_sub(memory.end) <= FOLLOWS {
        return true;
    }
    let text = subject.text.get(range.clone()).unwrap_or_default();
    !text.is_ascii() && text.chars().any(|c| c >= '\u{c0}' && c.is_alphabetic())
}

/// Judges the name of a file, in which words are joined by marks.
fn judge_name(subject: &ScannedText<'_>, findings: &mut Vec<Finding>) {
    let name = subject.file.path.replace(['-', '_', '/', '+', '.'], " ");
    let reading = Reading::of(&name);
    if reading.len() < 4 {
        return;
    }
    let said = Said { reading: &reading, before: C::NONE };
    let passage = Passage { range: 0..0, place: Place::FileName, block: 0 };
    for intent in find_intents(&said) {
        if let Some((status, signs)) = weigh(subject, &passage, &(0..0), &reading, &intent) {
            let why = format!("{}, in the name of a file", intent.rule.summary);
            let mut finding = Finding::in_file(intent.rule, subject.file, 0..0, why);
            finding.status = status;
            finding.mitigations = signs;
            findings.push(finding);
        }
    }
}

/// What the sentence before said.
#[derive(Default)]
struct Memory {
    end: usize,
    classes: C,
    /// How much was found so far, and how much of that is certain.
    found: usize,
    certain: usize,
}

impl Memory {
    /// Whether one more finding is listed. Behind the bound only what is certain is, so that warnings cannot crowd it out.
    fn admits(&mut self, status: FindingStatus) -> bool {
        self.found += 1;
        let is_certain = status == FindingStatus::Block;
        self.certain += usize::from(is_certain);
        self.found <= MAX_FOUND || (is_certain && self.certain <= MAX_FOUND)
    }
}

/// Judges one sentence.
fn judge_sentence(
    subject: &ScannedText<'_>,
    passage: &Passage,
    range: Range<usize>,
    memory: &mut Memory,
    findings: &mut Vec<Finding>,
) {
    let Some(raw) = subject.text.get(range.clone()) else { return };
    if !is_worth_reading(subject, &range, memory) {
        return;
    }
    let reading = Reading::of(&places::clean(raw));
    if reading.len() < 2 {
        return;
    }
    let before = if range.start.saturating_sub(memory.end) <= FOLLOWS { memory.classes } else { C::NONE };
    let said = Said { reading: &reading, before };
    for intent in find_intents(&said) {
        if let Some((status, signs)) = weigh(subject, passage, &range, &reading, &intent)
            && memory.admits(status)
        {
            let mut finding = Finding::in_file(intent.rule, subject.file, range.clone(), intent.rule.summary);
            finding.status = status;
            finding.role = role_of(passage.place);
            finding.mitigations = signs;
            findings.push(finding);
        }
    }
    let acts = reading.told(C::READ | C::TAKE | C::SEND).fold(C::NONE, |all, at| all | reading.at(at));
    let named = if acts.is_none() { C::NONE } else { ANY_SECRET | C::TALK | OUTSIDE };
    let kept = [C::KEYS, C::ENVFILE, C::SEED, C::TALK, C::URL, C::SERVER].into_iter();
    let kept =
        kept.filter(|class| named.has(*class) && reading.has(*class)).fold(acts, |all, class| all | class);
    (memory.end, memory.classes) = (range.end, kept);
}

/// The role of a passage in a report.
fn role_of(place: Place) -> PassageRole {
    match place {
        Place::Body | Place::Item | Place::Fenced => PassageRole::Instruction,
        Place::HiddenComment | Place::CodeComment => PassageRole::Comment,
        Place::Attribute | Place::Value | Place::FileName => PassageRole::Data,
        Place::CodeText => PassageRole::Code,
    }
}

/// What an intent amounts to where it stands; `None` where it is nothing.
fn weigh(
    subject: &ScannedText<'_>,
    passage: &Passage,
    range: &Range<usize>,
    reading: &Reading,
    intent: &ToldIntent,
) -> Option<(FindingStatus, Vec<&'static str>)> {
    use FindingStatus::{Block, Pass, Warn};
    // A program's comments and texts speak of the program, unless they speak to an agent.
    if passage.place.is_code() && !reading.has(C::AGENT) && *intent.rule != injection::TOLD_TO_DROP_RULES {
        return None;
    }
    let mut status = intent.status;
    let mut signs = Vec::new();
    let in_front = subject.blocks.get(passage.block).is_some_and(|block| block.front_matter);
    // Quotation marks in front matter are YAML's.
    if reading.is_quoting(intent.at) && !in_front {
        signs.push("quoted");
    }
    if reading.is_report() {
        signs.push("forbidden or described");
    }
    if subject.is_example {
        signs.push("in a test or an example");
    }
    if matches!(passage.place, Place::Item | Place::Fenced) {
        let inside = inner_introduction(subject, passage, range);
        let above = || introduction(subject, passage.block);
        match inside.unwrap_or_else(above) {
            Introduction::Forbids if status < Block => return None,
            Introduction::Forbids | Introduction::Reports => signs.push("introduced as an attack"),
            Introduction::Plain => {}
        }
    }
    // What a program prints or holds is not yet before the model, unless it speaks to one.
    if passage.place.is_code() && !(passage.place == Place::CodeComment && reading.has(C::AGENT)) {
        status = status.min(Warn);
    }
    if passage.place.is_hidden() && signs.is_empty() {
        status = match status {
            Pass => Warn,
            Warn | Block => Block,
        };
    }
    if !signs.is_empty() {
        // Spoken of: worth a look where it would be certain, nothing else.
        status = if status == Block { Warn } else { Pass };
    }
    let status = status.min(intent.rule.status);
    (status > Pass).then_some((status, signs))
}

/// What stands above a list, a table or a fence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Introduction {
    /// Nothing that changes how it is meant.
    Plain,
    /// "Never:", "do not:".
    Forbids,
    /// "Attackers write:", "patterns to detect:".
    Reports,
}

impl Introduction {
    /// What a line says of what stands under it.
    fn of(line: &str) -> Self {
        let reading = Reading::of(&places::clean(line));
        match () {
            () if reading.has(C::REPORT) => Self::Reports,
            () if reading.has(C::NEG) => Self::Forbids,
            () => Self::Plain,
        }
    }
}

/// What the last line that ends with a colon says within the passage itself: a document in a fence.
fn inner_introduction(
    subject: &ScannedText<'_>,
    passage: &Passage,
    range: &Range<usize>,
) -> Option<Introduction> {
    // A long fence is cut; what stands above the cut is in its window.
    let start = subject.blocks.get(passage.block)?.window.start.min(passage.range.start);
    let before = subject.text.get(start..range.start)?;
    let opens = |line: &&str| {
        let line = line.trim();
        line.ends_with(':') && !places::is_item(line) && !line.starts_with('#')
    };
    before.lines().rev().take(ABOVE).find(opens).map(Introduction::of)
}

/// How far above a block its introduction is looked for.
const ABOVE: usize = 24;

/// What the passage above a block of items says of them. A heading says nothing: the model reads what stands under it all the same.
fn introduction(subject: &ScannedText<'_>, number: usize) -> Introduction {
    let is_item =
        |block: &TextBlock, raw: &str| block.role != PassageRole::Instruction || places::is_item(raw);
    let above = subject.blocks.get(number.saturating_sub(ABOVE)..number).unwrap_or_default().iter().rev();
    for block in above {
        let Some(raw) = subject.text.get(block.range.clone()) else { continue };
        let is_heading = raw.trim_start().starts_with('#');
        if is_item(block, raw) && !is_heading {
            continue;
        }
        let last = raw.trim_end().rsplit(['.', '\n']).next().unwrap_or_default();
        if is_heading || !last.trim_end_matches(['*', '_']).ends_with([':', '：']) {
            return Introduction::Plain;
        }
        return Introduction::of(last);
    }
    Introduction::Plain
}
