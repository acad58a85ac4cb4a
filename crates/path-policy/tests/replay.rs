//! Judges every fuzz seed, and every input that once broke something (fuzz/crashes), as the fuzz target does.
// A test may fail by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::fs;
use std::path::Path;

use serde_json::json;
use skillsandbox_path_policy::AccessKind;

use crate::common::TreeAccess;

#[test]
fn seeds_and_former_crashes_have_an_answer() {
    let tree = TreeAccess::new();
    tree.link("../outside", "ws/o");
    tree.link("projects", "ws/i");
    let (fast, walk) = (tree.policy(), tree.builder().without_openat2().build().unwrap());
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz");
    let mut read = 0;
    for folder in ["seeds/path_policy", "crashes"] {
        for entry in fs::read_dir(fuzz.join(folder)).unwrap_or_else(|error| panic!("{folder}: {error}")) {
            let bytes = fs::read(entry.unwrap().path()).unwrap();
            let text = String::from_utf8_lossy(&bytes);
            let text = text.as_ref();
            let decision = fast.check(text, AccessKind::ReadWrite);
            assert_eq!(decision.rule(), walk.check(text, AccessKind::ReadWrite).rule(), "{text:?}");
            if decision.is_allowed() {
                assert!(
                    fast.resolve(text, AccessKind::ReadWrite).unwrap().starts_with(fast.root()),
                    "{text:?}"
                );
            }
            // Text that nobody described: what begins at the top, or climbs, passes only if it is inside.
            let is_word = !text.contains(char::is_whitespace);
            if is_word && (text.starts_with('/') || text.starts_with("../")) && decision.is_denied() {
                for arguments in [
                    json!({ "subject": text }),
                    json!({ "x": [format!("y={text}")] }),
                    json!({ "z": format!("@{text}") }),
                ] {
                    assert!(fast.validate_call("frobnicate", &arguments).is_denied(), "{arguments}");
                }
            }
            let arguments = json!({ "path": text, "pattern": text, text: { "files": [text], "glob": text } });
            for tool in ["Glob", "Edit", text] {
                let _ = fast.validate_call(tool, &arguments);
                let _ = fast.validate_call_json(tool, text);
            }
            read += 1;
        }
    }
    assert!(read >= 13, "only {read} seeds");
}
