//! `skillsandbox doctor` as a person and as a script meets it.
// A test may fail by panicking.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::collections::BTreeMap;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Output};

use seccompiler::{BpfProgram, SeccompAction, SeccompFilter};
use serde_json::Value;

const REFUSED: &str = "SKILLSANDBOX_TEST_REFUSED";

fn doctor(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_skillsandbox")).arg("doctor").args(arguments).output().unwrap()
}

/// The same under a filter that answers one call with `ENOSYS`. A filter cannot be taken off again, so this program executes
/// itself, puts the filter on, and executes the command.
fn doctor_without(call: i64, arguments: &[&str]) -> Output {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "become_doctor", "--ignored", "--nocapture", "--"]);
    command.env(REFUSED, call.to_string()).env("SKILLSANDBOX_TEST_ARGUMENTS", arguments.join(" "));
    command.output().unwrap()
}

/// Not a test: see [`doctor_without`].
#[test]
#[ignore = "the other tests start it, in a process of its own"]
fn become_doctor() {
    let Ok(call) = std::env::var(REFUSED) else { return };
    let rules = BTreeMap::from([(call.parse().unwrap(), Vec::new())]);
    let refuse = SeccompAction::Errno(u32::try_from(libc::ENOSYS).unwrap());
    let target = std::env::consts::ARCH.try_into().unwrap();
    let filter: BpfProgram =
        SeccompFilter::new(rules, SeccompAction::Allow, refuse, target).unwrap().try_into().unwrap();
    seccompiler::apply_filter(&filter).unwrap();
    let arguments = std::env::var("SKILLSANDBOX_TEST_ARGUMENTS").unwrap();
    let error = Command::new(env!("CARGO_BIN_EXE_skillsandbox"))
        .arg("doctor")
        .args(arguments.split_whitespace())
        .exec();
    panic!("cannot execute the command: {error}");
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// What comes after what the test harness of [`become_doctor`] says.
fn json(output: &Output) -> Value {
    let text = text(&output.stdout);
    serde_json::from_str(&text[text.find('{').unwrap()..]).unwrap()
}

const LAYERS: [&str; 12] = [
    "namespaces",
    "cgroup",
    "mounts",
    "network",
    "lifetime",
    "fds",
    "env",
    "rlimits",
    "caps",
    "no_new_privs",
    "landlock",
    "seccomp",
];

#[test]
fn a_ready_host_is_called_ready_with_a_line_for_each_layer() {
    let output = doctor(&[]);
    let page = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{page}");
    assert_eq!(text(&output.stderr), "");
    for layer in LAYERS {
        let own = |line: &&str| !line.starts_with(' ') && line.split_whitespace().nth(1) == Some(layer);
        assert_eq!(page.lines().filter(own).count(), 1, "{layer}: {page}");
    }
    assert!(page.lines().last().unwrap().starts_with("ready: "), "{page}");
    assert!(page.contains("ran in a sandbox"), "{page}");
    assert!(!page.contains('\u{1b}'), "colours in a pipe: {page:?}");
}

#[test]
fn a_script_reads_the_same_as_json() {
    let output = doctor(&["--format", "json"]);
    assert_eq!(output.status.code(), Some(0));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["ready"], true);
    let layers: Vec<&str> =
        report["layers"].as_array().unwrap().iter().map(|layer| layer["layer"].as_str().unwrap()).collect();
    assert_eq!(layers, LAYERS);
    assert_eq!(report["facts"]["architecture"], std::env::consts::ARCH);
    assert_eq!(report["trial"]["result"], "ran");
    assert!(report["checks"].as_array().unwrap().len() > 20);
}

#[test]
fn a_host_that_lacks_something_is_refused_with_the_reason_and_the_cure() {
    let output = doctor_without(libc::SYS_mount_setattr, &[]);
    let page = text(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{page}");
    let after = page.split("missing  mounts").nth(1).unwrap_or_else(|| panic!("{page}"));
    let mut lines = after.lines().skip(1);
    assert!(lines.next().unwrap().contains("mount_setattr: Function not implemented"), "{page}");
    assert!(lines.next().unwrap().trim_start().starts_with("cure: "), "{page}");
    assert!(page.lines().last().unwrap().starts_with("not ready: "), "{page}");
    assert!(page.lines().last().unwrap().ends_with("mounts"), "{page}");

    let output = doctor_without(libc::SYS_mount_setattr, &["--format", "json"]);
    assert_eq!(output.status.code(), Some(1));
    let report = json(&output);
    assert_eq!(report["ready"], false);
    let mounts = &report["layers"][2];
    assert_eq!((mounts["layer"].as_str(), mounts["state"].as_str()), (Some("mounts"), Some("missing")));
    assert!(mounts["cure"]["what"].as_str().unwrap().len() > 20, "{mounts}");
}

#[test]
fn wrong_usage_is_no_answer() {
    for arguments in [&["--format", "yaml"][..], &["--fix"], &["host"]] {
        let output = doctor(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert_eq!(text(&output.stdout), "", "{arguments:?}");
        assert_ne!(text(&output.stderr), "", "{arguments:?}");
    }
}
