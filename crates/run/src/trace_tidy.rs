//! Keeps the folder of traces within its budget, and no run waits for it.
//!
//! A file beside the folder has a byte for each trace that was added since the folder was last looked through, and one for each further MiB of a long one. So a run
//! learns by one write whether it is time to look. [`tidy`] looks, after a run and beside the next one; where nobody calls it, the run that finds too
//! many looks itself before it begins.

use std::fs::{File, OpenOptions};
use std::io::{self, Seek as _, Write as _};
use std::path::{Path, PathBuf};

use skillsandbox_manifest::user_folders;
use skillsandbox_tracer::Event;

use crate::history::{HistoryError, RunHistory};
use crate::session::note;
use crate::trace_folder::{PruneMode, PrunedTraces, TraceBudget, prune_traces};

/// What the count is called, behind the folder's name.
const COUNT: &str = ".added";
/// What a byte of the count stands for besides a trace.
const UNIT: u64 = 1 << 20;
/// The most that may be added between two looks.
const MOST_SLACK: u64 = 128;
/// How many times that before a run looks itself.
const OVERDUE: u64 = 4;
/// The most that one trace counts: a trace is no longer than its limit, and this only bounds a write.
const MOST_UNITS: u64 = 4096;

/// Does what runs leave for later, so that none of them waits for it: takes care of the history ([`RunHistory::do_upkeep`]), and removes the oldest traces where
/// the folder is close to its budget or over it.
///
/// A caller does this when [`RunReport::tidy_due`](crate::RunReport::tidy_due) says so, after it has told what came of the run. Who never does it loses
/// nothing: a run that finds too much left for later does it itself, and takes longer.
///
/// # Errors
/// A history that cannot be read or written: then no trace is removed, since nobody can say which are pinned. A folder that cannot be read.
pub fn tidy(history: &dyn RunHistory, budget: TraceBudget) -> Result<(), HistoryError> {
    let upkeep = history.do_upkeep();
    if let Some(folder) = user_folders::traces() {
        prune(&folder, budget, history)?;
    }
    upkeep
}

/// A trace that is about to be written to the user's folder.
#[derive(Debug)]
pub(crate) struct AddedTrace {
    count: TraceCount,
    trace: PathBuf,
    slack: u64,
    /// What was added since the last look; `None` where that cannot be known.
    added: Option<u64>,
    is_due: bool,
}

impl AddedTrace {
    /// Counts a trace that is about to be written; `None` where it is not written to the user's folder.
    pub(crate) fn count(trace: Option<&Path>, budget: TraceBudget) -> Option<Self> {
        let (trace, folder) = (trace?, user_folders::traces()?);
        (trace.parent() == Some(folder.as_path())).then(|| Self::begin(trace, &folder, budget))
    }

    fn begin(trace: &Path, folder: &Path, budget: TraceBudget) -> Self {
        let (count, slack) = (TraceCount::of(folder), slack(budget));
        // The folder above may not be there yet: then nothing is in it.
        let added = match count.add(1) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Some(1),
            added => added.ok(),
        };
        let is_due = added.is_some_and(|added| is_crossed(added - 1, added, slack));
        Self { count, trace: trace.to_owned(), slack, added, is_due }
    }

    /// Makes room at once, where that was left for later for too long; says so, where something went.
    pub(crate) fn make_room(&self, budget: TraceBudget, history: &dyn RunHistory) -> Option<Event> {
        let folder = self.trace.parent()?;
        if self.added.is_some_and(|added| added < self.slack.saturating_mul(OVERDUE)) {
            return None;
        }
        match prune(folder, budget, history) {
            Ok(done) if done.removed.is_empty() => None,
            Ok(done) => {
                let removed = done.removed.len();
                let said = format!("{removed} old traces ({} bytes) were removed for the budget", done.freed);
                Some(note("traces", said))
            }
            Err(error) => {
                let why =
                    format!("the folder of traces is over its budget, and nothing was removed: {error}");
                Some(note("traces", why))
            }
        }
    }

    /// Counts how long it became. Whether it is time to look.
    pub(crate) fn finish(self) -> bool {
        let bytes = self.trace.symlink_metadata().map_or(0, |found| found.len());
        let more = (bytes / UNIT).min(MOST_UNITS);
        if more == 0 {
            return self.is_due;
        }
        let is_crossed = |end: u64| is_crossed(end.saturating_sub(more), end, self.slack);
        self.is_due || self.count.add(more).is_ok_and(is_crossed)
    }
}

/// Whether a multiple of `step` lies behind `begin` and not behind `end`: of all who count, one sees each.
fn is_crossed(begin: u64, end: u64, step: u64) -> bool {
    begin / step != end / step
}

/// What may be added between two looks: an eighth of the budget at most.
fn slack(budget: TraceBudget) -> u64 {
    (budget.traces as u64 / 8).min(budget.bytes / 8 / UNIT).clamp(1, MOST_SLACK)
}

/// What is left by a look, so that what comes before the next one is within the budget.
fn target(budget: TraceBudget) -> TraceBudget {
    let traces = budget.traces - (budget.traces / 8).min(usize::try_from(slack(budget)).unwrap_or_default());
    let bytes = budget.bytes - (budget.bytes / 8).min(slack(budget) * UNIT);
    TraceBudget { bytes, traces, ..budget }
}

/// Removes the oldest traces of a folder, as far as that is needed, and begins to count anew.
fn prune(folder: &Path, budget: TraceBudget, history: &dyn RunHistory) -> Result<PrunedTraces, HistoryError> {
    // Who has nothing to remove need not ask what is pinned.
    let mut done = prune_traces(folder, target(budget), &[], PruneMode::Show)?;
    if !done.removed.is_empty() {
        done = prune_traces(folder, target(budget), &history.pinned_traces()?, PruneMode::Remove)?;
    }
    // Not where it failed: the count says then that it was left for too long.
    TraceCount::of(folder).clear();
    Ok(done)
}

/// Whether a folder is this user's, and no link to one.
#[cfg(unix)]
fn is_own_folder(folder: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;

    let own = nix::unistd::geteuid().as_raw();
    folder.symlink_metadata().is_ok_and(|found| found.is_dir() && found.uid() == own)
}

/// The file that has a byte for each trace that was added.
#[derive(Debug)]
struct TraceCount {
    file: PathBuf,
}

impl TraceCount {
    fn of(folder: &Path) -> Self {
        let mut file = folder.as_os_str().to_owned();
        file.push(COUNT);
        Self { file: file.into() }
    }

    /// Adds to the count; what it is then.
    fn add(&self, units: u64) -> io::Result<u64> {
        let mut file = self.open(OpenOptions::new().append(true).create(true))?;
        let bytes = vec![b'.'; usize::try_from(units).unwrap_or_default()];
        file.write_all(&bytes)?;
        // Behind what was just written, whoever else counts.
        file.stream_position()
    }

    fn clear(&self) {
        if let Ok(file) = self.open(OpenOptions::new().write(true)) {
            let _ = file.set_len(0);
        }
    }

    /// Follows no link, waits for nobody at a pipe, and counts in no folder of somebody else's.
    fn open(&self, options: &mut OpenOptions) -> io::Result<File> {
        #[cfg(unix)]
        if !self.file.parent().is_some_and(is_own_folder) {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        #[cfg(unix)]
        {
            use nix::fcntl::OFlag;
            use std::os::unix::fs::OpenOptionsExt as _;

            options.mode(0o600).custom_flags((OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK).bits());
        }
        options.open(&self.file)
    }
}

#[cfg(test)]
mod tests;
