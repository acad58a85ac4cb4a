//! The `scan` section of a policy: what is read from it, and what is refused, with line and cure.
#![cfg(feature = "declarations")]
// A test may fail by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use skillsandbox_manifest::{FailOn, Manifest, Policy};

const WHOLE: &str = "\
scan:
  fail_on: warning
  blocklist: [evil.test]
  trusted_sources: [\"github:ours/*\"]
  system_names: [system-agent]
  suppressions:
    - rule: CHECK-04/dns-exfil
      skill: dns-tool
      digest: 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
      path: tests/
      reason: Reviewed by Ada
      expires: 2027-01-31
    - { rule: CHECK-07, reason: Old skills, expires: 2027-01-31 }
";

#[test]
fn every_key_is_read() {
    let policy = Policy::parse(WHOLE).unwrap();
    let scan = policy.scan();
    assert_eq!(scan.fail_on, Some(FailOn::Warning));
    assert_eq!(scan.blocklist, ["evil.test"]);
    assert_eq!(scan.trusted_sources, ["github:ours/*"]);
    assert_eq!(scan.system_names, ["system-agent"]);
    let [first, second] = scan.suppressions.as_slice() else { panic!("{scan:?}") };
    assert_eq!((first.rule.as_str(), first.skill.as_deref()), ("CHECK-04/dns-exfil", Some("dns-tool")));
    assert_eq!((first.path.as_deref(), first.reason.as_str()), (Some("tests"), "Reviewed by Ada"));
    assert_eq!((first.expires.to_string().as_str(), second.digest.as_deref()), ("2027-01-31", None));
    assert_eq!((first.line, second.line), (7, 13));
    assert!(Policy::parse("resources: { memory_mb: 64 }\n").unwrap().scan().suppressions.is_empty());
}

#[test]
fn every_key_of_a_judge_is_read() {
    let text = "scan: { judge: { url: https://judge.test/v1, model: m, key_env: JUDGE_KEY, max_bytes: 2048, timeout_seconds: 5, \
                may_block: true, dangerously_plain_http: true } }";
    let policy = Policy::parse(text).unwrap();
    let judge = policy.scan().judge.as_ref().unwrap();
    assert_eq!(judge.url.as_deref(), Some("https://judge.test/v1"));
    assert_eq!((judge.model.as_deref(), judge.key_env.as_deref()), (Some("m"), Some("JUDGE_KEY")));
    assert_eq!((judge.max_bytes, judge.timeout), (Some(2048), Some(std::time::Duration::from_secs(5))));
    assert!(judge.may_block && judge.dangerously_plain_http);
    let bare = Policy::parse("scan: { judge: {} }").unwrap();
    assert_eq!(bare.scan().judge, Some(skillsandbox_manifest::JudgePolicy::default()));
    assert_eq!(Policy::parse("scan: {}").unwrap().scan().judge, None);
}

#[test]
fn a_skill_cannot_name_a_judge() {
    let skill = "skill: { name: a, version: \"1\" }\nentrypoint: { command: sh }\n";
    assert!(Manifest::parse(skill).is_ok());
    let invalid = Manifest::parse(&format!("{skill}scan: {{ judge: {{}} }}\n")).unwrap_err();
    assert_eq!(invalid.diagnostics[0].code.as_str(), "unknown-key");
}

#[test]
fn what_is_wrong_with_a_judge_is_named_and_no_key_is_repeated() {
    for (entry, code) in [
        ("url: judge.test", "unknown-value"),
        ("url: \"https://me:hunter2@judge.test\"", "unknown-value"),
        ("url: \"https://judge.test/?key=1\"", "unknown-value"),
        ("url: \"\"", "empty-value"),
        ("model: \"\"", "empty-value"),
        ("key_env: sk-abcdefghij0123456789", "unknown-value"),
        ("key_env: \"\"", "unknown-value"),
        ("max_bytes: 1", "out-of-range"),
        ("max_bytes: 2000000", "out-of-range"),
        ("timeout_seconds: 0", "out-of-range"),
        ("timeout_seconds: 601", "out-of-range"),
        ("may_block: maybe", "wrong-type"),
        ("key: x", "unknown-key"),
    ] {
        let invalid = Policy::parse(&format!("scan:\n  judge:\n    {entry}\n")).expect_err(entry);
        let [found] = invalid.diagnostics.as_slice() else { panic!("{entry}\n{invalid}") };
        assert_eq!((found.line, found.code.as_str()), (3, code), "{entry}\n{invalid}");
        assert!(!found.message.contains("sk-"), "{}", found.message);
    }
}

/// A suppression with these further lines, and what is said about it.
#[test]
fn what_is_wrong_is_named_with_its_line() {
    let entry = |lines: &str| format!("scan:\n  suppressions:\n    - rule: CHECK-01\n{lines}");
    let reason = "      reason: r\n";
    let expires = "      expires: 2027-01-01\n";
    for (text, line, code, says) in [
        (entry(expires), 3, "missing-key", "reason"),
        (entry(reason), 3, "missing-key", "expires"),
        (entry(&format!("      reason: \"  \"\n{expires}")), 4, "empty-value", "reason"),
        (entry(&format!("{reason}      expires: never\n")), 5, "wrong-type", "2027-01-31"),
        (entry(&format!("{reason}      expires: 2027-02-30\n")), 5, "out-of-range", "no day"),
        (entry(&format!("{reason}{expires}      paths: x\n")), 6, "unknown-key", "did you mean `path`?"),
        (entry(&format!("{reason}{expires}      path: tests/*\n")), 6, "invalid-path", "patterns"),
        (entry(&format!("{reason}{expires}      path: ../x\n")), 6, "invalid-path", "skill's folder"),
        (entry(&format!("{reason}{expires}      digest: abc\n")), 6, "unknown-value", "64 characters"),
        (entry(&format!("{reason}{expires}      skill: \"\"\n")), 6, "empty-value", "name"),
        (
            "scan:\n  suppressions:\n    - { rule: CHECK-9, reason: r, expires: 2027-01-01 }\n".to_owned(),
            3,
            "unknown-value",
            "CHECK-04",
        ),
        ("scan:\n  fail-on: warning\n".to_owned(), 2, "unknown-key", "did you mean `fail_on`?"),
        ("scan:\n  fail_on: never\n".to_owned(), 2, "unknown-value", "blocked"),
        ("scan:\n  blocklist: [\"*.evil.test\"]\n".to_owned(), 2, "invalid-wildcard", "below it"),
        ("scan:\n  trusted_sources: [\"*\"]\n".to_owned(), 2, "invalid-wildcard", "github:owner"),
        ("scan:\n  trusted_sources: [\"\"]\n".to_owned(), 2, "empty-value", "source"),
        ("scan: []\n".to_owned(), 1, "wrong-type", "a map"),
        ("suppressions: []\n".to_owned(), 1, "unknown-key", "the keys here are"),
    ] {
        let invalid = Policy::parse(&text).expect_err(&text);
        let [found] = invalid.diagnostics.as_slice() else { panic!("{text}\n{invalid}") };
        assert_eq!((found.line, found.code.as_str()), (line, code), "{text}\n{invalid}");
        let said = format!("{} {}", found.message, found.help.as_deref().unwrap_or_default());
        assert!(said.contains(says), "{text}\n{said}");
    }
}
