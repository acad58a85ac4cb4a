//! What audits of a store found before: a skill with the same files, under the same rules and policy, is not scanned again.
//!
//! Only skills are in it in which nothing was found: what the scanner has to say of any other it says anew. Every file is read and hashed in every
//! audit; nothing is believed because of a time or a size.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use skillsandbox_run::{PrivateMemory, program_identity};
use skillsandbox_scanner::{CleanReport, ScanReport, Scanner, ScannerBuilder, SkillCalls};

use crate::layout::StoreLayout;
use crate::lockfile::PackagesLock;

/// The folder in the state folder, with a file for each store.
pub(crate) const FOLDER: &str = "remembered-audits";
/// Largest file that is read: some 500 bytes a skill.
const MAX_BYTES: u64 = 64 << 20;

/// What is remembered of one store.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AuditMemory {
    /// All that a report depends on besides a skill's files, its source, and installed skills of its name.
    settings: String,
    /// By the path of the skill.
    skills: BTreeMap<String, RememberedSkill>,
}

/// A skill in which nothing was found.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RememberedSkill {
    /// The hash of all its files.
    pub(crate) tree: String,
    /// Where the installed skill of its name came from, where there is one.
    pub(crate) namesake: Option<String>,
    /// What the report says.
    pub(crate) report: CleanReport,
    /// Whom it calls.
    pub(crate) calls: SkillCalls,
    /// The report's page, from the root of the store.
    pub(crate) page: String,
}

impl AuditMemory {
    /// What is known of a store under these settings, and where that is kept. `None` where this program cannot be told from another build of
    /// itself.
    pub(crate) fn load(
        memory: &PrivateMemory,
        layout: &StoreLayout,
        scanner: &ScannerBuilder,
    ) -> Option<Self> {
        let rules = Scanner::rules().hash;
        let settings = format!("{} {rules} {}", scanner.settings_digest(), program_identity()?);
        let known = memory.read(&file_name(layout)?, MAX_BYTES);
        let known = known.and_then(|body| serde_json::from_str::<Self>(&body).ok());
        let known = known.filter(|known| known.settings == settings);
        Some(known.unwrap_or(Self { settings, skills: BTreeMap::new() }))
    }

    /// What is known of a skill with these files.
    pub(crate) fn find(
        &self,
        lock: &PackagesLock,
        path: &str,
        source: &str,
        tree: &str,
    ) -> Option<&RememberedSkill> {
        let known = self.skills.get(path)?;
        let is_same = known.tree == tree
            && known.report.source == source
            && known.namesake.as_deref() == namesake(lock, &known.report.skill);
        is_same.then_some(known)
    }

    /// What is to be remembered: these skills, and no others. Writes it where it is something else than before.
    pub(crate) fn keep(
        self,
        memory: &PrivateMemory,
        layout: &StoreLayout,
        skills: BTreeMap<String, RememberedSkill>,
        is_new: bool,
    ) {
        if !is_new && skills.len() == self.skills.len() {
            return;
        }
        let body = serde_json::to_string(&Self { settings: self.settings, skills });
        // Where it cannot be kept, the next audit scans again.
        if let (Ok(body), Some(name)) = (body, file_name(layout)) {
            let _ = memory.write(&name, &body);
        }
    }

    /// The skills it knows, for an audit of one of them.
    pub(crate) fn skills(&self) -> BTreeMap<String, RememberedSkill> {
        self.skills.clone()
    }
}

/// Where the installed skill of a name came from: all that a report depends on of what is installed.
fn namesake<'l>(lock: &'l PackagesLock, name: &str) -> Option<&'l str> {
    lock.get(name).map(|entry| entry.source.as_str())
}

impl RememberedSkill {
    /// A skill and the report on it, where nothing was found.
    pub(crate) fn new(
        lock: &PackagesLock,
        tree: String,
        files: &[(String, [u8; 32])],
        report: &ScanReport,
        calls: SkillCalls,
        page: String,
    ) -> Option<Self> {
        let report = CleanReport::of(report, files)?;
        let namesake = namesake(lock, &report.skill).map(str::to_owned);
        Some(Self { tree, namesake, report, calls, page })
    }
}

/// The name of a store's file: by its real path, since every store has its own.
fn file_name(layout: &StoreLayout) -> Option<String> {
    use sha2::{Digest as _, Sha256};
    let root = layout.root().canonicalize().ok()?;
    let kind: &[u8] = if layout.is_system() { b"system" } else { b"own" };
    let mut hash = Sha256::new();
    hash.update(kind);
    hash.update(root.as_os_str().as_encoded_bytes());
    Some(data_encoding::HEXLOWER.encode(&hash.finalize()))
}
