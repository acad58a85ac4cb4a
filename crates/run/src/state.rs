//! Names of traces, and the folders that no run may see.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use skillsandbox_manifest::user_folders;

use crate::reach::real_path;
use crate::refusal::Refusal;

/// A new name for a trace in that folder: when, what, and its own name.
pub(crate) fn trace_file(skill: &str, id: uuid::Uuid) -> Option<PathBuf> {
    let when = Timestamp::now().strftime("%Y%m%dT%H%M%SZ");
    // What the name of a skill may be, and of a command may not.
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_') { c } else { '_' };
    let skill: String = skill.chars().take(64).map(plain).collect();
    Some(user_folders::traces()?.join(format!("{when}-{skill}-{id}.json")))
}

/// Makes a folder of ours, and those above it, for its owner alone. The links on the way are followed once, and not where one comes meanwhile.
pub(crate) fn make_private(folder: &Path) -> Result<(), Refusal> {
    let failed = |source| Refusal::Folder { path: folder.to_owned(), source };
    if folder.is_dir() {
        return Ok(());
    }
    #[cfg(target_os = "linux")]
    let made = skillsandbox_enforcer::make_folder(&real_path(folder), 0o700);
    #[cfg(not(target_os = "linux"))]
    let made = std::fs::create_dir_all(folder);
    made.map_err(failed)
}

/// Our own folders: no run may see or change what is in them, whatever it is granted.
pub(crate) fn folders() -> Vec<PathBuf> {
    user_folders::state().into_iter().chain(user_folders::config()).collect()
}

/// Where skills are installed, by where each folder leads: no run may change what is in them, but for a skill in its own folder.
pub(crate) fn installed() -> Vec<PathBuf> {
    let Some(data) = user_folders::data() else { return Vec::new() };
    let mut places = Vec::new();
    for place in [data.clone(), data.join("skills"), data.join("agents")] {
        let place = real_path(&place);
        if !places.iter().any(|above: &PathBuf| place.starts_with(above)) {
            places.push(place);
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_a_trace_is_one_plain_name() {
        let Some(file) = trace_file("../../etc/cron.d/x\n", uuid::Uuid::nil()) else { return };
        let name = file.file_name().unwrap().to_str().unwrap();
        assert!(name.ends_with("-______etc_cron_d_x_-00000000-0000-0000-0000-000000000000.json"), "{name}");
        assert_eq!(file.parent(), user_folders::traces().as_deref());
    }
}
