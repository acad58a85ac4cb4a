//! Which manifest a skill goes by.

use std::path::{Path, PathBuf};

use skillsandbox_manifest::{LoadError, Manifest, SkillDoc};

use crate::manifest_origin::{LoadChoice, ManifestOrigin};
use crate::private_place::private_place;
use crate::reach::real_path;
use crate::refusal::Refusal;
use crate::user_manifests::UserManifests;
use crate::user_policy::UserPolicy;
use crate::written_places;

/// A manifest, and whose word it is.
pub(crate) struct FoundManifest {
    pub(crate) manifest: Manifest,
    pub(crate) origin: ManifestOrigin,
    /// Why a person should look at it.
    pub(crate) remark: Option<String>,
}

impl FoundManifest {
    /// The first that there is of: the file that the person names, the user's own, the skill's own, safe defaults.
    pub(crate) fn find(folder: &Path, choice: &LoadChoice) -> Result<Self, Refusal> {
        if let Some(file) = &choice.manifest {
            check_skill(folder, choice)?;
            check_own_word(file, folder)?;
            let manifest = Manifest::load_file(file)?;
            return Ok(Self { manifest, origin: ManifestOrigin::File(file.clone()), remark: None });
        }
        // Before anything else is looked for: a folder that is not there is no skill without a manifest.
        let own = match Manifest::load(folder) {
            Ok(manifest) => Ok(Some(manifest)),
            Err(LoadError::NotFound { .. }) => Ok(None),
            Err(error @ (LoadError::NoSuchFolder { .. } | LoadError::NotAFolder { .. })) => {
                return Err(error.into());
            }
            Err(error) => Err(error),
        };
        let identity = SkillKey::of(folder, choice)?;
        // What is installed is compared with what was installed, whoever could write there.
        let written =
            if choice.installed.is_some() || choice.is_kept { None } else { writable_by_runs(folder)? };
        if let Some(users) = UserManifests::open()?.find(&identity.name, &identity.source)? {
            check_skill(folder, choice)?;
            let manifest = Manifest::parse_file(&users.path, &users.text)?;
            let is_changed = !is_written_for(&users.digest, &manifest, folder)?;
            if let (true, Some(place)) = (is_changed, &written) {
                let why = format!(
                    "the skill has changed since it was written, and a run could write {}: look at the skill, then `skillsandbox learn` it again",
                    place.display()
                );
                return Err(Refusal::ForeignManifest { path: users.path, why });
            }
            let remark = is_changed.then(|| {
                format!(
                    "the skill has changed since {} was written: compare with `skillsandbox learn --diff`",
                    users.path.display()
                )
            });
            return Ok(Self { manifest, origin: ManifestOrigin::User(users.path), remark });
        }
        let own = own?;
        let remark = match (&own, &written) {
            (Some(_), Some(place)) => Some(format!(
                "its {} is not taken, since a run could write {}: it has the safe defaults; `skillsandbox learn` writes one of your own",
                Manifest::FILE_NAME,
                place.display()
            )),
            (Some(_) | None, _) => None,
        };
        if let Some(manifest) = own.filter(|_| written.is_none()) {
            return Ok(Self { manifest, origin: ManifestOrigin::Skill, remark: None });
        }
        check_skill(folder, choice)?;
        let name = identity.manifest_name();
        let version = identity.version.as_deref().unwrap_or(UNKNOWN_VERSION);
        let manifest = Manifest::safe_defaults(&name, version)
            .or_else(|_| Manifest::safe_defaults(&name, UNKNOWN_VERSION))
            .map_err(|fault| Refusal::Unscanned(fault.to_string()))?;
        Ok(Self { manifest, origin: ManifestOrigin::Defaults, remark })
    }
}

/// The place in which a skill's folder lies and that an earlier run could write: nothing in it is the word of the skill's author.
fn writable_by_runs(folder: &Path) -> Result<Option<PathBuf>, Refusal> {
    let real = real_path(folder);
    Ok(written_places::all()?.into_iter().map(|place| place.path).find(|place| real.starts_with(place)))
}

/// The version of a skill that says none.
pub(crate) const UNKNOWN_VERSION: &str = "unknown";

/// The digest of a skill's files, as reports have it: what a user's manifest is written for.
///
/// # Errors
/// A folder that cannot be read.
pub fn skill_digest(folder: &Path) -> Result<String, Refusal> {
    Ok(UserPolicy::read_folder(folder)?.digest_without(&[]))
}

/// Whether a skill is what it was when a manifest was written for it, but for what that lets it write in its own folder.
fn is_written_for(digest: &str, manifest: &Manifest, folder: &Path) -> Result<bool, Refusal> {
    let files = UserPolicy::read_folder(folder)?;
    let writable = manifest.filesystem().write.iter();
    let writable: Vec<String> = writable.filter_map(|grant| grant.below_skill().map(str::to_owned)).collect();
    Ok([&[], writable.as_slice()].iter().any(|without| files.digest_without(without) == digest))
}

/// By what a user's manifest for a skill is found: its name, and where it came from.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SkillKey {
    /// The name in the store; of a folder, what its document says, or the folder's own name.
    pub name: String,
    /// The source in the lock; of a folder, `folder:` and its real path.
    pub source: String,
    /// Its version, by its own word.
    pub version: Option<String>,
}

impl SkillKey {
    /// The one of a skill that is loaded so.
    ///
    /// # Errors
    /// A folder that is not there.
    pub fn of(folder: &Path, choice: &LoadChoice) -> Result<Self, Refusal> {
        let front = SkillDoc::load(folder).ok().and_then(|(doc, _)| doc.front_matter);
        let said =
            |value: Option<&skillsandbox_manifest::Spanned<String>>| value.map(|value| value.value.clone());
        let version = said(front.as_ref().and_then(|front| front.version.as_ref()));
        if let Some(installed) = &choice.installed {
            let (name, source) = (installed.name.clone(), installed.source.clone());
            return Ok(Self { name, source, version });
        }
        let failed = |source| Refusal::Folder { path: folder.to_owned(), source };
        let real = folder.canonicalize().map_err(failed)?;
        let named = said(front.as_ref().and_then(|front| front.name.as_ref()));
        let name = named.or_else(|| Some(real.file_name()?.to_string_lossy().into_owned()));
        let name = plain_name(&name.unwrap_or_default());
        Ok(Self { name, source: format!("folder:{}", real.display()), version })
    }

    /// Its name as manifests have names.
    fn manifest_name(&self) -> String {
        plain_name(&self.name.to_lowercase())
    }
}

/// A name as folders and manifests take it.
fn plain_name(text: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_') { c } else { '-' };
    let name: String = text.trim().chars().take(64).map(plain).collect();
    let name = name.trim_matches(['-', '_']);
    if name.is_empty() { "skill".to_owned() } else { name.to_owned() }
}

/// Refuses a folder that does not say itself that it is a skill, and one that holds more than a skill: a run reads all of it.
fn check_skill(folder: &Path, choice: &LoadChoice) -> Result<(), Refusal> {
    // One that is installed is what was judged to be a skill then, or is refused for what changed.
    if choice.installed.is_some() {
        return Ok(());
    }
    let has = |name: &str| folder.join(name).symlink_metadata().is_ok_and(|found| found.is_file());
    if !has(SkillDoc::FILE_NAME) && !has(Manifest::FILE_NAME) {
        return Err(Refusal::NotASkill(folder.to_owned()));
    }
    match private_place(folder) {
        Some(why) => Err(Refusal::Ungrantable { what: folder.display().to_string(), why }),
        None => Ok(()),
    }
}

/// Refuses a manifest that a skill or a run could have written, though a person names it.
fn check_own_word(file: &Path, folder: &Path) -> Result<(), Refusal> {
    let refuse = |why: String| Err(Refusal::ForeignManifest { path: file.to_owned(), why });
    let real = real_path(file);
    if real.starts_with(real_path(folder)) {
        return refuse("it lies in the skill that it would speak for".to_owned());
    }
    for place in written_places::all()? {
        if real.starts_with(&place.path) {
            return refuse(format!("a run could write {}", place.path.display()));
        }
    }
    #[cfg(unix)]
    if std::os::unix::fs::MetadataExt::mode(
        &file.metadata().map_err(|source| Refusal::Folder { path: file.to_owned(), source })?,
    ) & 0o002
        != 0
    {
        return refuse("every user can change it (chmod o-w)".to_owned());
    }
    Ok(())
}
