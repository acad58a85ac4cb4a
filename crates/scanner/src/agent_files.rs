//! Which files of a tree an agent obeys without being told: commands, agents, hooks, settings, servers, instructions. By their paths alone.

/// Folders whose every file is an agent's.
const AGENT_FOLDERS: &[&str] = &[
    ".claude",
    ".claude-plugin",
    ".cursor",
    ".cursor-plugin",
    ".codex",
    ".gemini",
    ".windsurf",
    ".clinerules",
    ".roo",
    ".kiro",
    ".continue",
    ".opencode",
    ".agents",
    ".agent",
    ".amazonq",
    ".junie",
];

/// Files that agents read wherever they lie.
const AGENT_NAMES: &[&str] = &[
    "claude.md",
    "claude.local.md",
    "agents.md",
    "agents.override.md",
    "gemini.md",
    "qwen.md",
    "copilot-instructions.md",
    ".cursorrules",
    ".windsurfrules",
    ".clinerules",
    ".roorules",
    ".goosehints",
    ".mcp.json",
    "mcp.json",
    "mcp_config.json",
    "gemini-extension.json",
    "hooks.json",
];

/// Folders whose documents are an agent's: of plugins, and of what is copied to where agents look.
const DOCUMENT_FOLDERS: &[&str] = &[
    "commands",
    "agents",
    "subagents",
    "rules",
    "prompts",
    "instructions",
    "chatmodes",
    "output-styles",
    "hooks",
];

/// The ends of documents and settings.
const DOCUMENT_ENDS: &[&str] = &["md", "mdc", "mdx", "markdown", "toml", "json", "jsonc", "yaml", "yml"];

/// The folder that makes another a plugin, and its file.
pub(crate) const PLUGIN_FILE: &str = ".claude-plugin/plugin.json";

/// The parts of a path in lower case: its folders, and its name.
fn split_path(path: &str) -> (Vec<String>, String) {
    let lower = path.to_ascii_lowercase();
    let mut parts: Vec<String> = lower.split('/').map(ToOwned::to_owned).collect();
    let name = parts.pop().unwrap_or_default();
    (parts, name)
}

fn extension(name: &str) -> &str {
    name.rsplit_once('.').map_or("", |(_, extension)| extension)
}

/// Whether an agent obeys the file of this path, below the folder that it works in.
pub(crate) fn is_agent_file(path: &str) -> bool {
    let (folders, name) = split_path(path);
    let is_in = |names: &[&str]| folders.iter().any(|folder| names.contains(&folder.as_str()));
    if is_in(AGENT_FOLDERS) || AGENT_NAMES.contains(&name.as_str()) {
        return true;
    }
    let is_in_vscode = folders.last().is_some_and(|folder| folder == ".vscode");
    if is_in_vscode && matches!(name.as_str(), "mcp.json" | "settings.json" | "tasks.json") {
        return true;
    }
    is_in(DOCUMENT_FOLDERS) && DOCUMENT_ENDS.contains(&extension(&name))
}

/// Whether it is a document with front matter that gives an agent tools: a command, or an agent.
pub(crate) fn is_agent_document(path: &str) -> bool {
    let (folders, name) = split_path(path);
    let is_plain = !matches!(name.as_str(), "readme.md" | "skill.md");
    is_plain
        && matches!(extension(&name), "md" | "mdc" | "markdown")
        && folders
            .iter()
            .any(|folder| matches!(folder.as_str(), "commands" | "agents" | "subagents" | "chatmodes"))
}

/// How a file configures an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SettingsFile {
    /// JSON, with or without comments.
    Json,
    /// TOML.
    Toml,
}

/// Whether an agent reads its settings, hooks or servers from the file of this path.
pub(crate) fn find_settings(path: &str) -> Option<SettingsFile> {
    let (folders, name) = split_path(path);
    let folder = folders.last().map(String::as_str).unwrap_or_default();
    let is_in_agent = folders.iter().any(|folder| AGENT_FOLDERS.contains(&folder.as_str()));
    let is_settings = match name.as_str() {
        ".mcp.json"
        | "mcp.json"
        | "mcp_config.json"
        | "hooks.json"
        | "gemini-extension.json"
        | ".claude.json" => true,
        "settings.json" | "settings.local.json" => is_in_agent || folder == ".vscode",
        "plugin.json" | "marketplace.json" | "config.json" | "claude_desktop_config.json" => is_in_agent,
        name => (folder == "hooks" || folder == "mcp") && extension(name) == "json",
    };
    if is_settings {
        return Some(SettingsFile::Json);
    }
    (is_in_agent && matches!(name.as_str(), "config.toml" | "settings.toml")).then_some(SettingsFile::Toml)
}

/// Whether a file lies where a plugin or a repository keeps what its hooks and commands run.
pub(crate) fn is_program_place(path: &str) -> bool {
    let (folders, _) = split_path(path);
    folders
        .first()
        .is_some_and(|folder| matches!(folder.as_str(), "scripts" | "bin" | "hooks" | "hook-scripts"))
        || folders.last().is_some_and(|folder| folder == "hooks")
}

/// Words of a text that may be paths of files, without what leads to them: `${ROOT}/scripts/a.sh` is `scripts/a.sh`.
pub(crate) fn find_paths(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_alphanumeric() || "_-./@+".contains(c);
    let words = text.split(move |c: char| !is_part(c));
    words
        .map(|word| word.trim_start_matches(['@', '.', '/']).trim_end_matches(['.', '/', '-']))
        .filter(|word| word.len() > 2 && word.len() < 200 && word.contains(['.', '/']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_obey_these_files_and_not_those() {
        for path in [
            "CLAUDE.md",
            "sub/AGENTS.md",
            ".cursorrules",
            ".github/copilot-instructions.md",
            ".github/instructions/a.instructions.md",
            ".github/prompts/b.prompt.md",
            ".github/chatmodes/c.chatmode.md",
            "commands/deploy.md",
            "plugins/x/agents/reviewer.md",
            "hooks/hooks.json",
            ".claude-plugin/plugin.json",
            ".claude-plugin/marketplace.json",
            ".claude/settings.local.json",
            ".claude/hooks/run",
            ".mcp.json",
            "mcp.json",
            ".cursor/rules/a.mdc",
            ".codex/config.toml",
            ".gemini/settings.json",
            "rules/style.md",
            ".vscode/tasks.json",
        ] {
            assert!(is_agent_file(path), "{path}");
        }
        for path in [
            "README.md",
            "src/commands/run.ts",
            "docs/guide.md",
            "package.json",
            "src/hooks/useThing.ts",
            ".vscode/launch.json",
            "settings.json",
        ] {
            assert!(!is_agent_file(path), "{path}");
        }
    }

    #[test]
    fn settings_are_found_where_agents_read_them() {
        for (path, expected) in [
            (".claude/settings.json", Some(SettingsFile::Json)),
            ("a/.claude/settings.local.json", Some(SettingsFile::Json)),
            ("hooks/hooks.json", Some(SettingsFile::Json)),
            (".mcp.json", Some(SettingsFile::Json)),
            (".codex/config.toml", Some(SettingsFile::Toml)),
            ("settings.json", None),
            ("config.json", None),
            ("plugin.json", None),
        ] {
            assert_eq!(find_settings(path), expected, "{path}");
        }
    }

    #[test]
    fn paths_are_found_in_texts() {
        let found: Vec<_> =
            find_paths("run \"${CLAUDE_PLUGIN_ROOT}/scripts/a.sh\" or ./bin/tool, see b.py. And e.g. x")
                .collect();
        assert!(["scripts/a.sh", "bin/tool", "b.py"].iter().all(|path| found.contains(path)), "{found:?}");
    }
}
