//! No secret that somebody names, that a name gives away, or that has a known shape, reaches the disk.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod records;

use std::fs;

use proptest::prelude::*;
use records::{denied, entry, place};
use serde_json::json;
use skillsandbox_store::history::{Entry, History, Status};

/// What is in the files of a history that recorded this, and what it says of it.
fn kept(run: &Entry) -> (Vec<u8>, serde_json::Value) {
    let (_folder, path) = place();
    let mut history = History::open(&path).unwrap();
    history.record(run).unwrap();
    let details = serde_json::to_value(history.find(&run.id.to_string()).unwrap()).unwrap();
    let mut bytes = Vec::new();
    for file in fs::read_dir(path.parent().unwrap()).unwrap() {
        bytes.extend(fs::read(file.unwrap().path()).unwrap());
    }
    drop(history);
    bytes.extend(fs::read(&path).unwrap());
    (bytes, details)
}

fn holds(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

const SECRET: &str = "correct-horse-7";

#[test]
fn a_secret_is_in_no_byte_of_the_file() {
    let mut run = entry("tested", 1, Status::Failure);
    run.secrets = vec![("API".into(), SECRET.into())];
    run.skill = format!("skill {SECRET}");
    run.version = Some(SECRET.into());
    run.tool = SECRET.into();
    run.user = Some(SECRET.into());
    run.ending = SECRET.into();
    run.error = Some(format!("it said {SECRET}\nand again {SECRET}"));
    run.parameters =
        serde_json::from_value(json!({ "plain": SECRET, "list": [{ "in": SECRET }], SECRET: 1 })).unwrap();
    run.arguments = vec![SECRET.into(), format!("x{SECRET}y")];
    run.denials = vec![denied(&format!("read /{SECRET}"), 1)];
    run.denials[0].rule = Some(SECRET.into());
    run.denials[0].process = Some(SECRET.into());
    run.denials[0].declare = Some(SECRET.into());
    run.classes = vec![records::class("discovery")];
    run.classes[0].message = SECRET.into();
    let (bytes, details) = kept(&run);
    assert!(!holds(&bytes, SECRET), "{details:#}");
    assert!(holds(&bytes, "read /[REDACTED:API]"), "it looks where it should: {details:#}");
}

#[test]
fn debug_of_an_entry_shows_no_secret() {
    let mut run = entry("tested", 1, Status::Failure);
    run.secrets = vec![("API".into(), SECRET.into())];
    run.secret_parameters = vec!["place".into()];
    run.parameters = serde_json::from_value(
        json!({ "plain": SECRET, "place": "declared-1", "db_pwd": "named-2", "city": "Oslo" }),
    )
    .unwrap();
    run.arguments = vec![format!("x{SECRET}"), "--token".into(), "named-3".into(), "plain".into()];
    run.error = Some(format!("it said {SECRET}"));
    for shown in [format!("{run:?}"), format!("{run:#?}")] {
        for secret in [SECRET, "declared-1", "named-2", "named-3"] {
            assert!(!shown.contains(secret), "{secret} in {shown}");
        }
        for seen in ["tested", "API", "Oslo", "--token", "plain", "Failure"] {
            assert!(shown.contains(seen), "{seen} not in {shown}");
        }
    }
}

#[test]
fn parameters_are_sanitised_by_declaration_name_and_shape() {
    let mut run = entry("tested", 1, Status::Success);
    run.secret_parameters = vec!["pin".into(), "deep".into()];
    run.parameters = serde_json::from_value(json!({
        "pin": 4711,
        "deep": { "a": ["hunter2hunter2"] },
        "api_key": "x",
        "config": { "db": { "password": "y", "host": "db.test" } },
        "city": "Oslo",
        "note": "my key is AKIAIOSFODNN7EXAMPLE, and hunter2hunter2",
        "url": "https://me:swordfish@a.test/?token=swordfish&q=1",
        "body": "{\"token\":\"swordfish\",\"q\":1}",
        "days": 3,
        "on": true,
        "none": null,
    }))
    .unwrap();
    let (bytes, details) = kept(&run);
    assert_eq!(
        details["parameters"],
        json!({
            "pin": "[REDACTED]",
            "deep": "[REDACTED]",
            "api_key": "[REDACTED]",
            "config": { "db": { "password": "[REDACTED]", "host": "db.test" } },
            "city": "Oslo",
            "note": "my key is [REDACTED:aws_access_key_id], and [REDACTED:deep]",
            "url": "https://[REDACTED]@a.test/?token=[REDACTED]&q=1",
            "body": "{\"q\":1,\"token\":\"[REDACTED]\"}",
            "days": 3,
            "on": true,
            "none": null,
        })
    );
    for secret in ["4711", "hunter2", "swordfish", "AKIAIOSFODNN7EXAMPLE"] {
        assert!(!holds(&bytes, secret), "{secret}");
    }
}

#[test]
fn arguments_are_sanitised_by_the_names_before_them() {
    let mut run = entry("curl", 1, Status::Success);
    run.arguments = [
        "curl",
        "--token",
        "a secret of words",
        "-H",
        "Authorization: Bearer swordfish",
        "--data",
        "[{\"password\":\"swordfish\"}]",
        "sh",
        "-c",
        "PGPASSWORD='sword fish' psql postgres://u:swordfish@db.test/x",
        "--api-key=swordfish",
        "--city",
        "Oslo",
    ]
    .map(str::to_owned)
    .to_vec();
    let (bytes, details) = kept(&run);
    assert_eq!(
        details["arguments"],
        json!([
            "curl",
            "--token",
            "[REDACTED]",
            "-H",
            "Authorization: [REDACTED]",
            "--data",
            "[{\"password\":\"[REDACTED]\"}]",
            "sh",
            "-c",
            "PGPASSWORD=[REDACTED] psql postgres://[REDACTED]@db.test/x",
            "--api-key=[REDACTED]",
            "--city",
            "Oslo",
        ])
    );
    for secret in ["swordfish", "sword fish", "secret of words"] {
        assert!(!holds(&bytes, secret), "{secret}");
    }
}

#[test]
fn what_is_cut_was_cleaned_before() {
    // The cut goes through the middle of it.
    for before in 980..1002 {
        let mut run = entry("tested", 1, Status::Success);
        run.secrets = vec![("S".into(), SECRET.into())];
        run.arguments = vec!["x".repeat(before) + SECRET];
        run.parameters.insert("p".into(), ("x".repeat(before) + "ghp_" + &"a1".repeat(18)).into());
        let (bytes, details) = kept(&run);
        for half in ["corre", "ghp_a"] {
            assert!(!holds(&bytes, half), "{before}: {details:#}");
        }
    }
}

#[test]
fn a_text_that_is_longer_than_anybody_looks_at_leaves_no_half_of_a_secret() {
    let secret = "correct horse ".repeat(300);
    for times in [15, 16, 17] {
        for before in [0, 7, 3999] {
            let mut run = entry("tested", 1, Status::Failure);
            run.secrets = vec![("S".into(), secret.as_str().into())];
            let text = " ".repeat(before) + &secret.repeat(times);
            run.error = Some(text.clone());
            run.arguments = vec![text];
            let (bytes, details) = kept(&run);
            assert!(!holds(&bytes, "correct h"), "{times} {before} {details:#}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn wherever_a_secret_stands_it_is_taken_out(
        before in "[ -~é\\n]{0,40}",
        after in "[ -~é\\n]{0,40}",
        secret in "[a-zA-Z0-9+/]{12,30}",
        times in 1_usize..4,
    ) {
        let distinct = secret.chars().collect::<std::collections::BTreeSet<_>>().len();
        prop_assume!(distinct > 4 && !before.contains(&secret) && !after.contains(&secret));
        let text = format!("{before}{secret}{after}").repeat(times);
        let mut run = entry(&text, 1, Status::Failure);
        run.secrets = vec![("S".into(), secret.as_str().into())];
        run.error = Some(text.clone());
        run.arguments = vec![text.clone(), before.clone(), text.clone()];
        run.parameters.insert(before, text.clone().into());
        run.parameters.insert(text.clone(), json!([{ "x": text }]));
        let (bytes, details) = kept(&run);
        prop_assert!(!holds(&bytes, &secret), "{details:#}");
    }

    #[test]
    fn any_value_is_recorded_and_none_is_longer_than_it_may_be(
        texts in prop::collection::vec(".{0,200}", 0..20),
        name in ".{0,300}",
    ) {
        let mut run = entry(&name, 1, Status::Failure);
        run.arguments = texts.clone();
        run.parameters.insert(name, texts.clone().into());
        let (_, details) = kept(&run);
        prop_assert_eq!(details["arguments"].as_array().unwrap().len(), texts.len());
        prop_assert!(details["skill"].as_str().unwrap().chars().count() <= 205 + 64);
    }
}
