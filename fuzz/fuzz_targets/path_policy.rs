//! Any text as a path, a pattern, a tool's name and its arguments: an answer, and what is allowed is inside.
#![no_main]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use serde_json::json;
use skillsandbox_path_policy::{AccessKind, PathPolicy};

/// A workspace with links in and out, made once.
static ROOT: LazyLock<PathBuf> = LazyLock::new(|| {
    let top = std::env::temp_dir().join(format!("skillsandbox-fuzz-{}", std::process::id()));
    let root = top.join("ws");
    fs::create_dir_all(root.join("a/b")).expect("a folder");
    fs::create_dir_all(top.join("x")).expect("a folder");
    for (target, link) in [("../x", "o"), ("a/b", "i"), ("/etc", "e"), ("l", "l"), ("../../x", "a/o"), ("nothing", "d")] {
        let _ = symlink(target, root.join(link));
    }
    root.canonicalize().expect("it was made")
});

static POLICIES: LazyLock<[PathPolicy; 3]> = LazyLock::new(|| {
    let builder = || PathPolicy::builder().root(&*ROOT);
    [
        builder().build().expect("a policy"),
        builder().without_openat2().build().expect("a policy"),
        builder().forbid("a/b").build().expect("a policy"),
    ]
});

fuzz_target!(|text: &str| {
    let [fast, walk, guarded] = &*POLICIES;
    let decision = fast.check(text, AccessKind::ReadWrite);
    assert_eq!(decision.rule(), walk.check(text, AccessKind::ReadWrite).rule(), "{text:?}");
    if decision.is_allowed() {
        let resolved = fast.resolve(text, AccessKind::ReadWrite).expect("it is allowed");
        assert!(resolved.starts_with(fast.root()), "{text:?} is {}", resolved.display());
        if let Ok(real) = fast.root().join(text).canonicalize() {
            assert_eq!(real, resolved, "{text:?}");
        }
        if resolved.starts_with(fast.root().join("a/b")) {
            assert!(guarded.check(text, AccessKind::Read).is_denied(), "{text:?} is forbidden");
        }
    } else {
        assert!(decision.reason().starts_with("path traversal blocked: "));
        assert!(guarded.check(text, AccessKind::ReadWrite).is_denied(), "{text:?}: forbidding allows nothing");
    }
    assert!(!decision.reason().chars().any(char::is_control));
    // Text that nobody described: what begins at the top, or climbs, passes only if it is inside.
    let is_word = !text.contains(char::is_whitespace);
            if is_word && (text.starts_with('/') || text.starts_with("../")) && decision.is_denied() {
        for arguments in [json!({ "subject": text }), json!({ "x": [format!("y={text}")] }), json!({ "z": format!("@{text}") })] {
            assert!(fast.validate_call("frobnicate", &arguments).is_denied(), "{arguments}");
        }
    }
    let arguments = json!({ "path": text, "pattern": text, text: { "files": [text], "glob": text } });
    for tool in ["Glob", "Edit", text] {
        let _ = fast.validate_call(tool, &arguments);
        let _ = fast.validate_call_json(tool, text);
    }
});
