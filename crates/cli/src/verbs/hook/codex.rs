//! Codex: `PreToolUse`, as <https://developers.openai.com/codex/hooks> and the schemas in `codex-rs/hooks/schema` of its repository have it.
//!
//! It knows `deny` and no decision; `ask`, and `allow` without another input, are errors to it, after which the call goes on.

use serde_json::{Map, Value, json};
use skillsandbox_run::{GuardAnswer, ToolKind};

use super::{Product, no_decision, pre_tool_use};

pub(super) const PRODUCT: Product = Product {
    event: "PreToolUse",
    tools: TOOLS,
    // It starts hooks in the folder of the session.
    project_variable: None,
    reads: &[".codex/skills", ".codex/prompts", ".agents/skills"],
    writes: &[],
    can_ask,
    answer,
    settings,
    settings_file: "~/.codex/hooks.json, or .codex/hooks.json of a project",
};

const TOOLS: &[(&str, ToolKind)] = &[
    ("Bash", ToolKind::Command { line: "command", folders: &[], harmless: &[] }),
    ("apply_patch", ToolKind::Patch("command")),
];

fn can_ask(_: &Map<String, Value>) -> bool {
    false
}

fn answer(answer: &GuardAnswer) -> Value {
    match answer {
        GuardAnswer::Pass | GuardAnswer::Approve => no_decision(),
        GuardAnswer::Ask(reason) | GuardAnswer::Deny(reason) => pre_tool_use("deny", Some(reason)),
    }
}

fn settings(command: &str) -> Value {
    json!({ "hooks": { "PreToolUse": [{ "hooks": [{ "type": "command", "command": command, "timeout": 30 }] }] } })
}
