//! Where the skills are.

use std::fs;
use std::path::{Path, PathBuf};

/// Skills at or below a path.
pub(super) fn find(path: &Path, found: &mut Vec<PathBuf>, depth: usize) -> std::io::Result<()> {
    if !fs::metadata(path)?.is_dir() {
        found.push(path.to_owned());
        return Ok(());
    }
    let is_skill = ["SKILL.md", "skillsandbox.yaml"].iter().any(|name| path.join(name).is_file());
    let mut below = Vec::new();
    if depth < 16 {
        for entry in fs::read_dir(path)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() && entry.file_name() != ".git" {
                below.push(entry.path());
            }
        }
    }
    below.sort();
    let before = found.len();
    if is_skill {
        found.push(path.to_owned());
    }
    for dir in below {
        find(&dir, found, depth + 1)?;
    }
    // A folder that was named is scanned, whatever it holds.
    if depth == 0 && found.len() == before {
        found.push(path.to_owned());
    }
    Ok(())
}

/// Names of system skills: files with this ending, at or below a folder.
pub(super) fn system_names(dir: &Path, ending: &str, names: &mut Vec<String>, depth: usize) {
    let Ok(entries) = fs::read_dir(dir) else { return };
    for entry in entries.filter_map(Result::ok) {
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.path().is_dir() && depth < 8 {
            system_names(&entry.path(), ending, names, depth + 1);
        } else if let Some(stem) = name.strip_suffix(ending) {
            names.push(stem.to_owned());
        }
    }
}
