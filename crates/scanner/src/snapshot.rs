//! What a skill's folder holds, as far as a run of it can tell: so that what was judged once is known again.

use std::path::Path;

use sha2::{Digest as _, Sha256};

use crate::digest::{Sha256Hash, hex};
use crate::folder_walk::{FolderWalk, WalkRules};
use crate::skill::{OUTSIDE_LINK, ReadError, SkillFiles, UnreadFile};

/// What the digest is of, and in which form: another form is another digest.
const FORMAT: &[u8] = b"skillsandbox folder 1\0";

/// A skill's folder as a run of it finds it: every file with its mode and the hash of its bytes, every folder with its mode, every link with
/// its target. Its own `.git` is not in it, since a run does not see that.
///
/// ```
/// use skillsandbox_scanner::FolderSnapshot;
///
/// # let dir = tempfile::tempdir()?;
/// std::fs::write(dir.path().join("SKILL.md"), "# Notes\n")?;
/// let before = FolderSnapshot::read(dir.path())?.digest_without(&[]);
/// std::fs::create_dir(dir.path().join("scripts"))?;
/// assert_ne!(FolderSnapshot::read(dir.path())?.digest_without(&[]), before);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderSnapshot {
    entries: Vec<SnapshotEntry>,
    unread: Vec<UnreadFile>,
    has_git: bool,
    has_odd_name: bool,
}

/// One entry of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SnapshotEntry {
    /// Below the folder, with `/`; empty for the folder itself.
    pub path: String,
    /// Its mode, without its kind; 0 for a link, which has none of its own.
    pub mode: u32,
    /// What it is.
    pub kind: EntryKind,
}

/// What an entry of a folder is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A folder.
    Folder,
    /// A plain file, and the SHA-256 of its bytes.
    File([u8; 32]),
    /// A link: the SHA-256 of where it leads, and whether that is another place in the folder.
    Link {
        /// Of the target's text.
        target: [u8; 32],
        /// Whether it stays in the folder.
        leads_inside: bool,
    },
}

impl FolderSnapshot {
    /// Reads a folder. No more than a part of one file is in memory at a time.
    ///
    /// # Errors
    /// A folder that cannot be read.
    pub fn read(dir: impl AsRef<Path>) -> Result<Self, ReadError> {
        let rules = WalkRules { as_run: true, keeps_bytes: false, takes_entries: true, ..WalkRules::WHOLE };
        Ok(SkillFiles::read_dir(dir.as_ref(), rules)?.1)
    }

    /// The same with the files themselves, for a scan: both are of the same bytes.
    ///
    /// # Errors
    /// A folder that cannot be read.
    pub fn read_with_files(dir: impl AsRef<Path>) -> Result<(Self, SkillFiles), ReadError> {
        let rules = WalkRules { as_run: true, takes_entries: true, ..WalkRules::WHOLE };
        SkillFiles::read_dir(dir.as_ref(), rules).map(|(files, snapshot)| (snapshot, files))
    }

    pub(crate) fn of(walk: &mut FolderWalk<'_>) -> Self {
        Self {
            entries: std::mem::take(&mut walk.entries),
            unread: walk.unread.clone(),
            has_git: walk.has_git,
            has_odd_name: walk.has_odd_name,
        }
    }

    /// Everything in it, each folder before what it holds, in the order of names.
    #[must_use]
    pub fn entries(&self) -> &[SnapshotEntry] {
        &self.entries
    }

    /// Whether there is a git folder beside what is listed.
    #[must_use]
    pub fn has_git(&self) -> bool {
        self.has_git
    }

    /// Whether it says all there is: everything was read (of a link that leads out, where it leads), and no two names look alike in it.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        !self.has_odd_name && self.unread.iter().all(|unread| unread.reason == OUTSIDE_LINK)
    }

    /// One number for all of it, in hexadecimal, but for these files and folders below it, and the modes of the folders on the way to them.
    #[must_use]
    pub fn digest_without(&self, without: &[String]) -> String {
        let mut hash = Sha256::new();
        hash.update(FORMAT);
        let mut text = |text: &str| {
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text);
        };
        for unread in self.unread.iter().filter(|unread| !is_in(&unread.path, without)) {
            text(&unread.path);
            text(&unread.reason);
        }
        text("");
        for entry in &self.entries {
            let is_on_the_way = entry.kind == EntryKind::Folder
                && without.iter().any(|folder| entry.path.is_empty() || is_below(folder, &entry.path));
            if is_on_the_way || is_in(&entry.path, without) {
                continue;
            }
            let (kind, bytes): (u8, Sha256Hash) = match entry.kind {
                EntryKind::Folder => (0, Sha256Hash::default()),
                EntryKind::File(bytes) => (1, bytes),
                EntryKind::Link { target, leads_inside: false } => (2, target),
                EntryKind::Link { target, leads_inside: true } => (3, target),
            };
            hash.update((entry.path.len() as u64).to_le_bytes());
            hash.update(&entry.path);
            hash.update([kind]);
            hash.update(entry.mode.to_le_bytes());
            hash.update(bytes);
        }
        hex(&hash.finalize())
    }
}

fn is_in(path: &str, folders: &[String]) -> bool {
    folders.iter().any(|folder| is_below(path, folder))
}

/// Whether a path is this one, or lies below it.
pub(crate) fn is_below(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
