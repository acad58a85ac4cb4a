//! Folders whose links nobody vouches for.

use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use crate::prepare::links::{LinkRules, WalkedPath};

/// A folder that somebody filled who is not trusted: a skill's author, or an earlier run. A link in it, at any depth, is not followed on the
/// way to a grant, a forbidden path or a program.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct UntrustedFolder {
    /// Its path, without links.
    pub path: PathBuf,
    /// By which it is known where it was moved: device, inode number, and when it was made, since numbers are used again.
    pub identity: Option<(u64, u64, u64)>,
    /// Who filled it.
    pub author: FolderAuthor,
}

/// Who filled a folder that is not trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FolderAuthor {
    /// The author of the skill that is run.
    Skill,
    /// A run that could write it.
    EarlierRun,
}

impl FolderAuthor {
    /// What such a folder is, for messages.
    pub(crate) fn describe(self) -> &'static str {
        match self {
            Self::Skill => "the skill's own folder",
            Self::EarlierRun => "a folder that an earlier run could write",
        }
    }
}

impl UntrustedFolder {
    /// The folder at this path, as it is now.
    pub fn new(path: impl Into<PathBuf>, author: FolderAuthor) -> Self {
        let path = path.into();
        let identity = identity_of(&path);
        Self { path, identity, author }
    }

    /// The same, by what was known of it before.
    pub fn known(path: impl Into<PathBuf>, identity: Option<(u64, u64, u64)>, author: FolderAuthor) -> Self {
        Self { path: path.into(), identity, author }
    }
}

/// Where a path leads, however much of it exists, by the rules of a run: `Err` where it would be refused because somebody who is not trusted could
/// have made a link on the way. The second half is where it leads in any case, where that is known.
pub fn follow_links(path: &Path, untrusted: &[UntrustedFolder]) -> (io::Result<()>, Option<PathBuf>) {
    match WalkedPath::walk(path) {
        Ok(walked) => (LinkRules { untrusted }.check(&walked), Some(walked.real)),
        Err(error) => (Err(error), None),
    }
}

/// What a folder is known by where it was moved; 0 for when it was made where the file system does not say.
pub(crate) fn identity_of(path: &Path) -> Option<(u64, u64, u64)> {
    let found = path.symlink_metadata().ok()?;
    let made = found.created().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let made = made.and_then(|time| u64::try_from(time.as_nanos()).ok());
    Some((found.dev(), found.ino(), made.unwrap_or(0)))
}
