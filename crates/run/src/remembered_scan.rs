//! What the scanner said of a skill before, remembered: the same files, under the same rules and the same policy, are not judged again.
//!
//! Only that a skill was admitted is remembered, never that it was refused: a refusal is told in the words of a scan. An entry is a small file in
//! the state folder, which no run sees or changes, whatever it is granted. One that is damaged, foreign or of another version means nothing, and
//! the skill is scanned.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use data_encoding::HEXLOWER;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use skillsandbox_manifest::user_folders;

use crate::state;
use crate::written_places::open_plain;

/// The folder in the state folder.
const FOLDER: &str = "remembered-scans";
/// The first words of an entry; another form is another number. The hash of what follows stands behind them.
const HEAD: &str = "skillsandbox-remembered-scan 1 ";
/// Largest entry that is read: one is some 500 bytes.
const MAX_ENTRY: u64 = 16 << 10;
/// Most entries that are kept, one for each skill's folder and policy; the oldest make room.
const MAX_ENTRIES: usize = 1024;

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

/// The folder of entries.
#[derive(Debug)]
pub(crate) struct ScanMemory {
    folder: PathBuf,
}

impl ScanMemory {
    /// The user's; `None` where there is no state folder.
    pub(crate) fn open() -> Option<Self> {
        Some(Self { folder: user_folders::state()?.join(FOLDER) })
    }

    /// What was said of these files under these settings.
    pub(crate) fn find(&self, question: &ScanQuestion) -> Option<RememberedScan> {
        let folder = fs::symlink_metadata(&self.folder).ok()?;
        if !folder.is_dir() || !is_ours_alone(&folder) {
            return None;
        }
        let file = open_plain(OpenOptions::new().read(true), &self.folder.join(&question.name)).ok()?;
        if !is_ours_alone(&file.metadata().ok()?) {
            return None;
        }
        let mut text = String::new();
        file.take(MAX_ENTRY).read_to_string(&mut text).ok()?;
        let entry = parse(&text)?;
        let is_same = entry.tree == question.tree && entry.settings == question.settings;
        is_same.then_some(entry.scan)
    }

    /// Remembers it, whole or not at all. It need not outlast a power cut.
    pub(crate) fn keep(&self, question: &ScanQuestion, scan: RememberedScan) -> io::Result<()> {
        state::make_private(&self.folder).map_err(|refusal| io::Error::other(refusal.to_string()))?;
        let folder = fs::symlink_metadata(&self.folder)?;
        if !folder.is_dir() || !is_ours_alone(&folder) {
            return Err(io::Error::other(format!(
                "{} is a link, somebody else's, or others can write to it",
                self.folder.display()
            )));
        }
        let ScanQuestion { name, tree, settings } = question.clone();
        let body = serde_json::to_string(&MemoryEntry { tree, settings, scan })?;
        let text = format!("{HEAD}{}\n{body}\n", hash_texts([body.as_bytes()]));
        self.make_room()?;
        let draft = self.folder.join(format!(".{}", uuid::Uuid::new_v4()));
        let written =
            write_draft(&draft, text.as_bytes()).and_then(|()| fs::rename(&draft, self.folder.join(name)));
        if written.is_err() {
            let _ = fs::remove_file(&draft);
        }
        written
    }

    /// Removes the oldest quarter where there are too many; drafts that a crash left are among them.
    fn make_room(&self) -> io::Result<()> {
        let entries: Vec<fs::DirEntry> = fs::read_dir(&self.folder)?.filter_map(Result::ok).collect();
        if entries.len() < MAX_ENTRIES {
            return Ok(());
        }
        let mut aged: Vec<(SystemTime, PathBuf)> = entries
            .into_iter()
            .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
            .collect();
        aged.sort();
        for (_, path) in aged.into_iter().take(MAX_ENTRIES / 4) {
            // Another run may have removed it.
            let _ = fs::remove_file(path);
        }
        Ok(())
    }
}

/// An entry, if it is whole and of this form.
fn parse(text: &str) -> Option<MemoryEntry> {
    let (checksum, body) = text.strip_prefix(HEAD)?.strip_suffix('\n')?.split_once('\n')?;
    if checksum != hash_texts([body.as_bytes()]) {
        return None;
    }
    serde_json::from_str(body).ok()
}

fn write_draft(path: &Path, text: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file: File = options.open(path)?;
    file.write_all(text)
}

/// The hash of texts, in which none can pass for another.
fn hash_texts<'t>(texts: impl IntoIterator<Item = &'t [u8]>) -> String {
    let mut hash = Sha256::new();
    for text in texts {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    }
    HEXLOWER.encode(&hash.finalize())
}

/// Whether nobody else owns it or can write to it.
#[cfg(unix)]
fn is_ours_alone(found: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let is_single = found.is_dir() || found.nlink() == 1;
    found.uid() == nix::unistd::geteuid().as_raw() && found.mode() & 0o022 == 0 && is_single
}

#[cfg(not(unix))]
fn is_ours_alone(_: &fs::Metadata) -> bool {
    false
}

/// Which build of this program it is: another one may judge otherwise, though its version is the same.
#[cfg(target_os = "linux")]
fn program_identity() -> Option<String> {
    use std::os::unix::fs::MetadataExt as _;
    // Of the file that is running, also where another has taken its name.
    let found = fs::metadata("/proc/self/exe").ok()?;
    let (changed, written) = ((found.ctime(), found.ctime_nsec()), (found.mtime(), found.mtime_nsec()));
    Some(format!("{} {} {} {changed:?} {written:?}", found.dev(), found.ino(), found.len()))
}

/// Nothing is run on other systems.
#[cfg(not(target_os = "linux"))]
fn program_identity() -> Option<String> {
    None
}

#[cfg(all(test, target_os = "linux"))]
mod tests;
