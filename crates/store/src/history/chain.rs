//! The chain of what was recorded: the link of a run is a hash of the link before it and of all that is kept of the run.
//!
//! Whoever edits, removes or inserts a record has to write every later link anew, and then the newest link, the head, is another one. The chain
//! has no key: its owner can do that. A head that was signed or noted elsewhere tells.
//!
//! Where the chain begins is in it, too. Each record says behind which number it began when the record was written (`base`), so that the newest one
//! says what was removed to make room, and its link covers that. What was there before the chain got links when the chain was made: every link covers up to which
//! number that was (`earlier`). So there is no record without a link, and none at or before the base.

use std::path::Path;

use data_encoding::HEXLOWER;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension as _, Row, Statement};
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use super::error::{Error, of};

/// What the first link of all is made of, and every one begins with.
const CONTEXT: &[u8] = b"skillsandbox.history/2\n";

/// The bytes of a link.
pub(super) const LINK: usize = 32;

type Link = [u8; LINK];

/// All that is kept of a run. A column that is added by a later version has to be added here, in a chain of another version.
const RUN: &str = "SELECT number, id, started, skill, version, tool, parameters, arguments, user, status, ending, duration_ms, exit_code, error, \
    denied, unknown, denials_omitted, classes, complete, trace, digest, base FROM runs WHERE number = ?1";
const DENIALS: &str =
    "SELECT place, kind, what, rule, process, count, declare FROM denials WHERE run = ?1 ORDER BY place";
const CLASSES: &str = "SELECT class, severity, prevented, unknown, message, skill, status, started FROM classes WHERE run = ?1 \
    ORDER BY class";

/// What came of checking the chain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ChainCheck {
    /// Runs whose links are right, and that were chained when they were recorded.
    pub runs: u64,
    /// Runs from before there was a chain: their links are right, too, so they are what they were when the chain was made. Of the time before, nothing is
    /// known.
    pub earlier: u64,
    /// Runs that were removed to make room, the oldest first, as the newest link says.
    pub removed: u64,
    /// The newest link, as hexadecimal digits, where there is one.
    pub head: Option<String>,
    /// Whether a run whose link is right has the link that was asked for; `None` where none was.
    pub has_head: Option<bool>,
    /// The first thing that is wrong.
    pub wrong: Option<ChainFault>,
}

/// The first place at which a history is not as it was recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ChainFault {
    /// The id of the run there, where there is one.
    pub execution_id: Option<String>,
    /// In words.
    pub what: String,
}

/// Gives links to runs that were just written.
pub(super) struct LinkWriter<'c> {
    base: Statement<'c>,
    before: Statement<'c>,
    set_base: Statement<'c>,
    set_link: Statement<'c>,
    contents: Statements<'c>,
}

impl<'c> LinkWriter<'c> {
    pub(super) fn new(connection: &'c Connection) -> rusqlite::Result<Self> {
        let before = "SELECT link FROM runs WHERE number < ?1 AND number > ?2 ORDER BY number DESC LIMIT 1";
        Ok(Self {
            base: connection.prepare(BASE)?,
            before: connection.prepare(before)?,
            set_base: connection.prepare("UPDATE runs SET base = ?2 WHERE number = ?1")?,
            set_link: connection.prepare("UPDATE runs SET link = ?2 WHERE number = ?1")?,
            contents: Statements::new(connection)?,
        })
    }

    /// Makes the link of a run, after what makes room for it, and keeps it.
    pub(super) fn append(&mut self, number: i64) -> rusqlite::Result<Link> {
        let chain = self.base.query_row([], ChainBase::of_row)?;
        let before: Option<Option<Vec<u8>>> =
            self.before.query_row((number, chain.number), |row| row.get(0)).optional()?;
        let before = match before {
            // One that has lost its link is found by whoever checks; the chain goes on from nothing.
            Some(found) => found.and_then(|found| found.try_into().ok()).unwrap_or_default(),
            None => chain.link,
        };
        self.set_base.execute((number, chain.number))?;
        let link = self.contents.link(number, &before, chain.earlier)?;
        self.set_link.execute((number, link.as_slice()))?;
        Ok(link)
    }
}

/// Chains what was recorded before there was a chain, as it is now.
pub(super) fn begin(connection: &Connection) -> rusqlite::Result<()> {
    let sql = "INSERT INTO chain SELECT 1, coalesce(min(number) - 1, 0), zeroblob(32), coalesce(max(number), 0) FROM runs";
    connection.execute(sql, [])?;
    let ChainBase { number: base, link: mut before, earlier } = ChainBase::read(connection)?;
    connection.execute("UPDATE runs SET base = ?1", [base])?;
    let mut statements = Statements::new(connection)?;
    let mut next = connection.prepare("SELECT min(number) FROM runs WHERE number > ?1")?;
    let mut keep = connection.prepare("UPDATE runs SET link = ?2 WHERE number = ?1")?;
    let mut reached = base;
    while let Some(number) = next.query_row([reached], |row| row.get::<_, Option<i64>>(0))? {
        before = statements.link(number, &before, earlier)?;
        keep.execute((number, before.as_slice()))?;
        reached = number;
    }
    Ok(())
}

/// Where the chain begins.
struct ChainBase {
    /// The last run that was removed.
    number: i64,
    /// Its link, which the next one goes on from.
    link: Link,
    /// The last run from before there was a chain.
    earlier: i64,
}

const BASE: &str = "SELECT number, link, earlier FROM chain";

impl ChainBase {
    fn read(connection: &Connection) -> rusqlite::Result<Self> {
        connection.query_row(BASE, [], Self::of_row)
    }

    fn of_row(row: &Row<'_>) -> rusqlite::Result<Self> {
        let link: Vec<u8> = row.get(1)?;
        Ok(Self { number: row.get(0)?, link: link.try_into().unwrap_or_default(), earlier: row.get(2)? })
    }
}

/// The runs up to this number are about to be removed: the chain then begins behind them.
pub(super) fn move_base(connection: &Connection, last: i64) -> rusqlite::Result<()> {
    let sql = "UPDATE chain SET (number, link) = (SELECT number, link FROM runs WHERE number <= ?1 AND link IS NOT NULL \
        ORDER BY number DESC LIMIT 1) WHERE EXISTS (SELECT 1 FROM runs WHERE number <= ?1 AND link IS NOT NULL)";
    connection.execute(sql, [last])?;
    Ok(())
}

/// Checks every link, and looks for one among those that are right.
pub(super) fn check(connection: &Connection, path: &Path, noted: Option<&[u8]>) -> Result<ChainCheck, Error> {
    let failed = of(path);
    // One state of it, whoever records meanwhile.
    let transaction = connection.unchecked_transaction().map_err(failed)?;
    let chain = ChainBase::read(&transaction).map_err(failed)?;
    let mut check = ChainCheck {
        runs: 0,
        earlier: 0,
        removed: u64::try_from(chain.number).unwrap_or_default(),
        head: None,
        has_head: noted.map(|_| false),
        wrong: None,
    };
    let mut statements = Statements::new(&transaction).map_err(failed)?;
    let mut list =
        transaction.prepare("SELECT number, id, link, base FROM runs ORDER BY number").map_err(failed)?;
    let mut rows = list.query([]).map_err(failed)?;
    let (mut before, mut reached, mut stated) = (chain.link, chain.number, None);
    while let Some(row) = rows.next().map_err(failed)? {
        let (number, base): (i64, i64) = (row.get(0).map_err(failed)?, row.get(3).map_err(failed)?);
        let id: String = row.get(1).map_err(failed)?;
        let link: Option<Vec<u8>> = row.get(2).map_err(failed)?;
        let expected = statements.link(number, &before, chain.earlier).map_err(failed)?;
        let what = if number <= chain.number {
            Some("it lies before the place at which the chain is said to begin")
        } else if number != reached + 1 && number > chain.earlier {
            Some("a record before it was removed")
        } else if link.as_deref() != Some(expected.as_slice()) {
            Some("it, the one before it, or the beginning of the chain is not what was recorded")
        } else {
            None
        };
        if let Some(what) = what {
            check.wrong = Some(ChainFault { execution_id: Some(id), what: what.to_owned() });
            return Ok(check);
        }
        (before, reached, stated) = (expected, number, Some(base));
        *(if number <= chain.earlier { &mut check.earlier } else { &mut check.runs }) += 1;
        check.head = Some(HEXLOWER.encode(&before));
        if noted == Some(before.as_slice()) {
            check.has_head = Some(true);
        }
    }
    let newest = "SELECT seq FROM sqlite_sequence WHERE name = 'runs'";
    let newest: Option<i64> =
        transaction.query_row(newest, [], |row| row.get(0)).optional().map_err(failed)?;
    let what = if newest.unwrap_or_default() > reached {
        Some("the newest records were removed")
    } else if stated.unwrap_or_default() != chain.number {
        // What makes room keeps the newest, and that one says what was removed.
        Some("the oldest records were removed, and not to make room")
    } else {
        None
    };
    check.wrong = what.map(|what| ChainFault { execution_id: None, what: what.to_owned() });
    Ok(check)
}

/// What reads a run for its link.
struct Statements<'c> {
    run: Statement<'c>,
    denials: Statement<'c>,
    classes: Statement<'c>,
}

impl<'c> Statements<'c> {
    fn new(connection: &'c Connection) -> rusqlite::Result<Self> {
        Ok(Self {
            run: connection.prepare(RUN)?,
            denials: connection.prepare(DENIALS)?,
            classes: connection.prepare(CLASSES)?,
        })
    }

    fn link(&mut self, number: i64, before: &Link, earlier: i64) -> rusqlite::Result<Link> {
        let mut hash = Sha256::new();
        hash.update(CONTEXT);
        hash.update(before);
        hash.update(earlier.to_be_bytes());
        for statement in [&mut self.run, &mut self.denials, &mut self.classes] {
            absorb(&mut hash, statement, number)?;
        }
        Ok(hash.finalize().into())
    }
}

/// Every value with its kind and length before it, and every row and table with its end, so that no two contents look alike.
fn absorb(hash: &mut Sha256, statement: &mut Statement<'_>, number: i64) -> rusqlite::Result<()> {
    let columns = statement.column_count();
    let mut rows = statement.query([number])?;
    while let Some(row) = rows.next()? {
        for column in 0..columns {
            let (kind, bytes): (u8, &[u8]) = match row.get_ref(column)? {
                ValueRef::Null => (0, &[]),
                ValueRef::Integer(number) => (1, &number.to_be_bytes()),
                ValueRef::Real(number) => (2, &number.to_be_bytes()),
                ValueRef::Text(text) => (3, text),
                ValueRef::Blob(bytes) => (4, bytes),
            };
            hash.update([kind]);
            hash.update((bytes.len() as u64).to_be_bytes());
            hash.update(bytes);
        }
        hash.update([0xfe]);
    }
    hash.update([0xff]);
    Ok(())
}
