//! Stand-ins of version managers, and the programs behind them.
//!
//! A stand-in asks its manager at each start which version is meant; inside, neither the manager nor its settings exist. So it is
//! asked here, by reading. Settings in the working folder are the skill's: they choose a version by its name, never a path.

mod asdf;
mod rustup;
mod versions;
mod volta;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::error::ProgramError;
use super::search_host::SearchHost;
use super::{files, lookup};

/// The program behind a stand-in at this place; `None` if it is none.
pub(super) fn find_target(host: &SearchHost<'_>, at: &Path) -> Result<Option<PathBuf>, ProgramError> {
    let (Some(folder), Some(name)) = (at.parent(), at.file_name()) else { return Ok(None) };
    // A skill may bring whatever it likes, but not speak for the user's version managers.
    if host.in_skill(at) {
        return Ok(None);
    }
    for find in [versions::find_target, rustup::find_target, volta::find_target, asdf::find_target] {
        match find(host, folder, name)? {
            Some(ShimTarget::Program(path)) => return Ok(Some(path)),
            Some(ShimTarget::System) => return lookup::on_path(host, name, Some(folder)).map(Some),
            None => {}
        }
    }
    Ok(None)
}

/// What a manager answers.
enum ShimTarget {
    /// This one.
    Program(PathBuf),
    /// Whatever stands on the PATH behind the stand-in.
    System,
}

/// A manager's folder, if it is there: by its variable, or in the home folder.
fn root(host: &SearchHost<'_>, variables: &[(&str, &str)], in_home: &[&str]) -> Vec<PathBuf> {
    let named = variables.iter().filter_map(|(name, below)| Some(host.folder_variable(name)?.join(below)));
    let usual = in_home.iter().filter_map(|place| Some(host.home()?.join(place)));
    named.chain(usual).filter_map(|root| root.canonicalize().ok()).collect()
}

/// A name that is one folder and nothing else, in letters that no message needs to be afraid of.
fn is_plain(name: &str) -> bool {
    let fine = |byte: u8| byte.is_ascii_alphanumeric() || b".-_+".contains(&byte);
    !name.is_empty() && name.len() <= 100 && name.bytes().all(fine) && !name.starts_with(['.', '-'])
}

/// A name from settings, for a message.
fn shown(name: &str) -> String {
    if is_plain(name) { format!("{name:?}") } else { "a name that cannot be a version".to_owned() }
}

fn is_program(path: &Path) -> bool {
    path.is_file() && files::executable(path)
}

/// `(key, value)` of the lines `key = "value"` in a section of a TOML file; the only part of TOML these settings use.
fn in_section<'t>(text: &'t str, section: &'t str) -> impl Iterator<Item = (&'t str, &'t str)> {
    let mut current = "";
    text.lines().filter_map(move |line| {
        let line = line.trim();
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.split(']').next()) {
            current = name.trim();
            return None;
        }
        let (key, value) = line.split_once('=').filter(|_| current == section)?;
        Some((key.trim().trim_matches('"'), quoted(value.trim())?))
    })
}

/// The first quoted text of a value: `"3.11"`, or that of a list.
fn quoted(value: &str) -> Option<&str> {
    let rest = value.trim_start_matches('[').trim_start();
    let mark = rest.chars().next().filter(|first| *first == '"' || *first == '\'')?;
    rest.get(1..)?.split(mark).next()
}

fn refuse(manager: &'static str, program: &OsStr, why: String, cure: String) -> ProgramError {
    ProgramError::Shim { manager, program: program.to_owned(), why, cure }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_names_and_never_paths() {
        for name in ["3.11.7", "stable-x86_64-unknown-linux-gnu", "pypy3.10-7.3.12", "v20.1.0", "my_env"] {
            assert!(is_plain(name), "{name}");
        }
        for name in
            ["", ".", "..", "../x", "a/b", "/", "-x", ".hidden", "a\0", "a b", "\u{1b}[2J", "é", "$(x)"]
        {
            assert!(!is_plain(name), "{name:?}");
        }
    }

    #[test]
    fn settings_are_read_by_section() {
        let text = "channel = \"no\"\n[toolchain]\n channel = \"1.80\" # x\ncomponents = [ \"a\" ]\n[other]\nchannel='2'\n";
        let found: Vec<_> = in_section(text, "toolchain").collect();
        assert_eq!(found, [("channel", "1.80"), ("components", "a")]);
        assert_eq!(in_section(text, "other").next(), Some(("channel", "2")));
        assert_eq!(in_section("a = 3\nb = \nc\n= \"x", "").collect::<Vec<_>>(), [("", "x")]);
    }
}
