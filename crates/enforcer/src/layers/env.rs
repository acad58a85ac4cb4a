//! The environment: cleared, then what was declared.

use std::collections::BTreeMap;
use std::ffi::{CString, OsStr, OsString};
use std::fmt;
use std::os::unix::ffi::OsStrExt as _;

use serde::Serialize;
use skillsandbox_text::{REDACTED, is_secret_name};

use crate::error::{Error, PlanProblem};

/// Which variables a confined command sees.
#[derive(Clone, Default)]
pub(crate) struct EnvironmentRules {
    set: BTreeMap<OsString, OsString>,
    allow: Vec<String>,
    deny: Vec<String>,
}

/// How many variables of the launching program were handed on, and how many not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct EnvironmentCounts {
    /// Handed on because they were declared.
    pub allowed: usize,
    /// Left behind.
    pub stripped: usize,
    /// Of those, the ones whose names speak of secrets.
    pub stripped_secrets: usize,
}

/// Without the values of variables whose names are those of secrets.
impl fmt::Debug for EnvironmentRules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_secret = |name: &OsStr| name.to_str().is_none_or(is_secret_name);
        let shown =
            |(name, value)| if is_secret(name) { (name, OsStr::new(REDACTED)) } else { (name, value) };
        let set: BTreeMap<&OsStr, &OsStr> =
            self.set.iter().map(|(name, value)| shown((name.as_os_str(), value.as_os_str()))).collect();
        let mut environment = f.debug_struct("EnvironmentRules");
        environment.field("set", &set).field("allow", &self.allow).field("deny", &self.deny).finish()
    }
}

impl EnvironmentRules {
    pub(crate) fn set(&mut self, name: &OsStr, value: &OsStr) {
        self.set.insert(name.to_owned(), value.to_owned());
    }

    pub(crate) fn allow(&mut self, pattern: String) {
        match pattern.strip_prefix('!') {
            Some(denied) => self.deny.push(denied.to_owned()),
            None => self.allow.push(pattern),
        }
    }

    pub(crate) fn deny(&mut self, pattern: String) {
        self.deny.push(pattern);
    }

    pub(crate) fn check(&self) -> Result<(), Error> {
        for (name, value) in &self.set {
            let bytes = name.as_bytes();
            if bytes.is_empty() || bytes.contains(&b'=') || bytes.contains(&0) {
                return Err(PlanProblem::VariableName(name.to_string_lossy().into_owned()).into());
            }
            if value.as_bytes().contains(&0) {
                return Err(PlanProblem::Nul(name.into()).into());
            }
        }
        let empty =
            self.allow.iter().chain(&self.deny).find(|pattern| pattern.is_empty() || pattern.contains('='));
        match empty {
            Some(pattern) => Err(PlanProblem::VariableName(pattern.clone()).into()),
            None => Ok(()),
        }
    }

    /// What the command sees of `host`, over the sandbox's own variables.
    pub(crate) fn resolve(
        &self,
        host: impl IntoIterator<Item = (OsString, OsString)>,
        own: &[(&str, OsString)],
    ) -> (BTreeMap<OsString, OsString>, EnvironmentCounts) {
        let mut counts = EnvironmentCounts::default();
        let mut variables = BTreeMap::new();
        let own_name = |name: &OsStr| own.iter().any(|(own, _)| OsStr::new(own) == name);
        for (name, value) in host {
            if self.hands_on(&name) && !own_name(&name) {
                counts.allowed += 1;
                variables.insert(name, value);
            } else {
                counts.stripped += 1;
                counts.stripped_secrets += usize::from(name.to_str().is_some_and(is_secret_name));
            }
        }
        for (name, value) in own {
            variables.insert(OsString::from(name), value.clone());
        }
        variables.extend(self.set.iter().map(|(name, value)| (name.clone(), value.clone())));
        (variables, counts)
    }

    pub(crate) fn hands_on(&self, name: &OsStr) -> bool {
        let Some(text) = name.to_str() else { return false };
        if self.deny.iter().any(|pattern| matches(pattern, text)) {
            return false;
        }
        let exact = self.allow.iter().any(|pattern| pattern == text);
        exact || (self.allow.iter().any(|pattern| matches(pattern, text)) && !is_secret_name(text))
    }
}

/// The variables as `execve` takes them.
pub(crate) fn env_lines(variables: &BTreeMap<OsString, OsString>) -> Result<Vec<CString>, Error> {
    let line = |(name, value): (&OsString, &OsString)| {
        let line = [name.as_bytes(), b"=", value.as_bytes()].concat();
        CString::new(line).map_err(|_| PlanProblem::Nul(name.into()).into())
    };
    variables.iter().map(line).collect()
}

/// `*` is any run of characters, and the rest means itself. Greedy with one step back, so linear in practice and at worst
/// the product of both lengths.
fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name) = (pattern.as_bytes(), name.as_bytes());
    let (mut p, mut n) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        match pattern.get(p) {
            Some(b'*') => {
                star = Some((p, n));
                p += 1;
            }
            Some(byte) if Some(byte) == name.get(n) => {
                p += 1;
                n += 1;
            }
            _ => match &mut star {
                Some((at, from)) => {
                    *from += 1;
                    p = *at + 1;
                    n = *from;
                }
                None => return false,
            },
        }
    }
    pattern.get(p..).is_some_and(|rest| rest.iter().all(|byte| *byte == b'*'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(environment: &EnvironmentRules, host: &[&str]) -> Vec<String> {
        let host = host.iter().map(|name| (OsString::from(name), OsString::from("value")));
        let (variables, _) = environment.resolve(host, &[]);
        variables.into_keys().map(|name| name.into_string().unwrap()).collect()
    }

    #[test]
    fn patterns() {
        for (pattern, name, expected) in [
            ("APP_*", "APP_MODE", true),
            ("APP_*", "APP_", true),
            ("APP_*", "XAPP_MODE", false),
            ("*_MODE", "APP_MODE", true),
            ("*_MODE", "APP_MODE_X", false),
            ("*", "ANYTHING", true),
            ("A*B*C", "AxxBxxC", true),
            ("A*B*C", "AxxBxx", false),
            ("A**B", "AB", true),
            ("LANG", "LANG", true),
            ("LANG", "LANGUAGE", false),
            ("lang", "LANG", false),
        ] {
            assert_eq!(matches(pattern, name), expected, "{pattern} on {name}");
        }
    }

    #[test]
    fn deny_wins_and_a_bang_is_a_deny() {
        let mut environment = EnvironmentRules::default();
        environment.allow("APP_*".into());
        environment.allow("!APP_INTERNAL*".into());
        environment.allow("LANG".into());
        environment.deny("LANG".into());
        assert_eq!(seen(&environment, &["APP_MODE", "APP_INTERNAL_X", "LANG", "OTHER"]), ["APP_MODE"]);
    }

    #[test]
    fn a_pattern_hands_on_no_secret_but_a_name_does() {
        let mut environment = EnvironmentRules::default();
        environment.allow("*".into());
        environment.allow("MY_API_KEY".into());
        let host = [
            "AWS_SECRET_ACCESS_KEY",
            "github_token",
            "DB_PASSWORD",
            "MY_API_KEY",
            "SSH_PRIVATE_KEY",
            "Authorization",
            "DB_PWD",
            "SENTRY_DSN",
            "PWD",
            "LANG",
        ];
        assert_eq!(seen(&environment, &host), ["LANG", "MY_API_KEY", "PWD"]);
    }

    #[test]
    fn debug_shows_no_secret_that_is_set() {
        let mut environment = EnvironmentRules::default();
        environment.set(OsStr::new("API_TOKEN"), OsStr::new("hunter2"));
        environment.set(OsStr::new("MODE"), OsStr::new("fast"));
        let shown = format!("{environment:?}");
        assert!(
            !shown.contains("hunter2") && shown.contains("API_TOKEN") && shown.contains("fast"),
            "{shown}"
        );
    }

    #[test]
    fn what_was_set_wins_over_everything_and_the_sandbox_over_the_host() {
        let mut environment = EnvironmentRules::default();
        environment.allow("*".into());
        environment.set(OsStr::new("LANG"), OsStr::new("C"));
        let host = [("LANG".into(), "host".into()), ("HOME".into(), "host".into())];
        let (variables, counts) = environment.resolve(host, &[("HOME", "/home/skill".into())]);
        assert_eq!(variables[OsStr::new("LANG")], "C");
        assert_eq!(variables[OsStr::new("HOME")], "/home/skill");
        assert_eq!(counts, EnvironmentCounts { allowed: 1, stripped: 1, stripped_secrets: 0 });
    }
}
