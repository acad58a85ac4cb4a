//! What is declared and not used, and what is used and not declared.

use std::path::Path;

use skillsandbox_manifest::{Destination, Manifest};
use skillsandbox_run::real_path;
use skillsandbox_tracer::Trace;

use crate::accepted::grants_host;
use crate::observation::Observations;
use crate::places::LearnPlaces;
use crate::proposal::{FileGrant, Proposals};

/// How a manifest and what was seen differ.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ManifestDifference {
    /// Declared, and not used.
    pub unused: Vec<String>,
    /// Used, or tried, and not declared.
    pub undeclared: Vec<String>,
    /// Tried, and never granted.
    pub never: Vec<String>,
}

impl ManifestDifference {
    /// Between a manifest and what was seen of the skill.
    #[must_use]
    pub fn of(manifest: &Manifest, seen: &Observations, places: &LearnPlaces) -> Self {
        let bases = places.bases();
        let files = manifest.filesystem();
        let mut difference = Self::default();
        let writes = files.write.iter().map(|grant| (grant, true));
        let reads = files.read.iter().map(|grant| (grant, false));
        let mut declared = Vec::new();
        for (grant, is_write) in writes.chain(reads) {
            let path = grant.value.resolve(&bases);
            let is_used = seen.files.iter().any(|(used, how)| {
                lies_in(used, &path) && (!is_write || how.writes()) && (how.is_read || how.writes())
            });
            if !is_used {
                let what = if is_write { "write" } else { "read" };
                difference.unused.push(format!("{what} {}", grant.value));
            }
            declared.push(if is_write { FileGrant::Write(path) } else { FileGrant::Read(path) });
        }
        for rule in &manifest.network().egress {
            let is_used = seen.hosts.keys().any(|host| match &rule.to {
                Destination::Domain(domain) => host.is_name && domain.matches(&host.host),
                Destination::Cidr(cidr) => host.host.parse().is_ok_and(|address| cidr.contains(address)),
            });
            if !is_used {
                difference.unused.push(format!("network {}", rule.value));
            }
        }
        let proposals = Proposals::of(seen, places);
        for proposal in &proposals.files {
            if !declared.iter().any(|own| own.covers(&proposal.grant)) {
                let what = if proposal.grant.writes() { "write" } else { "read" };
                difference.undeclared.push(format!("{what} {}", proposal.spelling));
            }
        }
        for proposal in &proposals.hosts {
            if !grants_host(manifest, &proposal.to) {
                difference.undeclared.push(format!("network {}:{}", proposal.to.host, proposal.to.port));
            }
        }
        difference.never =
            proposals.findings.iter().map(|finding| format!("{}: {}", finding.what, finding.why)).collect();
        difference
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.unused.is_empty() && self.undeclared.is_empty()
    }
}

/// What a trace shows of a skill with this manifest.
#[must_use]
pub fn observe_trace(trace: &Trace, manifest: &Manifest, places: &LearnPlaces) -> Observations {
    let bases = places.bases();
    let files = manifest.filesystem();
    let declared = files.read.iter().chain(&files.write).map(|grant| grant.value.resolve(&bases));
    let granted: Vec<_> =
        declared.chain(places.workspace.clone()).flat_map(|path| [real_path(&path), path]).collect();
    let mut seen = Observations::default();
    for event in &trace.events {
        seen.observe(event, &granted, &[]);
    }
    seen
}

fn lies_in(path: &Path, grant: &Path) -> bool {
    path.starts_with(grant) || path.starts_with(real_path(grant))
}
