//! What is written to the history when something was run, or was not.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde_json::{Map, Value};
use skillsandbox_manifest::{Manifest, user_folders};
use skillsandbox_run::{By, Denial, Refusal, Report, Status};
use skillsandbox_store::history::{self, Classified, Denied, Entry, History};
use skillsandbox_tracer::Classification;

use super::flags::Flags;
use crate::output::{message, visible};

/// Where this user's history is.
pub(crate) fn file() -> Option<PathBuf> {
    user_folders::history_file()
}

/// What was asked for: known before anything is run.
#[derive(Debug)]
pub(crate) struct Asked {
    tool: &'static str,
    started: Timestamp,
    parameters: Map<String, Value>,
    arguments: Vec<String>,
    secret_parameters: Vec<String>,
    secrets: Vec<(String, String)>,
}

impl Asked {
    /// Something that is run now, with these arguments. The values of this program's own variables whose names speak of secrets are
    /// kept in no text.
    pub(crate) fn new(tool: &'static str, arguments: &[OsString]) -> Self {
        let variables = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
        Self {
            tool,
            started: Timestamp::now(),
            parameters: Map::new(),
            arguments: arguments.iter().map(|argument| argument.to_string_lossy().into_owned()).collect(),
            secret_parameters: Vec::new(),
            secrets: variables.filter(|(name, _)| skillsandbox_manifest::is_sensitive(name)).collect(),
        }
    }

    /// Values that it may not repeat, such as of variables that are set for the run.
    pub(crate) fn secret(&mut self, name: &str, value: &str) {
        self.secrets.push((name.to_owned(), value.to_owned()));
    }

    /// `NAME=VALUE` pairs as they were typed. A value is kept only if a manifest says that it is no secret: a name that it does not know may
    /// be a secret's that was misspelt.
    pub(crate) fn values<'a>(
        &mut self,
        pairs: impl IntoIterator<Item = &'a str>,
        manifest: Option<&Manifest>,
    ) {
        for pair in pairs {
            let Some((name, text)) = pair.split_once('=') else {
                self.secret("parameter", pair);
                continue;
            };
            let declared = manifest.and_then(|manifest| {
                manifest.parameters().iter().find(|parameter| parameter.name.value == name)
            });
            if declared.is_none_or(|parameter| parameter.secret) {
                self.secret_parameters.push(name.to_owned());
                self.secret(name, text);
            }
            self.parameters.insert(name.to_owned(), text.into());
        }
    }

    /// The same values, as they were read.
    pub(crate) fn read(&mut self, parameters: &Map<String, Value>) {
        self.parameters.clone_from(parameters);
    }

    fn entry(&self, id: uuid::Uuid, skill: &str) -> Entry {
        let mut entry = Entry::new(id, self.started, skill, self.tool);
        entry.parameters.clone_from(&self.parameters);
        entry.arguments.clone_from(&self.arguments);
        entry.secret_parameters.clone_from(&self.secret_parameters);
        entry.secrets.clone_from(&self.secrets);
        entry.user = Some(user());
        entry
    }

    /// Records what a run came to.
    pub(super) fn ended(&self, flags: &Flags, report: &Report) {
        let mut entry = self.entry(report.trace_id, &report.skill);
        entry.version.clone_from(&report.version);
        entry.status = match report.status() {
            Status::Success => history::Status::Success,
            Status::Timeout => history::Status::Timeout,
            _ => history::Status::Failure,
        };
        ending(report).clone_into(&mut entry.ending);
        entry.duration = match &report.ended {
            Ok(ended) => ended.duration,
            Err(_) => std::time::Duration::from_micros(report.summary.duration_us),
        };
        entry.exit_code = Some(report.exit_code().into());
        entry.error = report.error();
        entry.denied = report.summary.denied;
        entry.denials = report.denials.iter().map(denied).collect();
        entry.denials_omitted = report.denials_omitted;
        entry.classes = report.summary.classifications.iter().map(classified).collect();
        entry.complete = report.summary.complete;
        entry.trace = report.trace.as_deref().and_then(|trace| std::path::absolute(trace).ok());
        entry.digest = report.digest.map(|digest| digest.to_string());
        keep(flags, &entry);
    }

    /// Records that something was refused before it had a name, a trace or a report.
    pub(crate) fn refused(&self, flags: &Flags, folder: &Path, refusal: &Refusal) {
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let name = folder.file_name().unwrap_or(folder.as_os_str()).to_string_lossy();
        let mut entry = self.entry(uuid::Uuid::new_v4(), &name);
        "refused".clone_into(&mut entry.ending);
        entry.exit_code = Some(refusal.exit_code().into());
        entry.error = Some(refusal.to_string());
        // There is nothing that could be missing.
        entry.complete = true;
        keep(flags, &entry);
    }
}

/// A history that cannot be written is no reason to do anything else than say so.
fn keep(flags: &Flags, entry: &Entry) {
    if flags.no_history || flags.dry_run {
        return;
    }
    let kept = match file() {
        None => Err("there is no home directory".to_owned()),
        Some(file) => History::open(&file)
            .and_then(|mut history| history.record(entry))
            .map_err(|error| error.to_string()),
    };
    if let Err(error) = kept {
        message(&format!(
            "\u{1b}[33mwarning\u{1b}[0m: this run is not in the history: {}; `--no-history` does without",
            visible(&error)
        ));
    }
}

fn ending(report: &Report) -> &'static str {
    match &report.ended {
        Err(_) => "refused",
        Ok(ended) => match ended.by {
            By::Itself if ended.exit_code.is_some() => "exited",
            By::Itself => "signal",
            By::Timeout => "timeout",
            By::Memory => "memory",
            By::Processes => "processes",
            By::Stopped => "stopped",
            By::Unobserved => "unobserved",
            _ => "limit",
        },
    }
}

fn denied(denial: &Denial) -> Denied {
    Denied {
        kind: denial.kind.to_owned(),
        what: denial.what.clone(),
        rule: denial.rule.clone(),
        process: denial.process.clone(),
        count: denial.count,
        declare: denial.declare.clone(),
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
        message: class.message.clone(),
    }
}

/// Who runs this, as the system has it: a variable would be whatever somebody set it to.
#[cfg(unix)]
fn user() -> String {
    let user = nix::unistd::geteuid();
    let named = nix::unistd::User::from_uid(user).ok().flatten();
    named.map_or_else(|| user.to_string(), |named| named.name)
}

#[cfg(not(unix))]
fn user() -> String {
    std::env::var("USERNAME").unwrap_or_default()
}
