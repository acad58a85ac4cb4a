//! What is recorded of a run, as its caller knows it. What may be kept of it is decided in `clean.rs`.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use skillsandbox_text::Secret;
use uuid::Uuid;

use super::clean::Clean;

/// One run, as whoever ran it knows it. Nothing needs to be taken out beforehand: [`History::record`](super::History::record) keeps no secret
/// that it is told of or can recognise, and cuts what is too long.
///
/// ```
/// use skillsandbox_store::history::{Entry, Status};
///
/// let mut entry = Entry::new(uuid::Uuid::new_v4(), jiff::Timestamp::now(), "weather-lookup", "run");
/// entry.parameters.insert("city".into(), "Oslo".into());
/// entry.status = Status::Success;
/// entry.exit_code = Some(0);
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub struct Entry {
    /// Its own id; that of its trace, where it has one.
    pub id: Uuid,
    /// When it began.
    pub started: Timestamp,
    /// The skill, or the command.
    pub skill: String,
    /// The skill's version.
    pub version: Option<String>,
    /// What ran it: `run`, `exec`, or the tool of a server.
    pub tool: String,
    /// The values it was given, by name.
    pub parameters: Map<String, Value>,
    /// The arguments it was given.
    pub arguments: Vec<String>,
    /// Names of parameters that are secrets, whatever they are called.
    pub secret_parameters: Vec<String>,
    /// Values that may be in no text that is kept, by name.
    pub secrets: Vec<(String, Secret)>,
    /// Who ran it.
    pub user: Option<String>,
    /// Who ran it, by number, where no name is said: it is looked up when the record comes into the database.
    pub user_id: Option<u32>,
    /// How it went.
    pub status: Status,
    /// The same, finer: `exited`, `signal`, `memory`, `stopped`, `refused`, ...
    pub ending: String,
    /// How long it took.
    pub duration: Duration,
    /// The code that its caller saw.
    pub exit_code: Option<i32>,
    /// Why it did not begin, or was ended.
    pub error: Option<String>,
    /// How many attempts were denied.
    pub denied: u64,
    /// Of how many nobody saw what became of them.
    pub unknown: u64,
    /// What they were: the first of them.
    pub denials: Vec<Denied>,
    /// How many kinds of attempts are not among those.
    pub denials_omitted: u64,
    /// What the attempts amount to.
    pub classes: Vec<Classified>,
    /// Whether all that was tried is in the trace.
    pub complete: bool,
    /// Where the trace is.
    pub trace: Option<PathBuf>,
    /// What the trace's last line is.
    pub digest: Option<String>,
}

impl Entry {
    /// A run of which nothing more is known: a failure that was given no values.
    #[must_use]
    pub fn new(id: Uuid, started: Timestamp, skill: impl Into<String>, tool: impl Into<String>) -> Self {
        Self {
            id,
            started,
            skill: skill.into(),
            version: None,
            tool: tool.into(),
            parameters: Map::new(),
            arguments: Vec::new(),
            secret_parameters: Vec::new(),
            secrets: Vec::new(),
            user: None,
            user_id: None,
            status: Status::Failure,
            ending: "unknown".to_owned(),
            duration: Duration::ZERO,
            exit_code: None,
            error: None,
            denied: 0,
            unknown: 0,
            denials: Vec::new(),
            denials_omitted: 0,
            classes: Vec::new(),
            complete: false,
            trace: None,
            digest: None,
        }
    }
}

/// As it would be kept: no secret that it names or that can be recognised.
impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let clean = Clean::new(self).ok();
        let mut entry = f.debug_struct("Entry");
        entry.field("id", &self.id).field("started", &self.started).field("status", &self.status);
        entry
            .field("duration", &self.duration)
            .field("exit_code", &self.exit_code)
            .field("denied", &self.denied);
        entry.field("secret_parameters", &self.secret_parameters).field("secrets", &self.secrets);
        if let Some(clean) = &clean {
            entry.field("kept", clean);
        }
        entry.field("complete", &self.complete).field("trace", &self.trace).finish_non_exhaustive()
    }
}

/// How a run went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It exited with 0.
    Success,
    /// It exited with another code, was ended, or did not begin.
    Failure,
    /// Its time was up.
    Timeout,
}

impl Status {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Success, Self::Failure, Self::Timeout];

    /// Its name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Failure => "failure",
            Self::Timeout => "timeout",
        }
    }

    /// By its name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == name)
    }
}

/// Something that a run tried and that was prevented.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Denied {
    /// What kind of thing: `file`, `net_connect`, ...
    pub kind: String,
    /// What, in a line.
    pub what: String,
    /// Which rule prevented it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Who tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process: Option<String>,
    /// How often.
    pub count: u64,
    /// What would have to be declared to allow it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub declare: Option<String>,
}

/// What some attempts of a run amount to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Classified {
    /// The class: `credential_harvesting`, ...
    pub class: String,
    /// How bad it is: `low`, `medium`, `high` or `critical`.
    pub severity: String,
    /// Whether none of these attempts took effect.
    pub prevented: bool,
    /// Whether that is not known; `prevented` is `false` then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unknown: bool,
    /// In words.
    pub message: String,
}
