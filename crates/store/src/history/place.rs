//! Where the database is: a file that only its owner can read, in a folder that only its owner can change.
//!
//! SQLite opens files by their names, so the names must be safe: who could put a link there could choose which file is written to.

use std::fs::{DirBuilder, Metadata, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::error::Error;

/// Held while a file is made. POSIX locks are the process's: closing any descriptor of a file gives up all that SQLite holds on it
/// (sqlite.org/howtocorrupt.html, 2.2), so no other thread may have opened it meanwhile.
static MAKING: Mutex<()> = Mutex::new(());

/// Makes the folder and an empty file where they are not there. Returns the path, with no link left in it.
pub(super) fn make(path: &Path) -> Result<PathBuf, Error> {
    make_folder(path)?;
    let failed = |source| Error::Place { path: path.to_owned(), source };
    let _making = MAKING.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(path) = check(path)? {
        return Ok(path);
    }
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.write(true).create_new(true).open(path) {
        Ok(_) => {}
        // Another process was faster.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) if is_read_only(&error) => return Err(Error::ReadOnly { path: path.to_owned() }),
        Err(error) => return Err(failed(error)),
    }
    check(path)?.ok_or_else(|| failed(io::ErrorKind::NotFound.into()))
}

/// Makes the folder of a file, and those above it, for its owner alone.
pub(super) fn make_folder(path: &Path) -> Result<(), Error> {
    // Not `create_dir_all`: others may look into what it makes.
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    let made = builder.recursive(true).create(folder_of(path));
    made.map_err(|source| Error::Place { path: path.to_owned(), source })
}

/// The folder that a file lies in.
pub(super) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The path with no link left in it, if there is a file; an error where it is not one that is ours alone.
pub(super) fn check(path: &Path) -> Result<Option<PathBuf>, Error> {
    let failed = |source| Error::Place { path: path.to_owned(), source };
    let name = path.file_name().ok_or_else(|| failed(io::ErrorKind::InvalidInput.into()))?;
    let folder = folder_of(path);
    match folder.symlink_metadata() {
        // A link to the whole state, such as of a home on another disk, is further up.
        Ok(found) if found.is_symlink() => return Err(Fault::Link.of(folder)),
        Ok(found) => check_folder(folder, &found)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
    }
    let path = folder.canonicalize().map_err(failed)?.join(name);
    match path.symlink_metadata() {
        Ok(found) if found.is_symlink() => Err(Fault::Link.of(&path)),
        Ok(found) if !found.is_file() => Err(Fault::NoFile.of(&path)),
        Ok(found) => {
            check_file(&path, &found)?;
            Ok(Some(path))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed(error)),
    }
}

/// In what way something is not its owner's alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    Link,
    NoFile,
    Foreign,
    Changeable,
    SecondName,
}

impl Fault {
    /// The error that it is for whoever wants to use it.
    pub(super) fn of(self, path: &Path) -> Error {
        let why = match self {
            Self::Link => "is a symbolic link",
            Self::NoFile => "is no file",
            Self::Foreign => "belongs to another user",
            Self::Changeable => "can be changed by other users",
            Self::SecondName => "has another name somewhere else",
        };
        Error::Unsafe { path: path.to_owned(), why }
    }
}

pub(super) fn is_read_only(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied)
}

/// Why somebody else could put something else in the place of a file in this folder.
#[cfg(unix)]
pub(super) fn folder_fault(owner: u32, mode: u32) -> Option<Fault> {
    if owner != rustix::process::geteuid().as_raw() {
        return Some(Fault::Foreign);
    }
    (mode & 0o022 != 0).then_some(Fault::Changeable)
}

/// Why somebody else has this file.
#[cfg(unix)]
pub(super) fn file_fault(owner: u32, has_second_name: bool) -> Option<Fault> {
    if owner != rustix::process::geteuid().as_raw() {
        return Some(Fault::Foreign);
    }
    has_second_name.then_some(Fault::SecondName)
}

#[cfg(unix)]
fn check_folder(folder: &Path, found: &Metadata) -> Result<(), Error> {
    use std::os::unix::fs::MetadataExt as _;

    folder_fault(found.uid(), found.mode()).map_or(Ok(()), |fault| Err(fault.of(folder)))
}

/// Nobody else can read it, or has it under another name.
#[cfg(unix)]
fn check_file(path: &Path, found: &Metadata) -> Result<(), Error> {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

    if let Some(fault) = file_fault(found.uid(), found.nlink() > 1) {
        return Err(fault.of(path));
    }
    if found.mode() & 0o077 != 0 {
        let private = std::fs::Permissions::from_mode(0o600);
        let failed = |source| Error::Place { path: path.to_owned(), source };
        std::fs::set_permissions(path, private).map_err(failed)?;
    }
    Ok(())
}

#[cfg(not(unix))]
fn check_folder(_: &Path, _: &Metadata) -> Result<(), Error> {
    Ok(())
}

#[cfg(not(unix))]
fn check_file(_: &Path, _: &Metadata) -> Result<(), Error> {
    Ok(())
}
