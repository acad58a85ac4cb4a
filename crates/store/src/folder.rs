//! A skill's folder on a disk, read into memory without being led out of it.

use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use skillsandbox_path_policy::{OpenOptions, PathPolicy};

use crate::error::{Error, IoErrorAt as _};
use crate::names::{self, MAX_DEPTH};
use crate::tree::SkillTree;

/// Something in a folder that is not a plain file of a skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OddFile {
    pub(crate) path: String,
    pub(crate) why: String,
}

/// A folder as it was found.
#[derive(Debug, Default)]
pub(crate) struct FolderContents {
    pub(crate) tree: SkillTree,
    pub(crate) odd: Vec<OddFile>,
    /// Git's own folder at the top, which is left out.
    pub(crate) git: bool,
    /// Files and folders whose modes no installed skill has: whose owner they execute as, or who else may change them.
    pub(crate) modes: Vec<OddFile>,
}

impl FolderContents {
    /// Whether there is nothing in it but plain files with ordinary modes.
    pub(crate) fn is_plain(&self) -> bool {
        self.odd.is_empty() && self.modes.is_empty()
    }

    fn judge_mode(&mut self, path: &str, mode: u32) {
        let why = match mode {
            _ if mode & 0o4000 != 0 => "it is setuid: it would run as its owner",
            _ if mode & 0o2000 != 0 => "it is setgid: it would run as its group",
            _ if mode & 0o0002 != 0 => "every user can change it",
            _ => return,
        };
        if self.modes.len() < MAX_ODD {
            self.modes.push(OddFile { path: path.to_owned(), why: why.to_owned() });
        }
    }
}

/// Most oddities that are told of one folder; a link is enough to refuse it.
const MAX_ODD: usize = 100;

/// Reads a folder: its files, and what else is in it. A link in its place is none, wherever it leads.
pub(crate) fn read(dir: &Path) -> Result<FolderContents, Error> {
    let mut found = FolderContents::default();
    if std::fs::symlink_metadata(dir).at(dir)?.is_symlink() {
        odd(&mut found, ".", "its folder is a link");
        return Ok(found);
    }
    walk(&rooted(dir)?, dir, "", 0, &mut found)?;
    Ok(found)
}

/// Reads a skill that is one document.
pub(crate) fn document(path: &Path) -> Result<FolderContents, Error> {
    let mut found = FolderContents::default();
    let (Some(dir), Some(name)) = (path.parent(), path.file_name().and_then(|name| name.to_str())) else {
        return Ok(found);
    };
    if std::fs::symlink_metadata(path).at(path)?.is_symlink() {
        odd(&mut found, name, "it is a link; put the file itself there");
        return Ok(found);
    }
    file(&rooted(dir)?, dir, name, &mut found)?;
    Ok(found)
}

fn rooted(dir: &Path) -> Result<PathPolicy, Error> {
    let policy = PathPolicy::builder().root(dir).read_only().build();
    policy.map_err(|error| Error::io(dir, std::io::Error::other(error.to_string())))
}

fn walk(
    policy: &PathPolicy,
    dir: &Path,
    below: &str,
    depth: usize,
    found: &mut FolderContents,
) -> Result<(), Error> {
    let here = if below.is_empty() { "." } else { below };
    let mode = std::fs::symlink_metadata(dir.join(below)).at(&dir.join(below))?.mode();
    // A folder that is setgid only hands its group on.
    found.judge_mode(here, mode & !0o6000);
    let entries = policy
        .read_dir(here)
        .map_err(|error| Error::io(&dir.join(below), std::io::Error::other(error.to_string())));
    let mut entries = entries?;
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    for entry in entries {
        if found.odd.len() >= MAX_ODD {
            return Ok(());
        }
        let Some(name) = entry.name.to_str() else {
            let path = format!("{below}/{}", entry.name.to_string_lossy());
            odd(found, path.trim_start_matches('/'), "its name is not UTF-8");
            continue;
        };
        let path = if below.is_empty() { name.to_owned() } else { format!("{below}/{name}") };
        if depth == 0 && names::is_git(name) {
            found.git = true;
        } else if let Some(why) = names::unfit(&path) {
            odd(found, &path, why);
        } else if entry.is_link {
            odd(found, &path, "it is a link; put the file itself there");
        } else if entry.is_dir {
            if depth + 1 >= MAX_DEPTH {
                odd(found, &path, "it lies too deep");
            } else {
                walk(policy, dir, &path, depth + 1, found)?;
            }
        } else {
            file(policy, dir, &path, found)?;
        }
    }
    Ok(())
}

fn file(policy: &PathPolicy, dir: &Path, path: &str, found: &mut FolderContents) -> Result<(), Error> {
    // It does not wait for a pipe, and what is no file is an error of its own.
    let file = match policy.open(path, &OpenOptions::reading()) {
        Ok(file) => file,
        Err(error) => {
            odd(found, path, &error.to_string());
            return Ok(());
        }
    };
    let at = dir.join(path);
    let metadata = file.metadata().at(&at)?;
    if !metadata.is_file() {
        odd(found, path, "it is not a file");
        return Ok(());
    }
    found.judge_mode(path, metadata.mode());
    if metadata.len() > found.tree.room() as u64 {
        odd(found, path, "a skill has at most 64 MiB");
        return Ok(());
    }
    let mut bytes = Vec::new();
    file.take(found.tree.room() as u64 + 1).read_to_end(&mut bytes).at(&at)?;
    match found.tree.insert(path, bytes, metadata.mode() & 0o111 != 0) {
        Ok(()) => {}
        Err(Error::Hostile { what, why }) => odd(found, &what, &why),
        Err(other) => return Err(other),
    }
    Ok(())
}

fn odd(found: &mut FolderContents, path: &str, why: &str) {
    found.odd.push(OddFile { path: path.to_owned(), why: why.to_owned() });
}
