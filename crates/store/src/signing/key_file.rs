//! The file that a key lies in: its owner's alone, under one name, in a folder that only its owner can change.

use std::fs::{DirBuilder, File, Metadata};
use std::io;
use std::path::Path;

use super::SigningError;
use crate::state_file;

fn failed(path: &Path) -> impl Fn(io::Error) -> SigningError + '_ {
    |source| SigningError::Io { path: path.to_owned(), source }
}

/// Makes an empty file for a key, and its folder where that is not there.
pub(super) fn create(path: &Path) -> Result<File, SigningError> {
    let folder = path.parent().ok_or_else(|| failed(path)(io::ErrorKind::InvalidInput.into()))?;
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder).map_err(failed(folder))?;
    check_folder(folder)?;
    match state_file::create_new(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            Err(SigningError::Exists(path.to_owned()))
        }
        made => made.map_err(failed(path)),
    }
}

/// Opens a key that is its owner's alone.
pub(super) fn open(path: &Path) -> Result<File, SigningError> {
    let folder = path.parent().ok_or_else(|| failed(path)(io::ErrorKind::InvalidInput.into()))?;
    match folder.symlink_metadata() {
        Ok(_) => check_folder(folder)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(SigningError::NoKey(path.to_owned()));
        }
        Err(error) => return Err(failed(folder)(error)),
    }
    let file = state_file::open(path).map_err(failed(path))?;
    let file = file.ok_or_else(|| SigningError::NoKey(path.to_owned()))?;
    // Of what was opened, not of a name that may mean something else by now.
    check_file(path, &file.metadata().map_err(failed(path))?)?;
    Ok(file)
}

fn check_folder(folder: &Path) -> Result<(), SigningError> {
    let found = folder.symlink_metadata().map_err(failed(folder))?;
    let refuse = |why| Err(SigningError::Unsafe { path: folder.to_owned(), why });
    if found.is_symlink() {
        return refuse("is a symbolic link");
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;

        if found.uid() != rustix::process::geteuid().as_raw() {
            return refuse("belongs to another user");
        }
        if found.mode() & 0o022 != 0 {
            return refuse("can be changed by other users");
        }
    }
    Ok(())
}

#[cfg(unix)]
fn check_file(path: &Path, found: &Metadata) -> Result<(), SigningError> {
    use std::os::unix::fs::MetadataExt as _;

    let refuse = |why| Err(SigningError::Unsafe { path: path.to_owned(), why });
    if found.uid() != rustix::process::geteuid().as_raw() {
        return refuse("belongs to another user");
    }
    if found.mode() & 0o077 != 0 {
        return refuse("can be read by other users");
    }
    if found.nlink() > 1 {
        return refuse("has another name somewhere else");
    }
    Ok(())
}

#[cfg(not(unix))]
fn check_file(_: &Path, _: &Metadata) -> Result<(), SigningError> {
    Ok(())
}
