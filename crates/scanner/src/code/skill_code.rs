//! The code of a whole skill, read together, with its facts at their places in its files.

use std::collections::BTreeMap;

use crate::Scanner;
use crate::code::capability::{CapabilityUse, CodeFacts, SecretFlow};
use crate::code::small_pieces::find_small_pieces;
use crate::code::{CodePiece, find_pieces, read_pieces};
use crate::kind::FileKind;
use crate::prefilter::TextSignals;
use crate::skill::{SkillFile, SkillFiles};
use crate::text;

/// Longest file that is read without a sign of its own: it may join others that have some.
const MAX_JOINT: usize = 8 * 1024;

/// A piece of code and what it does.
#[derive(Debug)]
pub(crate) struct ReadCode<'s> {
    pub(crate) file: &'s SkillFile,
    /// Whether it stands in a document.
    pub(crate) is_fenced: bool,
    /// Whether it is a script of commands, in which much is usual that a program has no business to do.
    pub(crate) is_commands: bool,
    /// Whether it lies among tests or examples that nobody is sent to.
    pub(crate) is_example: bool,
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
    let mut small = read_small_pieces(scanner, skill, signals);
    let mut found: Vec<CodePiece<'s>> = Vec::new();
    for (number, given) in signals {
        let Some(file) = skill.files.get(*number) else { continue };
        let is_code = file.kind == FileKind::Script;
        if (is_all || is_code || may_find(*given)) && !file.is_reading {
            find_pieces(*number, file, text::as_text(&file.bytes), &mut found);
        }
    }
    if found.is_empty() {
        return small;
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
            groups.entry(piece.group).or_default().add(scanner.engine.find_signals(piece.text.as_bytes()));
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
        Some(ReadCode {
            file,
            is_fenced: !piece.is_file,
            is_commands: false,
            is_example: skill.is_example(file),
            facts: place_facts(piece, facts),
        })
    });
    small.extend(placed.filter(ReadCode::says_something));
    small
}

impl ReadCode<'_> {
    fn says_something(&self) -> bool {
        !self.facts.uses.is_empty() || !self.facts.flows.is_empty() || self.facts.is_cut
    }
}

/// Reads what is in a shell or in one of the small languages, each piece by itself.
fn read_small_pieces<'s>(
    scanner: &Scanner,
    skill: &'s SkillFiles,
    signals: &[(usize, TextSignals)],
) -> Vec<ReadCode<'s>> {
    let is_all = scanner.lists_capabilities;
    let mut read = Vec::new();
    for (number, given) in signals {
        let Some(file) = skill.files.get(*number) else { continue };
        let is_readable = matches!(file.kind, FileKind::Script | FileKind::Markdown | FileKind::Text);
        if file.is_reading || !is_readable || !(is_all || may_find_commands(*given)) {
            continue;
        }
        let text = text::as_text(&file.bytes);
        for piece in find_small_pieces(file, &text) {
            let code = piece.text(&text);
            if !is_all && !may_find_commands(scanner.engine.find_signals(code.as_bytes())) {
                continue;
            }
            let facts = piece.read(&code);
            let is_fenced = piece.is_fenced;
            read.push(ReadCode {
                file,
                is_fenced,
                is_commands: true,
                is_example: skill.is_example(file),
                facts,
            });
        }
    }
    read.retain(ReadCode::says_something);
    read
}

/// Whether commands with these signs could come to a finding. A command alone is enough for much: `rm -rf ~`.
fn may_find_commands(given: TextSignals) -> bool {
    may_find(given) || given.has(TextSignals::COMMANDS)
}

/// Whether code with these signs could come to a finding.
fn may_find(given: TextSignals) -> bool {
    let sends = given.has(TextSignals::CODE_SENDS);
    let hides = given.has(TextSignals::CODE_TRICKS);
    let runs = given.has(TextSignals::CODE_RUNS) && (sends || hides);
    let packs = given.has(TextSignals::CODE_SECRETS) && given.has(TextSignals::CODE_PACKS);
    let is_telling = given.has(TextSignals::CODE_PLACES) || given.has(TextSignals::KEY_FILES);
    may_send_secret(given) || runs || packs || is_telling
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
