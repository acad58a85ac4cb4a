//! The eight checks, one file each.

pub(crate) mod binaries;
pub(crate) mod delegation;
pub(crate) mod dependencies;
pub(crate) mod exfiltration;
pub(crate) mod fetched_hosts;
pub(crate) mod front_matter;
pub(crate) mod injection;
pub(crate) mod installers;
pub(crate) mod obfuscation;
pub(crate) mod secret_flow;
pub(crate) mod spoofing;
pub(crate) mod supply_chain;
pub(crate) mod tools;

use crate::digest::{hex, sha256};
use crate::rule::Rule;

/// Every rule that is a pattern.
pub(crate) fn rules() -> Vec<&'static Rule> {
    [injection::RULES, exfiltration::RULES, supply_chain::RULES, tools::RULES, delegation::RULES]
        .into_iter()
        .flatten()
        .collect()
}

/// A number that changes with any rule that is data. Each field goes in with its length, so that nothing can move from one to
/// the next unseen.
pub(crate) fn fingerprint(rules: &[&Rule]) -> String {
    let mut fields: Vec<u8> = Vec::new();
    let mut push = |field: &str| {
        fields.extend((field.len() as u64).to_le_bytes());
        fields.extend(field.as_bytes());
    };
    for rule in rules {
        for field in
            [rule.check.as_str(), rule.id, rule.status.as_str(), &format!("{:?}", rule.scope), rule.near]
        {
            push(field);
        }
        push(&rule.patterns.len().to_string());
        rule.patterns.iter().for_each(|pattern| push(pattern));
    }
    hex(&sha256(&[&fields]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fingerprint_knows_every_field() {
        use crate::rule::{CheckId, Scope, Status};
        const NEVER: Rule = Rule {
            check: CheckId::Injection,
            id: "a",
            status: Status::Warn,
            scope: Scope::Words,
            patterns: &["bc", "d"],
            near: "",
            why: "",
            advice: "",
            techniques: &[],
        };
        static OTHERS: &[Rule] = &[
            NEVER,
            Rule { check: CheckId::Tools, ..NEVER },
            Rule { id: "b", ..NEVER },
            Rule { status: Status::Block, ..NEVER },
            Rule { scope: Scope::Code, ..NEVER },
            Rule { patterns: &["b", "cd"], ..NEVER },
            Rule { patterns: &["bcd"], ..NEVER },
            Rule { near: "e", ..NEVER },
        ];
        let mut seen: Vec<String> = OTHERS.iter().map(|rule| fingerprint(&[rule])).collect();
        assert!(seen.iter().all(|hash| hash.len() == 64));
        seen.sort();
        seen.dedup();
        assert_eq!(seen.len(), OTHERS.len());
        assert_eq!(fingerprint(&rules()), fingerprint(&rules()));
    }
}
