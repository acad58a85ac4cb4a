//! The eight checks, one file each.

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
        for field in [
            rule.check.as_str(),
            rule.id,
            rule.status.as_str(),
            &format!("{:?}", rule.scope),
            rule.pattern,
            rule.near,
        ] {
            push(field);
        }
        push(&rule.anchors.len().to_string());
        rule.anchors.iter().for_each(|anchor| push(anchor));
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
            anchors: &["bc", "d"],
            pattern: "e",
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
            Rule { anchors: &["b", "cd"], ..NEVER },
            Rule { anchors: &["bcd"], ..NEVER },
            Rule { pattern: "f", ..NEVER },
            Rule { near: "e", pattern: "", ..NEVER },
        ];
        let mut seen: Vec<String> = OTHERS.iter().map(|rule| fingerprint(&[rule])).collect();
        assert!(seen.iter().all(|hash| hash.len() == 64));
        seen.sort();
        seen.dedup();
        assert_eq!(seen.len(), OTHERS.len());
        assert_eq!(fingerprint(&rules()), fingerprint(&rules()));
    }
}
