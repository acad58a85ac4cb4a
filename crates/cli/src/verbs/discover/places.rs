//! Where agents keep their skills, plugins, MCP servers and hooks: a row a place, with where that is documented.

/// What a place is below.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PlaceBase {
    /// The person's home.
    Home,
    /// The project that is looked at.
    Project,
}

/// What lies there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PlaceKind {
    /// Folders with a SKILL.md, or documents that an agent obeys.
    Documents,
    /// Plugins or extensions: the same, and configurations with MCP servers.
    Plugins,
    /// A configuration in JSON, with comments where the product takes them; the MCP servers are under these keys.
    Json(&'static [&'static str]),
    /// A configuration in TOML; likewise.
    Toml(&'static [&'static str]),
}

/// A place.
#[derive(Debug)]
pub(super) struct AgentPlace {
    pub(super) agent: &'static str,
    pub(super) base: PlaceBase,
    pub(super) path: &'static str,
    pub(super) kind: PlaceKind,
    /// Where the product's makers say so.
    pub(super) documented: &'static str,
}

pub(super) const CLAUDE_CODE: &str = "Claude Code";
pub(super) const CODEX: &str = "Codex";
pub(super) const GEMINI: &str = "Gemini CLI";
const CURSOR: &str = "Cursor";
const OPENCLAW: &str = "OpenClaw";
const VS_CODE: &str = "VS Code";

/// The agents that a hook is there for, with its name.
pub(super) const HOOKS: [(&str, &str); 3] =
    [(CLAUDE_CODE, "claude-code"), (CODEX, "codex"), (GEMINI, "gemini")];

const SERVERS: PlaceKind = Json(&["mcpServers"]);

const fn place(
    agent: &'static str,
    base: PlaceBase,
    path: &'static str,
    kind: PlaceKind,
    documented: &'static str,
) -> AgentPlace {
    AgentPlace { agent, base, path, kind, documented }
}

use PlaceBase::{Home, Project};
use PlaceKind::{Documents, Json, Plugins, Toml};

/// All places, agent by agent.
pub(super) const PLACES: &[AgentPlace] = &[
    place(CLAUDE_CODE, Home, ".claude/settings.json", SERVERS, "https://code.claude.com/docs/en/settings"),
    place(CLAUDE_CODE, Project, ".claude/settings.json", SERVERS, "https://code.claude.com/docs/en/settings"),
    place(
        CLAUDE_CODE,
        Project,
        ".claude/settings.local.json",
        SERVERS,
        "https://code.claude.com/docs/en/settings",
    ),
    place(CLAUDE_CODE, Home, ".claude.json", SERVERS, "https://code.claude.com/docs/en/mcp"),
    place(CLAUDE_CODE, Project, ".mcp.json", SERVERS, "https://code.claude.com/docs/en/mcp"),
    place(CLAUDE_CODE, Home, ".claude/skills", Documents, "https://code.claude.com/docs/en/skills"),
    place(CLAUDE_CODE, Project, ".claude/skills", Documents, "https://code.claude.com/docs/en/skills"),
    place(CLAUDE_CODE, Home, ".claude/commands", Documents, "https://code.claude.com/docs/en/slash-commands"),
    place(
        CLAUDE_CODE,
        Project,
        ".claude/commands",
        Documents,
        "https://code.claude.com/docs/en/slash-commands",
    ),
    place(CLAUDE_CODE, Home, ".claude/agents", Documents, "https://code.claude.com/docs/en/sub-agents"),
    place(CLAUDE_CODE, Project, ".claude/agents", Documents, "https://code.claude.com/docs/en/sub-agents"),
    place(
        CLAUDE_CODE,
        Home,
        ".claude/plugins/cache",
        Plugins,
        "https://code.claude.com/docs/en/plugins-reference",
    ),
    place(
        CODEX,
        Home,
        ".codex/config.toml",
        Toml(&["mcp_servers"]),
        "https://developers.openai.com/codex/mcp",
    ),
    place(
        CODEX,
        Project,
        ".codex/config.toml",
        Toml(&["mcp_servers"]),
        "https://developers.openai.com/codex/mcp",
    ),
    place(CODEX, Home, ".codex/hooks.json", SERVERS, "https://developers.openai.com/codex/hooks"),
    place(CODEX, Project, ".codex/hooks.json", SERVERS, "https://developers.openai.com/codex/hooks"),
    place(CODEX, Home, ".codex/skills", Documents, "https://developers.openai.com/codex/skills"),
    place(CODEX, Home, ".agents/skills", Documents, "https://developers.openai.com/codex/skills"),
    place(CODEX, Project, ".agents/skills", Documents, "https://developers.openai.com/codex/skills"),
    place(CODEX, Home, ".codex/prompts", Documents, "https://developers.openai.com/codex/custom-prompts"),
    place(GEMINI, Home, ".gemini/settings.json", SERVERS, "https://geminicli.com/docs/tools/mcp-server"),
    place(GEMINI, Project, ".gemini/settings.json", SERVERS, "https://geminicli.com/docs/tools/mcp-server"),
    place(GEMINI, Home, ".gemini/extensions", Plugins, "https://geminicli.com/docs/extensions"),
    place(GEMINI, Project, ".gemini/extensions", Plugins, "https://geminicli.com/docs/extensions"),
    place(GEMINI, Home, ".gemini/skills", Documents, "https://geminicli.com/docs/cli/skills"),
    place(GEMINI, Project, ".gemini/skills", Documents, "https://geminicli.com/docs/cli/skills"),
    place(GEMINI, Home, ".gemini/commands", Documents, "https://geminicli.com/docs/cli/custom-commands"),
    place(GEMINI, Project, ".gemini/commands", Documents, "https://geminicli.com/docs/cli/custom-commands"),
    place(CURSOR, Home, ".cursor/mcp.json", SERVERS, "https://cursor.com/docs/mcp"),
    place(CURSOR, Project, ".cursor/mcp.json", SERVERS, "https://cursor.com/docs/mcp"),
    place(CURSOR, Home, ".cursor/skills", Documents, "https://cursor.com/docs/skills"),
    place(CURSOR, Project, ".cursor/skills", Documents, "https://cursor.com/docs/skills"),
    place(CURSOR, Project, ".cursor/rules", Documents, "https://cursor.com/docs/rules"),
    place(
        OPENCLAW,
        Home,
        ".openclaw/openclaw.json",
        Json(&["mcp", "servers"]),
        "https://docs.openclaw.ai/cli/mcp",
    ),
    place(OPENCLAW, Home, ".openclaw/skills", Documents, "https://docs.openclaw.ai/tools/skills"),
    place(OPENCLAW, Home, ".openclaw/workspace/skills", Documents, "https://docs.openclaw.ai/tools/skills"),
    place(
        VS_CODE,
        Home,
        ".config/Code/User/mcp.json",
        Json(&["servers"]),
        "https://code.visualstudio.com/docs/copilot/customization/mcp-servers",
    ),
    place(
        VS_CODE,
        Project,
        ".vscode/mcp.json",
        Json(&["servers"]),
        "https://code.visualstudio.com/docs/copilot/customization/mcp-servers",
    ),
];

/// Configurations inside of plugins and extensions that may have MCP servers.
pub(super) const PLUGIN_CONFIGURATIONS: [&str; 3] = [".mcp.json", "plugin.json", "gemini-extension.json"];
