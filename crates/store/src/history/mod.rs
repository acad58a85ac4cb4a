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
//! - Several programs may record at a time; none of what [`History::record`] returned `Ok` for is lost when one of them is killed.
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
mod place;
mod query;
mod record;
mod recording;
mod schema;
mod stats;
mod when;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use data_encoding::{HEXLOWER, HEXLOWER_PERMISSIVE};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};
use rusqlite::{Connection, OpenFlags, OptionalExtension as _, Transaction, TransactionBehavior, params};
use skillsandbox_text::Redactor;
use uuid::Uuid;

pub use bounds::{KEEP, MAX_BYTES};
pub use chain::{ChainCheck, ChainFault};
pub use csv::{csv_header, csv_line};
pub use entry::{Classified, Denied, Entry, Status};
pub use error::Error;
pub use query::Filter;
pub use record::{Details, Record};
pub use recording::HistoryFile;
pub use stats::{ClassCount, Counts, DenialCount, SkillStats, Stats};
pub use when::{Edge, NoTime, moment};

use crate::signing::{SigningKey, TraceSignature, TraceStatement};

use clean::Clean;
use error::of;

/// How long somebody else may hold the database. A run that has ended waits no longer for it than this.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long to wait before the next try, where SQLite does not wait by itself.
const PAUSE: Duration = Duration::from_millis(20);
/// Bytes of the write-ahead log that are left on the disk.
const LOG: i64 = 16 << 20;
/// Denied attempts of one kind that are counted, so that no sum of them overflows.
const MOST_COUNTED: u64 = u32::MAX as u64;

/// The history of a user's runs.
#[derive(Debug)]
pub struct History {
    connection: Connection,
    path: PathBuf,
    keep: u64,
    bytes: u64,
    shapes: Redactor,
}

impl History {
    /// Opens the history in this file, to write to it. Makes it, and its folder, where it is not there.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let path = place::make(path)?;
        let mut connection = patiently(|| Self::writable(&path))?;
        patiently(|| schema::migrate(&mut connection, &path))?;
        Ok(Self { connection, path, keep: KEEP, bytes: MAX_BYTES, shapes: Redactor::of_shapes()? })
    }

    /// Opens the history in this file, to look at it; `None` where there is none yet. Where nothing can be written, it is read all
    /// the same.
    pub fn read(path: &Path) -> Result<Option<Self>, Error> {
        let Some(path) = place::check(path)? else { return Ok(None) };
        let history = match Self::open(&path) {
            Err(Error::ReadOnly { .. } | Error::Full { .. } | Error::Database { .. }) => {
                Self::read_only(path)?
            }
            history => history?,
        };
        Ok(Some(history))
    }

    /// Keeps so many runs at most, instead of [`KEEP`]: the oldest are removed when the next one is recorded.
    #[must_use]
    pub fn keep(mut self, runs: u64) -> Self {
        self.keep = runs.max(1);
        self
    }

    /// Uses so many bytes at most, instead of [`MAX_BYTES`].
    #[must_use]
    pub fn max_bytes(mut self, bytes: u64) -> Self {
        self.bytes = bytes;
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
        let clean: Vec<Clean> =
            entries.iter().map(|entry| Clean::new(entry, &self.shapes)).collect::<Result<_, _>>()?;
        let failed = of(&self.path);
        let transaction =
            self.connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
        for (entry, clean) in entries.iter().zip(&clean) {
            let number = insert(&transaction, entry, clean).map_err(failed)?;
            bounds::trim(&transaction, &self.path, self.keep, self.bytes)?;
            chain::append(&transaction, number).map_err(failed)?;
        }
        transaction.commit().map_err(failed)
    }

    /// The same for one, with a signature that is kept beside it; `None` where the run left no trace that could be signed.
    pub fn record_signed(
        &mut self,
        entry: &Entry,
        key: &SigningKey,
    ) -> Result<Option<TraceSignature>, Error> {
        let clean = Clean::new(entry, &self.shapes)?;
        let failed = of(&self.path);
        let transaction =
            self.connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
        let number = insert(&transaction, entry, &clean).map_err(failed)?;
        // First what makes room, which the link then covers.
        bounds::trim(&transaction, &self.path, self.keep, self.bytes)?;
        let link = chain::append(&transaction, number).map_err(failed)?;
        let signature = entry.digest.as_ref().map(|digest| {
            let statement = TraceStatement::new(entry.id, digest.clone(), HEXLOWER.encode(&link));
            key.sign(&statement)
        });
        if let Some(signature) = &signature {
            let text = serde_json::to_string(signature).unwrap_or_default();
            transaction
                .execute("UPDATE runs SET signature = ?2 WHERE number = ?1", params![number, text])
                .map_err(failed)?;
        }
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
        Ok(Self { connection, path, keep: KEEP, bytes: MAX_BYTES, shapes: Redactor::of_shapes()? })
    }
}

/// What stays as it is in a path that is a part of a `file:` address.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// A path as a part of a `file:` address.
fn percent(path: &Path) -> String {
    percent_encode(path.as_os_str().as_encoded_bytes(), PLAIN).to_string()
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

/// Writes a run, which has no link yet; its number.
fn insert(transaction: &Transaction<'_>, entry: &Entry, clean: &Clean) -> rusqlite::Result<i64> {
    let whole = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    let milliseconds = i64::try_from(entry.duration.as_millis()).unwrap_or(i64::MAX);
    let classes: Vec<&str> = clean.classes.iter().map(|class| class.class.as_str()).collect();
    let started = entry.started.as_microsecond();
    let status = entry.status.as_str();
    transaction.execute(
        "INSERT INTO runs (id, started, skill, version, tool, parameters, arguments, user, status, ending, duration_ms, exit_code,
            error, denied, denials_omitted, classes, complete, trace, digest, unknown)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20)",
        params![
            entry.id.to_string(),
            started,
            clean.skill,
            clean.version,
            clean.tool,
            clean.parameters,
            clean.arguments,
            clean.user,
            status,
            clean.ending,
            milliseconds,
            entry.exit_code,
            clean.error,
            whole(entry.denied),
            whole(clean.denials_omitted),
            classes.join(" "),
            entry.complete,
            entry.trace.as_ref().map(|trace| trace.as_os_str().as_encoded_bytes().to_vec()),
            clean.digest,
            whole(entry.unknown),
        ],
    )?;
    let run = transaction.last_insert_rowid();
    let mut statement = transaction.prepare("INSERT INTO denials VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)")?;
    for (place, denial) in clean.denials.iter().enumerate() {
        let (place, count) = (whole(place as u64), whole(denial.count.min(MOST_COUNTED)));
        statement.execute(params![
            run,
            place,
            denial.kind,
            denial.what,
            denial.rule,
            denial.process,
            count,
            denial.declare
        ])?;
    }
    let mut statement =
        transaction.prepare("INSERT OR IGNORE INTO classes VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)")?;
    for class in &clean.classes {
        statement.execute(params![
            run,
            class.class,
            class.severity,
            class.prevented,
            class.message,
            clean.skill,
            status,
            started,
            class.unknown
        ])?;
    }
    Ok(run)
}
