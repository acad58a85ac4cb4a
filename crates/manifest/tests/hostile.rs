//! Texts made to cost time or memory. What they cost is measured by `cargo xtask bench manifest`; here they only have
//! to be answered, with the right reason.
#![cfg(feature = "declarations")]
// A test may fail by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use skillsandbox_manifest::{Code, MAX_BYTES, Manifest, SkillDoc};

use skillsandbox_test_support::hostile_manifests;

#[track_caller]
fn refused(text: &str) -> Code {
    Manifest::parse(text).expect_err("refused").diagnostics[0].code
}

#[test]
fn every_hostile_text_is_answered() {
    let mut wrong = Vec::new();
    for (name, text, code) in hostile_manifests::all() {
        assert!(text.len() <= MAX_BYTES, "{name}: {} bytes", text.len());
        let invalid = Manifest::parse(&text).expect_err(name);
        if !invalid.diagnostics.iter().any(|d| d.code == code) {
            wrong.push(format!("{name}: expected {code}: {}", invalid.diagnostics[0]));
        }
        assert!(invalid.diagnostics.len() <= 50, "{name}");
        for diagnostic in &invalid.diagnostics {
            let size = diagnostic.message.len()
                + diagnostic.path.len()
                + diagnostic.help.as_ref().map_or(0, String::len);
            assert!(size < 4096, "{name}: a diagnostic of {size} bytes");
        }
        let doc = SkillDoc::parse(&format!("---\n{text}\n---\n"));
        assert!(doc.problems.len() <= 50);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn one_byte_too_many_is_refused_unread() {
    assert_eq!(refused(&"#".repeat(MAX_BYTES + 1)), Code::TooLarge);
    assert_eq!(refused(&"#".repeat(MAX_BYTES)), Code::Empty);
}

#[test]
fn hundreds_of_errors_are_counted_not_kept() {
    let text: String = (0..500).map(|i| format!("key{i}: 1\n")).collect();
    let invalid = Manifest::parse(&text).unwrap_err();
    assert_eq!((invalid.diagnostics.len(), invalid.more), (50, 451));
}
