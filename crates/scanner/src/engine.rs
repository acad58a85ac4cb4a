//! All rules over one text: one pass of literal search, then a pattern only where one of its literals stands.
//!
//! Of each pattern it is known which literals every match holds, in which order and how far apart. It is tried only where they stand so: at the
//! first of them if every match begins with that, so that most attempts end after a few bytes, and else searched for around them.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Mutex, OnceLock, PoisonError};

use regex_automata::meta::{Cache, Regex};

use crate::anchor_table::{ANY, PatternAnchors, anchors_by_rule};
use crate::literals::LiteralSearch;
use crate::pattern::{CompiledPattern, compile};
use crate::prefilter::{SIGNALS, TextSignals};
use crate::rule::{NEAR, PatternRule, RuleScope};
use crate::text::{OVERLAP, PassageRole, TextBlock};

/// How often one rule is noted in one text. Whoever would hide a match behind harmless ones has to write more of them than
/// this, and then the search says that it is not complete.
const MAX_HITS: usize = 512;
/// Most sets of literals of a pattern.
const MOST_SETS: usize = 4;
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
    /// The number of the pattern.
    order: u16,
}

/// One of a rule's patterns.
#[derive(Debug)]
struct AnchoredPattern {
    rule: usize,
    text: &'static str,
    /// Whether every match begins with a literal of the first set.
    begins: bool,
    /// How far from a match's beginning a literal of the first set stands at most.
    lead: u16,
    /// How long a match is at most.
    length: u16,
    /// A sign that every match holds; 0 for none.
    sign: u8,
    /// For each set, how far behind a literal of the set before it one stands at most.
    distances: [u16; MOST_SETS],
    /// The number of the last set.
    last: u8,
    compiled: OnceLock<CompiledPattern>,
}

/// The memory of one search.
#[derive(Debug, Default)]
struct SearchScratch {
    caches: Vec<Vec<Cache>>,
    /// Every literal in the text: its place and number.
    found: Vec<(u32, u16)>,
    /// For each pattern, what is known of it in the block that is looked at.
    progress: Vec<PatternProgress>,
    /// Where patterns are to be tried in that block.
    candidates: Vec<Candidate>,
    /// For each rule, its hits.
    count: Vec<u16>,
}

/// A pattern in one block, which is read from its end to its beginning.
#[derive(Clone, Copy, Debug, Default)]
struct PatternProgress {
    /// The block's number, plus one: what was noted for another counts for nothing.
    block: u32,
    /// For each set, the foremost literal behind which those of all later sets stand near enough.
    chains: [u32; MOST_SETS],
    /// Where the pattern is to be searched for, among the candidates.
    candidate: u32,
    tries: u16,
}

/// Where a pattern is to be tried.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    pattern: u16,
    /// The places of the first and the last literal of the first set that others stand near enough to.
    from: u32,
    to: u32,
}

/// No place in a text.
const NOWHERE: u32 = u32::MAX;

impl PatternEngine {
    pub(crate) fn new(rules: Vec<&'static PatternRule>) -> Self {
        let mut words = LiteralTable::default();
        let mut patterns = Vec::new();
        for (number, (rule, anchors)) in rules.iter().zip(anchors_by_rule()).enumerate() {
            for (text, anchors) in rule.patterns.iter().zip(anchors) {
                let PatternAnchors { begins, lead, length, sign, sets } = anchors;
                let Ok(pattern) = u16::try_from(patterns.len()) else { continue };
                let mut distances = [0; MOST_SETS];
                let mut last = 0;
                for ((number, set), distance) in (0_u8..).zip(sets).zip(&mut distances) {
                    (*distance, last) = (set.most, number);
                    for word in set.literals {
                        words.entry(word).0.push((pattern, number));
                    }
                }
                let compiled = OnceLock::new();
                patterns.push(AnchoredPattern {
                    rule: number,
                    text,
                    begins,
                    lead,
                    length,
                    sign,
                    distances,
                    last,
                    compiled,
                });
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
    pub(crate) fn find_signals(&self, text: &[u8]) -> TextSignals {
        let mut signals = TextSignals::default();
        self.literals
            .find(text, |_, literal| signals.add(self.signals.get(literal).copied().unwrap_or_default()));
        signals
    }

    /// How often any of them stands in a text.
    pub(crate) fn count_literals(&self, text: &[u8]) -> usize {
        let mut count = 0;
        self.literals.find(text, |_, _| count += 1);
        count
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
            let window = in_window..in_block + position(&found, in_block, block.window.end);
            let place = SearchPlace { text, block, number };
            self.find_candidates(&found, window, &place, &mut scratch);
            let mut candidates = std::mem::take(&mut scratch.candidates);
            let before = hits.len();
            for candidate in candidates.drain(..).rev() {
                complete &= self.attempt(candidate, &place, &mut scratch, &mut hits);
            }
            scratch.candidates = candidates;
            // In the order in which they stand there, whatever they were found by.
            if let Some(own) = hits.get_mut(before..) {
                own.sort_by_key(|hit| (hit.range.start, hit.order));
            }
        }
        found.clear();
        scratch.found = found;
        self.scratch.lock().unwrap_or_else(PoisonError::into_inner).push(scratch);
        SearchResult { hits, complete, signals, told }
    }

    /// Where patterns are to be tried in a block, by the literals that stand in its window. These are read from the last to the first, so that
    /// at each the nearest of the next set is known.
    fn find_candidates(
        &self,
        found: &[(u32, u16)],
        window: Range<usize>,
        at: &SearchPlace<'_>,
        scratch: &mut SearchScratch,
    ) {
        let small = |place: usize| u32::try_from(place).unwrap_or(NOWHERE);
        let stamp = small(at.number + 1);
        let (start, end) = (small(at.block.range.start), small(at.block.range.end));
        let literals = found.get(window).unwrap_or_default();
        for (place, literal) in literals.iter().rev() {
            let place = *place;
            let is_own = (start..end).contains(&place);
            for (number, set) in self.owners.get(usize::from(*literal)).into_iter().flatten() {
                let (Some(pattern), Some(progress)) =
                    (self.patterns.get(usize::from(*number)), scratch.progress.get_mut(usize::from(*number)))
                else {
                    continue;
                };
                if progress.block != stamp {
                    *progress = PatternProgress::new(stamp);
                }
                // A match belongs to the block in which it begins; its first literal may stand behind that.
                let begins_here = is_own || (place >= end && place - end < u32::from(pattern.lead));
                if !progress.extend(pattern, *set, place) || *set > 0 || !begins_here {
                    continue;
                }
                if pattern.begins {
                    scratch.candidates.push(Candidate { pattern: *number, from: place, to: place });
                } else if let Some(candidate) = scratch.candidates.get_mut(progress.candidate as usize) {
                    candidate.from = place;
                } else {
                    progress.candidate = small(scratch.candidates.len());
                    scratch.candidates.push(Candidate { pattern: *number, from: place, to: place });
                }
            }
        }
    }

    /// Tries one pattern at one place; whether all that it matched was noted.
    fn attempt(
        &self,
        candidate: Candidate,
        at: &SearchPlace<'_>,
        scratch: &mut SearchScratch,
        hits: &mut Vec<PatternHit>,
    ) -> bool {
        let number = usize::from(candidate.pattern);
        let (Some(pattern), Some(progress)) = (self.patterns.get(number), scratch.progress.get_mut(number))
        else {
            return true;
        };
        let limit = if pattern.begins { MAX_TRIES } else { 1 };
        if progress.tries >= limit {
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
        // A rule of which there was one hit too many is told to be so; more of them change nothing.
        if !rule.scope.admits(at.block) || usize::from(*count) > MAX_HITS {
            return true;
        }
        let window = &at.block.window;
        let (from, to) = (candidate.from as usize, candidate.to as usize);
        let reach = pattern.reach(from, to, window);
        if pattern.sign != 0 && !pattern.begins && !holds(at.text, &reach, pattern.sign) {
            return true;
        }
        let compiled = pattern.compiled.get_or_init(|| CompiledPattern::new(pattern.text));
        if caches.is_empty() {
            *caches = compiled.caches();
        }
        let found = if pattern.begins && progress.tries < limit {
            let end = window.end.min(from + OVERLAP);
            compiled.at(caches, at.text, from..end).into_iter().collect()
        } else if pattern.begins {
            compiled.find_all(caches, at.text, from..window.end)
        } else {
            compiled.find_all(caches, at.text, reach)
        };
        for range in found {
            if self.is_near(pattern.rule, at.text, window, &range) {
                *count += 1;
                if usize::from(*count) > MAX_HITS {
                    return false;
                }
                hits.push(PatternHit { rule, range, block: at.number, order: candidate.pattern });
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

impl AnchoredPattern {
    /// Where matches lie whose literals of the first set stand between two places.
    fn reach(&self, from: usize, to: usize, window: &Range<usize>) -> Range<usize> {
        let start = if self.lead == ANY { 0 } else { from.saturating_sub(usize::from(self.lead)) };
        let end = if self.length == ANY { window.end } else { to + usize::from(self.length) };
        start.max(window.start)..end.min(window.end)
    }
}

impl PatternProgress {
    fn new(block: u32) -> Self {
        Self { block, chains: [NOWHERE; MOST_SETS], candidate: NOWHERE, tries: 0 }
    }

    /// Takes a literal of a set that stands before all that were taken so far; whether one of each later set follows it near enough.
    fn extend(&mut self, pattern: &AnchoredPattern, set: u8, place: u32) -> bool {
        let set = usize::from(set);
        let next = self.chains.get(set + 1).zip(pattern.distances.get(set + 1));
        let follows = set == usize::from(pattern.last)
            || next.is_some_and(|(near, most)| {
                *near != NOWHERE && (*most == ANY || near - place <= u32::from(*most))
            });
        if let Some(chain) = self.chains.get_mut(set).filter(|_| follows) {
            *chain = place;
        }
        follows
    }
}

/// Whether a byte stands in a part of a text.
fn holds(text: &[u8], range: &Range<usize>, byte: u8) -> bool {
    text.get(range.clone()).is_some_and(|part| memchr::memchr(byte, part).is_some())
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
}

impl RuleScope {
    fn admits(self, block: &TextBlock) -> bool {
        match self {
            Self::Words => !matches!(block.role, PassageRole::Code | PassageRole::Data),
            // A command in a sentence counts too: agents run what they are told to.
            Self::Code | Self::Anywhere => true,
        }
    }
}
