//! The launching program is killed at the worst of moments, or shares its pipes with somebody: nothing is left, and nobody waits.
//!
//! Unsafe code: tracing, by which a process is stopped at an exact moment.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![allow(unsafe_code)]
#![cfg(target_os = "linux")]

mod common;

use std::io::{Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::Stdio;
use std::time::{Duration, Instant};

use common::plan;
use skillsandbox_enforcer::{Command, EndCause, OutputMode};

/// Numbers of the processes on whose command line a word stands.
fn processes_with(word: &str) -> Vec<i32> {
    let numbers = std::fs::read_dir("/proc").unwrap().flatten();
    let numbers = numbers.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let has = |pid: &i32| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.windows(word.len()).any(|part| part == word.as_bytes())
    };
    numbers.filter(has).collect()
}

/// Children of a process, of whichever of its threads.
fn children_of(pid: u32) -> Vec<i32> {
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let lists = threads.filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok());
    lists
        .flat_map(|list| list.split_whitespace().map(|pid| pid.parse().unwrap()).collect::<Vec<_>>())
        .collect()
}

/// `ptrace(2)`, with two numbers.
fn trace(request: libc::c_uint, pid: i32, data: u64) -> i64 {
    // SAFETY: of the requests used here none writes to memory of this process, and the address is not used.
    unsafe { libc::ptrace(request, pid, 0_u64, data) }
}

/// The number that goes with the event which a traced process has stopped for.
fn event_number(pid: i32) -> i32 {
    let mut number: libc::c_ulong = 0;
    // SAFETY: the kernel writes one number to where it is told to.
    let result = unsafe { libc::ptrace(libc::PTRACE_GETEVENTMSG, pid, 0_u64, &raw mut number) };
    assert_eq!(result, 0);
    i32::try_from(number).unwrap()
}

/// The next change of a traced process: its number and its status.
fn next_change() -> Option<(i32, i32)> {
    let mut status = 0;
    // SAFETY: the kernel writes one number to where it is told to.
    let pid = unsafe { libc::waitpid(-1, &raw mut status, libc::__WALL | libc::__WNOTHREAD) };
    (pid > 0).then_some((pid, status))
}

/// Starts a launching program and stops it in the moment in which it has made a process: that one has not run yet. Then the launching
/// program is killed, and only after its death its child goes on.
fn kill_just_after_clone(word: &str) -> i32 {
    let mut launcher = std::process::Command::new(std::env::current_exe().unwrap());
    launcher.args(["helper_launch", "--exact", "--ignored", "--nocapture", "--skip", word]).env("WORD", word);
    launcher.stdout(Stdio::null()).stderr(Stdio::null());
    // SAFETY: one call of the kernel between fork and exec.
    unsafe {
        launcher.pre_exec(|| {
            libc::ptrace(libc::PTRACE_TRACEME, 0, 0_u64, 0_u64);
            Ok(())
        });
    }
    #[allow(clippy::zombie_processes)] // waited for below, by its number
    let leader = launcher.spawn().unwrap().id().cast_signed();
    let mut init = None;
    let mut init_is_stopped = false;
    let mut is_dead = false;
    while !is_dead || !init_is_stopped {
        let (pid, status) = next_change().expect("something is still traced");
        if libc::WIFEXITED(status) || libc::WIFSIGNALED(status) {
            is_dead |= pid == leader;
            assert!(init.is_some(), "control: it makes a process before it ends");
            continue;
        }
        let (signal, event) = (libc::WSTOPSIG(status), status >> 16);
        if event == libc::PTRACE_EVENT_CLONE || event == libc::PTRACE_EVENT_FORK {
            let made = event_number(pid);
            if !std::path::Path::new(&format!("/proc/{leader}/task/{made}")).exists() {
                init = Some(made);
                // SAFETY: sends a signal to a process that this one has made and not yet waited for.
                unsafe { libc::kill(leader, libc::SIGKILL) };
                continue;
            }
        }
        // It may be told of the child's first stop before it is told of the child.
        let is_thread = std::path::Path::new(&format!("/proc/{leader}/task/{pid}")).exists();
        if Some(pid) == init || (!is_thread && pid != leader) {
            init_is_stopped = true;
            continue;
        }
        if pid == leader && signal == libc::SIGTRAP && event == 0 {
            let options = libc::PTRACE_O_TRACECLONE | libc::PTRACE_O_TRACEFORK;
            trace(libc::PTRACE_SETOPTIONS, pid, u64::from(options.cast_unsigned()));
        }
        let is_own = event != 0 || signal == libc::SIGTRAP || signal == libc::SIGSTOP;
        trace(libc::PTRACE_CONT, pid, if is_own { 0 } else { u64::from(signal.cast_unsigned()) });
    }
    let init = init.unwrap();
    assert_eq!(trace(libc::PTRACE_DETACH, init, 0), 0);
    init
}

#[test]
fn a_launcher_that_is_killed_just_after_clone_leaves_no_init() {
    let word = format!("launcher-death-{}", std::process::id());
    for _ in 0..10 {
        kill_just_after_clone(&word);
    }
    assert_nothing_is_left(&word);
}

#[test]
fn a_launcher_that_is_killed_at_any_moment_leaves_nothing() {
    let word = format!("launcher-end-{}", std::process::id());
    for round in 0..100_u64 {
        let mut launcher = std::process::Command::new(std::env::current_exe().unwrap());
        launcher
            .args(["helper_launch", "--exact", "--ignored", "--nocapture", "--skip", &word])
            .env("WORD", &word);
        let mut launcher = launcher.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let deadline = Instant::now() + Duration::from_secs(30);
        while children_of(launcher.id()).is_empty() {
            assert!(Instant::now() < deadline, "control: it makes a process");
            std::hint::spin_loop();
        }
        // While the sandbox is made, and after.
        let until = Instant::now() + Duration::from_micros(round * 80);
        while Instant::now() < until {
            std::hint::spin_loop();
        }
        launcher.kill().unwrap();
        launcher.wait().unwrap();
    }
    assert_nothing_is_left(&word);
}

fn assert_nothing_is_left(word: &str) {
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        let left = processes_with(word);
        if left.is_empty() {
            return;
        }
        if Instant::now() > deadline {
            for pid in &left {
                let _ = std::process::Command::new("kill").args(["-KILL", &pid.to_string()]).status();
            }
            panic!("{} processes are left", left.len());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
#[ignore = "run by another test, which ends it"]
fn helper_launch() {
    let Some(word) = std::env::var_os("WORD") else { return };
    // Without limits there is no cgroup, and so no other process that is made for the run.
    let command = Command::new("/bin/sh").args(["-c".into(), "sleep 1000; :".into(), word]);
    let running = plan().build().unwrap().spawn(&command).unwrap();
    let _ = running.wait();
}

/// The command of a run, by its number here.
fn command_of(init: i32) -> i32 {
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        if let [command, ..] = children_of(init.cast_unsigned())[..] {
            return command;
        }
        assert!(Instant::now() < deadline, "the init has a child");
    }
}

#[test]
fn row_179_whoever_holds_the_output_of_a_run_neither_keeps_its_launcher_nor_writes_into_it() {
    for kind in ["piped", "captured"] {
        let command = Command::new("/bin/sh").args(["-c", "echo own; sleep 100"]);
        let command = match kind {
            "piped" => command.stdout(OutputMode::Piped),
            _ => command.captured(1 << 20),
        };
        let mut running = plan().timeout(Duration::from_secs(2)).build().unwrap().spawn(&command).unwrap();
        // Another process that was handed the descriptor is this one: it opens the writing end, and never closes it.
        let path = format!("/proc/{}/fd/1", command_of(running.pid()));
        let mut held = std::fs::OpenOptions::new().write(true).open(path).unwrap();
        let reader = running.stdout().map(|mut output| {
            std::thread::spawn(move || {
                let mut text = String::new();
                output.read_to_string(&mut text).unwrap();
                text
            })
        });
        let outcome = running.wait().unwrap();
        assert_eq!(outcome.end, EndCause::Timeout);
        let read = match reader {
            Some(reader) => reader.join().unwrap(),
            None => outcome.stdout.text().into_owned(),
        };
        assert_eq!(read, "own\n", "{kind}");
        // The control: it could be written to all the time, where somebody still reads.
        if kind == "piped" {
            assert!(held.write_all(b"forged").is_err(), "the reader has gone");
        }
    }
}
