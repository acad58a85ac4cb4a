//! What happens to a command that is allowed, and that nothing happens to one that is not.
#![cfg(all(unix, feature = "run"))]
// A test may fail by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

use skillsandbox_command_policy::{
    CommandDecision, CommandPolicy, CommandPolicyBuilder, CommandRule, CommandRunError, DEFAULT_TIMEOUT,
    MAX_OUTPUT,
};

/// A skill's folder with one script.
fn skill(script: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("run.sh");
    fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    dir
}

fn builder(root: &Path) -> CommandPolicyBuilder {
    CommandPolicy::builder().root(root)
}

#[test]
fn row_072_commands_run_in_the_root_with_a_time_limit() {
    assert_eq!(DEFAULT_TIMEOUT, Duration::from_secs(30));
    let dir = skill("pwd; cat");
    let policy = builder(dir.path()).build().unwrap();
    assert_eq!(policy.timeout(), DEFAULT_TIMEOUT);
    let finished = policy.run("./run.sh").unwrap();
    let real = dir.path().canonicalize().unwrap();
    // Standard input is empty, or `cat` would wait.
    assert_eq!((finished.stdout.trim_end(), finished.code), (real.to_str().unwrap(), Some(0)));
    assert_eq!(finished.decision, CommandDecision::Allowed);
    assert_eq!(finished.argv, ["./run.sh"]);
}

#[test]
fn row_072_what_takes_too_long_is_ended_with_all_it_started() {
    let dir = skill(
        "echo begun; trap '' TERM INT HUP; (while :; do echo more > again; sleep 0.02; done) & sleep 600",
    );
    let policy = builder(dir.path()).timeout(Duration::from_millis(300)).build().unwrap();
    let finished = policy.run("./run.sh").unwrap();
    assert!(finished.timed_out);
    assert_eq!((finished.code, finished.stdout.as_str()), (None, "begun\n"));
    // Its helper is over too: what it keeps writing is not written again.
    let again = dir.path().join("again");
    fs::remove_file(&again).unwrap();
    std::thread::sleep(Duration::from_millis(200));
    assert!(!again.exists(), "something is left running");
}

#[test]
fn row_072_a_daemon_does_not_keep_the_caller_waiting() {
    let dir = skill("sleep 600 & echo done");
    let finished = builder(dir.path()).build().unwrap().run("./run.sh").unwrap();
    assert!(!finished.timed_out);
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(0), "done\n"));
}

#[test]
fn row_077_a_bypass_skips_the_checks_but_neither_directory_nor_time() {
    let dir = skill("exit 3");
    let build = || builder(dir.path()).allowed_tools("Bash(git:*)").dangerously_bypass();
    let policy = build().build().unwrap();
    let line = "pwd && ls | sort; cat ../$NOTHING/../dev/null";
    assert!(policy.is_bypassed());
    assert_eq!(policy.check(line), CommandDecision::Bypassed);
    assert_eq!(policy.check_argv(["anything", "/etc/passwd"]), CommandDecision::Bypassed);
    assert_eq!(policy.parse("a | b").unwrap(), ["/bin/sh", "-c", "a | b"]);
    assert_eq!(policy.parse("a\0b").unwrap_err().rule, CommandRule::ControlCharacter);
    let finished = policy.run("pwd && ls | sort").unwrap();
    assert_eq!(finished.decision, CommandDecision::Bypassed, "its use can be seen");
    assert_eq!(finished.stdout, format!("{}\nrun.sh\n", dir.path().canonicalize().unwrap().display()));
    let short = build().timeout(Duration::from_millis(200)).build().unwrap();
    assert!(short.run("sleep 600; echo never").unwrap().timed_out);
    // A decision that checked nothing is stricter than one that passed.
    assert!(CommandDecision::Bypassed > CommandDecision::Allowed);
}

#[test]
fn row_078_what_is_refused_is_an_error_and_starts_nothing() {
    let dir = skill("echo ran > marker");
    let policy = builder(dir.path()).allowed_tools("Bash(./run.sh:*)").build().unwrap();
    for line in [
        "./run.sh; true",
        "./run.sh > x",
        "./run.sh ../x",
        "./run.sh /etc/passwd",
        "sh run.sh",
        "./run.sh $(id)",
        "./run.sh\n",
        "X=1 ./run.sh",
    ] {
        match policy.run(line) {
            Err(CommandRunError::Denied(denied)) => {
                assert!(denied.to_string().starts_with("command refused: "), "{denied}");
            }
            other => panic!("{line}: {other:?}"),
        }
        assert!(!dir.path().join("marker").exists(), "{line} started it");
    }
    // The same, allowed, does start it.
    policy.run("./run.sh").unwrap();
    assert!(dir.path().join("marker").exists());
    assert!(matches!(
        builder(dir.path()).build().unwrap().run("no-such-program-here"),
        Err(CommandRunError::Failed(..))
    ));
}

#[test]
fn row_081_arguments_reach_the_program_as_they_are() {
    let dir = skill("printf '<%s>' \"$@\"");
    let policy = builder(dir.path()).build().unwrap();
    let finished = policy.run("./run.sh get 'pods; rm -rf /' '' \"a  b\" '*' '$(id)'").unwrap();
    assert_eq!(finished.stdout, "<get><pods; rm -rf /><><a  b><*><$(id)>");
}

#[test]
fn row_082_output_is_captured_and_sanitised() {
    let dir = skill(
        r"printf 'a\033[2J\033]0;title\007b\rc\n\td\302\233e\342\200\256f\377\n'; printf 'err\033c' >&2; exit 7",
    );
    let finished = builder(dir.path()).build().unwrap().run("./run.sh").unwrap();
    assert_eq!(finished.stdout, "a\\u{1b}[2J\\u{1b}]0;title\\u{7}b\\u{d}c\n\td\\u{9b}e\\u{202e}f\u{fffd}\n");
    assert_eq!(
        (finished.stderr.as_str(), finished.code, finished.truncated),
        ("err\\u{1b}c", Some(7), false)
    );
}

#[test]
fn row_082_a_flood_is_cut() {
    let dir = skill("yes flood; exit 0");
    let policy = builder(dir.path()).timeout(Duration::from_secs(1)).build().unwrap();
    let finished = policy.run("./run.sh").unwrap();
    assert!(finished.truncated && finished.timed_out);
    assert_eq!(finished.stdout.len(), MAX_OUTPUT);
}

#[test]
fn secrets_of_the_caller_are_not_inherited() {
    let dir = skill("set");
    let policy = builder(dir.path()).build().unwrap();
    let seen = policy.run("./run.sh").unwrap().stdout;
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());
    assert!(!seen.contains("CARGO_MANIFEST_DIR") && seen.contains("PATH="), "{seen}");
    let policy = builder(dir.path()).keep_variables(["CARGO_MANIFEST_DIR"]).build().unwrap();
    assert!(policy.run("./run.sh").unwrap().stdout.contains("CARGO_MANIFEST_DIR"));
}
