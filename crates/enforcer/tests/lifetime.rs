//! The end of a run is the end of every process of it, however it ends, and nothing is left.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use common::{Folder, plan, sh};
use skillsandbox_enforcer::{Command, CommandStatus, EndCause, OutputMode, RunLimit, StdinMode};

/// Daemons of every kind, each of which writes into a file of its own as long as it lives, and a command that waits.
const BROOD: &str = "beat() { trap '' TERM INT HUP; while :; do echo $1 >> \"$DIR/$1\"; sleep 0.02; done; }; \
     beat plain & (setsid sh -c \"$(command -v beat >/dev/null; echo 'trap \"\" TERM HUP; while :; do echo s >> \"$DIR/setsid\"; sleep 0.02; done')\" &) ; \
     ( ( beat double & ) & ) ; (exec </dev/null >/dev/null 2>&1; beat detached & ) ; sleep 0.2; echo ready; wait; sleep 100";

/// How large the files of the brood are together.
fn size(folder: &Path) -> u64 {
    std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().metadata().unwrap().len()).sum()
}

/// Nobody writes any more.
fn assert_dead(folder: &Path) {
    assert_eq!(std::fs::read_dir(folder).unwrap().count(), 4, "control: all four kinds lived");
    let before = size(folder);
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(size(folder), before, "something of the run is still alive");
}

/// What runs of this process left behind in shared folders and among the cgroups. Other tests of the process may have runs of
/// their own, which end.
fn traces() -> Vec<PathBuf> {
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        let left = traces_now();
        if left.is_empty() || Instant::now() > deadline {
            return left;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn traces_now() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders: Vec<PathBuf> = ["/run", "/dev/shm"].iter().map(PathBuf::from).collect();
    folders.extend(
        std::fs::read_dir("/sys/fs/cgroup")
            .into_iter()
            .flatten()
            .filter_map(|entry| Some(entry.ok()?.path())),
    );
    folders.push("/sys/fs/cgroup".into());
    for folder in folders {
        let entries = std::fs::read_dir(&folder).into_iter().flatten().filter_map(Result::ok);
        found.extend(entries.map(|entry| entry.path()).filter(|path| {
            let ours = format!("skillsandbox-{}-", std::process::id());
            path.file_name().unwrap().to_string_lossy().starts_with(&ours)
        }));
    }
    found
}

fn brood(folder: &Folder) -> (common::Builder, Command) {
    let plan = plan().write(folder.path()).env("DIR", folder.path()).processes(100).memory(512 << 20);
    (plan, Command::new("/bin/sh").args(["-c", BROOD]))
}

#[test]
fn row_113_a_timeout_ends_the_whole_tree_and_says_so() {
    let folder = Folder::new();
    let (plan, command) = brood(&folder);
    let outcome = common::run(plan.timeout(Duration::from_millis(700)), &command);
    assert_eq!(outcome.end, EndCause::Timeout);
    assert_eq!(outcome.status, CommandStatus::Signalled(9));
    assert!(outcome.limits_hit.iter().any(|hit| hit.limit == RunLimit::Timeout), "{outcome:?}");
    assert!(outcome.duration >= Duration::from_millis(700));
    assert_dead(&folder.path());
    assert_eq!(traces(), Vec::<PathBuf>::new());
}

#[test]
fn killing_ends_the_whole_tree() {
    let folder = Folder::new();
    let (plan, command) = brood(&folder);
    let mut running = plan.build().unwrap().spawn(&command.stdout(OutputMode::Piped)).unwrap();
    wait_for_ready(running.stdout().unwrap());
    let killer = running.killer();
    let thread = std::thread::spawn(move || killer.kill());
    let outcome = running.wait().unwrap();
    thread.join().unwrap();
    assert_eq!(outcome.end, EndCause::Stopped);
    assert_dead(&folder.path());
    assert_eq!(traces(), Vec::<PathBuf>::new());
}

#[test]
fn dropping_the_handle_ends_the_whole_tree() {
    let folder = Folder::new();
    let (plan, command) = brood(&folder);
    let mut running = plan.build().unwrap().spawn(&command.stdout(OutputMode::Piped)).unwrap();
    wait_for_ready(running.stdout().unwrap());
    drop(running);
    assert_dead(&folder.path());
    assert_eq!(traces(), Vec::<PathBuf>::new());
}

#[test]
fn the_end_of_the_command_ends_what_it_left_behind() {
    let folder = Folder::new();
    let (plan, _) = brood(&folder);
    let outcome = sh(plan, &BROOD.replace("wait; sleep 100", "exit 7"));
    assert_eq!((outcome.end, outcome.status), (EndCause::Itself, CommandStatus::Exited(7)));
    assert_dead(&folder.path());
    assert_eq!(traces(), Vec::<PathBuf>::new());
}

fn wait_for_ready(from: impl std::io::Read) {
    let mut lines = BufReader::new(from).lines();
    assert!(lines.any(|line| line.unwrap().contains("ready")));
}

/// Another process as the launching program, ended by a signal while a run is going on.
fn ended_by(signal: &str) {
    let folder = Folder::new();
    let mut launcher = std::process::Command::new(std::env::current_exe().unwrap());
    launcher.args(["helper_launch", "--exact", "--ignored", "--nocapture"]).env("BROOD", folder.path());
    let mut launcher = launcher.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    wait_for_ready(launcher.stdout.take().unwrap());
    let pid = launcher.id();
    let sent = std::process::Command::new("kill").args([signal, &pid.to_string()]).status().unwrap();
    assert!(sent.success());
    launcher.wait().unwrap();
    // The kernel tells the init; give it a moment to hear of it.
    let deadline = Instant::now() + Duration::from_secs(10);
    let gone = || {
        let before = size(&folder.path());
        std::thread::sleep(Duration::from_millis(100));
        size(&folder.path()) == before
    };
    while !gone() {
        assert!(Instant::now() < deadline, "the run outlived its launching program");
    }
    assert_dead(&folder.path());
    let ours = format!("skillsandbox-{pid}-");
    while find_groups(&ours) > 0 {
        assert!(Instant::now() < deadline, "a cgroup is left");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn find_groups(prefix: &str) -> usize {
    let hierarchies = std::fs::read_dir("/sys/fs/cgroup").into_iter().flatten().filter_map(Result::ok);
    let entries = hierarchies
        .flat_map(|entry| std::fs::read_dir(entry.path()).into_iter().flatten().filter_map(Result::ok));
    entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(prefix)).count()
}

#[test]
fn a_launching_program_that_is_killed_takes_the_run_with_it() {
    ended_by("-KILL");
}

#[test]
fn a_launching_program_that_is_interrupted_takes_the_run_with_it() {
    ended_by("-INT");
}

#[test]
fn a_launching_program_that_is_terminated_takes_the_run_with_it() {
    ended_by("-TERM");
}

#[test]
#[ignore = "run by other tests, which end it"]
fn helper_launch() {
    let folder = std::env::var_os("BROOD").unwrap();
    let plan = plan().write(&folder).env("DIR", &folder).processes(100).memory(512 << 20).build().unwrap();
    let running = plan.spawn(&Command::new("/bin/sh").args(["-c", BROOD])).unwrap();
    let _ = running.wait();
}

#[test]
fn a_thread_that_ends_does_not_take_the_run_with_it() {
    let running = std::thread::spawn(|| {
        let command = Command::new("/bin/sh").args(["-c", "sleep 0.3; echo lived"]).captured(100);
        plan().build().unwrap().spawn(&command).unwrap()
    });
    let outcome = running.join().unwrap().wait().unwrap();
    assert_eq!(outcome.stdout.text(), "lived\n");
}

#[test]
fn the_end_is_told_as_it_was() {
    for (script, status) in [
        ("exit 0", CommandStatus::Exited(0)),
        ("exit 3", CommandStatus::Exited(3)),
        ("exit 255", CommandStatus::Exited(255)),
        ("kill -TERM $$", CommandStatus::Signalled(15)),
        ("kill -SEGV $$", CommandStatus::Signalled(11)),
        ("kill -KILL $$", CommandStatus::Signalled(9)),
        ("kill -9 1; kill -TERM 1; kill -STOP 1; exit 4", CommandStatus::Exited(4)),
    ] {
        let outcome = sh(plan(), script);
        assert_eq!((outcome.status, outcome.end), (status, EndCause::Itself), "{script}");
        assert!(outcome.limits_hit.is_empty(), "{script}");
    }
}

#[test]
fn pipes_work_both_ways() {
    let command = Command::new("/bin/cat")
        .stdin(StdinMode::Piped)
        .stdout(OutputMode::Piped)
        .stderr(OutputMode::Discarded);
    let mut running = plan().build().unwrap().spawn(&command).unwrap();
    let (mut to, mut from) = (running.stdin().unwrap(), running.stdout().unwrap());
    let data: Vec<u8> = (0..300_000_u32).map(|number| (number % 251) as u8).collect();
    let expected = data.clone();
    let writer = std::thread::spawn(move || to.write_all(&data).unwrap());
    let mut back = Vec::new();
    from.read_to_end(&mut back).unwrap();
    writer.join().unwrap();
    assert_eq!(back, expected);
    assert!(running.wait().unwrap().success());
}

#[test]
fn standard_input_is_empty_unless_asked_for() {
    assert_eq!(sh(plan(), "cat; echo end").stdout.text(), "end\n");
}

#[test]
fn row_117_captured_output_is_bounded() {
    let flood = Command::new("/bin/sh")
        .args(["-c", "yes x | head -c 3000000; yes y | head -c 2000000 >&2"])
        .captured(1000);
    let outcome = plan().build().unwrap().spawn(&flood).unwrap().wait().unwrap();
    for (captured, total) in [(&outcome.stdout, 3_000_000), (&outcome.stderr, 2_000_000)] {
        assert_eq!(captured.bytes.len(), 1000);
        assert_eq!(captured.total, total);
        assert!(captured.is_truncated());
    }
    assert!(outcome.limits_hit.iter().any(|hit| hit.limit == RunLimit::Output));
    assert_eq!(outcome.end, EndCause::Itself);
}

#[test]
fn programs_that_cannot_run_are_named() {
    for name in ["no-such-program-here", "/usr/no-such", "/etc"] {
        let error = plan().build().unwrap().spawn(&Command::new(name)).unwrap_err().to_string();
        assert!(error.contains(name), "{error}");
    }
}
