//! Which folders are there anyway, and which are never given as a whole.

use std::path::{Path, PathBuf};

use super::ProgramSearch;
use super::files;

/// The folders of a system that are there inside, besides `/lib*`.
const SYSTEM: [&str; 4] = ["/usr", "/bin", "/sbin", "/etc/alternatives"];

/// Names that say: somebody keeps secrets here. A folder that holds one of them is not an installation.
const SECRET: [&str; 22] = [
    ".ssh",
    ".aws",
    ".gnupg",
    ".azure",
    ".kube",
    ".docker",
    ".netrc",
    ".pgpass",
    ".pypirc",
    ".npmrc",
    ".git-credentials",
    ".password-store",
    ".vault-token",
    ".mozilla",
    ".thunderbird",
    ".electrum",
    ".bitcoin",
    ".ethereum",
    ".bash_history",
    ".zsh_history",
    ".python_history",
    // Last: also what some people call their virtual environments, so it may lie on the way to a program.
    ".env",
];

/// Folders whose children belong to different people or purposes: `/home/ada`, `/var/lib`, `/mnt/backup`.
const SHARED: [&str; 10] =
    ["/home", "/var", "/var/home", "/var/lib", "/mnt", "/media", "/srv", "/run", "/run/user", "/run/media"];

/// Folders of a home that many programs share.
const OF_A_HOME: [&str; 16] = [
    ".local",
    ".local/bin",
    ".local/lib",
    ".local/share",
    ".local/state",
    ".config",
    ".cache",
    ".cargo",
    ".var",
    "bin",
    "snap",
    "Desktop",
    "Documents",
    "Downloads",
    "Pictures",
    "Public",
];

/// The host as a search sees it, with real paths.
#[derive(Clone, Copy)]
pub(super) struct SearchHost<'a> {
    pub(super) search: &'a ProgramSearch<'a>,
    home: &'a [PathBuf],
    /// The folder that the skill's author filled; nothing in it is believed.
    skill: Option<&'a Path>,
}

/// The owned half of [`SearchHost`].
pub(super) struct SearchFolders {
    home: Vec<PathBuf>,
    skill: Option<PathBuf>,
}

impl SearchFolders {
    pub(super) fn of(search: &ProgramSearch<'_>) -> Self {
        let mut home: Vec<PathBuf> = search.home.iter().map(|home| home.to_path_buf()).collect();
        home.extend(search.home.and_then(|home| home.canonicalize().ok()));
        let folders = Self { home, skill: None };
        // Somebody who stands in their home folder, or above it, has not thereby called all of it the skill's.
        let holds_home = |folder: &PathBuf| folders.home.iter().any(|home| home.starts_with(folder));
        let skill = search
            .workdir
            .canonicalize()
            .ok()
            .filter(|folder| folder.parent().is_some() && !holds_home(folder));
        Self { skill, ..folders }
    }

    pub(super) fn host<'a>(&'a self, search: &'a ProgramSearch<'a>) -> SearchHost<'a> {
        SearchHost { search, home: &self.home, skill: self.skill.as_deref() }
    }
}

impl SearchHost<'_> {
    pub(super) fn home(&self) -> Option<&Path> {
        self.home.last().map(PathBuf::as_path)
    }

    /// In the folder of the skill, which the caller grants by itself.
    pub(super) fn in_skill(&self, path: &Path) -> bool {
        self.skill.is_some_and(|skill| path.starts_with(skill))
    }

    /// A value of the environment that is an absolute path.
    pub(super) fn folder_variable(&self, name: &str) -> Option<PathBuf> {
        (self.search.environment)(name).map(PathBuf::from).filter(|path| path.is_absolute())
    }

    /// Whether a folder may be given as a whole, because an installation lies there. Never one that holds the skill: its
    /// neighbours are perhaps skills too, and by their names make any folder look like an installation.
    pub(super) fn may_be_given(&self, folder: &Path) -> bool {
        self.skill.is_none_or(|skill| !skill.starts_with(folder)) && self.may_be_given_around_skills(folder)
    }

    /// The same for a store that programs and skills share, and in which nobody keeps anything else.
    pub(super) fn may_be_given_around_skills(&self, folder: &Path) -> bool {
        !self.is_too_broad(folder)
            && !passes_secrets(folder)
            && SECRET.iter().all(|name| folder.join(name).symlink_metadata().is_err())
    }

    /// A folder that holds more than one thing ever does.
    pub(super) fn is_too_broad(&self, folder: &Path) -> bool {
        too_broad(folder, self.home)
    }

    /// Settings of this name in the working folder and those above it, nearest first.
    pub(super) fn settings_upwards(&self, name: &str) -> impl Iterator<Item = String> {
        let folders: Vec<PathBuf> = self
            .search
            .workdir
            .ancestors()
            .filter(|folder| folder.is_absolute())
            .take(64)
            .map(|f| f.join(name))
            .collect();
        folders.into_iter().filter_map(|path| files::small_text(&path))
    }
}

/// Whether a real path is there inside without being asked for.
pub(super) fn is_system(path: &Path) -> bool {
    SYSTEM.iter().any(|folder| path.starts_with(folder)) || is_top_level_lib(path)
}

fn is_top_level_lib(path: &Path) -> bool {
    let first = path.components().nth(1).map(std::path::Component::as_os_str);
    first.is_some_and(|first| ["lib", "lib32", "lib64", "libx32"].iter().any(|name| first == *name))
}

/// Whether a path leads through a folder for secrets.
pub(super) fn passes_secrets(path: &Path) -> bool {
    path.components()
        .any(|part| part.as_os_str() != ".env" && SECRET.iter().any(|name| part.as_os_str() == *name))
}

/// What the kernel makes up, and what starts the machine.
pub(super) fn is_made_up(path: &Path) -> bool {
    ["/proc", "/sys", "/dev", "/boot"].iter().any(|folder| path.starts_with(folder))
}

fn too_broad(folder: &Path, home: &[PathBuf]) -> bool {
    let depth = folder.components().count();
    let shared = |parent: &Path| SHARED.iter().any(|shared| parent == Path::new(shared));
    // `/` is the first component, so 2 is a folder at the top.
    depth <= 2
        || folder.starts_with("/etc")
        || is_made_up(folder)
        || folder.parent().is_some_and(shared)
        || home
            .iter()
            .any(|home| home.starts_with(folder) || OF_A_HOME.iter().any(|name| folder == home.join(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_folder_that_holds_more_than_an_installation_is_given() {
        let home = [PathBuf::from("/home/ada")];
        for folder in [
            "/",
            "/opt",
            "/home",
            "/root",
            "/etc",
            "/var",
            "/srv",
            "/mnt",
            "/tmp",
            "/nix",
            "/home/ada",
            "/home/eve",
            "/var/lib",
            "/var/lib/docker",
            "/mnt/disk",
            "/media/stick",
            "/run/user/1000",
            "/etc/ssl",
            "/proc/self",
            "/dev/shm",
            "/home/ada/.local",
            "/home/ada/.local/share",
            "/home/ada/.config",
            "/home/ada/bin",
            "/home/ada/Documents",
        ] {
            assert!(too_broad(Path::new(folder), &home), "{folder}");
        }
        for folder in [
            "/opt/rust",
            "/nix/store",
            "/gnu/store",
            "/home/ada/.pyenv/versions/3.11.7",
            "/home/ada/miniforge3",
        ] {
            assert!(!too_broad(Path::new(folder), &home), "{folder}");
        }
    }

    #[test]
    fn system_folders_are_known_by_whole_names() {
        for path in [
            "/usr/bin/python3",
            "/bin/sh",
            "/lib64/ld-linux-x86-64.so.2",
            "/etc/alternatives/java",
            "/libx32/x",
        ] {
            assert!(is_system(Path::new(path)), "{path}");
        }
        for path in [
            "/usrlocal/x",
            "/binx",
            "/etc/passwd",
            "/etc/alternatives2/x",
            "/opt/lib/x",
            "/",
            "/home/lib",
            "/library/x",
        ] {
            assert!(!is_system(Path::new(path)), "{path}");
        }
    }
}
