//! `--format json` prints one document, whatever comes of it: of every verb that has it, with good input and with bad.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod sandboxed;

use std::collections::BTreeSet;

use sandboxed::{Stage, code, text};
use serde_json::Value;

/// What a document of a failure has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Outcome {
    /// A result; the exit code may still say no.
    Result,
    /// An object with `error.code` and `error.message`.
    Error,
}

use Outcome::{Error, Result};

/// Verb, arguments, what to expect. `GOOD` and `BAD` are folders with a valid and an invalid skill, `ID` is a recorded run.
const CASES: &[(&str, &str, Outcome)] = &[
    ("validate", "validate GOOD", Result),
    ("validate", "validate BAD", Result),
    ("validate", "validate /nowhere/at/all", Result),
    ("inspect", "inspect GOOD", Result),
    ("inspect", "inspect BAD", Error),
    ("inspect", "inspect /nowhere/at/all", Error),
    ("scan", "scan GOOD", Result),
    ("scan", "scan /nowhere/at/all", Error),
    ("allow", "allow", Error),
    ("allow", "allow --skill /nowhere/at/all --rule X --reason why", Error),
    ("install", "install /nowhere/at/all", Error),
    ("update", "update nobody", Error),
    ("list", "list", Result),
    ("list", "list --no-such-flag", Error),
    ("audit", "audit", Result),
    ("audit", "audit nobody", Error),
    ("reports", "reports", Result),
    ("run", "run GOOD", Result),
    ("run", "run --dry-run GOOD", Result),
    ("run", "run BAD", Error),
    ("run", "run /nowhere/at/all", Error),
    ("run", "run --set x=1 GOOD", Error),
    ("learn", "learn --yes-files GOOD", Result),
    ("learn", "learn --diff GOOD", Result),
    ("learn", "learn --verify GOOD", Result),
    ("learn", "learn BAD", Error),
    ("learn", "learn nobody", Error),
    ("convert", "convert TOML", Result),
    ("convert", "convert BAD/SKILL.md", Error),
    ("discover", "discover", Result),
    ("discover", "discover --no-such-flag", Error),
    ("exec", "exec true", Result),
    ("exec", "exec false", Result),
    ("exec", "exec --dry-run true", Result),
    ("exec", "exec there-is-no-such-program", Error),
    ("exec", "exec --no-such-flag true", Error),
    ("exec", "exec", Error),
    ("check-path", "check-path --root GOOD --tool Read --args {\"file_path\":\"main.sh\"}", Result),
    ("check-path", "check-path --root GOOD --tool Read --args nonsense", Error),
    ("check-command", "check-command ls", Result),
    ("check-command", "check-command --shell klingon ls", Error),
    ("doctor", "doctor", Result),
    ("doctor", "doctor --no-such-flag", Error),
    ("trace export", "trace export ID", Result),
    ("trace export", "trace export zzzz", Error),
    ("trace verify", "trace verify ID", Result),
    ("trace verify", "trace verify BAD/SKILL.md", Result),
    ("trace verify", "trace verify zzzz", Error),
    ("trace prune", "trace prune --dry-run", Result),
    ("trace prune", "trace prune zzzz", Error),
    ("history", "history", Result),
    ("history", "history --since nonsense", Error),
    ("history show", "history show ID", Result),
    ("history show", "history show zzzz", Error),
    ("history stats", "history stats", Result),
    ("history stats", "history stats --since nonsense", Error),
    ("history verify", "history verify", Result),
    ("key create", "key create", Result),
    ("key create", "key create", Error),
    ("key show", "key show", Result),
];

fn prepared() -> (Stage, Vec<(&'static str, String)>) {
    let stage = Stage::new();
    let good = stage.shell_skill("", "echo out\n");
    let bad = stage.write("bad/skillsandbox.yaml", "skill: [no, map]\n");
    stage.write("bad/SKILL.md", "no front matter\n");
    let toml = stage.write("skills.toml", "[[skills]]\nname = \"demo\"\n");
    let run = stage.run(&["exec", "--format", "json", "true"]);
    let run: Value = serde_json::from_slice(&run.stdout).unwrap();
    let id = run["trace_id"].as_str().unwrap().to_owned();
    let words = vec![
        ("GOOD", good.to_str().unwrap().to_owned()),
        ("BAD", bad.parent().unwrap().to_str().unwrap().to_owned()),
        ("ID", id),
        ("TOML", toml.to_str().unwrap().to_owned()),
    ];
    (stage, words)
}

#[test]
fn every_verb_prints_one_document_whatever_comes_of_it() {
    let (stage, words) = prepared();
    for (verb, line, outcome) in CASES {
        let mut arguments: Vec<String> = line.split(' ').map(|word| with(word, &words)).collect();
        // Behind the verb, where a flag belongs.
        let place = verb.split(' ').count();
        arguments.splice(place..place, ["--format".to_owned(), "json".to_owned()]);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let output = stage.run(&arguments);
        let shown = text(&output.stdout);
        let mut documents = serde_json::Deserializer::from_slice(&output.stdout).into_iter::<Value>();
        let document = documents
            .next()
            .unwrap_or_else(|| panic!("{line}: nothing on standard output: {}", text(&output.stderr)))
            .unwrap_or_else(|error| panic!("{line}: {error}: {shown}"));
        assert!(documents.next().is_none(), "{line}: more than one document: {shown}");
        let error = &document["error"];
        let is_error =
            error["code"].is_string() && error["message"].as_str().is_some_and(|text| !text.is_empty());
        assert_eq!(is_error, *outcome == Error, "{line}: {shown}");
        if *outcome == Error {
            assert_ne!(code(&output), 0, "{line}");
            assert_eq!(document["exit_code"], code(&output), "{line}: {shown}");
        }
    }
}

fn with(word: &str, words: &[(&str, String)]) -> String {
    words.iter().fold(word.to_owned(), |word, (name, value)| {
        if word == *name || word.starts_with(&format!("{name}/")) {
            word.replacen(name, value, 1)
        } else {
            word
        }
    })
}

/// The verbs that have `--format json`, as their help says.
fn verbs_with_json(stage: &Stage, verb: &[&str], found: &mut BTreeSet<String>) {
    let help = text(&stage.run(&[verb, &["--help"]].concat()).stdout);
    let after_format = help.split_once("\n      --format <").map(|(_, rest)| rest).unwrap_or_default();
    let values = after_format.split("\n      --").next().unwrap_or_default();
    if values.contains("- json:") || values.contains("json") && values.contains("possible values") {
        found.insert(verb.join(" "));
    }
    let Some((_, commands)) = help.split_once("Commands:\n") else { return };
    for line in commands.lines().take_while(|line| !line.is_empty()) {
        let name = line.split_whitespace().next().unwrap();
        if line.starts_with("  ") && !line.starts_with("   ") && name != "help" {
            verbs_with_json(stage, &[verb, &[name]].concat(), found);
        }
    }
}

#[test]
fn no_verb_with_json_is_left_out_of_the_table() {
    let stage = Stage::new();
    let mut found = BTreeSet::new();
    verbs_with_json(&stage, &[], &mut found);
    assert!(found.len() > 15, "{found:?}");
    let tried: BTreeSet<String> = CASES.iter().map(|(verb, ..)| (*verb).to_owned()).collect();
    let missing: Vec<&String> = found.difference(&tried).collect();
    assert!(missing.is_empty(), "not in the table: {missing:?}");
}
