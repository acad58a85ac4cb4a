//! `skillsandbox history`, and what `run` and `exec` record.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod sandboxed;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use sandboxed::{Stage, code, text};
use serde_json::{Value, json};
use skillsandbox_store::history::{Classified, Entry, History};

const PARAMETERS: &str = "parameters:
  - { name: city, type: string }
  - { name: days, type: number }
  - { name: pin, type: string, secret: true }
  - { name: api_key, type: string }
";

fn database(stage: &Stage) -> PathBuf {
    stage.home().join(".local/state/skillsandbox/history.db")
}

fn json(stage: &Stage, arguments: &[&str]) -> Value {
    let output = stage.run(&[&["history"], arguments].concat());
    assert_eq!(code(&output), 0, "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", text(&output.stdout)))
}

/// Every byte of the history's files.
fn bytes(stage: &Stage) -> String {
    let mut all = String::new();
    for file in fs::read_dir(database(stage).parent().unwrap()).unwrap() {
        let path = file.unwrap().path();
        if path.is_file() {
            all.push_str(&text(&fs::read(path).unwrap()));
        }
    }
    all
}

#[test]
fn row_145_every_run_leaves_an_audit_record() {
    let stage = Stage::new();
    let skill = stage.shell_skill(PARAMETERS, "exit 3");
    let skill = skill.to_str().unwrap();
    let values = [
        "--set",
        "city=Oslo",
        "--set",
        "days=3",
        "--set",
        "pin=hunter2hunter2",
        "--set",
        "api_key=sesame-open",
    ];
    let output =
        stage.run(&[&["run", skill][..], &values, &["--", "--token", "swordfish", "--fast"]].concat());
    assert_eq!(code(&output), 3, "{}", text(&output.stderr));
    let list = json(&stage, &["--format", "json"]);
    let record = &list[0];
    let time: jiff::Timestamp = record["timestamp"].as_str().unwrap().parse().unwrap();
    assert!(jiff::Timestamp::now().duration_since(time).as_secs() < 300, "{time}");
    let traces = stage.traces();
    assert!(traces[0].to_str().unwrap().contains(record["execution_id"].as_str().unwrap()));
    assert_eq!(
        (&record["skill"], &record["version"], &record["tool"]),
        (&json!("tested"), &json!("1.2.3"), &json!("run"))
    );
    assert_eq!(
        record["parameters"],
        json!({ "city": "Oslo", "days": 3, "pin": "[REDACTED]", "api_key": "[REDACTED]" })
    );
    assert_eq!(record["arguments"], json!(["--token", "[REDACTED]", "--fast"]));
    let user = std::process::Command::new("id").arg("-un").output().unwrap();
    assert_eq!(record["user"], text(&user.stdout).trim());
    assert_eq!((&record["status"], &record["exit_code"]), (&json!("failure"), &json!(3)));
    assert!(record["duration_ms"].is_u64() && record["error"].is_null(), "{record:#}");
    for secret in ["hunter2", "sesame", "swordfish"] {
        assert!(!bytes(&stage).contains(secret), "{secret}");
    }

    stage.shell_skill("resources: { max_runtime_seconds: 1 }", "sleep 60");
    assert_eq!(code(&stage.run(&["run", skill])), 124);
    stage.shell_skill("", "exit 0");
    assert_eq!(code(&stage.run(&["run", skill])), 0);
    stage.shell_skill("runtime: wasm", "exit 0");
    assert_eq!(code(&stage.run(&["run", skill])), 125);
    let list = json(&stage, &["--format", "json"]);
    let column =
        |name: &str| list.as_array().unwrap().iter().map(|record| record[name].clone()).collect::<Vec<_>>();
    assert_eq!(column("status"), ["failure", "success", "timeout", "failure"], "{list:#}");
    assert_eq!(column("ending"), ["refused", "exited", "timeout", "exited"]);
    assert_eq!(column("exit_code"), [125, 0, 124, 3]);
    assert!(list[0]["error"].as_str().unwrap().contains("wasm"), "{list:#}");
    assert_eq!(list[2]["error"], "it reached its time limit");
}

#[test]
fn row_146_history_filters_by_skill_time_and_status_and_prints_json() {
    let stage = Stage::new();
    for (program, expected) in [("true", 0), ("false", 1), ("true", 0)] {
        assert_eq!(code(&stage.run(&["exec", "-q", "--", program])), expected);
    }
    let count = |arguments: &[&str]| {
        json(&stage, &[arguments, &["--format", "json"]].concat()).as_array().unwrap().len()
    };
    let now = jiff::Zoned::now();
    let day = |days: i64| (now.date() + jiff::SignedDuration::from_hours(24 * days)).to_string();
    let (yesterday, today, tomorrow) = (day(-1), day(0), day(1));
    assert_eq!(count(&[]), 3);
    assert_eq!(count(&["--skill", "true"]), 2);
    assert_eq!(count(&["--skill", "tru"]), 0);
    assert_eq!(count(&["--status", "failure"]), 1);
    assert_eq!(count(&["--status", "success", "--skill", "false"]), 0);
    assert_eq!(count(&["--status", "timeout"]), 0);
    assert_eq!(count(&["--since", &yesterday]), 3);
    assert_eq!(count(&["--since", &tomorrow]), 0);
    assert_eq!(count(&["--since", &yesterday, "--until", &tomorrow]), 3);
    assert_eq!(count(&["--until", "2024-01-31"]), 0);
    assert_eq!(count(&["--since", "2024-01-01", "--until", &tomorrow, "--skill", "true"]), 2);
    assert_eq!(count(&["--since", "2h"]), 3);
    assert_eq!(count(&["--until", "2h"]), 0);
    assert_eq!(count(&["--limit", "2"]), 2);
    assert_eq!(count(&["--class", "discovery"]), 0);
    // What the days mean is the clock's here; close to midnight the runs may be of two of them.
    assert!(count(&["--since", &today]) + count(&["--until", &yesterday]) <= 3);
    for wrong in [
        &["--since", "whenever"][..],
        &["--status", "fine"],
        &["--limit", "0"],
        &["--class", "discoveri"],
        &["--format", "xml"],
    ] {
        let output = stage.run(&[&["history"], wrong].concat());
        assert_eq!(code(&output), 2, "{wrong:?}");
        assert!(output.stdout.is_empty() && !output.stderr.is_empty());
    }
}

#[test]
fn all_formats_say_the_same() {
    let stage = Stage::new();
    let empty = |format: &str| text(&stage.run(&["history", "--format", format]).stdout);
    assert_eq!((empty("json").as_str(), empty("ndjson").as_str(), empty("text").as_str()), ("[]\n", "", ""));
    assert!(!database(&stage).exists(), "looking makes nothing");
    for _ in 0..3 {
        stage.run(&["exec", "-q", "--", "true"]);
    }
    let array = json(&stage, &["--format", "json"]);
    let lines = text(&stage.run(&["history", "--format", "ndjson"]).stdout);
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(array, Value::Array(lines));
    let csv = text(&stage.run(&["history", "--format", "csv"]).stdout);
    assert!(csv.starts_with("timestamp,execution_id,skill,"), "{csv}");
    assert_eq!((csv.matches("\r\n").count(), csv.matches('\n').count()), (4, 4));
    assert!(csv.contains(array[0]["execution_id"].as_str().unwrap()));
    let page = text(&stage.run(&["history", "--limit", "2"]).stdout);
    assert_eq!(page.lines().count(), 4, "{page}");
    assert!(page.contains("there are more"), "{page}");
    let page = text(&stage.run(&["history"]).stdout);
    assert_eq!(page.lines().count(), 4, "{page}");
    assert!(!page.contains("there are more") && page.contains("success"), "{page}");
}

#[test]
fn show_tells_all_of_a_run_and_whether_its_trace_still_holds() {
    let stage = Stage::new();
    let skill = stage.shell_skill("", "cat /etc/shadow /root/.ssh/id_rsa; exit 1");
    stage.run(&["run", "--skip-scan", "--trace", "mine.json", skill.to_str().unwrap()]);
    let list = json(&stage, &["--format", "json"]);
    let id = list[0]["execution_id"].as_str().unwrap().to_owned();
    assert!(list[0]["denied"].as_u64().unwrap() >= 1, "{list:#}");
    let class = list[0]["classes"][0].as_str().unwrap();
    assert_eq!(json(&stage, &["--format", "json", "--class", class]).as_array().unwrap().len(), 1);
    let shown = |id: &str| json(&stage, &["show", "--format", "json", id]);
    let details = shown(&id[..8]);
    let denial =
        details["denials"].as_array().unwrap().iter().find(|denial| denial["what"] == "read /etc/shadow");
    assert!(denial.unwrap()["declare"].is_null(), "nobody is told how to allow what an attack wanted");
    assert!(!details["classifications"].as_array().unwrap().is_empty());
    assert_eq!(details["trace"], stage.home().join("mine.json").to_str().unwrap(), "not relative");
    assert_eq!(details["trace_state"], "intact");
    let page = text(&stage.run(&["history", "show", &id]).stdout);
    for part in ["tested 1.2.3", "failure", &id, "read /etc/shadow", class, "intact", "mine.json"] {
        assert!(page.contains(part), "{part}: {page}");
    }
    // What may become of a trace.
    let trace = stage.home().join("mine.json");
    let first = fs::read(&trace).unwrap();
    fs::write(&trace, text(&first).replace("/etc/shadow", "/etc/shadov")).unwrap();
    assert_eq!(shown(&id)["trace_state"], "changed");
    fs::remove_file(&trace).unwrap();
    assert_eq!(shown(&id)["trace_state"], "gone");
    // Reading it would wait for somebody to write to it.
    assert!(std::process::Command::new("mkfifo").arg(&trace).status().unwrap().success());
    assert_eq!(shown(&id)["trace_state"], "unreadable");
    fs::remove_file(&trace).unwrap();
    stage.run(&["exec", "-q", "--no-history", "--trace", "mine.json", "--", "true"]);
    assert_eq!(shown(&id)["trace_state"], "replaced");
    for (wrong, why) in
        [("0000000", "no run has an id"), ("xyz", "is no id of a run"), ("", "is no id of a run")]
    {
        let output = stage.run(&["history", "show", wrong]);
        assert_eq!(code(&output), 2);
        assert!(text(&output.stderr).contains(why), "{}", text(&output.stderr));
    }
}

#[test]
fn stats_count_and_draw() {
    let stage = Stage::new();
    let empty = stage.run(&["history", "stats"]);
    assert_eq!(text(&empty.stdout), "runs 0: success 0, failure 0, timeout 0\n");
    for program in ["true", "true", "true", "false"] {
        stage.run(&["exec", "-q", "--", program]);
    }
    stage.run(&["exec", "-q", "--", "cat", "/etc/shadow"]);
    let stats = json(&stage, &["stats", "--format", "json"]);
    assert_eq!((&stats["total"]["runs"], &stats["total"]["failures"]), (&json!(5), &json!(2)));
    assert_eq!((&stats["skills"][0]["skill"], &stats["skills"][0]["runs"]), (&json!("true"), &json!(3)));
    let cat = stats["skills"].as_array().unwrap().iter().find(|skill| skill["skill"] == "cat").unwrap();
    assert_eq!(cat["top_denials"][0]["what"], "read /etc/shadow", "{stats:#}");
    let page = text(&stage.run(&["history", "stats"]).stdout);
    let bar = |name: &str, sign: char| {
        page.lines().find(|line| line.starts_with(name)).unwrap().matches(sign).count()
    };
    assert_eq!((bar("true", '█'), bar("false", '▓'), bar("false", '█')), (40, 13, 0), "{page}");
    assert!(page.contains("denied read /etc/shadow"), "{page}");
    let stats = json(&stage, &["stats", "--format", "json", "--skill", "false", "--since", "1h"]);
    assert_eq!(stats["total"]["runs"], 1);
}

#[test]
fn what_is_refused_before_it_has_a_name_is_recorded_without_its_values() {
    let stage = Stage::new();
    let skill = stage.shell_skill(PARAMETERS, "exit 0");
    let skill = skill.to_str().unwrap();
    // A misspelt name, a value that is no number, a pair that is none, a declaration that is none.
    for set in ["pim=hunter2hunter2", "days=swordfish!", "sesame-open-sesame"] {
        assert_eq!(code(&stage.run(&["run", skill, "--set", set, "--set", "city=Oslo"])), 125, "{set}");
    }
    stage.write("skill/skillsandbox.yaml", "skill: { nam: x }");
    assert_eq!(code(&stage.run(&["run", skill, "--set", "pin=hunter2hunter2"])), 125);
    assert_eq!(code(&stage.run(&["run", "no/such/folder"])), 125);
    let list = json(&stage, &["--format", "json", "--status", "failure"]);
    let list = list.as_array().unwrap();
    assert_eq!(list.len(), 5, "{list:#?}");
    assert!(list.iter().all(|record| record["ending"] == "refused" && record["error"].is_string()));
    assert_eq!((&list[0]["skill"], &list[1]["skill"]), (&json!("folder"), &json!("skill")));
    assert_eq!(list[1]["parameters"], json!({ "pin": "[REDACTED]" }));
    assert_eq!(list[4]["parameters"], json!({ "city": "Oslo", "pim": "[REDACTED]" }));
    for secret in ["hunter2", "sesame"] {
        assert!(!bytes(&stage).contains(secret), "{secret}: {list:#?}");
    }
}

#[test]
fn secrets_of_the_environment_and_of_flags_are_not_recorded() {
    let stage = Stage::new();
    let mut command = stage.command(&[
        "exec",
        "-q",
        "--env",
        "DB_PASSWORD=sword-fish-1",
        "--",
        "sh",
        "-c",
        "echo sword-fish-1 hunter2hunter2; curl https://a:b@c.test",
    ]);
    command.env("MY_API_KEY", "hunter2hunter2").output().unwrap();
    let list = json(&stage, &["--format", "json"]);
    assert_eq!(
        list[0]["arguments"][2],
        "echo [REDACTED:DB_PASSWORD] [REDACTED:MY_API_KEY]; curl https://[REDACTED]@c.test",
        "{list:#}"
    );
    assert!(!bytes(&stage).contains("sword-fish") && !bytes(&stage).contains("hunter2"));
}

#[test]
fn a_dry_run_is_not_recorded_and_nobody_needs_to_record() {
    let stage = Stage::new();
    stage.run(&["exec", "-q", "--no-history", "--", "true"]);
    stage.run(&["exec", "--dry-run", "--", "true"]);
    stage.run(&["run", "--dry-run", "no/such/folder"]);
    stage.run(&["run", "--no-history", "no/such/folder"]);
    assert!(!database(&stage).exists());
}

#[test]
fn a_history_that_cannot_be_written_stops_no_run() {
    let stage = Stage::new();
    let file = database(&stage);
    let run = |stage: &Stage, why: &str| {
        let traces = stage.traces().len();
        let output = stage.run(&["exec", "-q", "--", "sh", "-c", "echo out; exit 7"]);
        assert_eq!((code(&output), text(&output.stdout).as_str()), (7, "out\n"), "{why}");
        let said = text(&output.stderr);
        assert!(
            said.contains("warning: this run is not in the history") && said.contains(why),
            "{why}: {said}"
        );
        assert_eq!(stage.traces().len(), traces + 1, "{why}");
        let looked = stage.run(&["history", "--format", "json"]);
        assert_eq!(code(&looked), 2, "{why}: {}", text(&looked.stderr));
        let document: Value = serde_json::from_slice(&looked.stdout).unwrap();
        assert_eq!(document["error"]["code"], "FAILED", "{why}: {document}");
    };
    stage.run(&["exec", "-q", "--", "true"]);
    assert_eq!(json(&stage, &["--format", "json"]).as_array().unwrap().len(), 1);
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    run(&stage, "is no file");
    fs::remove_dir(&file).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", &file).unwrap();
    run(&stage, "symbolic link");
    fs::remove_file(&file).unwrap();
    let folder = file.parent().unwrap();
    fs::set_permissions(folder, fs::Permissions::from_mode(0o777)).unwrap();
    run(&stage, "other users");
    fs::set_permissions(folder, fs::Permissions::from_mode(0o700)).unwrap();
    let output = stage.run(&["exec", "-q", "--", "true"]);
    assert_eq!((code(&output), text(&output.stderr).as_str()), (0, ""), "and all is well again");
}

/// Only who reads it opens the database: what was run meanwhile waits beside it, and is there when it is cured.
#[test]
fn what_is_run_while_the_history_is_damaged_is_in_it_afterwards() {
    let stage = Stage::new();
    let file = database(&stage);
    stage.run(&["exec", "-q", "--", "true"]);
    assert_eq!(json(&stage, &["--format", "json"]).as_array().unwrap().len(), 1);
    let whole = fs::read(&file).unwrap();
    // The version is four bytes at 60 (sqlite.org/fileformat.html).
    let mut newer = whole.clone();
    newer[60..64].copy_from_slice(&99_u32.to_be_bytes());
    for (bytes, why) in [
        (b"not a database, whatever its name says".repeat(100), "move it away"),
        (whole[..whole.len() / 3].to_vec(), "move it away"),
        (newer, "later version"),
    ] {
        fs::write(&file, bytes).unwrap();
        let output = stage.run(&["exec", "-q", "--", "sh", "-c", "echo out; exit 7"]);
        assert_eq!((code(&output), text(&output.stdout).as_str()), (7, "out\n"), "{why}");
        let looked = stage.run(&["history", "--format", "json"]);
        assert_eq!(code(&looked), 2, "{why}");
        assert!(text(&looked.stderr).contains(why), "{why}: {}", text(&looked.stderr));
        let document: Value = serde_json::from_slice(&looked.stdout).unwrap();
        assert_eq!(document["error"]["code"], "FAILED", "{why}: {document}");
    }
    fs::write(&file, whole).unwrap();
    assert_eq!(json(&stage, &["--format", "json"]).as_array().unwrap().len(), 4);
    // Where nobody cures it, the run that finds no more room says so.
    let spool = file.with_file_name("history.db.spool");
    fs::write(&file, "not a database".repeat(100)).unwrap();
    fs::write(&spool, "\n".repeat(16 << 20)).unwrap();
    let output = stage.run(&["exec", "-q", "--", "true"]);
    let said = text(&output.stderr);
    assert!(
        said.contains("warning: this run is not in the history") && said.contains("move it away"),
        "{said}"
    );
}

#[test]
fn what_a_skill_chooses_cannot_forge_a_line_or_move_the_cursor() {
    let stage = Stage::new();
    let name = "=cmd|'x'!A1\n2026-01-01 00:00:00  forged\u{1b}[2J\u{202e}\r\u{9b}K\u{2028},\"";
    let program = stage.write("home/placeholder", "#!/bin/sh\nexit 0\n").with_file_name(name);
    fs::write(&program, "#!/bin/sh\nexit 0\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    stage.run(&["exec", "-q", "--read", ".", "--", program.to_str().unwrap(), "\u{1b}]0;x\u{7}", "\n=1+1"]);
    stage.run(&["exec", "-q", "--", program.to_str().unwrap()]);
    let list = json(&stage, &["--format", "json"]);
    assert_eq!(list[1]["skill"], name, "for programs it is what it is");
    let id = list[1]["execution_id"].as_str().unwrap();
    for (arguments, lines) in [
        (&["history"][..], Some(3)),
        (&["history", "--color", "always"], Some(3)),
        (&["history", "--format", "ndjson"], Some(2)),
        (&["history", "--format", "csv"], Some(3)),
        (&["history", "--format", "json"], Some(4)),
        (&["history", "show", id], None),
        (&["history", "show", "--format", "json", id], None),
        (&["history", "stats"], None),
        (&["history", "stats", "--format", "json"], None),
    ] {
        let page = text(&stage.run(arguments).stdout);
        if let Some(lines) = lines {
            assert_eq!(page.lines().count(), lines, "{arguments:?}: {page:?}");
        }
        assert!(!page.lines().any(|line| line.trim_start().starts_with("2026-01-01 00:00:00")), "{page:?}");
        for hostile in ["\u{1b}[2J", "\u{1b}]", "\u{202e}", "\u{9b}", "\u{2028}", "\u{7}"] {
            assert!(!page.contains(hostile), "{arguments:?} {hostile:?}: {page:?}");
        }
        let returns = page.replace("\r\n", "\n");
        assert!(!returns.contains('\r'), "{arguments:?}: {page:?}");
    }
    let csv = text(&stage.run(&["history", "--format", "csv"]).stdout);
    assert!(csv.contains(",\"'=cmd|"), "{csv}");
}

#[test]
fn no_run_can_reach_the_history() {
    let stage = Stage::new();
    stage.run(&["exec", "-q", "--", "true"]);
    assert_eq!(json(&stage, &["--format", "json"]).as_array().unwrap().len(), 1);
    let before = fs::read(database(&stage)).unwrap();
    let home = stage.home();
    let script = format!(
        "cat {0}; rm -f {0}; echo x > {0}; ls -A {1}",
        database(&stage).display(),
        database(&stage).parent().unwrap().display()
    );
    let output = stage.run(&[
        "exec",
        "-q",
        "--no-history",
        "--write",
        home.to_str().unwrap(),
        "--",
        "sh",
        "-c",
        &script,
    ]);
    assert!(!text(&output.stdout).contains("history"), "{}", text(&output.stdout));
    assert_eq!(fs::read(database(&stage)).unwrap(), before);
}

#[test]
fn runs_through_a_server_are_in_the_history_with_the_digest_that_its_answer_has() {
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::process::Stdio;

    let stage = Stage::new();
    stage.shell_skill(PARAMETERS, "exit 3");
    let root = stage.home().parent().unwrap().join("roots");
    fs::create_dir(&root).unwrap();
    fs::rename(stage.skill(), root.join("tested")).unwrap();
    stage.write("roots/broken/skillsandbox.yaml", "skill: { nam: broken }\n");
    let mut command = stage.command(&["serve", "--root", root.to_str().unwrap()]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut ask = |id: u64, method: &str, params: Value| -> Value {
        writeln!(stdin, "{}", json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
            .unwrap();
        if id == 0 {
            writeln!(stdin, "{}", json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))
                .unwrap();
        }
        serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap()
    };
    let client = json!({ "name": "a test", "version": "1" });
    ask(
        0,
        "initialize",
        json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client }),
    );
    let parameters = json!({ "city": "Oslo", "days": 3, "pin": "hunter2hunter2", "api_key": "sesame-open" });
    let arguments = json!({ "skill": "tested", "parameters": parameters, "args": ["--token", "swordfish"] });
    let answer = ask(1, "tools/call", json!({ "name": "run_skill", "arguments": arguments }));
    let data = answer["result"]["structuredContent"].clone();
    assert_eq!((&data["exit_code"], &data["history_error"]), (&json!(3), &Value::Null), "{answer}");
    let arguments = json!({ "skill": "broken", "parameters": { "pin": "hunter2hunter2" } });
    let answer = ask(2, "tools/call", json!({ "name": "run_skill", "arguments": arguments }));
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    drop(stdin);
    child.wait().unwrap();

    let list = json(&stage, &["--format", "json"]);
    assert_eq!(list.as_array().unwrap().len(), 2, "{list:#}");
    let (broken, ran) = (&list[0], &list[1]);
    assert_eq!((&broken["skill"], &broken["ending"]), (&json!("broken"), &json!("refused")), "{list:#}");
    assert_eq!(
        (&ran["skill"], &ran["tool"], &ran["exit_code"]),
        (&json!("tested"), &json!("run_skill"), &json!(3))
    );
    assert_eq!(
        ran["parameters"],
        json!({ "city": "Oslo", "days": 3, "pin": "[REDACTED]", "api_key": "[REDACTED]" })
    );
    assert_eq!(ran["arguments"], json!(["--token", "[REDACTED]"]));
    for secret in ["hunter2", "sesame", "swordfish"] {
        assert!(!bytes(&stage).contains(secret), "{secret}");
    }
    // The digest of the answer is that of the trace, and the one that the history has.
    let digest = data["trace_digest"].as_str().unwrap_or_else(|| panic!("{data}"));
    assert_eq!(ran["digest"], digest);
    let traces = stage.traces();
    let trace =
        traces.iter().find(|path| path.to_str().unwrap().contains(data["trace_id"].as_str().unwrap()));
    let verified = stage.run(&["trace", "verify", trace.unwrap().to_str().unwrap(), "--digest", digest]);
    assert_eq!(code(&verified), 0, "{}", text(&verified.stderr));
}

#[test]
fn git_that_fetches_a_skill_is_in_the_history() {
    let stage = Stage::new();
    let repository =
        stage.write("repository/SKILL.md", "---\nname: notes\ndescription: Keeps notes\n---\nKeep notes.\n");
    let repository = repository.parent().unwrap();
    for arguments in [
        &["init", "-q", "-b", "main"][..],
        &["add", "SKILL.md"],
        &["-c", "user.name=a", "-c", "user.email=a@a.test", "commit", "-qm", "notes"],
    ] {
        let git = std::process::Command::new("git").current_dir(repository).args(arguments).output().unwrap();
        assert!(git.status.success(), "{}", text(&git.stderr));
    }
    let source = format!("file://{}", repository.display());
    let output = stage.run(&["install", &source]);
    assert_eq!(code(&output), 0, "{}", text(&output.stderr));
    let list = json(&stage, &["--skill", "git", "--format", "json"]);
    let tools: Vec<&Value> = list.as_array().unwrap().iter().map(|record| &record["tool"]).collect();
    assert!(!tools.is_empty() && tools.iter().all(|tool| *tool == "git"), "{list:#}");
}

#[test]
fn history_show_says_what_is_unknown_and_does_not_call_it_prevented() {
    let stage = Stage::new();
    let show = |unknown: bool| {
        let mut entry = Entry::new(uuid::Uuid::new_v4(), jiff::Timestamp::now(), "tested", "run");
        entry.unknown = if unknown { 3 } else { 0 };
        entry.classes = vec![Classified {
            class: "credential_harvesting".to_owned(),
            severity: "high".to_owned(),
            prevented: !unknown,
            unknown,
            message: "looked for credentials".to_owned(),
        }];
        History::open(&database(&stage)).unwrap().record(&entry).unwrap();
        let id = entry.id.to_string();
        let output = stage.run(&["history", "show", &id]);
        assert_eq!(code(&output), 0, "{}", text(&output.stderr));
        (text(&output.stdout), json(&stage, &["show", "--format", "json", &id]))
    };
    let (page, _) = show(false);
    assert!(page.contains("(high, prevented)") && !page.contains("unknown what"), "{page}");
    let (page, data) = show(true);
    assert!(page.contains("(high, UNKNOWN whether prevented)"), "{page}");
    assert!(page.contains("unknown what became of: 3 attempts"), "{page}");
    assert_eq!(data["unknown"], 3);
    let class = &data["classifications"][0];
    assert_eq!((&class["prevented"], &class["unknown"]), (&json!(false), &json!(true)), "{data}");
}
