//! What is never granted, whatever a program was seen to want: it becomes a finding instead.

use std::path::{Path, PathBuf};

use skillsandbox_manifest::user_folders;
use skillsandbox_run::real_path;
use skillsandbox_tracer::{PlaceAccess, credential_place, may_hold_sensitive, sensitive_place};

use crate::places::LearnPlaces;
use crate::proposal::FileGrant;

/// Places of the kernel, of which a sandbox has its own.
const OF_KERNEL: [&str; 3] = ["/proc", "/sys", "/dev"];
/// Places of the system that no skill writes.
const OF_SYSTEM: [&str; 9] =
    ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc", "/boot", "/var/lib"];
/// Folders that everybody shares: what lies in one may be granted, all of it never.
const SHARED: [&str; 9] = ["/tmp", "/var/tmp", "/var", "/run", "/mnt", "/media", "/srv", "/opt", "/home"];
/// How deep a folder is looked through for what must not be granted with it. In one that is deeper, what was seen in it is granted, never the
/// folder.
const DEEPEST: usize = 32;
/// Most entries that are looked at. In a folder that holds more, it is the same.
const MOST_ENTRIES: usize = 4096;

/// Why a grant is never proposed; `None` for one that may be. Both its name and where that leads count, what lies below, and what could be made
/// there later.
#[must_use]
pub fn why_never(grant: &FileGrant, places: &LearnPlaces) -> Option<String> {
    let later = || {
        [grant.path(), &real_path(grant.path())]
            .into_iter()
            .find_map(|path| could_hold(path, grant.writes(), places))
    };
    why_never_now(grant, places).or_else(later)
}

/// The same for a rehearsal alone, which ends: what is made there later does not count.
pub(crate) fn why_never_now(grant: &FileGrant, places: &LearnPlaces) -> Option<String> {
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
    let is_named = places.is_named(&real, grant.writes());
    match look_through(&real, grant.writes() && !is_named) {
        FolderContent::Harmless => None,
        FolderContent::Sensitive(what) => Some(what),
        FolderContent::TooMuch if places.is_handed(&real) => None,
        FolderContent::TooMuch => Some(format!(
            "it holds more than {MOST_ENTRIES} files, or lies deeper than {DEEPEST} folders, and nobody has looked at all of it"
        )),
    }
}

/// Why nobody should have a place for good, whatever it holds now.
fn could_hold(path: &Path, writes: bool, places: &LearnPlaces) -> Option<String> {
    // A file is only itself; and what the person named, they know.
    if !writes && path.is_file() || places.is_named(path, writes) {
        return None;
    }
    // Where the workspace lies, the person knows as well; not what a program makes in it.
    let below = places.workspace.as_deref().and_then(|workspace| path.strip_prefix(workspace).ok());
    let judged = below.map_or_else(|| path.to_owned(), |below| Path::new("/workspace").join(below));
    let access = if writes { PlaceAccess::Change } else { PlaceAccess::Read };
    let says = may_hold_sensitive(judged.to_str()?, access)?;
    Some(format!("it is a place for {says}"))
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

/// Looks for what must not be granted with a folder; where it would be changed, also for folders in which such a thing could be made.
fn look_through(folder: &Path, is_changed: bool) -> FolderContent {
    let mut folders: Vec<(PathBuf, usize)> = vec![(folder.to_owned(), 0)];
    let mut looked_at = 0;
    while let Some((folder, depth)) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            looked_at += 1;
            if looked_at > MOST_ENTRIES || depth > DEEPEST {
                return FolderContent::TooMuch;
            }
            let path = entry.path();
            let text = path.to_str();
            let made = || text.and_then(|text| may_hold_sensitive(text, PlaceAccess::Change));
            if let Some(says) = text.and_then(sensitive_place).or_else(|| made().filter(|_| is_changed)) {
                return FolderContent::Sensitive(format!("it holds {}: {says}", path.display()));
            }
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push((path, depth + 1));
            }
        }
    }
    FolderContent::Harmless
}
