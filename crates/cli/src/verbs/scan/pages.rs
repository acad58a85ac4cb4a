//! A page for each skill that was scanned, in a folder.

use std::fs::{self, File};
use std::io::{ErrorKind, Write as _};
use std::path::Path;

use anyhow::Context as _;
use skillsandbox_scanner::Report;

/// Most pages of one skill in one second.
const MOST: usize = 1000;

/// Writes `{skill}_{time}.md`. A page that is there already is never written over.
pub(super) fn write(dir: &Path, report: &Report) -> anyhow::Result<()> {
    let stamp = report.stamp.clone().context("a report without a time")?;
    fs::create_dir_all(dir).with_context(|| format!("cannot make {}", dir.display()))?;
    let time: String = stamp.scanned_at.chars().filter(char::is_ascii_alphanumeric).collect();
    let name = file_name(&report.skill);
    for number in 1..=MOST {
        let number = if number == 1 { String::new() } else { format!("-{number}") };
        let path = dir.join(format!("{name}_{time}{number}.md"));
        match File::create_new(&path) {
            Ok(mut file) => {
                return file
                    .write_all(report.to_markdown(&stamp).as_bytes())
                    .with_context(|| format!("cannot write {}", path.display()));
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error).with_context(|| format!("cannot write {}", path.display())),
        }
    }
    anyhow::bail!("{} holds too many pages of {name} already", dir.display())
}

/// A skill's name as the name of a file: it is the skill's word, and must not lead elsewhere.
fn file_name(skill: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_') { c } else { '_' };
    let name: String = skill.chars().take(64).map(plain).collect();
    if name.is_empty() { "skill".to_owned() } else { name }
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
