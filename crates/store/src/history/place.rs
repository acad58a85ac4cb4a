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
    let failed = |source| Error::Place { path: path.to_owned(), source };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // Not `create_dir_all`: others may look into what it makes.
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder).map_err(failed)?;
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

/// The path with no link left in it, if there is a file; an error where it is not one that is ours alone.
pub(super) fn check(path: &Path) -> Result<Option<PathBuf>, Error> {
    let failed = |source| Error::Place { path: path.to_owned(), source };
    let name = path.file_name().ok_or_else(|| failed(io::ErrorKind::InvalidInput.into()))?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match folder.symlink_metadata() {
        // A link to the whole state, such as of a home on another disk, is further up.
        Ok(found) if found.is_symlink() => return unsafe_(folder, "is a symbolic link"),
        Ok(found) => guarded(folder, &found)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
    }
    let path = folder.canonicalize().map_err(failed)?.join(name);
    match path.symlink_metadata() {
        Ok(found) if found.is_symlink() => unsafe_(&path, "is a symbolic link"),
        Ok(found) if !found.is_file() => unsafe_(&path, "is no file"),
        Ok(found) => {
            alone(&path, &found)?;
            Ok(Some(path))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed(error)),
    }
}

fn unsafe_<T>(path: &Path, why: &'static str) -> Result<T, Error> {
    Err(Error::Unsafe { path: path.to_owned(), why })
}

fn is_read_only(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied)
}

/// Nobody else can put something else in the place of the file.
#[cfg(unix)]
fn guarded(folder: &Path, found: &Metadata) -> Result<(), Error> {
    use std::os::unix::fs::MetadataExt as _;

    if found.uid() != rustix::process::geteuid().as_raw() {
        return unsafe_(folder, "belongs to another user");
    }
    if found.mode() & 0o022 != 0 {
        return unsafe_(folder, "can be changed by other users");
    }
    Ok(())
}

/// Nobody else can read it, or has it under another name.
#[cfg(unix)]
fn alone(path: &Path, found: &Metadata) -> Result<(), Error> {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

    if found.uid() != rustix::process::geteuid().as_raw() {
        return unsafe_(path, "belongs to another user");
    }
    if found.nlink() > 1 {
        return unsafe_(path, "has another name somewhere else");
    }
    if found.mode() & 0o077 != 0 {
        let private = std::fs::Permissions::from_mode(0o600);
        let failed = |source| Error::Place { path: path.to_owned(), source };
        std::fs::set_permissions(path, private).map_err(failed)?;
    }
    Ok(())
}

#[cfg(not(unix))]
fn guarded(_: &Path, _: &Metadata) -> Result<(), Error> {
    Ok(())
}

#[cfg(not(unix))]
fn alone(_: &Path, _: &Metadata) -> Result<(), Error> {
    Ok(())
}
