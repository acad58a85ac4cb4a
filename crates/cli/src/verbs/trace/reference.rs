//! Which trace is meant: a file, the last run, or a run by its id or by how that begins.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{Context as _, bail};
use clap::Args;
use skillsandbox_manifest::user_folders;
use skillsandbox_run::{StoredTrace, list_traces};
use skillsandbox_store::history::{Error as HistoryError, Filter, History, Record};

/// Traces that are named where several are meant.
const EXAMPLES: usize = 4;

/// A trace, as a person names it.
#[derive(Debug, Args)]
pub(super) struct TraceReference {
    /// The trace: a file, `-` for standard input, or a run by how its id or its trace's name begins (`skillsandbox history` lists them)
    #[arg(value_name = "FILE|ID", required_unless_present = "last", value_hint = clap::ValueHint::FilePath)]
    trace: Option<PathBuf>,

    /// The trace of the last run
    #[arg(long, conflicts_with = "trace")]
    last: bool,
}

impl TraceReference {
    /// The file that is meant.
    pub(super) fn resolve(&self) -> anyhow::Result<PathBuf> {
        match &self.trace {
            Some(named) => find(named),
            None => last(),
        }
    }
}

/// The file that a name or an id means. A file that is there goes before a run of the same name.
pub(super) fn find(named: &Path) -> anyhow::Result<PathBuf> {
    let is_file = named == Path::new("-") || named.symlink_metadata().is_ok();
    let text = named.to_str().filter(|text| !text.is_empty() && !text.contains('/'));
    let Some(text) = text.filter(|_| !is_file) else { return Ok(named.to_owned()) };
    let mut found: BTreeMap<String, PathBuf> = BTreeMap::new();
    for trace in stored()? {
        if is_meant(&trace, text) {
            found.insert(trace.id.to_string(), trace.path);
        }
    }
    let mut count = found.len();
    if let Some(history) = history()? {
        match history.find(text) {
            Ok(details) => {
                let Record { execution_id, trace, .. } = details.record;
                // In its folder, or where the run was told to write it.
                let at = trace.filter(|trace| trace.symlink_metadata().is_ok());
                match at {
                    Some(trace) => {
                        found.entry(execution_id).or_insert(trace);
                    }
                    None if found.is_empty() => {
                        bail!(
                            "the trace of the run {execution_id} is no longer there; `skillsandbox history show {text}` has what is left"
                        )
                    }
                    None => {}
                }
                count = found.len();
            }
            Err(HistoryError::Ambiguous { count: runs, examples, .. }) => {
                count = count.max(usize::try_from(runs).unwrap_or(usize::MAX));
                for id in examples {
                    found.entry(id).or_default();
                }
            }
            Err(HistoryError::Unknown(_) | HistoryError::NoId(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    if count > 1 {
        let examples: Vec<&str> = found.keys().take(EXAMPLES).map(String::as_str).collect();
        bail!("`{text}` means {count} traces, such as {}: write more of the id", examples.join(", "));
    }
    found.into_values().next().with_context(|| {
        format!("there is no file `{text}`, and no run whose id begins so; `skillsandbox history` lists them")
    })
}

/// Whether a text is how the id, or the name, of a trace begins.
fn is_meant(trace: &StoredTrace, text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let name = trace.path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    trace.id.to_string().starts_with(&lower)
        || trace.id.simple().to_string().starts_with(&lower)
        || name.starts_with(text)
}

/// The trace that was written last, of those that have an end.
fn last() -> anyhow::Result<PathBuf> {
    let newest = stored()?.into_iter().filter(|trace| !trace.is_written()).max_by_key(|trace| trace.modified);
    let mut newest = newest.map(|trace| (trace.modified, trace.path));
    if let Some(history) = history()? {
        // One that was told to write its trace elsewhere.
        let mut recorded = None;
        history.each(&Filter::default(), |record| {
            recorded = record.trace;
            std::ops::ControlFlow::Break(())
        })?;
        let modified = |path: &PathBuf| path.symlink_metadata().and_then(|found| found.modified());
        if let Some(path) = recorded
            && let Ok(when) = modified(&path)
            && newest.as_ref().is_none_or(|(known, _): &(SystemTime, PathBuf)| when > *known)
        {
            newest = Some((when, path));
        }
    }
    newest.map(|(_, path)| path).context("there is no trace yet: `run` and `exec` write them")
}

fn stored() -> anyhow::Result<Vec<StoredTrace>> {
    let Some(folder) = user_folders::traces() else { return Ok(Vec::new()) };
    list_traces(&folder).with_context(|| format!("cannot look through {}", folder.display()))
}

fn history() -> anyhow::Result<Option<History>> {
    Ok(user_folders::history_file().map_or(Ok(None), |file| History::read(&file))?)
}
