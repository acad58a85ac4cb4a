//! Suppressions put into the text of a policy, and taken out of it, with everything else left byte for byte.
//!
//! The text is edited by lines, which knows little of YAML. So nothing is believed: what comes out is parsed again, and counts only if it says
//! exactly what the old text said and the one change. A text that cannot be edited so is left to its owner.

use std::fmt::{self, Write as _};

use crate::diagnostic::Invalid;
use crate::policy::Policy;
use crate::scan_policy::Suppression;

/// Why a policy was not edited.
#[derive(Debug)]
#[non_exhaustive]
pub enum PolicyEditError {
    /// The text is not a valid policy.
    Invalid(Invalid),
    /// The text is written in a way that lines cannot be put into; this is what was to be put there.
    Unsuited(String),
    /// There is no suppression of this number.
    NoSuch(usize),
}

impl fmt::Display for PolicyEditError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid(invalid) => write!(f, "the policy is not valid: {invalid}"),
            Self::Unsuited(entry) if entry.is_empty() => {
                f.write_str("the policy is written in a way that no line can be taken out of; do it by hand")
            }
            Self::Unsuited(entry) => write!(
                f,
                "the policy is written in a way that no line can be put into; add this to `scan.suppressions` by hand:\n{entry}"
            ),
            Self::NoSuch(number) => write!(f, "the policy has no suppression of the number {number}"),
        }
    }
}

impl std::error::Error for PolicyEditError {}

impl Policy {
    /// The text of a policy with one more suppression; the rest stays as it is, comments too. An empty text becomes a policy that says
    /// nothing else.
    ///
    /// ```
    /// use skillsandbox_manifest::{Policy, Suppression};
    ///
    /// let entry = Suppression::new("CHECK-04/dns-exfil", "a resolver's tests", "2027-01-31".parse()?)?.path("tests/dns.py")?;
    /// let text = Policy::add_suppression("# ours\nscan:\n  fail_on: warning # always\n", &entry)?;
    /// assert!(text.starts_with("# ours\nscan:\n") && text.ends_with("  fail_on: warning # always\n"));
    /// assert_eq!(Policy::parse(&text)?.scan().suppressions.len(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// A text that is not a policy, or that lines cannot be put into.
    pub fn add_suppression(text: &str, entry: &Suppression) -> Result<String, PolicyEditError> {
        let old = parse_text(text)?;
        let mut expected = unplaced(&old);
        expected.push(Suppression { line: 0, ..entry.clone() });
        let lines = PolicyLines::new(text);
        let fits = |candidate: &String| says_only(candidate, &old, &expected);
        let found = lines.with_entry(entry).into_iter().find(fits);
        found.ok_or_else(|| PolicyEditError::Unsuited(render_entry(entry, "    ", "\n")))
    }

    /// The text of a policy without its suppression of a number, from 0, as [`ScanPolicy::suppressions`](crate::ScanPolicy) has them.
    ///
    /// # Errors
    /// A text that is not a policy, that has no such suppression, or that lines cannot be taken out of.
    pub fn remove_suppression(text: &str, number: usize) -> Result<String, PolicyEditError> {
        let old = parse_text(text)?;
        let Some(entry) = old.scan().suppressions.get(number) else {
            return Err(PolicyEditError::NoSuch(number));
        };
        let mut expected = unplaced(&old);
        expected.remove(number);
        let lines = PolicyLines::new(text);
        let fits = |candidate: &String| says_only(candidate, &old, &expected);
        let found = lines.without_entry(entry.line).into_iter().find(fits);
        found.ok_or_else(|| PolicyEditError::Unsuited(String::new()))
    }
}

/// A text with nothing in it is a policy that says nothing.
fn parse_text(text: &str) -> Result<Policy, PolicyEditError> {
    let is_blank = text.lines().all(|line| line.trim().is_empty() || line.trim_start().starts_with('#'));
    Policy::parse(if is_blank { "{}" } else { text }).map_err(PolicyEditError::Invalid)
}

/// Its suppressions, wherever they stand.
fn unplaced(policy: &Policy) -> Vec<Suppression> {
    policy.scan().suppressions.iter().map(|entry| Suppression { line: 0, ..entry.clone() }).collect()
}

/// Whether a text says what a policy says, with these suppressions in any order.
fn says_only(text: &str, policy: &Policy, suppressions: &[Suppression]) -> bool {
    let Ok(new) = parse_text(text) else { return false };
    let mut left = unplaced(&new);
    for entry in suppressions {
        let Some(at) = left.iter().position(|other| other == entry) else { return false };
        left.swap_remove(at);
    }
    left.is_empty() && policy.differs_only_in_suppressions(&new)
}

/// A suppression as an item of a list, its first line at this indentation.
fn render_entry(entry: &Suppression, indent: &str, end: &str) -> String {
    let Suppression { rule, skill, digest, path, file_digest, reason, expires, line: _ } = entry;
    let expires = expires.to_string();
    let keys = [
        ("rule", Some(rule)),
        ("skill", skill.as_ref()),
        ("digest", digest.as_ref()),
        ("path", path.as_ref()),
        ("file_digest", file_digest.as_ref()),
        ("reason", Some(reason)),
        ("expires", Some(&expires)),
    ];
    let mut text = String::new();
    let written = keys.into_iter().filter_map(|(key, value)| Some((key, value?)));
    for (number, (key, value)) in written.enumerate() {
        // A string of JSON is one of YAML.
        let value = serde_json::Value::String(value.clone());
        let lead = if number == 0 { "- " } else { "  " };
        let _ = write!(text, "{indent}{lead}{key}: {value}{end}");
    }
    text
}

/// A policy's text, cut into lines.
struct PolicyLines<'t> {
    lines: Vec<&'t str>,
    /// How they end.
    end: &'static str,
}

impl<'t> PolicyLines<'t> {
    fn new(text: &'t str) -> Self {
        let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
        Self { lines: text.split_inclusive('\n').collect(), end }
    }

    /// Texts with one more suppression, the likeliest first.
    fn with_entry(&self, entry: &Suppression) -> Vec<String> {
        let end = self.end;
        let Some(scan) = self.find_key("scan", 0, 0) else {
            let list = render_entry(entry, "    ", end);
            let gap = if self.lines.last().is_some_and(|line| !line.ends_with('\n')) { end } else { "" };
            return vec![format!("{}{gap}scan:{end}  suppressions:{end}{list}", self.lines.concat())];
        };
        let child =
            self.lines.iter().skip(scan + 1).find(|line| !is_blank(line)).map_or(0, |line| depth(line));
        let child = if child == 0 { 2 } else { child };
        let Some(key) = self.find_key("suppressions", scan + 1, child) else {
            let list = render_entry(entry, &" ".repeat(child + 2), end);
            return vec![self.insert_after(scan, &format!("{}suppressions:{end}{list}", " ".repeat(child)))];
        };
        let first = self.lines.iter().skip(key + 1).find(|line| !is_blank(line));
        let item = first.filter(|line| line.trim_start().starts_with("- ")).map(|line| depth(line));
        let indent = " ".repeat(item.filter(|item| *item >= child).unwrap_or(child + 2));
        vec![self.insert_after(key, &render_entry(entry, &indent, end))]
    }

    /// Texts without the suppression that begins in this line, from 1.
    fn without_entry(&self, line: usize) -> Vec<String> {
        let Some(first) = line.checked_sub(1) else { return Vec::new() };
        let Some(dash) = self.lines.get(first).map(|line| depth(line)) else { return Vec::new() };
        let rest = self.lines.iter().skip(first + 1);
        let count = rest.take_while(|line| !is_blank(line) && depth(line) > dash).count();
        let without: Vec<&str> = self
            .lines
            .iter()
            .enumerate()
            .filter(|(at, _)| !(first..=first + count).contains(at))
            .map(|(_, line)| *line)
            .collect();
        // A list without entries has to be written as one.
        let emptied: String = without
            .iter()
            .map(|line| match line.trim_end().strip_suffix("suppressions:") {
                Some(indent) if indent.trim().is_empty() => format!("{indent}suppressions: []{}", self.end),
                _ => (*line).to_owned(),
            })
            .collect();
        vec![without.concat(), emptied]
    }

    /// The line of a key at this depth, at or behind a line and before anything that stands less deep.
    fn find_key(&self, key: &str, from: usize, indent: usize) -> Option<usize> {
        for (at, line) in self.lines.iter().enumerate().skip(from) {
            if is_blank(line) {
                continue;
            }
            if depth(line) < indent {
                return None;
            }
            let value = line.trim().strip_prefix(key).and_then(|rest| rest.strip_prefix(':'));
            if depth(line) == indent && value.is_some_and(|value| value.is_empty() || value.starts_with(' '))
            {
                return Some(at);
            }
        }
        None
    }

    /// The text with something behind a line, whose value is taken away where it stands for nothing.
    fn insert_after(&self, at: usize, inserted: &str) -> String {
        let mut out = String::new();
        for (number, line) in self.lines.iter().enumerate() {
            if number != at {
                out.push_str(line);
                continue;
            }
            let empty =
                ["{}", "[]", "null", "~"].iter().find_map(|value| line.trim_end().strip_suffix(value));
            match empty.filter(|key| key.trim_end().ends_with(':')) {
                Some(key) => {
                    out.push_str(key.trim_end());
                    out.push_str(self.end);
                }
                None => out.push_str(line),
            }
            if !out.ends_with('\n') {
                out.push_str(self.end);
            }
            out.push_str(inserted);
        }
        out
    }
}

/// How far a line is indented.
fn depth(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// Whether a line says nothing.
fn is_blank(line: &str) -> bool {
    let text = line.trim();
    text.is_empty() || text.starts_with('#')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(reason: &str) -> Suppression {
        let entry = Suppression::new("CHECK-01/override", reason, "2027-01-31".parse().unwrap()).unwrap();
        entry.skill("notes").unwrap().path("SKILL.md").unwrap().file_digest(&"a".repeat(64)).unwrap()
    }

    /// Whether every line of the old text is in the new one, in its order.
    fn keeps(old: &str, new: &str) -> bool {
        let mut lines = new.split_inclusive('\n');
        old.split_inclusive('\n').all(|line| lines.any(|other| other.trim_end() == line.trim_end()))
    }

    #[test]
    fn an_entry_is_put_in_and_taken_out_and_the_rest_stays() {
        for text in [
            "",
            "# only a comment\n",
            "resources: { memory_mb: 64 }",
            "resources: { memory_mb: 64 }\n# the end\n",
            "scan:\n  fail_on: warning   # always\nresources:\n  memory_mb: 64\n",
            "# a\nscan:\n\n    # b\n    blocklist:\n      - evil.test\n",
            "scan:\n  suppressions:\n    - { rule: CHECK-04, reason: r, expires: 2999-01-01 } # c\n  fail_on: warning\n",
            "scan:\n  suppressions:\n  - rule: CHECK-04\n    # why\n    reason: r\n    expires: 2999-01-01\n",
            "scan:\r\n  fail_on: warning\r\nresources: { memory_mb: 64 }\r\n",
            "scan:\n  suppressions: # ours\n    # first\n    - { rule: CHECK-04, reason: r, expires: 2999-01-01 }\n",
        ] {
            let odd = "it's \"so\": {x} # \\ é [y] ";
            let added = Policy::add_suppression(text, &entry(odd))
                .unwrap_or_else(|error| panic!("{text:?}: {error}"));
            assert!(keeps(text, &added), "{text:?} -> {added:?}");
            assert_eq!(added.contains("\r\n"), text.contains("\r\n"), "{text:?}");
            let policy = Policy::parse(&added).unwrap();
            let at = policy.scan().suppressions.iter().position(|found| found.reason == odd.trim()).unwrap();
            let removed =
                Policy::remove_suppression(&added, at).unwrap_or_else(|error| panic!("{added:?}: {error}"));
            assert!(
                keeps(text, &removed.replace("suppressions: []", "suppressions:")),
                "{added:?} -> {removed:?}"
            );
            let twice = Policy::add_suppression(&added, &entry("again")).unwrap();
            assert_eq!(
                Policy::parse(&twice).unwrap().scan().suppressions.len(),
                policy.scan().suppressions.len() + 1
            );
        }
    }

    #[test]
    fn empty_values_are_filled() {
        for text in [
            "scan: {}\n",
            "scan:\n",
            "scan:\n  suppressions: []\n",
            "scan:\n  fail_on: blocked\n  suppressions: []\n",
        ] {
            let Ok(_) = Policy::parse(text) else { continue };
            let added = Policy::add_suppression(text, &entry("r")).unwrap();
            assert_eq!(Policy::parse(&added).unwrap().scan().suppressions.len(), 1, "{added:?}");
        }
    }

    #[test]
    fn what_lines_cannot_be_put_into_is_left_alone() {
        for text in [
            "{ scan: { fail_on: warning } }\n",
            "scan: { fail_on: warning }\n",
            "scan:\n  suppressions: [{ rule: CHECK-04, reason: r, expires: 2999-01-01 }]\n",
        ] {
            let error = Policy::add_suppression(text, &entry("r")).unwrap_err();
            assert!(
                matches!(&error, PolicyEditError::Unsuited(entry) if entry.contains("rule: ")),
                "{text:?}: {error}"
            );
            assert!(error.to_string().contains("by hand"));
        }
        assert!(matches!(
            Policy::add_suppression("scam: 1\n", &entry("r")),
            Err(PolicyEditError::Invalid(_))
        ));
        assert!(matches!(Policy::remove_suppression("{}\n", 0), Err(PolicyEditError::NoSuch(0))));
    }

    #[test]
    fn a_text_that_only_looks_like_a_section_is_not_taken_for_one() {
        let text = "permissions:\n  commands: { allow: [\"a\"] }\nscan:\n  suppressions:\n    - rule: CHECK-04\n      reason: |\n        scan:\n          suppressions:\n      expires: 2999-01-01\n";
        if Policy::parse(text).is_ok() {
            let added = Policy::add_suppression(text, &entry("r")).unwrap();
            let reasons: Vec<_> = Policy::parse(&added)
                .unwrap()
                .scan()
                .suppressions
                .iter()
                .map(|found| found.reason.clone())
                .collect();
            assert_eq!(reasons.len(), 2, "{added}");
        }
    }
}
