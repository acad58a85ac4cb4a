//! Claude Code: `PreToolUse`, as <https://code.claude.com/docs/en/hooks> has it.

use serde_json::{Map, Value, json};
use skillsandbox_run::{GuardAnswer, ToolKind};

use super::{Product, no_decision, pre_tool_use};

pub(super) const PRODUCT: Product = Product {
    event: "PreToolUse",
    tools: TOOLS,
    project_variable: Some("CLAUDE_PROJECT_DIR"),
    reads: &[".claude/skills", ".claude/plugins", ".claude/commands", ".claude/agents"],
    // What is planned in the mode `plan`.
    writes: &[".claude/plans"],
    can_ask,
    answer,
    settings,
    settings_file: "~/.claude/settings.json, or .claude/settings.json of a project",
};

/// <https://code.claude.com/docs/en/tools-reference>
const TOOLS: &[(&str, ToolKind)] = &[
    (
        "Bash",
        ToolKind::Command {
            line: "command",
            folders: &[],
            // Not `dangerouslyDisableSandbox`.
            harmless: &["description", "timeout", "run_in_background"],
        },
    ),
    ("Read", ToolKind::File),
    ("Write", ToolKind::File),
    ("Edit", ToolKind::File),
    ("MultiEdit", ToolKind::File),
    ("NotebookEdit", ToolKind::File),
    ("NotebookRead", ToolKind::File),
    ("Glob", ToolKind::File),
    ("Grep", ToolKind::File),
    ("LS", ToolKind::File),
    ("WebFetch", ToolKind::Fetch("url")),
    ("WebSearch", ToolKind::Search),
    ("Agent", ToolKind::Quiet),
    ("AskUserQuestion", ToolKind::Quiet),
    ("BashOutput", ToolKind::Quiet),
    ("EnterPlanMode", ToolKind::Quiet),
    ("ExitPlanMode", ToolKind::Quiet),
    ("KillBash", ToolKind::Quiet),
    ("KillShell", ToolKind::Quiet),
    ("Skill", ToolKind::Quiet),
    ("SlashCommand", ToolKind::Quiet),
    ("Task", ToolKind::Quiet),
    ("TaskCreate", ToolKind::Quiet),
    ("TaskGet", ToolKind::Quiet),
    ("TaskList", ToolKind::Quiet),
    ("TaskOutput", ToolKind::Quiet),
    ("TaskStop", ToolKind::Quiet),
    ("TaskUpdate", ToolKind::Quiet),
    ("TodoRead", ToolKind::Quiet),
    ("TodoWrite", ToolKind::Quiet),
    ("ToolSearch", ToolKind::Quiet),
];

/// In the other modes (`bypassPermissions`, `dontAsk`) nobody sits there to answer. Versions that do not tell the mode ask.
fn can_ask(fields: &Map<String, Value>) -> bool {
    match fields.get("permission_mode") {
        None => true,
        Some(mode) => matches!(mode.as_str(), Some("default" | "plan" | "acceptEdits" | "auto")),
    }
}

fn answer(answer: &GuardAnswer) -> Value {
    match answer {
        GuardAnswer::Pass => no_decision(),
        GuardAnswer::Approve => pre_tool_use("allow", None),
        GuardAnswer::Ask(reason) => pre_tool_use("ask", Some(reason)),
        GuardAnswer::Deny(reason) => pre_tool_use("deny", Some(reason)),
    }
}

/// `onFailure` is of version 2.1.295: a hook that cannot start, or is killed, then blocks as well.
fn settings(command: &str) -> Value {
    let hook = json!({ "type": "command", "command": command, "timeout": 30, "onFailure": "block" });
    json!({ "hooks": { "PreToolUse": [{ "matcher": "*", "hooks": [hook] }] } })
}
