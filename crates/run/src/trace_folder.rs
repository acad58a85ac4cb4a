//! The folder of traces: no more of them than there is room for, the oldest go first.
//!
//! A trace that the history pins is never removed, nor one that is being written, nor anything that is not called as a trace of ours is. Where
//! nobody can say what is pinned, nothing is removed.

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use uuid::Uuid;

/// How many traces there may be, and how many bytes they may have together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct TraceBudget {
    /// The most bytes.
    pub bytes: u64,
    /// The most traces.
    pub traces: usize,
    /// Those that were written before this go, too.
    pub not_before: Option<SystemTime>,
}

impl Default for TraceBudget {
    /// 1 GiB and 10,000 traces: an ordinary run leaves some 100 KiB.
    fn default() -> Self {
        Self { bytes: 1 << 30, traces: 10_000, not_before: None }
    }
}

impl TraceBudget {
    /// So many bytes and so many traces.
    #[must_use]
    pub fn new(bytes: u64, traces: usize) -> Self {
        Self { bytes, traces, not_before: None }
    }

    /// Also none that was written before.
    #[must_use]
    pub fn not_before(mut self, time: SystemTime) -> Self {
        self.not_before = Some(time);
        self
    }
}

/// What was removed, and what is left.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct PrunedTraces {
    /// Traces that were removed, the oldest first.
    pub removed: Vec<PathBuf>,
    /// Bytes that they had.
    pub freed: u64,
    /// Traces that are left.
    pub left: usize,
    /// Bytes that those have.
    pub left_bytes: u64,
}

/// Whether anything is really removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PruneMode {
    /// It is.
    Remove,
    /// It is only said.
    Show,
}

/// One trace of the folder, with its signature where it has one.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct StoredTrace {
    /// When it was written last.
    pub modified: SystemTime,
    /// Where it is.
    pub path: PathBuf,
    /// Bytes, with those of its signature.
    pub bytes: u64,
    /// The id of its run.
    pub id: Uuid,
}

impl StoredTrace {
    /// Whether a run is writing it: whoever writes a trace holds a lock on it, which the kernel lets go of when the writer ends.
    #[must_use]
    pub fn is_written(&self) -> bool {
        is_written(&self.path)
    }
}

/// Why a trace was not removed that was named.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RemoveTraceError {
    /// It is not in the folder, or not called as a trace of a run is.
    #[error("{} is not in the folder of traces: remove it as you remove any other file", .0.display())]
    Elsewhere(PathBuf),
    /// Somebody wants to keep it.
    #[error("{} is pinned: `skillsandbox history pin --off ID` lets it go", .0.display())]
    Pinned(PathBuf),
    /// A run is writing it.
    #[error("{} belongs to a run that has not ended", .0.display())]
    Written(PathBuf),
    /// The system does not let it go.
    #[error("cannot remove {}: {source}", path.display())]
    Failed {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// Removes these traces of a folder: all of them, or none where one may not go.
///
/// # Errors
/// See [`RemoveTraceError`].
pub fn remove_traces(
    folder: &Path,
    files: &[PathBuf],
    pinned: &[Uuid],
    mode: PruneMode,
) -> Result<PrunedTraces, RemoveTraceError> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source| RemoveTraceError::Failed { path, source }
    };
    let traces = list_traces(folder).map_err(failed(folder))?;
    let mut done = PrunedTraces {
        left: traces.len(),
        left_bytes: traces.iter().map(|trace| trace.bytes).sum(),
        ..PrunedTraces::default()
    };
    let mut wanted: Vec<&StoredTrace> = Vec::new();
    for file in files {
        let found = traces.iter().find(|trace| same_file(&trace.path, file));
        let trace = found.ok_or_else(|| RemoveTraceError::Elsewhere(file.clone()))?;
        if pinned.contains(&trace.id) {
            return Err(RemoveTraceError::Pinned(trace.path.clone()));
        }
        if trace.is_written() {
            return Err(RemoveTraceError::Written(trace.path.clone()));
        }
        if !wanted.iter().any(|known| known.id == trace.id) {
            wanted.push(trace);
        }
    }
    for trace in wanted {
        if mode == PruneMode::Remove {
            remove(&trace.path).map_err(failed(&trace.path))?;
        }
        done.left -= 1;
        done.left_bytes -= trace.bytes;
        done.freed += trace.bytes;
        done.removed.push(trace.path.clone());
    }
    Ok(done)
}

/// Whether two names are those of one file, by the folder they lie in: a link to a trace is another file.
fn same_file(trace: &Path, named: &Path) -> bool {
    let real = |path: &Path| Some((path.parent()?.canonicalize().ok()?, path.file_name()?.to_owned()));
    let named = std::path::absolute(named).unwrap_or_else(|_| named.to_owned());
    real(trace).is_some_and(|trace| real(&named) == Some(trace))
}

/// Removes a trace and its signature, which says nothing without it.
fn remove(trace: &Path) -> io::Result<()> {
    match fs::remove_file(trace) {
        // Somebody else was faster.
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let _ = fs::remove_file(signature(trace));
    Ok(())
}

/// Removes the oldest traces of a folder until the rest is within the budget.
///
/// # Errors
/// A folder that cannot be read. One that is not there has no traces.
pub fn prune_traces(
    folder: &Path,
    budget: TraceBudget,
    pinned: &[Uuid],
    mode: PruneMode,
) -> io::Result<PrunedTraces> {
    let pinned: BTreeSet<Uuid> = pinned.iter().copied().collect();
    let mut traces = list_traces(folder)?;
    traces.sort_by(|a, b| (a.modified, &a.path).cmp(&(b.modified, &b.path)));
    let mut done = PrunedTraces {
        left: traces.len(),
        left_bytes: traces.iter().map(|trace| trace.bytes).sum(),
        ..PrunedTraces::default()
    };
    for trace in traces {
        let is_old = budget.not_before.is_some_and(|oldest| trace.modified < oldest);
        if done.left <= budget.traces && done.left_bytes <= budget.bytes && !is_old {
            break;
        }
        if pinned.contains(&trace.id) || trace.is_written() {
            continue;
        }
        if mode == PruneMode::Remove && remove(&trace.path).is_err() {
            continue;
        }
        done.left -= 1;
        done.left_bytes -= trace.bytes;
        done.freed += trace.bytes;
        done.removed.push(trace.path);
    }
    Ok(done)
}

/// The traces of a folder: plain files that are called so, in no order.
///
/// # Errors
/// A folder that cannot be read. One that is not there has no traces.
pub fn list_traces(folder: &Path) -> io::Result<Vec<StoredTrace>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let (mut traces, mut signatures) = (Vec::new(), HashMap::new());
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name();
        if let Some(signed) = name.to_str().and_then(|name| name.strip_suffix(SIGNATURE)) {
            signatures.insert(OsString::from(signed), entry);
            continue;
        }
        let Some(id) = name.to_str().and_then(trace_id) else { continue };
        // Of the name itself: a link is nobody's trace.
        let Ok(found) = entry.metadata() else { continue };
        if found.is_file() {
            let modified = found.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            traces.push(StoredTrace { modified, path: entry.path(), bytes: found.len(), id });
        }
    }
    // Few traces have one: asking each would be a question more for all of them.
    if !signatures.is_empty() {
        for trace in &mut traces {
            let signature = trace.path.file_name().and_then(|name| signatures.get(name));
            let bytes = signature.and_then(|entry| entry.metadata().ok()).map_or(0, |found| found.len());
            trace.bytes = trace.bytes.saturating_add(bytes);
        }
    }
    Ok(traces)
}

/// What the name of a signature has behind that of its trace.
const SIGNATURE: &str = ".sig";

fn signature(trace: &Path) -> PathBuf {
    let mut name = trace.as_os_str().to_owned();
    name.push(SIGNATURE);
    name.into()
}

/// The id at the end of a name such as `20261117T120000Z-weather-…uuid….json`.
fn trace_id(name: &str) -> Option<Uuid> {
    let stem = name.strip_suffix(".json")?;
    let (rest, id) = stem.split_at_checked(stem.len().checked_sub(36)?)?;
    let when = rest.strip_suffix('-')?.split_once('-')?.0;
    let is_time = when.len() == 16 && when.ends_with('Z') && when.as_bytes().get(8) == Some(&b'T');
    Uuid::parse_str(id).ok().filter(|_| is_time)
}

/// Whether a run is writing it: whoever writes a trace holds a lock on it, which the kernel lets go of when the writer ends.
fn is_written(path: &Path) -> bool {
    File::open(path).is_ok_and(|file| matches!(file.try_lock(), Err(fs::TryLockError::WouldBlock)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(folder: &Path, age: u64, bytes: usize) -> (Uuid, PathBuf) {
        let id = Uuid::new_v4();
        let path = folder.join(format!("20261117T120000Z-a-b-{id}.json"));
        fs::write(&path, vec![b'x'; bytes]).unwrap();
        let when = SystemTime::now() - std::time::Duration::from_secs(age);
        File::options().write(true).open(&path).unwrap().set_modified(when).unwrap();
        (id, path)
    }

    #[test]
    fn row_178_the_oldest_traces_go_first_and_pinned_ones_never() {
        let folder = tempfile::tempdir().unwrap();
        let here = folder.path();
        let oldest = trace(here, 500, 1000);
        let pinned = trace(here, 400, 1000);
        let written = trace(here, 300, 1000);
        let lock = File::open(&written.1).unwrap();
        lock.try_lock().unwrap();
        let middle = trace(here, 200, 1000);
        fs::write(signature(&middle.1), "signature").unwrap();
        let newest = trace(here, 100, 1000);
        let others = ["notes.json", "history.db", "20261117T120000Z-x.json", "x.json.sig"];
        for name in others {
            fs::write(here.join(name), "mine").unwrap();
        }
        std::os::unix::fs::symlink(
            &pinned.1,
            here.join(format!("20261117T120000Z-l-{}.json", Uuid::new_v4())),
        )
        .unwrap();

        let shown = prune_traces(here, TraceBudget::new(2500, 10), &[pinned.0], PruneMode::Show).unwrap();
        assert_eq!(shown.removed, [oldest.1.clone(), middle.1.clone(), newest.1.clone()]);
        assert!(oldest.1.exists());
        let done = prune_traces(here, TraceBudget::new(3000, 10), &[pinned.0], PruneMode::Remove).unwrap();
        assert_eq!(done.removed, [oldest.1, middle.1.clone()]);
        assert_eq!((done.left, done.left_bytes), (3, 3000));
        assert!(
            pinned.1.exists() && written.1.exists() && newest.1.exists() && !signature(&middle.1).exists()
        );
        // By number, too; and what may not go stays, whatever the budget says.
        let done = prune_traces(here, TraceBudget::new(u64::MAX, 0), &[pinned.0], PruneMode::Remove).unwrap();
        assert_eq!((done.removed.as_slice(), done.left), (&[newest.1][..], 2));
        assert!(others.iter().all(|name| here.join(name).exists()));
    }

    #[test]
    fn only_what_is_called_as_a_trace_is_one() {
        let id = "0b7c0000-0000-4000-8000-000000000000";
        assert!(trace_id(&format!("20261117T120000Z-weather-{id}.json")).is_some());
        for other in [
            format!("{id}.json"),
            format!("weather-{id}.json"),
            format!("20261117T120000Z-weather-{id}.json.sig"),
            format!("20261117T120000Z-weather{id}.json"),
            "20261117T120000Z-weather.json".to_owned(),
            format!("20261117T120000Z-weather-{}.json", "é".repeat(18)),
        ] {
            assert_eq!(trace_id(&other), None, "{other}");
        }
    }
}
