//! Whatever signal would end the command ends the run, and the trace has its end. Nor does whoever holds a pipe of a run keep it.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod sandboxed;

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use sandboxed::{Stage, trace};

/// A run that waits, once it has begun.
fn begin(stage: &Stage, flags: &[&str]) -> Child {
    let arguments = [&["exec", "-q"], flags, &["--", "sh", "-c", "echo begun; sleep 100; echo end"]].concat();
    let mut command = stage.command(&arguments);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    let stdout = child.stdout.as_mut().unwrap();
    BufReader::with_capacity(1, stdout).read_line(&mut line).unwrap();
    assert_eq!(line, "begun\n");
    child
}

fn send(signal: &str, pid: u32) {
    let sent = Command::new("kill").args([format!("-{signal}"), pid.to_string()]).status().unwrap();
    assert!(sent.success());
}

#[test]
fn every_signal_that_would_end_the_command_ends_the_run_and_is_recorded() {
    // By their numbers on x86-64 and aarch64: INT, TERM, HUP, QUIT, ABRT, USR1, USR2, ALRM, VTALRM, PROF, XCPU, XFSZ, IO, PWR, STKFLT, and the first
    // and the last real-time signal.
    for signal in
        ["2", "15", "1", "3", "6", "10", "12", "14", "26", "27", "24", "25", "29", "30", "16", "34", "64"]
    {
        let stage = Stage::new();
        let child = begin(&stage, &[]);
        send(signal, child.id());
        let output = child.wait_with_output().unwrap();
        let wanted = 128 + signal.parse::<i32>().unwrap();
        assert_eq!(output.status.code(), Some(wanted), "{signal}: {output:?}");
        let traces = stage.traces();
        let recorded = trace(&traces[0]);
        let events = recorded["events"].as_array().unwrap();
        let ended = events
            .iter()
            .find(|event| event["kind"] == "run_ended")
            .unwrap_or_else(|| panic!("{signal}: {events:?}"));
        assert_eq!(ended["end"], "stopped", "{signal}: {ended}");
    }
}

/// The processes below one, by their numbers here.
fn below(pid: u32) -> Vec<u32> {
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let lists = threads.filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok());
    let children: Vec<u32> = lists
        .flat_map(|list| list.split_whitespace().map(|pid| pid.parse().unwrap()).collect::<Vec<_>>())
        .collect();
    children.iter().flat_map(|child| [vec![*child], below(*child)].concat()).collect()
}

#[test]
fn row_179_whoever_was_handed_the_output_of_a_run_keeps_neither_its_time_limit_nor_an_interrupt_waiting() {
    for interrupted in [false, true] {
        let stage = Stage::new();
        let timeout = if interrupted { "60" } else { "3" };
        let mut child = begin(&stage, &["--timeout", timeout]);
        // As another run would that was handed the descriptors: they are opened for writing, and stay open.
        let held: Vec<_> = below(child.id())
            .into_iter()
            .flat_map(|pid| [1, 2].map(|fd| format!("/proc/{pid}/fd/{fd}")))
            .filter_map(|path| std::fs::OpenOptions::new().write(true).open(path).ok())
            .collect();
        assert!(held.len() >= 2, "control: somebody holds the pipes");
        if interrupted {
            send("INT", child.id());
        }
        let deadline = Instant::now() + Duration::from_secs(40);
        let status = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break status;
            }
            if Instant::now() > deadline {
                child.kill().unwrap();
                panic!("it waits for somebody who is not of the run");
            }
            std::thread::sleep(Duration::from_millis(20));
        };
        assert_eq!(status.code(), Some(if interrupted { 130 } else { 124 }));
        let mut rest = String::new();
        child.stdout.take().unwrap().read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "");
        drop(held);
    }
}
