//! The user's own manifests when a skill is updated: none is lost without a word, and each is compared with the new version.

use std::path::PathBuf;

use serde::Serialize;
use skillsandbox_manifest::{GrantPath, Manifest, PermissionDiff, PermissionSet, ProgramSpec};
use skillsandbox_run::{UserManifestError, UserManifests, skill_digest};

use crate::error::Error;
use crate::lockfile::LockEntry;
use crate::store::Store;
use crate::tree::SkillTree;

/// A user's own manifest for a skill, beside a new version of that skill.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct OwnManifest {
    /// Where it lies.
    pub path: PathBuf,
    /// Whether it lay in the installed folder and was moved out of it now: it goes on to count.
    pub moved: bool,
    /// Files and folders of the skill that it names and the new version does not have.
    pub gone: Vec<String>,
    /// Whether the new version has a manifest of its own. The user's goes before it.
    pub ships_manifest: bool,
    /// What the new version's own manifest wants more (`wider`) and less than the user's; `None` where it has none.
    pub differences: Option<PermissionDiff>,
}

impl Store {
    /// Moves a manifest that a person wrote into the folder of an installed skill to the user's own, so that the next version does not take
    /// it away.
    ///
    /// # Errors
    /// One that cannot be kept: it is not valid, or there is another one already. Nothing was changed.
    pub(crate) fn keep_hand_written(&self, old: &LockEntry) -> Result<Option<PathBuf>, Error> {
        let Ok(found) = self.on_disk(old) else { return Ok(None) };
        let Some(bytes) = found.tree.bytes(Manifest::FILE_NAME) else { return Ok(None) };
        let hash = found.tree.hashes().remove(Manifest::FILE_NAME);
        if old.files.get(Manifest::FILE_NAME) == hash.as_ref() {
            return Ok(None);
        }
        let path = old.path(self.layout()).join(Manifest::FILE_NAME);
        let refuse = |why: String| Error::HandWritten { path: path.clone(), why };
        let text = String::from_utf8(bytes.to_vec()).map_err(|_| refuse("it is not UTF-8".to_owned()))?;
        Manifest::parse(&text).map_err(|invalid| refuse(format!("it is not valid: {invalid}")))?;
        let users = UserManifests::open().map_err(|error| refuse(error.to_string()))?;
        match users.find(&old.name, &old.source).map_err(|error| refuse(error.to_string()))? {
            Some(other) if other.text == text => return Ok(None),
            Some(other) => {
                let why = format!("you have another manifest for this skill in {}", other.path.display());
                return Err(refuse(why));
            }
            None => {}
        }
        let digest = skill_digest(&old.path(self.layout())).map_err(|refusal| refuse(refusal.to_string()))?;
        let written = users.write(&old.name, &old.source, &digest, &text);
        written.map(Some).map_err(|error| refuse(error.to_string()))
    }
}

/// The user's own manifest for a skill beside a version of it; `None` where the user has none.
///
/// # Errors
/// One that cannot be read.
pub(crate) fn compare_own(
    old: &LockEntry,
    new: &SkillTree,
    ships: Option<&Manifest>,
) -> Result<Option<OwnManifest>, Error> {
    let failed = |error: UserManifestError| Error::OwnManifest(Box::new(error));
    let found = match UserManifests::open().and_then(|users| users.find(&old.name, &old.source)) {
        // Without a home nobody has manifests.
        Err(UserManifestError::NoHome) => return Ok(None),
        found => found.map_err(failed)?,
    };
    let Some(found) = found else { return Ok(None) };
    let Ok(own) = Manifest::parse(&found.text) else {
        let why = "it is not valid; `skillsandbox inspect` shows why".to_owned();
        return Err(failed(UserManifestError::Broken { path: found.path, why }));
    };
    let of_manifest = |manifest: &Manifest| PermissionSet::declared(Some(manifest), None);
    let differences = ships.map(|ships| of_manifest(&own).compare(&of_manifest(ships)));
    Ok(Some(OwnManifest {
        path: found.path,
        moved: false,
        gone: gone_files(&own, old, new),
        ships_manifest: ships.is_some(),
        differences,
    }))
}

/// What a manifest names of a skill's files that a version does not have: its grants, its programs, and arguments that were files before.
fn gone_files(own: &Manifest, old: &LockEntry, new: &SkillTree) -> Vec<String> {
    let is_there = |name: &str| {
        new.files().any(|(path, _)| {
            let rest = path.strip_prefix(name);
            name.is_empty() || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    };
    let files = own.filesystem();
    let grants = files.read.iter().map(|grant| &grant.value);
    let entrypoint = own.entrypoint();
    let started = entrypoint.iter().map(|entrypoint| &entrypoint.command);
    let programs = started.chain(own.commands().into_iter().flat_map(|commands| &commands.allow));
    let programs = programs.filter_map(|program| match &program.value {
        ProgramSpec::Path(path) => Some(path),
        ProgramSpec::Name(_) => None,
    });
    let named = grants.chain(programs).filter_map(GrantPath::below_skill).map(str::to_owned);
    let arguments = entrypoint.iter().flat_map(|entrypoint| &entrypoint.args);
    let arguments = arguments.map(|argument| argument.value.trim_start_matches("./").to_owned());
    let were_files = arguments.filter(|argument| old.files.contains_key(argument));
    let mut gone: Vec<String> = named.chain(were_files).filter(|name| !is_there(name)).collect();
    gone.sort();
    gone.dedup();
    gone
}
