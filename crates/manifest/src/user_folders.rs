//! Where this user's files are: the one place that asks for the home folder and the XDG variables.
//!
//! A variable that is not an absolute path counts as not set, as the XDG base directory specification has it. `None` means that there is no
//! home folder to go by.

use std::path::PathBuf;

/// The folder of ours below each base folder.
const OURS: &str = "skillsandbox";

/// The user's home folder.
#[must_use]
pub fn home() -> Option<PathBuf> {
    std::env::home_dir().filter(|home| home.is_absolute())
}

/// Installed skills: `$XDG_DATA_HOME/skillsandbox`, or `~/.local/share/skillsandbox`.
#[must_use]
pub fn data() -> Option<PathBuf> {
    below("XDG_DATA_HOME", ".local/share")
}

/// Traces and the history: `$XDG_STATE_HOME/skillsandbox`, or `~/.local/state/skillsandbox`.
#[must_use]
pub fn state() -> Option<PathBuf> {
    below("XDG_STATE_HOME", ".local/state")
}

/// Settings: `$XDG_CONFIG_HOME/skillsandbox`, or `~/.config/skillsandbox`.
#[must_use]
pub fn config() -> Option<PathBuf> {
    below("XDG_CONFIG_HOME", ".config")
}

/// The user's policy, where there may be one: `policy.yaml` in [`config`].
#[must_use]
pub fn policy_file() -> Option<PathBuf> {
    Some(config()?.join("policy.yaml"))
}

/// Manifests of the user's own for skills that have none, or another one: `manifests` in [`config`].
#[must_use]
pub fn manifests() -> Option<PathBuf> {
    Some(config()?.join("manifests"))
}

/// Traces that are not written elsewhere: `traces` in [`state`].
#[must_use]
pub fn traces() -> Option<PathBuf> {
    Some(state()?.join("traces"))
}

/// The history of runs: `history.db` in [`state`].
#[must_use]
pub fn history_file() -> Option<PathBuf> {
    Some(state()?.join("history.db"))
}

/// Answers of a judge that are kept: `judge` in [`state`].
#[must_use]
pub fn judge_answers() -> Option<PathBuf> {
    Some(state()?.join("judge"))
}

fn below(variable: &str, below_home: &str) -> Option<PathBuf> {
    base(std::env::var_os(variable).map(PathBuf::from), home(), below_home)
}

fn base(set: Option<PathBuf>, home: Option<PathBuf>, below_home: &str) -> Option<PathBuf> {
    let set = set.filter(|path| path.is_absolute());
    Some(set.or_else(|| Some(home?.join(below_home)))?.join(OURS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_counts_where_it_is_an_absolute_path() {
        let found = |set: Option<&str>, home: Option<&str>| {
            base(set.map(PathBuf::from), home.map(PathBuf::from), ".local/share")
        };
        let path = |text: &str| Some(PathBuf::from(text));
        assert_eq!(found(Some("/data"), Some("/home/ada")), path("/data/skillsandbox"));
        for unset in [None, Some(""), Some("data"), Some("./data")] {
            assert_eq!(found(unset, Some("/home/ada")), path("/home/ada/.local/share/skillsandbox"));
            assert_eq!(found(unset, None), None);
        }
    }
}
