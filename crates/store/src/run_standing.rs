//! Whether an installed skill can be run, and by whose word.

use std::path::PathBuf;

use serde::Serialize;
use skillsandbox_run::{LoadChoice, LoadedSkill, ManifestOrigin, Refusal};

use crate::lockfile::LockEntry;
use crate::store::Store;

/// Whether an installed skill can be run, and by whose word.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "by")]
pub enum RunStanding {
    /// By its own manifest.
    Skill,
    /// By the user's own manifest for it.
    User {
        /// Where that lies.
        path: PathBuf,
    },
    /// With safe defaults: it has no manifest.
    Defaults,
    /// There is nothing in it that could be run: an agent reads it.
    Text,
    /// It is refused: it is not what was installed.
    Changed {
        /// What is different.
        changes: Vec<String>,
    },
    /// It is refused for another reason.
    Refused {
        /// Which.
        why: String,
    },
}

impl std::fmt::Display for RunStanding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Skill => f.write_str("runs by its own manifest"),
            Self::User { path } => write!(f, "runs by your manifest {}", path.display()),
            Self::Defaults => f.write_str("runs with safe defaults: it has no manifest"),
            Self::Text => f.write_str("only text: there is nothing to run"),
            Self::Changed { changes } => {
                write!(f, "refused, changed since it was installed: {}", changes.join("; "))
            }
            Self::Refused { why } => write!(f, "refused: {why}"),
        }
    }
}

impl Store {
    /// Whether a skill of the lock can be run, as it is now.
    #[must_use]
    pub fn run_standing(&self, entry: &LockEntry) -> RunStanding {
        if entry.is_document(self.layout()) {
            return RunStanding::Text;
        }
        let mut choice = LoadChoice::default();
        choice.installed = Some(entry.to_installed(self.layout()));
        let loaded = LoadedSkill::load_with(&entry.path(self.layout()), &choice, self.policy());
        match loaded.and_then(|skill| skill.check_installed().map(|()| skill.origin().clone())) {
            Ok(ManifestOrigin::Skill) => RunStanding::Skill,
            Ok(ManifestOrigin::User(path) | ManifestOrigin::File(path)) => RunStanding::User { path },
            Ok(ManifestOrigin::Defaults) if entry.has_programs() => RunStanding::Defaults,
            Ok(ManifestOrigin::Defaults) => RunStanding::Text,
            Err(Refusal::ChangedOnDisk { changes, .. }) => RunStanding::Changed { changes },
            Err(other) => RunStanding::Refused { why: other.to_string() },
        }
    }
}

/// How the names of files end that some interpreter runs.
const SCRIPTS: [&str; 14] = [
    ".py", ".sh", ".bash", ".zsh", ".fish", ".js", ".mjs", ".cjs", ".ts", ".rb", ".pl", ".php", ".lua",
    ".ps1",
];

impl LockEntry {
    /// Whether there is a file in it that could be run.
    fn has_programs(&self) -> bool {
        let is_script = |path: &String| SCRIPTS.iter().any(|end| path.ends_with(end));
        !self.executable.is_empty() || self.files.keys().any(is_script)
    }
}
