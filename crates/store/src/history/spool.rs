//! The spool: where a run that has ended is recorded by one write, beside the database.
//!
//! Whoever appends holds a shared lock on the file, so that appending waits for nobody: the kernel makes each write to a file that is opened to append one whole.
//! Whoever takes the records into the database (`take_in.rs`) renames the file first, then waits for those who still append to it by an exclusive
//! lock, and removes it with that lock held. So an appender that has the lock writes to a file that will be read, or sees that it was removed and opens the
//! next one.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::Instant;

use rustix::fs::{AtFlags, FileType, FlockOperation, Mode, OFlags, SeekFrom, Stat};
use rustix::io::Errno;

use super::clean::Clean;
use super::entry::Entry;
use super::error::Error;
use super::place::{self, Fault};
use super::{PATIENCE, PAUSE, frame};

/// Bytes after which the spool should be taken in: some 400 ordinary records, which takes less time than a person sees.
const DUE_EVERY: u64 = 256 << 10;
/// The most bytes of the spool. Whoever finds it so full takes it in, and waits for that.
const MOST_BYTES: u64 = 16 << 20;
/// How often to open the file anew at once, where it was renamed meanwhile.
const TRIES_AT_ONCE: usize = 8;

/// The spool of a history: a file beside the database to which records are appended, each by one write.
///
/// A record that was appended is there for whoever opens the history next, also after this program was killed. After a loss of power, what the
/// kernel had not written yet is missing.
///
/// ```
/// use skillsandbox_store::history::{Entry, Filter, History, Spool};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("state/history.db");
/// let entry = Entry::new(uuid::Uuid::new_v4(), jiff::Timestamp::now(), "weather-lookup", "run");
/// Spool::beside(&path).append(&entry)?;
/// let history = History::read(&path)?.ok_or("there is no history")?;
/// assert_eq!(history.find(&entry.id.to_string())?.record.skill, "weather-lookup");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Spool {
    database: PathBuf,
}

/// What came of appending a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Appended {
    /// It is in the spool.
    Kept,
    /// It is in the spool, and that should be taken in soon: whoever opens the history does it. Of those who append at the same time, one is told.
    KeptAndDue,
    /// It is not: the spool has as much as it may, or the record is too long for it. [`History::open`](super::History::open) takes it in, and records directly.
    NoRoom,
}

impl Spool {
    /// The spool of the history in this file.
    pub fn beside(database: impl Into<PathBuf>) -> Self {
        Self { database: database.into() }
    }

    /// Keeps what is known of a run, without secrets.
    ///
    /// # Errors
    /// The same as of opening the history, but for what only its tables can tell: a database that is damaged, or of a later version, is found when
    /// the spool is taken in.
    pub fn append(&self, entry: &Entry) -> Result<Appended, Error> {
        let Some(line) = frame::encode(&Clean::new(entry)?) else { return Ok(Appended::NoRoom) };
        let folder = SpoolFolder::make(&self.database)?;
        folder.check_database()?;
        let begin = Instant::now();
        for attempt in 0.. {
            match folder.append(&line)? {
                Some(appended) => return Ok(appended),
                None if attempt < TRIES_AT_ONCE => {}
                None if begin.elapsed() < PATIENCE => std::thread::sleep(PAUSE),
                None => break,
            }
        }
        Err(Error::Locked { path: folder.path(&folder.spool) })
    }
}

/// The folder of a history, held open: what is in it is reached by this, whatever becomes of its name.
pub(super) struct SpoolFolder {
    folder: OwnedFd,
    /// Its name, for messages.
    name: PathBuf,
    database: OsString,
    /// What is appended to.
    pub(super) spool: OsString,
    /// What is being taken in.
    pub(super) taken: OsString,
    /// What could not be: records that were cut off.
    pub(super) damaged: OsString,
}

impl SpoolFolder {
    /// The folder of this database; `None` where there is none.
    pub(super) fn open(database: &Path) -> Result<Option<Self>, Error> {
        let failed = |error: Errno| Error::Place { path: database.to_owned(), source: error.into() };
        let file = database.file_name().ok_or_else(|| failed(Errno::INVAL))?;
        let name = place::folder_of(database);
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::RDONLY;
        let folder = match rustix::fs::open(name, flags, Mode::empty()) {
            Ok(folder) => folder,
            Err(Errno::NOENT) => return Ok(None),
            Err(error) => {
                // It says why in words, where it is a link or not ours.
                place::check(database)?;
                return Err(failed(error));
            }
        };
        let found = rustix::fs::fstat(&folder).map_err(failed)?;
        if let Some(fault) = place::folder_fault(found.st_uid, found.st_mode) {
            return Err(fault.of(name));
        }
        let beside = |suffix: &str| {
            let mut name = file.to_owned();
            name.push(suffix);
            name
        };
        Ok(Some(Self {
            folder,
            name: name.to_owned(),
            database: file.to_owned(),
            spool: beside(".spool"),
            taken: beside(".spool.taken"),
            damaged: beside(".spool.damaged"),
        }))
    }

    /// The same, made where it is not there.
    fn make(database: &Path) -> Result<Self, Error> {
        if let Some(folder) = Self::open(database)? {
            return Ok(folder);
        }
        place::make_folder(database)?;
        let missing = || Error::Place { path: database.to_owned(), source: Errno::NOENT.into() };
        Self::open(database)?.ok_or_else(missing)
    }

    /// The path of something in it, for messages.
    pub(super) fn path(&self, name: &OsStr) -> PathBuf {
        self.name.join(name)
    }

    /// What an error of the system means for a file in it.
    pub(super) fn error(&self, name: &OsStr, error: Errno) -> Error {
        let path = self.path(name);
        match error {
            Errno::LOOP => Fault::Link.of(&path),
            // A pipe without a reader, a socket, a folder.
            Errno::NXIO | Errno::ISDIR | Errno::OPNOTSUPP => Fault::NoFile.of(&path),
            Errno::NOSPC | Errno::DQUOT | Errno::FBIG => Error::Full { path },
            Errno::ROFS | Errno::ACCESS | Errno::PERM => Error::ReadOnly { path },
            error => Error::Place { path, source: error.into() },
        }
    }

    /// What there is by this name: a file that is ours alone, or nothing.
    pub(super) fn look_at(&self, name: &OsStr) -> Result<Option<Stat>, Error> {
        match rustix::fs::statat(&self.folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(found) => self.check(name, &found).map(|()| Some(found)),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(self.error(name, error)),
        }
    }

    /// The database is not there yet, or it is ours alone.
    fn check_database(&self) -> Result<(), Error> {
        self.look_at(&self.database).map(|_| ())
    }

    fn check(&self, name: &OsStr, found: &Stat) -> Result<(), Error> {
        let fault = match FileType::from_raw_mode(found.st_mode) {
            FileType::RegularFile => place::file_fault(found.st_uid, found.st_nlink > 1),
            FileType::Symlink => Some(Fault::Link),
            _ => Some(Fault::NoFile),
        };
        fault.map_or(Ok(()), |fault| Err(fault.of(&self.path(name))))
    }

    /// Opens a file of ours alone, following no link and waiting for nobody; `None` where it is not there.
    pub(super) fn open_file(&self, name: &OsStr, flags: OFlags) -> Result<Option<(File, Stat)>, Error> {
        let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let file = match rustix::fs::openat(&self.folder, name, flags, Mode::RUSR | Mode::WUSR) {
            Ok(file) => file,
            Err(Errno::NOENT) => return Ok(None),
            Err(error) => return Err(self.error(name, error)),
        };
        let failed = |error| self.error(name, error);
        let found = rustix::fs::fstat(&file).map_err(failed)?;
        self.check(name, &found)?;
        if found.st_mode & 0o077 != 0 {
            rustix::fs::fchmod(&file, Mode::RUSR | Mode::WUSR).map_err(failed)?;
        }
        Ok(Some((file.into(), found)))
    }

    /// Gives the spool the name of what is taken in. Whether there was one.
    pub(super) fn seal(&self) -> Result<bool, Error> {
        match rustix::fs::renameat(&self.folder, &self.spool, &self.folder, &self.taken) {
            Ok(()) => Ok(true),
            Err(Errno::NOENT) => Ok(false),
            Err(error) => Err(self.error(&self.spool, error)),
        }
    }

    /// Removes a file that is there.
    pub(super) fn remove(&self, name: &OsStr) -> Result<(), Error> {
        rustix::fs::unlinkat(&self.folder, name, AtFlags::empty()).map_err(|error| self.error(name, error))
    }

    /// Appends a line; `None` where somebody takes the spool in just now, and it has to be opened anew.
    fn append(&self, line: &[u8]) -> Result<Option<Appended>, Error> {
        let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE;
        let Some((file, _)) = self.open_file(&self.spool, flags)? else { return Ok(None) };
        let failed = |error| self.error(&self.spool, error);
        match rustix::fs::flock(&file, FlockOperation::NonBlockingLockShared) {
            Ok(()) => {}
            Err(Errno::WOULDBLOCK | Errno::INTR) => return Ok(None),
            Err(error) => return Err(failed(error)),
        }
        let found = rustix::fs::fstat(&file).map_err(failed)?;
        let size = u64::try_from(found.st_size).unwrap_or_default();
        let appended = if found.st_nlink == 0 {
            Ok(None)
        } else if size.saturating_add(line.len() as u64) > MOST_BYTES {
            Ok(Some(Appended::NoRoom))
        } else {
            write_whole(&file, line).map(Some).map_err(failed)
        };
        // Not by closing it: a process that was forked meanwhile may have the file, too.
        let _ = rustix::fs::flock(&file, FlockOperation::Unlock);
        appended
    }
}

/// Appends by one write. Where that is cut short, the disk is full.
fn write_whole(file: &File, line: &[u8]) -> Result<Appended, Errno> {
    let written = rustix::io::write(file, line)?;
    // Behind what was just written, whoever else appends.
    let end = rustix::fs::seek(file, SeekFrom::Current(0))?;
    if written < line.len() {
        undo(file, end, written);
        return Err(Errno::NOSPC);
    }
    let begin = end.saturating_sub(line.len() as u64);
    Ok(if begin / DUE_EVERY == end / DUE_EVERY { Appended::Kept } else { Appended::KeptAndDue })
}

/// Takes back half a line, where nobody else is at the file. Where somebody is, it is known by its checksum later.
fn undo(file: &File, end: u64, written: usize) {
    let is_ours = rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive).is_ok()
        && rustix::fs::fstat(file.as_fd()).is_ok_and(|found| u64::try_from(found.st_size) == Ok(end));
    if is_ours {
        let _ = rustix::fs::ftruncate(file, end.saturating_sub(written as u64));
    }
}
