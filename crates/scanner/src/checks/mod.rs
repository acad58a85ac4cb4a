//! The eight checks, one file each, and the registry of all rules.
//!
//! A rule is declared in the file of its check: patterns in `PATTERN_RULES`, rules that are code by `code_rules!`. Everything that speaks of
//! rules reads them from here: findings, `explain`, the pages in `docs/checks/`, SARIF, the hash in reports, suppressions.

mod agent_commands;
mod agent_settings;
pub(crate) mod binaries;
mod blocked_hosts;
mod code_findings;
pub(crate) mod delegation;
mod dependencies;
pub(crate) mod exfiltration;
mod fetched_hosts;
pub(crate) mod front_matter;
pub(crate) mod injection;
pub(crate) mod installers;
pub(crate) mod obfuscation;
pub(crate) mod second_opinion;
mod spoofing;
pub(crate) mod supply_chain;
pub(crate) mod tools;

use crate::digest::{hex, sha256};
use crate::finding::Finding;
use crate::rule::{CheckId, PatternRule, RuleInfo};
use crate::scan_context::{ScanContext, ScanSubject};

pub(crate) use blocked_hosts::canonical_host;
pub(crate) use installers::is_known_installer as is_harmless;

/// One of the eight checks. The trait is the crate's own, so that it can change with them.
pub(crate) trait Check: Sync {
    /// Its documentation and its rules.
    fn info(&self) -> &'static CheckInfo;

    /// What no pattern can say about a subject. It reads nothing but what it is shown: no disk, network, clock or environment.
    fn run(&self, _context: &ScanContext<'_>, _subject: &ScanSubject<'_>, _findings: &mut Vec<Finding>) {}
}

/// What a check says about itself.
pub(crate) struct CheckInfo {
    pub(crate) id: CheckId,
    /// Its file, whose head is the user's documentation.
    pub(crate) source: &'static str,
    pub(crate) pattern_rules: &'static [PatternRule],
    /// Rules that are code, by the file that declares them.
    pub(crate) code_rules: &'static [&'static [&'static RuleInfo]],
}

impl CheckInfo {
    /// All its rules, those that are patterns first.
    pub(crate) fn rules(&self) -> impl Iterator<Item = &'static RuleInfo> {
        let code = self.code_rules.iter().copied().flatten().copied();
        self.pattern_rules.iter().map(|rule| &rule.info).chain(code)
    }
}

/// All checks, in their order.
pub(crate) static CHECKS: [&dyn Check; 8] = [
    &injection::InjectionCheck,
    &spoofing::SpoofingCheck,
    &tools::ToolsCheck,
    &exfiltration::ExfiltrationCheck,
    &obfuscation::ObfuscationCheck,
    &delegation::DelegationCheck,
    &front_matter::FrontMatterCheck,
    &supply_chain::SupplyChainCheck,
];

/// Every rule that is patterns.
pub(crate) fn pattern_rules() -> Vec<&'static PatternRule> {
    // The order in which the patterns of a block are tried, and so that of equal findings.
    const ORDER: [CheckId; 5] = [
        CheckId::Injection,
        CheckId::Exfiltration,
        CheckId::SupplyChain,
        CheckId::Tools,
        CheckId::Delegation,
    ];
    let mut checks: Vec<_> = CHECKS.iter().map(|check| check.info()).collect();
    checks.sort_by_key(|info| ORDER.iter().position(|id| *id == info.id));
    checks.into_iter().flat_map(|info| info.pattern_rules).collect()
}

/// Every rule there is: the registry.
pub(crate) fn all_rules() -> impl Iterator<Item = &'static RuleInfo> {
    CHECKS.iter().flat_map(|check| check.info().rules())
}

/// A number that changes with anything that the registry says. Each field goes in with its length, so that nothing can move from one to the
/// next unseen.
pub(crate) fn fingerprint<'r>(
    rules: impl IntoIterator<Item = &'r RuleInfo>,
    patterns: impl IntoIterator<Item = &'r PatternRule>,
) -> String {
    let mut fields: Vec<u8> = Vec::new();
    let mut push = |field: &str| {
        fields.extend((field.len() as u64).to_le_bytes());
        fields.extend(field.as_bytes());
    };
    for rule in rules {
        let RuleInfo { check, id, status, role, is_fact, summary, advice, techniques } = rule;
        let graded = format!("{role:?} {is_fact}");
        for field in [check.as_str(), id, status.as_str(), &graded, summary, advice, &techniques.join(" ")] {
            push(field);
        }
    }
    for rule in patterns {
        let PatternRule { info, scope, patterns, near } = rule;
        for field in [&info.name(), &format!("{scope:?}"), *near, &patterns.len().to_string()] {
            push(field);
        }
        patterns.iter().for_each(|pattern| push(pattern));
    }
    hex(&sha256(&[&fields]))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::pattern::compile;
    use crate::rule::{FindingStatus, RuleScope};
    use crate::text::PassageRole;

    #[test]
    fn the_registry_holds_every_check_in_its_order() {
        let ids: Vec<_> = CHECKS.iter().map(|check| check.info().id).collect();
        assert_eq!(ids, CheckId::ALL);
        for check in CHECKS {
            let info = check.info();
            assert!(info.rules().all(|rule| rule.check == info.id), "{:?}", info.id);
            assert!(info.rules().count() > 0, "{:?} has no rule", info.id);
        }
        let patterns: usize = CHECKS.iter().map(|check| check.info().pattern_rules.len()).sum();
        assert_eq!(pattern_rules().len(), patterns);
    }

    #[test]
    fn every_rule_is_sound() {
        let word = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
        let mut names = HashSet::new();
        for rule in all_rules() {
            let name = rule.name();
            assert!(names.insert(name.clone()), "{name} is there twice");
            assert!(rule.id.bytes().all(word) && !rule.id.is_empty(), "{name}");
            assert!(!rule.summary.is_empty() && !rule.summary.ends_with('.'), "{name}");
            assert!(rule.advice.ends_with('.'), "{name}");
            assert_eq!(RuleInfo::find(&name), Some(rule));
        }
        for rule in pattern_rules() {
            let name = rule.info.name();
            assert!(!rule.patterns.is_empty(), "{name}");
            for pattern in rule.patterns.iter().copied().chain((!rule.near.is_empty()).then_some(rule.near)) {
                assert!(!compile(pattern).is_match(b""), "{name} matches nothing at all");
            }
        }
    }

    #[test]
    fn the_fingerprint_knows_every_field() {
        const fn info() -> RuleInfo {
            RuleInfo {
                check: CheckId::Injection,
                id: "a",
                status: FindingStatus::Warn,
                role: PassageRole::Data,
                is_fact: false,
                summary: "s",
                advice: "t",
                techniques: &["u"],
            }
        }
        let infos = [
            info(),
            RuleInfo { check: CheckId::Tools, ..info() },
            RuleInfo { id: "b", ..info() },
            RuleInfo { status: FindingStatus::Block, ..info() },
            RuleInfo { role: PassageRole::Code, ..info() },
            RuleInfo { is_fact: true, ..info() },
            RuleInfo { summary: "st", advice: "", ..info() },
            RuleInfo { advice: "v", ..info() },
            RuleInfo { techniques: &[], ..info() },
        ];
        let pattern = |scope, patterns, near| PatternRule { info: info(), scope, patterns, near };
        let patterns = [
            pattern(RuleScope::Words, &["bc", "d"][..], ""),
            pattern(RuleScope::Code, &["bc", "d"], ""),
            pattern(RuleScope::Words, &["b", "cd"], ""),
            pattern(RuleScope::Words, &["bcd"], ""),
            pattern(RuleScope::Words, &["bc", "d"], "e"),
        ];
        let mut seen: Vec<String> = infos.iter().map(|rule| fingerprint([rule], [])).collect();
        seen.extend(patterns.iter().map(|rule| fingerprint([], [rule])));
        assert!(seen.iter().all(|hash| hash.len() == 64));
        let all = seen.len();
        seen.sort();
        seen.dedup();
        assert_eq!(seen.len(), all);
    }
}
