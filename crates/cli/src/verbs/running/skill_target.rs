//! Which skill is meant: an installed one by its name, or a folder.

use std::path::{Path, PathBuf};

use skillsandbox_run::{InstalledSkill, Refusal};

#[cfg(target_os = "linux")]
use crate::output::{message, visible};

/// The folder of a skill, and what the store knows of it.
pub(in crate::verbs) struct SkillTarget {
    pub(in crate::verbs) folder: PathBuf,
    pub(in crate::verbs) installed: Option<InstalledSkill>,
}

impl SkillTarget {
    /// What has a slash, or is `.` or `..`, is a folder. Anything else is a name: of an installed skill, or else of a folder here.
    pub(in crate::verbs) fn find(named: &Path, system_dir: Option<&Path>) -> Result<Self, Refusal> {
        let folder = || Ok(Self { folder: named.to_owned(), installed: None });
        if is_folder(named) {
            return folder();
        }
        #[cfg(target_os = "linux")]
        {
            find_installed(named, system_dir)
        }
        #[cfg(not(target_os = "linux"))]
        {
            let _ = system_dir;
            folder()
        }
    }
}

fn is_folder(named: &Path) -> bool {
    let bytes = named.as_os_str().as_encoded_bytes();
    bytes.contains(&b'/') || matches!(bytes, b"." | b"..")
}

#[cfg(target_os = "linux")]
fn find_installed(named: &Path, system_dir: Option<&Path>) -> Result<SkillTarget, Refusal> {
    use skillsandbox_store::{Error, Store, StoreLayout};

    let layout = match system_dir {
        Some(dir) => {
            let failed = |source| Refusal::Folder { path: dir.to_owned(), source };
            StoreLayout::system(dir.canonicalize().map_err(failed)?)
        }
        None => StoreLayout::user().ok_or(Refusal::NoHome)?,
    };
    let store = Store::new(layout);
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
