//! The history as `run` knows it: what a run was asked for and came to, as an entry.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use skillsandbox_manifest::user_folders;
use skillsandbox_run::{DeniedAttempt, EndCause, HistoryError, RunHistory, RunReport, RunRequest, RunStatus};
use skillsandbox_tracer::Classification;

use uuid::Uuid;

use super::{Classified, Denied, Entry, History, Status};
use crate::signing::{SigningKey, TraceSignature};

/// A history in a file, which is opened anew for every run that is recorded: a server holds nothing between runs.
///
/// ```no_run
/// use skillsandbox_run::{Job, RunOptions, run};
/// use skillsandbox_store::history::HistoryFile;
///
/// let report = run(&Job::new("true", "true"), &HistoryFile::of_user(), RunOptions::default());
/// assert!(report.history_error.is_none());
/// ```
#[derive(Debug, Clone)]
pub struct HistoryFile {
    path: Option<PathBuf>,
    key: Option<Arc<SigningKey>>,
}

impl HistoryFile {
    /// A history in this file.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: Some(path.into()), key: None }
    }

    /// The user's own. Where there is no home, nothing can be recorded, which is said then.
    #[must_use]
    pub fn of_user() -> Self {
        Self { path: user_folders::history_file(), key: None }
    }

    /// The same, which signs what is recorded: the signature is kept in the history, and beside the trace with `.sig` behind its name.
    #[must_use]
    pub fn signed_with(mut self, key: Arc<SigningKey>) -> Self {
        self.key = Some(key);
        self
    }
}

impl RunHistory for HistoryFile {
    fn record(&self, request: &RunRequest, report: &RunReport) -> Result<(), HistoryError> {
        let path = self.path.as_deref().ok_or("there is no home directory")?;
        let mut history = History::open(path)?;
        let entry = entry(request, report);
        let Some(key) = &self.key else { return Ok(history.record(&entry)?) };
        let signature = history.record_signed(&entry, key)?;
        if let (Some(signature), Some(trace)) = (signature, &entry.trace) {
            let beside = TraceSignature::beside(trace);
            signature
                .write(&beside)
                .map_err(|error| format!("it is there, but the trace has no signature beside it: {error}"))?;
        }
        Ok(())
    }

    fn pinned_traces(&self) -> Result<Vec<Uuid>, HistoryError> {
        let path = self.path.as_deref().ok_or("there is no home directory")?;
        Ok(match History::read(path)? {
            Some(history) => history.pinned()?,
            None => Vec::new(),
        })
    }
}

fn entry(request: &RunRequest, report: &RunReport) -> Entry {
    let mut entry = Entry::new(report.trace_id, request.started, &report.skill, &request.tool);
    entry.version.clone_from(&report.version);
    entry.parameters.clone_from(&request.parameters);
    entry.arguments.clone_from(&request.arguments);
    entry.secret_parameters.clone_from(&request.secret_parameters);
    entry.secrets.clone_from(&request.secrets);
    entry.user = Some(request.user());
    entry.status = match report.status() {
        RunStatus::Success => Status::Success,
        RunStatus::Timeout => Status::Timeout,
        _ => Status::Failure,
    };
    ending(report).clone_into(&mut entry.ending);
    entry.duration = match &report.ended {
        Ok(exit) => exit.duration,
        Err(_) => Duration::from_micros(report.summary.duration_us),
    };
    entry.exit_code = Some(report.exit_code().into());
    entry.error = report.error();
    entry.denied = report.summary.denied;
    entry.unknown = report.summary.unknown;
    entry.denials = report.denied.denials.iter().map(denied).collect();
    entry.denials_omitted = report.denied.omitted;
    entry.classes = report.summary.classifications.iter().map(classified).collect();
    entry.complete = report.summary.complete;
    entry.trace = report.trace.as_deref().and_then(|trace| std::path::absolute(trace).ok());
    entry.digest = report.digest.map(|digest| digest.to_string());
    entry
}

fn ending(report: &RunReport) -> &'static str {
    match &report.ended {
        Err(_) => "refused",
        Ok(exit) => match exit.by {
            EndCause::Itself if exit.exit_code.is_some() => "exited",
            EndCause::Itself => "signal",
            by => by.as_str(),
        },
    }
}

fn denied(denial: &DeniedAttempt) -> Denied {
    Denied {
        kind: denial.kind.to_owned(),
        what: denial.what.clone(),
        rule: denial.rule.clone(),
        process: denial.process.clone(),
        count: denial.count,
        declare: denial.hint.clone(),
    }
}

fn classified(class: &Classification) -> Classified {
    let word = |value: serde_json::Result<Value>| {
        value.ok().and_then(|value| Some(value.as_str()?.to_owned())).unwrap_or_default()
    };
    Classified {
        class: word(serde_json::to_value(class.class)),
        severity: word(serde_json::to_value(class.severity)),
        prevented: class.prevented,
        unknown: class.unknown,
        message: class.message.clone(),
    }
}
