//! The tables, and how a database of an earlier version becomes one of this.

use std::path::Path;

use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::chain;
use super::error::{Error, of};

/// Says that a database is a history of ours: the letters `SkSb`.
const APPLICATION: i64 = 0x536b_5362;

/// What each version changed. A version that was released is never edited: the next one is added behind it.
const MIGRATIONS: &[&str] = &[
    // 1. `number` counts runs as they were recorded and is never given twice: what goes first is what has the least. Every filter of a list
    //    has an index that ends in the time, so that the newest are read first and nothing is sorted. `classes` repeats what a run
    //    is filtered by, for the same reason.
    "CREATE TABLE runs (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        started INTEGER NOT NULL,
        skill TEXT NOT NULL,
        version TEXT,
        tool TEXT NOT NULL,
        parameters TEXT NOT NULL,
        arguments TEXT NOT NULL,
        user TEXT,
        status TEXT NOT NULL CHECK (status IN ('success', 'failure', 'timeout')),
        ending TEXT NOT NULL,
        duration_ms INTEGER NOT NULL,
        exit_code INTEGER,
        error TEXT,
        denied INTEGER NOT NULL,
        denials_omitted INTEGER NOT NULL,
        classes TEXT NOT NULL,
        complete INTEGER NOT NULL,
        trace BLOB,
        digest TEXT
     ) STRICT;
     CREATE INDEX runs_by_time ON runs (started);
     CREATE INDEX runs_by_skill ON runs (skill, started);
     CREATE INDEX runs_by_status ON runs (status, started);
     CREATE INDEX runs_by_skill_and_status ON runs (skill, status, started);
     CREATE TABLE denials (
        run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
        place INTEGER NOT NULL,
        kind TEXT NOT NULL,
        what TEXT NOT NULL,
        rule TEXT,
        process TEXT,
        count INTEGER NOT NULL,
        declare TEXT,
        PRIMARY KEY (run, place)
     ) STRICT, WITHOUT ROWID;
     CREATE TABLE classes (
        run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
        class TEXT NOT NULL,
        severity TEXT NOT NULL,
        prevented INTEGER NOT NULL,
        message TEXT NOT NULL,
        skill TEXT NOT NULL,
        status TEXT NOT NULL,
        started INTEGER NOT NULL,
        PRIMARY KEY (run, class)
     ) STRICT, WITHOUT ROWID;
     CREATE INDEX classes_by_time ON classes (class, started, run, skill, status);
     CREATE INDEX classes_by_skill ON classes (class, skill, started, run, status);",
    // 2. The chain (chain.rs): `link` is a run's own, `chain` says what the oldest goes on from, and `base` what that was when the run was recorded. What was
    //    recorded before is chained by `chain::begin`. Verdicts may be unknown; traces may be signed; a run that is pinned keeps its trace.
    "ALTER TABLE runs ADD COLUMN unknown INTEGER NOT NULL DEFAULT 0;
     ALTER TABLE runs ADD COLUMN link BLOB;
     ALTER TABLE runs ADD COLUMN base INTEGER NOT NULL DEFAULT 0;
     ALTER TABLE runs ADD COLUMN signature TEXT;
     ALTER TABLE runs ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0;
     CREATE INDEX runs_pinned ON runs (number) WHERE pinned <> 0;
     ALTER TABLE classes ADD COLUMN unknown INTEGER NOT NULL DEFAULT 0;
     CREATE TABLE chain (
        one INTEGER PRIMARY KEY CHECK (one = 1),
        number INTEGER NOT NULL,
        link BLOB NOT NULL,
        earlier INTEGER NOT NULL
     ) STRICT;",
];
/// The version that has a chain.
const CHAINED: i64 = 2;

/// The version that this program writes.
pub(super) fn newest() -> i64 {
    last(MIGRATIONS)
}

fn last(migrations: &[&str]) -> i64 {
    i64::try_from(migrations.len()).unwrap_or(i64::MAX)
}

/// Whether this is a history, and of which version. 0 for an empty file.
pub(super) fn version(connection: &Connection, path: &Path) -> Result<i64, Error> {
    let pragma = |name: &str| -> Result<i64, Error> {
        connection.pragma_query_value(None, name, |row| row.get(0)).map_err(of(path))
    };
    // In this order: whoever makes the tables meanwhile does so together with the other two, so that what comes later is never older.
    let tables: i64 =
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).map_err(of(path))?;
    let version = pragma("user_version")?;
    let application = pragma("application_id")?;
    if application == APPLICATION {
        return if version > newest() {
            Err(Error::Newer { path: path.to_owned(), found: version, known: newest() })
        } else {
            Ok(version)
        };
    }
    if application != 0 || version != 0 || tables != 0 {
        return Err(Error::Foreign { path: path.to_owned() });
    }
    Ok(0)
}

/// Brings a database to this version, as a whole or not at all.
pub(super) fn migrate(connection: &mut Connection, path: &Path) -> Result<(), Error> {
    migrate_by(MIGRATIONS, connection, path)
}

fn migrate_by(migrations: &[&str], connection: &mut Connection, path: &Path) -> Result<(), Error> {
    if version(connection, path)? == last(migrations) {
        return Ok(());
    }
    let failed = of(path);
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
    // Another process may have done it while this one waited.
    let version = version(&transaction, path)?;
    step_by_step(migrations, &transaction, version).map_err(failed)?;
    transaction.commit().map_err(failed)
}

fn step_by_step(migrations: &[&str], transaction: &Transaction<'_>, version: i64) -> rusqlite::Result<()> {
    for migration in migrations.iter().skip(usize::try_from(version).unwrap_or_default()) {
        transaction.execute_batch(migration)?;
    }
    if version < CHAINED && CHAINED <= last(migrations) {
        chain::begin(transaction)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION)?;
    transaction.pragma_update(None, "user_version", last(migrations))
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: &str = "INSERT INTO runs (id, started, skill, tool, parameters, arguments, status, ending, duration_ms, denied,
        denials_omitted, classes, complete) VALUES ('x', 1, 's', 't', '{}', '[]', 'success', 'exited', 1, 0, 0, '', 1)";

    fn number(connection: &Connection, sql: &str) -> i64 {
        connection.query_row(sql, [], |row| row.get(0)).unwrap()
    }

    #[test]
    fn a_database_of_an_earlier_version_keeps_what_it_has() {
        let path = Path::new("history.db");
        let mut connection = Connection::open_in_memory().unwrap();
        migrate_by(&MIGRATIONS[..1], &mut connection, path).unwrap();
        connection.execute_batch(RUN).unwrap();
        let next = [MIGRATIONS, &["ALTER TABLE runs ADD COLUMN host TEXT"]].concat();
        let wrong = [&next[..], &["ALTER TABLE runs ADD COLUMN host TEXT"]].concat();
        // All steps or none.
        assert!(migrate_by(&wrong, &mut connection, path).is_err());
        assert_eq!(number(&connection, "PRAGMA user_version"), 1);
        assert!(connection.prepare("SELECT host FROM runs").is_err());
        migrate_by(&next, &mut connection, path).unwrap();
        assert_eq!(number(&connection, "SELECT count(*) FROM runs WHERE host IS NULL"), 1);
        assert_eq!(number(&connection, "PRAGMA user_version"), last(&next));
    }

    #[test]
    fn the_tables_let_nothing_else_in() {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection, Path::new("history.db")).unwrap();
        for wrong in [RUN.replace("'success'", "'fine'"), RUN.replace("('x', 1", "('x', 'yesterday'")] {
            assert!(connection.execute_batch(&wrong).is_err(), "{wrong}");
        }
        connection.execute_batch(RUN).unwrap();
    }
}
