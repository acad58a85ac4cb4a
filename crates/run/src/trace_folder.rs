//! The folder of traces: no more of them than there is room for, the oldest go first.
//!
//! A trace that the history pins is never removed, nor one that is being written, nor anything that is not called as a trace of ours is. Where
//! nobody can say what is pinned, nothing is removed.

use std::collections::BTreeSet;
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
}

impl Default for TraceBudget {
    /// 1 GiB and 10,000 traces: an ordinary run leaves some 100 KiB.
    fn default() -> Self {
        Self { bytes: 1 << 30, traces: 10_000 }
    }
}

impl TraceBudget {
    /// So many bytes and so many traces.
    #[must_use]
    pub fn new(bytes: u64, traces: usize) -> Self {
        Self { bytes, traces }
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

/// One trace, with its signature where it has one.
struct TraceFile {
    modified: SystemTime,
    path: PathBuf,
    bytes: u64,
    id: Uuid,
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
    let mut traces = list(folder)?;
    traces.sort_by(|a, b| (a.modified, &a.path).cmp(&(b.modified, &b.path)));
    let mut done = PrunedTraces {
        left: traces.len(),
        left_bytes: traces.iter().map(|trace| trace.bytes).sum(),
        ..PrunedTraces::default()
    };
    for trace in traces {
        if done.left <= budget.traces && done.left_bytes <= budget.bytes {
            break;
        }
        if pinned.contains(&trace.id) || is_written(&trace.path) {
            continue;
        }
        if mode == PruneMode::Remove {
            match fs::remove_file(&trace.path) {
                // Somebody else was faster.
                Err(error) if error.kind() != io::ErrorKind::NotFound => continue,
                _ => {}
            }
            // A signature without its trace says nothing.
            let _ = fs::remove_file(signature(&trace.path));
        }
        done.left -= 1;
        done.left_bytes -= trace.bytes;
        done.freed += trace.bytes;
        done.removed.push(trace.path);
    }
    Ok(done)
}

/// The traces of a folder: plain files that are called so.
fn list(folder: &Path) -> io::Result<Vec<TraceFile>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut traces = Vec::new();
    for entry in entries {
        let path = entry?.path();
        let Some(id) = path.file_name().and_then(|name| name.to_str()).and_then(trace_id) else { continue };
        // Of the name itself: a link is nobody's trace.
        let Ok(found) = path.symlink_metadata() else { continue };
        if found.is_file() {
            let signed = signature(&path).symlink_metadata().map_or(0, |signature| signature.len());
            let modified = found.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            traces.push(TraceFile { modified, path, bytes: found.len().saturating_add(signed), id });
        }
    }
    Ok(traces)
}

fn signature(trace: &Path) -> PathBuf {
    let mut name = trace.as_os_str().to_owned();
    name.push(".sig");
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
