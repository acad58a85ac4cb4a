//! The chain of what was recorded: the link of a run is a hash of the link before it and of all that is kept of the run.
//!
//! Whoever edits, removes or inserts a record has to write every later link anew, and then the newest link, the head, is another one. The chain
//! has no key: its owner can do that. A head that was signed or noted elsewhere tells.

use std::path::Path;

use data_encoding::HEXLOWER;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension as _, Statement};
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use super::error::{Error, of};

/// What the first link of all is made of, and every one begins with.
const CONTEXT: &[u8] = b"skillsandbox.history/1\n";

/// The bytes of a link.
pub(super) const LINK: usize = 32;

type Link = [u8; LINK];

/// All that is kept of a run. A column that is added by a later version has to be added here, in a chain of another version.
const RUN: &str = "SELECT number, id, started, skill, version, tool, parameters, arguments, user, status, ending, duration_ms, exit_code, error, \
    denied, unknown, denials_omitted, classes, complete, trace, digest FROM runs WHERE number = ?1";
const DENIALS: &str =
    "SELECT place, kind, what, rule, process, count, declare FROM denials WHERE run = ?1 ORDER BY place";
const CLASSES: &str = "SELECT class, severity, prevented, unknown, message, skill, status, started FROM classes WHERE run = ?1 \
    ORDER BY class";

/// What came of checking the chain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ChainCheck {
    /// Runs whose links are right.
    pub runs: u64,
    /// Runs from before there was a chain: nothing is known of those.
    pub earlier: u64,
    /// The newest link, as hexadecimal digits, where there is one.
    pub head: Option<String>,
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

/// Makes the link of a run that was just written, and keeps it.
pub(super) fn append(connection: &Connection, number: i64) -> rusqlite::Result<Link> {
    let before = previous(connection, number)?;
    let link = Statements::new(connection)?.link(number, &before)?;
    connection.execute("UPDATE runs SET link = ?2 WHERE number = ?1", (number, link.as_slice()))?;
    Ok(link)
}

/// The link that the chain goes on from, before this run.
fn previous(connection: &Connection, number: i64) -> rusqlite::Result<Link> {
    let (base, link) = base(connection)?;
    let before = "SELECT link FROM runs WHERE number < ?1 AND number > ?2 ORDER BY number DESC LIMIT 1";
    let before: Option<Option<Vec<u8>>> =
        connection.query_row(before, (number, base), |row| row.get(0)).optional()?;
    Ok(match before {
        // One that has lost its link is found by whoever checks; the chain goes on from nothing.
        Some(found) => found.and_then(|found| found.try_into().ok()).unwrap_or_default(),
        None => link,
    })
}

/// The last run that is not in the chain any more, or never was, and the link that the next one goes on from.
fn base(connection: &Connection) -> rusqlite::Result<(i64, Link)> {
    connection.query_row("SELECT number, link FROM chain", [], |row| {
        let link: Vec<u8> = row.get(1)?;
        Ok((row.get(0)?, link.try_into().unwrap_or_default()))
    })
}

/// The runs up to this number are about to be removed: the chain then begins behind them.
pub(super) fn move_base(connection: &Connection, last: i64) -> rusqlite::Result<()> {
    let sql = "UPDATE chain SET (number, link) = (SELECT number, link FROM runs WHERE number <= ?1 AND link IS NOT NULL \
        ORDER BY number DESC LIMIT 1) WHERE EXISTS (SELECT 1 FROM runs WHERE number <= ?1 AND link IS NOT NULL)";
    connection.execute(sql, [last])?;
    Ok(())
}

/// Checks every link.
pub(super) fn check(connection: &Connection, path: &Path) -> Result<ChainCheck, Error> {
    let failed = of(path);
    // One state of it, whoever records meanwhile.
    let transaction = connection.unchecked_transaction().map_err(failed)?;
    let (base, mut before) = base(&transaction).map_err(failed)?;
    let earlier = "SELECT count(*) FROM runs WHERE number <= ?1";
    let earlier: i64 = transaction.query_row(earlier, [base], |row| row.get(0)).map_err(failed)?;
    let mut check =
        ChainCheck { runs: 0, earlier: u64::try_from(earlier).unwrap_or_default(), head: None, wrong: None };
    let mut statements = Statements::new(&transaction).map_err(failed)?;
    let list = "SELECT number, id, link FROM runs WHERE number > ?1 ORDER BY number";
    let mut list = transaction.prepare(list).map_err(failed)?;
    let mut rows = list.query([base]).map_err(failed)?;
    let mut reached = base;
    while let Some(row) = rows.next().map_err(failed)? {
        let read =
            || Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?, row.get::<_, Option<Vec<u8>>>(2)?));
        let (number, id, link) = read().map_err(failed)?;
        let expected = statements.link(number, &before).map_err(failed)?;
        let what = if number != reached + 1 {
            Some("a record before it was removed")
        } else if link.as_deref() != Some(expected.as_slice()) {
            Some("it, or the one before it, is not what was recorded")
        } else {
            None
        };
        if let Some(what) = what {
            check.wrong = Some(ChainFault { execution_id: Some(id), what: what.to_owned() });
            return Ok(check);
        }
        (before, reached) = (expected, number);
        check.runs += 1;
        check.head = Some(HEXLOWER.encode(&before));
    }
    let newest = "SELECT seq FROM sqlite_sequence WHERE name = 'runs'";
    let newest: Option<i64> =
        transaction.query_row(newest, [], |row| row.get(0)).optional().map_err(failed)?;
    if newest.unwrap_or_default() > reached {
        let what = "the newest records were removed".to_owned();
        check.wrong = Some(ChainFault { execution_id: None, what });
    }
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

    fn link(&mut self, number: i64, before: &Link) -> rusqlite::Result<Link> {
        let mut hash = Sha256::new();
        hash.update(CONTEXT);
        hash.update(before);
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
