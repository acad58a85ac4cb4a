//! The code of a whole skill, read together, with its facts at their places in its files.

use std::collections::{BTreeMap, BTreeSet};

use crate::Scanner;
use crate::code::capability::{CapabilityUse, CodeFacts, SecretFlow, SkillCapability};
use crate::code::{CodePiece, find_pieces, read_pieces};
use crate::finding::snippet;
use crate::kind::FileKind;
use crate::prefilter::TextSignals;
use crate::skill::{SkillFile, SkillFiles};
use crate::text;

/// Longest file that is read without a sign of its own: it may join others that have some.
const MAX_JOINT: usize = 8 * 1024;
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

/// Reads the code of a skill that could come to a finding; with `is_all`, all of it, for a list of what it does.
pub(crate) fn read_code<'s>(
    scanner: &Scanner,
    skill: &'s SkillFiles,
    signals: &[(usize, TextSignals)],
) -> Vec<ReadCode<'s>> {
    let is_all = scanner.lists_capabilities;
    let mut found: Vec<CodePiece<'s>> = Vec::new();
    for (number, given) in signals {
        let Some(file) = skill.files.get(*number) else { continue };
        let is_code = file.kind == FileKind::Script;
        if (is_all || is_code || may_find(*given)) && !file.is_reading {
            find_pieces(*number, file, text::as_text(&file.bytes), &mut found);
        }
    }
    if found.is_empty() {
        return Vec::new();
    }
    let own = |piece: &CodePiece<'_>| {
        signals.iter().find(|(number, _)| *number == piece.file).map(|(_, given)| *given).unwrap_or_default()
    };
    // Files may call each other; fences only what stands beside them.
    let mut whole = TextSignals::default();
    let mut groups: BTreeMap<usize, TextSignals> = BTreeMap::new();
    for piece in &found {
        if piece.is_file {
            whole.add(own(piece));
        } else {
            groups.entry(piece.group).or_default().add(scanner.engine.signals(piece.text.as_bytes()));
        }
    }
    let is_wanted = |piece: &CodePiece<'_>| {
        if piece.is_file {
            let given = own(piece);
            let joins = may_take_part(given) || piece.text.len() <= MAX_JOINT;
            is_all || may_find(given) || (may_send_secret(whole) && joins)
        } else {
            is_all || may_find(groups.get(&piece.group).copied().unwrap_or_default())
        }
    };
    let pieces: Vec<_> = found.into_iter().filter(is_wanted).collect();
    let facts = read_pieces(&pieces);
    let placed = pieces.iter().zip(facts).filter_map(|(piece, facts)| {
        let file = skill.files.get(piece.file)?;
        Some(ReadCode { file, is_fenced: !piece.is_file, facts: place_facts(piece, facts) })
    });
    placed
        .filter(|read| !read.facts.uses.is_empty() || !read.facts.flows.is_empty() || read.facts.is_cut)
        .collect()
}

/// Whether code with these signs could come to a finding.
fn may_find(given: TextSignals) -> bool {
    let sends = given.has(TextSignals::CODE_SENDS);
    let hides = given.has(TextSignals::CODE_TRICKS);
    let runs = given.has(TextSignals::CODE_RUNS) && (sends || hides);
    may_send_secret(given) || runs || given.has(TextSignals::CODE_PLACES)
}

/// Whether code with these signs could send a secret.
fn may_send_secret(given: TextSignals) -> bool {
    let sends = given.has(TextSignals::CODE_SENDS);
    let hides = given.has(TextSignals::CODE_TRICKS);
    let reads = given.has(TextSignals::CODE_SECRETS);
    (sends && reads) || (hides && (sends || reads))
}

/// Whether a file with these signs could be a part of what another one does.
fn may_take_part(given: TextSignals) -> bool {
    [TextSignals::CODE_SENDS, TextSignals::CODE_SECRETS].into_iter().any(|sign| given.has(sign))
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
