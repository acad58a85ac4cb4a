//! All rules over one text: one pass of literal search, then a pattern only where one of its literals stands.

use std::ops::Range;
use std::sync::OnceLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use regex::bytes::{Regex, RegexBuilder};

use crate::rule::{NEAR, Rule, Scope};
use crate::text::{Block, Role};

/// How often one rule is noted in one text. Whoever would hide a match behind harmless ones has to write more of them than
/// this, and then the search says that it is not complete.
const MAX_HITS: usize = 512;
/// A compiled pattern may not be larger; ours are far smaller.
const PATTERN_SIZE: usize = 4 << 20;

/// What a pattern may cache while it searches. With less, the larger ones fall back to a search that is ten times slower.
const DFA_SIZE: usize = 8 << 20;

/// Rules compiled for searching. Patterns are compiled when first needed: most never are.
#[derive(Debug)]
pub(crate) struct Engine {
    rules: Vec<&'static Rule>,
    patterns: Vec<OnceLock<Pattern>>,
    literals: AhoCorasick,
    /// For each literal, the rules it may begin.
    owners: Vec<Vec<u16>>,
}

/// A rule that matched, and where.
#[derive(Clone, Debug)]
pub(crate) struct Hit {
    pub(crate) rule: &'static Rule,
    pub(crate) range: Range<usize>,
    pub(crate) block: usize,
}

impl Engine {
    pub(crate) fn new(rules: Vec<&'static Rule>) -> Self {
        let mut words: Vec<&'static str> = Vec::new();
        let mut owners: Vec<Vec<u16>> = Vec::new();
        for (number, rule) in rules.iter().enumerate() {
            for anchor in rule.anchors {
                let at = words.iter().position(|word| word == anchor).unwrap_or_else(|| {
                    words.push(anchor);
                    owners.push(Vec::new());
                    words.len() - 1
                });
                if let (Some(list), Ok(number)) = (owners.get_mut(at), u16::try_from(number)) {
                    list.push(number);
                }
            }
        }
        #[allow(clippy::expect_used)] // a fixed set of short literals, built by every test
        let literals = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .match_kind(MatchKind::Standard)
            .kind(Some(AhoCorasickKind::DFA))
            .build(&words)
            .expect("the rules' literals fit an automaton");
        let patterns = rules.iter().map(|_| OnceLock::new()).collect();
        Self { rules, patterns, literals, owners }
    }

    fn pattern(&self, number: usize) -> Option<&Pattern> {
        let rule = self.rules.get(number)?;
        Some(self.patterns.get(number)?.get_or_init(|| Pattern::compile(rule)))
    }

    /// Every match of every rule; and whether that is all, or one matched more than [`MAX_HITS`] times.
    pub(crate) fn search(&self, text: &[u8], blocks: &[Block]) -> (Vec<Hit>, bool) {
        let mut hits = Vec::new();
        let mut complete = true;
        let mut count = vec![0_u16; self.rules.len()];
        // The block in which a rule was last tried, plus one.
        let mut tried = vec![0_u32; self.rules.len()];
        let mut current = 0;
        for found in self.literals.find_overlapping_iter(text) {
            while blocks.get(current).is_some_and(|block| block.range.end <= found.start()) {
                current += 1;
            }
            let Some(block) = blocks.get(current).filter(|block| block.range.start <= found.start()) else {
                continue;
            };
            let stamp = u32::try_from(current + 1).unwrap_or(u32::MAX);
            for number in self.owners.get(found.pattern().as_usize()).into_iter().flatten() {
                let number = usize::from(*number);
                let (Some(rule), Some(tried), Some(count)) =
                    (self.rules.get(number), tried.get_mut(number), count.get_mut(number))
                else {
                    continue;
                };
                if *tried == stamp || !rule.scope.admits(block) {
                    continue;
                }
                *tried = stamp;
                let window = text.get(block.window.clone()).unwrap_or_default();
                for matched in self.pattern(number).into_iter().flat_map(|pattern| pattern.find_all(window)) {
                    if usize::from(*count) >= MAX_HITS {
                        complete = false;
                        break;
                    }
                    *count += 1;
                    let start = block.window.start;
                    let range = start + matched.start..start + matched.end;
                    hits.push(Hit { rule, range, block: current });
                }
            }
        }
        (hits, complete)
    }
}

/// What a rule looks for, compiled.
#[derive(Debug)]
struct Pattern {
    pattern: Regex,
    near: Option<Regex>,
}

impl Pattern {
    fn compile(rule: &Rule) -> Self {
        let near = (!rule.near.is_empty()).then(|| compile(rule.near));
        Self { pattern: compile(rule.pattern), near }
    }

    /// The matches that count.
    fn find_all(&self, window: &[u8]) -> impl Iterator<Item = Range<usize>> {
        self.pattern.find_iter(window).map(|found| found.range()).filter(|found| {
            let before = window.get(found.start.saturating_sub(NEAR)..found.start).unwrap_or_default();
            let after = window.get(found.end..window.len().min(found.end + NEAR)).unwrap_or_default();
            self.near.as_ref().is_none_or(|near| near.is_match(before) || near.is_match(after))
        })
    }
}

fn compile(pattern: &str) -> Regex {
    #[allow(clippy::expect_used)] // a test compiles every pattern
    RegexBuilder::new(&expand(pattern))
        .case_insensitive(true)
        .unicode(false)
        .size_limit(PATTERN_SIZE)
        .dfa_size_limit(DFA_SIZE)
        .build()
        .expect("the rules' patterns compile")
}

/// `\_` stands for what separates two words, `<3>` for up to three words between two others.
pub(crate) fn expand(pattern: &str) -> String {
    // Not across the end of a sentence.
    const GAP: &str = r"[^a-z0-9.!?]{1,5}";
    let mut out = pattern.replace(r"\_", GAP);
    for words in 1..=9 {
        out = out.replace(&format!("<{words}>"), &format!(r"(?:{GAP}[a-z0-9'_./-]+){{0,{words}}}{GAP}"));
    }
    out
}

impl Scope {
    fn admits(self, block: &Block) -> bool {
        match self {
            Self::Anywhere => true,
            Self::Words => !matches!(block.role, Role::Code | Role::Data),
            // A command in a sentence counts too: agents run what they are told to.
            Self::Code => block.role != Role::Quotation || block.fenced,
        }
    }
}
