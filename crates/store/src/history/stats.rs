//! What many runs came to.

use std::path::Path;

use rusqlite::types::Value as Sql;
use rusqlite::{Connection, Row, params_from_iter};
use serde::Serialize;

use super::error::{Error, of};
use super::query::Filter;

/// Skills that are counted by name; the others together. No name of a skill is typed by hand so often.
const SKILLS: usize = 100;
/// Denials that are named of each skill.
const DENIALS: usize = 5;

/// What the runs that were asked for came to.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Stats {
    /// All of them.
    pub total: Counts,
    /// By skill, those with the most runs first.
    pub skills: Vec<SkillStats>,
    /// How many skills are not among those.
    pub skills_omitted: u64,
    /// In how many runs each class was found, most first.
    pub classes: Vec<ClassCount>,
}

/// How runs went.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Counts {
    /// All.
    pub runs: u64,
    /// Those that exited with 0.
    pub successes: u64,
    /// Those that did not.
    pub failures: u64,
    /// Those whose time was up.
    pub timeouts: u64,
}

/// What the runs of one skill came to.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SkillStats {
    /// The skill.
    pub skill: String,
    /// How they went.
    #[serde(flatten)]
    pub counts: Counts,
    /// What was denied most often, of what was kept of each run.
    pub top_denials: Vec<DenialCount>,
}

/// How often something was denied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct DenialCount {
    /// What kind of thing.
    pub kind: String,
    /// What.
    pub what: String,
    /// How often it was tried.
    pub count: u64,
    /// In how many runs.
    pub runs: u64,
}

/// In how many runs a class was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ClassCount {
    /// The class.
    pub class: String,
    /// In how many runs.
    pub runs: u64,
}

/// Counts in one transaction, so that all figures are of the same moment.
pub(super) fn stats(connection: &mut Connection, path: &Path, filter: &Filter) -> Result<Stats, Error> {
    let count = |connection: &mut Connection| {
        let transaction = connection.transaction()?;
        count(&transaction, filter)
    };
    count(connection).map_err(of(path))
}

fn count(connection: &Connection, filter: &Filter) -> rusqlite::Result<Stats> {
    let (conditions, values) = filter.conditions('t');
    let table = if filter.class.is_some() { "classes" } else { "runs" };
    let mut stats = Stats::default();
    // The indices have these two columns, so no run itself is read.
    let sql =
        format!("SELECT t.skill, t.status, count(*) FROM {table} t {conditions} GROUP BY t.skill, t.status");
    let mut statement = connection.prepare(&sql)?;
    let mut rows = statement.query(params_from_iter(values.clone()))?;
    while let Some(row) = rows.next()? {
        let (skill, went, count): (String, String, u64) = (row.get(0)?, row.get(1)?, number(row, 2)?);
        if stats.skills.last().is_none_or(|last| last.skill != skill) {
            stats.skills.push(SkillStats { skill, ..SkillStats::default() });
        }
        stats.total.add(&went, count);
        if let Some(last) = stats.skills.last_mut() {
            last.counts.add(&went, count);
        }
    }
    stats.skills.sort_by(|a, b| b.counts.runs.cmp(&a.counts.runs).then_with(|| a.skill.cmp(&b.skill)));
    stats.skills_omitted = stats.skills.len().saturating_sub(SKILLS) as u64;
    stats.skills.truncate(SKILLS);
    for skill in &mut stats.skills {
        let mut of_skill = filter.clone();
        of_skill.skill = Some(skill.skill.clone());
        skill.top_denials = denials(connection, &of_skill)?;
    }
    stats.classes = classes(connection, filter)?;
    Ok(stats)
}

impl Counts {
    fn add(&mut self, status: &str, count: u64) {
        self.runs += count;
        match status {
            "success" => self.successes += count,
            "timeout" => self.timeouts += count,
            _ => self.failures += count,
        }
    }
}

fn denials(connection: &Connection, filter: &Filter) -> rusqlite::Result<Vec<DenialCount>> {
    let (conditions, values) = filter.conditions('t');
    let (table, number_of) = if filter.class.is_some() { ("classes", "run") } else { ("runs", "number") };
    let sql = format!(
        "SELECT d.kind, d.what, sum(d.count), count(*) FROM {table} t CROSS JOIN denials d ON d.run = t.{number_of} \
         {conditions} GROUP BY d.kind, d.what ORDER BY sum(d.count) DESC, d.what LIMIT {DENIALS}"
    );
    let mut statement = connection.prepare(&sql)?;
    let read = |row: &Row<'_>| {
        Ok(DenialCount {
            kind: row.get(0)?,
            what: row.get(1)?,
            count: number(row, 2)?,
            runs: number(row, 3)?,
        })
    };
    statement.query_map(params_from_iter(values), read)?.collect()
}

fn classes(connection: &Connection, filter: &Filter) -> rusqlite::Result<Vec<ClassCount>> {
    let (conditions, values): (String, Vec<Sql>) = filter.conditions('t');
    let sql = format!(
        "SELECT t.class, count(*) FROM classes t {conditions} GROUP BY t.class ORDER BY count(*) DESC, t.class LIMIT 64"
    );
    let mut statement = connection.prepare(&sql)?;
    let read = |row: &Row<'_>| Ok(ClassCount { class: row.get(0)?, runs: number(row, 1)? });
    statement.query_map(params_from_iter(values), read)?.collect()
}

/// A count is not negative.
fn number(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    Ok(u64::try_from(row.get::<_, i64>(column)?).unwrap_or_default())
}
