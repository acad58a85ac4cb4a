//! What a scan leaves on the disk, and what it looks for there besides the skill.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use crate::report::ScanReport;

/// Most pages of one skill in one second.
const MOST: usize = 1000;
/// Deepest folder that system skills are looked for in.
const MAX_DEPTH: usize = 8;

impl ScanReport {
    /// Writes the page of a stamped report into a folder, as `{skill}_{time}.md`, and says where. A page that is there already is never
    /// written over.
    ///
    /// # Errors
    /// A report without a stamp, and what the system says.
    pub fn write_page(&self, dir: &Path) -> io::Result<PathBuf> {
        let stamp = self.stamp.as_ref().ok_or_else(|| io::Error::other("the report has no time"))?;
        fs::create_dir_all(dir)?;
        let time: String = stamp.scanned_at.chars().filter(char::is_ascii_alphanumeric).collect();
        let name = file_name(&self.skill);
        for number in 1..=MOST {
            let number = if number == 1 { String::new() } else { format!("-{number}") };
            let path = dir.join(format!("{name}_{time}{number}.md"));
            match place_whole(&path, self.to_markdown(stamp).as_bytes()) {
                Ok(()) => return Ok(path),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::other(format!("{} holds too many pages of {name} already", dir.display())))
    }
}

/// Writes a new file that is there whole or not at all, whatever ends us. What is there already is not replaced.
fn place_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if path.symlink_metadata().is_ok() {
        return Err(ErrorKind::AlreadyExists.into());
    }
    let beside = path.with_extension(format!("{}.part", std::process::id()));
    let _ = fs::remove_file(&beside);
    let mut file = File::create_new(&beside)?;
    // A second name never replaces a file. Some file systems have none; there, nobody else may write in between.
    let placed = file.write_all(bytes).and_then(|()| match fs::hard_link(&beside, path) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => fs::rename(&beside, path),
        placed => placed,
    });
    let _ = fs::remove_file(&beside);
    placed
}

/// A skill's name as the name of a file: it is the skill's word, and must not lead elsewhere.
fn file_name(skill: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_') { c } else { '_' };
    let name: String = skill.chars().take(64).map(plain).collect();
    if name.is_empty() { "skill".to_owned() } else { name }
}

/// The names of the system skills of a tree: `system/skills/**/*.manifest.md` and `system/agents/*.md` below a root, but for what lies
/// at or below a path that is to be passed over.
#[must_use]
pub fn system_names(root: &Path, pass_over: &dyn Fn(&Path) -> bool) -> Vec<String> {
    let mut names = Vec::new();
    collect(&root.join("system/skills"), ".manifest.md", pass_over, &mut names, 0);
    collect(&root.join("system/agents"), ".md", pass_over, &mut names, 0);
    names
}

fn collect(
    dir: &Path,
    ending: &str,
    pass_over: &dyn Fn(&Path) -> bool,
    names: &mut Vec<String>,
    depth: usize,
) {
    let Ok(entries) = fs::read_dir(dir) else { return };
    for entry in entries.filter_map(Result::ok).filter(|entry| !pass_over(&entry.path())) {
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.path().is_dir() && depth < MAX_DEPTH {
            collect(&entry.path(), ending, pass_over, names, depth + 1);
        } else if let Some(stem) = name.strip_suffix(ending) {
            names.push(stem.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_lead_out_of_the_folder() {
        for (skill, name) in [
            ("weather", "weather"),
            ("../../etc/x", "______etc_x"),
            ("", "skill"),
            (".", "_"),
            ("a\0b/c", "a_b_c"),
        ] {
            assert_eq!(file_name(skill), name);
        }
    }
}
