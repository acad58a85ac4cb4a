//! Reading the manifest's file from a skill's folder, which is not trusted.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::diagnostic::Invalid;
use crate::{MAX_BYTES, Manifest, SkillDoc};

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
    /// The file is a symbolic link: its content could be changed, or lie elsewhere, without the skill's folder showing it.
    #[error("{}: this is a symbolic link; the file itself must lie in the skill's folder", .path.display())]
    Link {
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
    /// The file was read, and is not a valid manifest or policy.
    #[error("{}: {invalid}", .path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// What is wrong with it. It is part of the message, and so not a source of its own.
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
    /// The folder's author may be hostile: the file must lie in the folder itself (a link is an error, wherever it leads),
    /// a pipe or a device in its place does not hold us, and no more than [`MAX_BYTES`] are read.
    pub fn load(dir: impl AsRef<Path>) -> Result<Self, LoadError> {
        let (path, text) = read_beneath(dir.as_ref(), Self::FILE_NAME)?;
        Self::parse(&text).map_err(|invalid| LoadError::invalid(&path, invalid))
    }

    /// Reads a manifest from a file that the user named; a link is the user's own.
    pub fn load_file(path: impl AsRef<Path>) -> Result<Self, LoadError> {
        let path = path.as_ref();
        Self::parse_file(path, &read_file(path)?)
    }

    /// Reads a manifest from the text of a file that was read already.
    pub fn parse_file(path: impl AsRef<Path>, text: &str) -> Result<Self, LoadError> {
        Self::parse(text).map_err(|invalid| LoadError::invalid(path.as_ref(), invalid))
    }
}

impl SkillDoc {
    /// Reads `SKILL.md` from a skill's folder, as carefully as [`Manifest::load`] does; the text comes with it.
    pub fn load(dir: impl AsRef<Path>) -> Result<(Self, String), LoadError> {
        let (_, text) = read_beneath(dir.as_ref(), Self::FILE_NAME)?;
        Ok((Self::parse(&text), text))
    }
}

/// The text of a file directly in a folder that is not trusted.
fn read_beneath(dir: &Path, name: &str) -> Result<(PathBuf, String), LoadError> {
    let path = dir.join(name);
    match std::fs::metadata(dir) {
        Ok(metadata) if metadata.is_dir() => {}
        Ok(_) => return Err(LoadError::NotAFolder { path: dir.to_owned() }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(LoadError::NoSuchFolder { path: dir.to_owned() });
        }
        Err(error) => return Err(LoadError::io(dir, error)),
    }
    let text = read(open_beneath(&path)?, &path)?;
    Ok((path, text))
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
fn open(path: &Path, more: rustix::fs::OFlags) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY | more;
    Ok(File::from(rustix::fs::open(path, flags, Mode::empty())?))
}

#[cfg(unix)]
fn open_plain(path: &Path) -> io::Result<File> {
    open(path, rustix::fs::OFlags::empty())
}

#[cfg(not(unix))]
fn open_plain(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// Opens a file directly in a folder: with its last component no link, it cannot lie anywhere else.
#[cfg(unix)]
fn open_beneath(path: &Path) -> Result<File, LoadError> {
    use rustix::io::Errno;
    open(path, rustix::fs::OFlags::NOFOLLOW).map_err(|error| match Errno::from_io_error(&error) {
        // BSDs say EMLINK or EFTYPE for what Linux calls ELOOP; those come out as they are.
        Some(Errno::LOOP) => LoadError::Link { path: path.to_owned() },
        // A socket cannot be opened.
        Some(Errno::NXIO) => LoadError::NotAFile { path: path.to_owned() },
        _ => LoadError::io(path, error),
    })
}

#[cfg(not(unix))]
fn open_beneath(path: &Path) -> Result<File, LoadError> {
    let metadata = path.symlink_metadata().map_err(|error| LoadError::io(path, error))?;
    if metadata.is_symlink() {
        return Err(LoadError::Link { path: path.to_owned() });
    }
    open_plain(path).map_err(|error| LoadError::io(path, error))
}
