//! Where a skill, its user and their work lie, and how a manifest names what is in them.

use std::path::{Path, PathBuf};

use skillsandbox_manifest::{GrantBases, GrantPath, Manifest, user_folders};
use skillsandbox_run::real_path;
use skillsandbox_text::escape_line;

use crate::proposal::FileGrant;

/// The folders that grants are named from.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LearnPlaces {
    /// The skill's own folder, without links.
    pub skill: PathBuf,
    /// The user's home, without links.
    pub home: PathBuf,
    /// The folder that the caller works in, without links.
    pub workspace: Option<PathBuf>,
    /// Files and folders that the person has named, by a flag, an argument or a manifest of their own, however much they hold. Without links.
    pub handed: Vec<PathBuf>,
    /// Folders that the person has named to be read, such as that of a program's packages. Where something in one is read, the folder is granted
    /// as it was named. Without links.
    pub named_folders: Vec<PathBuf>,
    /// What the person has granted just so, by a flag or in a manifest of their own. Without links.
    pub named_grants: Vec<FileGrant>,
}

impl LearnPlaces {
    /// Of a skill, for this user. `None` where there is no home.
    #[must_use]
    pub fn new(skill: &Path, workspace: Option<&Path>) -> Option<Self> {
        let home = real_path(&user_folders::home()?);
        Some(Self::at(&real_path(skill), &home, workspace.map(real_path).as_deref()))
    }

    /// The same with a home of the caller's choice. All of them without links.
    #[must_use]
    pub fn at(skill: &Path, home: &Path, workspace: Option<&Path>) -> Self {
        let workspace = workspace.map(Path::to_owned);
        Self {
            skill: skill.to_owned(),
            home: home.to_owned(),
            workspace,
            handed: Vec::new(),
            named_folders: Vec::new(),
            named_grants: Vec::new(),
        }
    }

    /// Whether somebody has named a path, or a folder that it lies in.
    pub(crate) fn is_handed(&self, path: &Path) -> bool {
        self.handed.iter().any(|handed| path.starts_with(handed))
    }

    /// Whether the person has named just this, for reading or for writing.
    pub(crate) fn is_named(&self, path: &Path, writes: bool) -> bool {
        let is_given = |grant: &FileGrant| grant.path() == path && (grant.writes() || !writes);
        self.workspace.as_deref() == Some(path) || self.named_grants.iter().any(is_given)
    }

    /// The bases of a manifest's grants.
    #[must_use]
    pub fn bases(&self) -> GrantBases {
        let bases = GrantBases::new(&self.skill, &self.home);
        match &self.workspace {
            Some(workspace) => bases.with_workspace(workspace),
            None => bases,
        }
    }

    /// How a manifest names a place: below the workspace, the skill's folder or the home where it lies in one. `None` where it cannot: by
    /// then the name would mean another place, or nothing.
    #[must_use]
    pub fn spell(&self, path: &Path) -> Option<String> {
        let bases = [
            (self.workspace.as_deref(), "${WORKSPACE}"),
            (Some(self.skill.as_path()), "${SKILL_DIR}"),
            (Some(self.home.as_path()), "~"),
        ];
        let below = bases.iter().find_map(|(base, name)| {
            let rest = path.strip_prefix((*base)?).ok()?.to_str()?;
            Some(if rest.is_empty() { (*name).to_owned() } else { format!("{name}/{rest}") })
        });
        let text = below.or_else(|| path.to_str().map(str::to_owned))?;
        let grant: GrantPath = text.parse().ok()?;
        // What could deceive whoever reads it, no manifest may hold.
        let is_plain = escape_line(&text) == text && Manifest::parse(&example(&text)).is_ok();
        (is_plain && grant.resolve(&self.bases()) == path && grant.to_string() == text).then_some(text)
    }
}

/// A manifest with nothing but this path in it.
fn example(path: &str) -> String {
    format!(
        "skill: {{ name: example, version: \"1\" }}\npermissions:\n  filesystem:\n    read:\n      - {}\n",
        serde_json::json!(path)
    )
}
