//! `skillsandbox trace`, as a person and as a script meets it.
// A test may fail by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use skillsandbox_test_support::stories;
use skillsandbox_tracer::Trace;

fn trace(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_skillsandbox")).arg("trace").args(arguments).output().unwrap()
}

fn written(trace: &Trace) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("trace.json");
    std::fs::write(&file, serde_json::to_vec(trace).unwrap()).unwrap();
    (folder, file)
}

fn path(file: &Path) -> &str {
    file.to_str().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn show_is_plain_in_a_pipe_and_coloured_when_asked() {
    let (_folder, file) = written(&stories::malicious_weather());
    let output = trace(&["show", path(&file)]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let page = text(&output.stdout);
    assert!(page.contains("SUPPLY_CHAIN_ATTACK") && !page.contains('\u{1b}'), "{page}");
    let coloured = trace(&["--color=always", "show", path(&file)]);
    assert!(text(&coloured.stdout).contains("\u{1b}[1;31mDENIED"));
    let ascii = trace(&["show", "--ascii", path(&file)]);
    assert!(text(&ascii.stdout).is_ascii());
}

#[test]
fn show_lets_nothing_of_a_hostile_trace_through() {
    let (_folder, file) = written(&stories::hostile());
    for arguments in
        [["--color=always", "show", "--all", path(&file)], ["--color=never", "show", "--all", path(&file)]]
    {
        let page = text(&trace(&arguments).stdout);
        // Ours are short, and end in `m`.
        for (at, _) in page.match_indices('\u{1b}') {
            let rest: String = page[at..].chars().take(7).collect();
            let ours = [
                "\u{1b}[0m",
                "\u{1b}[1m",
                "\u{1b}[2m",
                "\u{1b}[1;31m",
                "\u{1b}[32m",
                "\u{1b}[33m",
                "\u{1b}[36m",
            ];
            assert!(ours.iter().any(|code| rest.starts_with(code)), "{rest:?}");
        }
        assert!(!page.contains(['\r', '\u{202e}', '\u{2028}', '\u{9b}', '\u{200b}']));
    }
}

#[test]
fn html_writes_beside_the_trace_and_never_over_it() {
    let (folder, file) = written(&stories::malicious_weather());
    let output = trace(&["html", path(&file)]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(output.stdout.is_empty());
    let page = std::fs::read_to_string(folder.path().join("trace.html")).unwrap();
    assert!(page.starts_with("<!doctype html>") && page.ends_with("</html>\n"));
    assert_eq!(trace(&["html", path(&file), "-o", "-"]).stdout, page.as_bytes());
    // Nothing else is left behind.
    let names = || std::fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(names(), 2);
    let misnamed = folder.path().join("trace.html");
    std::fs::copy(&file, &misnamed).unwrap();
    let output = trace(&["html", path(&misnamed)]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("--output"), "{}", text(&output.stderr));
    assert_eq!(std::fs::read(&misnamed).unwrap(), std::fs::read(&file).unwrap());
    let output = trace(&["html", path(&file), "-o", path(&folder.path().join("missing/page.html"))]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(names(), 2);
}

/// Somebody who can write to the folder puts a link where the page is going to be.
#[cfg(unix)]
#[test]
fn html_does_not_write_through_a_link() {
    let (folder, file) = written(&stories::weather());
    let victim = folder.path().join("victim");
    std::fs::write(&victim, "precious").unwrap();
    std::os::unix::fs::symlink(&victim, folder.path().join("trace.html")).unwrap();
    assert_eq!(trace(&["html", path(&file)]).status.code(), Some(0));
    assert_eq!(std::fs::read_to_string(&victim).unwrap(), "precious");
    assert!(std::fs::read_to_string(folder.path().join("trace.html")).unwrap().contains("<!doctype html>"));
}

#[test]
fn export_has_three_forms() {
    let whole = stories::malicious_weather();
    let (folder, file) = written(&whole);
    let json = trace(&["export", path(&file)]);
    assert_eq!(serde_json::from_slice::<Trace>(&json.stdout).unwrap(), whole);
    let lines = text(&trace(&["export", path(&file), "--format", "ndjson"]).stdout);
    assert_eq!(lines.lines().count(), whole.events.len());
    let to = folder.path().join("events.ndjson");
    let output = trace(&["export", path(&file), "--format", "ocsf", "-o", path(&to)]);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(0), 0));
    for line in std::fs::read_to_string(to).unwrap().lines() {
        assert_eq!(serde_json::from_str::<Value>(line).unwrap()["metadata"]["version"], "1.3.0");
    }
}

#[test]
fn a_trace_may_come_by_standard_input() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_skillsandbox"))
        .args(["trace", "show", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(&serde_json::to_vec(&stories::weather()).unwrap()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(text(&output.stdout).contains("nothing looks like an attack"));
}

#[test]
fn what_is_no_trace_is_an_error_that_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let mut newer = serde_json::to_value(stories::weather()).unwrap();
    newer["format"] = "skillsandbox.trace/99\u{1b}[2J".into();
    let deep = "[".repeat(100_000);
    for (content, message) in [
        ("{}", "not a trace that this version can read"),
        ("", "not a trace that this version can read"),
        (&deep, "not a trace that this version can read"),
        (&newer.to_string(), "use the version that wrote it"),
    ] {
        let file = folder.path().join("x.json");
        std::fs::write(&file, content).unwrap();
        for verb in ["show", "html", "export"] {
            let output = trace(&[verb, path(&file)]);
            assert_eq!(output.status.code(), Some(2), "{verb}");
            let said = text(&output.stderr);
            assert!(said.contains(message) && !said.contains("\u{1b}[2J"), "{said:?}");
        }
    }
    let output = trace(&["show", path(&folder.path().join("missing.json"))]);
    assert!(text(&output.stderr).contains("cannot open"));
}
