//! The user's history of runs, and a warning where a run cannot be recorded in it.

use std::sync::Arc;

use skillsandbox_run::{HistoryError, RunHistory, RunReport, RunRequest};
use skillsandbox_store::history::HistoryFile;

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

/// The user's history, for verbs that have `--no-history`.
pub(super) fn optional_history() -> Arc<dyn RunHistory> {
    Arc::new(UserHistory { file: HistoryFile::of_user(), cure: "; `--no-history` does without" })
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
}
