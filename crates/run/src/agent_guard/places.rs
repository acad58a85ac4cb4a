//! Places that an agent has no business with: credentials, and the files that switch its guards off.

use std::path::Path;

use serde_json::{Map, Value};
use skillsandbox_text::quote_words;
use skillsandbox_tracer::credential_place;

use super::{GuardAnswer, GuardReason};
use crate::reach::real_path;

/// Folders of the system that anybody may look at: headers, documentation, libraries.
const READABLE: [&str; 1] = ["/usr"];

/// Files that decide what an agent may do, and what runs without being asked for; folders that hold nothing else. By the end of their path.
const GUARD_FILES: [&[&str]; 27] = [
    &["skillsandbox", "policy.yaml"],
    &[".cargo", "config.toml"],
    &[".claude", "agents"],
    &[".claude", "commands"],
    &[".claude", "hooks"],
    &[".claude", "settings.json"],
    &[".claude", "settings.local.json"],
    &[".claude", "skills"],
    &[".claude-plugin"],
    &[".codex"],
    &[".cursor", "hooks.json"],
    &[".cursor", "mcp.json"],
    &[".devcontainer"],
    &[".gemini"],
    &[".git", "config"],
    &[".git", "config.worktree"],
    &[".git", "hooks"],
    &[".git", "info", "attributes"],
    &[".git", "modules"],
    &[".husky"],
    &[".mcp.json"],
    &[".pre-commit-config.yaml"],
    &[".vscode", "launch.json"],
    &[".vscode", "mcp.json"],
    &[".vscode", "settings.json"],
    &[".vscode", "tasks.json"],
    &["hooks", "hooks.json"],
];

/// Arguments that hold what is written or looked for, and no path. In their normal form.
const CONTENT_KEYS: [&str; 14] = [
    "content",
    "contents",
    "newstring",
    "oldstring",
    "newsource",
    "text",
    "body",
    "prompt",
    "description",
    "query",
    "message",
    "instruction",
    "todos",
    "thought",
];

/// Tools whose `pattern` is about what is in files. In their normal form.
const SEARCH_TOOLS: [&str; 3] = ["grep", "grepsearch", "searchfilecontent"];

/// Arguments that have a command line, or its words. In their normal form.
const LINE_KEYS: [&str; 7] = ["command", "cmd", "commandline", "shellcommand", "shell", "bash", "commands"];
/// Arguments that have the words behind a program. In their normal form.
const WORD_KEYS: [&str; 3] = ["args", "argv", "arguments"];
/// Arguments that have code of a language that is not known. In their normal form.
const CODE_KEYS: [&str; 5] = ["script", "code", "args", "argv", "run"];

/// Folders of this system that may be read whatever the project is.
pub(super) fn readable() -> impl Iterator<Item = &'static Path> {
    READABLE.iter().map(Path::new).filter(|folder| folder.is_dir())
}

/// What the paths in a call's arguments mean, as they are written and by where their links lead.
pub(super) fn judge_input(tool: &str, input: &Map<String, Value>, cwd: &Path, writes: bool) -> GuardAnswer {
    let searches_text = SEARCH_TOOLS.contains(&normal(tool).as_str());
    let mut answer = GuardAnswer::Pass;
    each_text(input, &mut |key, text| {
        // Some tools take the line end away.
        let text = text.trim_end();
        let is_content = is_content_key(key) || searches_text && key == "pattern" || text.contains('\n');
        if !is_content {
            let judged = judge_path(text, cwd, writes);
            answer = std::cmp::max(answer.clone(), judged);
        }
    });
    answer
}

/// The command lines that a call's arguments have. Words in a list are one line, and each is looked at by itself as well: some tools take
/// several lines.
pub(super) fn command_lines(input: &Map<String, Value>) -> Vec<String> {
    fn visit(map: &Map<String, Value>, found: &mut Vec<String>) {
        let words_of = |value: &Value| match value {
            Value::String(text) => vec![text.clone()],
            Value::Array(list) => list.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => Vec::new(),
        };
        let under = |keys: &'static [&'static str]| {
            map.iter().filter(move |(key, _)| keys.contains(&normal(key).as_str())).map(|(_, value)| value)
        };
        for value in under(&LINE_KEYS) {
            let words = words_of(value);
            let behind: Vec<String> = under(&WORD_KEYS).flat_map(words_of).collect();
            if words.len() > 1 {
                found.push(quote_words(&words));
            } else if let (Some(program), false) = (words.first(), behind.is_empty()) {
                found.push(format!("{program} {}", quote_words(&behind)));
            }
            let has_space = |word: &String| word.contains(char::is_whitespace);
            found.extend(words.iter().filter(|word| words.len() == 1 || has_space(word)).cloned());
        }
        for value in map.values() {
            visit_value(value, found);
        }
    }
    fn visit_value(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::Object(map) => visit(map, found),
            Value::Array(list) => list.iter().for_each(|value| visit_value(value, found)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    let mut found = Vec::new();
    visit(input, &mut found);
    found
}

/// The texts under keys that mean code.
pub(super) fn code_texts(input: &Map<String, Value>) -> Vec<&str> {
    let mut found = Vec::new();
    each_text(input, &mut |key, text| {
        if CODE_KEYS.contains(&key) {
            found.push(text);
        }
    });
    found
}

/// Whether an argument, by its key's normal form, holds what is written or said.
pub(super) fn is_content_key(key: &str) -> bool {
    CONTENT_KEYS.contains(&key)
}

/// Calls for every text with its key's normal form. No deeper than JSON was read, which is 128.
pub(super) fn each_text<'a>(input: &'a Map<String, Value>, call: &mut impl FnMut(&str, &'a str)) {
    fn visit<'a>(key: &str, value: &'a Value, call: &mut impl FnMut(&str, &'a str)) {
        match value {
            Value::String(text) => call(key, text),
            Value::Array(list) => list.iter().for_each(|value| visit(key, value, call)),
            Value::Object(map) => map.iter().for_each(|(key, value)| visit(&normal(key), value, call)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    input.iter().for_each(|(key, value)| visit(&normal(key), value, call));
}

fn normal(key: &str) -> String {
    key.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// What one path means. A name that is none is looked at as well: it then means nothing.
pub(super) fn judge_path(path: &str, cwd: &Path, writes: bool) -> GuardAnswer {
    if path.is_empty() || path.len() > 4096 || path.contains('\0') {
        return GuardAnswer::Pass;
    }
    let written = judge_name(path, writes);
    let real = real_path(&cwd.join(path));
    written.max(real.to_str().map_or(GuardAnswer::Pass, |real| judge_name(real, writes)))
}

fn judge_name(path: &str, writes: bool) -> GuardAnswer {
    // A folder that holds credentials is as good as they are: `tar c ~/.gnupg`.
    let place = credential_place(path).or_else(|| credential_place(&format!("{path}/_")));
    if let Some(place) = place {
        let reason = format!("`{path}` is a place of credentials: {}", place.says);
        if place.is_shared {
            let hint = "A person has to confirm that the agent may use it.";
            return GuardAnswer::Ask(GuardReason::new("credential-place", reason, hint));
        }
        let hint = "Do not look for another way; tell the person what needs it.";
        return GuardAnswer::Deny(GuardReason::new("credential-place", reason, hint));
    }
    if writes && is_guard_file(path) {
        let reason = format!("`{path}` decides what the agent may do, or is run without being asked for");
        let hint = "A person has to confirm such a change.";
        return GuardAnswer::Ask(GuardReason::new("guard-file", reason, hint));
    }
    GuardAnswer::Pass
}

/// Whether a path is such a file, lies below such a folder, or is the folder that holds it: who writes `.claude` writes `.claude/settings.json`.
fn is_guard_file(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    // A folder without a dot in front (`hooks`) mostly holds other things.
    let holds = |file: &[&str]| {
        file.first().is_some_and(|first| first.starts_with('.'))
            && (1..file.len()).any(|length| file.get(..length).is_some_and(|start| parts.ends_with(start)))
    };
    GUARD_FILES.iter().any(|file| parts.windows(file.len()).any(|window| window == *file) || holds(file))
}

/// The files that a patch in the form of `apply_patch` adds, changes, removes or moves to.
pub(super) fn patched_files(patch: &str) -> impl Iterator<Item = &str> {
    const HEADERS: [&str; 4] = ["*** Add File:", "*** Update File:", "*** Delete File:", "*** Move to:"];
    patch.lines().filter_map(|line| {
        let line = line.trim();
        HEADERS.iter().find_map(|header| line.strip_prefix(header)).map(str::trim)
    })
}
