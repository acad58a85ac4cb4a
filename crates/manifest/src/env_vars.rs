//! Which environment variables a skill sees.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};
use skillsandbox_text::is_secret_name;

use crate::diagnostic::{Code, DiagnosticSink, Fault, Spanned, quoted};
use crate::raw;

/// The environment variables a skill sees. Whatever is not allowed is absent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct EnvPermissions {
    /// Passed on.
    pub allow: Vec<Spanned<EnvPattern>>,
    /// Never passed on, whatever is allowed.
    pub deny: Vec<Spanned<EnvPattern>>,
}

/// Why a variable is passed on or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EnvDecision<'a> {
    /// This pattern allows it.
    Allowed(&'a EnvPattern),
    /// This pattern denies it.
    Denied(&'a EnvPattern),
    /// Only a wildcard would allow it, and its name is that of a secret.
    Sensitive,
    /// Nothing names it.
    Undeclared,
}

impl EnvDecision<'_> {
    /// Whether the skill sees the variable.
    #[must_use]
    pub fn is_allowed(&self) -> bool {
        matches!(self, Self::Allowed(_))
    }
}

impl EnvPermissions {
    pub(crate) const PATH: &'static str = "permissions.env_vars";

    /// Decides about one variable by its name.
    ///
    /// ```
    /// use skillsandbox_manifest::Manifest;
    ///
    /// let manifest = Manifest::parse(r#"
    /// skill: { name: app, version: "1" }
    /// permissions: { env_vars: { allow: [APP_*, APP_TOKEN, LANG], deny: ["*_SECRET"] } }
    /// entrypoint: { command: app }
    /// "#)?;
    /// let env = manifest.env_vars();
    /// assert!(env.decide("APP_MODE").is_allowed());
    /// assert!(env.decide("APP_TOKEN").is_allowed()); // by its own name
    /// assert!(!env.decide("APP_PASSWORD").is_allowed()); // a wildcard does not reach a secret
    /// assert!(!env.decide("APP_SECRET").is_allowed());
    /// assert!(!env.decide("AWS_REGION").is_allowed());
    /// # Ok::<(), skillsandbox_manifest::Invalid>(())
    /// ```
    #[must_use]
    pub fn decide(&self, name: &str) -> EnvDecision<'_> {
        let find = |list: &'_ [Spanned<EnvPattern>]| list.iter().position(|pattern| pattern.matches(name));
        if let Some(pattern) = find(&self.deny).and_then(|i| self.deny.get(i)) {
            return EnvDecision::Denied(pattern);
        }
        let mut sensitive = false;
        for pattern in self.allow.iter().filter(|pattern| pattern.matches(name)) {
            if !pattern.is_glob() || !is_secret_name(name) {
                return EnvDecision::Allowed(pattern);
            }
            sensitive = true;
        }
        if sensitive { EnvDecision::Sensitive } else { EnvDecision::Undeclared }
    }

    pub(crate) fn lower(raw: &raw::EnvVars, sink: &mut DiagnosticSink) -> Self {
        let allow = format!("{}.allow", Self::PATH);
        let negated = |text: &String| text.starts_with('!');
        let written = || raw::entries(raw.allow.as_ref());
        let checked = sink.check_all(written().filter(|(_, text)| !negated(text)), &allow, |text| {
            if text == "*" {
                let message = "`*` would pass on the whole environment";
                return Err(
                    Fault::new(Code::InvalidVariable, message).help("name the variables that are needed")
                );
            }
            text.parse()
        });
        let path = format!("{}.deny", Self::PATH);
        let mut deny = sink.check_all(raw::entries(raw.deny.as_ref()), &path, |text| text.parse());
        for (i, text) in written().filter(|(_, text)| negated(text)) {
            let strip = |text: &String| text.strip_prefix('!').unwrap_or(text).parse();
            let pattern = sink.check(text, format_args!("{allow}[{i}]"), strip);
            deny.extend(pattern.filter(|pattern| !deny.contains(pattern)));
        }
        Self { allow: checked, deny }
    }
}

/// A name of an environment variable, or a pattern with one `*` for any characters.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EnvPattern {
    prefix: String,
    /// What follows the `*`; `None` for a plain name.
    suffix: Option<String>,
}

impl EnvPattern {
    /// Whether it holds a `*`.
    #[must_use]
    pub fn is_glob(&self) -> bool {
        self.suffix.is_some()
    }

    /// Whether a name is meant. Case counts, as it does in the environment.
    #[must_use]
    pub fn matches(&self, name: &str) -> bool {
        let Some(suffix) = &self.suffix else {
            return name == self.prefix;
        };
        name.strip_prefix(self.prefix.as_str()).is_some_and(|rest| rest.ends_with(suffix.as_str()))
    }

    /// Whether every name that `other` matches is matched by `self`.
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        match (&self.suffix, &other.suffix) {
            (_, None) => self.matches(&other.prefix),
            (None, Some(_)) => false,
            (Some(suffix), Some(other_suffix)) => {
                other.prefix.starts_with(&self.prefix) && other_suffix.ends_with(suffix.as_str())
            }
        }
    }

    /// The patterns that together match exactly what both match.
    ///
    /// `APP_*` and `*_MODE` meet in `APP_*_MODE` and, where their ends overlap, in `APP_MODE`.
    pub(crate) fn both(&self, other: &Self) -> Vec<Self> {
        let (Some(suffix), Some(other_suffix)) = (&self.suffix, &other.suffix) else {
            let (name, pattern) = if self.suffix.is_none() { (self, other) } else { (other, self) };
            return if pattern.matches(&name.prefix) { vec![name.clone()] } else { Vec::new() };
        };
        let (short, prefix) = by_length(&self.prefix, &other.prefix);
        let (short_end, suffix) = by_length(suffix, other_suffix);
        if !prefix.starts_with(short) || !suffix.ends_with(short_end) {
            return Vec::new();
        }
        let mut met = vec![Self { prefix: prefix.clone(), suffix: Some(suffix.clone()) }];
        for (cut, _) in suffix.char_indices().skip(1).chain([(suffix.len(), ' ')]) {
            let (head, tail) = suffix.split_at(cut);
            let name = format!("{prefix}{tail}");
            let new = !met.iter().any(|known| known.matches(&name));
            if new && prefix.ends_with(head) && self.matches(&name) && other.matches(&name) {
                met.push(Self { prefix: name, suffix: None });
            }
        }
        met
    }
}

fn by_length<'a>(a: &'a String, b: &'a String) -> (&'a String, &'a String) {
    if a.len() <= b.len() { (a, b) } else { (b, a) }
}

impl FromStr for EnvPattern {
    type Err = Fault;

    fn from_str(text: &str) -> Result<Self, Fault> {
        let fault = |message: String| Fault::new(Code::InvalidVariable, message);
        if text.is_empty() {
            return Err(fault("the name is empty".to_owned()));
        }
        if text.len() > 256 {
            return Err(fault(format!("{} is longer than 256 characters", quoted(text))));
        }
        if let Some((name, _)) = text.split_once('=') {
            return Err(fault(format!("{} holds a value; the manifest names variables only", quoted(text)))
                .help(format!("write {}", quoted(name))));
        }
        if let Some(name) = text.strip_prefix('$') {
            return Err(
                fault(format!("{} is not a name", quoted(text))).help(format!("write {}", quoted(name)))
            );
        }
        let plain = |part: &str| part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        let (prefix, suffix) = match text.split_once('*') {
            Some((_, suffix)) if suffix.contains('*') => {
                return Err(fault(format!("{} holds more than one `*`", quoted(text))));
            }
            Some((prefix, suffix)) => (prefix, Some(suffix)),
            None => (text, None),
        };
        if !plain(prefix) || !suffix.is_none_or(plain) || prefix.starts_with(|c: char| c.is_ascii_digit()) {
            let message = format!("{} is not a name of a variable", quoted(text));
            return Err(fault(message).help("letters, digits and `_`, with at most one `*`"));
        }
        Ok(Self { prefix: prefix.to_owned(), suffix: suffix.map(str::to_owned) })
    }
}

impl fmt::Display for EnvPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.prefix)?;
        if let Some(suffix) = &self.suffix {
            write!(f, "*{suffix}")?;
        }
        Ok(())
    }
}

impl Serialize for EnvPattern {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(text: &str) -> EnvPattern {
        text.parse().unwrap()
    }

    #[test]
    fn one_star_matches_any_characters() {
        for (text, name, expected) in [
            ("APP_*", "APP_MODE", true),
            ("APP_*", "APP_", true),
            ("APP_*", "app_mode", false),
            ("APP_*", "MY_APP_X", false),
            ("*_DIR", "TMP_DIR", true),
            ("*_DIR", "_DIR", true),
            ("A*B", "AB", true),
            ("AB*BA", "ABA", false),
            ("AB*BA", "ABBA", true),
            ("LANG", "LANG", true),
            ("LANG", "LANGUAGE", false),
        ] {
            assert_eq!(pattern(text).matches(name), expected, "{text} {name}");
        }
        for text in ["", "A B", "A=B", "$HOME", "A**", "A*B*C", "1A", "A-B", "Ä", "A;B", "*!"] {
            assert!(text.parse::<EnvPattern>().is_err(), "{text}");
        }
    }

    #[test]
    fn patterns_meet_exactly() {
        let texts = ["*", "A*", "AB*", "*A", "*BA", "A*A", "AB*BA", "A*B", "ABA", "AB", "A", "B*", "ABAB*"];
        let mut names = vec![String::new()];
        for i in 0..names.len() + 254 {
            let longer: Vec<_> = ["A", "B"].iter().map(|c| format!("{}{c}", names[i])).collect();
            names.extend(longer);
        }
        for a in texts.map(pattern) {
            for b in texts.map(pattern) {
                let met = a.both(&b);
                for name in &names {
                    let expected = a.matches(name) && b.matches(name);
                    assert_eq!(met.iter().any(|p| p.matches(name)), expected, "{a} and {b} at {name}");
                }
            }
        }
    }
}
