//! Which skill is meant: an installed one by its name, or a folder.

use std::path::{Path, PathBuf};

use skillsandbox_run::{InstalledSkill, Refusal};
#[cfg(target_os = "linux")]
use skillsandbox_store::StoreLayout;

#[cfg(target_os = "linux")]
use crate::output::{message, visible};

/// The folder of a skill, and what the store knows of it.
pub(in crate::verbs) struct SkillTarget {
    pub(in crate::verbs) folder: PathBuf,
    pub(in crate::verbs) installed: Option<InstalledSkill>,
}

impl SkillTarget {
    /// What has a slash, or is `.` or `..`, is a folder, which may be that of an installed skill. Anything else is a name: of an installed
    /// skill, or else of a folder here.
    pub(in crate::verbs) fn find(named: &Path, system_dir: Option<&Path>) -> Result<Self, Refusal> {
        #[cfg(target_os = "linux")]
        return if is_folder(named) {
            let installed = installed_at(named, system_dir)?;
            Ok(Self { folder: named.to_owned(), installed })
        } else {
            find_installed(named, system_dir)
        };
        #[cfg(not(target_os = "linux"))]
        {
            let _ = system_dir;
            Ok(Self { folder: named.to_owned(), installed: None })
        }
    }
}

#[cfg(target_os = "linux")]
fn is_folder(named: &Path) -> bool {
    let bytes = named.as_os_str().as_encoded_bytes();
    bytes.contains(&b'/') || matches!(bytes, b"." | b"..")
}

/// The store that names are looked for in.
#[cfg(target_os = "linux")]
fn layout_of(system_dir: Option<&Path>) -> Result<StoreLayout, Refusal> {
    match system_dir {
        Some(dir) => {
            let failed = |source| Refusal::Folder { path: dir.to_owned(), source };
            Ok(StoreLayout::system(dir.canonicalize().map_err(failed)?))
        }
        None => StoreLayout::user().ok_or(Refusal::NoHome),
    }
}

/// What the store knows of a folder: one that lies in it is held to what was installed, by whatever path it is named.
#[cfg(target_os = "linux")]
fn installed_at(folder: &Path, system_dir: Option<&Path>) -> Result<Option<InstalledSkill>, Refusal> {
    use skillsandbox_run::InstalledSkills as _;

    // One that is not there is refused where it is loaded.
    let Ok(folder) = folder.canonicalize() else { return Ok(None) };
    skillsandbox_store::StoreSkills::new(layout_of(system_dir)?)
        .installed_at(&folder)
        .map_err(Refusal::Unscanned)
}

#[cfg(target_os = "linux")]
fn find_installed(named: &Path, system_dir: Option<&Path>) -> Result<SkillTarget, Refusal> {
    use skillsandbox_store::{Error, Store};

    let store = Store::new(layout_of(system_dir)?);
    let name = named.to_string_lossy();
    match store.installed(&name) {
        Ok((folder, installed)) => Ok(SkillTarget { folder, installed: Some(installed) }),
        Err(Error::NotInstalled { name }) if named.is_dir() => {
            let name = visible(&name);
            message(&format!("no skill {name} is installed; this is the folder ./{name}"));
            Ok(SkillTarget { folder: named.to_owned(), installed: None })
        }
        Err(Error::NotInstalled { name }) => {
            let near = store.list().map(|lock| lock.near_names(&name)).unwrap_or_default();
            Err(Refusal::NotInstalled { name, near })
        }
        Err(error) => Err(Refusal::Unscanned(error.to_string())),
    }
}
