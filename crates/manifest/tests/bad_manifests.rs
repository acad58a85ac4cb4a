//! `bad_manifests.toml`: texts that must be refused, each with its own error at its own line.
#![cfg(feature = "declarations")]
// A test may fail by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::collections::HashSet;

use serde_json::Value;
use skillsandbox_manifest::{Code, Manifest};

/// What every case begins with unless it brings its own; its lines count.
const HEAD: &str = "skill: { name: demo, version: \"1\" }\nentrypoint: { command: python3 }\n";

#[derive(Debug)]
struct Case {
    yaml: String,
    line: u64,
    code: String,
    says: String,
}

fn cases() -> Vec<Case> {
    let table: toml::Table = include_str!("bad_manifests.toml").parse().unwrap();
    let table: Value = serde_json::to_value(table).unwrap();
    let case = |value: &Value| {
        let text = |key: &str| value[key].as_str().unwrap_or_else(|| panic!("{value}: no {key}")).to_owned();
        let yaml = match value.get("whole") {
            Some(whole) => whole.as_str().unwrap().to_owned(),
            None => format!("{HEAD}{}", text("yaml")),
        };
        Case { yaml, line: value["line"].as_u64().unwrap(), code: text("code"), says: text("says") }
    };
    table["case"].as_array().unwrap().iter().map(case).collect()
}

#[test]
fn the_head_alone_is_valid() {
    assert!(Manifest::parse(HEAD).is_ok());
}

#[test]
fn each_bad_manifest_gives_its_own_error_with_the_right_line() {
    let cases = cases();
    assert!(cases.len() >= 200, "{} cases", cases.len());
    let mut failures = Vec::new();
    for case in &cases {
        let found = match Manifest::parse(&case.yaml) {
            Ok(_) => "accepted".to_owned(),
            Err(invalid) => {
                let [only] = invalid.diagnostics.as_slice() else {
                    failures.push(format!("{}\n  several: {invalid}", case.yaml));
                    continue;
                };
                let said = format!("{} {}", only.message, only.help.as_deref().unwrap_or_default());
                let right = (only.line as u64, only.code.as_str()) == (case.line, case.code.as_str());
                if right && said.contains(&case.says) {
                    continue;
                }
                format!("line {} {}: {said}", only.line, only.code)
            }
        };
        failures.push(format!(
            "{}\n  expected line {} {}: {}\n  found {found}",
            case.yaml, case.line, case.code, case.says
        ));
    }
    assert!(failures.is_empty(), "{} of {}:\n{}", failures.len(), cases.len(), failures.join("\n\n"));
}

#[test]
fn paths_count_entries_as_they_are_written() {
    let text = format!(
        "{HEAD}permissions:\n  filesystem: {{ read: [5, /tmp, ../x] }}\n  env_vars: {{ allow: ['!A', 1bad, '!2'] }}\n  network: {{ egress: [5, {{ domain: [x] }}, {{ ports: [443] }}] }}\nparameters: [{{ type: string }}, {{ name: b, type: strin }}]\n"
    );
    let invalid = Manifest::parse(&text).unwrap_err();
    let paths: Vec<_> = invalid.diagnostics.iter().map(|d| d.path.as_str()).collect();
    assert_eq!(
        paths,
        [
            "permissions.filesystem.read[0]",
            "permissions.filesystem.read[2]",
            "permissions.env_vars.allow[1]",
            "permissions.env_vars.allow[2]",
            "permissions.network.egress[0]",
            "permissions.network.egress[1].domain",
            "permissions.network.egress[2]",
            "parameters[0].name",
            "parameters[1].type",
        ]
    );
}

#[test]
fn a_misspelt_required_key_is_one_error() {
    let invalid =
        Manifest::parse("skil: { name: demo, version: '1' }\nentrypoint: { comand: python3 }\n").unwrap_err();
    let codes: Vec<_> = invalid.diagnostics.iter().map(|d| (d.line, d.code)).collect();
    assert_eq!(codes, [(1, Code::UnknownKey), (2, Code::UnknownKey)]);
}

#[test]
fn no_case_is_there_twice_and_every_code_is_reached() {
    let cases = cases();
    let texts: HashSet<_> = cases.iter().map(|case| &case.yaml).collect();
    assert_eq!(texts.len(), cases.len());
    let reached: HashSet<_> = cases.iter().map(|case| case.code.as_str()).collect();
    // Size is tested in load.rs and hostile.rs; the others belong to SKILL.md.
    let elsewhere = [Code::TooLarge, Code::AmbiguousFence, Code::Unterminated].map(Code::as_str);
    for code in Code::ALL {
        assert!(
            reached.contains(code.as_str()) || elsewhere.contains(&code.as_str()),
            "no case reaches {code}"
        );
    }
}
