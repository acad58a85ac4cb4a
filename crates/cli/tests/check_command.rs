//! `skillsandbox check-command` as a runtime in any language meets it.
// A test may fail by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;

use assert_cmd::Command;
use serde_json::{Value, json};

const BYPASS: &str = "SKILLSANDBOX_BYPASS_COMMAND_POLICY";

fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_skillsandbox"));
    command.arg("check-command").args(args).env_remove(BYPASS);
    command
}

/// Exit code, standard output, standard error.
fn run(args: &[&str]) -> (i32, String, String) {
    shown(command(args))
}

fn shown(mut command: Command) -> (i32, String, String) {
    let output = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn answers(args: &[&str], input: impl Into<Vec<u8>>) -> Vec<Value> {
    let output = command(args).arg("--stdin").write_stdin(input).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn decisions_are_text_and_exit_codes() {
    let (code, out, err) = run(&["--", "git log --grep 'a; b'"]);
    assert_eq!((code, out.as_str(), err.as_str()), (0, "allowed  \"git\" \"log\" \"--grep\" \"a; b\"\n", ""));
    let (code, out, _) = run(&["--", "git status && id"]);
    assert_eq!(code, 1);
    assert!(out.starts_with("refused  operator: `&&` at byte 11\n"), "{out}");
    for (args, code) in [
        (&["--allowed-tools", "Bash(git:*)", "--", "git status"][..], 0),
        (&["--allowed-tools", "Bash(git:*)", "--", "ls"], 1),
        (&["--allowed-tools", "Read Bash(git:*)", "--", "git status"], 2),
        (&["--allowed-tools", "Read Bash(git:*)", "--whole-list", "--", "git status"], 0),
        (&["--allow", "ls", "--allow", "git", "--", "ls"], 0),
        (&["--allow", "ls", "--", "git status"], 1),
        (&["--", "ls *"], 1),
        (&["--literal-globs", "--", "ls *"], 0),
        (&["--", "ls $'a'"], 1),
        (&["--shell", "bash", "--", "ls $'a'"], 0),
        (&["--", "make"], 1),
        (&["--dangerously-allow", "make/any", "--", "make"], 0),
        (&["--dangerously-allow", "nothing/such", "--", "make"], 2),
        (&["--root", "/no/such/folder", "--", "ls"], 2),
        (&[], 2),
        (&["--stdin", "--", "ls"], 2),
        (&["--", "git", "status"], 2),
    ] {
        let (found, out, err) = run(args);
        assert_eq!(found, code, "{args:?}: {out}{err}");
        assert_eq!(code == 2, out.is_empty(), "{args:?}: {out}");
    }
    let (_, _, err) = run(&["--allowed-tools", "Read", "--", "ls"]);
    assert!(err.contains("Unsupported tool: Read"), "{err}");
}

#[test]
fn decisions_are_json_on_request() {
    let (code, out, _) = run(&["--format", "json", "--", "find . -exec id"]);
    let answer: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(code, 1);
    assert_eq!((&answer["version"], &answer["id"]), (&json!(1), &Value::Null), "{answer}");
    assert_eq!((&answer["decision"], &answer["rule"]), (&json!("deny"), &json!("find/exec")), "{answer}");
    assert!(answer["reason"].as_str().unwrap().starts_with("command refused: "), "{answer}");
    let error = &answer["error"];
    assert_eq!((&error["code"], &error["message"]), (&json!("COMMAND_DENIED"), &json!("Command refused")));
    assert_eq!(error["details"]["byte"], 7, "{error}");
    let (code, out, _) = run(&["--format", "json", "--", "ls 'a b'"]);
    let answer: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &answer["decision"], &answer["argv"]), (0, &json!("allow"), &json!(["ls", "a b"])));
}

#[cfg(unix)]
#[test]
fn links_out_of_the_root_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink("/etc", dir.path().join("link")).unwrap();
    let root = dir.path().to_str().unwrap();
    let (code, out, _) = run(&["--root", root, "--", "cat link/passwd"]);
    assert_eq!(code, 1);
    assert!(out.starts_with("refused  path-rules: `link/passwd`"), "{out}");
    assert_eq!(run(&["--root", root, "--", "cat file"]).0, 0);
    assert_eq!(run(&["--root", root, "--", &format!("cat {root}/file")]).0, 0);
    assert_eq!(run(&["--root", root, "--", "cat /etc/passwd"]).0, 1);
}

#[test]
fn row_077_the_switch_works_here_and_is_seen() {
    let with = |value: &str, args: &[&str]| {
        let mut command = command(args);
        command.env(BYPASS, value);
        shown(command)
    };
    let (code, out, err) = with("1", &["--format", "json", "--", "ls | sh"]);
    let answer: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &answer["decision"], &answer["rule"]), (0, &json!("allow"), &json!("bypassed")));
    assert_eq!(answer["argv"], json!(["/bin/sh", "-c", "ls | sh"]));
    assert!(err.contains(BYPASS), "{err}");
    assert!(with("1", &["--", "ls | sh"]).1.starts_with("bypassed"));
    for value in ["", "0", "true", "yes", "11"] {
        assert_eq!(with(value, &["--", "ls | sh"]).0, 1, "{value}");
    }
}

#[test]
fn lines_are_answered_one_by_one_and_bad_ones_do_not_stop_it() {
    let long = format!("{{\"command\":\"{}\"}}", "a".repeat(2_000_000));
    let too_long = format!("{{\"command\":\"{}\"}}", "a".repeat(17 * 1024 * 1024));
    let deep = format!("{{\"id\":1,\"command\":{}\"ls\"{}}}", "[".repeat(100_000), "]".repeat(100_000));
    let mut input = Vec::new();
    for line in [
        r#"{"command":"git status"}"#,
        "not json",
        r#"{"command":"ls; id"}"#,
        "",
        r#"{"command":7}"#,
        r#"{"command":"ls","command":"id"}"#,
        r#"{"command":"ls","other":1}"#,
        r#"["ls"]"#,
        &long,
        &too_long,
        &deep,
        r#"{"command":"ls \u0000"}"#,
        r#"{"command":"ls \u001b[2J"}"#,
        r#"{"command":"ls \ud800"}"#,
    ] {
        input.extend_from_slice(line.as_bytes());
        input.push(b'\n');
    }
    input.extend_from_slice(b"{\"command\":\"ls \xff\"}\r\n");
    input.extend_from_slice(br#"{"command":"ls -l"}"#);
    let answers = answers(&["--allowed-tools", "Bash(git:*) Bash(ls:*)"], input);
    let short: Vec<&str> = answers
        .iter()
        .map(|answer| {
            answer["error"]["code"].as_str().unwrap_or_else(|| answer["decision"].as_str().unwrap())
        })
        .collect();
    let (denied, invalid) = ("COMMAND_DENIED", "INVALID_PARAMETERS");
    // The empty line is no request.
    assert_eq!(
        short,
        [
            "allow", invalid, denied, invalid, invalid, invalid, invalid, denied, invalid, invalid, denied,
            denied, invalid, invalid, "allow"
        ]
    );
    assert!(answers.iter().all(|answer| answer["version"] == 1 && answer.get("id").is_some()));
    assert!(answers.iter().all(|answer| answer["error"].is_null() == (answer["decision"] == "allow")));
    assert_eq!(answers[0]["argv"], json!(["git", "status"]));
    assert_eq!(
        (&answers[2]["rule"], &answers[2]["error"]["details"]["byte"]),
        (&json!("operator"), &json!(2))
    );
    assert_eq!(answers[8]["error"]["details"]["rule"], "max_length");
    assert_eq!((&answers[9]["id"], &answers[9]["error"]["details"]["rule"]), (&json!(1), &json!("type")));
    assert_eq!(answers[14]["argv"], json!(["ls", "-l"]));
}

#[test]
fn the_id_of_a_request_comes_back_in_order() {
    let lines = [
        r#"{"id":"a","command":"ls"}"#,
        r#"{"command":"ls; id","id":2}"#,
        r#"{"id":-3,"command":"ls","other":1}"#,
        r#"{"id":4.50,"command":7}"#,
        r#"{"id":[5],"command":"ls"}"#,
        r#"{"command":"ls"}"#,
    ];
    let answers = answers(&[], lines.join("\n"));
    let ids: Vec<&Value> = answers.iter().map(|answer| &answer["id"]).collect();
    assert_eq!(ids, [&json!("a"), &json!(2), &json!(-3), &json!(4.5), &Value::Null, &Value::Null]);
    let decisions: Vec<&str> = answers.iter().map(|answer| answer["decision"].as_str().unwrap()).collect();
    assert_eq!(decisions, ["allow", "deny", "deny", "deny", "deny", "allow"]);
}

/// A runtime keeps it running: each question is answered before the next is asked.
#[test]
fn an_answer_comes_without_more_input() {
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_skillsandbox"))
        .args(["check-command", "--stdin"])
        .env_remove(BYPASS)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    for (line, decision) in [("ls", "allow"), ("ls | sh", "deny"), ("ls -l", "allow")] {
        writeln!(input, "{}", json!({ "command": line })).unwrap();
        let mut answer = String::new();
        output.read_line(&mut answer).unwrap();
        let answer: Value = serde_json::from_str(&answer).unwrap();
        assert_eq!(answer["decision"], decision, "{line}");
    }
    drop(input);
    assert!(child.wait().unwrap().success());
}
