//! The documentation of checks and rules: the checks' own doc comments, and what the registry says.

use crate::checks::{self, CHECKS, CheckInfo};
use crate::grade::OWASP;
use crate::rule::{CheckId, RuleInfo};

impl CheckId {
    /// What the check looks for, why, what it does not flag and what it cannot see, and its rules; in markdown.
    #[must_use]
    pub fn documentation(self) -> String {
        let Some(info) = self.info() else { return String::new() };
        let mut page = doc_comment(info.source);
        page.push_str("\n## Rules\n\n| rule | at most | confidence | what it looks for | techniques |\n|---|---|---|---|---|\n");
        for rule in info.rules() {
            let techniques = rule.techniques.join(", ");
            let cells = [
                &format!("`{}`", rule.name()),
                rule.status.as_str(),
                rule.confidence().as_str(),
                rule.summary,
                &techniques,
            ];
            page.push_str(&["| ", &cells.join(" | "), " |\n"].concat());
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

    fn info(self) -> Option<&'static CheckInfo> {
        CHECKS.iter().map(|check| check.info()).find(|info| info.id == self)
    }
}

impl RuleInfo {
    /// All rules of all checks, in the order of their pages.
    pub fn all() -> impl Iterator<Item = &'static Self> {
        checks::all_rules()
    }

    /// The rule of a name: `CHECK-04/dns-exfil`, with the check in any of the forms of [`CheckId::from_name`].
    ///
    /// ```
    /// use skillsandbox_scanner::RuleInfo;
    ///
    /// let rule = RuleInfo::find("CHECK-02/exact").unwrap();
    /// assert_eq!(rule.advice, "Install it only under another name.");
    /// ```
    #[must_use]
    pub fn find(name: &str) -> Option<&'static Self> {
        let (check, id) = name.split_once('/')?;
        let check = CheckId::from_name(check)?;
        checks::all_rules().find(|rule| rule.check == check && rule.id == id)
    }

    /// Whether it is code, as against patterns.
    #[must_use]
    pub fn is_code(&self) -> bool {
        self.check.info().is_some_and(|info| info.code_rules.iter().any(|rules| rules.contains(&self)))
    }

    /// The rule, or the check, whose name comes nearest to one that is none; `None` where nothing comes near.
    #[must_use]
    pub fn suggest(name: &str) -> Option<String> {
        let (check, id) = name.split_once('/').map_or((name, None), |(check, id)| (check, Some(id)));
        // The same word under another check is meant more often than another word.
        let moved = checks::all_rules().find(|rule| Some(rule.id) == id && rule.check.as_str() != check);
        // A rule for a rule and a check for a check: who misspells one rule does not mean all of them.
        let known: Vec<String> = match id {
            Some(_) => checks::all_rules().map(Self::name).collect(),
            None => CheckId::ALL.into_iter().map(|check| check.as_str().to_owned()).collect(),
        };
        let near = known
            .into_iter()
            .map(|known| (strsim::damerau_levenshtein(&known, name), known))
            .min()
            .filter(|(distance, known)| *distance <= 2.max(known.len() / 6))
            .map(|(_, known)| known);
        moved.map(Self::name).or(near)
    }

    /// What it means, why that matters and what to do about it, as a text.
    #[must_use]
    pub fn explain(&'static self) -> String {
        let Self { check, status, summary, advice, techniques, .. } = self;
        let heads = OWASP.iter().filter(|(id, _)| check.owasp().contains(id));
        let heads: Vec<_> = heads.map(|(id, name)| format!("{id} {name}")).collect();
        let mut lines = vec![
            format!("{}: {} where nothing makes it milder\n", self.name(), status.as_str()),
            format!("{summary}.\n{advice}\n"),
            format!(
                "Check: {} {}. {}",
                check.as_str(),
                check.title(),
                check.why_it_matters().replace('\n', " ")
            ),
            format!(
                "At most: severity {}, confidence {}",
                self.severity().as_str(),
                self.confidence().as_str()
            ),
        ];
        if !techniques.is_empty() {
            lines.push(format!("Techniques: {}", techniques.join(", ")));
        }
        lines.push(format!("OWASP Agentic Skills Top 10: {}\n", heads.join(", ")));
        lines.join("\n")
    }
}

impl CheckId {
    /// The section of its documentation that says why.
    fn why_it_matters(self) -> String {
        let page = self.info().map(|info| doc_comment(info.source)).unwrap_or_default();
        let section = page.split("\n## ").find_map(|part| part.strip_prefix("Why it matters\n"));
        section.unwrap_or_default().trim().to_owned()
    }
}

/// What one rule means and what to do about it: `CHECK-04/dns-exfil`.
#[must_use]
pub fn explain_rule(name: &str) -> Option<String> {
    RuleInfo::find(name).map(RuleInfo::explain)
}

/// The doc comment at the head of a source file.
fn doc_comment(source: &str) -> String {
    let lines = source.lines().map_while(|line| line.strip_prefix("//!"));
    lines.map(|line| line.strip_prefix(' ').unwrap_or(line).to_owned() + "\n").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_check_documents_itself_under_the_same_headings() {
        for check in CheckId::ALL {
            let page = check.documentation();
            assert!(page.starts_with(&format!("# {}: ", check.as_str())), "{page}");
            for heading in [
                "What it looks for",
                "Why it matters",
                "Flagged",
                "Not flagged",
                "Blind spots",
                "References",
                "Rules",
            ] {
                assert!(page.contains(&format!("## {heading}\n")), "{}: {heading}", check.as_str());
            }
            assert!(check.why_it_matters().ends_with('.'), "{check:?}");
        }
    }

    #[test]
    fn every_rule_is_explained_and_stands_on_its_page() {
        for rule in RuleInfo::all() {
            let name = rule.name();
            let text = explain_rule(&name).unwrap();
            assert!(text.contains(rule.summary) && text.contains(rule.advice), "{text}");
            assert!(rule.check.documentation().contains(&format!("| `{name}` | ")), "{name}");
            // A cell of a table is one line.
            assert!(!rule.summary.contains(['\n', '|']), "{name}");
        }
        assert_eq!(explain_rule("CHECK-04/none"), None);
    }

    #[test]
    fn a_name_that_is_none_leads_to_the_nearest() {
        for (name, expected) in [
            ("CHECK-04/dns-exfill", Some("CHECK-04/dns-exfil")),
            ("CHECK-05/dns-exfil", Some("CHECK-04/dns-exfil")),
            ("CHECK-02/exakt", Some("CHECK-02/exact")),
            ("CHECK-09", Some("CHECK-01")),
            ("CHECK-04/nothing-of-the-kind", None),
        ] {
            assert_eq!(RuleInfo::suggest(name).as_deref(), expected, "{name}");
        }
    }
}
