//! Whether the host's `/tmp` or `/var/tmp` has a file that was asked for inside, where these are others.

use std::fs::Metadata;
use std::path::{Component, Path};

/// The folders that every run has of its own, under the names that the host has, too.
const FOLDERS: [&str; 2] = ["/tmp", "/var/tmp"];

/// Whether a path lies in one of them.
pub(crate) fn is_in_tmp(path: &Path) -> bool {
    FOLDERS.iter().any(|folder| path.starts_with(folder))
}

/// Whether the host has it. A step at a time, and no further than the file system of the folder itself goes: the skill chose the name, and what another
/// machine or a daemon answers for is not asked. Links are not followed.
pub(crate) fn is_on_host_tmp(path: &Path) -> bool {
    FOLDERS.iter().any(|folder| is_below(Path::new(folder), path))
}

fn is_below(tmp: &Path, path: &Path) -> bool {
    let Ok(rest) = path.strip_prefix(tmp) else { return false };
    let Ok(root) = tmp.symlink_metadata() else { return false };
    let mut here = tmp.to_owned();
    let mut found = root.clone();
    for part in rest.components() {
        let Component::Normal(name) = part else { return false };
        if !found.is_dir() || device(&found) != device(&root) {
            return false;
        }
        here.push(name);
        match here.symlink_metadata() {
            Ok(next) => found = next,
            Err(_) => return false,
        }
    }
    rest.components().next().is_some()
}

#[cfg(unix)]
fn device(found: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::dev(found)
}

#[cfg(not(unix))]
fn device(_: &Metadata) -> u64 {
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_found_without_following_links_or_leaving_the_file_system() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir(at("a")).unwrap();
        std::fs::write(at("a/b"), "").unwrap();
        std::os::unix::fs::symlink("/", at("root")).unwrap();
        for (name, want) in [
            ("a", true),
            ("a/b", true),
            ("a/b/c", false),
            ("none", false),
            ("root", true),
            ("root/etc", false),
            ("a/../a", false),
            ("", false),
        ] {
            assert_eq!(is_below(folder.path(), &at(name)), want, "{name}");
        }
        assert!(!is_below(folder.path(), Path::new("/etc/passwd")));
    }
}
