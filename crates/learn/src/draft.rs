//! A manifest as text, every line with its evidence; and what is read back is what was meant.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::PathBuf;

use serde_json::{Map, Value, json};
use skillsandbox_manifest::{EgressRule, GrantPath, Invalid, Manifest};
use skillsandbox_text::{escape_line, shorten};

use crate::never_granted::why_never;
use crate::places::LearnPlaces;
use crate::proposal::FileGrant;

/// Longest line of evidence, in characters.
const LONGEST_EVIDENCE: usize = 160;
/// Most lines of evidence for one entry.
const MOST_EVIDENCE: usize = 6;

/// What comments begin with that were there before, and are no evidence of this time.
pub(crate) const BEFORE: &str = "before: ";

/// A manifest that is being written.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ManifestDraft {
    /// Lines at its head.
    pub about: Vec<String>,
    /// The skill's name, version and description.
    pub name: String,
    /// Its version.
    pub version: String,
    /// What it does.
    pub description: Option<String>,
    /// Destinations, each an entry of `egress`.
    pub egress: Vec<DraftEntry<Value>>,
    /// May be read.
    pub read: Vec<DraftEntry<String>>,
    /// May be written.
    pub write: Vec<DraftEntry<String>>,
    /// Variables that are handed on.
    pub env: Vec<DraftEntry<String>>,
    /// How it is started, where it has one way only.
    pub entrypoint: Option<DraftEntry<Value>>,
    /// All else that a manifest held which this one continues, as it was.
    pub(crate) rest: Map<String, Value>,
}

/// One entry and why it is there.
#[derive(Debug, Clone, PartialEq)]
pub struct DraftEntry<T> {
    /// The entry.
    pub value: T,
    /// Why.
    pub evidence: Vec<String>,
}

impl<T> DraftEntry<T> {
    /// An entry and why it is there.
    pub fn new<E: Into<String>>(value: T, evidence: impl IntoIterator<Item = E>) -> Self {
        Self { value, evidence: evidence.into_iter().map(Into::into).collect() }
    }
}

/// Why a draft is no manifest.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DraftError {
    /// What was written is not valid.
    #[error("the manifest that was written is not valid: {0}")]
    Invalid(#[from] Invalid),
    /// What was written says something else than what was meant.
    #[error("the manifest that was written grants something else than what was accepted; nothing is kept")]
    Differs,
}

impl ManifestDraft {
    /// An empty one. A name that no skill can have is made one.
    #[must_use]
    pub fn new(name: &str, version: Option<&str>, description: Option<&str>) -> Self {
        let name = usable_name(name);
        let version = version.filter(|version| Manifest::safe_defaults(&name, version).is_ok());
        Self {
            about: Vec::new(),
            name,
            version: version.unwrap_or("0.0.0").to_owned(),
            description: description.map(|text| shorten(&escape_line(text), 300, "…")),
            egress: Vec::new(),
            read: Vec::new(),
            write: Vec::new(),
            env: Vec::new(),
            entrypoint: None,
            rest: Map::new(),
        }
    }

    /// One that continues a manifest: everything in it stays, with the comments of its grants.
    #[must_use]
    pub fn continuing(manifest: &Manifest, text: &str) -> Self {
        let skill = manifest.skill();
        let description = skill.description.as_ref().map(|text| text.value.as_str());
        let mut draft = Self::new(&skill.name.value, Some(&skill.version.value), description);
        let lines: Vec<&str> = text.lines().collect();
        let comments = |start: usize| comments_at(text, &lines, start);
        for rule in &manifest.network().egress {
            draft.egress.push(DraftEntry::new(rule_value(&rule.value), comments(rule.span.start)));
        }
        let files = manifest.filesystem();
        for (list, entries) in [(&mut draft.read, &files.read), (&mut draft.write, &files.write)] {
            for grant in entries {
                list.push(DraftEntry::new(grant.value.to_string(), comments(grant.span.start)));
            }
        }
        for pattern in &manifest.env_vars().allow {
            draft.env.push(DraftEntry::new(pattern.value.to_string(), comments(pattern.span.start)));
        }
        draft.keep_rest(manifest);
        draft
    }

    /// One for whoever uses a skill, of the manifest that its author wrote: what that restricts and asks for stays, and nothing that it grants. Its
    /// comments are the author's words, and go.
    #[must_use]
    pub fn restrictions_of(manifest: &Manifest) -> Self {
        let mut draft = Self::continuing(manifest, "");
        draft.egress.clear();
        draft.read.clear();
        draft.write.clear();
        draft.env.clear();
        if let Some(permissions) = draft.rest.get_mut("permissions").and_then(Value::as_object_mut) {
            // Who resolves names is told all of them.
            permissions.remove("network");
            if permissions.get("syscalls").is_some_and(|calls| calls["profile"] != "strict") {
                permissions.remove("syscalls");
            }
            if let Some(files) = permissions.get_mut("filesystem").and_then(Value::as_object_mut) {
                files.remove("unix_sockets");
            }
        }
        draft
    }

    /// What stood in the skill's own manifest before is nothing that was seen: its comments say so from now on, and what is never granted goes.
    pub fn doubt_what_was_there(&mut self, places: &LearnPlaces) {
        let egress = self.egress.iter_mut().map(|entry| &mut entry.evidence);
        let paths = self.read.iter_mut().chain(&mut self.write).chain(&mut self.env);
        for line in paths.map(|entry| &mut entry.evidence).chain(egress).flatten() {
            if !line.starts_with(BEFORE) {
                line.insert_str(0, BEFORE);
            }
        }
        let bases = places.bases();
        let may_stay = |text: &str, grant: fn(PathBuf) -> FileGrant| {
            let path = text.parse::<GrantPath>().ok().map(|path| path.resolve(&bases));
            path.is_some_and(|path| path == places.skill || why_never(&grant(path), places).is_none())
        };
        self.read.retain(|entry| may_stay(&entry.value, FileGrant::Read));
        self.write.retain(|entry| may_stay(&entry.value, FileGrant::Write));
    }

    /// What is neither of these, where it is not what every manifest has.
    fn keep_rest(&mut self, manifest: &Manifest) {
        let usual = Manifest::safe_defaults(&self.name, &self.version)
            .ok()
            .and_then(|usual| serde_json::to_value(usual).ok())
            .unwrap_or_default();
        let Ok(Value::Object(mut own)) = serde_json::to_value(manifest) else { return };
        own.remove("skill");
        if let Some(entrypoint) = own.remove("entrypoint").filter(|value| !value.is_null()) {
            self.entrypoint = Some(DraftEntry::new(entrypoint, Vec::<String>::new()));
        }
        let mut usual = usual;
        for object in [own.get_mut("permissions"), usual.get_mut("permissions")].into_iter().flatten() {
            for (section, keys) in
                [("network", &["egress"][..]), ("filesystem", &["read", "write"]), ("env_vars", &["allow"])]
            {
                let section = object.get_mut(section).and_then(Value::as_object_mut);
                if let Some(section) = section {
                    for key in keys {
                        section.remove(*key);
                    }
                }
            }
        }
        self.rest = difference(&own, usual.as_object().unwrap_or(&Map::new()));
    }

    /// The text.
    ///
    /// # Errors
    /// What cannot be said in a manifest; then there is none.
    pub fn to_text(&self) -> Result<String, DraftError> {
        let text = self.render();
        let manifest = Manifest::parse(&text)?;
        self.check(&manifest)?;
        Ok(text)
    }

    /// Nothing that was written is believed: it is read again.
    fn check(&self, manifest: &Manifest) -> Result<(), DraftError> {
        let texts = |entries: &[DraftEntry<String>]| -> BTreeSet<String> {
            entries.iter().map(|entry| entry.value.clone()).collect()
        };
        let files = manifest.filesystem();
        let read: BTreeSet<String> = files.read.iter().map(|grant| grant.value.to_string()).collect();
        let write: BTreeSet<String> = files.write.iter().map(|grant| grant.value.to_string()).collect();
        let env: BTreeSet<String> =
            manifest.env_vars().allow.iter().map(|pattern| pattern.value.to_string()).collect();
        let is_same = read == texts(&self.read)
            && write == texts(&self.write)
            && env == texts(&self.env)
            && manifest.network().egress.len() == self.egress.len();
        if is_same { Ok(()) } else { Err(DraftError::Differs) }
    }

    fn render(&self) -> String {
        let mut out = String::new();
        for line in &self.about {
            comment(&mut out, 0, line);
        }
        let _ = writeln!(out, "skill:\n  name: {}\n  version: {}", json!(self.name), json!(self.version));
        if let Some(description) = &self.description {
            let _ = writeln!(out, "  description: {}", json!(description));
        }
        let mut rest = self.rest.clone();
        let mut permissions = match rest.remove("permissions") {
            Some(Value::Object(permissions)) => permissions,
            _ => Map::new(),
        };
        let mut body = String::new();
        let mut network = take_object(&mut permissions, "network");
        let mut files = take_object(&mut permissions, "filesystem");
        let mut variables = take_object(&mut permissions, "env_vars");
        if !self.egress.is_empty() || !network.is_empty() {
            body.push_str("  network:\n");
            list(&mut body, "egress", &self.egress, Value::clone);
            rest_of(&mut body, 4, &mut network);
        }
        if !self.read.is_empty() || !self.write.is_empty() || !files.is_empty() {
            body.push_str("  filesystem:\n");
            list(&mut body, "read", &self.read, |text| json!(text));
            list(&mut body, "write", &self.write, |text| json!(text));
            rest_of(&mut body, 4, &mut files);
        }
        if !self.env.is_empty() || !variables.is_empty() {
            body.push_str("  env_vars:\n");
            list(&mut body, "allow", &self.env, |text| json!(text));
            rest_of(&mut body, 4, &mut variables);
        }
        rest_of(&mut body, 2, &mut permissions);
        if !body.is_empty() {
            out.push_str("permissions:\n");
            out.push_str(&body);
        }
        rest_of(&mut out, 0, &mut rest);
        if let Some(entrypoint) = &self.entrypoint {
            entrypoint.evidence.iter().take(MOST_EVIDENCE).for_each(|line| comment(&mut out, 0, line));
            let _ = writeln!(out, "entrypoint: {}", entrypoint.value);
        }
        out
    }
}

/// An entry of `egress`.
#[must_use]
pub(crate) fn rule_value(rule: &EgressRule) -> Value {
    serde_json::to_value(rule).unwrap_or_default()
}

fn list<T>(out: &mut String, key: &str, entries: &[DraftEntry<T>], value: impl Fn(&T) -> Value) {
    if entries.is_empty() {
        return;
    }
    let _ = writeln!(out, "    {key}:");
    for entry in entries {
        entry.evidence.iter().take(MOST_EVIDENCE).for_each(|line| comment(out, 6, line));
        // What is valid JSON is valid YAML, on one line and without a way out of it.
        let _ = writeln!(out, "      - {}", value(&entry.value));
    }
}

fn rest_of(out: &mut String, indent: usize, rest: &mut Map<String, Value>) {
    for (key, value) in std::mem::take(rest) {
        let _ = writeln!(out, "{:indent$}{key}: {value}", "");
    }
}

fn take_object(map: &mut Map<String, Value>, key: &str) -> Map<String, Value> {
    match map.remove(key) {
        Some(Value::Object(object)) => object,
        _ => Map::new(),
    }
}

/// A comment: one line, whatever is in it.
fn comment(out: &mut String, indent: usize, text: &str) {
    let text = shorten(&escape_line(text.trim()), LONGEST_EVIDENCE, "…");
    let _ = writeln!(out, "{:indent$}# {text}", "");
}

/// What one object has that another has not, or has otherwise.
fn difference(own: &Map<String, Value>, usual: &Map<String, Value>) -> Map<String, Value> {
    let mut kept = Map::new();
    for (key, value) in own {
        match (value, usual.get(key)) {
            (Value::Object(value), Some(Value::Object(usual))) => {
                let inner = difference(value, usual);
                if !inner.is_empty() {
                    kept.insert(key.clone(), Value::Object(inner));
                }
            }
            (value, Some(usual)) if value == usual => {}
            (Value::Array(list), _) if list.is_empty() => {}
            (value, _) => {
                kept.insert(key.clone(), value.clone());
            }
        }
    }
    kept
}

/// The comments right above an entry that begins at this byte.
fn comments_at(text: &str, lines: &[&str], start: usize) -> Vec<String> {
    let line = text.get(..start).unwrap_or_default().matches('\n').count();
    let above = lines.get(..line).unwrap_or_default().iter().rev();
    let mut found: Vec<String> = above
        .map_while(|line| line.trim_start().strip_prefix('#'))
        .take(MOST_EVIDENCE)
        .map(|line| line.trim().to_owned())
        .collect();
    found.reverse();
    found
}

/// A name that a manifest can have.
fn usable_name(name: &str) -> String {
    if Manifest::safe_defaults(name, "0").is_ok() {
        return name.to_owned();
    }
    let mut usable: String = name
        .to_lowercase()
        .chars()
        .map(|c| {
            if c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_' | '.') { c } else { '-' }
        })
        .collect();
    usable = usable.trim_matches(|c: char| !c.is_ascii_alphanumeric()).chars().take(64).collect();
    if Manifest::safe_defaults(&usable, "0").is_ok() { usable } else { "skill".to_owned() }
}
