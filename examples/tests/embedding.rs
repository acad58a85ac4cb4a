//! Every embedding program, run as its first lines say, with what it must print.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use skillsandbox_test_support::judge_server::JudgeServer;

fn skills() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("skills")
}

/// Runs a program in a home of its own, with these arguments and this input.
fn run(program: &str, arguments: &[&str], input: &str) -> Output {
    let home = tempfile::tempdir().unwrap();
    let mut command = Command::new(program);
    command.args(arguments).env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").env("HOME", home.path());
    command.current_dir(home.path()).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

/// A folder that is not below the private `/tmp` of a run, so that a file in it is there and refused.
fn outside_tmp() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

#[track_caller]
fn prints(output: &Output, success: bool, words: &[&str]) {
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.success(), success, "{text}");
    for word in words {
        assert!(text.contains(word), "no {word:?} in\n{text}");
    }
}

#[test]
fn embed_manifest_narrows_and_checks_values() {
    let weather = skills().join("weather");
    let weather = weather.to_str().unwrap();
    let program = env!("CARGO_BIN_EXE_embed_manifest");
    prints(
        &run(program, &[weather, r#"{"city": "Oslo"}"#], ""),
        true,
        &["would run weather", "Oslo", "narrows"],
    );
    prints(&run(program, &[weather, "{}"], ""), true, &["INVALID_PARAMETERS", "required"]);
}

#[test]
fn embed_scanner_tells_a_thief_from_a_converter() {
    let (thief, honest) = (skills().join("malicious-weather"), skills().join("unit-converter"));
    let program = env!("CARGO_BIN_EXE_embed_scanner");
    prints(&run(program, &[honest.to_str().unwrap()], ""), true, &["unit-converter: SAFE"]);
    let output = run(program, &[thief.to_str().unwrap()], "");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(!text.contains("SAFE") && text.contains("CHECK-"), "{text}");
}

#[test]
fn embed_judge_warns_where_the_model_sees_harm_or_says_nothing() {
    let program = env!("CARGO_BIN_EXE_embed_judge");
    let skill = skills().join("unit-converter");
    let skill = skill.to_str().unwrap();
    let safe = JudgeServer::safe();
    prints(&run(program, &[&safe.url(), "m", skill], ""), true, &["unit-converter: SAFE", "no harm seen"]);
    let harmful =
        JudgeServer::new(|question| question.answer(true, "other", "name: unit-converter", "It lies."));
    prints(&run(program, &[&harmful.url(), "m", skill], ""), true, &["unit-converter: WARNING", "It lies."]);
    prints(
        &run(program, &["http://127.0.0.1:1/v1", "m", skill], ""),
        true,
        &["WARNING", "nothing listens there"],
    );
}

#[test]
fn embed_path_policy_keeps_tools_in_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("notes.md"), "milk").unwrap();
    let calls = concat!(
        r#"{"tool": "read_file", "args": {"path": "notes.md"}}"#,
        "\n",
        r#"{"tool": "read_file", "args": {"path": "../../etc/passwd"}}"#,
        "\n",
        r#"{"tool": "write_file", "args": {"path": "new.md", "content": "bread"}}"#,
        "\n"
    );
    let output = run(env!("CARGO_BIN_EXE_embed_path_policy"), &[folder.path().to_str().unwrap()], calls);
    prints(&output, true, &["milk", "5 bytes written"]);
    assert!(!String::from_utf8_lossy(&output.stdout).contains("root:x:"));
    assert_eq!(std::fs::read_to_string(folder.path().join("new.md")).unwrap(), "bread");
}

#[test]
fn embed_command_policy_runs_what_is_allowed_without_a_shell() {
    let program = env!("CARGO_BIN_EXE_embed_command_policy");
    let output = run(program, &["echo 'one; two'", "echo one; id", "cat /etc/passwd"], "");
    prints(&output, true, &["one; two"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(!text.contains("uid=") && !text.contains("root:x:"), "{text}");
}

#[test]
fn embed_enforcer_confines_and_tells_what_was_refused() {
    let program = env!("CARGO_BIN_EXE_embed_enforcer");
    let folder = outside_tmp();
    let secret = folder.path().join("secret");
    std::fs::write(&secret, "hunter2").unwrap();
    let secret = secret.to_str().unwrap();
    prints(&run("/bin/cat", &[secret], ""), true, &["hunter2"]);
    let output = run(program, &["/bin/cat", secret], "");
    prints(&output, false, &["refused: read", secret, "ended by itself"]);
    assert!(!String::from_utf8_lossy(&output.stdout).contains("hunter2"));
    prints(&run(program, &["/bin/echo", "fine"], ""), true, &["fine"]);
}

#[test]
fn embed_tracer_writes_a_trace_that_verifies() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("trace.json");
    let output = run(env!("CARGO_BIN_EXE_embed_tracer"), &[trace.to_str().unwrap()], "");
    prints(&output, true, &["1000 attempts were prevented", "digest "]);
    assert!(skillsandbox_tracer::verify_trace(&trace).is_ok());
}

#[test]
fn embed_otel_says_what_came_of_the_spans() {
    // Nobody listens at the collector's place on loopback, or whoever does gets a made-up run.
    let output = run(env!("CARGO_BIN_EXE_embed_otel"), &[], "");
    prints(&output, true, &["attempts were prevented", "spans were delivered to http://localhost:4318"]);
}

#[test]
fn embed_run_leaves_a_trace_and_says_what_was_prevented() {
    let folder = outside_tmp();
    let (trace, secret) = (folder.path().join("trace.json"), folder.path().join("id_rsa"));
    std::fs::write(&secret, "hunter2").unwrap();
    let arguments = [trace.to_str().unwrap(), "cat", secret.to_str().unwrap()];
    prints(&run(env!("CARGO_BIN_EXE_embed_run"), &arguments, ""), true, &["prevented: ", "id_rsa"]);
    assert!(skillsandbox_tracer::verify_trace(&trace).is_ok());
}

#[test]
fn embed_store_installs_what_is_safe() {
    let folder = tempfile::tempdir().unwrap();
    let (store, skill) = (folder.path().join("store"), skills().join("unit-converter"));
    let arguments = [store.to_str().unwrap(), skill.to_str().unwrap()];
    let output = run(env!("CARGO_BIN_EXE_embed_store"), &arguments, "");
    prints(&output, true, &["unit-converter", "SAFE", "1 skills, all as installed: true"]);
}

#[test]
fn embed_mcp_lists_the_skills_to_a_client() {
    let home = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_embed_mcp"));
    command.arg(skills()).env_clear().env("PATH", "/usr/bin:/bin").env("HOME", home.path());
    let mut server = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = server.stdin.take().unwrap();
    let mut answers = BufReader::new(server.stdout.take().unwrap()).lines();
    let mut ask = |lines: &str, id: &str| {
        input.write_all(lines.as_bytes()).unwrap();
        let answer = answers.next().unwrap().unwrap();
        assert!(answer.contains(id), "{answer}");
        answer
    };
    let initialize = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}"#;
    assert!(ask(&format!("{initialize}\n"), "\"id\":1").contains("protocolVersion"));
    let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    let list =
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"list_skills","arguments":{}}}"#;
    let listed = ask(&format!("{initialized}\n{list}\n"), "\"id\":2");
    assert!(listed.contains("unit-converter") && listed.contains("malicious-weather"), "{listed}");
    // Its client goes away, and it ends.
    drop(input);
    assert!(server.wait().unwrap().success());
}

#[test]
fn embed_learn_finds_what_a_command_reads_and_no_key() {
    let folder = outside_tmp();
    let top = folder.path().canonicalize().unwrap();
    let (skill, input, key) = (top.join("skill"), top.join("in.txt"), top.join(".ssh/id_rsa"));
    std::fs::create_dir_all(&skill).unwrap();
    std::fs::create_dir_all(key.parent().unwrap()).unwrap();
    std::fs::write(&input, "b\na\n").unwrap();
    std::fs::write(&key, "canary").unwrap();
    let program = env!("CARGO_BIN_EXE_embed_learn");
    let (input, key) = (input.to_str().unwrap(), key.to_str().unwrap());
    let output =
        run(program, &[skill.to_str().unwrap(), "/bin/sh", "-c", &format!("sort {input}; cat {key}")], "");
    prints(&output, true, &[&format!("- \"{input}\""), "# never granted", "keys of SSH"]);
    assert!(!String::from_utf8_lossy(&output.stdout).contains("canary"));
}
