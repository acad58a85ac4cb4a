//! Which runs are meant, and how they are found.

use std::ops::ControlFlow;
use std::path::Path;

use jiff::Timestamp;
use rusqlite::types::Value as Sql;
use rusqlite::{Connection, params_from_iter};

use super::entry::{Classified, Denied, Status};
use super::error::{Error, of};
use super::record::{COLUMNS, Details, Record};

/// Ids that are named where one that was asked for begins several.
const EXAMPLES: usize = 3;

/// Which runs are meant. Without anything, all of them.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Filter {
    /// Only of this skill, by its whole name.
    pub skill: Option<String>,
    /// Not before.
    pub since: Option<Timestamp>,
    /// Before, and not at.
    pub until: Option<Timestamp>,
    /// Only those that went so.
    pub status: Option<Status>,
    /// Only those with attempts of this class.
    pub class: Option<String>,
    /// No more than so many, the newest.
    pub limit: Option<u64>,
}

impl Filter {
    /// What a row of `table` has to be, in SQL, and the values that it is about.
    pub(super) fn conditions(&self, table: char) -> (String, Vec<Sql>) {
        let mut conditions = Vec::new();
        let mut values = Vec::new();
        let mut add = |condition: &str, value: Sql| {
            values.push(value);
            conditions.push(format!("{table}.{condition} ?{}", values.len()));
        };
        if let Some(class) = &self.class {
            add("class =", class.clone().into());
        }
        if let Some(skill) = &self.skill {
            add("skill =", skill.clone().into());
        }
        if let Some(status) = self.status {
            add("status =", status.as_str().to_owned().into());
        }
        if let Some(since) = self.since {
            add("started >=", since.as_microsecond().into());
        }
        if let Some(until) = self.until {
            add("started <", until.as_microsecond().into());
        }
        let conditions =
            if conditions.is_empty() { String::new() } else { format!("WHERE {}", conditions.join(" AND ")) };
        (conditions, values)
    }

    /// The rows of runs that are meant, as `r`, newest first.
    fn list(&self) -> (String, Vec<Sql>) {
        let (conditions, mut values) = self.conditions(if self.class.is_some() { 'c' } else { 'r' });
        let limit = self.limit.map_or(-1, |limit| i64::try_from(limit).unwrap_or(i64::MAX));
        values.push(limit.into());
        let place = values.len();
        let sql = if self.class.is_some() {
            // `CROSS` keeps SQLite from beginning with the runs: the classes are in order and know all that is asked.
            format!(
                "SELECT {COLUMNS} FROM classes c CROSS JOIN runs r ON r.number = c.run {conditions} \
                 ORDER BY c.started DESC, c.run DESC LIMIT ?{place}"
            )
        } else {
            format!(
                "SELECT {COLUMNS} FROM runs r {conditions} ORDER BY r.started DESC, r.number DESC LIMIT ?{place}"
            )
        };
        (sql, values)
    }
}

/// Hands over the runs that are meant, newest first, one at a time, until one is answered with a break.
pub(super) fn each(
    connection: &Connection,
    path: &Path,
    filter: &Filter,
    mut told: impl FnMut(Record) -> ControlFlow<()>,
) -> Result<(), Error> {
    let failed = of(path);
    let (sql, values) = filter.list();
    let mut statement = connection.prepare(&sql).map_err(failed)?;
    let mut rows = statement.query(params_from_iter(values)).map_err(failed)?;
    while let Some(row) = rows.next().map_err(failed)? {
        if told(Record::read(row).map_err(failed)?).is_break() {
            break;
        }
    }
    Ok(())
}

/// The run whose id begins so, if it is one.
pub(super) fn find(connection: &Connection, path: &Path, id: &str) -> Result<Details, Error> {
    let failed = of(path);
    let id = id.to_ascii_lowercase();
    if id.is_empty() || id.len() > 36 || !id.bytes().all(|c| c.is_ascii_hexdigit() || c == b'-') {
        return Err(Error::NoId(id));
    }
    // No digit or hyphen comes after `f`, so `g` is behind all that begin so.
    let range = "r.id >= ?1 AND r.id < ?1 || 'g'";
    let count = format!("SELECT count(*) FROM runs r WHERE {range}");
    let count: i64 = connection.query_row(&count, [&id], |row| row.get(0)).map_err(failed)?;
    if count != 1 {
        let some = format!("SELECT r.id FROM runs r WHERE {range} ORDER BY r.id LIMIT {EXAMPLES}");
        let mut some = connection.prepare(&some).map_err(failed)?;
        let examples = some.query_map([&id], |row| row.get(0)).map_err(failed)?;
        let examples: Vec<String> = examples.collect::<Result<_, _>>().map_err(failed)?;
        return Err(match u64::try_from(count).unwrap_or_default() {
            0 => Error::Unknown(id),
            count => Error::Ambiguous { id, count, examples },
        });
    }
    let sql = format!("SELECT {COLUMNS} FROM runs r WHERE {range}");
    let read = |row: &rusqlite::Row<'_>| {
        let omitted = u64::try_from(row.get::<_, i64>("denials_omitted")?).unwrap_or_default();
        Ok((row.get::<_, i64>("number")?, omitted, Record::read(row)?))
    };
    let (number, denials_omitted, record) = connection.query_row(&sql, [&id], read).map_err(failed)?;
    Ok(Details {
        record,
        denials: denials(connection, number).map_err(failed)?,
        denials_omitted,
        classifications: classes(connection, number).map_err(failed)?,
    })
}

fn denials(connection: &Connection, number: i64) -> rusqlite::Result<Vec<Denied>> {
    let sql = "SELECT kind, what, rule, process, count, declare FROM denials WHERE run = ?1 ORDER BY place";
    let mut statement = connection.prepare(sql)?;
    let read = |row: &rusqlite::Row<'_>| {
        Ok(Denied {
            kind: row.get(0)?,
            what: row.get(1)?,
            rule: row.get(2)?,
            process: row.get(3)?,
            count: u64::try_from(row.get::<_, i64>(4)?).unwrap_or_default(),
            declare: row.get(5)?,
        })
    };
    statement.query_map([number], read)?.collect()
}

fn classes(connection: &Connection, number: i64) -> rusqlite::Result<Vec<Classified>> {
    let sql =
        "SELECT class, severity, prevented, message, unknown FROM classes WHERE run = ?1 ORDER BY class";
    let mut statement = connection.prepare(sql)?;
    let read = |row: &rusqlite::Row<'_>| {
        Ok(Classified {
            class: row.get(0)?,
            severity: row.get(1)?,
            prevented: row.get(2)?,
            message: row.get(3)?,
            unknown: row.get(4)?,
        })
    };
    statement.query_map([number], read)?.collect()
}
