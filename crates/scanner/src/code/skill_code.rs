//! The code of a whole skill, read together, with its facts at their places in its files.

use std::collections::BTreeSet;

use crate::code::capability::{CapabilityUse, CodeFacts, SecretFlow, SkillCapability};
use crate::code::{CodePiece, find_pieces, read_pieces};
use crate::finding::snippet;
use crate::prefilter::TextSignals;
use crate::skill::{SkillFile, SkillFiles};
use crate::text;

/// Most capabilities that a report lists.
const MAX_CAPABILITIES: usize = 500;

/// A piece of code and what it does.
#[derive(Debug)]
pub(crate) struct ReadCode<'s> {
    pub(crate) file: &'s SkillFile,
    /// Whether it stands in a document.
    pub(crate) is_fenced: bool,
    /// Its facts, at their places in the file.
    pub(crate) facts: CodeFacts,
}

/// Reads all code of a skill that could do something worth knowing.
pub(crate) fn read_code<'s>(skill: &'s SkillFiles, signals: &[(usize, TextSignals)]) -> Vec<ReadCode<'s>> {
    let all = signals.iter().fold(TextSignals::default(), |mut all, (_, given)| {
        all.add(*given);
        all
    });
    if !all.has(TextSignals::CODE) {
        return Vec::new();
    }
    let mut pieces: Vec<CodePiece<'s>> = Vec::new();
    for (number, given) in signals {
        let Some(file) = skill.files.get(*number) else { continue };
        if given.has(TextSignals::CODE) && !file.is_reading {
            find_pieces(*number, file, &text::as_text(&file.bytes), &mut pieces);
        }
    }
    let facts = read_pieces(&pieces);
    let placed = pieces.iter().zip(facts).filter_map(|(piece, facts)| {
        let file = skill.files.get(piece.file)?;
        Some(ReadCode { file, is_fenced: !piece.is_file, facts: place_facts(piece, facts) })
    });
    placed
        .filter(|read| !read.facts.uses.is_empty() || !read.facts.flows.is_empty() || read.facts.is_cut)
        .collect()
}

/// Facts of a piece at their places in its file.
fn place_facts(piece: &CodePiece<'_>, facts: CodeFacts) -> CodeFacts {
    let place = |found: CapabilityUse| CapabilityUse { range: piece.place(&found.range), ..found };
    CodeFacts {
        uses: facts.uses.into_iter().map(place).collect(),
        flows: facts
            .flows
            .into_iter()
            .map(|flow| SecretFlow { source: place(flow.source), sender: place(flow.sender), ..flow })
            .collect(),
        is_cut: facts.is_cut,
    }
}

/// What a skill's code does, each thing once.
pub(crate) fn list_capabilities(read: &[ReadCode<'_>]) -> Vec<SkillCapability> {
    let mut seen = BTreeSet::new();
    let mut listed = Vec::new();
    for ReadCode { file, facts, .. } in read {
        for found in &facts.uses {
            if listed.len() < MAX_CAPABILITIES
                && seen.insert((found.capability, found.object.as_str(), &file.path))
            {
                listed.push(SkillCapability {
                    capability: found.capability,
                    object: snippet(found.object.as_bytes()),
                    file: file.path.clone(),
                    line: text::locate(&file.bytes, found.range.start).0,
                });
            }
        }
    }
    listed.sort();
    listed
}
