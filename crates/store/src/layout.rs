//! Where everything lies.

use std::path::{Path, PathBuf};

use skillsandbox_manifest::user_folders;

/// The places of a store, below one root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreLayout {
    root: PathBuf,
    /// In front of every path below the root: nothing, or `system/`.
    prefix: &'static str,
}

impl StoreLayout {
    /// A store of its own: `skills`, `packages.lock` and `security` below a folder.
    #[must_use]
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into(), prefix: "" }
    }

    /// A tree as `SkillOS` has it: `system/skills`, `system/agents`, `system/packages.lock` and `system/security` below a folder.
    #[must_use]
    pub fn system(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into(), prefix: "system/" }
    }

    /// The user's own: `$XDG_DATA_HOME/skillsandbox`, or `~/.local/share/skillsandbox`. `None` where there is no home.
    #[must_use]
    pub fn user() -> Option<Self> {
        Some(Self::new(user_folders::data()?))
    }

    /// What the paths in the lock are below of.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Whether it is a tree with system skills of its own.
    #[must_use]
    pub fn is_system(&self) -> bool {
        !self.prefix.is_empty()
    }

    /// A path as the lock has it, from the root.
    pub(crate) fn relative(&self, rest: &str) -> String {
        format!("{}{rest}", self.prefix)
    }

    fn place(&self, rest: &str) -> PathBuf {
        self.root.join(self.relative(rest))
    }

    /// Installed skills, a folder each.
    #[must_use]
    pub fn skills(&self) -> PathBuf {
        self.place("skills")
    }

    /// Agents that are one document each.
    #[must_use]
    pub fn agents(&self) -> PathBuf {
        self.place("agents")
    }

    /// What is installed.
    #[must_use]
    pub fn lock_file(&self) -> PathBuf {
        self.place("packages.lock")
    }

    /// A page and a JSON file for every scan.
    #[must_use]
    pub fn reports(&self) -> PathBuf {
        self.place("security/scan_reports")
    }

    /// A row for every scan.
    #[must_use]
    pub fn index(&self) -> PathBuf {
        self.place("security/scan_index.md")
    }

    /// Domains that no skill may name.
    #[must_use]
    pub fn blocklist(&self) -> PathBuf {
        self.place("security/blocklist.md")
    }

    /// The folders of the store that hold others of its places.
    pub(crate) fn folders_above(&self) -> Vec<PathBuf> {
        let own = self.is_system().then(|| self.root.join(self.prefix.trim_end_matches('/')));
        own.into_iter().chain([self.place("security")]).collect()
    }

    /// What is only there while something is being done.
    pub(crate) fn work(&self) -> PathBuf {
        self.place(".skillsandbox")
    }
}
