//! Evidence that adds up. A skill is blocked by one certain sign, or by several that are independent of each other and together weigh enough.
//!
//! Every finding that counts is a sign. It weighs what `weights.rs` says of its rule, in hundredths of log-odds; less where it stands in an
//! example or where something made it milder than its rule is. No weight is negative, a rule counts once however often it is met, and of all
//! rules that met one line only one counts there: what is counted is the heaviest choice of rules and lines in which no rule and no line comes
//! twice. That choice can only grow with each finding, so nothing that the author of a skill adds takes weight away.
//!
//! The sum makes a verdict worse, never better: `docs/evidence.md` has an example.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::digest::{hex, sha256};
use crate::finding::Finding;
use crate::kind::is_example_file;
use crate::report::ScanVerdict;
use crate::rule::{FindingStatus, RuleInfo};
use crate::weights::{BLOCK_AT, WARN_AT, WEIGHTS};

/// Rules that have to warn by themselves for a sum to block, where no sign is certain.
const MIN_SIGNS: usize = 2;
/// Most places that are kept of a rule. More than there are rules, so that each finds a place of its own if it has that many.
const MAX_PLACES: usize = 512;

/// What the findings of a skill add up to. All weights are in hundredths of log-odds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ScanEvidence {
    /// The weights of all signs together.
    pub sum: u32,
    /// From which sum on two signs or more block.
    pub block_at: u32,
    /// From which sum on signs warn that would not alone.
    pub warn_at: u32,
    /// How many rules warn by themselves, without anything that makes them milder. Notes and mentions add to what warnings weigh, and block nothing
    /// without two of them.
    pub warnings: usize,
    /// The verdict without the sum: that of the gravest finding.
    pub alone: ScanVerdict,
    /// The signs that count, heaviest first: one a rule, one a line.
    pub signs: Vec<EvidenceSign>,
}

/// One sign: a rule, and where it was met.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct EvidenceSign {
    /// The rule.
    pub rule: String,
    /// What it weighs here, in hundredths of log-odds.
    pub weight: u32,
    /// Whether it weighs less than its rule, because it was made milder or stands in an example.
    pub is_mild: bool,
    /// The file; empty for the skill as a whole.
    pub file: String,
    /// The line; 0 for a file or a skill as a whole.
    pub line: usize,
}

/// Why a finding amounts to more than its rule alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct FindingRaise {
    /// What it would amount to alone.
    pub from: FindingStatus,
    /// The signs that are counted with it.
    pub together_with: Vec<EvidenceSign>,
}

impl EvidenceSign {
    /// A line for people: `CHECK-04/dns-exfil (1.20)`.
    #[must_use]
    pub fn describe(&self) -> String {
        format!("{} ({}.{:02})", self.rule, self.weight / 100, self.weight % 100)
    }
}

impl FindingRaise {
    /// A line for people, for a finding that was raised to this status.
    #[must_use]
    pub fn describe(&self, status: FindingStatus) -> String {
        let done = match status {
            FindingStatus::Block => "blocked",
            FindingStatus::Warn | FindingStatus::Pass => "warned of",
        };
        if self.together_with.is_empty() {
            return format!("{done} for its weight");
        }
        let others: Vec<String> = self.together_with.iter().map(EvidenceSign::describe).collect();
        format!("{done} together with: {}", others.join(", "))
    }
}

/// Where a sign stands: a line of a file; or the whole, which each rule speaks of for itself.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum SignPlace {
    Line(String, usize),
    Whole(String),
}

/// How a rule was met.
#[derive(Clone, Debug, PartialEq, Eq)]
struct RuleSign {
    info: &'static RuleInfo,
    /// Whether every finding of it was made milder.
    is_mild: bool,
    /// Whether one of its findings is a warning by itself, or more, that nothing made milder.
    warns: bool,
    places: BTreeSet<SignPlace>,
}

/// All signs of a skill, by rule, before they are weighed.
#[doc(hidden)]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SignSet {
    rules: BTreeMap<String, RuleSign>,
}

impl SignSet {
    /// Takes a finding in.
    pub(crate) fn add(&mut self, finding: &Finding) {
        // What its own check calls a note of a graver rule is no sign.
        let is_note =
            finding.status_alone() == FindingStatus::Pass && finding.info().status > FindingStatus::Pass;
        if is_note && finding.mitigations.is_empty() {
            return;
        }
        let is_mild = finding.status_alone() < finding.info().status || is_example_file(&finding.file);
        let place = match finding.line {
            0 => SignPlace::Whole(finding.file.clone()),
            line => SignPlace::Line(finding.file.clone(), line),
        };
        let rule = self.rules.entry(finding.rule.clone()).or_insert_with(|| RuleSign {
            info: finding.info(),
            is_mild: true,
            warns: false,
            places: BTreeSet::new(),
        });
        rule.is_mild &= is_mild;
        let is_plain = finding.mitigations.is_empty() && !is_example_file(&finding.file);
        rule.warns |= is_plain && finding.status_alone() > FindingStatus::Pass;
        if rule.places.len() < MAX_PLACES {
            rule.places.insert(place);
        }
    }

    /// The rules that were met, each with whether all its findings were made milder.
    pub fn rules(&self) -> impl Iterator<Item = (&'static RuleInfo, bool)> {
        self.rules.values().map(|rule| (rule.info, rule.is_mild))
    }

    /// How many rules warn by themselves.
    #[must_use]
    pub fn count_warnings(&self) -> usize {
        self.rules.values().filter(|rule| rule.warns).count()
    }

    /// The heaviest choice of rules and lines in which neither comes twice, heaviest first. Rules without weight are left out.
    ///
    /// Rules that can have lines of their own at the same time form a matroid, so taking the heaviest rule first and moving those before it
    /// to other lines where that makes room is not only a good choice but the best one.
    #[must_use]
    pub fn weigh(&self, weight: impl Fn(&RuleInfo, bool) -> u32) -> Vec<EvidenceSign> {
        let mut rules: Vec<(u32, &String, &RuleSign)> =
            self.rules.iter().map(|(name, rule)| (weight(rule.info, rule.is_mild), name, rule)).collect();
        rules.retain(|(weight, ..)| *weight > 0);
        rules.sort_by(|a, b| {
            let status = |rule: &RuleSign| rule.info.status;
            b.0.cmp(&a.0).then(status(b.2).cmp(&status(a.2))).then(a.1.cmp(b.1))
        });
        let mut choice = PlaceChoice::new(&rules);
        for number in 0..rules.len() {
            let mut tried = vec![false; choice.places.len()];
            choice.find_place(number, &mut tried);
        }
        let mut signs: Vec<(usize, EvidenceSign)> = Vec::new();
        for (place, number) in choice.places.iter().zip(&choice.taken) {
            let Some(number) = number else { continue };
            let Some((weight, name, rule)) = rules.get(*number) else { continue };
            let (file, line) = match place {
                SignPlace::Line(file, line) => (file.clone(), *line),
                SignPlace::Whole(file) => (file.clone(), 0),
            };
            let rule =
                EvidenceSign { rule: (*name).clone(), weight: *weight, is_mild: rule.is_mild, file, line };
            signs.push((*number, rule));
        }
        signs.sort_by_key(|(number, _)| *number);
        signs.into_iter().map(|(_, sign)| sign).collect()
    }
}

/// Rules that are being given lines.
struct PlaceChoice<'s> {
    /// All places. What is said of a whole is a place for each rule.
    places: Vec<&'s SignPlace>,
    /// The places of each rule, heaviest rule first, by their numbers.
    of_rules: Vec<Vec<usize>>,
    /// Which rule has which place.
    taken: Vec<Option<usize>>,
}

impl<'s> PlaceChoice<'s> {
    /// Numbers the places.
    fn new(rules: &[(u32, &'s String, &'s RuleSign)]) -> Self {
        let mut numbers: BTreeMap<(Option<usize>, &SignPlace), usize> = BTreeMap::new();
        let mut places = Vec::new();
        let mut of_rules = Vec::new();
        for (number, (_, _, rule)) in rules.iter().enumerate() {
            // As many places as there are rules are always enough for one to be free.
            let own = rule.places.iter().take(rules.len()).map(|place| {
                let whole = matches!(place, SignPlace::Whole(_)).then_some(number);
                *numbers.entry((whole, place)).or_insert_with(|| {
                    places.push(place);
                    places.len() - 1
                })
            });
            of_rules.push(own.collect());
        }
        let taken = vec![None; places.len()];
        Self { places, of_rules, taken }
    }

    /// Gives a rule a place, if need be by moving others; whether there was one. It goes no deeper than there are rules.
    fn find_place(&mut self, number: usize, tried: &mut [bool]) -> bool {
        for at in 0..self.of_rules.get(number).map_or(0, Vec::len) {
            let Some(place) = self.of_rules.get(number).and_then(|places| places.get(at)).copied() else {
                break;
            };
            let Some(was_tried) = tried.get_mut(place) else { continue };
            if std::mem::replace(was_tried, true) {
                continue;
            }
            let is_free = match self.taken.get(place).copied().flatten() {
                Some(holder) => self.find_place(holder, tried),
                None => true,
            };
            if is_free {
                if let Some(taken) = self.taken.get_mut(place) {
                    *taken = Some(number);
                }
                return true;
            }
        }
        false
    }
}

impl RuleInfo {
    /// What a sign of this rule weighs, in hundredths of log-odds: plain, or where something made it milder.
    #[must_use]
    pub fn weight(&self, is_mild: bool) -> u32 {
        let name = self.name();
        match WEIGHTS.binary_search_by(|(known, ..)| (*known).cmp(name.as_str())) {
            Ok(at) => WEIGHTS.get(at).map_or(0, |(_, plain, mild)| if is_mild { *mild } else { *plain }),
            Err(_) => self.default_weight(is_mild),
        }
    }

    /// What it weighs where nothing was fitted: what fitting starts from, and what a rule that is newer than the weights has.
    #[doc(hidden)]
    #[must_use]
    pub fn default_weight(&self, is_mild: bool) -> u32 {
        match (self.status, is_mild) {
            (FindingStatus::Block, false) => 250,
            (FindingStatus::Block, true) | (FindingStatus::Warn, false) => 100,
            (FindingStatus::Warn, true) | (FindingStatus::Pass, false) => 40,
            (FindingStatus::Pass, true) => 20,
        }
    }
}

impl ScanEvidence {
    /// Of nothing.
    pub(crate) fn empty() -> Self {
        let alone = ScanVerdict::Safe;
        Self { sum: 0, block_at: BLOCK_AT, warn_at: WARN_AT, warnings: 0, alone, signs: Vec::new() }
    }

    /// What signs add up to.
    pub(crate) fn of(signs: &SignSet, alone: ScanVerdict) -> Self {
        let warnings = signs.count_warnings();
        let signs = signs.weigh(RuleInfo::weight);
        let sum = signs.iter().fold(0_u32, |sum, sign| sum.saturating_add(sign.weight));
        Self { sum, warnings, alone, signs, ..Self::empty() }
    }

    /// A line for people: the sum, the bounds, the signs.
    #[must_use]
    pub fn describe(&self) -> String {
        let number = |weight: u32| format!("{}.{:02}", weight / 100, weight % 100);
        let signs: Vec<String> = self.signs.iter().map(EvidenceSign::describe).collect();
        format!(
            "The signs weigh {} together (from {} on they warn, from {} on two warnings or more block): {}",
            number(self.sum),
            number(self.warn_at),
            number(self.block_at),
            signs.join(", ")
        )
    }

    /// What the sum amounts to.
    pub(crate) fn status(&self) -> FindingStatus {
        if self.sum >= self.block_at && self.warnings >= MIN_SIGNS {
            FindingStatus::Block
        } else if self.sum >= self.warn_at {
            FindingStatus::Warn
        } else {
            FindingStatus::Pass
        }
    }

    /// Raises the heaviest finding that is listed and counts to what the sum amounts to.
    pub(crate) fn raise(&self, findings: &mut [Finding]) {
        let status = self.status();
        for sign in &self.signs {
            let of_rule = |finding: &&mut Finding| finding.counts() && finding.rule == sign.rule;
            // They stand in the order of their gravity, so the first is one that nothing made milder, if there is one.
            if let Some(finding) = findings.iter_mut().find(of_rule) {
                if finding.status < status {
                    let others = self.signs.iter().filter(|other| other.rule != sign.rule);
                    let raise =
                        FindingRaise { from: finding.status, together_with: others.cloned().collect() };
                    finding.raised_by = Some(raise);
                    finding.status = status;
                    finding.grade();
                }
                return;
            }
        }
    }
}

/// A number that changes with any weight.
pub(crate) fn compute_weights_hash() -> String {
    let rows = WEIGHTS.iter().map(|(rule, plain, mild)| format!("{rule} {plain} {mild}\n"));
    let text: String = [format!("{BLOCK_AT} {WARN_AT}\n")].into_iter().chain(rows).collect();
    hex(&sha256(&[text.as_bytes()]))
}

#[cfg(test)]
mod tests;
