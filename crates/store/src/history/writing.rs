//! Writes runs into the tables, each with its link; what was prepared for one is used for the next.

use std::path::Path;

use rusqlite::{Connection, Statement, params};
use skillsandbox_run::user_name;

use super::bounds;
use super::chain::{LINK, LinkWriter};
use super::clean::Clean;
use super::error::{Error, of};

/// Denied attempts of one kind that are counted, so that no sum of them overflows.
const MOST_COUNTED: u64 = u32::MAX as u64;
/// How many runs are written before it is looked again whether there is room. The last one of all is always looked at.
const LOOK_EVERY: usize = 64;

/// A run with an id that is in the history already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KnownRun {
    /// It is an error: nobody records a run twice.
    Refuse,
    /// It is left as it is: whoever wrote it was killed before it could say so.
    Skip,
}

/// How much is kept.
#[derive(Debug, Clone, Copy)]
pub(super) struct Room {
    pub(super) runs: u64,
    pub(super) bytes: u64,
}

/// Writes runs within a transaction.
pub(super) struct RunWriter<'c> {
    connection: &'c Connection,
    path: &'c Path,
    room: Room,
    known: Statement<'c>,
    run: Statement<'c>,
    denial: Statement<'c>,
    class: Statement<'c>,
    links: LinkWriter<'c>,
    unlooked: usize,
    /// The last user, and the name: nearly all runs are of one.
    user: Option<(u32, String)>,
}

impl<'c> RunWriter<'c> {
    pub(super) fn new(connection: &'c Connection, path: &'c Path, room: Room) -> Result<Self, Error> {
        Self::prepared(connection, path, room).map_err(of(path))
    }

    fn prepared(connection: &'c Connection, path: &'c Path, room: Room) -> rusqlite::Result<Self> {
        Ok(Self {
            connection,
            path,
            room,
            known: connection.prepare("SELECT 1 FROM runs WHERE id = ?1")?,
            run: connection.prepare(
                "INSERT INTO runs (id, started, skill, version, tool, parameters, arguments, user, status, ending, duration_ms, exit_code,
                    error, denied, denials_omitted, classes, complete, trace, digest, unknown)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20)",
            )?,
            denial: connection.prepare("INSERT INTO denials VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)")?,
            class: connection
                .prepare("INSERT OR IGNORE INTO classes VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)")?,
            links: LinkWriter::new(connection)?,
            unlooked: LOOK_EVERY,
            user: None,
        })
    }

    /// Writes a run and its link; its number and link, or `None` where it was there already. Looks first whether there is room for it, once in a while and for
    /// the last one.
    pub(super) fn write(
        &mut self,
        run: &Clean,
        known: KnownRun,
        is_last: bool,
    ) -> Result<Option<(i64, [u8; LINK])>, Error> {
        let failed = of(self.path);
        // Not by `ON CONFLICT`: that would use up a number, and the chain knows of every number that is missing.
        if known == KnownRun::Skip && self.known.exists([run.id.to_string()]).map_err(failed)? {
            return Ok(None);
        }
        let number = self.insert(run).map_err(failed)?;
        self.unlooked += 1;
        if is_last || self.unlooked >= LOOK_EVERY {
            self.unlooked = 0;
            // First what makes room, which the link then covers.
            bounds::trim(self.connection, self.path, self.room)?;
        }
        let link = self.links.append(number).map_err(failed)?;
        Ok(Some((number, link)))
    }

    /// Writes a run, which has no link yet; its number.
    fn insert(&mut self, run: &Clean) -> rusqlite::Result<i64> {
        let whole = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        let classes: Vec<&str> = run.classes.iter().map(|class| class.class.as_str()).collect();
        let status = run.status.as_str();
        let user = run.user.clone().or_else(|| run.user_id.map(|id| self.name_of(id)));
        self.run.execute(params![
            run.id.to_string(),
            run.started,
            run.skill,
            run.version,
            run.tool,
            run.parameters,
            run.arguments,
            user,
            status,
            run.ending,
            run.duration_ms,
            run.exit_code,
            run.error,
            whole(run.denied),
            whole(run.denials_omitted),
            classes.join(" "),
            run.complete,
            run.trace,
            run.digest,
            whole(run.unknown),
        ])?;
        let number = self.connection.last_insert_rowid();
        for (place, denial) in run.denials.iter().enumerate() {
            let (place, count) = (whole(place as u64), whole(denial.count.min(MOST_COUNTED)));
            self.denial.execute(params![
                number,
                place,
                denial.kind,
                denial.what,
                denial.rule,
                denial.process,
                count,
                denial.declare
            ])?;
        }
        for class in &run.classes {
            self.class.execute(params![
                number,
                class.class,
                class.severity,
                class.prevented,
                class.message,
                run.skill,
                status,
                run.started,
                class.unknown
            ])?;
        }
        Ok(number)
    }

    fn name_of(&mut self, id: u32) -> String {
        match &self.user {
            Some((known, name)) if *known == id => name.clone(),
            _ => {
                let name = bounds::cut(&user_name(Some(id)), bounds::NAME);
                self.user = Some((id, name.clone()));
                name
            }
        }
    }
}
