//! `skillsandbox trace` as a person or a script meets it.
// A test may fail by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use serde_json::Value;
use skillsandbox_tracer::{
    Classifier, Event, EventKind, EventVerdict, FileOperation, OutputLine, Recorder, TraceDigest,
    TraceHeader, TraceWriter,
};
use tempfile::TempDir;

fn run(args: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_skillsandbox")).arg("trace").args(args).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn trace(skill: &str) -> (TempDir, PathBuf, TraceDigest) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace.json");
    let header = TraceHeader::new(skill, "test");
    let writer = TraceWriter::create(&path, &header).unwrap();
    let mut recorder = Recorder::new(&header, Some(writer), Vec::new());
    let lookup = EventKind::DnsQuery { name: Some("collector.evil.test".to_owned()), server: None };
    recorder.record(Event::new(lookup).with_verdict(EventVerdict::Denied, None));
    recorder.record(Event::new(EventKind::Stdout(OutputLine::new("7 °C"))));
    let done = recorder.finish();
    (folder, path, done.digest.unwrap())
}

fn edit(path: &Path, from: &str, to: &str) {
    let text = fs::read_to_string(path).unwrap();
    assert!(text.contains(from));
    fs::write(path, text.replacen(from, to, 1)).unwrap();
}

#[test]
fn an_intact_trace_is_a_yes_with_its_digest() {
    let (_folder, path, digest) = trace("weather\u{1b}[2J");
    let path = path.to_str().unwrap();
    let (code, out, err) = run(&["verify", path]);
    assert_eq!((code, err.as_str()), (0, ""));
    assert_eq!(
        out,
        format!(
            "{path}: intact, unsigned, not in the history; 2 events of weather\\u{{1b}}[2J\ndigest {digest}\n"
        )
    );
    assert_eq!(run(&["verify", path, "--digest", &digest.to_string()]).0, 0);
    let (code, out, _) = run(&["verify", path, "--format", "json"]);
    let report: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &report["intact"], &report["events"]), (0, &Value::Bool(true), &Value::from(2)));
}

#[test]
fn a_changed_trace_is_a_no_that_names_the_place() {
    let (_folder, path, _) = trace("weather");
    edit(&path, "denied", "allowed");
    let (code, out, err) = run(&["verify", path.to_str().unwrap()]);
    assert_eq!((code, out.as_str()), (1, ""));
    assert!(err.contains("edited at line 9: event 0"), "{err}");
    let (code, out, _) = run(&["verify", path.to_str().unwrap(), "--format", "json"]);
    let report: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &report["how"], &report["line"]), (1, &Value::from("edited"), &Value::from(9)));
}

#[test]
fn a_trace_that_was_written_anew_is_caught_by_a_digest_kept_elsewhere() {
    let (_folder, _, digest) = trace("weather");
    let (_other_folder, other, _) = trace("weather");
    let path = other.to_str().unwrap();
    assert_eq!(run(&["verify", path]).0, 0);
    let (code, out, err) = run(&["verify", path, "--digest", &digest.to_string()]);
    assert_eq!((code, out.as_str()), (1, ""));
    assert!(err.contains("another trace"), "{err}");
    let (code, out, _) = run(&["verify", path, "--format", "json", "--digest", &digest.to_string()]);
    let report: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(
        (code, &report["intact"], &report["how"]),
        (1, &Value::Bool(false), &Value::from("other_digest"))
    );
}

#[test]
fn no_trace_is_a_no_and_no_file_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x");
    fs::write(&path, "{\"hello\": \"world\"}").unwrap();
    let (code, _, err) = run(&["verify", path.to_str().unwrap()]);
    assert_eq!(code, 1);
    assert!(err.contains("not a trace"), "{err}");
    let (code, _, err) = run(&["verify", "not-there.json"]);
    assert_eq!(code, 2);
    assert!(err.contains("there is no file `not-there.json`, and no run whose id begins so"), "{err}");
    assert_eq!(run(&["verify", folder.path().to_str().unwrap()]).0, 2);
    assert_eq!(run(&["verify", path.to_str().unwrap(), "--digest", "abc"]).0, 2);
    assert_eq!(run(&[]).0, 2);
}

/// A trace with what is classified, so that there is a finding with evidence.
fn harvest() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace.json");
    let header = TraceHeader::new("thief", "test");
    let writer = TraceWriter::create(&path, &header).unwrap();
    let recorder = Recorder::new(&header, Some(writer), Vec::new());
    let mut recorder = recorder.classify(Box::new(Classifier::new()));
    for line in 0..50 {
        recorder.record(Event::new(EventKind::Stdout(OutputLine::new(format!("line {line}")))));
    }
    let what = EventKind::File { operation: FileOperation::Read, path: "/tmp/notes".to_owned(), to: None };
    let event = Event::new(what).with_resolved_path("/home/u/.aws/credentials".to_owned());
    recorder.record(event.with_verdict(EventVerdict::Denied, "not granted".to_owned()));
    let _ = recorder.finish();
    (folder, path)
}

/// What is read piece by piece is the same as what is read as a whole.
#[test]
fn exports_of_the_file_and_of_standard_input_are_the_same() {
    let (_folder, path) = harvest();
    for format in ["ndjson", "ocsf", "json"] {
        let (code, streamed, err) = run(&["export", path.to_str().unwrap(), "--format", format]);
        assert_eq!((code, err.as_str()), (0, ""));
        let whole = Command::new(env!("CARGO_BIN_EXE_skillsandbox"))
            .args(["trace", "export", "-", "--format", format])
            .write_stdin(fs::read(&path).unwrap())
            .output()
            .unwrap();
        assert_eq!(String::from_utf8(whole.stdout).unwrap(), streamed, "{format}");
        assert!(streamed.contains("/home/u/.aws/credentials"));
    }
    let (_, ocsf, _) = run(&["export", path.to_str().unwrap(), "--format", "ocsf"]);
    let finding: Value = serde_json::from_str(ocsf.lines().last().unwrap()).unwrap();
    assert_eq!(finding["class_uid"], 2004);
    assert_eq!(finding["finding_info"]["related_events"].as_array().unwrap().len(), 1);
    let (_, shown, _) = run(&["show", path.to_str().unwrap()]);
    assert!(shown.contains("/tmp/notes => /home/u/.aws/credentials"), "{shown}");
}

/// Nobody is shown an edited trace as if it were whole, and a run that was killed left something to look at.
#[test]
fn what_is_not_as_it_was_written_is_shown_up_to_there_and_said() {
    let (folder, path) = harvest();
    let page = folder.path().join("page.html");
    let page = page.to_str().unwrap();
    edit(&path, "line 30", "line 3O");
    let file = path.to_str().unwrap();
    let show: &[&str] = &["show", "--all", file];
    let html: &[&str] = &["html", file, "-o", page];
    let export: &[&str] = &["export", file, "--format", "ndjson"];
    for arguments in [show, html, export] {
        let (code, out, err) = run(arguments);
        assert_eq!(code, 1, "{arguments:?}");
        assert!(err.contains("not as it was written") && err.contains("event 30"), "{err}");
        assert!(!out.contains("line 3O") && !out.contains("line 31"), "{arguments:?}");
    }
    assert!(run(export).1.lines().count() == 30);

    let (_folder, path) = harvest();
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, &text[..text.find("line 40").unwrap()]).unwrap();
    let (code, out, err) = run(&["show", "--all", path.to_str().unwrap()]);
    assert_eq!(code, 1);
    assert!(err.contains("truncated"), "{err}");
    assert!(out.contains("line 39") && !out.contains("line 41"), "{out}");
}
