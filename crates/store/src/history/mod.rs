//! What every run came to, in an SQLite database of the user's own.
//!
//! ```
//! use std::ops::ControlFlow;
//!
//! use skillsandbox_store::history::{Entry, Filter, History, Status};
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("history.db");
//! let mut history = History::open(&path)?;
//! let mut entry = Entry::new(uuid::Uuid::new_v4(), jiff::Timestamp::now(), "weather-lookup", "run");
//! entry.parameters.insert("api_key".into(), "correct horse".into());
//! entry.status = Status::Success;
//! history.record(&entry)?;
//!
//! let mut filter = Filter::default();
//! filter.status = Some(Status::Success);
//! history.each(&filter, |record| {
//!     assert_eq!(record.parameters["api_key"], "[REDACTED]");
//!     ControlFlow::Continue(())
//! })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What it guarantees
//!
//! - Several programs may record at a time; none of what [`History::record`] or [`Spool::append`] returned `Ok` for is lost when one of them is killed. After a
//!   loss of power, what was only appended in the last seconds may be missing.
//! - Whoever opens a history sees all that was appended before: it is taken in first, in order, and each record once.
//! - Secrets that it is told of, that a name gives away, or that have a known shape, are taken out before anything is written.
//! - Every text is bounded, and so is the number of runs ([`KEEP`]) and the room they take ([`MAX_BYTES`]): the oldest go first.
//! - The file is its owner's alone. Links, files of others and folders that others can change are refused.
//!
//! # What it does not protect
//!
//! Its owner can change it. Each record has a link to the one before it ([`History::check_chain`]), so that a change to one shows, unless whoever made it wrote
//! all later links anew; against that, a head that was signed ([`crate::signing`]) or kept elsewhere helps. A secret
//! that is shorter than six bytes and stands in an error, or that nothing gives away, is not recognised.

mod bounds;
mod chain;
mod clean;
mod csv;
mod entry;
mod error;
#[cfg(unix)]
mod frame;
mod place;
mod query;
mod record;
mod recording;
mod schema;
#[cfg(unix)]
mod spool;
mod stats;
#[cfg(unix)]
mod take_in;
mod when;
mod writing;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use data_encoding::{HEXLOWER, HEXLOWER_PERMISSIVE};
use rusqlite::{Connection, OpenFlags, OptionalExtension as _, TransactionBehavior, params};
use uuid::Uuid;

pub use bounds::{KEEP, MAX_BYTES};
pub use chain::{ChainCheck, ChainFault};
pub use csv::{csv_header, csv_line};
pub use entry::{Classified, Denied, Entry, Status};
pub use error::Error;
pub use query::Filter;
pub use record::{Details, Record};
pub use recording::HistoryFile;
#[cfg(unix)]
pub use spool::{Appended, Spool};
pub use stats::{ClassCount, Counts, DenialCount, SkillStats, Stats};
pub use when::{Edge, NoTime, moment};

use crate::signing::{SigningKey, TraceSignature, TraceStatement};

use clean::{Clean, percent};
use error::of;
use writing::{KnownRun, Room, RunWriter};

/// How long somebody else may hold the database. A run that has ended waits no longer for it than this.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long to wait before the next try, where SQLite does not wait by itself.
const PAUSE: Duration = Duration::from_millis(20);
/// Bytes of the write-ahead log that are left on the disk.
const LOG: i64 = 16 << 20;

/// The history of a user's runs.
#[derive(Debug)]
pub struct History {
    connection: Connection,
    path: PathBuf,
    room: Room,
    notes: Vec<String>,
}

impl History {
    /// Opens the history in this file, to write to it, and takes in what is in its [`Spool`]. Makes it, and its folder, where it is not there.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let mut history = Self::open_database(path)?;
        history.take_in()?;
        Ok(history)
    }

    /// Opens the history in this file, to look at it; `None` where there is none yet. Where nothing can be written, it is read all
    /// the same; [`History::notes`] says what is not seen then.
    pub fn read(path: &Path) -> Result<Option<Self>, Error> {
        let path = match place::check(path)? {
            Some(path) => path,
            None if is_waiting(path)? => place::make(path)?,
            None => return Ok(None),
        };
        let mut history = match Self::open_database(&path) {
            Err(Error::ReadOnly { .. } | Error::Full { .. } | Error::Database { .. }) => {
                let mut history = Self::read_only(path)?;
                if is_waiting(&history.path)? {
                    history.note_waiting("the history cannot be written");
                }
                history
            }
            history => {
                let mut history = history?;
                match history.take_in() {
                    Err(
                        error @ (Error::ReadOnly { .. }
                        | Error::Full { .. }
                        | Error::Locked { .. }
                        | Error::Database { .. }),
                    ) => history.note_waiting(&error.to_string()),
                    taken => taken?,
                }
                history
            }
        };
        history.note_damaged();
        Ok(Some(history))
    }

    fn open_database(path: &Path) -> Result<Self, Error> {
        let path = place::make(path)?;
        let mut connection = patiently(|| Self::writable(&path))?;
        patiently(|| schema::migrate(&mut connection, &path))?;
        Ok(Self::new(connection, path))
    }

    fn new(connection: Connection, path: PathBuf) -> Self {
        Self { connection, path, room: Room { runs: KEEP, bytes: MAX_BYTES }, notes: Vec::new() }
    }

    #[cfg(unix)]
    fn take_in(&mut self) -> Result<(), Error> {
        take_in::take_in(&mut self.connection, &self.path, self.room)
    }

    #[cfg(not(unix))]
    fn take_in(&mut self) -> Result<(), Error> {
        Ok(())
    }

    fn note_waiting(&mut self, why: &str) {
        self.notes.push(format!("the newest runs are recorded beside the history, and are not shown: {why}"));
    }

    #[cfg(unix)]
    fn note_damaged(&mut self) {
        let folder = spool::SpoolFolder::open(&self.path).ok().flatten();
        let Some(folder) = folder.filter(|folder| !matches!(folder.look_at(&folder.damaged), Ok(None)))
        else {
            return;
        };
        let file = folder.path(&folder.damaged);
        self.notes.push(format!(
            "records of runs were cut off while they were written, by a loss of power or a full disk, and are not in the history: {} has what is left of them; remove it when you have seen it",
            file.display()
        ));
    }

    #[cfg(not(unix))]
    fn note_damaged(&mut self) {}

    /// What whoever reads it should be told: records that cannot be shown, and why. Empty where all is well.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Keeps so many runs at most, instead of [`KEEP`]: the oldest are removed when the next one is recorded.
    #[must_use]
    pub fn keep(mut self, runs: u64) -> Self {
        self.room.runs = runs.max(1);
        self
    }

    /// Uses so many bytes at most, instead of [`MAX_BYTES`].
    #[must_use]
    pub fn max_bytes(mut self, bytes: u64) -> Self {
        self.room.bytes = bytes;
        self
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Keeps what is known of a run, without secrets. When this returns, it is on the disk.
    pub fn record(&mut self, entry: &Entry) -> Result<(), Error> {
        self.record_all(std::slice::from_ref(entry))
    }

    /// The same for several, all or none.
    pub fn record_all(&mut self, entries: &[Entry]) -> Result<(), Error> {
        let runs: Vec<Clean> = entries.iter().map(Clean::new).collect::<Result<_, _>>()?;
        let failed = of(&self.path);
        let transaction =
            self.connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
        let mut writer = RunWriter::new(&transaction, &self.path, self.room)?;
        for (position, run) in runs.iter().enumerate() {
            writer.write(run, KnownRun::Refuse, position + 1 == runs.len())?;
        }
        drop(writer);
        transaction.commit().map_err(failed)
    }

    /// The same for one, with a signature that is kept beside it; `None` where the run left no trace that could be signed.
    pub fn record_signed(
        &mut self,
        entry: &Entry,
        key: &SigningKey,
    ) -> Result<Option<TraceSignature>, Error> {
        let run = Clean::new(entry)?;
        let failed = of(&self.path);
        let transaction =
            self.connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
        let mut writer = RunWriter::new(&transaction, &self.path, self.room)?;
        let mut signature = None;
        if let Some((number, link)) = writer.write(&run, KnownRun::Refuse, true)?
            && let Some(digest) = &entry.digest
        {
            let statement = TraceStatement::new(entry.id, digest.clone(), HEXLOWER.encode(&link));
            let signed = key.sign(&statement);
            let text = serde_json::to_string(&signed).unwrap_or_default();
            transaction
                .execute("UPDATE runs SET signature = ?2 WHERE number = ?1", params![number, text])
                .map_err(failed)?;
            signature = Some(signed);
        }
        drop(writer);
        transaction.commit().map_err(failed)?;
        Ok(signature)
    }

    /// Whether every record is what was recorded, as far as a chain without a key can tell; and whether a link, as hexadecimal digits, is in it: the
    /// head of an earlier time, or what a signature names.
    pub fn check_chain(&self, noted: Option<&str>) -> Result<ChainCheck, Error> {
        // What are no such digits is no link, and found nowhere.
        let noted = noted.map(|noted| HEXLOWER_PERMISSIVE.decode(noted.as_bytes()).unwrap_or_default());
        chain::check(&self.connection, &self.path, noted.as_deref())
    }

    /// The signature that was recorded with a run.
    pub fn signature(&self, id: Uuid) -> Result<Option<TraceSignature>, Error> {
        let sql = "SELECT signature FROM runs WHERE id = ?1";
        let found: Option<Option<String>> = self
            .connection
            .query_row(sql, [id.to_string()], |row| row.get(0))
            .optional()
            .map_err(of(&self.path))?;
        Ok(found.flatten().and_then(|text| serde_json::from_str(&text).ok()))
    }

    /// Keeps the trace of a run, however many traces there are; or keeps it no longer.
    pub fn pin(&mut self, id: &str, pinned: bool) -> Result<Record, Error> {
        let record = self.find(id)?.record;
        self.connection
            .execute("UPDATE runs SET pinned = ?2 WHERE id = ?1", params![record.execution_id, pinned])
            .map_err(of(&self.path))?;
        Ok(Record { pinned, ..record })
    }

    /// The runs whose traces are kept.
    pub fn pinned(&self) -> Result<Vec<Uuid>, Error> {
        let failed = of(&self.path);
        let mut statement =
            self.connection.prepare("SELECT id FROM runs WHERE pinned <> 0").map_err(failed)?;
        let ids = statement.query_map([], |row| row.get::<_, String>(0)).map_err(failed)?;
        let ids: Vec<String> = ids.collect::<Result<_, _>>().map_err(failed)?;
        Ok(ids.iter().filter_map(|id| Uuid::parse_str(id).ok()).collect())
    }

    /// Hands over the runs that are meant, newest first, one at a time, until one is answered with a break.
    pub fn each(&self, filter: &Filter, told: impl FnMut(Record) -> ControlFlow<()>) -> Result<(), Error> {
        query::each(&self.connection, &self.path, filter, told)
    }

    /// All that is known of the run whose id begins so.
    pub fn find(&self, id: &str) -> Result<Details, Error> {
        query::find(&self.connection, &self.path, id)
    }

    /// What the runs that are meant came to; the filter's limit is not looked at.
    pub fn stats(&mut self, filter: &Filter) -> Result<Stats, Error> {
        stats::stats(&mut self.connection, &self.path, filter)
    }

    fn writable(path: &Path) -> Result<Connection, Error> {
        let failed = of(path);
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let connection = Connection::open_with_flags(path, flags).map_err(failed)?;
        // Before anything is changed: it may be another program's.
        schema::version(&connection, path)?;
        let set_up = || {
            connection.busy_timeout(PATIENCE)?;
            connection.pragma_update(None, "journal_mode", "wal")?;
            // What is recorded is there after a loss of power, too.
            connection.pragma_update(None, "synchronous", "full")?;
            connection.pragma_update(None, "journal_size_limit", LOG)?;
            connection.pragma_update(None, "foreign_keys", true)?;
            connection.pragma_update(None, "trusted_schema", false)
        };
        set_up().map_err(failed)?;
        Ok(connection)
    }

    /// Nothing can be made beside the file, not even what readers agree in.
    fn read_only(path: PathBuf) -> Result<Self, Error> {
        let failed = of(&path);
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_NOFOLLOW
            | OpenFlags::SQLITE_OPEN_URI;
        // What is still in the log would not be seen: then nobody may say that the file does not change.
        let mut log = path.clone().into_os_string();
        log.push("-wal");
        let immutable = if Path::new(&log).exists() { "" } else { "?immutable=1" };
        let uri = format!("file:{}{immutable}", percent(&path));
        let connection = Connection::open_with_flags(uri, flags).map_err(failed)?;
        connection.busy_timeout(PATIENCE).map_err(failed)?;
        let version = schema::version(&connection, &path)?;
        if version < schema::newest() {
            return Err(Error::ReadOnly { path });
        }
        Ok(Self::new(connection, path))
    }
}

/// Whether something was appended to the spool of a history and not taken in yet.
#[cfg(unix)]
fn is_waiting(path: &Path) -> Result<bool, Error> {
    match spool::SpoolFolder::open(path)? {
        Some(folder) => take_in::is_waiting(&folder),
        None => Ok(false),
    }
}

#[cfg(not(unix))]
fn is_waiting(_: &Path) -> Result<bool, Error> {
    Ok(false)
}

/// Tries again where SQLite says that somebody else is at it and does not wait by itself: while the log is set up or taken down.
fn patiently<T>(mut attempt: impl FnMut() -> Result<T, Error>) -> Result<T, Error> {
    let begin = Instant::now();
    loop {
        match attempt() {
            Err(Error::Locked { .. }) if begin.elapsed() < PATIENCE => std::thread::sleep(PAUSE),
            result => return result,
        }
    }
}
