//! Where the skills are.

use std::fs;
use std::path::{Path, PathBuf};

/// Deepest folder that is searched for skills. What lies deeper is scanned as one.
const MAX_DEPTH: usize = 16;

/// Skills at or below a path. Folders that cannot be looked into are among them, unless they lie in a skill, which lists them itself: so
/// that nothing is passed over without a word.
pub(super) fn find(path: &Path, found: &mut Vec<PathBuf>) -> std::io::Result<()> {
    if !fs::metadata(path)?.is_dir() {
        found.push(path.to_owned());
        return Ok(());
    }
    fs::read_dir(path)?;
    let before = found.len();
    walk(path, found, Place { depth: 0, in_skill: false });
    // A folder that was named is scanned, whatever it holds.
    if found.len() == before {
        found.push(path.to_owned());
    }
    Ok(())
}

#[derive(Clone, Copy)]
struct Place {
    depth: usize,
    in_skill: bool,
}

fn walk(path: &Path, found: &mut Vec<PathBuf>, place: Place) {
    let is_skill = ["SKILL.md", "skillsandbox.yaml"].iter().any(|name| path.join(name).is_file());
    if is_skill {
        found.push(path.to_owned());
    }
    let below_skill = is_skill || place.in_skill;
    let below = folders(path);
    if place.depth >= MAX_DEPTH || below.is_err() {
        let has_more = below.as_ref().map_or(true, |below| !below.is_empty());
        if has_more && !below_skill {
            found.push(path.to_owned());
        }
        return;
    }
    for dir in below.unwrap_or_default() {
        walk(&dir, found, Place { depth: place.depth + 1, in_skill: below_skill });
    }
}

/// The folders in a folder, but for git's own.
fn folders(path: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut below = Vec::new();
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() && entry.file_name() != ".git" {
            below.push(entry.path());
        }
    }
    below.sort();
    Ok(below)
}
