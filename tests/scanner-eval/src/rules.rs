//! How each rule does on sources that it was probably not written on, and whether it may block.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::bail;
use skillsandbox_scanner::{FindingStatus, RuleInfo};

use crate::fit::RuleKey;
use crate::folds::WeightModel;
use crate::judged::{JudgedSkill, RuleFire};
use crate::tables::{print_head, print_row, print_title};

/// A rule that blocks has to be right in so many of a hundred cases, out of source.
const MIN_PRECISION: usize = 90;
/// So many false blocks are not chance.
const MIN_FALSE: usize = 2;

/// Rules that block whatever their precision here is, where they are met in `SKILL.md` itself, and why.
const PROMISED: &[(&str, &str)] = &[
    (
        "CHECK-01/override",
        "row 20 promises it: `ignore all previous instructions`, `disregard your system prompt`",
    ),
    (
        "CHECK-01/persona",
        "row 20 promises it: `you are now DAN`, `enter DAN mode`, `pretend there are no restrictions`",
    ),
    ("CHECK-01/safety-off", "row 20 promises it: `bypass restrictions`, `override safety`"),
    ("CHECK-03/unknown-tool", "row 24 promises it: a tool outside the list"),
    ("CHECK-05/combined", "row 34 promises it: two techniques together"),
];

/// How often a rule was met.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RuleCount {
    /// Skills: malicious and benign.
    skills: (usize, usize),
    /// Families of malicious skills.
    families: BTreeSet<String>,
    /// Skills that it blocks, by family: malicious and benign.
    blocks: BTreeMap<String, (usize, usize)>,
    /// Skills that nothing else blocks: malicious and benign.
    alone: (usize, usize),
}

/// Adds one to the side of a class.
fn add(side: &mut (usize, usize), is_malicious: bool) {
    *if is_malicious { &mut side.0 } else { &mut side.1 } += 1;
}

impl RuleCount {
    /// Blocks without the family in which it blocks most malicious skills: the one that it was probably written on.
    pub(crate) fn outside(&self) -> (usize, usize) {
        let top = self.blocks.iter().max_by_key(|(name, (bad, _))| (*bad, std::cmp::Reverse(*name)));
        let top = top.filter(|(_, (bad, _))| *bad > 0).map(|(name, _)| name);
        let others = self.blocks.iter().filter(|(name, _)| Some(*name) != top);
        others.fold((0, 0), |sum, (_, (bad, good))| (sum.0 + bad, sum.1 + good))
    }

    /// Whether it blocks more often wrongly than is allowed.
    fn is_imprecise(&self) -> bool {
        let (bad, good) = self.outside();
        good >= MIN_FALSE && bad * 100 < (bad + good) * MIN_PRECISION
    }
}

/// Counts every rule. Contested labels count for nothing.
pub(crate) fn count_rules<'s>(
    skills: impl IntoIterator<Item = &'s JudgedSkill>,
) -> BTreeMap<RuleKey, RuleCount> {
    let mut counts: BTreeMap<RuleKey, RuleCount> = BTreeMap::new();
    for skill in skills.into_iter().filter(|skill| !skill.is_contested) {
        let blocking = skill.fires.iter().filter(|fire| fire.status == FindingStatus::Block).count();
        for fire in &skill.fires {
            let count = counts.entry((fire.rule.check, fire.rule.id)).or_default();
            add(&mut count.skills, skill.is_malicious);
            if skill.is_malicious {
                count.families.insert(skill.family.clone());
            }
            if fire.status == FindingStatus::Block && !is_promised(fire) {
                add(count.blocks.entry(skill.family.clone()).or_default(), skill.is_malicious);
            }
            if fire.status == FindingStatus::Block && blocking == 1 {
                add(&mut count.alone, skill.is_malicious);
            }
        }
    }
    counts
}

/// Rules that block and are wrong too often, by some skills.
pub(crate) fn find_imprecise<'s>(skills: impl IntoIterator<Item = &'s JudgedSkill>) -> BTreeSet<RuleKey> {
    let counts = count_rules(skills).into_iter();
    counts.filter(|(_, count)| count.is_imprecise()).map(|(rule, _)| rule).collect()
}

/// Whether a row of `docs/behaviours.md` promises that this blocks, or it states a fact.
pub(crate) fn is_promised(fire: &RuleFire) -> bool {
    let name = fire.rule.name();
    fire.rule.is_fact
        || (fire.file.eq_ignore_ascii_case("SKILL.md") && PROMISED.iter().any(|(rule, _)| *rule == name))
}

/// A share in whole percents.
fn percent(part: usize, all: usize) -> String {
    (part * 100).checked_div(all).map_or_else(|| "-".to_owned(), |share| format!("{share} %"))
}

/// Prints every rule, those that accuse most benign skills first.
pub(crate) fn print_rules(skills: &[JudgedSkill], model: &WeightModel, is_markdown: bool) {
    let counts = count_rules(skills);
    let mut rules: Vec<(&RuleInfo, &RuleCount)> = counts
        .iter()
        .filter_map(|((check, id), count)| {
            Some((RuleInfo::find(&format!("{}/{id}", check.as_str()))?, count))
        })
        .collect();
    rules.sort_by_key(|(rule, count)| (std::cmp::Reverse(count.skills.1), rule.check, rule.id));
    print_title(is_markdown, "rules: whom they meet (malicious / benign)");
    let head = [
        "rule",
        "status",
        "skills",
        "families",
        "blocks out of source",
        "precision",
        "blocks alone",
        "weight",
    ];
    print_head(is_markdown, &head);
    for (rule, count) in rules {
        let (bad, good) = count.outside();
        let cells = [
            rule.name(),
            rule.status.as_str().to_owned(),
            format!("{} / {}", count.skills.0, count.skills.1),
            count.families.len().to_string(),
            format!("{bad} / {good}"),
            percent(bad, bad + good),
            format!("{} / {}", count.alone.0, count.alone.1),
            format!("{} ~ {}", model.weights.weigh(rule, false), model.weights.weigh(rule, true)),
        ];
        print_row(is_markdown, &cells);
    }
}

/// Fails where a rule blocks that is wrong too often out of source.
pub(crate) fn check_rules(skills: &[JudgedSkill]) -> anyhow::Result<()> {
    let mut faults = Vec::new();
    for ((check, id), count) in count_rules(skills) {
        if count.is_imprecise() {
            let (bad, good) = count.outside();
            let precision = percent(bad, bad + good);
            faults.push(format!("{}/{id}: {bad} malicious and {good} benign, {precision}", check.as_str()));
        }
    }
    if faults.is_empty() {
        println!(
            "\nevery rule that blocks is right in {MIN_PRECISION} % of the cases or more, out of source"
        );
        return Ok(());
    }
    bail!("rules that block and are wrong too often, out of source:\n  {}", faults.join("\n  "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(blocks: &[(&str, usize, usize)]) -> RuleCount {
        let blocks = blocks.iter().map(|(family, bad, good)| ((*family).to_owned(), (*bad, *good)));
        RuleCount { blocks: blocks.collect(), ..RuleCount::default() }
    }

    #[test]
    fn the_family_that_a_rule_was_written_on_says_nothing_about_it() {
        for (blocks, outside, is_imprecise) in [
            (&[("a", 50, 0), ("b", 18, 2)][..], (18, 2), false),
            (&[("a", 50, 0), ("b", 17, 2)], (17, 2), true),
            (&[("a", 50, 9), ("b", 9, 1)], (9, 1), false),
            (&[("a", 50, 0), ("b", 0, 2)], (0, 2), true),
            (&[("b", 0, 3)], (0, 3), true),
            (&[], (0, 0), false),
        ] {
            let count = count(blocks);
            assert_eq!((count.outside(), count.is_imprecise()), (outside, is_imprecise), "{blocks:?}");
        }
    }

    #[test]
    fn what_is_promised_exists_and_has_a_reason() {
        for (rule, why) in PROMISED {
            assert!(RuleInfo::find(rule).is_some() && !why.is_empty(), "{rule}");
        }
    }
}
