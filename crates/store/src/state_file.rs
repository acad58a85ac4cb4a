//! Files of ours that somebody may have put something else in the place of: a pipe that nobody writes to, a device, a link.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

/// Opens a file to read it, and never waits for it: what is not a plain file is an error, and a link is not followed. `None` where there is
/// none.
pub(crate) fn open(path: &Path) -> io::Result<Option<File>> {
    opened(path, no_follow())
}

/// The same for what a person may keep elsewhere: a link is followed.
pub(crate) fn open_linked(path: &Path) -> io::Result<Option<File>> {
    opened(path, 0)
}

/// A new file that only its owner can read; what is there, by whatever kind of link, is an error.
pub(crate) fn create_new(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.write(true).create_new(true).open(path)
}

#[cfg(unix)]
fn no_follow() -> u32 {
    rustix::fs::OFlags::NOFOLLOW.bits()
}

#[cfg(not(unix))]
fn no_follow() -> u32 {
    0
}

fn opened(path: &Path, flags: u32) -> io::Result<Option<File>> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        let flags = flags | rustix::fs::OFlags::NONBLOCK.bits();
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, flags.cast_signed());
    }
    #[cfg(not(unix))]
    let _ = flags;
    let file = match options.open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) if path.symlink_metadata().is_ok_and(|found| found.is_symlink()) => {
            return Err(io::Error::new(error.kind(), "it is a symbolic link; put the file itself there"));
        }
        Err(error) => return Err(error),
    };
    if !file.metadata()?.is_file() {
        let what = "it is not a plain file; move it away";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
    }
    Ok(Some(file))
}
