//! Reads `anchors.rs`: what is known of every match of every pattern.

use super::anchors::ANCHORS;

/// Stands for a distance that has no bound.
pub(crate) const ANY: u16 = u16::MAX;

/// What begins a rule, one of its patterns, a set of a pattern, and a literal of a set. No literal holds one of them.
#[cfg_attr(not(test), expect(dead_code, reason = "a test writes the table"))]
pub(crate) const SEPARATORS: [char; 4] = [RULE, PATTERN, SET, LITERAL];
const RULE: char = '\x03';
const PATTERN: char = '\x02';
const SET: char = '\x01';
const LITERAL: char = '\0';

/// Literals one of which every match holds.
#[derive(Debug, PartialEq)]
pub(crate) struct LiteralSet {
    /// How many bytes behind the literal of the set before it one begins at most.
    pub(crate) most: u16,
    pub(crate) literals: Vec<&'static str>,
}

/// What is known of every match of a pattern. What could not be read is as if nothing were known, so that the pattern is tried.
#[derive(Debug, PartialEq)]
pub(crate) struct PatternAnchors {
    /// Whether each begins with a literal of the first set.
    pub(crate) begins: bool,
    /// How far from its beginning a literal of the first set stands at most.
    pub(crate) lead: u16,
    /// How long it is at most.
    pub(crate) length: u16,
    /// A sign that each holds; 0 for none.
    pub(crate) sign: u8,
    /// The sets, in the order in which they stand in a match.
    pub(crate) sets: Vec<LiteralSet>,
}

/// The patterns of each rule, in the order of the registry.
pub(crate) fn anchors_by_rule() -> impl Iterator<Item = impl Iterator<Item = PatternAnchors>> {
    ANCHORS.split(RULE).skip(1).map(|rule| rule.split(PATTERN).skip(1).map(read_pattern))
}

fn read_pattern(text: &'static str) -> PatternAnchors {
    let mut parts = text.split(SET);
    let mut facts = parts.next().unwrap_or_default().split(' ');
    let begins = facts.next() == Some("true");
    let (lead, length) = (read_bound(facts.next()), read_bound(facts.next()));
    let sign = facts.next().and_then(|sign| sign.parse().ok()).unwrap_or(0);
    PatternAnchors { begins, lead, length, sign, sets: parts.map(read_set).collect() }
}

fn read_set(text: &'static str) -> LiteralSet {
    let mut words = text.split(LITERAL);
    LiteralSet { most: read_bound(words.next()), literals: words.collect() }
}

/// A number of bytes; `ANY` is written as that word.
fn read_bound(text: Option<&str>) -> u16 {
    text.and_then(|text| text.parse().ok()).unwrap_or(ANY)
}
