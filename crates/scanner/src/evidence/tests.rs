//! The laws of adding up, on findings of any kind and number.

use std::sync::LazyLock;

use proptest::prelude::*;
use proptest::sample::subsequence;

use super::*;
use crate::checks::all_rules;
use crate::finding::FindingSuppression;
use crate::grade::{FindingConfidence, FindingSeverity};
use crate::markdown::ScanStamp;
use crate::report::ScanReport;
use crate::sarif::to_sarif;
use crate::scan::Scanner;
use crate::skill::SkillFiles;

/// The report of a skill in which nothing is found.
static CLEAN: LazyLock<ScanReport> = LazyLock::new(|| {
    let text = "---\nname: notes\ndescription: Takes notes\n---\nHello.\n";
    let report = Scanner::new().scan(&SkillFiles::from_skill_md("notes", text));
    assert!(report.findings.is_empty() && report.verdict == ScanVerdict::Safe);
    report
});

/// A report with these findings.
fn settle(findings: Vec<Finding>) -> ScanReport {
    let mut report = CLEAN.clone();
    report.findings = findings;
    report.settle();
    report
}

fn find(name: &str) -> &'static RuleInfo {
    RuleInfo::find(name).unwrap()
}

/// A finding of a rule at a place, as grave as its rule.
fn at(name: &str, file: &str, line: usize) -> Finding {
    let mut finding = Finding::new(find(name), "why");
    (finding.file, finding.line) = (file.to_owned(), line);
    finding
}

/// Any finding: of any rule, in one of few places so that they meet, as grave as its rule or milder.
fn finding() -> impl Strategy<Value = Finding> {
    let rules: Vec<&'static RuleInfo> = all_rules().collect();
    let files = ["", "SKILL.md", "run.sh", "tests/run.sh"];
    let parts = (proptest::sample::select(rules), 0..files.len(), 0_usize..5, 0..3);
    parts.prop_map(move |(rule, file, line, milder)| {
        let status = (0..milder).fold(rule.status, |status, _| status.milder());
        let mut finding = Finding::new(rule, "why").with_status(status);
        (finding.file, finding.line) = (files[file].to_owned(), line);
        finding
    })
}

/// The heaviest choice, by trying all.
fn weigh_slowly(rules: &[(u32, Vec<usize>)], taken: &mut Vec<usize>) -> u32 {
    let Some(((weight, places), rest)) = rules.split_first() else { return 0 };
    let mut best = weigh_slowly(rest, taken);
    for place in places {
        if !taken.contains(place) {
            taken.push(*place);
            best = best.max(weight + weigh_slowly(rest, taken));
            taken.pop();
        }
    }
    best
}

#[test]
fn weights_are_sorted_of_rules_that_exist_and_no_lighter_when_plain() {
    assert!(WEIGHTS.is_sorted_by_key(|(rule, ..)| *rule));
    for (rule, plain, mild) in WEIGHTS {
        assert!(plain >= mild, "{rule}: {plain} {mild}");
    }
    // A rule that was renamed or removed has a row of no use until the next fit. Few are no harm.
    let unknown = WEIGHTS.iter().filter(|(rule, ..)| RuleInfo::find(rule).is_none()).count();
    assert!(unknown * 10 <= WEIGHTS.len(), "{unknown} rows are of no rule: run `cargo xtask eval --fit`");
    const { assert!(WARN_AT <= BLOCK_AT && WARN_AT > 0) };
    assert!(all_rules().count() < MAX_PLACES);
}

#[test]
fn a_rule_and_a_line_count_once() {
    let (one, other) = ("CHECK-01/override", "CHECK-01/persona");
    let weight = |name: &str| find(name).weight(false);
    let both = weight(one) + weight(other);
    for (findings, sum) in [
        (vec![at(one, "a", 1)], weight(one)),
        (vec![at(one, "a", 1), at(one, "b", 7)], weight(one)),
        (vec![at(one, "a", 1), at(other, "a", 1)], weight(one).max(weight(other))),
        (vec![at(one, "a", 1), at(other, "b", 1)], both),
        (vec![at(one, "a", 1), at(other, "a", 2)], both),
        // One of them can move to its other line.
        (vec![at(one, "a", 1), at(one, "a", 2), at(other, "a", 1)], both),
        (vec![at(one, "a", 1), at(other, "a", 1), at(other, "a", 2)], both),
        // What is said of a whole is said by each rule for itself.
        (vec![at(one, "", 0), at(other, "", 0)], both),
    ] {
        assert_eq!(settle(findings.clone()).evidence.sum, sum, "{findings:?}");
    }
}

#[test]
fn what_is_mild_weighs_less() {
    let rule = find("CHECK-04/suspicious-host");
    for (finding, is_mild) in [
        (at("CHECK-04/suspicious-host", "run.sh", 1), false),
        (at("CHECK-04/suspicious-host", "tests/run.sh", 1), true),
        (at("CHECK-04/suspicious-host", "run.sh", 1).with_status(rule.status.milder()), true),
    ] {
        let report = settle(vec![finding]);
        assert_eq!((report.evidence.signs[0].is_mild, report.evidence.sum), (is_mild, rule.weight(is_mild)));
    }
}

#[test]
fn several_signs_block_together_and_say_so() {
    // As many warnings as it takes, each in a line of its own.
    let mut findings: Vec<Finding> = Vec::new();
    for rule in all_rules().filter(|rule| rule.status == FindingStatus::Warn && rule.weight(false) > 0) {
        findings.push(at(&rule.name(), "SKILL.md", findings.len() + 1));
        let report = settle(findings.clone());
        if report.evidence.sum < BLOCK_AT || findings.len() < MIN_SIGNS {
            assert_eq!(report.verdict, ScanVerdict::Warning, "{:?}", report.evidence);
            continue;
        }
        assert_eq!((report.verdict, report.evidence.alone), (ScanVerdict::Blocked, ScanVerdict::Warning));
        let blocked = &report.findings[0];
        let raise = blocked.raised_by.as_ref().unwrap();
        assert_eq!((blocked.status, raise.from), (FindingStatus::Block, FindingStatus::Warn));
        assert_eq!(raise.together_with.len(), findings.len() - 1);
        assert_eq!(blocked.rule, report.evidence.signs[0].rule);
        let told = raise.describe(blocked.status);
        assert!(told.starts_with("blocked together with: CHECK-"), "{told}");
        assert_eq!(report.findings.iter().filter(|finding| finding.raised_by.is_some()).count(), 1);
        return;
    }
    panic!("all rules that warn do not block together");
}

/// All rules that warn, each in a line of its own: heavy enough to block whatever the weights are.
fn many_warnings() -> Vec<Finding> {
    let rules = all_rules().filter(|rule| rule.status == FindingStatus::Warn && rule.weight(false) > 0);
    rules.enumerate().map(|(line, rule)| at(&rule.name(), "SKILL.md", line + 1)).collect()
}

#[test]
fn every_output_tells_what_blocked_together() {
    let report = settle(many_warnings());
    let blocked = &report.findings[0];
    let told = blocked.raised_by.as_ref().unwrap().describe(blocked.status);
    let stamp = ScanStamp { scan_id: "1".to_owned(), scanned_at: "2026-01-01T00:00:00Z".to_owned() };
    let page = report.to_markdown(&stamp);
    assert!(page.contains(&told) && page.contains("## Evidence\n\nThe signs weigh "), "{page}");
    let sarif = to_sarif([("", &report)]);
    let result = &sarif["runs"][0]["results"][0];
    assert!(result["message"]["text"].as_str().unwrap().contains(&told), "{result}");
    assert_eq!(
        (result["level"].as_str(), &result["properties"]["raisedBy"]["from"]),
        (Some("error"), &"WARN".into())
    );
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["evidence"]["sum"], report.evidence.sum);
    assert_eq!(json["evidence"]["signs"].as_array().unwrap().len(), report.evidence.signs.len());
    assert_eq!(json["findings"][0]["raised_by"]["from"], "WARN");
    assert!(json["findings"][1].get("raised_by").is_none());
}

#[test]
fn what_was_raised_is_likely_and_not_certain() {
    let report = settle(many_warnings());
    let blocked = &report.findings[0];
    let expected = if blocked.info().is_fact { FindingConfidence::High } else { FindingConfidence::Medium };
    assert_eq!((blocked.severity, blocked.confidence), (FindingSeverity::High, expected));
}

/// Every rule in every line is the worst that a text can do to the choice.
#[test]
fn a_flood_of_signs_is_counted_to_the_end() {
    let rules: Vec<&RuleInfo> = all_rules().collect();
    let mut signs = SignSet::default();
    for line in 1..=rules.len() {
        for rule in &rules {
            signs.add(&at(&rule.name(), "SKILL.md", line));
        }
    }
    let sum: u32 = signs.weigh(|_, _| 7).iter().map(|sign| sign.weight).sum();
    assert_eq!(sum as usize, 7 * rules.len());
}

#[test]
fn one_sign_never_blocks_by_its_weight() {
    for rule in all_rules().filter(|rule| rule.status < FindingStatus::Block) {
        let findings = (1..50).map(|line| at(&rule.name(), "SKILL.md", line)).collect();
        assert!(settle(findings).verdict < ScanVerdict::Blocked, "{}", rule.name());
    }
}

#[test]
fn what_is_not_listed_adds_up_too() {
    let warn: Vec<&RuleInfo> =
        all_rules().filter(|rule| rule.status == FindingStatus::Warn && rule.weight(false) > 0).collect();
    let sum: u32 = warn.iter().map(|rule| rule.weight(false)).sum();
    assert!(sum >= BLOCK_AT);
    let mut findings: Vec<Finding> = (1..400).map(|line| at(&warn[0].name(), "SKILL.md", line)).collect();
    findings.extend(warn.iter().enumerate().map(|(line, rule)| at(&rule.name(), "zzz.md", line + 1)));
    let mut report = settle(findings);
    assert_eq!((report.verdict, report.evidence.sum), (ScanVerdict::Blocked, sum));
    // Also where all that is listed is suppressed: nobody has looked at the rest.
    for finding in &mut report.findings {
        finding.suppressed = Some(FindingSuppression { reason: String::new(), expires: String::new() });
    }
    report.judge();
    assert_eq!(report.verdict, ScanVerdict::Blocked);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn the_choice_is_the_heaviest(findings in proptest::collection::vec(finding(), 0..9)) {
        let report = settle(findings);
        let signs = report.signs();
        let mut places: Vec<(Option<usize>, SignPlace)> = Vec::new();
        let mut rules: Vec<(u32, Vec<usize>)> = Vec::new();
        for (number, rule) in signs.rules.values().enumerate() {
            let numbers = rule.places.iter().map(|place| {
                let key = (matches!(place, SignPlace::Whole(_)).then_some(number), place.clone());
                places.iter().position(|known| *known == key).unwrap_or_else(|| {
                    places.push(key);
                    places.len() - 1
                })
            });
            rules.push((rule.info.weight(rule.is_mild), numbers.collect()));
        }
        prop_assert_eq!(report.evidence.sum, weigh_slowly(&rules, &mut Vec::new()));
    }

    #[test]
    fn no_finding_makes_a_verdict_better(
        findings in proptest::collection::vec(finding(), 0..12),
        added in finding(),
    ) {
        let before = settle(findings.clone());
        let after = settle(findings.into_iter().chain([added]).collect());
        prop_assert!(after.verdict >= before.verdict);
        prop_assert!(after.evidence.sum >= before.evidence.sum);
    }

    #[test]
    fn the_order_does_not_matter(
        (findings, shuffled) in proptest::collection::vec(finding(), 0..12)
            .prop_flat_map(|list| (Just(list.clone()), Just(list).prop_shuffle())),
    ) {
        prop_assert_eq!(settle(findings), settle(shuffled));
    }

    #[test]
    fn judging_again_changes_nothing(findings in proptest::collection::vec(finding(), 0..12)) {
        let once = settle(findings);
        let mut again = once.clone();
        again.settle();
        prop_assert_eq!(&again, &once);
        again.judge();
        prop_assert_eq!(again, once);
    }

    #[test]
    fn nothing_is_lower_than_alone_and_row_41_holds(findings in proptest::collection::vec(finding(), 0..12)) {
        let report = settle(findings);
        for finding in &report.findings {
            prop_assert!(finding.status >= finding.status_alone());
        }
        let worst = report.findings.iter().map(|finding| finding.status).max();
        let expected = match worst {
            Some(FindingStatus::Block) => ScanVerdict::Blocked,
            Some(FindingStatus::Warn) => ScanVerdict::Warning,
            _ => ScanVerdict::Safe,
        };
        prop_assert_eq!(report.verdict, expected);
    }

    /// Who suppresses more never gets a worse verdict, and it does not matter whether a finding was suppressed before or after it was judged.
    #[test]
    fn suppressing_is_monotone(
        (findings, some) in proptest::collection::vec(finding(), 0..12).prop_flat_map(|list| {
            let numbers: Vec<usize> = (0..list.len()).collect();
            let count = numbers.len();
            (Just(list), subsequence(numbers, 0..=count))
        }),
    ) {
        let before = settle(findings);
        let mut after = before.clone();
        for (number, finding) in after.findings.iter_mut().enumerate() {
            if some.contains(&number) {
                finding.suppressed = Some(FindingSuppression { reason: String::new(), expires: String::new() });
            }
        }
        let marked = after.findings.clone();
        after.judge();
        prop_assert!(after.verdict <= before.verdict);
        prop_assert!(after.evidence.sum <= before.evidence.sum);
        prop_assert_eq!(settle(marked), after);
    }
}
