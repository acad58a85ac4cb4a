//! The examples do what their table says: every command in it, as it stands there.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![cfg(target_os = "linux")]

use skillsandbox_test_support::missing;
mod sandboxed;

use std::path::{Path, PathBuf};

use sandboxed::{Stage, text};
use serde_json::{Value, json};

const README: &str = include_str!("../../../examples/README.md");

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().parent().unwrap()
}

/// The arguments of `skillsandbox run …`, as a shell reads them.
fn words(command: &str) -> Vec<String> {
    let printed =
        std::process::Command::new("sh").args(["-c", &format!("printf '%s\\n' {command}")]).output().unwrap();
    text(&printed.stdout).lines().map(str::to_owned).collect()
}

/// Each row: the skill, and its command; those that need the stage of the demo are played there.
fn table() -> Vec<(&'static str, &'static str, bool)> {
    let rows = README.lines().filter_map(|line| line.strip_prefix("| [")).map(|line| {
        let name = line.split(']').next().unwrap();
        let command = line.rsplit(" | ").next().unwrap().split('`').nth(1).unwrap();
        (name, command, line.contains("`, in `cargo xtask demo shell`"))
    });
    rows.collect()
}

fn run(arguments: &[String]) -> (i32, String, String) {
    let stage = Stage::new();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let output = stage.command(&arguments).current_dir(root()).output().unwrap();
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

/// The folder of the example `notes`: somebody's may be there, who tried it. They have it back when this is dropped.
struct Notes(Option<PathBuf>);

impl Notes {
    const FOLDER: &str = "/tmp/skillsandbox-notes";

    fn set_aside() -> Self {
        let aside = PathBuf::from(format!("{}.{}", Self::FOLDER, std::process::id()));
        Self(std::fs::rename(Self::FOLDER, &aside).ok().map(|()| aside))
    }
}

impl Drop for Notes {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(Self::FOLDER);
        if let Some(aside) = &self.0 {
            std::fs::rename(aside, Self::FOLDER).unwrap();
        }
    }
}

#[test]
fn every_example_is_in_the_table_and_reads_as_safe() {
    let mut folders: Vec<String> = std::fs::read_dir(root().join("examples/skills"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let mut named: Vec<&str> = table().into_iter().map(|(name, ..)| name).collect();
    folders.sort();
    named.sort_unstable();
    assert_eq!(folders, named);
    for name in named {
        let folder = format!("examples/skills/{name}");
        assert!(root().join(&folder).join("SKILL.md").is_file(), "{name}");
        let (code, ..) = run(&["validate".into(), folder.clone()]);
        assert_eq!(code, 0, "{name}");
        let (_, out, _) = run(&["scan".into(), folder]);
        assert!(name == "malicious-weather" || out.starts_with("SAFE"), "{out}");
    }
}

#[test]
fn the_commands_of_the_table_do_what_they_promise() {
    let signature = "4ad13a8ee69eab650866622ded578e39";
    let promised = [
        ("unit-converter", json!({"value": 212, "from": "f", "to": "c", "result": 100})),
        ("text-statistics", json!({"lines": 1, "words": 3, "bytes": 13})),
        (
            "signed-link",
            json!({"link": format!("https://files.test/report.pdf?days=7&inline=0&signature={signature}"), "valid_days": 7}),
        ),
        ("notes", json!({"notes": ["buy milk"]})),
    ];
    let here: Vec<_> = table().into_iter().filter(|(_, _, needs_stage)| !needs_stage).collect();
    assert_eq!(here.len(), promised.len());
    for (name, command, _) in here {
        let needs = if name == "unit-converter" { &["node"][..] } else { &["python3"] };
        let missing = missing::inside(needs.iter().copied());
        if !missing.is_empty() {
            missing::skip(&missing);
            continue;
        }
        let words = words(command);
        assert_eq!(words[0], "skillsandbox", "{command}");
        let kept = (name == "notes").then(Notes::set_aside);
        let (code, out, err) = run(&words[1..]);
        drop(kept);
        assert_eq!(code, 0, "{command}: {out}{err}");
        let expected = &promised.iter().find(|(promised, _)| *promised == name).unwrap().1;
        assert_eq!(&serde_json::from_str::<Value>(&out).unwrap(), expected, "{command}");
        assert!(!err.contains("0123456789abcdef"), "the secret is in the summary: {err}");
    }
}

#[test]
fn a_parameter_that_breaks_a_rule_is_refused_as_the_page_says() {
    let command = README.lines().find_map(|line| line.strip_prefix("$ ")).unwrap();
    let (code, out, err) = run(&words(command)[1..]);
    assert_eq!((code, out.as_str()), (125, ""), "{err}");
    assert!(err.contains("`path` breaks pattern") && !err.contains("0123456789abcdef"), "{err}");
}
