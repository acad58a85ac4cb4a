//! Reading the manifest's file from a skill's folder that nobody trusts.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::diagnostic::Invalid;
use crate::{MAX_BYTES, Manifest};

/// Why there is no manifest.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The skill's folder is not there.
    #[error("{}: there is no such folder", .path.display())]
    NoSuchFolder {
        /// The folder.
        path: PathBuf,
    },
    /// What should be the skill's folder is a file.
    #[error("{}: this is not a folder; name the folder that holds {}", .path.display(), Manifest::FILE_NAME)]
    NotAFolder {
        /// What was named.
        path: PathBuf,
    },
    /// The file is not there.
    #[error("{}: there is no such file", .path.display())]
    NotFound {
        /// The file.
        path: PathBuf,
    },
    /// The file is a directory, a device, a pipe or a socket.
    #[error("{}: this is not a regular file", .path.display())]
    NotAFile {
        /// The file.
        path: PathBuf,
    },
    /// The file is a symbolic link that leads out of the skill's folder.
    #[error("{}: this is a link that leads out of the skill's folder", .path.display())]
    OutsideSkill {
        /// The link.
        path: PathBuf,
    },
    /// The file is larger than [`MAX_BYTES`].
    #[error("{}: the file is larger than {MAX_BYTES} bytes", .path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
    },
    /// The file is not UTF-8.
    #[error("{}: line {line}: the file is not UTF-8", .path.display())]
    NotUtf8 {
        /// The file.
        path: PathBuf,
        /// The line of the first byte that is none, counted from 1.
        line: usize,
    },
    /// The system refused.
    #[error("{}: {error}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        error: io::Error,
    },
    /// The file was read, and is no valid manifest or policy.
    #[error("{}: {invalid}", .path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        #[source]
        invalid: Box<Invalid>,
    },
}

impl LoadError {
    pub(crate) fn invalid(path: &Path, invalid: Invalid) -> Self {
        Self::Invalid { path: path.to_owned(), invalid: Box::new(invalid) }
    }

    fn io(path: &Path, error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound => Self::NotFound { path: path.to_owned() },
            _ => Self::Io { path: path.to_owned(), error },
        }
    }
}

impl Manifest {
    /// Reads `skillsandbox.yaml` from a skill's folder.
    ///
    /// The folder's author may be hostile: the file is opened without leaving the folder (a link inside it is
    /// followed, a link out of it is an error), without waiting on a pipe, and no more than [`MAX_BYTES`] are read.
    pub fn load(dir: impl AsRef<Path>) -> Result<Self, LoadError> {
        let dir = dir.as_ref();
        let path = dir.join(Self::FILE_NAME);
        match std::fs::metadata(dir) {
            Ok(metadata) if metadata.is_dir() => {}
            Ok(_) => return Err(LoadError::NotAFolder { path: dir.to_owned() }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(LoadError::NoSuchFolder { path: dir.to_owned() });
            }
            Err(error) => return Err(LoadError::io(dir, error)),
        }
        let text = read(open_beneath(dir, Self::FILE_NAME, &path)?, &path)?;
        Self::parse(&text).map_err(|invalid| LoadError::invalid(&path, invalid))
    }
}

/// Reads a file the user named; links are the user's own.
pub(crate) fn read_file(path: &Path) -> Result<String, LoadError> {
    read(open_plain(path).map_err(|error| LoadError::io(path, error))?, path)
}

fn read(file: File, path: &Path) -> Result<String, LoadError> {
    let metadata = file.metadata().map_err(|error| LoadError::io(path, error))?;
    if !metadata.is_file() {
        return Err(LoadError::NotAFile { path: path.to_owned() });
    }
    let mut bytes = Vec::new();
    let most = u64::try_from(MAX_BYTES).unwrap_or(u64::MAX);
    file.take(most + 1).read_to_end(&mut bytes).map_err(|error| LoadError::io(path, error))?;
    if bytes.len() > MAX_BYTES {
        return Err(LoadError::TooLarge { path: path.to_owned() });
    }
    String::from_utf8(bytes).map_err(|error| {
        let valid = error.as_bytes().get(..error.utf8_error().valid_up_to()).unwrap_or_default();
        let line = valid.split(|byte| *byte == b'\n').count();
        LoadError::NotUtf8 { path: path.to_owned(), line }
    })
}

/// Opens without waiting, so that a pipe in the file's place cannot hold us.
#[cfg(unix)]
fn open_plain(path: &Path) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    Ok(File::from(rustix::fs::open(path, flags, Mode::empty())?))
}

#[cfg(not(unix))]
fn open_plain(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// Opens a name in a folder without ever leaving the folder.
#[cfg(target_os = "linux")]
fn open_beneath(dir: &Path, name: &str, path: &Path) -> Result<File, LoadError> {
    use rustix::fs::{CWD, Mode, OFlags, ResolveFlags};
    use rustix::io::Errno;
    let folder = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let folder =
        rustix::fs::openat(CWD, dir, folder, Mode::empty()).map_err(|e| LoadError::io(dir, e.into()))?;
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let beneath = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    match rustix::fs::openat2(&folder, name, flags, Mode::empty(), beneath) {
        Ok(file) => Ok(File::from(file)),
        Err(Errno::XDEV | Errno::LOOP) => Err(LoadError::OutsideSkill { path: path.to_owned() }),
        // A socket cannot be opened.
        Err(Errno::NXIO) => Err(LoadError::NotAFile { path: path.to_owned() }),
        // Kernels before 5.6, and filters that do not know the call.
        Err(Errno::NOSYS | Errno::PERM) => open_checked(dir, path),
        Err(error) => Err(LoadError::io(path, error.into())),
    }
}

#[cfg(not(target_os = "linux"))]
fn open_beneath(dir: &Path, _name: &str, path: &Path) -> Result<File, LoadError> {
    open_checked(dir, path)
}

/// The same by looking first. A folder that changes meanwhile could still lead out, but then only to a text that
/// has to pass as a manifest.
fn open_checked(dir: &Path, path: &Path) -> Result<File, LoadError> {
    let dir = dir.canonicalize().map_err(|error| LoadError::io(dir, error))?;
    let real = path.canonicalize().map_err(|error| LoadError::io(path, error))?;
    if !real.starts_with(&dir) {
        return Err(LoadError::OutsideSkill { path: path.to_owned() });
    }
    open_plain(&real).map_err(|error| LoadError::io(path, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn looking_first_refuses_the_same_links() {
        let dir = tempfile::tempdir().unwrap();
        let skill = dir.path().join("skill");
        std::fs::create_dir(&skill).unwrap();
        std::fs::write(dir.path().join("outside"), "x").unwrap();
        std::fs::write(skill.join("inside"), "x").unwrap();
        let path = skill.join(Manifest::FILE_NAME);
        std::os::unix::fs::symlink("../outside", &path).unwrap();
        assert!(matches!(open_checked(&skill, &path), Err(LoadError::OutsideSkill { .. })));
        std::fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink("inside", &path).unwrap();
        assert!(open_checked(&skill, &path).is_ok());
    }
}
