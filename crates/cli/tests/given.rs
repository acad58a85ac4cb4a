//! A trace says what its run was given: grants, limits, and the names of variables and credentials.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod sandboxed;

use std::fs;

use sandboxed::{Stage, code, text, trace};

/// What the trace states, as `subject: message`.
fn stated(stage: &Stage) -> Vec<String> {
    let recorded = trace(&stage.traces()[0]);
    let events = recorded["events"].as_array().unwrap().iter().filter(|event| event["kind"] == "policy");
    let word = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    events.map(|event| format!("{}: {}", word(&event["subject"]), word(&event["message"]))).collect()
}

#[test]
fn the_trace_and_its_page_name_what_was_given_and_never_a_value() {
    let stage = Stage::new();
    let home = stage.home();
    let arguments = [
        "exec",
        "-q",
        "--read",
        "in",
        "--write",
        "out",
        "--memory",
        "64M",
        "--timeout",
        "20",
        "--env",
        "PLAIN",
        "--env",
        "API_TOKEN",
        "true",
    ];
    stage.write("home/in/file", "x");
    let mut command = stage.command(&arguments);
    command
        .env("PLAIN", "plain-value")
        .env("API_TOKEN", "hunter2-the-token")
        .env("OTHER_SECRET", "hunter2-other");
    let output = command.output().unwrap();
    assert_eq!(code(&output), 0, "{}", text(&output.stderr));
    let stated = stated(&stage);
    for line in [
        format!("grant: read {}/in", home.display()),
        format!("grant: write {}/out", home.display()),
        "credentials: handed over: API_TOKEN".to_owned(),
    ] {
        assert!(stated.contains(&line), "{line}: {stated:#?}");
    }
    let named = stated.iter().find(|line| line.starts_with("variables: ")).unwrap();
    assert!(
        named.contains("API_TOKEN") && named.contains("PLAIN") && !named.contains("OTHER_SECRET"),
        "{named}"
    );
    let limits = stated.iter().find(|line| line.starts_with("limits: memory")).unwrap();
    assert!(limits.contains("memory 64 MiB") && limits.contains("time 20 s"), "{limits}");
    let page = text(&stage.run(&["trace", "html", "--last", "-o", "-"]).stdout);
    assert!(page.contains("handed over: API_TOKEN") && page.contains("digest of the trace"), "{page}");
    let recorded = fs::read_to_string(&stage.traces()[0]).unwrap();
    for secret in ["plain-value", "hunter2-the-token", "hunter2-other"] {
        assert!(!recorded.contains(secret) && !page.contains(secret), "{secret}");
    }
}

#[test]
fn a_secret_parameter_is_named_as_a_credential_and_the_skill_by_its_digest() {
    let stage = Stage::new();
    let skill = stage.shell_skill(
        "parameters: [{ name: pass-phrase, type: string, secret: true }, { name: city, type: string }]\n",
        "echo done\n",
    );
    let arguments =
        ["run", "-q", skill.to_str().unwrap(), "--set", "pass-phrase=hunter2-phrase", "--set", "city=Oslo"];
    let output = stage.run(&arguments);
    assert_eq!(code(&output), 0, "{}", text(&output.stderr));
    let stated = stated(&stage);
    assert!(stated.contains(&"credentials: handed over: SKILL_PARAM_PASS_PHRASE".to_owned()), "{stated:#?}");
    assert!(stated.iter().any(|line| line.starts_with("digest: of the skill's files: ")), "{stated:#?}");
    assert!(!fs::read_to_string(&stage.traces()[0]).unwrap().contains("hunter2-phrase"));
}
