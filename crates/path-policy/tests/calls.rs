//! Tool calls made to slip through: every key, every type, every nesting.
// A test may fail by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use serde_json::{Value, json};
use skillsandbox_path_policy::{AccessKind, ForbiddenBelow, PathPolicy, PathRule, ToolSpec, UnknownTools};

use crate::common::TreeAccess;

fn rule(policy: &PathPolicy, tool: &str, arguments: &Value) -> Option<PathRule> {
    policy.validate_call(tool, arguments).rule()
}

#[test]
fn every_path_is_checked_not_the_first() {
    let tree = TreeAccess::new();
    let policy = tree.policy();
    for key in [
        "path",
        "file_path",
        "filePath",
        "FilePath",
        "FILE_PATH",
        "file-path",
        "notebook_path",
        "directory",
        "dir",
        "cwd",
        "source",
        "destination",
        "src",
        "dst",
        "from",
        "to",
        "target",
        "paths",
        "files",
        "filename",
        "file",
        "folder",
        "working_directory",
        "old_path",
        "newPath",
        "output_file",
        "my_own_path",
        "log_dir",
        "root",
        "base",
        "uri",
        "where",
    ] {
        for tool in ["Read", "write_file", "list_files", "mcp__x__frobnicate"] {
            for bad in ["/etc/passwd", "../x/../../y"] {
                let arguments =
                    json!({ "path": "projects/foo.md", "file_path": "projects/foo.md", key: bad });
                assert!(policy.validate_call(tool, &arguments).is_denied(), "{tool} {arguments}");
            }
            let arguments = json!({ "path": "projects/foo.md", key: "projects/a" });
            assert!(policy.validate_call(tool, &arguments).is_allowed(), "{tool} {arguments}");
        }
    }
    for arguments in [
        json!({ "edits": [{ "file_path": "a" }, { "file_path": "/etc/passwd" }] }),
        json!({ "file_path": "a", "edits": [{ "old_string": "x", "target": { "deeper": [{ "path": "../../x" }] } }] }),
        json!({ "paths": ["a", "b", "../c"] }),
        json!({ "files": [{ "path": "a" }, { "path": "/etc/passwd" }] }),
        json!({ "files": ["a", { "name": "x", "dest": "/etc/passwd" }] }),
        json!({ "path": "a", "options": { "output": { "dir": "/etc" } } }),
        json!({ "paths": "a,/etc/passwd" }),
        json!({ "paths": "a /etc/passwd" }),
        json!({ "paths": "a:/etc/passwd" }),
        json!({ "files": "[\"/etc/passwd\"]" }),
    ] {
        for tool in ["MultiEdit", "read_multiple_files"] {
            assert!(policy.validate_call(tool, &arguments).is_denied(), "{tool} {arguments}");
        }
    }
}

#[test]
fn text_is_not_taken_for_a_path() {
    let tree = TreeAccess::new();
    let policy = tree.policy();
    for (tool, arguments) in [
        ("Write", json!({ "file_path": "a", "content": "/etc/passwd\n../../x" })),
        (
            "Edit",
            json!({ "file_path": "a", "old_string": "../x", "new_string": "/etc/passwd", "replace_all": true }),
        ),
        (
            "edit_file",
            json!({ "path": "a", "edits": [{ "oldText": "/a", "newText": "/b" }], "dryRun": false }),
        ),
        (
            "Grep",
            json!({ "pattern": "/etc/.*|\\.\\./", "path": "projects", "-n": true, "head_limit": 5, "output_mode": "files_with_matches" }),
        ),
        ("Grep", json!({ "pattern": "x", "path": null, "glob": "*.{ts,tsx}" })),
        ("Glob", json!({ "pattern": "**/*.rs" })),
        ("LS", json!({})),
        ("list_files", json!(null)),
        ("send_mail", json!({ "to": "ada@mail.test", "from": "bob@mail.test", "body": "see /etc/passwd" })),
        ("fetch", json!({ "url": "https://a.test/../x", "source": "https://a.test/img.png" })),
        ("http", json!({ "endpoint": "/v1/chat", "route": "/x" })),
        ("LS", json!({ "path": "projects", "ignore": ["/node_modules/", "../x"] })),
        ("NotebookEdit", json!({ "notebook_path": "a.ipynb", "new_source": "/* a\n comment */" })),
        ("apply_patch", json!({ "input": "*** Begin Patch\n*** Update File: x\n" })),
        ("run_python", json!({ "source": "print(1)\nprint(2)" })),
        ("mcp__mail__read", json!({ "id": 7 })),
        ("convert", json!({ "from": "USD", "to": 3, "target": { "a": 1 }, "paths": [1, null] })),
    ] {
        assert_eq!(
            rule(&policy, tool, &arguments),
            None,
            "{tool} {arguments}: {}",
            policy.validate_call(tool, &arguments).reason()
        );
    }
}

#[test]
fn wrong_types_are_denials_with_a_reason() {
    let tree = TreeAccess::new();
    let policy = tree.policy();
    let mut deep = json!("x");
    for _ in 0..200 {
        deep = json!([deep]);
    }
    let many: Vec<String> = (0..2000).map(|number| format!("f{number}")).collect();
    for (tool, arguments, expected) in [
        ("Read", json!({ "file_path": ["/etc/passwd"] }), PathRule::WrongType),
        ("Read", json!({ "file_path": 7 }), PathRule::WrongType),
        ("Read", json!({ "file_path": true }), PathRule::WrongType),
        ("Read", json!({ "file_path": { "path": "a" } }), PathRule::WrongType),
        ("Read", json!({ "file_path": {} }), PathRule::WrongType),
        ("Read", json!({ "file_path": "a\u{0}b" }), PathRule::ControlCharacter),
        ("Read", json!({ "file_path": "a".repeat(5000) }), PathRule::TooLong),
        ("Read", json!({ "file_path": "" }), PathRule::Empty),
        ("Read", json!({ "file_path": null }), PathRule::MissingPath),
        ("Read", json!({}), PathRule::MissingPath),
        ("Read", json!(null), PathRule::MissingPath),
        ("Read", json!(["/etc/passwd"]), PathRule::ArgumentsNotObject),
        ("Read", json!("{\"file_path\": \"/etc/passwd\"}"), PathRule::ArgumentsNotObject),
        ("Read", json!(1), PathRule::ArgumentsNotObject),
        ("read_multiple_files", json!({ "paths": [1] }), PathRule::WrongType),
        ("read_multiple_files", json!({ "paths": [null] }), PathRule::WrongType),
        ("read_multiple_files", json!({ "paths": [["/etc/passwd"]] }), PathRule::WrongType),
        ("read_multiple_files", json!({ "paths": [] }), PathRule::MissingPath),
        ("read_multiple_files", json!({ "paths": 5 }), PathRule::WrongType),
        ("read_multiple_files", json!({ "paths": many }), PathRule::TooManyPaths),
        ("Read", json!({ "file_path": "a", "x": deep }), PathRule::TooNested),
    ] {
        let decision = policy.validate_call(tool, &arguments);
        assert_eq!(decision.rule(), Some(expected), "{tool}");
        let reason = decision.reason();
        assert!(reason.starts_with("path traversal blocked: tool `"), "{reason}");
        assert!(reason.len() < 1500, "{reason}");
        assert!(!reason.chars().any(char::is_control), "{reason:?}");
    }
}

#[test]
fn a_path_of_the_wrong_kind_is_refused_behind_a_prefix_too() {
    let tree = TreeAccess::new();
    let policy = tree.policy();
    for arguments in [
        json!({ "path": 5 }),
        json!({ "path": ["/etc"] }),
        json!({ "id": "/etc/passwd" }),
        json!({ "input": "/etc/passwd\n" }),
    ] {
        assert!(policy.validate_call("mcp__mail__read", &arguments).is_denied(), "{arguments}");
    }
}

#[test]
fn a_key_that_stands_twice_is_refused() {
    let tree = TreeAccess::new();
    let policy = tree.policy();
    for text in [
        r#"{"path": "a", "path": "/etc/passwd"}"#,
        r#"{"path": "/etc/passwd", "path": "a"}"#,
        r#"{"path": "a", "p\u0061th": "a"}"#,
        r#"{"edits": [{"path": "a", "path": "b"}]}"#,
        "{",
        r#"{"path": "\ud800"}"#,
    ] {
        let decision = policy.validate_call_json("Read", text);
        assert_eq!(decision.rule(), Some(PathRule::DuplicateKey), "{text}");
    }
    assert!(policy.validate_call_json("Read", r#"{"path": "a"}"#).is_allowed());
    assert!(policy.validate_call_json("Read", r#"{"path": "/etc/passwd"}"#).is_denied());
}

#[test]
fn a_folder_in_the_call_moves_where_its_paths_start() {
    let tree = TreeAccess::new();
    std::fs::create_dir_all(tree.path("ws/sub/sub")).unwrap();
    tree.link("../../outside/secret", "ws/sub/evil");
    tree.link("../../../outside", "ws/sub/sub/sub");
    tree.link("../../../outside", "ws/sub/sub/deep");
    let policy = tree.policy();
    for arguments in [
        json!({ "cwd": "sub", "path": "evil" }),
        json!({ "directory": "sub", "filename": "evil" }),
        json!({ "workingDirectory": tree.text("ws/sub"), "file": "evil" }),
        json!({ "cwd": "sub/sub", "path": "sub" }),
        json!({ "root": "sub", "dir": "sub", "file": "deep/secret" }),
        json!({ "dir": "sub", "root": "sub", "file": "sub/secret" }),
        json!({ "cwd": "/etc", "path": "passwd" }),
        json!({ "base": "../..", "path": "x" }),
    ] {
        for tool in ["Read", "unknown"] {
            assert!(policy.validate_call(tool, &arguments).is_denied(), "{tool} {arguments}");
        }
    }
    assert!(policy.validate_call("Read", &json!({ "cwd": "sub", "path": "fine" })).is_allowed());
    let arguments = json!({ "cwd": "a", "dir": "b", "root": "c", "base": "d", "folder": "e", "path": "x" });
    assert_eq!(rule(&policy, "Read", &arguments), Some(PathRule::TooManyPaths));
}

#[test]
fn patterns_cannot_climb() {
    let tree = TreeAccess::new();
    std::fs::create_dir_all(tree.path("ws/sub")).unwrap();
    tree.link("../../outside", "ws/sub/way");
    tree.link("../outside", "ws/out");
    let policy = tree.policy();
    for pattern in [
        "../*",
        "/etc/*",
        "/*",
        "/",
        "{a,../../etc}/*",
        "{a,/etc}/*",
        "{..,a}/{..,b}/etc/passwd",
        "{,.}{,.}/x",
        "*/../../*",
        "**/../..",
        "~/*",
        "$HOME/*",
        "file:///etc/*",
        ".*/x",
        "[.][.]/x",
        "@(..)/x",
        "a\\..\\*",
        "%2e%2e/*",
        "*/%2e%2e/x",
        "．．/*",
        "out/*",
        "out/**/x",
        "!../*",
        "{out,a}/*",
        "a\u{0}*",
        "{a",
    ] {
        for (tool, key) in [
            ("Glob", "pattern"),
            ("Grep", "glob"),
            ("grep_files", "include"),
            ("search_files", "pattern"),
            ("unknown", "glob"),
        ] {
            let arguments = json!({ key: pattern });
            assert!(policy.validate_call(tool, &arguments).is_denied(), "{tool} {arguments}");
            let arguments = json!({ key: ["*.rs", pattern] });
            assert!(policy.validate_call(tool, &arguments).is_denied(), "{tool} {arguments}");
        }
    }
    assert!(
        policy.validate_call("Glob", &json!({ "path": "sub", "pattern": "way/*" })).is_denied(),
        "it starts from the path"
    );
    for pattern in [
        "*",
        "**/*.rs",
        "src/**",
        "*.{ts,tsx}",
        "!*.lock",
        ".env*",
        ".[!.]*",
        "[...slug]/*",
        "{a,b}/{1..9}.txt",
    ] {
        let arguments = json!({ "pattern": pattern });
        assert!(
            policy.validate_call("Glob", &arguments).is_allowed(),
            "{pattern}: {}",
            policy.validate_call("Glob", &arguments).reason()
        );
    }
    assert!(policy.validate_call("Glob", &json!({ "pattern": tree.text("ws") + "/**" })).is_allowed());
}

#[test]
fn unknown_tools_are_ignored_checked_or_denied() {
    let tree = TreeAccess::new();
    let bad = json!({ "path": "/etc/passwd" });
    let good = json!({ "path": "a" });
    for (choice, expected_bad, expected_good) in [
        (UnknownTools::Ignore, None, None),
        (UnknownTools::Check, Some(PathRule::OutsideRoot), None),
        (UnknownTools::Deny, Some(PathRule::UnknownTool), Some(PathRule::UnknownTool)),
    ] {
        let policy = tree.builder().unknown_tools(choice).build().unwrap();
        assert_eq!(rule(&policy, "frobnicate", &bad), expected_bad);
        assert_eq!(rule(&policy, "frobnicate", &good), expected_good);
        assert_eq!(rule(&policy, "Read", &bad), Some(PathRule::OutsideRoot), "known ones are always checked");
    }
    let policy = tree.policy();
    for value in [
        "/etc/passwd",
        "~/x",
        "../x",
        "a/../../../x",
        "file:///etc/passwd",
        "C:\\x",
        "..\\x",
        "a/../..",
        "FILE:/etc",
    ] {
        for arguments in [json!({ "where": value }), json!({ "x": [[{ "y": value }]] }), json!([value])] {
            assert!(policy.validate_call("frobnicate", &arguments).is_denied(), "{arguments}");
        }
    }
    assert!(policy.validate_call("frobnicate", &json!({ "url": "file:///etc/passwd" })).is_denied());
}

#[test]
fn tools_can_be_added() {
    let tree = TreeAccess::new();
    let policy = tree
        .builder()
        .read_only()
        .tool("peek", ToolSpec::new(AccessKind::Read).path_argument("subject").glob_argument("mask"))
        .tool("poke", ToolSpec::new(AccessKind::Write).path_argument("subject"))
        .tool("think", ToolSpec::exempt())
        .unknown_tools(UnknownTools::Deny)
        .build()
        .unwrap();
    assert_eq!(rule(&policy, "peek", &json!({ "subject": "a" })), None);
    assert_eq!(
        rule(&policy, "Mcp__s__Peek", &json!({ "subject": ["a", "/etc"] })),
        Some(PathRule::OutsideRoot)
    );
    assert_eq!(
        rule(&policy, "peek", &json!({ "subject": "a", "mask": "../*" })),
        Some(PathRule::PatternClimbs)
    );
    assert_eq!(rule(&policy, "poke", &json!({ "subject": "a" })), Some(PathRule::ReadOnly));
    assert_eq!(rule(&policy, "think", &json!({ "path": "/etc" })), None);
    assert_eq!(rule(&policy, "str_replace_editor", &json!({ "command": "view", "path": "a" })), None);
    assert_eq!(
        rule(&policy, "str_replace_editor", &json!({ "command": "create", "path": "a" })),
        Some(PathRule::ReadOnly)
    );
    assert_eq!(rule(&policy, "str_replace_editor", &json!({ "path": "a" })), Some(PathRule::ReadOnly));
}

#[test]
fn whole_trees_with_a_forbidden_path_in_them_are_not_taken() {
    let tree = TreeAccess::new();
    tree.link("projects", "ws/alias");
    tree.file("ws/projects/key", "KEY");
    let builder = || tree.builder().forbid("projects/key");
    let policy = builder().build().unwrap();
    for (tool, arguments) in [
        ("Grep", json!({ "pattern": "x" })),
        ("Grep", json!({ "pattern": "x", "path": "." })),
        ("Grep", json!({ "pattern": "x", "path": "projects" })),
        ("Grep", json!({ "pattern": "x", "path": "alias" })),
        ("Grep", json!({ "pattern": "x", "path": "projects/a/.." })),
        ("move_file", json!({ "source": "projects", "destination": "other" })),
        ("copy_file", json!({ "source": "projects", "destination": "other" })),
        ("delete_file", json!({ "path": "projects" })),
        ("unknown", json!({ "path": "projects" })),
    ] {
        assert_eq!(rule(&policy, tool, &arguments), Some(PathRule::ForbiddenBelow), "{tool} {arguments}");
    }
    for (tool, arguments) in [
        ("Grep", json!({ "pattern": "x", "path": "projects/a" })),
        ("Glob", json!({ "pattern": "**" })),
        ("LS", json!({ "path": "projects" })),
        ("move_file", json!({ "source": "projects/a", "destination": "other" })),
    ] {
        assert_eq!(rule(&policy, tool, &arguments), None, "{tool} {arguments}");
    }
    let trusting = builder().forbidden_below(ForbiddenBelow::Allow).build().unwrap();
    assert_eq!(rule(&trusting, "Grep", &json!({ "pattern": "x" })), None);
    assert_eq!(
        rule(&trusting, "move_file", &json!({ "source": "projects", "destination": "o" })),
        Some(PathRule::ForbiddenBelow)
    );
}

#[test]
fn what_is_copied_is_read_and_what_is_moved_is_written() {
    let tree = TreeAccess::new();
    let policy = tree.builder().read_root(tree.path("database")).build().unwrap();
    let secret = tree.text("database/secret");
    assert_eq!(rule(&policy, "copy_file", &json!({ "source": secret, "destination": "here" })), None);
    assert_eq!(
        rule(&policy, "copy_file", &json!({ "source": "here", "destination": secret })),
        Some(PathRule::ReadOnly)
    );
    assert_eq!(
        rule(&policy, "move_file", &json!({ "source": secret, "destination": "here" })),
        Some(PathRule::ReadOnly)
    );
}

#[test]
fn denials_can_be_shown_to_anybody() {
    let tree = TreeAccess::new();
    let policy = tree.policy();
    let hostile = "/etc/\u{1b}[2J\u{202e}`\n".to_owned() + &"x".repeat(3000);
    let arguments = json!({ "path": hostile, "\u{1b}]0;x": "/etc" });
    let reason = policy.validate_call("Read\u{1b}[31m", &arguments).reason();
    assert!(reason.chars().all(|c| !c.is_control() && c != '\u{202e}'), "{reason:?}");
    assert!(reason.len() < 2000, "{}", reason.len());
    for rule in PathRule::ALL {
        assert!(
            rule.code().chars().all(|c| c.is_ascii_lowercase() || c == '-' || c.is_ascii_digit()),
            "{rule}"
        );
    }
}
