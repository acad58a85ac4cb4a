//! What `exec` does before its command is started: nothing that is only needed later. Counted by strace, since times are of the machine.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod sandboxed;

use std::fs;
use std::process::Command;

use sandboxed::{Stage, text};
use skillsandbox_test_support::missing;

/// The system calls of a command of ours, of all its threads, up to the one that makes the sandbox; and those after it.
fn calls(arguments: &[&str]) -> Option<(Vec<String>, Vec<String>)> {
    let missing = missing::outside(["strace"]);
    if !missing.is_empty() {
        missing::skip(&missing);
        return None;
    }
    let stage = Stage::new();
    let ours = stage.command(arguments);
    let log = stage.write("strace.log", "");
    let mut command = Command::new("strace");
    command.args(["-f", "-s", "256", "-o"]).arg(&log).arg(ours.get_program()).args(ours.get_args());
    command.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").env("HOME", stage.home());
    let output = command.current_dir(stage.home()).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    let log = fs::read_to_string(&log).unwrap();
    let mut before: Vec<String> = log.lines().map(str::to_owned).collect();
    let made = before.iter().position(|line| line.contains("CLONE_NEWPID"));
    let after = before.split_off(made.unwrap_or(before.len()));
    Some((before, after))
}

fn count(calls: &[String], what: &str) -> usize {
    calls.iter().filter(|line| line.contains(what)).count()
}

#[test]
fn exec_does_nothing_before_its_command_that_is_only_needed_later() {
    let Some((before, after)) = calls(&["exec", "-q", "--", "/bin/true"]) else { return };
    assert!(!after.is_empty(), "the control: a sandbox was made");
    // The one that makes the sandbox, and has to be there for it; none that waits for something that cannot have come.
    let threads = count(&before, "CLONE_THREAD");
    assert!(threads <= 1, "{threads} threads:\n{}", before.join("\n"));
    assert!(count(&after, "CLONE_THREAD") > 0, "the control: threads are seen");
    // Names of users, for the history of runs.
    for file in ["/etc/nsswitch.conf", "/etc/passwd", "/var/run/nscd/socket"] {
        // Also bound into the sandbox, by other calls.
        let opened =
            |line: &&String| line.contains(file) && (line.contains("open") || line.contains("connect("));
        let found: Vec<_> = before.iter().filter(opened).collect();
        assert!(found.is_empty(), "{found:?}");
    }
}

#[test]
fn the_threads_of_a_run_share_one_heap() {
    let Some((before, after)) = calls(&["exec", "-q", "--", "/bin/true"]) else { return };
    // The heap of a thread of its own: glibc asks for twice its size, to align it, and for no other.
    let heaps = |calls: &[String]| count(calls, "mmap(NULL, 134217728, PROT_NONE");
    assert_eq!(heaps(&before) + heaps(&after), 0);
}

#[test]
fn the_version_is_told_without_threads_or_files() {
    let Some((before, after)) = calls(&["--version"]) else { return };
    assert!(after.is_empty());
    assert_eq!(count(&before, "CLONE_THREAD"), 0);
    let opened =
        |line: &&String| line.contains("open") && !line.contains("/lib") && !line.contains("/etc/ld.so");
    // The standard library looks where the stack ends.
    let opened: Vec<_> =
        before.iter().filter(opened).filter(|line| !line.contains("/proc/self/maps")).collect();
    assert!(opened.is_empty(), "{opened:?}");
}
