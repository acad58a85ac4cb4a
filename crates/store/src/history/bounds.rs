//! How much of a run is kept. Whoever wrote a skill chooses names, paths and messages, and must not be able to fill a disk with them.

use std::path::Path;

use rusqlite::Connection;

use super::chain;
use super::error::{Error, of};
use super::writing::Room;

/// Runs that are kept unless something else is said; the oldest go first.
pub const KEEP: u64 = 1_000_000;
/// Bytes that the database may use; the oldest runs go before it uses more. A million ordinary runs take about half of it.
pub const MAX_BYTES: u64 = 2 << 30;
/// Characters of a name: a skill's, a user's, a tool's.
pub(super) const NAME: usize = 200;
/// Characters of a text: one value, one argument, one denial.
pub(super) const TEXT: usize = 1000;
/// Characters of an error, which may be of several lines.
pub(super) const ERROR: usize = 4000;
/// Characters of a text that are searched for secrets; of a longer one the rest is not kept in any case.
pub(super) const LOOKED_AT: usize = 64 * 1024;
/// Bytes of all parameters together, and of all arguments together.
pub(super) const VALUES: usize = 16 * 1024;
/// How deep parameters are kept.
pub(super) const DEPTH: usize = 16;
/// Kinds of denied attempts that are kept of a run; its trace has all of them.
pub(super) const DENIALS: usize = 50;
/// Classes that are kept of a run; there are fewer.
pub(super) const CLASSES: usize = 32;
/// What stands behind a text that was cut.
pub(super) const CUT: &str = "[CUT]";

/// Runs that are removed at a time where there is no more room.
const BATCH: i64 = 500;
/// How often, at most, for one run that is recorded: a database that was made with wider bounds shrinks over several.
const BATCHES: usize = 20;

/// The beginning of a text, and a mark if that is not all.
pub(super) fn cut(text: &str, most: usize) -> String {
    skillsandbox_text::shorten(text, most, CUT)
}

/// Removes the oldest runs, as far as there are too many of them or they take too much room.
pub(super) fn trim(connection: &Connection, path: &Path, room: Room) -> Result<(), Error> {
    let failed = of(path);
    let keep = i64::try_from(room.runs).unwrap_or(i64::MAX);
    // Numbers are given once and in order, so this needs no counting.
    let newest: i64 = connection
        .query_row("SELECT coalesce(max(number), 0) FROM runs", [], |row| row.get(0))
        .map_err(failed)?;
    // A little at a time: a run does not wait for a million to be removed.
    let most = BATCH * i64::try_from(BATCHES).unwrap_or(1);
    let oldest = oldest(connection).map_err(failed)?;
    let last = newest.saturating_sub(keep).min(oldest.saturating_add(most));
    chain::move_base(connection, last).map_err(failed)?;
    connection.execute("DELETE FROM runs WHERE number <= ?1", [last]).map_err(failed)?;
    for _ in 0..BATCHES {
        if used(connection).map_err(failed)? <= room.bytes {
            break;
        }
        let oldest = self::oldest(connection).map_err(failed)?;
        // The newest is what this is about.
        let last = oldest.saturating_add(BATCH).min(newest - 1);
        chain::move_base(connection, last).map_err(failed)?;
        if connection.execute("DELETE FROM runs WHERE number <= ?1", [last]).map_err(failed)? == 0 {
            break;
        }
    }
    Ok(())
}

fn oldest(connection: &Connection) -> rusqlite::Result<i64> {
    connection.query_row("SELECT coalesce(min(number), 0) FROM runs", [], |row| row.get(0))
}

/// Bytes in use; what was freed is used again before the file grows.
fn used(connection: &Connection) -> rusqlite::Result<u64> {
    let pragma = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let pages = pragma("page_count")?.saturating_sub(pragma("freelist_count")?);
    Ok(u64::try_from(pages.saturating_mul(pragma("page_size")?)).unwrap_or_default())
}
