//! Names that others chose: of files in a skill, and of the skill itself.
//!
//! A name is refused rather than mended. Whoever mends a name (drops `..`, replaces `:`) decides for the author where a file lies, and
//! two names that were different may become one.

use skillsandbox_text::is_deceptive;
use unicode_normalization::UnicodeNormalization as _;

use crate::error::Error;

/// Deepest folder, as the scanner has it.
pub(crate) const MAX_DEPTH: usize = 16;
/// Longest path in bytes: a quarter of `PATH_MAX`, so that it also fits below the store.
const MAX_PATH: usize = 1024;
/// Longest name of one file: `NAME_MAX` of every file system in use.
const MAX_NAME: usize = 255;
/// Longest name of a skill; what the Agent Skills specification allows.
const MAX_SKILL: usize = 64;

/// Why a path cannot be the path of a file in a skill.
pub(crate) fn unfit(path: &str) -> Option<&'static str> {
    if path.is_empty() {
        return Some("it has no name");
    }
    if path.starts_with('/') {
        return Some("its name begins at the root of the file system");
    }
    if path.contains('\\') {
        return Some("its name has a backslash, which some systems take for a slash");
    }
    if path.chars().any(|c| c.is_control() || is_deceptive(c)) {
        return Some("its name has characters that deceive a reader");
    }
    if path.len() > MAX_PATH {
        return Some("its name is too long");
    }
    let mut depth = 0;
    for part in path.split('/') {
        depth += 1;
        match part {
            "" => return Some("its name has an empty part"),
            "." | ".." => return Some("its name leads out of the skill's folder"),
            part if part.len() > MAX_NAME => return Some("its name is too long"),
            part if is_git(part) => return Some("it is git's own, and git would act on it"),
            part if part.ends_with([' ', '.']) || part.starts_with(' ') => {
                return Some("its name begins or ends in a way that some systems drop");
            }
            // `C:`, `file.txt:stream`.
            part if part.contains(':') => {
                return Some("its name has a colon, which some systems take for a drive");
            }
            _ => {}
        }
    }
    (depth > MAX_DEPTH).then_some("it lies too deep")
}

/// `.git` in every spelling that some file system takes for it (CVE-2014-9390, CVE-2019-1353).
pub(crate) fn is_git(name: &str) -> bool {
    let folded = folded(name);
    let plain = folded.trim_end_matches([' ', '.']);
    plain == ".git" || plain == "git~1"
}

/// A name as file systems compare it that know neither case nor composition.
pub(crate) fn folded(name: &str) -> String {
    name.nfkc().flat_map(char::to_lowercase).nfkc().collect()
}

/// The folder that a skill of this name is installed to.
pub(crate) fn of_skill(name: &str) -> Result<String, Error> {
    let name: String = name.trim().chars().map(|c| if c == ' ' { '-' } else { c }).collect();
    let fits = !name.is_empty()
        && name.len() <= MAX_SKILL
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
        && name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.ends_with(|c: char| c.is_ascii_alphanumeric());
    if fits { Ok(name) } else { Err(Error::Name { name }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_lead_elsewhere_or_deceive_are_unfit() {
        for bad in [
            "",
            "/etc/passwd",
            "../x",
            "a/../../x",
            "a/./b",
            "./a",
            "a//b",
            "a/",
            "..",
            "a\\..\\b",
            "C:/x",
            "C:x",
            "a:stream",
            "a\0b",
            "a\nb",
            "a\u{202e}b",
            "a/.git/hooks/pre-commit",
            ".GIT/config",
            ".git./config",
            ".g\u{200c}it/config",
            ".ｇit/config",
            "git~1/config",
            "a /b",
            "a./b",
            " a",
        ] {
            assert!(unfit(bad).is_some(), "{bad:?}");
        }
        assert!(unfit(&"a/".repeat(17)).is_some());
        assert!(unfit(&format!("{}x", "a/".repeat(16))).is_some());
        assert!(unfit(&"a".repeat(256)).is_some());
        for good in ["SKILL.md", "scripts/run.sh", ".gitignore", ".github/x.yml", "a b/ü.md", "..a", "a..b"]
        {
            assert_eq!(unfit(good), None, "{good:?}");
        }
    }

    #[test]
    fn a_skills_name_is_one_plain_name() {
        for bad in ["", ".", "..", "-x", ".x", "x.", "a/b", "../a", "a\0", "weathеr", &"a".repeat(65), "-"] {
            assert!(of_skill(bad).is_err(), "{bad:?}");
        }
        assert_eq!(of_skill("Weather Lookup").unwrap(), "Weather-Lookup");
        assert_eq!(of_skill("my_skill-2.0").unwrap(), "my_skill-2.0");
    }
}
