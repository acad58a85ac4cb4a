//! Where runs are recorded when they have ended: a caller that runs something has to name the place.

use std::ffi::OsString;
use std::fmt;
use std::path::Path;

use jiff::Timestamp;
use serde_json::{Map, Value};
use skillsandbox_manifest::Manifest;
use skillsandbox_text::Secret;
use skillsandbox_tracer::TraceHeader;
use uuid::Uuid;

use crate::job::{Job, secret_variables};
use crate::refusal::Refusal;
use crate::report::RunReport;
use crate::skill::{LoadedSkill, SkillCall};

/// A history of runs.
///
/// [`run`](crate::run), [`run_skill`](crate::run_skill) and [`ConfinedGit`](crate::ConfinedGit) record what each run came to, refused ones
/// too, so that no caller can forget it. `skillsandbox-store` has one in a database; [`Unrecorded`] is none.
pub trait RunHistory: Send + Sync {
    /// Keeps what was asked for and what came of it. What is secret in it is for the history to leave out.
    ///
    /// # Errors
    /// A history that cannot be written. The run is what it was; its report says so.
    fn record(&self, request: &RunRequest, report: &RunReport) -> Result<(), HistoryError>;

    /// The runs whose traces are kept, however many there are. Where that cannot be said, no trace is removed.
    ///
    /// # Errors
    /// No history, or one that cannot be read.
    fn pinned_traces(&self) -> Result<Vec<Uuid>, HistoryError> {
        Err("there is no history to ask".into())
    }

    /// Whether [`do_upkeep`](RunHistory::do_upkeep) should be called soon. Asking costs nothing.
    fn is_upkeep_due(&self) -> bool {
        false
    }

    /// Does what a history leaves for later so that no run waits for it. [`tidy`](crate::tidy) calls it.
    ///
    /// # Errors
    /// A history that cannot be written. Nothing that was recorded is lost.
    fn do_upkeep(&self) -> Result<(), HistoryError> {
        Ok(())
    }
}

/// Why a run is not in the history.
pub type HistoryError = Box<dyn std::error::Error + Send + Sync>;

/// No history: nobody will know later that something was run.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unrecorded;

impl RunHistory for Unrecorded {
    fn record(&self, _: &RunRequest, _: &RunReport) -> Result<(), HistoryError> {
        Ok(())
    }
}

/// What was asked for, known before anything is run.
#[derive(Clone)]
#[non_exhaustive]
pub struct RunRequest {
    /// What asked: `run`, `exec`, `git`, or the tool of a server.
    pub tool: String,
    /// When.
    pub started: Timestamp,
    /// Who, by number; `None` where the system has no numbers for users. [`user_name`] says the name.
    pub user_id: Option<u32>,
    /// The values that were given, by name.
    pub parameters: Map<String, Value>,
    /// The arguments that were given.
    pub arguments: Vec<String>,
    /// Names of parameters whose values are secrets, whatever they are called.
    pub secret_parameters: Vec<String>,
    /// Values that may be in no text that is kept, by name.
    pub secrets: Vec<(String, Secret)>,
}

/// Without values: they may be secrets.
impl fmt::Debug for RunRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunRequest")
            .field("tool", &self.tool)
            .field("started", &self.started)
            .field("user_id", &self.user_id)
            .finish_non_exhaustive()
    }
}

impl RunRequest {
    /// Something that is asked for now, with these arguments. The values of this program's own variables whose names speak of secrets are
    /// secrets.
    #[must_use]
    pub fn new<'a>(tool: impl Into<String>, arguments: impl IntoIterator<Item = &'a OsString>) -> Self {
        let arguments = arguments.into_iter().map(|argument| argument.to_string_lossy().into_owned());
        Self {
            tool: tool.into(),
            started: Timestamp::now(),
            user_id: user_id(),
            parameters: Map::new(),
            arguments: arguments.collect(),
            secret_parameters: Vec::new(),
            secrets: secret_variables(),
        }
    }

    /// With `NAME=VALUE` pairs as they were typed. A value is no secret only where a manifest says so: a name that it does not know may be
    /// a secret's that was misspelt.
    #[must_use]
    pub fn typed_values<'a>(
        mut self,
        pairs: impl IntoIterator<Item = &'a str>,
        manifest: Option<&Manifest>,
    ) -> Self {
        for pair in pairs {
            let Some((name, text)) = pair.split_once('=') else {
                self.secrets.push(("parameter".to_owned(), pair.into()));
                continue;
            };
            if !manifest.is_some_and(|manifest| is_public(manifest, name)) {
                self.secret_parameters.push(name.to_owned());
                self.secrets.push((name.to_owned(), text.into()));
            }
            self.parameters.insert(name.to_owned(), text.into());
        }
        self
    }

    /// With values of no type that is known: all of them are secrets, because no manifest could be read that says which are not.
    #[must_use]
    pub fn unknown_values(mut self, values: &Map<String, Value>) -> Self {
        self.parameters.clone_from(values);
        self.secret_parameters = values.keys().cloned().collect();
        self
    }

    /// A call of a skill.
    pub(crate) fn of_call(tool: impl Into<String>, skill: &LoadedSkill, call: &SkillCall) -> Self {
        let mut request = Self::new(tool, &call.arguments);
        request.parameters.clone_from(&call.parameters);
        let secret = call.parameters.keys().filter(|name| !is_public(skill.manifest(), name));
        request.secret_parameters = secret.cloned().collect();
        let granted = skill.describe_grants();
        if !granted.is_empty() {
            // No parameter can have this name.
            request.parameters.insert(GRANTED.to_owned(), granted.into());
        }
        request
    }

    /// A job that was described by hand.
    pub(crate) fn of_job(tool: impl Into<String>, job: &Job) -> Self {
        Self::new(tool, std::iter::once(&job.program).chain(&job.arguments))
    }
}

/// Under what the history keeps what a person granted for one run.
const GRANTED: &str = "granted for this run";

/// Whether a manifest knows a parameter, and does not say that it is secret.
fn is_public(manifest: &Manifest, name: &str) -> bool {
    let declared = manifest.parameters().iter().find(|parameter| parameter.name.value == name);
    declared.is_some_and(|parameter| !parameter.secret)
}

/// Records that a skill was refused before it could be loaded, and so before it had a name or a trace. Its folder's name stands for it.
pub fn refuse_unloaded(
    folder: &Path,
    request: &RunRequest,
    history: &dyn RunHistory,
    refusal: Refusal,
) -> RunReport {
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let name = folder.file_name().unwrap_or(folder.as_os_str()).to_string_lossy().into_owned();
    let mut report = RunReport::refused(TraceHeader::new(name, ""), refusal);
    // There is nothing that could be missing.
    report.summary.complete = true;
    report.recorded_in(history, request)
}

/// Who runs this, as the system has it: a variable would be whatever somebody set it to.
#[allow(clippy::unnecessary_wraps, reason = "not every system has numbers for users")]
fn user_id() -> Option<u32> {
    #[cfg(unix)]
    return Some(nix::unistd::geteuid().as_raw());
    #[cfg(not(unix))]
    None
}

/// The name of a user; the number where there is none. Looking it up reads several files of the system, so a run leaves it to whoever takes its record in.
#[must_use]
pub fn user_name(id: Option<u32>) -> String {
    #[cfg(unix)]
    if let Some(id) = id.map(nix::unistd::Uid::from_raw) {
        let named = nix::unistd::User::from_uid(id).ok().flatten();
        return named.map_or_else(|| id.to_string(), |named| named.name);
    }
    let _ = id;
    std::env::var("USERNAME").unwrap_or_default()
}
