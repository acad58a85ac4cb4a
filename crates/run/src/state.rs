//! Where this user's traces and policy are.

use std::path::PathBuf;

use jiff::Timestamp;

fn base(variable: &str, below_home: &str) -> Option<PathBuf> {
    let absolute = |path: &PathBuf| path.is_absolute();
    let set = std::env::var_os(variable).map(PathBuf::from).filter(absolute);
    let base = set.or_else(|| Some(std::env::home_dir().filter(absolute)?.join(below_home)))?;
    Some(base.join("skillsandbox"))
}

/// The folder of this user's state: `$XDG_STATE_HOME/skillsandbox`, or `~/.local/state/skillsandbox`.
#[must_use]
pub fn state_folder() -> Option<PathBuf> {
    base("XDG_STATE_HOME", ".local/state")
}

/// The user's policy, where there may be one: `$XDG_CONFIG_HOME/skillsandbox/policy.yaml`, or
/// `~/.config/skillsandbox/policy.yaml`.
#[must_use]
pub fn policy_file() -> Option<PathBuf> {
    Some(base("XDG_CONFIG_HOME", ".config")?.join("policy.yaml"))
}

/// The history of this user's runs: `history.db` in the state folder.
#[must_use]
pub fn history_file() -> Option<PathBuf> {
    Some(state_folder()?.join("history.db"))
}

/// The folder that traces are written to unless something else is asked for.
#[must_use]
pub fn traces_folder() -> Option<PathBuf> {
    Some(state_folder()?.join("traces"))
}

/// A new name for a trace in that folder: when, what, and its own name.
pub(crate) fn trace_file(skill: &str, id: uuid::Uuid) -> Option<PathBuf> {
    let when = Timestamp::now().strftime("%Y%m%dT%H%M%SZ");
    // What the name of a skill may be, and of a command may not.
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_') { c } else { '_' };
    let skill: String = skill.chars().take(64).map(plain).collect();
    Some(traces_folder()?.join(format!("{when}-{skill}-{id}.json")))
}

/// The folder that skills are installed in: `$XDG_DATA_HOME/skillsandbox`, or `~/.local/share/skillsandbox`.
pub(crate) fn data_folder() -> Option<PathBuf> {
    base("XDG_DATA_HOME", ".local/share")
}

/// Our own folders: no run may see or change what is in them, whatever it is granted.
pub(crate) fn folders() -> Vec<PathBuf> {
    let policy = policy_file().and_then(|file| file.parent().map(PathBuf::from));
    state_folder().into_iter().chain(policy).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_a_trace_is_one_plain_name() {
        let Some(file) = trace_file("../../etc/cron.d/x\n", uuid::Uuid::nil()) else { return };
        let name = file.file_name().unwrap().to_str().unwrap();
        assert!(name.ends_with("-______etc_cron_d_x_-00000000-0000-0000-0000-000000000000.json"), "{name}");
        assert_eq!(file.parent(), traces_folder().as_deref());
    }
}
