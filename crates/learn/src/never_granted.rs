//! What is never granted, whatever a program was seen to want: it becomes a finding instead.

use std::path::{Path, PathBuf};

use skillsandbox_manifest::user_folders;
use skillsandbox_run::real_path;
use skillsandbox_tracer::{credential_place, sensitive_place};

use crate::places::LearnPlaces;
use crate::proposal::FileGrant;

/// Places of the kernel, of which a sandbox has its own.
const OF_KERNEL: [&str; 3] = ["/proc", "/sys", "/dev"];
/// Places of the system that no skill writes.
const OF_SYSTEM: [&str; 9] =
    ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc", "/boot", "/var/lib"];
/// Folders that everybody shares: what lies in one may be granted, all of it never.
const SHARED: [&str; 9] = ["/tmp", "/var/tmp", "/var", "/run", "/mnt", "/media", "/srv", "/opt", "/home"];
/// How deep a folder is looked through for what must not be granted with it.
const DEEPEST: usize = 3;
/// Most entries that are looked at. In a folder that holds more, what was seen in it is granted, never the folder.
const MOST_ENTRIES: usize = 4096;

/// Why a grant is never proposed; `None` for one that may be. Both its name and where that leads count.
#[must_use]
pub fn why_never(grant: &FileGrant, places: &LearnPlaces) -> Option<String> {
    let path = grant.path();
    let real = real_path(path);
    let both = [path, real.as_path()];
    if path.to_str().is_none_or(|text| text.contains(char::REPLACEMENT_CHARACTER)) {
        return Some("its name is not text, so a manifest cannot name it".to_owned());
    }
    for path in both {
        if let Some(why) = why_never_path(path, grant.writes(), places) {
            return Some(if path == both[0] {
                why
            } else {
                format!("it leads to {}: {why}", path.display())
            });
        }
    }
    if grant.writes() && both.iter().any(|path| OF_SYSTEM.iter().any(|place| path.starts_with(place))) {
        return Some("it belongs to the system".to_owned());
    }
    if grant.writes() && places.skill.join("SKILL.md").starts_with(path) {
        return Some("the skill could rewrite itself; give it a workspace to write in".to_owned());
    }
    // What the person handed over, they know.
    if places.workspace.as_deref().is_some_and(|workspace| real.starts_with(workspace)) {
        return None;
    }
    match look_through(&real) {
        FolderContent::Harmless => None,
        FolderContent::Sensitive(what) => Some(what),
        FolderContent::TooMuch if places.is_handed(&real) => None,
        FolderContent::TooMuch => {
            Some(format!("it holds more than {MOST_ENTRIES} files, which nobody has looked at"))
        }
    }
}

/// What was found in a folder.
enum FolderContent {
    /// Nothing that must not be granted with it.
    Harmless,
    /// This must not.
    Sensitive(String),
    /// More than is looked at.
    TooMuch,
}

fn why_never_path(path: &Path, writes: bool, places: &LearnPlaces) -> Option<String> {
    let says = path.to_str().and_then(sensitive_place);
    // What the system has everybody execute, everybody may read.
    let is_secret = path.to_str().is_some_and(|path| credential_place(path).is_some());
    if let Some(says) = says.filter(|_| writes || is_secret || path.starts_with(&places.home)) {
        return Some(says.to_owned());
    }
    if is_of_kernel(path) {
        return Some("the sandbox has its own".to_owned());
    }
    if SHARED.iter().any(|place| path == Path::new(place)) {
        return Some("it is shared by everybody; name a folder in it".to_owned());
    }
    if places.home.starts_with(path) {
        return Some("it is the home folder, or holds it".to_owned());
    }
    let own = [user_folders::config(), user_folders::data(), user_folders::state()];
    for own in own.into_iter().flatten().flat_map(|own| [real_path(&own), own]) {
        // An installed skill lies in one of them.
        let is_skills = path.starts_with(&places.skill) && places.skill.starts_with(&own);
        if !is_skills && (path.starts_with(&own) || own.starts_with(path)) {
            return Some("SkillSandbox keeps its own files there".to_owned());
        }
    }
    None
}

/// Whether a path lies where the kernel shows itself.
pub(crate) fn is_of_kernel(path: &Path) -> bool {
    OF_KERNEL.iter().any(|place| path.starts_with(place))
}

/// Looks for what must not be granted with a folder.
fn look_through(folder: &Path) -> FolderContent {
    let mut folders: Vec<(PathBuf, usize)> = vec![(folder.to_owned(), 0)];
    let mut looked_at = 0;
    while let Some((folder, depth)) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            looked_at += 1;
            if looked_at > MOST_ENTRIES {
                return FolderContent::TooMuch;
            }
            let path = entry.path();
            if let Some(says) = path.to_str().and_then(sensitive_place) {
                return FolderContent::Sensitive(format!("it holds {}: {says}", path.display()));
            }
            if depth < DEEPEST && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push((path, depth + 1));
            }
        }
    }
    FolderContent::Harmless
}
