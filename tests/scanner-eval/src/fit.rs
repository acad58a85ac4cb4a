//! The fit of the weights: a logistic regression whose weights cannot be negative and are drawn towards what a rule's status says.
//!
//! A rule has two numbers: what it weighs where something made it milder, and how much more it weighs plain. Both are at least 0, so a plain
//! sign never weighs less than a mild one. Every family of sources counts the same within its class, so that a large one does not decide alone.

use std::collections::BTreeMap;

use skillsandbox_scanner::{CheckId, RuleInfo};

use crate::judged::JudgedSkill;

/// How many skills a family counts for.
const FAMILY_SIZE: f64 = 50.0;
/// A family of fewer skills than this counts for less.
const FULL_FAMILY: usize = 20;
/// How strongly weights are drawn towards their start: one over the variance, in log-odds.
const PULL: f64 = 1.0;
/// No sign weighs more, in log-odds.
const MOST: f64 = 6.0;
/// Rounds over all weights, at most.
const ROUNDS: usize = 400;
/// A round that changes no weight by more ends the fit.
const SETTLED: f64 = 1e-6;

/// A rule, as weights are looked up.
pub(crate) type RuleKey = (CheckId, &'static str);

/// What a fit is made of: rows of equal skills, each with how many of each family and class there are.
pub(crate) struct FitData {
    pub(crate) rules: Vec<&'static RuleInfo>,
    families: Vec<String>,
    rows: Vec<FitRow>,
    /// Malicious and benign skills, by family.
    sizes: Vec<(usize, usize)>,
}

/// Skills with the same signs.
struct FitRow {
    /// Numbers of weights: twice the rule's number, and one more for what it weighs plain.
    weights: Vec<usize>,
    /// Malicious and benign skills, by family.
    counts: Vec<(usize, usize)>,
}

/// What every rule weighs, in hundredths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FittedWeights {
    /// Plain and mild, by rule.
    by_rule: BTreeMap<RuleKey, (u32, u32)>,
}

impl FittedWeights {
    /// What a rule weighs.
    pub(crate) fn weigh(&self, rule: &RuleInfo, is_mild: bool) -> u32 {
        match self.by_rule.get(&(rule.check, rule.id)) {
            Some((_, mild)) if is_mild => *mild,
            Some((plain, _)) => *plain,
            None => rule.default_weight(is_mild),
        }
    }

    /// All that were fitted, plain and mild, in the order of the names.
    pub(crate) fn list(&self) -> impl Iterator<Item = (String, u32, u32)> {
        self.by_rule
            .iter()
            .map(|((check, id), (plain, mild))| (format!("{}/{id}", check.as_str()), *plain, *mild))
    }
}

impl FitData {
    /// From skills that were scanned. What is contested is left out.
    pub(crate) fn new(skills: &[JudgedSkill]) -> Self {
        let examples = skills.iter().filter(|skill| !skill.is_contested);
        Self::from_examples(examples.map(|skill| {
            (skill.family.as_str(), skill.is_malicious, skill.signs.rules().collect::<Vec<_>>())
        }))
    }

    /// From a family, a class and the rules with whether they are mild, for each skill.
    fn from_examples<'e>(
        examples: impl IntoIterator<Item = (&'e str, bool, Vec<(&'static RuleInfo, bool)>)>,
    ) -> Self {
        let examples: Vec<_> = examples.into_iter().collect();
        let mut families: Vec<String> = examples.iter().map(|(family, ..)| (*family).to_owned()).collect();
        families.sort();
        families.dedup();
        let mut rules: Vec<&'static RuleInfo> =
            examples.iter().flat_map(|(.., signs)| signs.iter().map(|(rule, _)| *rule)).collect();
        rules.sort_by_key(|rule| (rule.check, rule.id));
        rules.dedup();
        let mut sizes = vec![(0, 0); families.len()];
        let mut rows: BTreeMap<Vec<usize>, Vec<(usize, usize)>> = BTreeMap::new();
        for (family, is_malicious, signs) in examples {
            let Ok(family) = families.binary_search_by(|known| known.as_str().cmp(family)) else { continue };
            let mut weights: Vec<usize> = Vec::new();
            for (rule, is_mild) in signs {
                let key = |rule: &RuleInfo| (rule.check, rule.id);
                let Ok(number) = rules.binary_search_by(|known| key(known).cmp(&key(rule))) else { continue };
                weights.push(2 * number);
                if !is_mild {
                    weights.push(2 * number + 1);
                }
            }
            weights.sort_unstable();
            let counts = rows.entry(weights).or_insert_with(|| vec![(0, 0); families.len()]);
            let (all, here) = (&mut sizes[family], &mut counts[family]);
            *if is_malicious { &mut all.0 } else { &mut all.1 } += 1;
            *if is_malicious { &mut here.0 } else { &mut here.1 } += 1;
        }
        let rows = rows.into_iter().map(|(weights, counts)| FitRow { weights, counts }).collect();
        Self { rules, families, rows, sizes }
    }

    /// The families, in the order of their names.
    pub(crate) fn families(&self) -> &[String] {
        &self.families
    }

    /// Fits the weights on all families but some.
    pub(crate) fn fit(&self, left_out: &[&str]) -> FittedWeights {
        let is_in: Vec<bool> =
            self.families.iter().map(|family| !left_out.contains(&family.as_str())).collect();
        let scales: Vec<(f64, f64)> =
            self.sizes.iter().map(|(bad, good)| (scale(*bad), scale(*good))).collect();
        let mut rows: Vec<WeighedRow<'_>> = Vec::new();
        for row in &self.rows {
            let (mut bad, mut good) = (0.0, 0.0);
            for (family, (bad_here, good_here)) in row.counts.iter().enumerate().filter(|(at, _)| is_in[*at])
            {
                bad += count(*bad_here) * scales[family].0;
                good += count(*good_here) * scales[family].1;
            }
            if bad + good > 0.0 {
                rows.push(WeighedRow { weights: &row.weights, bad, good, sum: 0.0 });
            }
        }
        let starts: Vec<f64> = self.rules.iter().flat_map(|rule| find_starts(rule)).collect();
        let fitted = fit_rows(&mut rows, &starts);
        let seen = |number: usize| rows.iter().any(|row| row.weights.contains(&(2 * number)));
        let by_rule =
            self.rules.iter().enumerate().filter(|(number, _)| seen(*number)).map(|(number, rule)| {
                let mild = fitted[2 * number];
                let plain = (mild + fitted[2 * number + 1]).min(MOST);
                ((rule.check, rule.id), (round(plain), round(mild.min(MOST))))
            });
        FittedWeights { by_rule: by_rule.collect() }
    }
}

/// Where the two numbers of a rule start.
fn find_starts(rule: &RuleInfo) -> [f64; 2] {
    let [plain, mild] = [false, true].map(|is_mild| f64::from(rule.default_weight(is_mild)) / 100.0);
    [mild, plain - mild]
}

/// What one skill of a family of so many counts for.
fn scale(size: usize) -> f64 {
    FAMILY_SIZE / count(size.max(FULL_FAMILY))
}

#[allow(clippy::cast_precision_loss)] // some thousands
fn count(number: usize) -> f64 {
    number as f64
}

/// Log-odds in hundredths.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // between 0 and MOST
fn round(weight: f64) -> u32 {
    (weight * 100.0).round() as u32
}

/// A row of a fit under way.
struct WeighedRow<'d> {
    weights: &'d [usize],
    bad: f64,
    good: f64,
    /// The log-odds that it has by now.
    sum: f64,
}

/// Newton's steps, one weight after the other, until none moves: the objective is convex, so there is one end. Weights start where they are
/// drawn to, and are kept at 0 or more; the constant is free.
fn fit_rows(rows: &mut [WeighedRow<'_>], starts: &[f64]) -> Vec<f64> {
    let mut weights = starts.to_vec();
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); starts.len()];
    for (number, row) in rows.iter_mut().enumerate() {
        row.sum = row.weights.iter().map(|weight| starts[*weight]).sum();
        row.weights.iter().for_each(|weight| members[*weight].push(number));
    }
    let everything: Vec<usize> = (0..rows.len()).collect();
    for _ in 0..ROUNDS {
        let mut moved = move_weight(rows, &everything, f64::NEG_INFINITY, 0.0, None);
        for (number, members) in members.iter().enumerate().filter(|(_, members)| !members.is_empty()) {
            let step =
                move_weight(rows, members, -weights[number], weights[number] - starts[number], Some(PULL));
            weights[number] = (weights[number] + step).max(0.0);
            moved = moved.abs().max(step.abs());
        }
        if moved.abs() < SETTLED {
            break;
        }
    }
    weights
}

/// One step of one weight, at least `least`: how far it moved. `away` is how far it is from where it is drawn to.
fn move_weight(
    rows: &mut [WeighedRow<'_>],
    members: &[usize],
    least: f64,
    away: f64,
    pull: Option<f64>,
) -> f64 {
    let pull = pull.unwrap_or(0.0);
    let (mut slope, mut bend) = (pull * away, pull + 1e-9);
    for number in members {
        let row = &rows[*number];
        let odds = 1.0 / (1.0 + (-row.sum).exp());
        slope += (row.bad + row.good) * odds - row.bad;
        bend += (row.bad + row.good) * odds * (1.0 - odds);
    }
    // Where the curve is flat, a whole step would lead far beyond the end.
    let step = (-slope / bend).clamp(-0.5, 0.5).max(least);
    for number in members {
        rows[*number].sum += step;
    }
    step
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(name: &str) -> &'static RuleInfo {
        RuleInfo::find(name).unwrap()
    }

    /// A family, a class, and the rules with whether they are mild.
    type FitExample = (&'static str, bool, Vec<(&'static RuleInfo, bool)>);

    /// So many skills of a family and a class, with these signs.
    fn examples(
        family: &'static str,
        is_malicious: bool,
        signs: &[(&'static RuleInfo, bool)],
        number: usize,
    ) -> Vec<FitExample> {
        vec![(family, is_malicious, signs.to_vec()); number]
    }

    /// Two families of 1,000 skills in which one rule speaks for malice by e to the 3, and one for nothing.
    fn planted() -> FitData {
        let (strong, idle) = ((rule("CHECK-01/override"), false), (rule("CHECK-04/unknown-host"), false));
        let mut all = Vec::new();
        for family in ["one", "two"] {
            for (is_malicious, both, first, second, none) in
                [(true, 160, 240, 240, 360), (false, 8, 12, 392, 588)]
            {
                all.extend(examples(family, is_malicious, &[strong, idle], both));
                all.extend(examples(family, is_malicious, &[strong], first));
                all.extend(examples(family, is_malicious, &[idle], second));
                all.extend(examples(family, is_malicious, &[], none));
            }
        }
        FitData::from_examples(all)
    }

    #[test]
    fn planted_weights_are_found_again() {
        let fitted = planted().fit(&[]);
        let strong = fitted.weigh(rule("CHECK-01/override"), false);
        // ln((400 / 600) / (20 / 980)) is 3.49; it is drawn towards 2.50.
        assert!((280..=360).contains(&strong), "{strong}");
        let idle = fitted.weigh(rule("CHECK-04/unknown-host"), false);
        assert!(idle <= 30, "{idle}");
    }

    #[test]
    fn no_weight_is_negative_and_none_is_heavier_for_being_mild() {
        let (good, bad) = (rule("CHECK-04/unknown-host"), rule("CHECK-01/override"));
        let mut all = examples("one", false, &[(good, false)], 500);
        all.extend(examples("one", true, &[(bad, true)], 300));
        all.extend(examples("one", false, &[(bad, false)], 300));
        all.extend(examples("one", true, &[], 200));
        let fitted = FitData::from_examples(all).fit(&[]);
        assert_eq!(fitted.weigh(good, false), 0);
        for (name, plain, mild) in fitted.list() {
            assert!(plain >= mild, "{name}: {plain} {mild}");
        }
    }

    #[test]
    fn a_rule_that_was_never_met_keeps_its_default_and_one_that_was_seldom_met_is_near_it() {
        let seldom = rule("CHECK-01/override");
        let mut all = examples("one", true, &[(seldom, false)], 1);
        all.extend(examples("one", true, &[], 100));
        all.extend(examples("one", false, &[], 100));
        let fitted = FitData::from_examples(all).fit(&[]);
        let never = rule("CHECK-04/blocklisted");
        assert_eq!(fitted.weigh(never, false), never.default_weight(false));
        let weight = fitted.weigh(seldom, false);
        assert!(weight.abs_diff(seldom.default_weight(false)) < 30, "{weight}");
    }

    #[test]
    fn the_same_skills_give_the_same_weights_in_any_order() {
        let (one, other) = (rule("CHECK-01/override"), rule("CHECK-04/unknown-host"));
        let mut all = examples("one", true, &[(one, false), (other, true)], 30);
        all.extend(examples("two", false, &[(other, false)], 70));
        all.extend(examples("two", true, &[(one, true)], 11));
        let forward = FitData::from_examples(all.clone()).fit(&[]);
        all.reverse();
        assert_eq!(FitData::from_examples(all).fit(&[]), forward);
    }

    #[test]
    fn what_is_left_out_does_not_count() {
        let one = rule("CHECK-01/override");
        let mut all = examples("one", true, &[(one, false)], 100);
        all.extend(examples("one", false, &[], 100));
        let alone = FitData::from_examples(all.clone()).fit(&[]);
        all.extend(examples("other", false, &[(one, false)], 900));
        assert_eq!(FitData::from_examples(all).fit(&["other"]), alone);
    }
}
