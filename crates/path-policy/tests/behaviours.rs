//! The rows of docs/behaviours.md that this crate proves.
// A test may fail by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use serde_json::{Value, json};
use skillsandbox_path_policy::{AccessKind, PathPolicy, PathRule, SanitizeError, ToolMode};

use crate::common::{TreeAccess, each_way};

/// A call of each tool with one path.
const TOOLS: &[(&str, &str)] = &[
    ("read_file", "path"),
    ("write_file", "path"),
    ("append_to_file", "path"),
    ("list_files", "path"),
    ("delete_file", "path"),
    ("move_file", "source"),
    ("move_file", "destination"),
    ("copy_file", "source"),
    ("copy_file", "destination"),
    ("Read", "file_path"),
    ("Write", "file_path"),
    ("Edit", "file_path"),
    ("MultiEdit", "file_path"),
    ("NotebookEdit", "notebook_path"),
    ("NotebookRead", "notebook_path"),
    ("LS", "path"),
    ("Glob", "path"),
    ("Glob", "pattern"),
    ("Grep", "path"),
    ("Grep", "glob"),
    ("grep_files", "path"),
    ("str_replace_editor", "path"),
    ("view", "path"),
    ("create_file", "path"),
    ("read_text_file", "path"),
    ("read_media_file", "path"),
    ("read_multiple_files", "paths"),
    ("edit_file", "path"),
    ("create_directory", "path"),
    ("list_directory", "path"),
    ("list_directory_with_sizes", "path"),
    ("directory_tree", "path"),
    ("search_files", "path"),
    ("get_file_info", "path"),
];

fn call(key: &str, path: &str) -> Value {
    if key == "paths" { json!({ key: ["projects/foo.md", path] }) } else { json!({ key: path }) }
}

#[test]
fn row_056_file_tools_are_confined_to_the_root() {
    let tree = TreeAccess::new();
    tree.link("../outside", "ws/out");
    let policy = tree.policy();
    for (tool, key) in TOOLS {
        assert!(policy.validate_call(tool, &call(key, "projects/foo.md")).is_allowed(), "{tool} {key}");
        let inside = tree.text("ws/projects/foo.md");
        assert!(policy.validate_call(tool, &call(key, &inside)).is_allowed(), "{tool} {key}");
        for path in
            ["/etc/passwd", "../outside/secret", "out/secret", "projects/../../outside", "~/.ssh/id_rsa"]
        {
            let arguments = call(key, path);
            let decision = policy.validate_call(tool, &arguments);
            assert!(decision.is_denied(), "{tool} {key} {path}");
            let reason = decision.reason();
            assert!(reason.starts_with("path traversal blocked: "), "{reason}");
            assert!(reason.contains(&format!("`{tool}`")), "{reason}");
            assert!(reason.contains(policy.root().to_str().unwrap()), "{reason}");
        }
    }
}

#[test]
fn row_056_names_of_tools_are_known_in_every_spelling() {
    let tree = TreeAccess::new();
    let policy = tree.policy();
    for tool in [
        "READ_FILE",
        "read-file",
        "readFile",
        "Read",
        "READ",
        "mcp__filesystem__read_file",
        "mcp__my_fs__Read-File",
        "MCP__fs__read_file",
        "filesystem.read_file",
        "filesystem:read_file",
        "fs/read_file",
        "some_unknown_tool",
    ] {
        let arguments = json!({ "path": "/etc/passwd" });
        let decision = policy.validate_call(tool, &arguments);
        assert_eq!(decision.rule(), Some(PathRule::OutsideRoot), "{tool}");
    }
}

#[test]
fn row_057_what_is_outside_has_a_reason_and_what_is_inside_has_none() {
    let tree = TreeAccess::new();
    let policy = tree.policy();
    let pair = |path: &str| {
        let arguments = json!({ "path": path });
        let decision = policy.validate_call("read_file", &arguments);
        (decision.is_allowed(), decision.reason())
    };
    let (allowed, reason) = pair("/etc/passwd");
    assert!(!allowed);
    assert!(
        reason.starts_with(
            "path traversal blocked: tool `read_file`: argument `path`: `/etc/passwd` is outside"
        ),
        "{reason}"
    );
    assert_eq!(pair("projects/foo.md"), (true, String::new()));
    assert_eq!(pair("projects/not-yet.md"), (true, String::new()));
}

#[test]
fn row_058_the_path_is_checked_before_the_mode() {
    let tree = TreeAccess::new();
    let asked = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let count = asked.clone();
    let policy = tree
        .builder()
        .mode("Read", ToolMode::Allow)
        .mode("Write", ToolMode::Prompt)
        .mode("Edit", ToolMode::Deny)
        .prompter(move |_| {
            count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            true
        })
        .build()
        .unwrap();
    for tool in ["Read", "Write", "Edit"] {
        let arguments = json!({ "file_path": "/etc/passwd" });
        let decision = policy.validate_call(tool, &arguments);
        assert_eq!(decision.rule().unwrap(), PathRule::OutsideRoot, "{tool}");
    }
    assert_eq!(
        asked.load(std::sync::atomic::Ordering::Relaxed),
        0,
        "nobody is asked about what is denied anyway"
    );
    assert!(policy.validate_call("Write", &json!({ "file_path": "x" })).is_allowed());
    assert_eq!(asked.load(std::sync::atomic::Ordering::Relaxed), 1);
}

#[test]
fn row_059_links_are_resolved_before_the_check() {
    each_way(|way, build| {
        let tree = TreeAccess::new();
        tree.link("../outside", "ws/out");
        tree.link(tree.path("outside/secret"), "ws/absolute");
        tree.link("out/deep", "ws/second");
        tree.link("projects/foo.md", "ws/inside");
        tree.link(tree.path("ws/projects"), "ws/absolute-inside");
        tree.link("../outside/new", "ws/dangling-out");
        tree.link("projects/new", "ws/dangling-in");
        let policy = build(tree.builder());
        for path in [
            "out",
            "out/secret",
            "absolute",
            "second",
            "second/x",
            "out/new",
            "dangling-out",
            "projects/../out/secret",
        ] {
            let denied = policy.check(path, AccessKind::Read);
            assert_eq!(denied.rule(), Some(PathRule::LinkLeadsOut), "{way}: {path}");
            assert!(policy.check(path, AccessKind::Write).is_denied(), "{way}: {path}");
        }
        for path in ["inside", "absolute-inside/foo.md", "absolute-inside/new", "dangling-in"] {
            assert!(policy.check(path, AccessKind::Write).is_allowed(), "{way}: {path}");
        }
    });
}

#[test]
fn row_060_relative_paths_start_at_the_root_and_the_root_is_the_current_directory() {
    let policy = PathPolicy::current_dir().unwrap();
    let here = std::env::current_dir().unwrap().canonicalize().unwrap();
    assert_eq!(policy.root(), here);
    assert_eq!(policy.resolve("src/lib.rs", AccessKind::Read).unwrap(), here.join("src/lib.rs"));
    assert!(policy.check(&here.join("src/lib.rs"), AccessKind::Read).is_allowed());
    let tree = TreeAccess::new();
    let policy = tree.policy();
    assert_eq!(
        policy.resolve("projects/./a/../foo.md", AccessKind::Read).unwrap(),
        tree.path("ws/projects/foo.md")
    );
    assert_eq!(policy.resolve(".", AccessKind::Read).unwrap(), tree.path("ws"));
}

#[test]
fn row_061_tools_that_are_no_file_tools_are_not_checked() {
    let tree = TreeAccess::new();
    let policy = tree.policy();
    for tool in ["Bash", "call_llm"] {
        for arguments in
            [json!({ "command": "cat /etc/passwd" }), json!({ "prompt": "../../x", "path": "/etc/passwd" })]
        {
            assert!(policy.validate_call(tool, &arguments).is_allowed(), "{tool} {arguments}");
        }
    }
    // A server that calls its own tool so is not believed.
    for tool in ["mcp__evil__bash", "evil.Bash", "evil__call_llm"] {
        assert!(policy.validate_call(tool, &json!({ "path": "/etc/passwd" })).is_denied(), "{tool}");
    }
}

#[test]
fn row_062_modes_allow_deny_and_prompt() {
    let tree = TreeAccess::new();
    let builder = || {
        tree.builder()
            .mode("read_file", ToolMode::Allow)
            .mode("delete_file", ToolMode::Deny)
            .mode("write-file", ToolMode::Prompt)
    };
    let arguments = json!({ "path": "projects/foo.md" });
    let rule = |policy: &PathPolicy, tool: &str| policy.validate_call(tool, &arguments).rule();
    let nobody = builder().build().unwrap();
    assert_eq!(rule(&nobody, "read_file"), None);
    assert_eq!(rule(&nobody, "delete_file"), Some(PathRule::ModeDeny));
    assert_eq!(
        rule(&nobody, "mcp__fs__delete_file"),
        Some(PathRule::ModeDeny),
        "a prefix is no way round a mode"
    );
    assert_eq!(rule(&nobody, "write_file"), Some(PathRule::NoPrompter));
    assert_eq!(nobody.judge_call("write_file", &arguments).as_str(), "prompt");
    for (answer, expected) in [(true, None), (false, Some(PathRule::PromptRefused))] {
        let asked = builder()
            .prompter(move |request| {
                request.tool == "write_file" && request.arguments["path"] == "projects/foo.md" && answer
            })
            .build()
            .unwrap();
        assert_eq!(rule(&asked, "write_file"), expected);
    }
    let strict = tree.builder().default_mode(ToolMode::Deny).mode("Read", ToolMode::Allow).build().unwrap();
    assert_eq!(rule(&strict, "Read"), None);
    assert_eq!(rule(&strict, "Bash"), Some(PathRule::ModeDeny));
    assert!(strict.validate_call("Bash", &json!({})).reason().starts_with("tool denied: "));
}

#[test]
fn row_063_sanitize_path_says_which_of_three_things_is_wrong() {
    each_way(|way, build| {
        let tree = TreeAccess::new();
        tree.link("../outside", "ws/out");
        tree.link("loop", "ws/loop");
        tree.link("nowhere", "ws/dangling");
        let policy = build(tree.builder());
        assert_eq!(
            policy.sanitize_path("projects/foo.md").unwrap(),
            tree.path("ws/projects/foo.md"),
            "{way}"
        );
        for path in ["/etc/passwd", "/", "C:/x", tree.text("ws/projects/foo.md").as_str()] {
            let refused = policy.sanitize_path(path);
            assert!(
                matches!(refused, Err(SanitizeError::AbsolutePathNotAllowed(_))),
                "{way}: {path}: {refused:?}"
            );
        }
        for path in
            ["", "missing", "projects/foo.md/x", "loop", "dangling", "a\0b", "projects/missing/../foo.md"]
        {
            let refused = policy.sanitize_path(path);
            assert!(matches!(refused, Err(SanitizeError::InvalidPath(_))), "{way}: {path:?}: {refused:?}");
        }
        for path in [
            "..",
            "../outside",
            "out/secret",
            "projects/../../outside/secret",
            "../../../etc/passwd",
            "%2e%2e/x",
        ] {
            let refused = policy.sanitize_path(path);
            assert!(
                matches!(refused, Err(SanitizeError::PathTraversalAttempt(_))),
                "{way}: {path}: {refused:?}"
            );
        }
    });
}

#[test]
fn row_064_the_classic_attacks_are_refused() {
    each_way(|way, build| {
        let tree = TreeAccess::new();
        tree.link("/etc", "ws/etc");
        tree.link("/etc/passwd", "ws/innocent.txt");
        let policy = build(tree.builder());
        for path in [
            "../../../etc/passwd",
            "/etc/passwd",
            "~/.ssh/id_rsa",
            "etc/passwd",
            "innocent.txt",
            "../ws/../../etc/passwd",
        ] {
            for access in [AccessKind::Read, AccessKind::Write, AccessKind::ReadWrite] {
                assert!(policy.check(path, access).is_denied(), "{way}: {path}");
            }
        }
    });
}

#[test]
fn row_065_forbidden_paths_are_refused_even_if_a_parent_is_granted() {
    each_way(|way, build| {
        let tree = TreeAccess::new();
        tree.file("ws/projects/.env", "KEY");
        tree.link("../.git", "ws/projects/harmless");
        tree.link(tree.path("ws/.git/config"), "ws/notes.txt");
        let policy = build(
            tree.builder()
                .forbid(".git")
                .forbid(tree.path("ws/projects/.env"))
                .forbid("later/secret")
                .read_root(tree.path("database")),
        );
        for path in [
            ".git",
            ".git/",
            ".git/config",
            "./.git/config",
            "projects/../.git/config",
            "projects/.env",
            "projects/harmless/config",
            "notes.txt",
            ".git/new",
            "later/secret",
            "later/secret/x",
            "projects/./.env",
        ] {
            for access in [AccessKind::Read, AccessKind::Write] {
                let denied = policy.check(path, access);
                assert_eq!(denied.rule(), Some(PathRule::Forbidden), "{way}: {path}");
            }
        }
        for path in [".gitignore", ".github/x", "projects/.env.example", "later/secrets", "later"] {
            assert!(policy.check(path, AccessKind::Write).is_allowed(), "{way}: {path}");
        }
    });
}
