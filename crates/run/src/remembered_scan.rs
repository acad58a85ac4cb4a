//! What the scanner said of a skill before, remembered: the same files, under the same rules and the same policy, are not judged again.
//!
//! Only that a skill was admitted is remembered, never that it was refused: a refusal is told in the words of a scan.

use std::ffi::OsStr;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::private_memory::{PrivateMemory, hash_texts, program_identity};

/// The folder in the state folder.
const FOLDER: &str = "remembered-scans";
/// Largest entry that is read: one is some 500 bytes.
const MAX_ENTRY: u64 = 16 << 10;

/// That the scanner admitted a skill, in the words that a trace has for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RememberedScan {
    /// SAFE, or WARNING where the policy lets that run.
    pub(crate) verdict: String,
    /// The version of the scanner.
    pub(crate) scanner_version: String,
    /// The digest of its report.
    pub(crate) digest: String,
    /// The same without what the skill's runs may write.
    pub(crate) unwritable_digest: String,
    /// How many findings the user's policy suppressed.
    pub(crate) suppressed: usize,
    /// When it was scanned, in RFC 3339.
    pub(crate) scanned_at: String,
}

/// What a verdict is about: which files, and judged by what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ScanQuestion {
    /// The name of the entry: one for a folder, what its runs may write, and a policy.
    name: String,
    /// All that the folder holds.
    tree: String,
    /// All that the verdict depends on besides.
    settings: String,
}

/// An entry as it is written.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct MemoryEntry {
    tree: String,
    settings: String,
    scan: RememberedScan,
}

impl ScanQuestion {
    /// The question about a folder, by its real path, with this digest of all that it holds. `None` where this program cannot be told from
    /// another build of itself: what that said counts for nothing here.
    pub(crate) fn new(folder: &Path, writable: &[String], tree: String, settings: &str) -> Option<Self> {
        let program = program_identity()?;
        let place = [folder.as_os_str(), OsStr::new(settings)];
        let place = place.into_iter().chain(writable.iter().map(OsStr::new));
        let name = hash_texts(place.map(OsStr::as_encoded_bytes));
        let settings = hash_texts([settings.as_bytes(), program.as_bytes()]);
        Some(Self { name, tree, settings })
    }
}

/// What is remembered of all skills.
#[derive(Debug)]
pub(crate) struct ScanMemory(PrivateMemory);

impl ScanMemory {
    /// The user's; `None` where there is no state folder.
    pub(crate) fn open() -> Option<Self> {
        PrivateMemory::open(FOLDER).map(Self)
    }

    /// What was said of these files under these settings.
    pub(crate) fn find(&self, question: &ScanQuestion) -> Option<RememberedScan> {
        let body = self.0.read(&question.name, MAX_ENTRY)?;
        let entry: MemoryEntry = serde_json::from_str(&body).ok()?;
        let is_same = entry.tree == question.tree && entry.settings == question.settings;
        is_same.then_some(entry.scan)
    }

    /// Remembers it for the next run.
    pub(crate) fn keep(&self, question: &ScanQuestion, scan: RememberedScan) -> io::Result<()> {
        let ScanQuestion { name, tree, settings } = question.clone();
        self.0.write(&name, &serde_json::to_string(&MemoryEntry { tree, settings, scan })?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scan() -> RememberedScan {
        RememberedScan {
            verdict: "SAFE".to_owned(),
            scanner_version: "1".to_owned(),
            digest: "d".to_owned(),
            unwritable_digest: "u".to_owned(),
            suppressed: 0,
            scanned_at: "2026-11-17T00:00:00Z".to_owned(),
        }
    }

    fn question(tree: &str, settings: &str) -> ScanQuestion {
        ScanQuestion::new(Path::new("/skills/a"), &[], tree.to_owned(), settings).unwrap()
    }

    #[test]
    fn what_was_said_is_found_for_the_same_files_settings_and_program_only() {
        let dir = tempfile::tempdir().unwrap();
        let memory = ScanMemory(PrivateMemory::at(dir.path().canonicalize().unwrap().join("scans")));
        memory.keep(&question("t", "s"), scan()).unwrap();
        assert_eq!(memory.find(&question("t", "s")), Some(scan()));
        for other in [
            question("other", "s"),
            question("t", "other"),
            ScanQuestion::new(Path::new("/skills/b"), &[], "t".to_owned(), "s").unwrap(),
            ScanQuestion::new(Path::new("/skills/a"), &["data".to_owned()], "t".to_owned(), "s").unwrap(),
        ] {
            assert_eq!(memory.find(&other), None, "{other:?}");
        }
        let another_build =
            ScanQuestion { settings: hash_texts([&b"s"[..], b"another"]), ..question("t", "s") };
        assert_eq!(memory.find(&another_build), None);
        // The next state of a folder takes the place of the last.
        memory.keep(&question("t2", "s"), scan()).unwrap();
        assert_eq!(
            (memory.find(&question("t2", "s")), memory.find(&question("t", "s"))),
            (Some(scan()), None)
        );
        assert_eq!(std::fs::read_dir(dir.path().join("scans")).unwrap().count(), 1);
    }

    #[test]
    fn an_entry_with_a_key_that_nobody_knows_is_not_believed() {
        let dir = tempfile::tempdir().unwrap();
        let memory = ScanMemory(PrivateMemory::at(dir.path().canonicalize().unwrap().join("scans")));
        memory.keep(&question("t", "s"), scan()).unwrap();
        let name = question("t", "s").name;
        let body = memory.0.read(&name, MAX_ENTRY).unwrap();
        memory.0.write(&name, &body.replace("\"suppressed\":0", "\"suppressed\":0,\"more\":1")).unwrap();
        assert_eq!(memory.find(&question("t", "s")), None);
    }
}
