//! Where a learnt manifest goes, and what it continues.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use skillsandbox_learn::{DraftEntry, LearnPlaces, ManifestDraft};
use skillsandbox_manifest::{Manifest, SkillDoc};
use skillsandbox_run::{
    LoadChoice, LoadedSkill, ManifestOrigin, Refusal, SkillKey, UserManifests, real_path, skill_digest,
};

/// Where a manifest is written.
#[derive(Debug)]
pub(in crate::verbs) enum ManifestDestination {
    /// A file: the skill's own, or one that the person named.
    File(PathBuf),
    /// The user's own manifests, for this skill.
    User { key: SkillKey, digest: String },
}

impl ManifestDestination {
    /// The person's file, the user's own where there is one or the skill is installed, else the skill's own.
    pub(in crate::verbs) fn find(
        skill: &LoadedSkill,
        choice: &LoadChoice,
        output: Option<&Path>,
    ) -> anyhow::Result<Self> {
        if let Some(file) = output {
            return Ok(Self::File(file.to_owned()));
        }
        if matches!(skill.origin(), ManifestOrigin::User(_)) {
            return Ok(Self::users(skill.folder(), choice)?);
        }
        Ok(Self::of_folder(skill.folder(), choice)?)
    }

    /// The user's own for an installed skill, else the skill's own.
    pub(in crate::verbs) fn of_folder(folder: &Path, choice: &LoadChoice) -> Result<Self, Refusal> {
        match choice.installed {
            Some(_) => Self::users(folder, choice),
            None => Ok(Self::File(folder.join(Manifest::FILE_NAME))),
        }
    }

    fn users(folder: &Path, choice: &LoadChoice) -> Result<Self, Refusal> {
        Ok(Self::User { key: SkillKey::of(folder, choice)?, digest: skill_digest(folder)? })
    }

    /// The manifest that is there.
    pub(in crate::verbs) fn existing(&self) -> anyhow::Result<Option<PathBuf>> {
        Ok(match self {
            Self::File(file) => file.symlink_metadata().is_ok().then(|| file.clone()),
            Self::User { key, .. } => {
                UserManifests::open()?.find(&key.name, &key.source)?.map(|found| found.path)
            }
        })
    }

    /// Whether what the skill's author declares would become the user's: then it is proposed like anything else.
    pub(in crate::verbs) fn is_carried_over(&self, skill: &LoadedSkill) -> bool {
        let is_others = match self {
            Self::File(file) => !file.is_file(),
            Self::User { .. } => true,
        };
        *skill.origin() == ManifestOrigin::Skill && is_others
    }

    /// What is there already, to be continued; else an empty one.
    pub(in crate::verbs) fn draft(
        &self,
        skill: &LoadedSkill,
        places: &LearnPlaces,
        needed_variables: &[String],
    ) -> anyhow::Result<ManifestDraft> {
        let own = skill.folder().join(Manifest::FILE_NAME);
        let file = match (self, skill.origin()) {
            (Self::File(file), _) if file.is_file() => Some(file.clone()),
            (_, ManifestOrigin::Skill) => Some(own.clone()),
            (_, ManifestOrigin::User(file) | ManifestOrigin::File(file)) => Some(file.clone()),
            (_, ManifestOrigin::Defaults) => None,
        };
        let mut draft = match file {
            Some(file) => {
                let manifest = Manifest::load_file(&file)?;
                if self.is_carried_over(skill) {
                    ManifestDraft::restrictions_of(&manifest)
                } else {
                    let text = fs::read_to_string(&file)
                        .with_context(|| format!("cannot read {}", file.display()))?;
                    let mut draft = ManifestDraft::continuing(&manifest, &text);
                    if *skill.origin() == ManifestOrigin::Skill && real_path(&file) == real_path(&own) {
                        draft.doubt_what_was_there(places);
                    }
                    draft
                }
            }
            None => fresh_draft(skill, needed_variables),
        };
        draft.about =
            vec!["Learnt by `skillsandbox learn`. Above each entry stands what was seen; what begins with `before:`, the manifest had already.".to_owned()];
        Ok(draft)
    }

    /// Writes a manifest; returns where.
    pub(in crate::verbs) fn write(&self, text: &str) -> anyhow::Result<PathBuf> {
        match self {
            Self::File(file) => replace(file, text).map(|()| file.clone()),
            Self::User { key, digest } => {
                Ok(UserManifests::open()?.write(&key.name, &key.source, digest, text)?)
            }
        }
    }

    /// Writes what nobody has accepted yet, beside where it would be; returns where.
    pub(in crate::verbs) fn write_draft(&self, text: &str) -> anyhow::Result<PathBuf> {
        let file = match self {
            Self::File(file) => file.with_extension("draft.yaml"),
            Self::User { key, .. } => {
                let folder = UserManifests::open()?.folder().to_owned();
                let mut builder = fs::DirBuilder::new();
                builder.recursive(true);
                #[cfg(unix)]
                std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
                builder.create(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
                folder.join(format!("{}.draft.yaml", key.name))
            }
        };
        replace(&file, text)?;
        Ok(file)
    }
}

/// One for a skill without a manifest: what every such skill is handed stays, where it makes a difference.
fn fresh_draft(skill: &LoadedSkill, needed_variables: &[String]) -> ManifestDraft {
    let front = SkillDoc::load(skill.folder()).ok().and_then(|(doc, _)| doc.front_matter);
    let description = front.as_ref().and_then(|front| front.description.as_ref());
    let version = front.as_ref().and_then(|front| front.version.as_ref());
    let name = &skill.manifest().skill().name.value;
    let mut draft = ManifestDraft::new(
        name,
        version.map(|version| version.value.as_str()),
        description.map(|text| text.value.as_str()),
    );
    for name in needed_variables {
        draft.env.push(DraftEntry::new(name.clone(), ["without it, the rehearsal came to something else"]));
    }
    draft
}

/// Puts a text in the place of a file: all of it or nothing. A link in its place is replaced, not followed.
pub(in crate::verbs) fn replace(file: &Path, text: &str) -> anyhow::Result<()> {
    let failed = || format!("cannot write {}", file.display());
    let mut name = file.as_os_str().to_owned();
    name.push(format!(".{}", uuid::Uuid::new_v4()));
    let new = PathBuf::from(name);
    // As root, a device would be replaced as well.
    if fs::symlink_metadata(file).is_ok_and(|found| !found.is_file() && !found.is_symlink()) {
        bail!("{} is not a plain file", file.display());
    }
    let mut out = fs::OpenOptions::new().write(true).create_new(true).open(&new).with_context(failed)?;
    let written = out.write_all(text.as_bytes()).and_then(|()| out.sync_all());
    let written = written.and_then(|()| fs::rename(&new, file));
    if written.is_err() {
        let _ = fs::remove_file(&new);
    }
    written.with_context(failed)
}
