//! What was accepted, put into a draft.

use serde_json::{Map, Value, json};
use skillsandbox_manifest::{Destination, GrantPath, Manifest};

use crate::draft::{BEFORE, DraftEntry, ManifestDraft, rule_value};
use crate::observation::SeenHost;
use crate::places::LearnPlaces;
use crate::proposal::{FileGrant, FileProposal, HostProposal};
use crate::raised_limits::RaisedLimit;
use crate::verify::DeclaredGrant;

impl ManifestDraft {
    /// Adds a grant of files, unless the draft gives it already. Whether it was added.
    pub fn grant_file(&mut self, proposal: &FileProposal, places: &LearnPlaces) -> bool {
        if self.file_grants(places).any(|own| own.covers(&proposal.grant)) {
            return false;
        }
        let entry = DraftEntry::new(proposal.spelling.clone(), proposal.evidence.iter().cloned());
        if proposal.grant.writes() {
            // A write grant gives reading, too.
            self.read.retain(|read| read.value != proposal.spelling);
            self.write.push(entry);
        } else {
            self.read.push(entry);
        }
        true
    }

    /// What was seen is told in the place of what an entry said before, where the draft has it already.
    pub fn renew_evidence(&mut self, proposal: &FileProposal) {
        let list = if proposal.grant.writes() { &mut self.write } else { &mut self.read };
        for entry in list.iter_mut().filter(|entry| entry.value == proposal.spelling) {
            if entry.evidence.iter().all(|line| line.starts_with(BEFORE)) {
                entry.evidence.clone_from(&proposal.evidence);
            }
        }
    }

    /// Adds what a skill's author declared and nobody saw, because the person says so. `why` tells which of the two.
    pub fn grant_declared(&mut self, grant: &DeclaredGrant, places: &LearnPlaces, why: &str) {
        match grant {
            DeclaredGrant::File(file) => {
                let Some(spelling) = places.spell(file.path()) else { return };
                let list = if file.writes() { &mut self.write } else { &mut self.read };
                list.push(DraftEntry::new(spelling, [why]));
            }
            DeclaredGrant::Host(rule) => self.egress.push(DraftEntry::new(rule_value(rule), [why])),
            DeclaredGrant::Variable(pattern) => {
                self.grant_variable(&pattern.to_string(), why);
            }
        }
    }

    /// Whether the draft gives what a skill's author declared.
    #[must_use]
    pub fn has_declared(&self, grant: &DeclaredGrant, places: &LearnPlaces) -> bool {
        match grant {
            DeclaredGrant::File(file) => self.file_grants(places).any(|own| own.covers(file)),
            DeclaredGrant::Host(rule) => {
                let rule = rule_value(rule);
                self.egress.iter().any(|own| own.value == rule)
            }
            DeclaredGrant::Variable(pattern) => {
                let name = pattern.to_string();
                self.env.iter().any(|own| own.value == name)
            }
        }
    }

    /// The grants of files that the draft has.
    pub fn file_grants(&self, places: &LearnPlaces) -> impl Iterator<Item = FileGrant> {
        let bases = places.bases();
        let resolve = |text: &String| Some(text.parse::<GrantPath>().ok()?.resolve(&bases));
        let writes: Vec<FileGrant> =
            self.write.iter().filter_map(|entry| resolve(&entry.value)).map(FileGrant::Write).collect();
        let reads: Vec<FileGrant> =
            self.read.iter().filter_map(|entry| resolve(&entry.value)).map(FileGrant::Read).collect();
        writes.into_iter().chain(reads)
    }

    /// Adds a destination, unless the draft gives it already. Whether it was added.
    pub fn grant_host(&mut self, proposal: &HostProposal) -> bool {
        if self.has_host(&proposal.to) {
            return false;
        }
        let mut rule = Map::new();
        rule.insert(if proposal.to.is_name { "domain" } else { "cidr" }.to_owned(), json!(proposal.to.host));
        rule.insert("ports".to_owned(), json!([proposal.to.port]));
        rule.insert("protocol".to_owned(), json!(proposal.protocol.as_str()));
        self.egress.push(DraftEntry::new(Value::Object(rule), proposal.evidence.iter().cloned()));
        true
    }

    /// Whether the draft lets a destination be reached.
    #[must_use]
    pub fn has_host(&self, host: &SeenHost) -> bool {
        let Ok(text) = self.to_text() else { return false };
        Manifest::parse(&text).is_ok_and(|manifest| grants_host(&manifest, host))
    }

    /// Declares a limit that had to be raised.
    pub fn raise_limit(&mut self, limit: &RaisedLimit) {
        let resources = self.rest.entry("resources").or_insert_with(|| json!({}));
        if let Some(resources) = resources.as_object_mut() {
            resources.insert(limit.key.to_owned(), json!(limit.value));
        }
        self.about.push(format!("resources.{}: {}", limit.key, limit.evidence));
    }

    /// Adds a variable, unless it is there. Whether it was added.
    pub fn grant_variable(&mut self, name: &str, evidence: &str) -> bool {
        let is_known = self.env.iter().any(|entry| entry.value == name);
        if !is_known {
            self.env.push(DraftEntry::new(name.to_owned(), [evidence]));
        }
        !is_known
    }
}

/// Whether a manifest lets a destination be reached.
pub(crate) fn grants_host(manifest: &Manifest, host: &SeenHost) -> bool {
    manifest.network().egress.iter().any(|rule| {
        let is_udp = rule.protocol == skillsandbox_manifest::Protocol::Udp;
        let is_meant = match &rule.to {
            Destination::Domain(domain) => host.is_name && domain.matches(&host.host),
            Destination::Cidr(cidr) => host.host.parse().is_ok_and(|address| cidr.contains(address)),
        };
        is_meant && is_udp == host.is_udp && rule.ports.contains(&host.port)
    })
}
