//! From a name to a path, as `execvp(3)` does it.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use super::error::ProgramError;
use super::files;
use super::search_host::SearchHost;

/// Longest path the kernel takes (`PATH_MAX`).
const MAX_PATH: usize = 4096;
/// Folders of the PATH that are searched.
const MAX_FOLDERS: usize = 256;
/// Names compared for a suggestion.
const MAX_COMPARED: usize = 20_000;

/// The file a name means. It may be a link; nothing is known yet of what it holds.
pub(super) fn file(host: &SearchHost<'_>, name: &OsStr) -> Result<PathBuf, ProgramError> {
    let bad = |why| ProgramError::BadName { name: name.to_owned(), why };
    let bytes = name.as_bytes();
    match bytes {
        [] | b"." | b".." => return Err(bad("it names no file; give the name of a program or its path")),
        _ if bytes.contains(&0) => return Err(bad("it holds a NUL byte; remove it")),
        _ if bytes.len() >= MAX_PATH => return Err(bad("it is longer than any path; shorten it")),
        _ => {}
    }
    if bytes.contains(&b'/') { by_path(host, name) } else { on_path(host, name, None) }
}

/// A name with a slash is a path from the working folder, not from where we happen to stand.
fn by_path(host: &SearchHost<'_>, name: &OsStr) -> Result<PathBuf, ProgramError> {
    let path = host.search.workdir.join(name);
    // `Path` forgets a slash at the end; the kernel does not.
    if [&b"/"[..], b"/.", b"/.."].iter().any(|end| name.as_bytes().ends_with(end)) {
        return Err(ProgramError::Directory(path));
    }
    if !path.is_absolute() {
        return Err(ProgramError::BadName {
            name: name.to_owned(),
            why: "the working folder is not an absolute path",
        });
    }
    // Whatever else is wrong with it is said where it is looked at.
    let missing =
        |error: &io::Error| matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory);
    if !path.symlink_metadata().is_err_and(|error| missing(&error)) {
        return Ok(path);
    }
    let siblings = path.parent().map(files::names).unwrap_or_default();
    let near = path
        .file_name()
        .and_then(|name| nearest_name(name, siblings.iter().map(|sibling| sibling.to_string_lossy().into())));
    Err(ProgramError::Missing { path, near })
}

/// The first file of that name on the PATH that may be executed; `skip` is a folder that has already had its turn.
pub(super) fn on_path(
    host: &SearchHost<'_>,
    name: &OsStr,
    skip: Option<&Path>,
) -> Result<PathBuf, ProgramError> {
    let mut searched: Vec<PathBuf> = Vec::new();
    let mut ignored = 0;
    let mut refused = None;
    for entry in host.search.path.as_bytes().split(|byte| *byte == b':').take(MAX_FOLDERS) {
        let folder = Path::new(OsStr::from_bytes(entry));
        // It would mean whatever folder one stands in, and a skill's folder may well hold a `python3`.
        if !folder.is_absolute() {
            ignored += 1;
            continue;
        }
        if searched.iter().any(|before| before == folder)
            || skip.is_some_and(|skip| is_same_file(skip, folder))
        {
            continue;
        }
        searched.push(folder.to_path_buf());
        let path = folder.join(name);
        // Folders one may not look into are passed over, as execvp does.
        if path.is_file() {
            if files::executable(&path) {
                return Ok(path);
            }
            refused = refused.or(Some(path));
        }
    }
    let all = searched.iter().flat_map(|folder| files::names(folder)).take(MAX_COMPARED);
    let near = nearest_name(name, all.map(|name| name.to_string_lossy().into_owned()));
    Err(ProgramError::NotOnPath { name: name.to_owned(), searched, ignored, near, refused })
}

fn is_same_file(one: &Path, other: &Path) -> bool {
    one == other || other.canonicalize().is_ok_and(|other| other == one)
}

/// The name that was perhaps meant: at most a third of it may be wrong.
fn nearest_name(name: &OsStr, names: impl Iterator<Item = String>) -> Option<String> {
    let name = name.to_str().filter(|name| name.len() <= 64)?;
    let most = name.chars().count().div_ceil(3).min(3);
    let near = |other: String| {
        let distance = strsim::damerau_levenshtein(name, &other);
        (distance <= most && other != name).then_some((distance, other))
    };
    names.filter(|other| other.len() <= 64).filter_map(near).min().map(|(_, other)| other)
}
