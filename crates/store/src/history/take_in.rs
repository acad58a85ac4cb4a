//! Takes what is in the spool into the database: in order, each with its link, in one transaction.
//!
//! A program that is killed on the way leaves the spool under one of its two names, and the next one takes it in. One that is killed after the
//! transaction and before the spool is removed leaves records that the database has: they are known by their ids.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _, Write as _};
use std::path::Path;
use std::time::Instant;

use rusqlite::{Connection, TransactionBehavior};
use rustix::fs::{FlockOperation, OFlags};
use rustix::io::Errno;

use super::clean::Clean;
use super::error::{Error, of};
use super::frame::{self, Line};
use super::spool::SpoolFolder;
use super::writing::{KnownRun, Room, RunWriter};
use super::{PATIENCE, PAUSE};

/// What somebody left who was killed, what has come since, and what comes meanwhile.
const MOST_ROUNDS: usize = 3;
/// The most bytes of records that were cut off which are kept to be looked at.
const MOST_DAMAGED: u64 = 1 << 20;

/// Whether there is anything to take in.
pub(super) fn is_waiting(folder: &SpoolFolder) -> Result<bool, Error> {
    // An empty one is left by somebody who was killed before the first write.
    let spool = folder.look_at(&folder.spool)?.is_some_and(|found| found.st_size > 0);
    Ok(spool || folder.look_at(&folder.taken)?.is_some())
}

/// Takes in all that is in the spool of this database.
pub(super) fn take_in(connection: &mut Connection, path: &Path, room: Room) -> Result<(), Error> {
    let Some(folder) = SpoolFolder::open(path)? else { return Ok(()) };
    for _ in 0..MOST_ROUNDS {
        if !is_waiting(&folder)? {
            break;
        }
        // Held first: one at a time takes in.
        let transaction =
            connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(of(path))?;
        let Some(taken) = seal(&folder)? else { break };
        let damaged = {
            let mut writer = RunWriter::new(&transaction, path, room)?;
            write_all(&folder, &taken, &mut writer)?
        };
        transaction.commit().map_err(of(path))?;
        keep_damaged(&folder, &damaged)?;
        // With the lock held: whoever gets it later sees that the file is gone.
        folder.remove(&folder.taken)?;
        let _ = rustix::fs::flock(&taken, FlockOperation::Unlock);
    }
    Ok(())
}

/// The spool under its second name, to which nobody appends any more; `None` where there is none.
fn seal(folder: &SpoolFolder) -> Result<Option<File>, Error> {
    let begin = Instant::now();
    while begin.elapsed() < PATIENCE {
        let Some((file, _)) = folder.open_file(&folder.taken, OFlags::RDONLY)? else {
            if folder.seal()? {
                continue;
            }
            return Ok(None);
        };
        match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            // Somebody appends, or removes what was taken in.
            Err(Errno::WOULDBLOCK | Errno::INTR) => {
                std::thread::sleep(PAUSE);
                continue;
            }
            Err(error) => return Err(folder.error(&folder.taken, error)),
        }
        let found = rustix::fs::fstat(&file).map_err(|error| folder.error(&folder.taken, error))?;
        if found.st_nlink > 0 {
            return Ok(Some(file));
        }
    }
    Err(Error::Locked { path: folder.path(&folder.taken) })
}

/// Writes all records of a file; the lines that are none.
fn write_all(folder: &SpoolFolder, file: &File, writer: &mut RunWriter<'_>) -> Result<Vec<u8>, Error> {
    let mut lines = BufReader::new(file);
    let mut damaged = Vec::new();
    let mut pending: Option<Box<Clean>> = None;
    while let Some(line) =
        next_line(&mut lines).map_err(|source| Error::Place { path: folder.path(&folder.taken), source })?
    {
        if line.is_empty() {
            continue;
        }
        match frame::decode(&line) {
            Line::Run(run) => {
                if let Some(run) = pending.replace(run) {
                    writer.write(&run, KnownRun::Skip, false)?;
                }
            }
            Line::Newer(found) => {
                let path = folder.path(&folder.taken);
                return Err(Error::Newer { path, found, known: frame::VERSION });
            }
            Line::Damaged => {
                damaged.extend(line);
                damaged.push(b'\n');
                damaged.truncate(usize::try_from(MOST_DAMAGED).unwrap_or(usize::MAX));
            }
        }
    }
    if let Some(run) = pending {
        writer.write(&run, KnownRun::Skip, true)?;
    }
    Ok(damaged)
}

/// The next line, without its line break, or as much of it as a line may have; `None` at the end.
fn next_line(lines: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    let most = frame::MOST_BYTES as u64;
    if lines.by_ref().take(most).read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    if line.last() == Some(&b'\n') {
        line.pop();
    }
    Ok(Some(line))
}

/// Keeps what is no record where its owner can look at it: it is said to whoever reads the history for as long as it is there.
fn keep_damaged(folder: &SpoolFolder, damaged: &[u8]) -> Result<(), Error> {
    if damaged.is_empty() {
        return Ok(());
    }
    let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE;
    let failed = |source: io::Error| {
        let error = source.raw_os_error().map_or(Errno::IO, Errno::from_raw_os_error);
        folder.error(&folder.damaged, error)
    };
    let Some((mut file, found)) = folder.open_file(&folder.damaged, flags)? else {
        return Err(folder.error(&folder.damaged, Errno::NOENT));
    };
    let left = MOST_DAMAGED.saturating_sub(u64::try_from(found.st_size).unwrap_or_default());
    let kept = damaged.get(..usize::try_from(left).unwrap_or(usize::MAX)).unwrap_or(damaged);
    file.write_all(kept).map_err(failed)
}
