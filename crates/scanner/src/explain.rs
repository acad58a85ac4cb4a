//! The documentation of checks and rules, from the checks' own doc comments.

use crate::checks;
use crate::rule::CheckId;

/// The doc comment at the head of a source file.
fn head(source: &str) -> String {
    let lines = source.lines().map_while(|line| line.strip_prefix("//!"));
    lines.map(|line| line.strip_prefix(' ').unwrap_or(line).to_owned() + "\n").collect()
}

impl CheckId {
    /// What the check looks for, why, what it does not flag and what it cannot see; in markdown.
    #[must_use]
    pub fn documentation(self) -> String {
        let source = match self {
            Self::Injection => include_str!("checks/injection.rs"),
            Self::Spoofing => include_str!("checks/spoofing.rs"),
            Self::Tools => include_str!("checks/tools.rs"),
            Self::Exfiltration => include_str!("checks/exfiltration.rs"),
            Self::Obfuscation => include_str!("checks/obfuscation.rs"),
            Self::Delegation => include_str!("checks/delegation.rs"),
            Self::FrontMatter => include_str!("checks/front_matter.rs"),
            Self::SupplyChain => include_str!("checks/supply_chain.rs"),
        };
        let mut page = head(source);
        let rules: Vec<_> = checks::rules().into_iter().filter(|rule| rule.check == self).collect();
        if !rules.is_empty() {
            page.push_str("\n## Rules that are patterns\n\n| rule | alone | what it means | techniques |\n|---|---|---|---|\n");
        }
        for rule in rules {
            let alone = format!("{:?}", rule.status).to_uppercase();
            page.push_str(
                &[
                    "| `",
                    self.as_str(),
                    "/",
                    rule.id,
                    "` | ",
                    &alone,
                    " | ",
                    rule.why,
                    " | ",
                    &rule.techniques.join(", "),
                    " |\n",
                ]
                .concat(),
            );
        }
        page
    }

    /// The check that a word names: `CHECK-05`, `check-05` or `5`.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let upper = name.to_ascii_uppercase();
        Self::ALL
            .into_iter()
            .find(|check| check.as_str() == upper || check.as_str().trim_start_matches("CHECK-0") == upper)
    }
}

/// What one rule means and what to do about it: `CHECK-04/dns-exfil`.
#[must_use]
pub fn explain_rule(name: &str) -> Option<String> {
    let (check, id) = name.split_once('/')?;
    let check = CheckId::from_name(check)?;
    let Some(rule) = checks::rules().into_iter().find(|rule| rule.check == check && rule.id == id) else {
        let (.., why) =
            checks::binaries::EXPLAINED.iter().find(|(of, rule, _)| (*of, *rule) == (check, id))?;
        return Some(format!("{}/{id}\n\n{why}.\n", check.as_str()));
    };
    let alone = format!("{:?}", rule.status).to_uppercase();
    Some(format!(
        "{}/{}: {alone} where nothing makes it milder\n\n{}.\n{}\n\nTechniques: {}\n",
        check.as_str(),
        rule.id,
        rule.why,
        rule.advice,
        rule.techniques.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::pattern::compile;

    #[test]
    fn every_check_documents_itself_under_the_same_headings() {
        for check in CheckId::ALL {
            let page = check.documentation();
            assert!(page.starts_with(&format!("# {}: ", check.as_str())), "{page}");
            for heading in
                ["What it looks for", "Why it matters", "Flagged", "Not flagged", "Blind spots", "References"]
            {
                assert!(page.contains(&format!("## {heading}\n")), "{}: {heading}", check.as_str());
            }
        }
    }

    #[test]
    fn every_rule_is_sound() {
        let mut names = HashSet::new();
        for rule in checks::rules() {
            let name = format!("{}/{}", rule.check.as_str(), rule.id);
            assert!(names.insert(name.clone()), "{name} is there twice");
            assert!(!rule.patterns.is_empty() && !rule.why.is_empty() && !rule.advice.is_empty(), "{name}");
            for pattern in rule.patterns.iter().copied().chain((!rule.near.is_empty()).then_some(rule.near)) {
                let pattern = compile(pattern);
                assert!(!pattern.is_match(b""), "{name} matches nothing at all");
            }
            assert!(explain_rule(&name).is_some());
        }
    }
}
