//! Leave one source out: a family is judged with weights and bounds that were made without it.
//!
//! The bounds need scores that are out of source too. So for each family that is left out, every other one is scored with weights that know
//! neither of the two.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;
use skillsandbox_scanner::ScanVerdict;

use crate::fit::{FitData, FittedWeights, RuleKey};
use crate::judged::JudgedSkill;
use crate::rules::find_imprecise;

/// Benign skills that may be BLOCKED, in a thousand, and those that the sum may add where the rules alone are above that.
const BLOCK_BUDGET: (usize, usize) = (10, 2);
/// The same of benign skills about security.
const SECURITY_BUDGET: (usize, usize) = (30, 10);
/// Benign skills that may be WARNING or worse, in a thousand, and those that the sum may add.
const WARN_BUDGET: (usize, usize) = (80, 5);
/// No sum below this blocks, and none below the other warns, in hundredths: so little is said by signs that mean nothing.
const LEAST: (u32, u32) = (300, 150);
/// Signs that it takes to block.
const MIN_SIGNS: usize = 2;

/// Weights with their bounds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WeightModel {
    pub(crate) weights: FittedWeights,
    pub(crate) block_at: u32,
    pub(crate) warn_at: u32,
    /// Rules that are taken to warn only.
    demoted: BTreeSet<RuleKey>,
}

/// What the signs of a skill add up to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SkillScore {
    sum: u32,
    signs: usize,
}

/// The model of all families, and the verdicts out of source.
pub(crate) struct FoldResult {
    /// Rules that were taken to warn only, with all families.
    pub(crate) demoted: Vec<String>,
    pub(crate) model: WeightModel,
    /// In the order of the skills.
    pub(crate) verdicts: Vec<ScanVerdict>,
}

impl SkillScore {
    /// What a skill's signs add up to.
    fn of(skill: &JudgedSkill, weights: &FittedWeights) -> Self {
        let signs = skill.signs.weigh(|rule, is_mild| weights.weigh(rule, is_mild));
        Self { sum: signs.iter().map(|sign| sign.weight).sum(), signs: skill.signs.count_warnings() }
    }
}

impl WeightModel {
    /// What a skill comes to.
    pub(crate) fn judge(&self, skill: &JudgedSkill) -> ScanVerdict {
        let score = SkillScore::of(skill, &self.weights);
        let together = if score.sum >= self.block_at && score.signs >= MIN_SIGNS {
            ScanVerdict::Blocked
        } else if score.sum >= self.warn_at {
            ScanVerdict::Warning
        } else {
            ScanVerdict::Safe
        };
        together.max(skill.judge_alone(&self.demoted))
    }
}

/// Fits everything: with all families, and without each. Asked to, as if rules only warned that are wrong too often in what is not left out.
pub(crate) fn fit_folds(skills: &[JudgedSkill], lets_warn: bool) -> FoldResult {
    let data = FitData::new(skills);
    let families = data.families();
    // Without one, and without each two: by their numbers, the smaller first.
    let pairs: Vec<(usize, usize)> =
        (0..families.len()).flat_map(|one| (one..families.len()).map(move |other| (one, other))).collect();
    let fits: BTreeMap<(usize, usize), FittedWeights> = pairs
        .into_par_iter()
        .map(|(one, other)| ((one, other), data.fit(&[families[one].as_str(), families[other].as_str()])))
        .collect();
    let number = |skill: &JudgedSkill| families.iter().position(|family| *family == skill.family);
    let find_demoted = |left_out: Option<usize>| {
        let seen = skills.iter().filter(|skill| left_out.is_none() || number(skill) != left_out);
        if lets_warn { find_imprecise(seen) } else { BTreeSet::new() }
    };
    // For a family that is left out, or none: the bounds, by scores that are out of source.
    let bounds = |left_out: Option<usize>, demoted: &BTreeSet<RuleKey>| {
        let scores: Vec<BenignScore<'_>> = skills
            .par_iter()
            .filter(|skill| !skill.is_malicious)
            .filter_map(|skill| {
                let own = number(skill).filter(|own| Some(*own) != left_out)?;
                let other = left_out.unwrap_or(own);
                let weights = fits.get(&(own.min(other), own.max(other)))?;
                Some((skill, skill.judge_alone(demoted), SkillScore::of(skill, weights)))
            })
            .collect();
        choose_bounds(&scores)
    };
    let model = |left_out: Option<usize>| {
        let weights = left_out.and_then(|at| fits.get(&(at, at)).cloned()).unwrap_or_else(|| data.fit(&[]));
        let demoted = find_demoted(left_out);
        let (block_at, warn_at) = bounds(left_out, &demoted);
        WeightModel { weights, block_at, warn_at, demoted }
    };
    let whole = model(None);
    let without: Vec<WeightModel> = (0..families.len()).map(|family| model(Some(family))).collect();
    let judge = |skill: &JudgedSkill| {
        // What no weight was fitted on is out of source as it is.
        let model = number(skill).and_then(|family| without.get(family)).unwrap_or(&whole);
        model.judge(skill)
    };
    let demoted = whole.demoted.iter().map(|(check, id)| format!("{}/{id}", check.as_str())).collect();
    FoldResult { demoted, verdicts: skills.par_iter().map(judge).collect(), model: whole }
}

/// A benign skill, what it comes to without adding up, and its score.
type BenignScore<'s> = (&'s JudgedSkill, ScanVerdict, SkillScore);

/// The lowest bounds that keep benign skills within their budgets.
fn choose_bounds(benign: &[BenignScore<'_>]) -> (u32, u32) {
    let security: Vec<_> = benign.iter().filter(|(skill, ..)| skill.is_about_security()).copied().collect();
    let block = |list: &[BenignScore<'_>], budget| {
        let alone = list.iter().filter(|(_, alone, _)| *alone == ScanVerdict::Blocked).count();
        let sums = list
            .iter()
            .filter(|(_, alone, score)| *alone < ScanVerdict::Blocked && score.signs >= MIN_SIGNS)
            .map(|(.., score)| score.sum);
        choose_bound(sums.collect(), alone, list.len(), budget)
    };
    let block_at = block(benign, BLOCK_BUDGET).max(block(&security, SECURITY_BUDGET)).max(LEAST.0);
    let alone = benign.iter().filter(|(_, alone, _)| *alone > ScanVerdict::Safe).count();
    let sums = benign.iter().filter(|(_, alone, _)| *alone == ScanVerdict::Safe).map(|(.., score)| score.sum);
    let warn_at = choose_bound(sums.collect(), alone, benign.len(), WARN_BUDGET).max(LEAST.1);
    (block_at, warn_at.min(block_at))
}

/// The lowest bound above all sums but those that there is room for.
fn choose_bound(mut sums: Vec<u32>, alone: usize, all: usize, (budget, extra): (usize, usize)) -> u32 {
    let room = (all * budget / 1000).saturating_sub(alone).max(all * extra / 1000);
    sums.sort_unstable_by(|a, b| b.cmp(a));
    sums.get(room).map_or(0, |sum| sum + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_leaves_room_for_so_many_and_no_more() {
        let sums: Vec<u32> = (1..=1000).collect();
        // Ten in a thousand, of which four are there already.
        let bound = choose_bound(sums.clone(), 4, 1000, (10, 2));
        assert_eq!(sums.iter().filter(|sum| **sum >= bound).count(), 6);
        // More are there than may be: two are added.
        let bound = choose_bound(sums.clone(), 50, 1000, (10, 2));
        assert_eq!(sums.iter().filter(|sum| **sum >= bound).count(), 2);
        assert_eq!(choose_bound(Vec::new(), 0, 0, (10, 2)), 0);
        // Equal sums stay out together.
        assert_eq!(choose_bound(vec![7; 100], 0, 1000, (10, 2)), 8);
    }
}
