//! `check-path`: decisions as text and as JSON, exit codes, and the server of lines.
// A test may fail by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![cfg(target_os = "linux")]

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

struct Run {
    code: i32,
    out: String,
    err: String,
}

fn workspace() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(dir.path().join("ws/.git")).unwrap();
    fs::create_dir(dir.path().join("outside")).unwrap();
    std::os::unix::fs::symlink("../outside", dir.path().join("ws/out")).unwrap();
    dir
}

fn command(dir: &tempfile::TempDir, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_skillsandbox"));
    command.arg("check-path").args(args).current_dir(dir.path().join("ws"));
    command
}

fn run(dir: &tempfile::TempDir, args: &[&str], input: &[u8]) -> Run {
    let mut child = command(dir, args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_owned();
    // In a thread of its own: the answers may fill their pipe before the questions are all written.
    let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Run { code: output.status.code().unwrap(), out: text(output.stdout), err: text(output.stderr) }
}

#[test]
fn a_call_is_allowed_or_denied() {
    let dir = workspace();
    let root = dir.path().join("ws");
    let root = root.to_str().unwrap();
    let allowed = run(&dir, &["--root", root, "--tool", "Read", "--args", r#"{"file_path": "a.md"}"#], b"");
    assert_eq!((allowed.code, allowed.out.as_str(), allowed.err.as_str()), (0, "allow\n", ""));
    for bad in ["/etc/passwd", "../x", "out/x", "~/.ssh/id_rsa"] {
        let args = json!({ "file_path": bad }).to_string();
        let denied = run(&dir, &["--root", root, "--tool", "Read", "--args", &args], b"");
        assert_eq!((denied.code, denied.err.as_str()), (1, ""), "{bad}");
        assert!(denied.out.starts_with("deny: path traversal blocked: tool `Read`: "), "{}", denied.out);
    }
    let denied =
        run(&dir, &["--format", "json", "--tool", "Read", "--args", r#"{"file_path": "/etc/passwd"}"#], b"");
    assert_eq!(denied.code, 1, "the root is the current directory");
    let value: Value = serde_json::from_str(&denied.out).unwrap();
    assert_eq!((value["decision"].as_str(), value["rule"].as_str()), (Some("deny"), Some("outside-root")));
    assert!(value["reason"].as_str().unwrap().starts_with("path traversal blocked: "));
    assert_eq!(
        value["error"],
        json!({ "code": "PATH_TRAVERSAL", "message": "Path traversal blocked",
            "details": { "tool": "Read", "argument": "file_path", "path": "/etc/passwd" } })
    );
    let allowed = run(
        &dir,
        &["--format", "json", "--tool", "Bash", "--args", r#"{"command": "cat /etc/passwd"}"#],
        b"",
    );
    assert_eq!(allowed.code, 0);
    assert_eq!(
        serde_json::from_str::<Value>(&allowed.out).unwrap(),
        json!({ "version": 1, "id": null, "decision": "allow", "rule": null, "reason": "every check passed", "error": null })
    );
}

#[test]
fn the_options_reach_the_policy() {
    let dir = workspace();
    let outside = dir.path().join("outside");
    let outside = outside.to_str().unwrap();
    let file = json!({ "path": format!("{outside}/x") }).to_string();
    for (options, tool, args, code) in [
        (vec!["--read-root", outside], "Read", file.as_str(), 0),
        (vec!["--read-root", outside], "Write", &file, 1),
        (vec!["--write-root", outside], "Write", &file, 0),
        (vec!["--forbid", ".git"], "Read", r#"{"path": ".git/config"}"#, 1),
        (vec!["--forbid", ".git"], "Read", r#"{"path": ".GIT/config"}"#, 0),
        (vec!["--forbid", ".git", "--ignore-case"], "Read", r#"{"path": ".GIT/config"}"#, 1),
        (vec!["--mode", "Read=deny"], "Read", r#"{"path": "a"}"#, 1),
        (vec!["--mode", "Read=prompt"], "Read", r#"{"path": "a"}"#, 1),
        (vec!["--mode", "*=deny", "--mode", "Read=allow"], "Read", r#"{"path": "a"}"#, 0),
        (vec!["--mode", "*=deny", "--mode", "Read=allow"], "Write", r#"{"path": "a"}"#, 1),
        (vec!["--unknown-tools", "deny"], "frob", r#"{"path": "a"}"#, 1),
        (vec!["--unknown-tools", "ignore"], "frob", r#"{"path": "/etc"}"#, 0),
        (vec![], "frob", r#"{"path": "/etc"}"#, 1),
    ] {
        let mut all = options.clone();
        all.extend(["--tool", tool, "--args", args]);
        let run = run(&dir, &all, b"");
        assert_eq!(run.code, code, "{options:?} {tool} {args}: {}{}", run.out, run.err);
    }
    let prompt = run(&dir, &["--mode", "Read=prompt", "--tool", "Read", "--args", r#"{"path": "a"}"#], b"");
    assert_eq!(prompt.out, "prompt\n");
}

#[test]
fn wrong_usage_is_two() {
    let dir = workspace();
    for args in [
        &[][..],
        &["--tool", "Read"],
        &["--args", "{}"],
        &["--tool", "Read", "--args", "{"],
        &["--tool", "Read", "--args", r#"{"path": "a", "path": "/etc/passwd"}"#],
        &["--stdin", "--tool", "Read", "--args", "{}"],
        &["--root", "/nonexistent.invalid", "--stdin"],
        &["--root", "/", "--stdin"],
        &["--mode", "Read", "--stdin"],
        &["--mode", "Read=maybe", "--stdin"],
        &["--forbid", "../x", "--stdin"],
    ] {
        let run = run(&dir, args, b"");
        assert_eq!((run.code, run.out.as_str()), (2, ""), "{args:?}");
        assert!(!run.err.is_empty(), "{args:?}");
    }
}

#[test]
fn every_line_has_an_answer_and_a_bad_one_does_not_end_it() {
    let dir = workspace();
    let deep = format!(r#"{{"tool":"Read","arguments":{}{}}}"#, "[".repeat(500), "]".repeat(500));
    let nested = format!(r#"{{"tool":"Read","arguments":{{"a":{}{}}}}}"#, "[".repeat(80), "]".repeat(80));
    let invalid = Some("invalid-request");
    let lines: &[(&[u8], &str, Option<&str>)] = &[
        (br#"{"tool":"Read","arguments":{"file_path":"a.md"}}"#, "allow", None),
        (br#"{"tool":"Read","arguments":{"file_path":"/etc/passwd"}}"#, "deny", Some("outside-root")),
        (b"not json", "deny", invalid),
        (b"{", "deny", invalid),
        (b"[]", "deny", invalid),
        (b"\xff\xfe", "deny", invalid),
        (br#"{"tool":"Read"}"#, "deny", invalid),
        (br#"{"arguments":{}}"#, "deny", invalid),
        (br#"{"tool":7,"arguments":{}}"#, "deny", invalid),
        (br#"{"tool":"Read","args":{"path":"a"}}"#, "deny", invalid),
        (br#"{"tool":"Read","arguments":{"path":"a"},"args":{"path":"/etc/passwd"}}"#, "deny", invalid),
        (br#"{"tool":"Read","arguments":{"path":"a"},"arguments":{"path":"/etc/passwd"}}"#, "deny", invalid),
        (br#"{"tool":"Read","arguments":{"path":"a","path":"/etc/passwd"}}"#, "deny", invalid),
        (br#"{"tool":"Read","arguments":{"path":"a\u0000"}}"#, "deny", Some("control-character")),
        (br#"{"tool":"Read","arguments":{"path":"\ud800"}}"#, "deny", invalid),
        (br#"{"tool":"Read","arguments":["/etc/passwd"]}"#, "deny", Some("arguments-not-object")),
        (deep.as_bytes(), "deny", invalid),
        (nested.as_bytes(), "deny", Some("too-nested")),
        (br#"{"tool":"Write","arguments":{"path":"a"}}"#, "prompt", None),
        (br#"{"tool":"Glob","arguments":{"pattern":"{a,../../etc}/*"}}"#, "deny", Some("pattern-climbs")),
        (br#"{"tool":"Read","arguments":{"path":"a"}}"#, "allow", None),
    ];
    let mut input = Vec::new();
    for (line, ..) in lines {
        input.extend_from_slice(line);
        // Empty lines are no questions; line ends of both kinds are.
        input.extend_from_slice(b"\r\n\n");
    }
    input.pop();
    let run = run(&dir, &["--stdin", "--mode", "Write=prompt"], &input);
    assert_eq!((run.code, run.err.as_str()), (0, ""));
    let answers: Vec<Value> = run.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers.len(), lines.len(), "{}", run.out);
    for ((line, decision, rule), answer) in lines.iter().zip(&answers) {
        let found = (answer["decision"].as_str().unwrap(), answer["rule"].as_str());
        assert_eq!(found, (*decision, *rule), "{}", String::from_utf8_lossy(line));
        assert_eq!((&answer["version"], &answer["id"]), (&json!(1), &Value::Null));
        assert!(!answer["reason"].as_str().unwrap().is_empty(), "{answer}");
        assert_eq!(answer["error"]["code"].is_string(), *decision == "deny", "{answer}");
    }
    assert!(run.out.chars().all(|c| c == '\n' || !c.is_control()), "{:?}", run.out);
}

#[test]
fn ids_come_back_and_long_lines_are_passed_over() {
    let dir = workspace();
    let mut input = br#"{"id":"one","tool":"Read","arguments":{"path":"/etc"}}"#.to_vec();
    input.push(b'\n');
    input.resize(input.len() + 17 * 1024 * 1024, b' ');
    input.extend_from_slice(b"x\n");
    let long = format!(
        "{{\"id\":2,\"tool\":\"Write\",\"arguments\":{{\"path\":\"a\",\"content\":\"{}\"}}}}\n",
        "y".repeat(1_000_000)
    );
    input.extend_from_slice(long.as_bytes());
    input.extend_from_slice(
        br#"{"arguments":{"path":"a","path":"b"},"tool":"Read","id":12345678901234567890123}"#,
    );
    let run = run(&dir, &["--stdin"], &input);
    let lines: Vec<&str> = run.out.lines().collect();
    let answers: Vec<Value> = lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers.len(), 4, "{}", run.out);
    assert_eq!(answers[0]["id"], "one");
    assert_eq!((&answers[1]["id"], &answers[1]["decision"]), (&Value::Null, &json!("deny")));
    assert_eq!(answers[1]["error"]["details"]["rule"], "max_length", "{}", answers[1]);
    assert_eq!((answers[2]["id"].as_u64(), answers[2]["decision"].as_str()), (Some(2), Some("allow")));
    // As it was written, though it is no number of any machine; and the last line needs no end.
    assert!(
        lines[3].starts_with(r#"{"version":1,"id":12345678901234567890123,"decision":"deny""#),
        "{}",
        lines[3]
    );
    assert_eq!(answers[3]["error"]["details"]["parameter"], "arguments");
}

#[test]
fn a_broken_line_is_denied_with_its_id() {
    let dir = workspace();
    let deep =
        format!(r#"{{"id":5,"tool":"Read","arguments":{}{}}}"#, "[".repeat(50_000), "]".repeat(50_000));
    let mut long = br#"{"id":6,"tool":"Write","arguments":{"path":"a","content":""#.to_vec();
    long.resize(17 * 1024 * 1024, b'y');
    let lines: &[(&[u8], Value)] = &[
        (br#"{"id":1,"tool":"Read","arguments":{"path":"a","x":1e999}}"#, json!(1)),
        (br#"{"id":2,"tool":"Read","arguments":{"path":"a","x":NaN}}"#, json!(2)),
        (br#"{"id":3,"tool":"Read","arguments":{"path":"\ud800"}}"#, json!(3)),
        (br#"{"id":4,"\udc00":1,"tool":"Read","arguments":{"path":"a"}}"#, json!(4)),
        (deep.as_bytes(), json!(5)),
        (&long, json!(6)),
        (b"{\"id\":\"seven\",\"tool\":\"Read\",\"arguments\":{\"path\":\"\xff\"}}", json!("seven")),
        (br#"{"id":8,"tool":"Read","arguments":{"path":"a","p\u0061th":"/etc/passwd"}}"#, json!(8)),
        (br#"{"id":9,"tool":"Read","arguments":{"x":[{"path":"a","path":"b"}]}}"#, json!(9)),
        (br#"{"id":10,"id":11,"tool":"Read","arguments":{"path":"a"}}"#, Value::Null),
        (br#"{"tool":NaN,"id":12}"#, Value::Null),
    ];
    let mut input = Vec::new();
    for (line, _) in lines {
        input.extend_from_slice(line);
        input.push(b'\n');
    }
    let run = run(&dir, &["--stdin"], &input);
    assert_eq!((run.code, run.err.as_str()), (0, ""));
    let answers: Vec<Value> = run.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers.len(), lines.len(), "{}", run.out);
    for ((line, id), answer) in lines.iter().zip(&answers) {
        let line = String::from_utf8_lossy(line.get(..60).unwrap_or(line));
        assert_eq!((&answer["decision"], &answer["id"]), (&json!("deny"), id), "{line}");
        assert_eq!(answer["rule"], "invalid-request", "{line}");
    }
}

/// A runtime that waits for each answer gets it before it asks again.
#[test]
fn an_answer_comes_before_the_next_question() {
    let dir = workspace();
    let mut child = command(&dir, &["--stdin"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
    for (path, decision) in [("a", "allow"), ("../a", "deny"), ("b", "allow")] {
        writeln!(stdin, "{}", json!({ "tool": "Read", "arguments": { "path": path } })).unwrap();
        let answer: Value = serde_json::from_str(&answers.next().unwrap().unwrap()).unwrap();
        assert_eq!(answer["decision"], decision);
    }
    drop(stdin);
    assert!(child.wait().unwrap().success());
}
