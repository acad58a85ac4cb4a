//! What can be wrong with a history. None of it is a reason not to run something.

use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;
use skillsandbox_tracer::RedactError;

/// Why something could not be kept, or found.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The folder or the file cannot be made or looked at.
    #[error("cannot use {}: {source}", path.display())]
    Place {
        /// Which.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// Somebody else could read or change what would be written there.
    #[error("{} {why}: make it yours alone, or move it away", path.display())]
    Unsafe {
        /// What.
        path: PathBuf,
        /// In what way.
        why: &'static str,
    },
    /// A later version made it.
    #[error("{} was made by a later version (its form is {found}, this version knows {known}): use that version, or move the file away", path.display())]
    Newer {
        /// Which.
        path: PathBuf,
        /// What it says of itself.
        found: i64,
        /// The latest that is known here.
        known: i64,
    },
    /// A database of something else.
    #[error("{} is a database, but no history of runs: move it away", path.display())]
    Foreign {
        /// Which.
        path: PathBuf,
    },
    /// It is damaged, or no database at all.
    #[error("{} is damaged: move it away, with the files beside it that end in -wal and -shm, and a new one is made ({source})", path.display())]
    Broken {
        /// Which.
        path: PathBuf,
        /// What SQLite says.
        source: rusqlite::Error,
    },
    /// Others wrote to it the whole time.
    #[error("{} was locked by another program all the time: find out which with `fuser`, and end it", path.display())]
    Locked {
        /// Which.
        path: PathBuf,
    },
    /// There is no room for it.
    #[error("the disk is full: free some space for {}", path.display())]
    Full {
        /// Which.
        path: PathBuf,
    },
    /// It may not be written.
    #[error("{} cannot be opened to be written: it, its folder or its file system is read-only", path.display())]
    ReadOnly {
        /// Which.
        path: PathBuf,
    },
    /// Something else that SQLite does not like.
    #[error("{}: {source}", path.display())]
    Database {
        /// Which.
        path: PathBuf,
        /// What it says.
        source: rusqlite::Error,
    },
    /// Secrets could not be taken out, so nothing was written.
    #[error(transparent)]
    Redact(#[from] RedactError),
    /// Not how the id of a run begins.
    #[error(
        "`{0}` is no id of a run, nor how one begins: those are of the digits 0 to 9 and a to f, and hyphens"
    )]
    NoId(String),
    /// There is no such run.
    #[error("no run has an id that begins with `{0}`; `skillsandbox history` lists them")]
    Unknown(String),
    /// Several runs are meant.
    #[error("{count} runs have ids that begin with `{id}`, such as {}: write more of it", examples.join(", "))]
    Ambiguous {
        /// What was asked for.
        id: String,
        /// How many there are.
        count: u64,
        /// Some of them.
        examples: Vec<String>,
    },
}

/// Says what an error of SQLite means for a file.
pub(super) fn of(path: &Path) -> impl Fn(rusqlite::Error) -> Error + Copy + '_ {
    |source| {
        let path = path.to_owned();
        match source.sqlite_error_code() {
            Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => Error::Broken { path, source },
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Error::Locked { path },
            Some(ErrorCode::DiskFull) => Error::Full { path },
            // It is there, and ours: what cannot be opened are the files that SQLite makes beside it.
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::CannotOpen) => {
                Error::ReadOnly { path }
            }
            _ => Error::Database { path, source },
        }
    }
}
