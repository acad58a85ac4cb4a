//! A trace is named by its file, by the id of its run or how that begins, or as the last one.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod sandboxed;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use sandboxed::{Stage, code, text, trace};
use serde_json::Value;

/// Runs something, and returns its id and its trace.
fn recorded(stage: &Stage, word: &str) -> (String, PathBuf) {
    let before = stage.traces();
    let output = stage.run(&["exec", "-q", "echo", word]);
    assert_eq!(code(&output), 0, "{}", text(&output.stderr));
    let path = stage.traces().into_iter().find(|path| !before.contains(path)).unwrap();
    (trace(&path)["trace_id"].as_str().unwrap().to_owned(), path)
}

fn set_age(path: &Path, days: u64) {
    let when = SystemTime::now() - Duration::from_secs(days * 86_400);
    File::options().write(true).open(path).unwrap().set_modified(when).unwrap();
}

#[test]
fn a_trace_is_found_by_file_id_prefix_name_and_as_the_last() {
    let stage = Stage::new();
    let (first, first_path) = recorded(&stage, "first-word");
    set_age(&first_path, 1);
    let (second, second_path) = recorded(&stage, "second-word");
    let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    let simple = second.replace('-', "");
    for (reference, wanted) in [
        (first_path.to_str().unwrap().to_owned(), "first-word"),
        (first.clone(), "first-word"),
        (first[..12].to_owned(), "first-word"),
        (first.to_uppercase(), "first-word"),
        (simple, "second-word"),
        (name(&second_path), "second-word"),
        (name(&second_path).trim_end_matches(".json").to_owned(), "second-word"),
        ("--last".to_owned(), "second-word"),
    ] {
        for verb in [&["show"][..], &["html", "-o", "-"], &["export"], &["export", "--format", "ndjson"]] {
            let arguments = [&["trace"], verb, &[reference.as_str()]].concat();
            let output = stage.run(&arguments);
            assert_eq!(code(&output), 0, "{arguments:?}: {}", text(&output.stderr));
            assert!(text(&output.stdout).contains(wanted), "{arguments:?}");
        }
        let verified = stage.run(&["trace", "verify", &reference]);
        assert_eq!(code(&verified), 0, "{reference}: {}", text(&verified.stderr));
    }
    assert_ne!(first, second);
}

#[test]
fn the_last_run_may_have_its_trace_elsewhere() {
    let stage = Stage::new();
    let (_, path) = recorded(&stage, "in-the-folder");
    set_age(&path, 1);
    assert_eq!(code(&stage.run(&["exec", "-q", "--trace", "mine.json", "echo", "elsewhere"])), 0);
    let shown = stage.run(&["trace", "show", "--last"]);
    assert!(text(&shown.stdout).contains("elsewhere"), "{}", text(&shown.stdout));
    let id = trace(&stage.home().join("mine.json"))["trace_id"].as_str().unwrap()[..13].to_owned();
    assert!(text(&stage.run(&["trace", "show", &id]).stdout).contains("elsewhere"));
    // It is gone, and that is said.
    fs::remove_file(stage.home().join("mine.json")).unwrap();
    let gone = stage.run(&["trace", "show", &id]);
    assert_eq!(code(&gone), 2);
    assert!(text(&gone.stderr).contains("is no longer there"), "{}", text(&gone.stderr));
}

#[test]
fn what_means_several_traces_or_none_is_an_error_that_says_so() {
    let stage = Stage::new();
    let nothing = stage.run(&["trace", "show", "--last"]);
    assert_eq!(code(&nothing), 2);
    assert!(text(&nothing.stderr).contains("there is no trace yet"), "{}", text(&nothing.stderr));
    let (_, path) = recorded(&stage, "a");
    recorded(&stage, "b");
    // The century of both names.
    let several = stage.run(&["trace", "show", "20"]);
    if !Path::new("20").exists() {
        assert_eq!(code(&several), 2);
        let said = text(&several.stderr);
        assert!(said.contains("`20` means 2 traces, such as") && said.contains("write more"), "{said}");
    }
    for wrong in ["zzzz", "0123456789abcdef0123", "../nowhere", "", "*", "%"] {
        let output = stage.run(&["trace", "show", wrong]);
        assert_eq!(code(&output), 2, "{wrong}");
        assert!(output.stdout.is_empty(), "{wrong}");
    }
    // A file goes before a run of the same name.
    let id = trace(&path)["trace_id"].as_str().unwrap()[..8].to_owned();
    fs::write(stage.home().join(&id), "no trace").unwrap();
    let output = stage.run(&["trace", "show", &id]);
    assert!(
        code(&output) != 0 && text(&output.stderr).contains("is not a trace"),
        "{}",
        text(&output.stderr)
    );
}

#[test]
fn prune_removes_by_age_and_by_name_and_only_says_so_when_asked() {
    let stage = Stage::new();
    let (old, old_path) = recorded(&stage, "old");
    set_age(&old_path, 40);
    let (pinned, pinned_path) = recorded(&stage, "pinned");
    set_age(&pinned_path, 50);
    assert_eq!(code(&stage.run(&["history", "pin", &pinned])), 0);
    let (new, new_path) = recorded(&stage, "new");
    let shown = stage.run(&["trace", "prune", "--older-than", "30d", "--dry-run", "--format", "json"]);
    let shown: Value = serde_json::from_slice(&shown.stdout).unwrap();
    assert_eq!(shown["removed"], serde_json::json!([old_path]));
    assert!(old_path.exists());
    let done = stage.run(&["trace", "prune", "--older-than", "30d"]);
    assert_eq!(code(&done), 0, "{}", text(&done.stderr));
    assert!(!old_path.exists() && pinned_path.exists() && new_path.exists());
    // By name: not what is pinned, not what lies elsewhere, and then none of them.
    fs::copy(&new_path, stage.home().join("copy.json")).unwrap();
    for wrong in [&pinned, "copy.json", &old] {
        let output = stage.run(&["trace", "prune", &new, wrong]);
        assert_eq!(code(&output), 2, "{wrong}: {}", text(&output.stdout));
        assert!(new_path.exists() && pinned_path.exists(), "{wrong}");
    }
    assert_eq!(code(&stage.run(&["trace", "prune", "--dry-run", &new[..10]])), 0);
    assert!(new_path.exists());
    assert_eq!(code(&stage.run(&["trace", "prune", &new[..10]])), 0);
    assert!(!new_path.exists());
    for wrong in [&["--older-than", "never"][..], &["--older-than", "30d", "abc"]] {
        assert_eq!(code(&stage.run(&[&["trace", "prune"], wrong].concat())), 2, "{wrong:?}");
    }
}

#[test]
fn a_link_in_the_folder_of_traces_is_neither_shown_as_the_last_nor_removed() {
    let stage = Stage::new();
    let (_, path) = recorded(&stage, "real");
    let outside = stage.write("home/outside.json", "mine");
    let link = path.parent().unwrap().join("20991231T000000Z-x-0b7c0000-0000-4000-8000-000000000000.json");
    std::os::unix::fs::symlink(&outside, &link).unwrap();
    assert!(text(&stage.run(&["trace", "show", "--last"]).stdout).contains("real"));
    assert_eq!(code(&stage.run(&["trace", "prune", "0b7c0000"])), 2);
    assert!(outside.exists() && link.symlink_metadata().is_ok());
}
