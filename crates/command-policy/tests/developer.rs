//! Ordinary commands of developers, under the list their user would write: nearly all pass, and what is refused says why and what to do.
// A test may fail by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr)]

use serde::Deserialize;
use skillsandbox_command_policy::{CommandDecision, CommandPolicy};

#[derive(Deserialize)]
struct Corpus {
    group: Vec<Group>,
}

#[derive(Deserialize)]
struct Group {
    tools: String,
    fitted: Vec<String>,
    held_out: Vec<String>,
}

/// How many of the lines are refused, each with its rule.
fn refused(lines: impl Fn(&Group) -> &[String]) -> (Vec<String>, usize) {
    let corpus: Corpus = toml::from_str(include_str!("corpus/developer.toml")).unwrap();
    let (mut refused, mut all) = (Vec::new(), 0);
    for group in &corpus.group {
        let policy =
            CommandPolicy::builder().root("/srv/project").allowed_tools(&group.tools).build().unwrap();
        for line in lines(group) {
            all += 1;
            match policy.check(line) {
                CommandDecision::Allowed => {}
                CommandDecision::Denied(denied) => {
                    // None silently: a rule, a reason and a cure.
                    assert!(!denied.rule.to_string().is_empty(), "{line}");
                    assert!(!denied.reason.is_empty() && !denied.hint.is_empty(), "{line}: {denied}");
                    refused.push(format!("{}: {line}", denied.rule));
                }
                CommandDecision::Bypassed => panic!("{line} is bypassed"),
            }
        }
    }
    (refused, all)
}

#[test]
fn at_most_a_tenth_of_ordinary_commands_is_refused() {
    let (fitted, of_fitted) = refused(|group| &group.fitted);
    let (held_out, of_held_out) = refused(|group| &group.held_out);
    eprintln!("fitted: {} of {of_fitted} refused: {fitted:#?}", fitted.len());
    eprintln!("held out: {} of {of_held_out} refused", held_out.len());
    assert!(of_fitted + of_held_out >= 250, "only {of_fitted} and {of_held_out}");
    assert!(of_held_out * 3 >= of_fitted + of_held_out, "a third is held out: {of_held_out}");
    assert!(fitted.len() * 10 <= of_fitted, "{fitted:#?}");
    assert!(held_out.len() * 10 <= of_held_out, "{} of {of_held_out} held-out lines", held_out.len());
}
