//! Where a skill's manifest comes from, and what a person adds to it for one run.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use skillsandbox_scanner::FolderSnapshot;

use crate::person_grants::PersonGrants;
use crate::refusal::Refusal;
use crate::workspace::Workspace;

/// Whose word a run goes by.
///
/// The first of these that there is: a file that the person names, the user's own manifest for this skill, the skill's own, safe defaults.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ManifestOrigin {
    /// `skillsandbox.yaml` in the skill's folder.
    Skill,
    /// A file that the person named.
    File(PathBuf),
    /// The user's own manifest for this skill, in the folder of [`UserManifests`](crate::UserManifests).
    User(PathBuf),
    /// There is none: its own folder read-only, private home and `/tmp`, no network, no variables but `LANG` and `PATH`.
    Defaults,
}

impl ManifestOrigin {
    /// One word for it, for programs: `skill`, `file`, `user`, `defaults`.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Skill => "skill",
            Self::File(_) => "file",
            Self::User(_) => "user",
            Self::Defaults => "defaults",
        }
    }
}

impl fmt::Display for ManifestOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Skill => f.write_str("the skill's own manifest"),
            Self::File(path) => write!(f, "{}, which the person named", path.display()),
            Self::User(path) => write!(f, "the user's own manifest {}", path.display()),
            Self::Defaults => f.write_str(
                "safe defaults, since it has no manifest: its own folder read-only, private home and /tmp, no network, no variables but LANG and PATH",
            ),
        }
    }
}

/// How a skill is loaded: where its manifest comes from, and what a person adds for one run. The default is what the folder itself says, or
/// safe defaults where it says nothing.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct LoadChoice {
    /// A manifest that the person names, instead of every other.
    pub manifest: Option<PathBuf>,
    /// What the store knows of it, where it is installed.
    pub installed: Option<InstalledSkill>,
    /// The folder that the caller works in.
    pub workspace: Option<Workspace>,
    /// Where relative paths among the values of parameters begin, where there is no workspace: the caller's current directory. Without either,
    /// a skill with such parameters is refused.
    pub path_base: Option<PathBuf>,
    /// What the person adds, and takes away, for this run.
    pub grants: PersonGrants,
    /// The caller keeps every run from writing to the folder, as a server does with its roots: a manifest in it counts, though an earlier run
    /// had a grant above it.
    pub is_kept: bool,
}

/// An installed skill, as the store knows it.
#[derive(Debug, Clone)]
pub struct InstalledSkill {
    /// Its name in the store.
    pub name: String,
    /// Where it came from, as the lock writes it.
    pub source: String,
    /// Who can say whether it is still what was installed.
    pub check: Arc<dyn InstallationCheck>,
}

/// Compares an installed skill with what was installed.
pub trait InstallationCheck: fmt::Debug + Send + Sync {
    /// What is different, a sentence each, but for these files and folders below it, which its own runs may write.
    ///
    /// # Errors
    /// It cannot be read.
    fn differences(&self, writable: &[String]) -> Result<Vec<String>, String>;

    /// Whether a folder that was just read is surely what was installed, but for those files and folders. Whoever answers `false` is asked for
    /// the [`differences`](Self::differences).
    fn is_installed(&self, _read: &FolderSnapshot, _writable: &[String]) -> bool {
        false
    }
}

/// Knows which folders are installed skills.
pub trait InstalledSkills: fmt::Debug + Send + Sync {
    /// The installed skill in a folder; `None` for a folder that is no place of installed skills.
    ///
    /// # Errors
    /// A folder among installed skills that none was installed to, or nobody can say.
    fn installed_at(&self, folder: &Path) -> Result<Option<InstalledSkill>, String>;
}

impl InstalledSkill {
    /// Refuses a skill that is not what was installed.
    pub(crate) fn check(&self, writable: &[String]) -> Result<(), Refusal> {
        let changes = self.check.differences(writable).unwrap_or_else(|why| vec![why]);
        if changes.is_empty() {
            return Ok(());
        }
        Err(Refusal::ChangedOnDisk { name: self.name.clone(), changes })
    }
}
