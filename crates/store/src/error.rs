//! What can go wrong.

use std::io;
use std::path::{Path, PathBuf};

use skillsandbox_manifest::Invalid;
use skillsandbox_run::{Refusal, UserManifestError};

/// Why something was not done. Nothing was changed, unless it says so.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// It is not a place that skills come from.
    #[error(
        "{text}: {why}; a source is a folder, a file, an archive (.zip, .skill, .tar, .tar.gz, .tgz, .tar.zst), github:owner/repo[/path][@ref], or https://… and file:///… of a git repository, with #ref:path behind it"
    )]
    Source {
        /// What was written.
        text: String,
        /// What is wrong with it.
        why: String,
    },
    /// What was fetched looks like an attack on the program that unpacks it.
    #[error("{what}: refused, because {why}")]
    Hostile {
        /// The member or file.
        what: String,
        /// What is wrong with it.
        why: String,
    },
    /// An archive that cannot be read.
    #[error("{what}: cannot be unpacked: {why}")]
    Damaged {
        /// The archive.
        what: String,
        /// What is wrong with it.
        why: String,
    },
    /// There is no skill at the source, or more than one.
    #[error("{what}: {why}")]
    NotASkill {
        /// The source.
        what: String,
        /// What was found instead.
        why: String,
    },
    /// The skill's declaration is not valid.
    #[error("the skill's skillsandbox.yaml is not valid, so it is not known what the skill may touch: {0}")]
    Manifest(Box<Invalid>),
    /// The user's policy cannot be used, so nothing is judged.
    #[error("{0}")]
    Policy(Box<Refusal>),
    /// The skill has a name that no folder can have.
    #[error(
        "{name:?} cannot be the name of an installed skill: it takes 1 to 64 letters, digits, `-`, `_` and `.` of ASCII, the first and last a letter or digit"
    )]
    Name {
        /// The name.
        name: String,
    },
    /// Its two documents give it two names.
    #[error(
        "it calls itself {document:?} in its document and {manifest:?} in skillsandbox.yaml; both names must be the same"
    )]
    TwoNames {
        /// In the front matter.
        document: String,
        /// In the manifest.
        manifest: String,
    },
    /// Something that the store knows nothing of is in the way.
    #[error("{}: something is there that packages.lock knows nothing of; it is not replaced. Move it away, or install the skill under another name", .path.display())]
    Occupied {
        /// Where.
        path: PathBuf,
    },
    /// A manifest that a person wrote into the folder of an installed skill, which the new version would take away, cannot be kept.
    #[error("{}: a manifest that was not installed lies there and would be lost, and it cannot be kept in your own manifests: {why}. Move it away, and update again", .path.display())]
    HandWritten {
        /// Where it lies.
        path: PathBuf,
        /// Why it cannot be kept.
        why: String,
    },
    /// The user's own manifest for the skill cannot be read.
    #[error("your own manifest for it cannot be used: {0}")]
    OwnManifest(Box<UserManifestError>),
    /// It is not installed.
    #[error("{name} is not installed; `skillsandbox list` shows what is")]
    NotInstalled {
        /// The skill.
        name: String,
    },
    /// The source holds another skill than before.
    #[error(
        "{source_} now holds a skill named {found:?}; remove {name} and install the other if it is meant"
    )]
    Renamed {
        /// The installed skill.
        name: String,
        /// What is there now.
        found: String,
        /// Where.
        source_: String,
    },
    /// There is no such report.
    #[error("there is no report {id}; `skillsandbox reports` lists them")]
    NoReport {
        /// What was asked for.
        id: String,
    },
    /// There was such a report, and it was removed.
    #[error("the page of the report {id} is gone: only the newest of each skill are kept")]
    ReportGone {
        /// The scan.
        id: String,
    },
    /// A file of the store that cannot be understood.
    #[error("{}: {why}; nothing was changed. Restore it from a copy, or move it away and install the skills again", .path.display())]
    State {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// Git could not fetch it.
    #[error("{what}: git could not fetch it: {why}")]
    Git {
        /// The repository.
        what: String,
        /// What git, or the sandbox around it, said.
        why: String,
    },
    /// Somebody else has the store, and was waited for long enough.
    #[error("{}: another skillsandbox is still working on this store; nothing was changed. Try again, or wait longer with --wait", .path.display())]
    Busy {
        /// The lock that it holds.
        path: PathBuf,
    },
    /// The disk is full, or the user's share of it.
    #[error("{}: the disk is full; nothing was changed. Free some space and try again", .path.display())]
    NoRoom {
        /// What was to be written.
        path: PathBuf,
    },
    /// The system refused.
    #[error("{}: {error}", .path.display())]
    Io {
        /// Which file.
        path: PathBuf,
        /// What the system said.
        #[source]
        error: io::Error,
    },
}

impl Error {
    /// Whether the skill was refused for what it is. Anything else is a failure of the way to it.
    #[must_use]
    pub fn is_refusal(&self) -> bool {
        use Error::{Damaged, Hostile, Manifest, Name, NotASkill, Occupied, Renamed, TwoNames};
        matches!(
            self,
            Hostile { .. }
                | Damaged { .. }
                | NotASkill { .. }
                | Manifest(_)
                | Name { .. }
                | TwoNames { .. }
                | Occupied { .. }
                | Renamed { .. }
        )
    }

    pub(crate) fn io(path: &Path, error: io::Error) -> Self {
        use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
        let path = path.to_owned();
        if matches!(error.kind(), StorageFull | QuotaExceeded | FileTooLarge) {
            Self::NoRoom { path }
        } else {
            Self::Io { path, error }
        }
    }

    pub(crate) fn hostile(what: impl Into<String>, why: impl Into<String>) -> Self {
        Self::Hostile { what: what.into(), why: why.into() }
    }
}

/// Names the file that an error of the system is about.
pub(crate) trait IoErrorAt<T> {
    fn at(self, path: &Path) -> Result<T, Error>;
}

impl<T> IoErrorAt<T> for io::Result<T> {
    fn at(self, path: &Path) -> Result<T, Error> {
        self.map_err(|error| Error::io(path, error))
    }
}

impl<T> IoErrorAt<T> for Result<T, rustix::io::Errno> {
    fn at(self, path: &Path) -> Result<T, Error> {
        self.map_err(|errno| Error::io(path, errno.into()))
    }
}
