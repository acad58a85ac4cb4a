//! Lines that make a program run another one: each is refused under a list that names just the program, or a reviewed reason says why it may pass.
// A test may fail by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr)]

use std::collections::BTreeSet;

use serde::Deserialize;
use skillsandbox_command_policy::{CommandPolicy, GlobHandling};

#[derive(Deserialize)]
struct Corpus {
    lines: Vec<Attempt>,
}

#[derive(Deserialize)]
struct Attempt {
    program: String,
    kind: Kind,
    line: String,
    exception: Option<String>,
}

#[derive(Clone, Copy, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Shell,
    Command,
    Read,
    Write,
}

fn corpus() -> Vec<Attempt> {
    let corpus: Corpus = toml::from_str(include_str!("corpus/gtfobins.toml")).unwrap();
    corpus.lines
}

#[test]
fn every_line_that_runs_another_command_is_refused() {
    let (mut passing, mut needless, mut seen, mut excepted) = (Vec::new(), Vec::new(), 0, 0);
    let lines = corpus();
    for line in lines.iter().filter(|line| matches!(line.kind, Kind::Shell | Kind::Command)) {
        seen += 1;
        let policy = CommandPolicy::builder()
            .root("/srv/skill")
            .globs(GlobHandling::Literal)
            .allowed_tools(format!("Bash({}:*)", line.program))
            .build()
            .unwrap();
        let decision = policy.check(&line.line);
        match &line.exception {
            None if decision.is_allowed() => passing.push(line.line.as_str()),
            Some(_) if !decision.is_allowed() => needless.push(line.line.as_str()),
            Some(reason) => {
                assert!(reason.len() > 20, "{}: {reason:?} is not a reason", line.line);
                excepted += 1;
            }
            None => {}
        }
    }
    eprintln!(
        "{seen} lines that run another command: {} pass, {excepted} more by a reviewed exception",
        passing.len()
    );
    assert!(passing.is_empty(), "these pass: {passing:#?}");
    assert!(needless.is_empty(), "these are refused and need no exception: {needless:#?}");
    assert!(excepted * 20 <= seen, "exceptions are for few: {excepted} of {seen}");
}

#[test]
fn the_corpus_is_broad_and_has_no_line_twice() {
    let lines = corpus();
    let distinct: BTreeSet<_> = lines.iter().map(|line| line.line.as_str()).collect();
    assert_eq!(distinct.len(), lines.len());
    let programs: BTreeSet<_> = lines.iter().map(|line| line.program.as_str()).collect();
    assert!(programs.len() >= 450, "only {} programs", programs.len());
    for line in &lines {
        assert!(line.line.starts_with(&line.program), "{}", line.line);
        let runs = matches!(line.kind, Kind::Shell | Kind::Command);
        assert!(runs || line.exception.is_none(), "{}: only what must be refused has exceptions", line.line);
    }
}

#[test]
fn xmllint_does_not_expand_entities_of_files() {
    let policy =
        CommandPolicy::builder().root("/srv/skill").allowed_tools("Bash(xmllint:*)").build().unwrap();
    for line in [
        "xmllint --noent f.xml",
        "xmllint --format --noent f.xml",
        "xmllint --shell f.xml",
        "xmllint --xinclude f.xml",
        "xmllint --path sub f.xml",
        "xmllint --loaddtd f.xml",
    ] {
        assert!(!policy.check(line).is_allowed(), "{line}");
    }
    for line in ["xmllint --noout f.xml", "xmllint --format f.xml", "xmllint --xpath //a f.xml"] {
        let decision = policy.check(line);
        assert!(decision.is_allowed() || line.contains("//"), "{line}: {decision:?}");
    }
}
