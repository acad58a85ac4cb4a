//! What was recorded of a run, as it is found again.

use std::path::PathBuf;

use data_encoding::HEXLOWER;
use jiff::Timestamp;
use rusqlite::Row;
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::entry::{Classified, Denied, Status};

/// A run as a list shows it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Record {
    /// When it began.
    #[serde(serialize_with = "written")]
    pub timestamp: Timestamp,
    /// Its id.
    pub execution_id: String,
    /// The skill, or the command.
    pub skill: String,
    /// The skill's version.
    pub version: Option<String>,
    /// What ran it.
    pub tool: String,
    /// The values it was given, without secrets.
    pub parameters: Value,
    /// The arguments it was given, without secrets.
    pub arguments: Value,
    /// Who ran it.
    pub user: Option<String>,
    /// How it went.
    pub status: Status,
    /// The same, finer.
    pub ending: String,
    /// How long it took.
    pub duration_ms: u64,
    /// The code that its caller saw.
    pub exit_code: Option<i64>,
    /// Why it did not begin, or was ended.
    pub error: Option<String>,
    /// How many attempts were denied.
    pub denied: u64,
    /// Of how many it is not known what became of them.
    pub unknown: u64,
    /// The classes of what it tried.
    pub classes: Vec<String>,
    /// Whether all that was tried is in the trace.
    pub complete: bool,
    /// Where the trace was written.
    pub trace: Option<PathBuf>,
    /// What the trace's last line was.
    pub digest: Option<String>,
    /// Its link in the chain of all that was recorded, as hexadecimal digits; `None` where somebody took it away.
    pub link: Option<String>,
    /// Whether its trace was signed.
    pub signed: bool,
    /// Whether its trace is kept, however many there are.
    pub pinned: bool,
}

/// All that is known of a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Details {
    /// As a list shows it.
    #[serde(flatten)]
    pub record: Record,
    /// What was denied.
    pub denials: Vec<Denied>,
    /// How many kinds of denied attempts only the trace has.
    pub denials_omitted: u64,
    /// What the attempts amount to.
    pub classifications: Vec<Classified>,
}

/// The columns that [`Record::read`] reads.
pub(super) const COLUMNS: &str = "r.number, r.id, r.started, r.skill, r.version, r.tool, r.parameters, r.arguments, r.user, r.status, r.ending, \
    r.duration_ms, r.exit_code, r.error, r.denied, r.denials_omitted, r.classes, r.complete, r.trace, r.digest, \
    r.unknown, r.link, r.signature IS NOT NULL AS signed, r.pinned";

impl Record {
    pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        let json = |name| -> rusqlite::Result<Value> {
            Ok(serde_json::from_str(&row.get::<_, String>(name)?).unwrap_or(Value::Null))
        };
        let count =
            |name| Ok::<_, rusqlite::Error>(u64::try_from(row.get::<_, i64>(name)?).unwrap_or_default());
        let classes: String = row.get("classes")?;
        Ok(Self {
            timestamp: Timestamp::from_microsecond(row.get("started")?).unwrap_or_default(),
            execution_id: row.get("id")?,
            skill: row.get("skill")?,
            version: row.get("version")?,
            tool: row.get("tool")?,
            parameters: json("parameters")?,
            arguments: json("arguments")?,
            user: row.get("user")?,
            // The table lets nothing else in.
            status: Status::from_name(&row.get::<_, String>("status")?).unwrap_or(Status::Failure),
            ending: row.get("ending")?,
            duration_ms: count("duration_ms")?,
            exit_code: row.get("exit_code")?,
            error: row.get("error")?,
            denied: count("denied")?,
            unknown: count("unknown")?,
            classes: classes.split(' ').filter(|class| !class.is_empty()).map(str::to_owned).collect(),
            complete: row.get("complete")?,
            trace: row.get::<_, Option<Vec<u8>>>("trace")?.map(path),
            digest: row.get("digest")?,
            link: row.get::<_, Option<Vec<u8>>>("link")?.map(|link| HEXLOWER.encode(&link)),
            signed: row.get("signed")?,
            pinned: row.get("pinned")?,
        })
    }
}

/// Milliseconds, always three digits: texts that sort as the times do.
fn written<S: Serializer>(time: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&format!("{time:.3}"))
}

#[cfg(unix)]
fn path(bytes: Vec<u8>) -> PathBuf {
    use std::os::unix::ffi::OsStringExt as _;

    std::ffi::OsString::from_vec(bytes).into()
}

#[cfg(not(unix))]
fn path(bytes: Vec<u8>) -> PathBuf {
    String::from_utf8_lossy(&bytes).into_owned().into()
}
