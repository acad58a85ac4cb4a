//! What a run costs its caller at its end: one write. What is left for later is done by somebody else, and nobody waits for it.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod sandboxed;

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, SystemTime};

use sandboxed::{Stage, code, text};
use serde_json::{Value, json};
use skillsandbox_test_support::missing;

fn state(stage: &Stage) -> PathBuf {
    stage.home().join(".local/state/skillsandbox")
}

fn spool(stage: &Stage) -> PathBuf {
    state(stage).join("history.db.spool")
}

fn list(stage: &Stage) -> Vec<Value> {
    let output = stage.run(&["history", "--format", "json"]);
    assert_eq!(code(&output), 0, "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Waits, for so long as a busy machine may need, until something holds.
fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    for _ in 0..600 {
        if holds() {
            return;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    panic!("not even after a minute: {what}");
}

/// Fills the spool with lines that mean nothing, so that the next record is the one after which it should be taken in.
fn fill(spool: &Path) {
    let mut file = File::options().create(true).append(true).open(spool).unwrap();
    let rest = (256 << 10) - 1 - file.metadata().unwrap().len();
    file.write_all(&vec![b'\n'; usize::try_from(rest).unwrap()]).unwrap();
}

#[test]
fn the_end_of_a_run_is_one_write_without_a_sync_and_its_begin_looks_through_no_folder() {
    let absent = missing::outside(["strace"]);
    if !absent.is_empty() {
        missing::skip(&absent);
        return;
    }
    let stage = Stage::new();
    assert_eq!(code(&stage.run(&["exec", "-q", "--", "true"])), 0);
    assert_eq!(list(&stage).len(), 1);
    let seen = stage.home().join("seen");
    let plain = stage.command(&["exec", "-q", "--", "true"]);
    let mut command = Command::new("strace");
    command.args(["-y", "-o", seen.to_str().unwrap()]);
    command.args([
        "-e",
        "trace=openat,open,write,pwrite64,writev,fsync,fdatasync,getdents64,clone,clone3,flock",
    ]);
    command.arg(plain.get_program()).args(plain.get_args()).env_clear();
    command.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.stdin(Stdio::null()).current_dir(stage.home());
    let output = command.output().unwrap();
    assert_eq!(code(&output), 0, "{}", text(&output.stderr));
    let seen = fs::read_to_string(seen).unwrap();
    let calls = |name: &str, about: &str| -> Vec<usize> {
        let is_meant = |line: &str| line.starts_with(&format!("{name}(")) && line.contains(about);
        seen.lines().enumerate().filter(|(_, line)| is_meant(line)).map(|(number, _)| number).collect()
    };
    assert_eq!((calls("fsync", ""), calls("fdatasync", "")), (vec![], vec![]), "{seen}");
    let writes = calls("write", "/history.db.spool>");
    assert_eq!((writes.len(), calls("pwrite64", "history").len()), (1, 0), "{seen}");
    assert!(calls("openat", "history.db\"").is_empty(), "the database is not opened: {seen}");
    assert!(calls("getdents64", "/skillsandbox").is_empty(), "no folder of ours is listed: {seen}");
    // Nothing of it before the command was started.
    let started =
        [calls("clone", ""), calls("clone3", "")].concat().into_iter().max().expect("it starts something");
    let history = seen.lines().position(|line| line.contains("history.db")).unwrap();
    assert!(history > started, "{seen}");
    assert_eq!(list(&stage).len(), 2, "and it is recorded");
}

#[test]
fn no_run_can_read_change_or_forge_what_waits_to_be_taken_in() {
    let stage = Stage::new();
    stage.run(&["exec", "-q", "--", "true"]);
    let before = fs::read(spool(&stage)).unwrap();
    // A line of another user's history is as whole as one of this.
    let other = Stage::new();
    other.run(&["exec", "-q", "--", "forged"]);
    let forged = stage.home().join("forged");
    fs::copy(spool(&other), &forged).unwrap();
    let script = format!(
        "cat {0}; cat forged >> {0}; cat forged > {0}.taken; rm -f {0}; mv forged {0}; ls -A {1}; echo ran",
        spool(&stage).display(),
        state(&stage).display()
    );
    let home = stage.home();
    let arguments =
        ["exec", "-q", "--no-history", "--write", home.to_str().unwrap(), "--", "sh", "-c", &script];
    let output = stage.run(&arguments);
    let printed = text(&output.stdout);
    assert!(
        printed.contains("ran") && !printed.contains("history.db") && !printed.contains("execution"),
        "{printed}"
    );
    assert!(!printed.contains("\"skill\""), "{printed}");
    assert_eq!(fs::read(spool(&stage)).unwrap(), before);
    let runs = list(&stage);
    assert_eq!((runs.len(), &runs[0]["skill"]), (1, &json!("true")), "{runs:#?}");
}

/// A skill chooses its name and what it is given; none of that is a line of its own.
#[test]
fn what_a_run_is_called_cannot_forge_a_record() {
    let stage = Stage::new();
    let other = Stage::new();
    other.run(&["exec", "-q", "--", "true", "forged"]);
    let line = fs::read_to_string(spool(&other)).unwrap();
    stage.run(&["exec", "-q", "--", "echo", &line, &format!("\n{line}\n")]);
    let runs = list(&stage);
    assert_eq!((runs.len(), &runs[0]["skill"]), (1, &json!("echo")), "{runs:#?}");
}

/// Holds the database until it is ended.
fn hold(stage: &Stage) -> Child {
    let script = "import sqlite3, sys
c = sqlite3.connect(sys.argv[1], isolation_level=None)
c.execute('BEGIN IMMEDIATE')
print('held', flush=True)
sys.stdin.read()";
    let mut command = Command::new("python3");
    command.args(["-c", script]).arg(state(stage).join("history.db"));
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "held\n");
    child
}

/// The process that tidies up for this home.
fn tidier(stage: &Stage) -> Option<PathBuf> {
    let home = format!("HOME={}", stage.home().display());
    let processes = fs::read_dir("/proc").unwrap().filter_map(|entry| Some(entry.ok()?.path()));
    processes.into_iter().find(|process| {
        let has = |file: &str, word: &str| {
            let bytes = fs::read(process.join(file)).unwrap_or_default();
            bytes.split(|byte| *byte == 0).any(|part| part == word.as_bytes())
        };
        has("cmdline", "tidy") && has("environ", &home)
    })
}

#[test]
fn a_full_spool_is_taken_in_by_another_process_and_the_caller_waits_neither_for_it_nor_for_its_descriptors() {
    let stage = Stage::new();
    stage.run(&["exec", "-q", "--", "true"]);
    assert_eq!(list(&stage).len(), 1);
    let mut holder = hold(&stage);
    fill(&spool(&stage));
    let plain = stage.command(&["exec", "-q", "--", "true"]);
    let mut command = Command::new("sh");
    // The caller reads a descriptor of its own to the end, as programs do that wait for all that they started.
    command.args(["-c", "exec \"$@\" 3>&1 >/dev/null", "sh"]).arg(plain.get_program()).args(plain.get_args());
    command.env_clear().envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.env("MY_SECRET", "hunter2hunter2").current_dir(stage.home());
    let output = command.output().unwrap();
    assert_eq!(code(&output), 0, "{}", text(&output.stderr));
    // Nobody can have taken it in, and yet the caller is here.
    let process = tidier(&stage).expect("somebody tidies up");
    for descriptor in fs::read_dir(process.join("fd")).into_iter().flatten().flatten() {
        let leads = fs::read_link(descriptor.path()).unwrap_or_default();
        assert!(!leads.to_string_lossy().starts_with("pipe:"), "{}", leads.display());
    }
    let environment = fs::read(process.join("environ")).unwrap_or_default();
    assert!(!text(&environment).contains("hunter2"));
    // Whoever started it had blocked the signals that end programs; it can be ended by them.
    wait_until("it can be ended", || {
        let status = fs::read_to_string(process.join("status")).unwrap_or_default();
        status.lines().any(|line| line.split_whitespace().eq(["SigBlk:", "0000000000000000"]))
    });
    holder.kill().unwrap();
    holder.wait().unwrap();
    wait_until("the spool is taken in", || !spool(&stage).exists() && tidier(&stage).is_none());
    assert_eq!(list(&stage).len(), 2);
    assert_eq!(code(&stage.run(&["history", "verify"])), 0);
}

#[test]
fn nothing_is_lost_where_the_server_is_killed_after_its_answer() {
    let stage = Stage::new();
    stage.shell_skill("", "exit 3");
    let root = stage.home().parent().unwrap().join("roots");
    fs::create_dir(&root).unwrap();
    fs::rename(stage.skill(), root.join("tested")).unwrap();
    let mut ids = Vec::new();
    for round in 0..3 {
        if round == 2 {
            // This time it takes in as well, in a thread of its own, wherever that is when it is killed.
            fill(&spool(&stage));
        }
        let mut command = stage.command(&["serve", "--root", root.to_str().unwrap()]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let client = json!({ "name": "a test", "version": "1" });
        let begin = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client });
        writeln!(stdin, "{}", json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": begin }))
            .unwrap();
        lines.next().unwrap().unwrap();
        writeln!(stdin, "{}", json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).unwrap();
        for id in 1..4 {
            let call = json!({ "name": "run_skill", "arguments": { "skill": "tested" } });
            writeln!(
                stdin,
                "{}",
                json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": call })
            )
            .unwrap();
            let answer: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
            let data = &answer["result"]["structuredContent"];
            assert_eq!(data["history_error"], Value::Null, "{answer}");
            ids.push(data["trace_id"].as_str().unwrap().to_owned());
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let mut found: Vec<String> =
        list(&stage).iter().map(|run| run["execution_id"].as_str().unwrap().to_owned()).collect();
    found.reverse();
    assert_eq!(found, ids, "each once, in order");
    assert_eq!(code(&stage.run(&["history", "verify"])), 0);
}

#[test]
fn the_folder_of_traces_is_brought_within_its_budget_after_a_run_and_pinned_ones_stay() {
    let stage = Stage::new();
    stage.run(&["exec", "-q", "--", "true"]);
    let (id, pinned) =
        (list(&stage)[0]["execution_id"].as_str().unwrap().to_owned(), stage.traces().remove(0));
    assert_eq!(code(&stage.run(&["history", "pin", &id])), 0);
    let old =
        |file: &File, age: u64| file.set_modified(SystemTime::now() - Duration::from_secs(age)).unwrap();
    old(&File::options().write(true).open(&pinned).unwrap(), 100_000);
    for number in 0..10_050 {
        let name = format!("20261117T120000Z-a-{}.json", uuid::Uuid::new_v4());
        old(&File::create(pinned.with_file_name(name)).unwrap(), 20_000 + number);
    }
    // All but the next were counted.
    fs::write(state(&stage).join("traces.added"), ".".repeat(127)).unwrap();
    let output = stage.run(&["exec", "-q", "--", "true"]);
    assert_eq!((code(&output), text(&output.stderr).as_str()), (0, ""));
    wait_until("the oldest are removed", || stage.traces().len() <= 10_000 && tidier(&stage).is_none());
    assert!(stage.traces().len() >= 9_800, "{}", stage.traces().len());
    assert!(pinned.exists(), "it is the oldest, and pinned");
    // The next run has nothing to do.
    let left = stage.traces().len();
    stage.run(&["exec", "-q", "--", "true"]);
    assert_eq!(stage.traces().len(), left + 1);
}
