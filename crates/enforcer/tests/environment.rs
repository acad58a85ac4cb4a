//! What a confined command sees of the environment.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::collections::BTreeSet;

use common::{output, plan, sh};
use skillsandbox_enforcer::{Command, Plan};

/// The variables that every sandbox sets itself (README).
const OWN: [&str; 11] = [
    "HOME",
    "LOGNAME",
    "PATH",
    "SHELL",
    "TMPDIR",
    "USER",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
    "XDG_STATE_HOME",
];

/// This test program again, with only the variables given, running one of its ignored tests.
fn again(test: &str, variables: &[(&str, &str)]) -> std::process::Output {
    let mut command = std::process::Command::new(std::env::current_exe().unwrap());
    command.args([test, "--exact", "--ignored", "--nocapture"]).env_clear();
    command.env("PATH", "/usr/bin:/bin").envs(variables.iter().copied());
    for name in ["TMPDIR", "HOME"] {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    command.output().unwrap()
}

fn names(text: &str) -> BTreeSet<String> {
    text.lines().filter_map(|line| line.split_once('=')).map(|(name, _)| name.to_owned()).collect()
}

#[test]
fn row_083_a_command_sees_what_was_declared_and_the_sandboxs_own() {
    let plan = plan().env("LANG", "C.UTF-8").env("CITY", "Oslo = \"north\"");
    let text = common::run(plan, &Command::new("/usr/bin/env")).stdout.text().into_owned();
    let mut expected: BTreeSet<String> = OWN.iter().map(|name| (*name).to_owned()).collect();
    expected.extend(["LANG".to_owned(), "CITY".to_owned()]);
    assert_eq!(names(&text), expected, "{text}");
    assert!(text.contains("CITY=Oslo = \"north\""), "{text}");
}

#[test]
fn row_084_undeclared_secrets_are_nowhere_to_be_found() {
    let outside = again("helper_look_for_secrets", &[("AWS_SECRET_ACCESS_KEY", "canary-5f3a")]);
    let text =
        String::from_utf8_lossy(&outside.stdout).into_owned() + &String::from_utf8_lossy(&outside.stderr);
    // The control: the launching program has it, and /proc shows it there.
    assert!(text.contains("outside: found"), "{text}");
    assert!(text.contains("inside: nothing"), "{text}");
}

#[test]
#[ignore = "run by another test, with a secret in its environment"]
fn helper_look_for_secrets() {
    let own = std::fs::read_to_string("/proc/self/environ").unwrap();
    println!("outside: {}", if own.contains("canary-5f3a") { "found" } else { "nothing" });
    let script = "for f in /proc/[0-9]*/environ /proc/self/environ /proc/1/environ /proc/*/task/*/environ; do \
                  tr '\\0' '\\n' < $f; done 2>/dev/null | grep canary; env | grep canary; true";
    let found = output(plan(), script);
    println!("inside: {}", if found.is_empty() { "nothing" } else { &found });
}

#[test]
fn row_085_the_outcome_counts_what_was_handed_on_and_what_was_not() {
    let outside =
        again("helper_count", &[("APP_ONE", "1"), ("APP_TWO", "2"), ("OTHER", "3"), ("DB_PASSWORD", "4")]);
    let text = String::from_utf8_lossy(&outside.stdout).into_owned();
    assert!(text.contains("allowed 2"), "{text}");
    // OTHER, DB_PASSWORD, PATH and, where they are set, HOME and TMPDIR.
    let expected = 3 + ["TMPDIR", "HOME"].iter().filter(|name| std::env::var_os(name).is_some()).count();
    assert!(text.contains(&format!("stripped {expected}")), "{text}");
}

#[test]
#[ignore = "run by another test, with an environment of its own"]
fn helper_count() {
    let outcome = sh(plan().allow_env("APP_*"), "true");
    println!("allowed {} stripped {}", outcome.environment.allowed, outcome.environment.stripped);
}

#[test]
fn row_086_patterns_allow_negations_deny_and_denial_wins() {
    let variables = [
        ("KUBECTL_CONTEXT", "a"),
        ("APP_MODE", "b"),
        ("APP_INTERNAL", "c"),
        ("SECRET_APP", "d"),
        ("LANG", "e"),
        ("UNRELATED", "f"),
    ];
    let outside = again("helper_patterns", &variables);
    let text = String::from_utf8_lossy(&outside.stdout).into_owned();
    for (name, _) in variables {
        let expected = ["KUBECTL_CONTEXT", "APP_MODE"].contains(&name);
        assert_eq!(names(&text).contains(name), expected, "{name}: {text}");
    }
}

#[test]
#[ignore = "run by another test, with an environment of its own"]
fn helper_patterns() {
    let patterns = ["KUBECTL_*", "APP_*", "!SECRET_*", "SECRET_APP", "LANG"];
    let plan = patterns.into_iter().fold(plan(), common::Builder::allow_env);
    println!("{}", output(plan.deny_env("APP_INTERNAL").deny_env("LA*"), "env"));
}

#[test]
fn row_087_names_that_speak_of_secrets_are_only_handed_on_by_their_full_name() {
    let variables = [
        ("MY_SECRET", "x"),
        ("DB_PASSWORD", "x"),
        ("GITHUB_TOKEN", "x"),
        ("WEATHER_API_KEY", "x"),
        ("SSH_PRIVATE_KEY", "x"),
        ("DECLARED_TOKEN", "x"),
        ("CITY", "x"),
    ];
    let outside = again("helper_everything", &variables);
    let seen = names(&String::from_utf8_lossy(&outside.stdout));
    let ours: Vec<_> = variables.iter().map(|(name, _)| *name).filter(|name| seen.contains(*name)).collect();
    assert_eq!(ours, ["DECLARED_TOKEN", "CITY"]);
}

#[test]
#[ignore = "run by another test, with an environment of its own"]
fn helper_everything() {
    println!("{}", output(plan().allow_env("*").allow_env("DECLARED_TOKEN"), "env"));
}

#[test]
fn names_and_values_that_cannot_be_are_refused() {
    for name in ["", "A=B", "A\0B"] {
        let error = Plan::builder().env(name, "x").build().unwrap_err();
        assert!(error.to_string().contains("cannot be the name"), "{error}");
    }
    assert!(Plan::builder().env("A", "x\0y").build().is_err());
}

#[test]
fn arguments_arrive_as_they_are() {
    let script = "for a in \"$@\"; do printf '[%s]' \"$a\"; done";
    let command = Command::new("/bin/sh").args(["-c", script, "sh", "a b", "", "$HOME", "; rm -rf /", "ä\n"]);
    let outcome = common::run(plan(), &command);
    assert_eq!(outcome.stdout.text(), "[a b][][$HOME][; rm -rf /][ä\n]");
}
