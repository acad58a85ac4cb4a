//! The user's history of runs, and a warning where a run cannot be recorded in it.

use std::sync::Arc;

use skillsandbox_run::{HistoryError, RunHistory, RunReport, RunRequest};
use skillsandbox_store::history::HistoryFile;
use skillsandbox_store::signing::SigningKey;
use uuid::Uuid;

use crate::output::{message, visible};

/// Records in the user's history. One that cannot be written never stops a run: there is a warning, and no more.
struct UserHistory {
    file: HistoryFile,
    /// What to do about a history that cannot be written.
    cure: &'static str,
}

/// The user's history.
#[cfg(target_os = "linux")]
pub(super) fn user_history() -> Arc<dyn RunHistory> {
    Arc::new(UserHistory { file: HistoryFile::of_user(), cure: "" })
}

/// The user's history, for verbs that have `--no-history`; signed, where there is a key.
pub(super) fn optional_history(key: Option<SigningKey>) -> Arc<dyn RunHistory> {
    let file = HistoryFile::of_user();
    match key {
        Some(key) => {
            let cure = ", and is not signed";
            Arc::new(UserHistory { file: file.signed_with(Arc::new(key)), cure })
        }
        None => Arc::new(UserHistory { file, cure: "; `--no-history` does without" }),
    }
}

/// Records nothing, and knows what the user's history pins: a run that leaves no record still makes room for its trace.
struct PinnedOnly(HistoryFile);

/// For `--no-history`.
pub(super) fn unrecorded_history() -> Arc<dyn RunHistory> {
    Arc::new(PinnedOnly(HistoryFile::of_user()))
}

impl RunHistory for PinnedOnly {
    fn record(&self, _: &RunRequest, _: &RunReport) -> Result<(), HistoryError> {
        Ok(())
    }

    fn pinned_traces(&self) -> Result<Vec<Uuid>, HistoryError> {
        self.0.pinned_traces()
    }
}

impl RunHistory for UserHistory {
    fn record(&self, request: &RunRequest, report: &RunReport) -> Result<(), HistoryError> {
        self.file.record(request, report).inspect_err(|error| {
            message(&format!(
                "\u{1b}[33mwarning\u{1b}[0m: this run is not in the history: {}{}",
                visible(&error.to_string()),
                self.cure
            ));
        })
    }

    fn pinned_traces(&self) -> Result<Vec<Uuid>, HistoryError> {
        self.file.pinned_traces()
    }

    fn is_upkeep_due(&self) -> bool {
        self.file.is_upkeep_due()
    }

    fn do_upkeep(&self) -> Result<(), HistoryError> {
        self.file.do_upkeep()
    }
}

/// The verb that does what runs leave for later.
const TIDY: [&str; 2] = ["history", "tidy"];

/// Lets another process do what runs leave for later, where it is time: whoever started this one waits neither for it nor for a descriptor that it holds. Where it
/// cannot be started, a later run tries again.
pub(super) fn tidy_later(report: &RunReport) {
    #[cfg(target_os = "linux")]
    if report.tidy_due && skillsandbox_enforcer::keep_from_programs().is_ok() {
        use std::os::unix::process::CommandExt as _;
        use std::process::{Command, Stdio};

        // This program, also where its file was replaced meanwhile.
        let mut command = Command::new("/proc/self/exe");
        // Where the user's files are is all that it needs: no secret of the caller's stays about.
        let kept =
            ["HOME", "XDG_STATE_HOME"].into_iter().filter_map(|name| Some((name, std::env::var_os(name)?)));
        command.args(TIDY).env_clear().envs(kept).current_dir("/").process_group(0);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        // It is not waited for: it outlives this program.
        let _ = command.spawn();
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (report, TIDY);
}
