//! All rules over one text: one pass of literal search, then a pattern only where one of its literals stands.
//!
//! A pattern that begins with a literal is tried just there, so that most attempts end after a few bytes; the others are
//! searched for in the whole block that holds one of their literals.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Mutex, OnceLock, PoisonError};

use regex_automata::meta::{Cache, Regex};

use crate::anchors::ANCHORS;
use crate::literals::LiteralSearch;
use crate::pattern::{CompiledPattern, compile};
use crate::prefilter::{SIGNALS, TextSignals};
use crate::rule::{NEAR, PatternRule, RuleScope};
use crate::text::{OVERLAP, PassageRole, TextBlock};

/// How often one rule is noted in one text. Whoever would hide a match behind harmless ones has to write more of them than
/// this, and then the search says that it is not complete.
const MAX_HITS: usize = 512;
/// How often a pattern is tried at a literal in one block, before it is searched for in what is left of the block instead: so
/// that literals by the thousand cost no more than one search.
const MAX_TRIES: u16 = 12;

/// Rules compiled for searching. Patterns are compiled when first needed: most never are.
#[derive(Debug)]
pub(crate) struct PatternEngine {
    rules: Vec<&'static PatternRule>,
    patterns: Vec<AnchoredPattern>,
    /// For each rule, what must stand near a match.
    near: Vec<OnceLock<Regex>>,
    literals: LiteralSearch,
    /// For each literal, the patterns it stands for, and in which of their sets.
    owners: Vec<Vec<(u16, u8)>>,
    /// For each literal, what it is a sign of.
    signals: Vec<TextSignals>,
    /// What searches need for themselves, kept for the next.
    scratch: Mutex<Vec<SearchScratch>>,
}

/// What was found in a text.
#[derive(Debug, Default)]
pub(crate) struct SearchResult {
    pub(crate) hits: Vec<PatternHit>,
    /// Whether that is all, or a rule matched more than [`MAX_HITS`] times.
    pub(crate) complete: bool,
    pub(crate) signals: TextSignals,
    /// Where words stand that make sentences worth reading, in their order.
    pub(crate) told: Vec<u32>,
}

/// A rule that matched, and where.
#[derive(Clone, Debug)]
pub(crate) struct PatternHit {
    pub(crate) rule: &'static PatternRule,
    pub(crate) range: Range<usize>,
    pub(crate) block: usize,
}

/// One of a rule's patterns.
#[derive(Debug)]
struct AnchoredPattern {
    rule: usize,
    text: &'static str,
    /// Whether every match begins with a literal of the first set.
    begins: bool,
    /// A bit for each of its sets.
    sets: u8,
    compiled: OnceLock<CompiledPattern>,
}

/// The memory of one search.
#[derive(Debug, Default)]
struct SearchScratch {
    caches: Vec<Vec<Cache>>,
    /// Every literal in the text: its place and number.
    found: Vec<(u32, u16)>,
    /// For each pattern, what became of it in the block that is looked at.
    progress: Vec<PatternProgress>,
    /// For each rule, its hits.
    count: Vec<u16>,
}

/// A pattern in one block.
#[derive(Clone, Copy, Debug, Default)]
struct PatternProgress {
    /// The block's number, plus one: what was noted for another counts for nothing.
    block: u32,
    /// The sets of which a literal stands there.
    sets: u8,
    tries: u16,
}

impl PatternEngine {
    pub(crate) fn new(rules: Vec<&'static PatternRule>) -> Self {
        let mut words = LiteralTable::default();
        let mut patterns = Vec::new();
        for (number, (rule, (_, anchors))) in rules.iter().zip(ANCHORS).enumerate() {
            for (text, (begins, literals)) in rule.patterns.iter().zip(*anchors) {
                let Ok(pattern) = u16::try_from(patterns.len()) else { continue };
                let mut sets = 0;
                for (literals, set) in literals.iter().zip(0_u8..) {
                    sets |= 1 << set;
                    for word in *literals {
                        words.entry(word).0.push((pattern, set));
                    }
                }
                let compiled = OnceLock::new();
                patterns.push(AnchoredPattern { rule: number, text, begins: *begins, sets, compiled });
            }
        }
        for (signal, literals) in SIGNALS {
            for word in *literals {
                words.entry(word).1.add(*signal);
            }
        }
        let near = rules.iter().map(|_| OnceLock::new()).collect();
        let (owners, signals) = words.meanings.into_iter().unzip();
        let literals = LiteralSearch::new(words.literals);
        Self { rules, patterns, near, literals, owners, signals, scratch: Mutex::default() }
    }

    /// The literals that are searched for.
    pub(crate) fn literals(&self) -> &[&'static str] {
        self.literals.words()
    }

    /// What a text gives signs of.
    pub(crate) fn signals(&self, text: &[u8]) -> TextSignals {
        let mut signals = TextSignals::default();
        self.literals
            .find(text, |_, literal| signals.add(self.signals.get(literal).copied().unwrap_or_default()));
        signals
    }

    /// Every match of every rule.
    pub(crate) fn search(&self, text: &[u8], blocks: &[TextBlock]) -> SearchResult {
        let kept = self.scratch.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut scratch = kept.unwrap_or_default();
        scratch.caches.resize_with(self.patterns.len(), Vec::new);
        scratch.progress.clear();
        scratch.progress.resize(self.patterns.len(), PatternProgress::default());
        scratch.count.clear();
        scratch.count.resize(self.rules.len(), 0);
        let mut found = std::mem::take(&mut scratch.found);
        let mut signals = TextSignals::default();
        let mut told = Vec::new();
        self.literals.find(text, |at, literal| {
            let signal = self.signals.get(literal).copied().unwrap_or_default();
            signals.add(signal);
            if signal.has(TextSignals::TOLD) {
                told.extend(u32::try_from(at));
            }
            // A text is no longer than 4 GiB, and there are some thousand literals.
            found.extend(u32::try_from(at).ok().zip(u16::try_from(literal).ok()));
        });
        let mut hits = Vec::new();
        let mut complete = true;
        // What stands in a block's window, and in the block itself, begins no earlier than in the block before.
        let (mut in_window, mut in_block) = (0, 0);
        for (number, block) in blocks.iter().enumerate() {
            in_window += position(&found, in_window, block.window.start);
            in_block += position(&found, in_block, block.range.start);
            let window = found.get(in_window..in_block + position(&found, in_block, block.window.end));
            let own = found.get(in_block..in_block + position(&found, in_block, block.range.end));
            let stamp = u32::try_from(number + 1).unwrap_or(u32::MAX);
            for (pattern, set) in self.owned(window) {
                if let Some(progress) = scratch.progress.get_mut(usize::from(pattern)) {
                    if progress.block != stamp {
                        *progress = PatternProgress { block: stamp, sets: 0, tries: 0 };
                    }
                    progress.sets |= 1 << set;
                }
            }
            for (start, literal) in own.unwrap_or_default() {
                let place = SearchPlace { text, block, number, start: *start as usize };
                for (pattern, set) in self.owners.get(usize::from(*literal)).into_iter().flatten() {
                    complete &= self.attempt(usize::from(*pattern), *set, &place, &mut scratch, &mut hits);
                }
            }
        }
        found.clear();
        scratch.found = found;
        self.scratch.lock().unwrap_or_else(PoisonError::into_inner).push(scratch);
        SearchResult { hits, complete, signals, told }
    }

    /// The patterns, and their sets, of some literals that were found.
    fn owned(&self, found: Option<&[(u32, u16)]>) -> impl Iterator<Item = (u16, u8)> {
        let owners = |(_, literal): &(u32, u16)| self.owners.get(usize::from(*literal)).into_iter().flatten();
        found.unwrap_or_default().iter().flat_map(owners).copied()
    }

    /// Tries one pattern at one literal; whether all that it matched was noted.
    fn attempt(
        &self,
        number: usize,
        set: u8,
        at: &SearchPlace<'_>,
        scratch: &mut SearchScratch,
        hits: &mut Vec<PatternHit>,
    ) -> bool {
        let (Some(pattern), Some(progress)) = (self.patterns.get(number), scratch.progress.get_mut(number))
        else {
            return true;
        };
        let limit = if pattern.begins { MAX_TRIES } else { 1 };
        if progress.sets != pattern.sets || (pattern.begins && set != 0) || progress.tries >= limit {
            return true;
        }
        progress.tries += 1;
        let (Some(rule), Some(count), Some(caches)) = (
            self.rules.get(pattern.rule),
            scratch.count.get_mut(pattern.rule),
            scratch.caches.get_mut(number),
        ) else {
            return true;
        };
        if !rule.scope.admits(at.block) {
            return true;
        }
        let compiled = pattern.compiled.get_or_init(|| CompiledPattern::new(pattern.text));
        if caches.is_empty() {
            *caches = compiled.caches();
        }
        let window = &at.block.window;
        let found = if pattern.begins && progress.tries < limit {
            let end = window.end.min(at.start + OVERLAP);
            compiled.at(caches, at.text, at.start..end).into_iter().collect()
        } else {
            let start = if pattern.begins { at.start } else { window.start };
            compiled.find_all(caches, at.text, start..window.end)
        };
        for range in found {
            if self.is_near(pattern.rule, at.text, window, &range) {
                if usize::from(*count) >= MAX_HITS {
                    return false;
                }
                *count += 1;
                hits.push(PatternHit { rule, range, block: at.number });
            }
        }
        true
    }

    /// Whether a match has near it what its rule wants there.
    fn is_near(&self, rule: usize, text: &[u8], window: &Range<usize>, found: &Range<usize>) -> bool {
        let (Some(wanted), Some(cell)) = (self.rules.get(rule).map(|rule| rule.near), self.near.get(rule))
        else {
            return true;
        };
        if wanted.is_empty() {
            return true;
        }
        let regex = cell.get_or_init(|| compile(wanted));
        let before =
            text.get(window.start.max(found.start.saturating_sub(NEAR))..found.start).unwrap_or_default();
        let after = text.get(found.end..window.end.min(found.end + NEAR)).unwrap_or_default();
        regex.is_match(before) || regex.is_match(after)
    }
}

/// How many of the literals from a number on stand before a place.
fn position(found: &[(u32, u16)], from: usize, place: usize) -> usize {
    found.get(from..).unwrap_or_default().iter().take_while(|(at, _)| (*at as usize) < place).count()
}

/// Literals and what they stand for, while an engine is built.
#[derive(Default)]
struct LiteralTable {
    literals: Vec<&'static str>,
    numbers: HashMap<&'static str, usize>,
    meanings: Vec<(Vec<(u16, u8)>, TextSignals)>,
}

impl LiteralTable {
    fn entry(&mut self, word: &'static str) -> &mut (Vec<(u16, u8)>, TextSignals) {
        let number = *self.numbers.entry(word).or_insert_with(|| {
            self.literals.push(word);
            self.literals.len() - 1
        });
        if number >= self.meanings.len() {
            self.meanings.resize_with(number + 1, Default::default);
        }
        #[allow(clippy::indexing_slicing)] // just made
        &mut self.meanings[number]
    }
}

/// Where a pattern is tried.
struct SearchPlace<'t> {
    text: &'t [u8],
    block: &'t TextBlock,
    number: usize,
    start: usize,
}

impl RuleScope {
    fn admits(self, block: &TextBlock) -> bool {
        match self {
            Self::Anywhere => true,
            Self::Words => !matches!(block.role, PassageRole::Code | PassageRole::Data),
            // A command in a sentence counts too: agents run what they are told to.
            Self::Code => true,
        }
    }
}
