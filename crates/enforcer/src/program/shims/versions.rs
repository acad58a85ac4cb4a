//! pyenv and those made after its model.

use std::cmp::Reverse;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::{ProgramError, ShimTarget, files, is_plain, is_program, refuse, root, shown};
use crate::program::search_host::SearchHost;

struct VersionManager {
    name: &'static str,
    root: &'static str,
    in_home: &'static str,
    version: &'static str,
    file: &'static str,
    /// What may stand before a version in settings.
    prefix: &'static str,
}

const MANAGERS: [VersionManager; 4] = [
    manager("pyenv", "PYENV_ROOT", ".pyenv", "PYENV_VERSION", ".python-version", "python-"),
    manager("rbenv", "RBENV_ROOT", ".rbenv", "RBENV_VERSION", ".ruby-version", "ruby-"),
    manager("nodenv", "NODENV_ROOT", ".nodenv", "NODENV_VERSION", ".node-version", "v"),
    manager("goenv", "GOENV_ROOT", ".goenv", "GOENV_VERSION", ".go-version", "go"),
];

const fn manager(
    name: &'static str,
    root: &'static str,
    in_home: &'static str,
    version: &'static str,
    file: &'static str,
    prefix: &'static str,
) -> VersionManager {
    VersionManager { name, root, in_home, version, file, prefix }
}

pub(super) fn find_target(
    host: &SearchHost<'_>,
    folder: &Path,
    name: &OsStr,
) -> Result<Option<ShimTarget>, ProgramError> {
    if !folder.ends_with("shims") {
        return Ok(None);
    }
    for manager in &MANAGERS {
        let roots = root(host, &[(manager.root, "")], &[manager.in_home]);
        if let Some(root) = roots.into_iter().find(|root| folder == root.join("shims")) {
            return manager.choose(host, &root, name).map(Some);
        }
    }
    Ok(None)
}

impl VersionManager {
    fn choose(&self, host: &SearchHost<'_>, root: &Path, name: &OsStr) -> Result<ShimTarget, ProgramError> {
        let wanted = self.wanted_versions(host, root);
        for version in &wanted {
            if version == "system" {
                return Ok(ShimTarget::System);
            }
            let path = self.find_installed(root, version).map(|folder| folder.join("bin").join(name));
            if let Some(path) = path.filter(|path| is_program(path)) {
                return Ok(ShimTarget::Program(path));
            }
        }
        let wanted: Vec<String> = wanted.iter().take(4).map(|version| shown(version)).collect();
        let why = format!("the version it is set to, {}, has none", wanted.join(" or "));
        let mut having: Vec<String> = files::names(&root.join("versions"))
            .into_iter()
            .filter(|version| is_program(&root.join("versions").join(version).join("bin").join(name)))
            .map(|version| version.to_string_lossy().into_owned())
            .collect();
        having.sort();
        let cure = if having.is_empty() {
            "install a version that has it".to_owned()
        } else {
            format!("set {} to one of {}", self.version, having.join(", "))
        };
        Err(refuse(self.name, name, why, cure))
    }

    /// The versions that are set, first the one to try first: by the variable, the nearest file, the manager's own.
    fn wanted_versions(&self, host: &SearchHost<'_>, root: &Path) -> Vec<String> {
        let variable = (host.search.environment)(self.version).and_then(|value| value.into_string().ok());
        let texts = variable
            .map(|value| value.replace(':', "\n"))
            .into_iter()
            .chain(host.settings_upwards(self.file))
            .chain(files::own_text(&root.join("version")));
        let versions = texts.map(|text| -> Vec<String> {
            let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
            lines.flat_map(str::split_whitespace).take(16).map(str::to_owned).collect()
        });
        versions
            .into_iter()
            .find(|versions| !versions.is_empty())
            .unwrap_or_else(|| vec!["system".to_owned()])
    }

    /// The folder of a version: by its name, or the newest that begins with it (`3.11` means `3.11.7`).
    fn find_installed(&self, root: &Path, version: &str) -> Option<PathBuf> {
        let versions = root.join("versions");
        let bare = version.strip_prefix(self.prefix).unwrap_or(version);
        let exact = [version, bare].into_iter().filter(|name| is_plain(name)).map(|name| versions.join(name));
        if let Some(folder) = exact.into_iter().find(|folder| folder.is_dir()) {
            return Some(folder);
        }
        let start = format!("{bare}.");
        let installed = files::names(&versions).into_iter().filter_map(|name| name.into_string().ok());
        let fitting = installed
            .filter(|name| is_plain(bare) && name.starts_with(&start) && versions.join(name).is_dir());
        fitting.min_by_key(|name| Reverse(numbers(name))).map(|name| versions.join(name))
    }
}

/// `3.9` comes before `3.10`.
fn numbers(version: &str) -> Vec<u64> {
    version.split('.').map(|part| part.parse().unwrap_or(0)).collect()
}
