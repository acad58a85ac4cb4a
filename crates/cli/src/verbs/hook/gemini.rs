//! Gemini CLI: `BeforeTool`, as <https://geminicli.com/docs/hooks/reference> has it. It knows `allow`, `deny` and no decision.

use serde_json::{Map, Value, json};
use skillsandbox_run::{GuardAnswer, ToolKind};

use super::{Product, no_decision};

pub(super) const PRODUCT: Product = Product {
    event: "BeforeTool",
    tools: TOOLS,
    project_variable: Some("GEMINI_PROJECT_DIR"),
    reads: &[".gemini/skills", ".gemini/extensions", ".gemini/commands", ".agents/skills"],
    writes: &[],
    can_ask,
    answer,
    settings,
    settings_file: "~/.gemini/settings.json, or .gemini/settings.json of a project",
};

/// <https://geminicli.com/docs/tools>
const TOOLS: &[(&str, ToolKind)] = &[
    (
        "run_shell_command",
        ToolKind::Command {
            line: "command",
            folders: &["directory", "dir_path"],
            harmless: &["description", "is_background"],
        },
    ),
    ("read_file", ToolKind::File),
    ("write_file", ToolKind::File),
    ("replace", ToolKind::File),
    ("list_directory", ToolKind::File),
    ("glob", ToolKind::File),
    ("grep_search", ToolKind::File),
    ("search_file_content", ToolKind::File),
    ("read_many_files", ToolKind::File),
    // The addresses stand in the prompt.
    ("web_fetch", ToolKind::FetchNamed("prompt")),
    ("google_web_search", ToolKind::Search),
    ("activate_skill", ToolKind::Quiet),
    ("ask_user", ToolKind::Quiet),
    ("enter_plan_mode", ToolKind::Quiet),
    ("exit_plan_mode", ToolKind::Quiet),
    ("get_internal_docs", ToolKind::Quiet),
    ("save_memory", ToolKind::Quiet),
    ("write_todos", ToolKind::Quiet),
];

fn can_ask(_: &Map<String, Value>) -> bool {
    false
}

fn answer(answer: &GuardAnswer) -> Value {
    match answer {
        GuardAnswer::Pass => no_decision(),
        GuardAnswer::Approve => json!({ "decision": "allow" }),
        GuardAnswer::Ask(reason) | GuardAnswer::Deny(reason) => {
            json!({ "decision": "deny", "reason": reason.to_string() })
        }
    }
}

/// Its timeouts are in milliseconds.
fn settings(command: &str) -> Value {
    let hook = json!({ "type": "command", "name": "skillsandbox", "command": command, "timeout": 30_000 });
    json!({ "hooks": { "BeforeTool": [{ "matcher": ".*", "hooks": [hook] }] } })
}
