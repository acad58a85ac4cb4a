//! One form of decisions: the MCP server answers what the command answers line by line.

use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::client::World;

/// What `skillsandbox VERB --stdin` answers to one request.
fn answered(world: &World, root: &Path, verb: &str, request: &Value) -> Value {
    let mut command = world.command(&[verb, "--stdin", "--root", root.to_str().unwrap()]);
    command.env_remove("SKILLSANDBOX_BYPASS_COMMAND_POLICY");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    writeln!(child.stdin.take().unwrap(), "{request}").unwrap();
    let output = child.wait_with_output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn the_command_and_the_server_give_the_same_decision() {
    let world = World::new();
    let folder = world.skill("s", "", "true");
    std::os::unix::fs::symlink("/etc", folder.join("out")).unwrap();
    let mut client = world.serve(&[]);
    for (command, decision) in [
        ("git status", "allow"),
        ("cat 'main.sh'", "allow"),
        ("ls | sh", "deny"),
        ("cat /etc/passwd", "deny"),
        ("cat out/passwd", "deny"),
        ("find . -exec id", "deny"),
        ("", "deny"),
    ] {
        let line = answered(&world, &folder, "check-command", &json!({ "command": command }));
        let called = client.call("check_command", &json!({ "skill": "s", "command": command }));
        assert!(!called.failed(), "{called:?}");
        assert_eq!(called.data(), &line, "{command}");
        assert_eq!((&line["version"], &line["decision"]), (&json!(1), &json!(decision)), "{command}");
    }
    for (tool, arguments, decision) in [
        ("Read", json!({ "file_path": "main.sh" }), "allow"),
        ("Read", json!({ "file_path": "../x" }), "deny"),
        ("Read", json!({ "file_path": "/etc/passwd" }), "deny"),
        ("Read", json!({ "file_path": "out/passwd" }), "deny"),
        ("Read", json!({ "file_path": 7 }), "deny"),
        ("Read", json!({}), "deny"),
        ("Glob", json!({ "pattern": "{a,../../etc}/*" }), "deny"),
    ] {
        let request = json!({ "tool": tool, "arguments": arguments });
        let line = answered(&world, &folder, "check-path", &request);
        let called =
            client.call("check_path", &json!({ "skill": "s", "tool": tool, "arguments": arguments }));
        assert!(!called.failed(), "{called:?}");
        assert_eq!(called.data(), &line, "{request}");
        assert_eq!((&line["version"], &line["decision"]), (&json!(1), &json!(decision)), "{request}");
    }
}

#[test]
fn arguments_that_cannot_be_read_are_a_denial_in_the_same_form() {
    let world = World::new();
    world.skill("s", "", "true");
    let mut client = world.serve(&[]);
    for (tool, arguments) in [
        ("check_command", json!({ "skill": "s", "command": 7 })),
        ("check_command", json!({ "skill": "s" })),
        ("check_command", json!({ "skill": "s", "command": "ls", "root": "/" })),
        ("check_path", json!({ "skill": "s", "tool": "Read", "arguments": ["a"] })),
    ] {
        let called = client.call(tool, &arguments);
        assert!(called.failed(), "{called:?}");
        let data = called.data();
        assert_eq!((&data["version"], &data["decision"]), (&json!(1), &json!("deny")), "{data}");
        assert_eq!(
            (&data["rule"], &data["error"]["code"]),
            (&json!("invalid-request"), &json!("INVALID_PARAMETERS"))
        );
    }
}

#[test]
fn a_skill_that_lists_no_tools_may_run_no_command() {
    let world = World::new();
    let folder = world.skill("s", "", "true");
    std::fs::write(folder.join("SKILL.md"), "---\nname: s\ndescription: d\nallowed-tools: []\n---\n")
        .unwrap();
    let mut client = world.serve(&[]);
    let called = client.call("check_command", &json!({ "skill": "s", "command": "ls" }));
    assert_eq!(
        (&called.data()["decision"], &called.data()["rule"]),
        (&json!("deny"), &json!("allowed-tools")),
        "{called:?}"
    );
}

/// The form that the manifest's documentation promises, from the command and from the server.
#[test]
fn row_132_a_failure_comes_out_of_the_command_and_of_the_server_in_the_documented_shape() {
    let world = World::new();
    let ran = world.path("ran");
    let manifest = format!(
        "permissions: {{ filesystem: {{ write: [{}] }} }}\nparameters: [{{ name: unit, type: string, enum: [c, f] }}, {{ name: days, type: number, max: 9 }}, {{ name: key, type: string, secret: true, max_length: 4 }}]",
        world.path("").display()
    );
    let folder = world.skill("s", &manifest, &format!("touch {}", ran.display()));
    let expected = json!({ "code": "INVALID_PARAMETERS", "message": "Parameter validation failed",
        "details": { "parameter": "unit", "value": "kelvin", "rule": "enum", "expected": ["c", "f"] } });
    let run = |values: &[&str]| -> (Option<i32>, Value) {
        let mut command = world.command(&["run", "--format", "json", folder.to_str().unwrap()]);
        let output = command.args(values).output().unwrap();
        (
            output.status.code(),
            serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}")),
        )
    };
    let (code, report) = run(&["--set", "unit=kelvin"]);
    assert_eq!(
        (code, &report["status"], &report["error"]),
        (Some(125), &json!("refused"), &expected),
        "{report}"
    );
    // A value that cannot even be read, and one too many: nothing is known of the run yet, and the form is the same.
    for wrong in [&["--set", "days=many"][..], &["--set", "days=1", "--set", "days=2"]] {
        let (code, report) = run(wrong);
        assert_eq!(
            (code, &report["status"], &report["exit_code"]),
            (Some(125), &json!("refused"), &json!(125)),
            "{report}"
        );
        let error = &report["error"];
        assert_eq!(
            (&error["code"], &error["details"]["parameter"]),
            (&json!("INVALID_PARAMETERS"), &json!("days")),
            "{report}"
        );
    }
    let (_, report) = run(&["--set", "key=hunter2-hunter2"]);
    assert_eq!(report["error"]["details"]["rule"], "max_length", "{report}");
    assert!(!report.to_string().contains("hunter2"), "{report}");

    let mut client = world.serve(&[]);
    let called = client.call("run_skill", &json!({ "skill": "s", "parameters": { "unit": "kelvin" } }));
    assert!(called.failed(), "{called:?}");
    assert_eq!(
        (&called.data()["status"], &called.data()["error"]),
        (&json!("refused"), &expected),
        "{called:?}"
    );
    let called =
        client.call("run_skill", &json!({ "skill": "s", "parameters": { "unit": "x", "days": 10 } }));
    assert_eq!(called.data()["error"]["more"][0]["parameter"], "days", "{called:?}");
    assert!(!ran.exists(), "something ran all the same");
    // The control: with values that are right it runs.
    assert_eq!(run(&["--set", "unit=c"]).0, Some(0));
    assert!(ran.exists());
}

/// The list is the skill's own: what it names is not the caller's choice, as the list that `check-command` is given is.
#[test]
fn a_skills_own_list_does_not_name_what_runs_code() {
    let world = World::new();
    let folder = world.skill("s", "", "true");
    let text = "---\nname: s\ndescription: d\nallowed-tools: Bash(make:*) Bash(git:*)\n---\n";
    std::fs::write(folder.join("SKILL.md"), text).unwrap();
    let mut client = world.serve(&[]);
    let called = client.call("check_command", &json!({ "skill": "s", "command": "make test" }));
    assert_eq!((&called.data()["decision"], &called.data()["rule"]), (&json!("deny"), &json!("make/any")));
    let called = client.call("check_command", &json!({ "skill": "s", "command": "git status" }));
    assert_eq!(called.data()["decision"], "allow");
    let mut command =
        world.command(&["check-command", "--allowed-tools", "Bash(make:*)", "--format", "json", "make test"]);
    let output = command.current_dir(&folder).output().unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&answer["decision"], &answer["argv"]), (&json!("allow"), &json!(["make", "test"])));
}
