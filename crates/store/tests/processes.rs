//! Several programs record at a time, and some of them are killed.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod records;

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use records::{all, denied, entry, place};
use rusqlite::Connection;
use skillsandbox_store::history::{Filter, History, Status};

const FILE: &str = "SKILLSANDBOX_STORE_TEST_FILE";
const COUNT: &str = "SKILLSANDBOX_STORE_TEST_COUNT";

/// Not a test by itself: records, as often as the variable says, and notes each id when it is recorded.
#[test]
fn child_that_records() {
    let (Some(path), Ok(count)) = (std::env::var_os(FILE), std::env::var(COUNT)) else { return };
    let notes = notes(Path::new(&path), std::process::id());
    let mut notes = OpenOptions::new().create(true).append(true).open(notes).unwrap();
    for number in 0..count.parse::<i64>().unwrap() {
        let mut run = entry("a", number, Status::Success);
        run.denials = vec![denied("x", 1); 3];
        // As the command does: opened for each of them.
        History::open(Path::new(&path)).unwrap().record(&run).unwrap();
        writeln!(notes, "{}", run.id).unwrap();
    }
}

fn notes(path: &Path, process: u32) -> PathBuf {
    path.parent().unwrap().with_file_name(format!("notes-{process}"))
}

fn start(path: &Path, count: usize) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "child_that_records"]).env(FILE, path).env(COUNT, count.to_string());
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

fn ids(path: &Path) -> BTreeSet<String> {
    let history = History::read(path).unwrap().unwrap();
    all(&history, &Filter::default()).into_iter().map(|record| record.execution_id).collect()
}

fn check_integrity(path: &Path) {
    let raw = Connection::open(path).unwrap();
    let said: String = raw.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(said, "ok");
}

#[test]
fn eight_processes_record_at_a_time_and_nothing_is_lost() {
    let (_folder, path) = place();
    // The first of them also make the folder, the file and the tables.
    let children: Vec<Child> = (0..8).map(|_| start(&path, 50)).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(ids(&path).len(), 400);
    check_integrity(&path);
}

#[test]
fn threads_of_one_process_record_at_a_time() {
    let (_folder, path) = place();
    let path = &path;
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(move || {
                for number in 0..25 {
                    History::open(path).unwrap().record(&entry("a", number, Status::Success)).unwrap();
                }
            });
        }
    });
    assert_eq!(ids(path).len(), 100);
    check_integrity(path);
}

#[test]
fn a_killed_writer_loses_nothing_that_it_recorded() {
    let (_folder, path) = place();
    let mut noted = 0;
    for round in 0..12_u64 {
        let mut child = start(&path, 10_000);
        // Wherever it is by then.
        std::thread::sleep(Duration::from_millis(60 + 23 * round));
        child.kill().unwrap();
        child.wait().unwrap();
        let Ok(lines) = fs::read_to_string(notes(&path, child.id())) else { continue };
        let found = ids(&path);
        let complete = lines.lines().filter(|line| line.len() == 36);
        for id in complete {
            noted += 1;
            assert!(found.contains(id), "{id}, in round {round}");
        }
        check_integrity(&path);
    }
    assert!(noted > 0, "it was always killed before it began");
    // And it can go on.
    History::open(&path).unwrap().record(&entry("b", 1, Status::Success)).unwrap();
}

#[test]
fn half_a_record_is_none() {
    let (_folder, path) = place();
    History::open(&path).unwrap().record(&entry("a", 1, Status::Success)).unwrap();
    let raw = Connection::open(&path).unwrap();
    raw.execute_batch("BEGIN IMMEDIATE; DELETE FROM runs; UPDATE sqlite_sequence SET seq = 99").unwrap();
    // As after a kill: the log has what was not committed.
    std::mem::forget(raw);
    assert_eq!(ids(&path).len(), 1);
}
