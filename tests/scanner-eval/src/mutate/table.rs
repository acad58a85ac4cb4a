//! Counting mutants, and what is printed of them.

use std::collections::BTreeMap;

use skillsandbox_scanner::{FindingStatus, ScanVerdict};

use crate::corpus::share;
use crate::tables::{print_head, print_row};

use super::skill::{MutatedSkill, OriginalSkill};

/// Mutants in a hundred that are still to be BLOCKED, and those that are not to be SAFE.
const MIN_BLOCKED: usize = 80;
const MIN_WARNED: usize = 97;
/// How many families are named of a rule.
const WORST: usize = 5;
/// How many rules are shown.
const RULES: usize = 25;

/// Mutants of one mutation, and how many were still found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct VerdictCount {
    /// Mutants of skills that were BLOCKED for what was rewritten, and for nothing else.
    pub(crate) of_blocked: usize,
    pub(crate) blocked: usize,
    /// Mutants of skills that were flagged for what was rewritten, and for nothing else.
    pub(crate) of_all: usize,
    pub(crate) warned: usize,
    /// For benign skills: as they were.
    blocked_before: usize,
    warned_before: usize,
}

/// What one family did to one rule.
#[derive(Debug, Clone, Copy, Default)]
struct RuleSurvival {
    of: usize,
    /// The rule itself still matched, in the open or after decoding.
    kept: usize,
    /// It did not, and the skill came off with a milder verdict.
    got_away: usize,
}

/// One family's mutants.
#[derive(Debug)]
pub(crate) struct MutationTally {
    family: &'static str,
    counts: BTreeMap<&'static str, VerdictCount>,
    rules: BTreeMap<String, RuleSurvival>,
    got_away: Vec<String>,
}

impl MutationTally {
    pub(crate) fn new(family: &'static str) -> Self {
        Self { family, counts: BTreeMap::new(), rules: BTreeMap::new(), got_away: Vec::new() }
    }

    /// Counts a mutant of a flagged skill; whether it counts at all: not where something else keeps the verdict.
    pub(crate) fn add(
        &mut self,
        original: &OriginalSkill,
        name: &'static str,
        mutant: &MutatedSkill,
    ) -> bool {
        let verdict = mutant.report.verdict;
        let count = self.counts.entry(name).or_default();
        let could_unblock = original.verdict == ScanVerdict::Blocked && mutant.floor < FindingStatus::Block;
        let could_clear = mutant.floor == FindingStatus::Pass;
        if could_unblock {
            count.of_blocked += 1;
            count.blocked += usize::from(verdict == ScanVerdict::Blocked);
        }
        if could_clear {
            count.of_all += 1;
            count.warned += usize::from(verdict > ScanVerdict::Safe);
        }
        let mut seen: Vec<&str> = Vec::new();
        for found in mutant.about.iter().map(|at| &original.found[*at]) {
            if mutant.floor >= found.status || seen.contains(&found.rule.as_str()) {
                continue;
            }
            seen.push(&found.rule);
            let kept = mutant.report.findings.iter().any(|now| {
                (now.rule == found.rule && now.status >= found.status)
                    || (!now.decoded_from.is_empty() && now.why.starts_with(&found.why))
            });
            let fell = verdict < needed(found.status);
            let rule = self.rules.entry(found.rule.clone()).or_default();
            rule.of += 1;
            rule.kept += usize::from(kept);
            rule.got_away += usize::from(fell);
            if fell && seen.len() == 1 {
                let shown: String = mutant.shown.escape_debug().take(200).collect();
                self.got_away.push(format!(
                    "{name}, {}, now {}: {shown}\n      {}",
                    found.rule,
                    verdict.as_str(),
                    original.path
                ));
            }
        }
        could_unblock || could_clear
    }

    /// Counts a mutant of a benign skill, beside what the skill itself comes to.
    pub(crate) fn compare(&mut self, original: &OriginalSkill, name: &'static str, mutant: &MutatedSkill) {
        let count = self.counts.entry(name).or_default();
        count.of_all += 1;
        count.blocked_before += usize::from(original.verdict == ScanVerdict::Blocked);
        count.warned_before += usize::from(original.verdict > ScanVerdict::Safe);
        count.blocked += usize::from(mutant.report.verdict == ScanVerdict::Blocked);
        count.warned += usize::from(mutant.report.verdict > ScanVerdict::Safe);
    }

    /// All mutations of the family together.
    pub(crate) fn total(&self) -> VerdictCount {
        self.counts.values().fold(VerdictCount::default(), |sum, count| VerdictCount {
            of_blocked: sum.of_blocked + count.of_blocked,
            blocked: sum.blocked + count.blocked,
            of_all: sum.of_all + count.of_all,
            warned: sum.warned + count.warned,
            blocked_before: sum.blocked_before + count.blocked_before,
            warned_before: sum.warned_before + count.warned_before,
        })
    }
}

/// The verdict that a finding of this status leads to.
fn needed(status: FindingStatus) -> ScanVerdict {
    match status {
        FindingStatus::Block => ScanVerdict::Blocked,
        FindingStatus::Warn => ScanVerdict::Warning,
        FindingStatus::Pass => ScanVerdict::Safe,
    }
}

/// The skills before anything is done to them.
pub(crate) fn originals(malicious: &[OriginalSkill]) {
    let of = |verdict| malicious.iter().filter(|one| one.verdict == verdict).count();
    println!(
        "{} malicious skills: {} BLOCKED, {} at WARNING, {} missed and not mutated",
        malicious.len(),
        of(ScanVerdict::Blocked),
        of(ScanVerdict::Warning),
        of(ScanVerdict::Safe)
    );
}

/// What is left of the recall, by family and mutation, beside the targets.
pub(crate) fn recall(tallies: &[MutationTally], is_markdown: bool) {
    println!();
    print_head(is_markdown, &["family", "of", "still BLOCKED", "target", "of", "not SAFE", "target"]);
    let line = |name: &str, count: VerdictCount| {
        let cells = [
            name.to_owned(),
            count.of_blocked.to_string(),
            share(count.blocked, count.of_blocked),
            compare(count.blocked, count.of_blocked, MIN_BLOCKED),
            count.of_all.to_string(),
            share(count.warned, count.of_all),
            compare(count.warned, count.of_all, MIN_WARNED),
        ];
        print_row(is_markdown, &cells);
    };
    for tally in tallies {
        line(tally.family, tally.total());
        for (name, count) in tally.counts.iter().filter(|_| !is_markdown) {
            line(&format!("  {name}"), *count);
        }
    }
}

/// A target, and whether it is reached.
fn compare(part: usize, all: usize, target: usize) -> String {
    let word = if all == 0 || part * 100 >= all * target { "reached" } else { "not reached" };
    format!("{target} %: {word}")
}

/// Rules by how many mutants got away from them; in how many of its mutants each still matched.
pub(crate) fn rules(tallies: &[MutationTally]) {
    let mut all: BTreeMap<&str, RuleSurvival> = BTreeMap::new();
    for (name, kept) in tallies.iter().flat_map(|tally| &tally.rules) {
        let sum = all.entry(name).or_default();
        *sum = RuleSurvival {
            of: sum.of + kept.of,
            kept: sum.kept + kept.kept,
            got_away: sum.got_away + kept.got_away,
        };
    }
    let mut order: Vec<(&str, RuleSurvival)> =
        all.into_iter().filter(|(_, kept)| kept.got_away > 0).collect();
    order.sort_by_key(|(name, kept)| (std::cmp::Reverse(kept.got_away), *name));
    println!(
        "\nrules that lose most: mutants, in how many the rule itself still matched, how many got away, and the families by which most did"
    );
    for (name, kept) in order.iter().take(RULES) {
        let mut families: Vec<(usize, &str)> = tallies
            .iter()
            .filter_map(|tally| Some((tally.rules.get(*name)?.got_away, tally.family)))
            .filter(|(away, _)| *away > 0)
            .collect();
        families.sort_by_key(|(away, family)| (std::cmp::Reverse(*away), *family));
        let worst: Vec<String> =
            families.iter().take(WORST).map(|(away, family)| format!("{family} {away}")).collect();
        println!("{name:<36} {:>5} {:>5} {:>5}  {}", kept.of, kept.kept, kept.got_away, worst.join(", "));
    }
}

/// Some mutants that got away, for whoever writes the next rule. They are shown escaped.
pub(crate) fn got_away(tallies: &[MutationTally], show: usize) {
    for tally in tallies.iter().filter(|_| show > 0) {
        println!("\ngot away by {}:", tally.family);
        for line in tally.got_away.iter().take(show) {
            println!("  {line}");
        }
    }
}

/// False alarms before and after.
pub(crate) fn alarms(tallies: &[MutationTally]) {
    println!(
        "\nbenign skills, some lines rewritten as an honest author might have: false alarms before and after"
    );
    println!(
        "{:<28} {:>5}  {:>8} {:>24}  {:>8} {:>24}",
        "", "of", "before", "BLOCKED", "before", "WARNING or worse"
    );
    let line = |name: &str, count: VerdictCount| {
        #[allow(clippy::cast_precision_loss)] // some thousands
        let before = |part: usize| format!("{:.1} %", part as f64 * 100.0 / count.of_all.max(1) as f64);
        println!(
            "{name:<28} {:>5}  {:>8} {:>24}  {:>8} {:>24}",
            count.of_all,
            before(count.blocked_before),
            share(count.blocked, count.of_all),
            before(count.warned_before),
            share(count.warned, count.of_all)
        );
    };
    for tally in tallies {
        line(tally.family, tally.total());
        for (name, count) in &tally.counts {
            line(&format!("  {name}"), *count);
        }
    }
}
