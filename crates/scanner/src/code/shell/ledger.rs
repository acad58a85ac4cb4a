//! What was found so far: facts, secrets, files that the script wrote, and flows.

use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

use super::super::capability::{Capability, CapabilityUse, SecretFlow};
use super::super::hosts;
use super::super::objects::classify_path;
use super::commands::matches_glob;
use super::machine::{MAX_NAMES, Machine};
use super::services::{RequestPart, is_own_service};
use super::value::{Marks, UNKNOWN, Value};

/// Most facts of one kind that are kept of a text.
const MAX_FACTS: usize = 400;
/// Most secrets that are told apart in a text.
const MAX_SOURCES: usize = 400;
/// Longest object that is kept.
const MAX_OBJECT: usize = 240;

impl Machine {
    /// Notes what the script does.
    pub(super) fn note(&mut self, capability: Capability, object: &str, range: &Range<usize>) {
        if self.facts.is_cut && self.facts.uses.len() >= MAX_FACTS {
            return;
        }
        let object = shorten(object);
        let known = |fact: &CapabilityUse| {
            fact.capability == capability
                && fact.object == object
                && (fact.range == *range || capability.reads_secret())
        };
        if self.facts.uses.iter().any(known) {
            return;
        }
        if self.facts.uses.len() >= MAX_FACTS {
            self.facts.is_cut = true;
            return;
        }
        self.facts.uses.push(CapabilityUse { capability, range: range.clone(), object });
    }

    /// Notes that a secret is read; the marks of what holds it from then on.
    pub(super) fn read_source(
        &mut self,
        capability: Capability,
        object: &str,
        range: &Range<usize>,
    ) -> Marks {
        self.note(capability, object, range);
        let object = shorten(object);
        let known =
            self.sources.iter().position(|source| source.capability == capability && source.object == object);
        let at = known.unwrap_or(self.sources.len());
        if known.is_none() {
            if at >= MAX_SOURCES {
                self.facts.is_cut = true;
                return Marks::default();
            }
            self.sources.push(CapabilityUse { capability, range: range.clone(), object });
        }
        Marks { sources: vec![at], ..Marks::default() }
    }

    /// The name and kind of a secret.
    pub(super) fn source(&self, at: usize) -> Option<&CapabilityUse> {
        self.sources.get(at)
    }

    /// What a file holds: what the script wrote there, or a secret by its path.
    pub(super) fn read_file(&mut self, path: &str, range: &Range<usize>) -> Value {
        let path = plain_path(path);
        if let Some(value) = self.files.get(&path) {
            return value.clone();
        }
        // A folder, or names with `*`, of which something is known.
        let folder = path.split(['*', '?', '[']).next().unwrap_or_default();
        let folder = if folder == path { format!("{path}/") } else { folder.to_owned() };
        if folder.len() > 1 {
            let below = self.files.range(folder.clone()..).take_while(|(name, _)| name.starts_with(&folder));
            let mut found = Value::default();
            let mut any = false;
            for (_, value) in below.take(32) {
                found.marks.add(&value.marks);
                any = true;
            }
            if any {
                UNKNOWN.clone_into(&mut found.text);
                return found;
            }
        }
        let is_relative = !path.starts_with(['/', '~', '$']) && !path.contains(':');
        let within = self.folder.as_ref().filter(|_| is_relative).map(|folder| format!("{folder}/{path}"));
        let path = match within {
            Some(within) if classify_path(&path).is_none() => within.trim_end_matches("/.").to_owned(),
            _ => path,
        };
        if let Some(known) = self.files.get(&plain_path(&path)) {
            return known.clone();
        }
        if let Some(name) = find_globbed(&path) {
            return Value::marked(self.read_source(Capability::ReadsCredentials, name, range));
        }
        if let Some(capability) = classify_path(&path) {
            return Value::marked(self.read_source(capability, &path, range));
        }
        if path.starts_with("/dev/tcp/") || path.starts_with("/dev/udp/") {
            let remote = super::remote::device_host(&path).map(Rc::from);
            return Value::marked(Marks { remote, ..Marks::default() });
        }
        Value::unknown()
    }

    /// Whether the script wrote a file of this name.
    pub(super) fn knows_file(&self, path: &str) -> bool {
        self.files.contains_key(&plain_path(path))
    }

    /// Remembers what is in a file.
    pub(super) fn keep_file(&mut self, path: &str, value: &Value, is_added: bool) {
        let path = plain_path(path);
        if path.is_empty() || path == "/dev/null" || path.len() > 4096 {
            return;
        }
        if self.files.len() >= MAX_NAMES && !self.files.contains_key(&path) {
            self.facts.is_cut = true;
            return;
        }
        self.count_copy(value.text.len());
        let keeps = is_added || self.conditions > 0;
        match self.files.get_mut(&path) {
            Some(file) if is_added => file.append_line(value),
            Some(file) => {
                let before = std::mem::replace(file, value.clone());
                if keeps {
                    file.marks.add(&before.marks);
                }
            }
            None => {
                self.files.insert(path, value.clone());
            }
        }
    }

    /// Notes that a value is sent to an address.
    pub(super) fn send(
        &mut self,
        capability: Capability,
        value: &Value,
        part: RequestPart,
        address: &str,
        range: &Range<usize>,
    ) {
        self.note(capability, address, range);
        let sender = CapabilityUse { capability, range: range.clone(), object: shorten(address) };
        for at in value.marks.sources.clone() {
            let Some(source) = self.sources.get(at) else { continue };
            let flow = SecretFlow {
                is_own_service: is_own_service(source, part, address),
                source: source.clone(),
                sender: sender.clone(),
            };
            self.push_flow(flow);
        }
    }

    /// Keeps a flow, once. Of two that differ only in that, the one that is not the key's own service counts.
    pub(super) fn push_flow(&mut self, flow: SecretFlow) {
        let known = self
            .facts
            .flows
            .iter_mut()
            .find(|known| known.source == flow.source && known.sender == flow.sender);
        if let Some(known) = known {
            known.is_own_service &= flow.is_own_service;
        } else if self.facts.flows.len() < MAX_FACTS {
            self.facts.flows.push(flow);
        } else {
            self.facts.is_cut = true;
        }
    }

    /// Many keys of different owners that go to one host are a collection, whatever each of them alone would be.
    pub(super) fn doubt_collections(&mut self) {
        let mut owners: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for flow in &self.facts.flows {
            let host = hosts::find_host(&flow.sender.object).to_owned();
            let shares = hosts::shares_word(&flow.source.object, &host);
            let first = hosts::telling_words(&flow.source.object).into_iter().next();
            if let (false, Some(first)) = (shares, first) {
                let known = owners.entry(host).or_default();
                if !known.contains(&first) {
                    known.push(first);
                }
            }
        }
        for flow in &mut self.facts.flows {
            let host = hosts::find_host(&flow.sender.object);
            let kind = hosts::classify_host(host);
            if kind == hosts::HostKind::Named
                && owners.get(host).is_some_and(|owners| owners.len() >= 3)
                && !hosts::shares_word(&flow.source.object, host)
            {
                flow.is_own_service = false;
            }
        }
    }
}

/// The secret file that a pattern of names would find.
fn find_globbed(path: &str) -> Option<&'static str> {
    const NAMES: &[&str] = &[
        "id_rsa",
        "id_ed25519",
        ".env",
        ".env.local",
        ".netrc",
        ".npmrc",
        ".pypirc",
        ".git-credentials",
        ".bash_history",
        ".zsh_history",
        "wallet.dat",
        "private.pem",
        "private.key",
    ];
    let last = path.rsplit('/').next().unwrap_or_default();
    let letters = last.chars().filter(|c| c.is_alphanumeric()).count();
    let is_pattern = last.contains(['*', '?']) && letters >= 2 && last.len() >= 4;
    NAMES.iter().copied().find(|name| is_pattern && matches_glob(last, name))
}

/// A path in one spelling, as far as files of one script need it.
fn plain_path(path: &str) -> String {
    let path = path.trim().trim_end_matches('/');
    let path = path.strip_prefix("./").unwrap_or(path);
    path.replace("//", "/")
}

/// An object, short enough to be kept.
fn shorten(object: &str) -> String {
    let object = object.trim();
    let mut end = object.len().min(MAX_OBJECT);
    while !object.is_char_boundary(end) {
        end -= 1;
    }
    object.get(..end).unwrap_or_default().to_owned()
}
