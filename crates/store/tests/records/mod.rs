//! What the tests of the history have in common.

#![allow(dead_code, reason = "each test file uses some of it")]

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Duration;

use jiff::Timestamp;
use skillsandbox_store::history::{Classified, Denied, Entry, Filter, History, Record, Status};
use uuid::Uuid;

/// A folder that only this user can change, and the name of a history in it.
pub(crate) fn place() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap().join("state/history.db");
    (folder, path)
}

/// A run of a skill at this second.
pub(crate) fn entry(skill: &str, second: i64, status: Status) -> Entry {
    let started = Timestamp::from_second(second).unwrap();
    let mut entry = Entry::new(Uuid::new_v4(), started, skill, "run");
    entry.status = status;
    entry.ending = "exited".into();
    entry.duration = Duration::from_millis(245);
    entry.exit_code = Some(i32::from(status != Status::Success));
    entry.user = Some("alice".to_owned());
    entry
}

pub(crate) fn denied(what: &str, count: u64) -> Denied {
    Denied { kind: "file".into(), what: what.into(), count, ..Denied::default() }
}

pub(crate) fn class(name: &str) -> Classified {
    Classified {
        class: name.into(),
        severity: "high".into(),
        prevented: true,
        message: "words".into(),
        ..Classified::default()
    }
}

pub(crate) fn all(history: &History, filter: &Filter) -> Vec<Record> {
    let mut records = Vec::new();
    history
        .each(filter, |record| {
            records.push(record);
            ControlFlow::Continue(())
        })
        .unwrap();
    records
}
