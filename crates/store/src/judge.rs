//! The scanner, with what this store and its user have to say to it.

use std::collections::BTreeSet;
use std::io::Read as _;
use std::path::Path;

use skillsandbox_run::UserPolicy;
use skillsandbox_scanner::{ScanReport, ScanStamp, ScannerBuilder, system_names};

use crate::error::{Error, IoErrorAt as _};
use crate::layout::StoreLayout;
use crate::lockfile::{PackagesLock, SuppressedFinding};
use crate::state_file;

/// Largest blocklist that is read: half a million domains.
const MAX_BLOCKLIST: u64 = 32 << 20;

/// A scanner for a store: its blocklist, its system skills, and the user's policy. What is installed is the caller's to add.
pub(crate) fn scanner_builder(layout: &StoreLayout, policy: &UserPolicy) -> Result<ScannerBuilder, Error> {
    let mut builder = policy.scanner_builder().map_err(|refusal| Error::Policy(Box::new(refusal)))?;
    let path = layout.blocklist();
    // One that cannot be read is an error: without it, what it forbids would be let in.
    if let Some(file) = state_file::open_linked(&path).at(&path)? {
        let mut text = String::new();
        file.take(MAX_BLOCKLIST + 1).read_to_string(&mut text).at(&path)?;
        if text.len() as u64 > MAX_BLOCKLIST {
            return Err(Error::State { path, why: format!("it is larger than {MAX_BLOCKLIST} bytes") });
        }
        builder = builder.blocklist(&text);
    }
    if layout.is_system() {
        // What was installed here is no system skill, though it lies among them.
        let lock = PackagesLock::read(layout)?;
        let installed: BTreeSet<_> = lock.entries().map(|entry| entry.path(layout)).collect();
        let pass_over = |path: &Path| installed.contains(path);
        builder = builder.system_names(system_names(layout.root(), &pass_over));
    }
    Ok(builder)
}

/// Gives a report its name and time.
pub(crate) fn stamped(report: ScanReport) -> ScanReport {
    let scanned_at = rfc3339(jiff::Timestamp::now());
    report.stamped(ScanStamp { scan_id: uuid::Uuid::new_v4().to_string(), scanned_at })
}

/// What did not count.
pub(crate) fn suppressed(report: &ScanReport) -> Vec<SuppressedFinding> {
    let found = report.findings.iter().filter_map(|finding| Some((finding, finding.suppressed.as_ref()?)));
    found
        .map(|(finding, suppressed)| SuppressedFinding {
            rule: finding.rule.clone(),
            reason: suppressed.reason.clone(),
            expires: suppressed.expires.clone(),
        })
        .collect()
}

pub(crate) fn rfc3339(time: jiff::Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}
