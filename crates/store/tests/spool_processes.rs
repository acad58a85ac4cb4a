//! Many programs append at once while others take in, and some of them are killed: nothing that was appended is lost, and nothing is there twice.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod records;

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use records::{all, denied, entry, place};
use skillsandbox_store::history::{Appended, Filter, History, Spool, Status};
use skillsandbox_test_support::missing;

const FILE: &str = "SKILLSANDBOX_STORE_TEST_FILE";
const COUNT: &str = "SKILLSANDBOX_STORE_TEST_COUNT";

/// Not a test by itself: appends, as often as the variable says, and notes each id when that is done.
#[test]
fn child_that_appends() {
    let (Some(path), Ok(count)) = (std::env::var_os(FILE), std::env::var(COUNT)) else { return };
    let path = Path::new(&path);
    let notes = path.parent().unwrap().with_file_name(format!("notes-{}", std::process::id()));
    let mut notes = OpenOptions::new().create(true).append(true).open(notes).unwrap();
    for number in 0..count.parse::<i64>().unwrap() {
        let mut run = entry("a", number, Status::Success);
        // Longer than a page, so that no write is one by chance.
        run.denials = vec![denied(&"read a file somewhere ".repeat(30), 1); 10];
        assert_ne!(Spool::beside(path).append(&run).unwrap(), Appended::NoRoom);
        writeln!(notes, "{}", run.id).unwrap();
    }
}

/// Not a test by itself: takes in until it is killed, or once where the variable says so.
#[test]
fn child_that_takes_in() {
    let (Some(path), Ok(count)) = (std::env::var_os(FILE), std::env::var(COUNT)) else { return };
    for _ in 0..count.parse::<u64>().unwrap() {
        History::open(Path::new(&path)).unwrap();
    }
}

fn child(name: &str, path: &Path, count: usize) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    own_part(&mut command, name, path, count);
    command
}

fn own_part(command: &mut Command, name: &str, path: &Path, count: usize) {
    command.args(["--exact", name]).env(FILE, path).env(COUNT, count.to_string());
    command.stdout(Stdio::null()).stderr(Stdio::null());
}

/// The ids that were noted by all children.
fn noted(path: &Path) -> BTreeSet<String> {
    let mut ids = BTreeSet::new();
    for file in fs::read_dir(path.parent().unwrap().parent().unwrap()).unwrap() {
        let file = file.unwrap().path();
        if file.file_name().unwrap().to_str().unwrap().starts_with("notes-") {
            let text = fs::read_to_string(file).unwrap();
            ids.extend(text.lines().filter(|line| line.len() == 36).map(str::to_owned));
        }
    }
    ids
}

/// What the history has, which is whole.
fn recorded(path: &Path) -> BTreeSet<String> {
    let history = History::read(path).unwrap().unwrap();
    assert_eq!(history.check_chain(None).unwrap().wrong, None);
    let records = all(&history, &Filter::default());
    let ids: BTreeSet<String> = records.iter().map(|record| record.execution_id.clone()).collect();
    assert_eq!(ids.len(), records.len());
    ids
}

fn damaged(path: &Path) -> PathBuf {
    path.with_file_name("history.db.spool.damaged")
}

#[test]
fn two_hundred_processes_append_at_once_and_no_record_is_torn_or_lost() {
    let (_folder, path) = place();
    let children: Vec<Child> =
        (0..200).map(|_| child("child_that_appends", &path, 5).spawn().unwrap()).collect();
    // Somebody takes in meanwhile.
    let mut taker = child("child_that_takes_in", &path, 30).spawn().unwrap();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    assert!(taker.wait().unwrap().success());
    let found = recorded(&path);
    assert_eq!((found.len(), &found), (1000, &noted(&path)));
    assert!(!damaged(&path).exists());
}

#[test]
fn threads_of_one_process_append_and_take_in_at_once() {
    let (_folder, path) = place();
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                for number in 0..50 {
                    let _ = Spool::beside(&path).append(&entry("a", number, Status::Success)).unwrap();
                }
            });
        }
        for _ in 0..2 {
            scope.spawn(|| {
                for _ in 0..10 {
                    History::open(&path).unwrap();
                }
            });
        }
    });
    assert_eq!(recorded(&path).len(), 300);
    assert!(!damaged(&path).exists());
}

#[test]
fn nothing_that_was_appended_is_lost_where_programs_are_killed() {
    let (_folder, path) = place();
    for round in 0..10_u64 {
        let mut children: Vec<Child> = vec![
            child("child_that_appends", &path, 100_000).spawn().unwrap(),
            child("child_that_appends", &path, 100_000).spawn().unwrap(),
            child("child_that_takes_in", &path, 100_000).spawn().unwrap(),
        ];
        // Wherever they are by then.
        std::thread::sleep(Duration::from_millis(70 + 23 * round));
        for child in &mut children {
            child.kill().unwrap();
            child.wait().unwrap();
        }
        let (found, noted) = (recorded(&path), noted(&path));
        assert!(noted.is_subset(&found), "in round {round}: {:?}", noted.difference(&found).next());
    }
    assert!(!noted(&path).is_empty(), "they were always killed before they began");
}

/// Calls by which something is changed, on the way of a record into the database.
const STEPS: [&str; 8] =
    ["openat", "flock", "write", "renameat", "pwrite64", "fdatasync", "unlinkat", "unlink"];

/// Kills a child at the n-th of these calls; `false` where it came to its end before.
fn kill_at(call: &str, number: usize, name: &str, path: &Path, count: usize) -> bool {
    let mut command = Command::new("strace");
    command.args(["-f", "-qq", "-o", "/dev/null", "-e", &format!("trace={call}")]);
    command.args(["-e", &format!("inject={call}:signal=KILL:when={number}")]);
    command.arg(std::env::current_exe().unwrap());
    own_part(&mut command, name, path, count);
    let status = command.status().unwrap();
    assert!(
        status.success() || status.signal() == Some(9) || status.code() == Some(137),
        "{call} {number}: {status}"
    );
    !status.success()
}

#[test]
fn a_kill_at_any_step_loses_nothing_and_records_nothing_twice() {
    let absent = missing::outside(["strace"]);
    if !absent.is_empty() {
        missing::skip(&absent);
        return;
    }
    let mut killed = 0;
    for call in STEPS {
        for number in 1..200 {
            let (_folder, path) = place();
            // Three records in the database, three in the spool.
            for round in 0..2 {
                let run = |second| entry("a", second, Status::Success);
                let runs = [run(3 * round), run(3 * round + 1), run(3 * round + 2)];
                for run in &runs {
                    let _ = Spool::beside(&path).append(run).unwrap();
                }
                if round == 0 {
                    assert_eq!(recorded(&path).len(), 3);
                }
            }
            if !kill_at(call, number, "child_that_takes_in", &path, 1) {
                break;
            }
            killed += 1;
            let _ = Spool::beside(&path).append(&entry("later", 100, Status::Success)).unwrap();
            assert_eq!(recorded(&path).len(), 7, "killed at {call} {number}");
            assert!(!damaged(&path).exists(), "killed at {call} {number}");
        }
    }
    assert!(killed > 20, "{killed}: the steps are there");
}

#[test]
fn a_kill_while_appending_leaves_a_whole_record_or_none() {
    let absent = missing::outside(["strace"]);
    if !absent.is_empty() {
        missing::skip(&absent);
        return;
    }
    let (_folder, path) = place();
    let mut killed = 0;
    for call in ["openat", "flock", "write"] {
        for number in 1..60 {
            if !kill_at(call, number, "child_that_appends", &path, 2) {
                break;
            }
            killed += 1;
        }
    }
    let (found, noted) = (recorded(&path), noted(&path));
    assert!(noted.is_subset(&found) && killed > 5, "{killed}");
}
