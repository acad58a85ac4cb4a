//! The folder that a caller works in: `--workspace DIR`, and `${WORKSPACE}` in manifests.

use std::path::{Path, PathBuf};

use skillsandbox_manifest::{FileAccess, Manifest, SkillDoc, user_folders};

use crate::job::Job;
use crate::private_place::private_place;
use crate::reach::real_path;
use crate::refusal::Refusal;
use crate::resolved_grants::follow;
use crate::{state, written_places};

/// A folder of the caller's that a run works in: its working directory, and granted to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workspace {
    folder: PathBuf,
    access: FileAccess,
}

impl Workspace {
    /// A folder that a person names, judged.
    ///
    /// # Errors
    /// What is not a folder, the home itself or a folder above it, where keys and passwords lie, and what holds files of this program's own.
    pub fn new(named: &Path, access: FileAccess) -> Result<Self, Refusal> {
        let refuse = |why: String| Refusal::Workspace { path: named.to_owned(), why };
        let folder = named.canonicalize().map_err(|error| refuse(error.to_string()))?;
        let absolute = std::path::absolute(named).map_err(|error| refuse(error.to_string()))?;
        if let Some(why) = follow(&absolute, &written_places::all()?).0 {
            return Err(refuse(why));
        }
        if !folder.is_dir() {
            return Err(refuse("it is not a folder".to_owned()));
        }
        let within = |path: &Path| path.starts_with(&folder);
        user_folders::home().ok_or(Refusal::NoHome)?;
        if let Some(why) = private_place(&folder) {
            return Err(refuse(why));
        }
        let own = state::folders().into_iter().chain(user_folders::data());
        for own in own.flat_map(|own| [real_path(&own), own]) {
            if within(&own) || folder.starts_with(&own) {
                return Err(refuse(format!("it and {} lie in one another", own.display())));
            }
        }
        Ok(Self { folder, access })
    }

    /// Refuses one that could be written and lies in a folder with a manifest or a document of a skill: the run could change the skill.
    ///
    /// # Errors
    /// That it does.
    pub fn check_outside_skills(&self) -> Result<(), Refusal> {
        let is_skill = |folder: &Path| {
            [Manifest::FILE_NAME, SkillDoc::FILE_NAME]
                .iter()
                .any(|name| folder.join(name).symlink_metadata().is_ok())
        };
        match self.access {
            FileAccess::Write if self.folder.ancestors().any(is_skill) => Err(self.refuse(
                "it lies in the folder of a skill, which the run could change; `DIR:ro` is read-only",
            )),
            FileAccess::Write | FileAccess::Read => Ok(()),
        }
    }

    /// The same, and one that lies in this skill's folder, whatever that holds.
    pub(crate) fn check_outside(&self, skill: &Path) -> Result<(), Refusal> {
        match self.access {
            FileAccess::Write if self.folder.starts_with(skill) => {
                Err(self.refuse("it lies in the skill's own folder; `DIR:ro` is read-only"))
            }
            FileAccess::Write | FileAccess::Read => self.check_outside_skills(),
        }
    }

    fn refuse(&self, why: &str) -> Refusal {
        Refusal::Workspace { path: self.folder.clone(), why: why.to_owned() }
    }

    /// Grants it to a run.
    pub fn add_to(&self, job: &mut Job) {
        match self.access {
            FileAccess::Write => job.write.push(self.folder.clone()),
            FileAccess::Read => {
                // The person's word on their own folder: what a manifest would write in it is only read.
                let (inside, others) = job.write.drain(..).partition(|path| self.holds(path));
                job.write = others;
                job.read.extend::<Vec<PathBuf>>(inside);
                job.read.push(self.folder.clone());
            }
        }
    }

    fn holds(&self, path: &Path) -> bool {
        path.starts_with(&self.folder) || real_path(path).starts_with(&self.folder)
    }

    /// As it is written in a trace.
    #[must_use]
    pub fn describe(&self) -> String {
        let how = match self.access {
            FileAccess::Read => "read-only",
            FileAccess::Write => "read and write",
        };
        format!("workspace {} ({how})", self.folder.display())
    }

    /// Where it lies, without links.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// What a run may do in it.
    #[must_use]
    pub fn access(&self) -> FileAccess {
        self.access
    }
}
