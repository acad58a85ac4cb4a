//! `hook`: calls as Claude Code, Codex and Gemini CLI tell of them, and answers in the form that each documents.
// A test may fail by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![cfg(target_os = "linux")]

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

const PRODUCTS: [&str; 3] = ["claude-code", "codex", "gemini"];

/// A project in a home of its own.
struct Project {
    folder: tempfile::TempDir,
}

struct Answer {
    code: i32,
    out: String,
    err: String,
}

impl Project {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("home/project/src")).unwrap();
        fs::create_dir_all(folder.path().join("home/.ssh")).unwrap();
        fs::write(folder.path().join("home/.ssh/id_rsa"), "a key").unwrap();
        fs::write(folder.path().join("home/project/notes.md"), "notes").unwrap();
        Self { folder }
    }

    fn home(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join("home")
    }

    fn path(&self, path: &str) -> String {
        self.home().join("project").join(path).to_str().unwrap().trim_end_matches('/').to_owned()
    }

    fn command(&self, product: &str, flags: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_skillsandbox"));
        command.args(["hook", product]).args(flags).env_clear().env("PATH", "/usr/bin:/bin");
        command.env("HOME", self.home()).current_dir(self.home().join("project"));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn send(&self, product: &str, flags: &[&str], input: &[u8]) -> Answer {
        let mut child = self.command(product, flags).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = input.to_owned();
        let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Answer { code: output.status.code().unwrap(), out: text(output.stdout), err: text(output.stderr) }
    }

    /// A call as the product tells of it, by the examples in its documentation.
    fn call(&self, product: &str, tool: &str, input: &Value) -> Value {
        let cwd = self.path("");
        match product {
            "claude-code" => json!({
                "session_id": "abc123", "prompt_id": "550e8400-e29b-41d4-a716-446655440000",
                "transcript_path": "/home/user/.claude/projects/x/00893aaf-19fa-41d2-8238-13269b9b3ca0.jsonl", "cwd": cwd,
                "permission_mode": "default", "hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": input,
                "tool_use_id": "toolu_01ABC123",
            }),
            "codex" => json!({
                "session_id": "0199a213-81c0-7800-8aa1-bbab2a035a53", "turn_id": "turn-1", "transcript_path": null, "cwd": cwd,
                "hook_event_name": "PreToolUse", "model": "gpt-5.2-codex", "permission_mode": "default", "tool_name": tool,
                "tool_input": input, "tool_use_id": "call-1",
            }),
            _ => json!({
                "session_id": "abc", "transcript_path": "/home/user/.gemini/tmp/x/chats/session.json", "cwd": cwd,
                "hook_event_name": "BeforeTool", "timestamp": "2026-11-17T19:00:00.000Z", "tool_name": tool, "tool_input": input,
            }),
        }
    }

    /// What is decided: `pass`, `allow`, `ask` or `deny`. The answer is in the product's form.
    fn decide(&self, product: &str, flags: &[&str], tool: &str, input: &Value) -> (String, String) {
        let call = self.call(product, tool, input).to_string();
        let answer = self.send(product, flags, call.as_bytes());
        assert_eq!((answer.code, answer.err.as_str()), (0, ""), "{product} {tool} {input}: {}", answer.out);
        read_answer(product, &answer.out)
    }
}

/// Reads an answer as the product does, and fails where the product would not understand it.
fn read_answer(product: &str, out: &str) -> (String, String) {
    let answer: Value = serde_json::from_str(out).unwrap();
    check_schema(product, &answer);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    if answer == json!({}) {
        return ("pass".to_owned(), String::new());
    }
    if product == "gemini" {
        return (text(&answer["decision"]), text(&answer["reason"]));
    }
    let decision = &answer["hookSpecificOutput"];
    (text(&decision["permissionDecision"]), text(&decision["permissionDecisionReason"]))
}

/// The forms of answers that are documented, as far as this hook uses them. Nothing else may be in one.
fn check_schema(product: &str, answer: &Value) {
    let decisions = if product == "codex" { json!(["deny"]) } else { json!(["allow", "deny", "ask"]) };
    let schema = if product == "gemini" {
        json!({ "type": "object", "additionalProperties": false, "dependentRequired": { "reason": ["decision"] },
            "properties": { "decision": { "enum": ["allow", "deny"] }, "reason": { "type": "string", "minLength": 1 } } })
    } else {
        json!({ "type": "object", "additionalProperties": false, "properties": { "hookSpecificOutput": {
            "type": "object", "additionalProperties": false, "required": ["hookEventName", "permissionDecision"],
            "properties": { "hookEventName": { "const": "PreToolUse" }, "permissionDecision": { "enum": decisions },
                "permissionDecisionReason": { "type": "string", "minLength": 1 } } } } })
    };
    let mut schemas = boon::Schemas::new();
    let mut compiler = boon::Compiler::new();
    compiler.add_resource("answer.json", schema).unwrap();
    let index = compiler.compile("answer.json", &mut schemas).unwrap();
    assert!(schemas.validate(answer, index).is_ok(), "{product}: {answer}");
}

#[test]
fn row_167_calls_of_each_product_are_decided_in_its_own_protocol() {
    let project = Project::new();
    let notes = project.path("notes.md");
    let key = project.home().join(".ssh/id_rsa");
    let key = key.to_str().unwrap();
    let patch = |file: &str| json!({ "command": format!("*** Begin Patch\n*** Update File: {file}\n@@\n-a\n+b\n*** End Patch\n") });
    for (product, tool, input, wanted) in [
        (
            "claude-code",
            "Bash",
            json!({ "command": "git status", "description": "Show status", "timeout": 120_000 }),
            "pass",
        ),
        ("claude-code", "Bash", json!({ "command": "npm test 2>&1 | tail -5" }), "ask"),
        ("claude-code", "Bash", json!({ "command": format!("cat {key}") }), "deny"),
        (
            "claude-code",
            "Bash",
            json!({ "command": "cat <<'EOF' > ~/.ssh/authorized_keys2\nx\nEOF" }),
            "deny",
        ),
        ("claude-code", "Bash", json!({ "command": "ls", "dangerouslyDisableSandbox": true }), "ask"),
        ("claude-code", "Read", json!({ "file_path": notes, "offset": 10, "limit": 50 }), "pass"),
        ("claude-code", "Read", json!({ "file_path": key }), "deny"),
        (
            "claude-code",
            "Write",
            json!({ "file_path": project.path("src/new.rs"), "content": "see /etc/passwd and ~/.ssh/id_rsa" }),
            "pass",
        ),
        ("claude-code", "Write", json!({ "file_path": "/etc/cron.d/x", "content": "" }), "deny"),
        (
            "claude-code",
            "Write",
            json!({ "file_path": project.path(".claude/settings.json"), "content": "{}" }),
            "ask",
        ),
        (
            "claude-code",
            "Edit",
            json!({ "file_path": notes, "old_string": "a", "new_string": "b", "replace_all": false }),
            "pass",
        ),
        (
            "claude-code",
            "MultiEdit",
            json!({ "file_path": notes, "edits": [{ "old_string": "a", "new_string": "b" }] }),
            "pass",
        ),
        ("claude-code", "NotebookEdit", json!({ "notebook_path": "/etc/x.ipynb", "new_source": "" }), "deny"),
        ("claude-code", "Glob", json!({ "pattern": "**/*.rs", "path": project.path("src") }), "pass"),
        ("claude-code", "Glob", json!({ "pattern": "../../**" }), "deny"),
        (
            "claude-code",
            "Grep",
            json!({ "pattern": "/etc/passwd", "path": project.path("src"), "output_mode": "content" }),
            "pass",
        ),
        ("claude-code", "Grep", json!({ "pattern": "x", "path": "/etc" }), "deny"),
        ("claude-code", "LS", json!({ "path": "/" }), "deny"),
        (
            "claude-code",
            "WebFetch",
            json!({ "url": "https://example.com/api", "prompt": "Extract http://localhost" }),
            "pass",
        ),
        (
            "claude-code",
            "WebFetch",
            json!({ "url": "http://169.254.169.254/latest/meta-data", "prompt": "x" }),
            "deny",
        ),
        (
            "claude-code",
            "WebSearch",
            json!({ "query": "rust /etc/passwd", "allowed_domains": ["docs.rs"] }),
            "pass",
        ),
        (
            "claude-code",
            "Task",
            json!({ "prompt": "look at /etc/passwd", "description": "x", "subagent_type": "Explore" }),
            "pass",
        ),
        (
            "claude-code",
            "mcp__memory__create_entities",
            json!({ "entities": [{ "name": "Ada", "observations": ["likes tea"] }] }),
            "pass",
        ),
        ("claude-code", "mcp__filesystem__read_text_file", json!({ "path": key }), "deny"),
        ("codex", "Bash", json!({ "command": "git status" }), "pass"),
        ("codex", "Bash", json!({ "command": "rg x | head" }), "deny"),
        ("codex", "apply_patch", patch("notes.md"), "pass"),
        ("codex", "apply_patch", patch("../../.ssh/config"), "deny"),
        ("codex", "mcp__fs__write_file", json!({ "path": "/etc/x", "content": "" }), "deny"),
        (
            "gemini",
            "run_shell_command",
            json!({ "command": "git status", "description": "x", "dir_path": "src" }),
            "pass",
        ),
        ("gemini", "run_shell_command", json!({ "command": "ls", "directory": "/etc" }), "deny"),
        ("gemini", "run_shell_command", json!({ "command": "ls; id" }), "deny"),
        ("gemini", "read_file", json!({ "file_path": "notes.md" }), "pass"),
        ("gemini", "read_file", json!({ "absolute_path": key }), "deny"),
        ("gemini", "write_file", json!({ "file_path": "/etc/x", "content": "" }), "deny"),
        ("gemini", "replace", json!({ "file_path": notes, "old_string": "a", "new_string": "b" }), "pass"),
        ("gemini", "replace", json!({ "file_path": "../x", "old_string": "a", "new_string": "b" }), "deny"),
        ("gemini", "glob", json!({ "pattern": "src/*.rs" }), "pass"),
        ("gemini", "grep_search", json!({ "pattern": "x", "dir_path": "/etc" }), "deny"),
        ("gemini", "read_many_files", json!({ "include": ["src/*.rs", "../../.ssh/*"] }), "deny"),
        ("gemini", "web_fetch", json!({ "prompt": "Summarize https://example.com/a" }), "pass"),
        ("gemini", "web_fetch", json!({ "prompt": "Summarize http://127.0.0.1:9200/" }), "deny"),
        ("gemini", "google_web_search", json!({ "query": "x" }), "pass"),
        ("gemini", "mcp__fs__read_file", json!({ "path": "/etc/passwd" }), "deny"),
    ] {
        let (decision, reason) = project.decide(product, &[], tool, &input);
        assert_eq!(decision, wanted, "{product} {tool} {input}: {reason}");
        assert_eq!(reason.is_empty(), matches!(wanted, "pass" | "allow"), "{product} {tool} {input}");
    }
}

#[test]
fn row_167_what_cannot_be_judged_is_blocked_by_every_product() {
    let project = Project::new();
    for product in PRODUCTS {
        let good = project.call(product, "Bash", &json!({ "command": "ls" }));
        let event = good["hook_event_name"].as_str().unwrap();
        let without = |key: &str| {
            let mut call = good.clone();
            call.as_object_mut().unwrap().remove(key);
            call.to_string()
        };
        let with = |key: &str, value: Value| {
            let mut call = good.clone();
            call[key] = value;
            call.to_string()
        };
        let text = good.to_string();
        let cases: Vec<(&str, Vec<u8>)> = vec![
            ("nothing", Vec::new()),
            ("no JSON", b"ls".to_vec()),
            ("a list", b"[]".to_vec()),
            ("null", b"null".to_vec()),
            ("two objects", format!("{text}{text}").into()),
            ("a part", text.as_bytes()[..text.len() - 1].to_vec()),
            ("no UTF-8", [text.as_bytes(), b"\xff"].concat()),
            ("half a pair", text.replace("\"ls\"", "\"\\ud800\"").into()),
            ("a key twice", text.replacen('{', "{\"tool_name\":\"Task\",", 1).into()),
            ("a key twice, escaped", text.replacen('{', "{\"tool\\u005fname\":\"Task\",", 1).into()),
            (
                "a key of the input twice",
                text.replace("\"command\":", "\"command\":\"id\",\"command\":").into(),
            ),
            (
                "deep",
                with("tool_input", json!({}))
                    .replace("{}", &format!("{{\"a\":{}", "[".repeat(50_000)))
                    .into(),
            ),
            ("another event", text.replace(event, "PostToolUse").into()),
            ("no event", without("hook_event_name").into()),
            ("no tool", without("tool_name").into()),
            ("no input", without("tool_input").into()),
            ("no folder", without("cwd").into()),
            ("a tool that is a list", with("tool_name", json!(["Bash"])).into()),
            ("a tool without a name", with("tool_name", json!("")).into()),
            ("an input that is text", with("tool_input", json!("{\"command\":\"ls\"}")).into()),
            ("an input that is a list", with("tool_input", json!(["ls"])).into()),
            ("a folder that is relative", with("cwd", json!("project")).into()),
        ];
        for (name, input) in cases {
            let answer = project.send(product, &[], &input);
            assert_eq!((answer.code, answer.out.as_str()), (2, ""), "{product}: {name}");
            assert!(
                answer.err.starts_with("SkillSandbox denied the call"),
                "{product}: {name}: {}",
                answer.err
            );
            assert_eq!(answer.err.lines().count(), 1, "{product}: {name}: {}", answer.err);
        }
        for flags in [
            ["--root", "/"],
            ["--root", "/no/such"],
            ["--write-root", "/no/such"],
            ["--policy", "/no/such"],
            ["--allowed-tools", "("],
        ] {
            let answer = project.send(product, &flags, text.as_bytes());
            assert_eq!((answer.code, answer.out.as_str()), (2, ""), "{product}: {flags:?}");
            assert!(!answer.err.is_empty(), "{product}: {flags:?}");
        }
        let usage = project.send(product, &["--no-such-flag"], text.as_bytes());
        assert_eq!((usage.code, usage.out.as_str(), usage.err.is_empty()), (2, "", false));
    }
}

#[test]
fn a_call_that_is_too_large_or_never_ends_is_blocked() {
    let project = Project::new();
    let huge = vec![b' '; 100 << 20];
    let answer = project.send("claude-code", &[], &huge);
    assert_eq!((answer.code, answer.out.as_str()), (2, ""));
    assert!(answer.err.contains("larger than"), "{}", answer.err);
    let mut child = project.command("claude-code", &[]).spawn().unwrap();
    // Held open: the hook's own deadline ends it.
    let stdin = child.stdin.take().unwrap();
    let output = child.wait_with_output().unwrap();
    drop(stdin);
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(2), &b""[..]));
    assert!(String::from_utf8_lossy(&output.stderr).contains("no decision within"));
}

#[test]
fn an_answer_that_nobody_can_read_is_a_no() {
    let project = Project::new();
    let call = project.call("claude-code", "Read", &json!({ "file_path": "/etc/passwd" })).to_string();
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut child = project.command("claude-code", &[]).stdout(full).spawn().unwrap();
    child.stdin.take().unwrap().write_all(call.as_bytes()).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(2));
    // No standard output at all: what is written there goes nowhere, and nothing fails.
    let hook = project.command("claude-code", &[]);
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", "exec \"$0\" \"$@\" >&-"]).arg(hook.get_program()).args(hook.get_args());
    shell.env("HOME", project.home()).current_dir(project.home().join("project"));
    let mut child = shell.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // It may not wait for what it cannot answer.
    let _ = child.stdin.take().unwrap().write_all(call.as_bytes());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("standard output"));
    // A reader that went away.
    let mut child = project.command("claude-code", &[]).spawn().unwrap();
    drop(child.stdout.take());
    child.stdin.take().unwrap().write_all(call.as_bytes()).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(2));
}

#[test]
fn tools_that_no_table_has_are_never_approved_and_always_answered_in_form() {
    let project = Project::new();
    let inputs = [
        json!({}),
        json!({ "a": null, "b": [1, true, { "c": "x" }] }),
        json!({ "path": "/etc/passwd" }),
        json!({ "path": "notes.md" }),
        json!({ "url": "http://localhost/" }),
        json!({ "x\u{202e}": "\u{0}\u{1b}[2J", "file_path": "a\u{0}b" }),
        json!({ "command": "cat ~/.ssh/id_rsa" }),
    ];
    for product in PRODUCTS {
        for tool in [
            "NewTool",
            "mcp__a__b",
            "mcp__a__b__c",
            "mcp____",
            "x.y/z",
            "\u{202e}daeR",
            "bash",
            "BASH",
            "Run_Shell_Command",
            "applyPatch",
        ] {
            for input in &inputs {
                let (decision, reason) = project.decide(product, &["--approve", "Read"], tool, input);
                assert!(
                    matches!(decision.as_str(), "pass" | "ask" | "deny"),
                    "{product} {tool} {input}: {decision}"
                );
                assert!(!reason.contains(['\u{202e}', '\u{1b}', '\u{0}']), "{reason:?}");
                let path = input.get("path").and_then(Value::as_str);
                if path == Some("/etc/passwd") || input.get("url").is_some() || input.get("command").is_some()
                {
                    assert_eq!(decision, "deny", "{product} {tool} {input}");
                }
            }
        }
    }
    // What is spelt like a tool of the product is not that tool.
    for (product, tool) in
        [("claude-code", "bash"), ("claude-code", "TASK"), ("codex", "BASH"), ("gemini", "RunShellCommand")]
    {
        assert_eq!(project.decide(product, &[], tool, &json!({})).0, "deny", "{product} {tool}");
    }
}

#[test]
fn where_nobody_can_be_asked_the_answer_is_no() {
    let project = Project::new();
    for (mode, wanted) in [
        ("default", "ask"),
        ("plan", "ask"),
        ("acceptEdits", "ask"),
        ("bypassPermissions", "deny"),
        ("dontAsk", "deny"),
        ("new", "deny"),
    ] {
        let mut call = project.call("claude-code", "Bash", &json!({ "command": "ls | wc" }));
        call["permission_mode"] = json!(mode);
        let answer = project.send("claude-code", &[], call.to_string().as_bytes());
        assert_eq!(read_answer("claude-code", &answer.out).0, wanted, "{mode}");
    }
}

#[test]
fn the_folder_that_a_call_claims_widens_nothing() {
    let project = Project::new();
    for cwd in ["/", "/etc", "/proc/self/root", project.home().to_str().unwrap()] {
        let mut call = project.call("claude-code", "Read", &json!({ "file_path": "passwd" }));
        call["cwd"] = json!(cwd);
        let answer = project.send("claude-code", &[], call.to_string().as_bytes());
        assert_eq!(read_answer("claude-code", &answer.out).0, "deny", "{cwd}");
    }
    // The project is what the product's variable says, and --root before that.
    let call =
        project.call("claude-code", "Read", &json!({ "file_path": project.path("notes.md") })).to_string();
    let mut command = project.command("claude-code", &[]);
    let mut child = command.current_dir("/").env("CLAUDE_PROJECT_DIR", project.path("")).spawn().unwrap();
    child.stdin.take().unwrap().write_all(call.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "{}\n");
    let elsewhere = project.path("src");
    let answer = project.send("claude-code", &["--root", &elsewhere], call.as_bytes());
    assert_eq!(read_answer("claude-code", &answer.out).0, "deny");
}

#[test]
fn what_the_agent_was_given_may_be_read_and_not_written() {
    let project = Project::new();
    let home = project.home();
    for (product, read, write, folder) in [
        ("claude-code", "Read", "Write", ".claude/skills/pdf"),
        ("gemini", "read_file", "write_file", ".gemini/extensions/x"),
    ] {
        fs::create_dir_all(home.join(folder)).unwrap();
        let file = json!({ "file_path": home.join(folder).join("SKILL.md") });
        assert_eq!(project.decide(product, &[], read, &file).0, "pass", "{product}");
        let mut content = file.clone();
        content["content"] = json!("x");
        assert_eq!(project.decide(product, &[], write, &content).0, "deny", "{product}");
    }
    let elsewhere = json!({ "file_path": home.join(".claude/history.jsonl") });
    assert_eq!(project.decide("claude-code", &[], "Read", &elsewhere).0, "deny");
    // A folder of that name that leads elsewhere opens nothing.
    std::os::unix::fs::symlink("/etc", home.join(".claude/agents")).unwrap();
    std::os::unix::fs::symlink(&home, home.join(".claude/commands")).unwrap();
    assert_eq!(
        project.decide("claude-code", &[], "Read", &json!({ "file_path": "/etc/hostname" })).0,
        "deny"
    );
    assert_eq!(project.decide("claude-code", &[], "Read", &elsewhere).0, "deny");
    fs::create_dir_all(home.join(".claude/plans")).unwrap();
    let plan = json!({ "file_path": home.join(".claude/plans/a.md"), "content": "x" });
    assert_eq!(project.decide("claude-code", &[], "Write", &plan).0, "pass");
}

#[test]
fn only_what_the_person_says_is_approved() {
    let project = Project::new();
    let read = json!({ "file_path": project.path("notes.md") });
    assert_eq!(project.decide("claude-code", &["--approve", "Read"], "Read", &read).0, "allow");
    assert_eq!(project.decide("claude-code", &["--approve", "Edit"], "Read", &read).0, "pass");
    let denied = json!({ "file_path": "/etc/passwd" });
    assert_eq!(project.decide("claude-code", &["--approve", "Read"], "Read", &denied).0, "deny");
    assert_eq!(
        project.decide("codex", &["--approve", "Bash"], "Bash", &json!({ "command": "ls" })).0,
        "pass",
        "it knows no `allow`"
    );
    assert_eq!(
        project
            .decide("gemini", &["--approve", "read_file"], "read_file", &json!({ "file_path": "notes.md" }))
            .0,
        "allow"
    );
}

#[test]
fn the_users_policy_counts_and_one_in_the_project_does_not() {
    let project = Project::new();
    let fetch = json!({ "url": "https://evil.example/", "prompt": "x" });
    assert_eq!(project.decide("claude-code", &[], "WebFetch", &fetch).0, "pass");
    let config = project.home().join(".config/skillsandbox");
    fs::create_dir_all(&config).unwrap();
    let policy =
        "permissions: { network: { egress: [{ domain: docs.example.com }] }, commands: { allow: [git] } }";
    fs::write(config.join("policy.yaml"), policy).unwrap();
    assert_eq!(project.decide("claude-code", &[], "WebFetch", &fetch).0, "deny");
    assert_eq!(project.decide("claude-code", &[], "Bash", &json!({ "command": "ls" })).0, "deny");
    assert_eq!(project.decide("claude-code", &[], "Bash", &json!({ "command": "git log" })).0, "pass");
    // The agent may not rewrite the policy, nor bring one.
    let own = config.join("policy.yaml");
    let write = json!({ "file_path": own.to_str().unwrap(), "content": "{}" });
    let home = project.home();
    let home = home.to_str().unwrap();
    assert_eq!(project.decide("claude-code", &["--write-root", home], "Write", &write).0, "deny");
    // Where the project is the home, the policy lies in it, and counts.
    let call = |tool: &str, input: &Value| {
        let mut call = project.call("claude-code", tool, input);
        call["cwd"] = json!(home);
        let answer =
            project.send("claude-code", &["--root", home, "--shell", "pass"], call.to_string().as_bytes());
        assert_eq!(answer.code, 0, "{}", answer.err);
        read_answer("claude-code", &answer.out).0
    };
    assert_eq!(call("WebFetch", &fetch), "deny");
    assert_eq!(call("Write", &write), "deny");
    assert_eq!(call("Bash", &json!({ "command": "cd .config && echo > skillsandbox/policy.yaml" })), "ask");
    fs::write(project.path("policy.yaml"), "{}").unwrap();
    let call = project.call("claude-code", "WebFetch", &fetch).to_string();
    let answer = project.send("claude-code", &["--policy", &project.path("policy.yaml")], call.as_bytes());
    assert_eq!((answer.code, answer.out.as_str()), (2, ""), "{}", answer.err);
    fs::write(&own, "permissions: 7").unwrap();
    let answer = project.send("claude-code", &[], call.as_bytes());
    assert_eq!((answer.code, answer.out.as_str()), (2, ""), "a policy that cannot be read allows nothing");
}

#[test]
fn settings_run_this_program_with_the_flags_that_were_given() {
    let project = Project::new();
    let program = env!("CARGO_BIN_EXE_skillsandbox");
    for (product, event, place) in [
        ("claude-code", "PreToolUse", "~/.claude/settings.json"),
        ("codex", "PreToolUse", "~/.codex/hooks.json"),
        ("gemini", "BeforeTool", "~/.gemini/settings.json"),
    ] {
        let answer =
            project.send(product, &["--shell", "pass", "--print-settings", "--read-root", "/a b"], b"");
        assert_eq!(answer.code, 0);
        let settings: Value = serde_json::from_str(&answer.out).unwrap();
        let hook = &settings["hooks"][event][0]["hooks"][0];
        assert_eq!(
            hook["command"],
            format!("{program} hook {product} --shell pass --read-root '/a b'"),
            "{settings}"
        );
        assert!(answer.err.contains(place), "{}", answer.err);
    }
    // The plugin says the same.
    let plugin =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../integrations/claude-code/hooks/hooks.json");
    let plugin: Value = serde_json::from_str(&fs::read_to_string(plugin).unwrap()).unwrap();
    let answer = project.send("claude-code", &["--print-settings"], b"");
    let mut settings: Value = serde_json::from_str(&answer.out).unwrap();
    settings["hooks"]["PreToolUse"][0]["hooks"][0]["command"] = json!("skillsandbox hook claude-code");
    assert_eq!(plugin["hooks"], settings["hooks"]);
}
