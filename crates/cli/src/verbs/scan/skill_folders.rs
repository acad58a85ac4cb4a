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
