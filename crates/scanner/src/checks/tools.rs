//! # CHECK-03: tool overclaiming
//!
//! ## What it looks for
//! Tools that do not fit what the skill says it does, tools nobody knows, wildcards, and aliases or hooks that smuggle in more. What
//! hooks, settings and servers of an agent run and approve, in the files that agents read them from (`hooks/hooks.json`,
//! `.claude/settings.json`, `.mcp.json`, `.claude-plugin/plugin.json`, `.codex/config.toml` and their like). What code does that nothing
//! in the skill speaks of.
//!
//! ## Why it matters
//! A declared tool is granted without a question. A summariser needs no shell.
//!
//! ## Flagged
//! `tools: [Read, Bash]` with "Summarises text files"; `"allow": ["Bash(*)"]`; a hook that is `curl … | sh`; a table formatter that reads
//! `~/.ssh`.
//!
//! ## Not flagged
//! Bash where the description speaks of running, building, deploying, or where the skill comes with scripts. A hook or a server that runs
//! a script of its own plugin, or a package, is named without a judgement.
//!
//! ## Blind spots
//! Descriptions that justify everything.
//!
//! ## References
//! OWASP LLM06.

use skillsandbox_manifest::{AllowedTool, FrontMatter, Spanned};

use crate::checks::{Check, CheckInfo, agent_settings};
use crate::finding::Finding;
use crate::kind::{FileKind, is_example_file};
use crate::rule::CheckId::Tools;
use crate::rule::FindingStatus::{Block, Warn};
use crate::rule::RuleScope::{Anywhere, Words};
use crate::rule::{PatternRule, RuleFamily, RuleInfo, code_rules};
use crate::scan_context::{MainDocument, ScanContext, ScanSubject};
use crate::skill::SkillFiles;

const FAMILY: RuleFamily = RuleFamily {
    check: Tools,
    advice: "Ask the author which tool is used for what, and grant only those.",
    techniques: &[],
};

/// The rules about one declared tool.
const DECLARED: RuleFamily =
    RuleFamily { check: Tools, advice: "Verify the tool list with the author.", techniques: &[] };

/// The rules about what agents are configured to run and to approve.
const SETTINGS: RuleFamily = RuleFamily {
    check: Tools,
    advice: "Read what it runs before you open the folder with an agent; take it out where you do not need it.",
    techniques: &["T1546", "T1562"],
};

code_rules! {
    WILDCARD = DECLARED.code("wildcard", Warn, "Every tool is asked for");
    UNKNOWN_TOOL = DECLARED.code("unknown-tool", Block, "A declared tool is not among those a skill may declare");
    PRIVATE_FILES =
        DECLARED.code("private-files", Block, "A tool is asked for where secrets lie").techniques(&["T1552.001"]);
    DANGEROUS_COMMAND = DECLARED.code(
        "dangerous-command",
        Warn,
        "Bash is asked for with a command that takes more than a skill needs, such as sudo or rm",
    );
    OVERCLAIM = DECLARED.code("overclaim", Warn, "A tool is declared that nothing in the description needs");
    UNDECLARED_NETWORK = DECLARED
        .code("undeclared-network", Warn, "A script uses the network, and no declared tool does")
        .advice("Ask which tool the skill means to use for it.");
    UNDECLARED_CAPABILITY = FAMILY
        .code(
            "undeclared-capability",
            Block,
            "The code does what neither the name, the description, the tools nor the manifest speak of",
        )
        .advice("Ask the author what it is for; a skill that does not say what it does is not installed.");
    AGENT_HOOK = SETTINGS
        .code("agent-hook", Block, "A hook or a setting runs a command by itself, whenever the agent does something");
    AGENT_SERVER = SETTINGS
        .code("agent-server", Block, "A server is configured that runs a command, or that the agent's words are sent to");
    PRE_APPROVAL = SETTINGS.code("pre-approval", Block, "Settings approve what an agent would ask its user about");
    AGENT_REDIRECT = SETTINGS
        .code("agent-redirect", Warn, "Settings send what the agent and its user say to another host")
        .techniques(&["T1557"]);
    UNREADABLE_SETTINGS =
        SETTINGS.code("unreadable-settings", Warn, "Settings of an agent cannot be read, so it is not known what they run");
}

/// CHECK-03: the tools that a skill declares.
pub(crate) struct ToolsCheck;

static INFO: CheckInfo = CheckInfo {
    id: Tools,
    source: include_str!("tools.rs"),
    pattern_rules: PATTERN_RULES,
    code_rules: &[CODE_RULES],
};

impl Check for ToolsCheck {
    fn info(&self) -> &'static CheckInfo {
        &INFO
    }

    fn run(&self, context: &ScanContext<'_>, subject: &ScanSubject<'_>, findings: &mut Vec<Finding>) {
        let (MainDocument { file, text, doc }, is_skill) = match *subject {
            ScanSubject::Document(document) => (document, true),
            ScanSubject::AgentDocument(document) => (document, false),
            ScanSubject::Text(text) => return agent_settings::judge_settings(text.file, text.text, findings),
            ScanSubject::Code(_) | ScanSubject::Files(_) => return,
        };
        let Some(front) = &doc.front_matter else { return };
        let has_scripts = context.skill.files.iter().any(|file| file.kind == FileKind::Script);
        for ((rule, why), tool) in judge_tools(front, has_scripts, doc.body(text)) {
            findings.push(Finding::in_file(rule, file, tool.span.range(), why));
        }
        if is_skill && let Some((tool, script)) = find_undeclared(context.skill, front) {
            let why = format!("{script} uses the network, and the tools it declares do not ({})", tool.value);
            findings.push(Finding::in_file(&UNDECLARED_NETWORK, file, tool.span.range(), why));
        }
    }
}

static PATTERN_RULES: &[PatternRule] = &[
    FAMILY.rule(
        "alias",
        Block,
        Words,
        &[
            r"maps?\_to<4>(?:unrestricted|path\_traversal|full\_(?:shell|system))",
            r"(?:unrestricted|full)\_(?:shell|bash|system|filesystem)\_access<6>(?:granted|enabled|without|required|always|now)",
            r"path\_traversal\_enabled",
        ],
        "A harmless name stands for an unrestricted tool",
    )
    .techniques(&["T1548"]),
    FAMILY.rule(
        "settings-abuse",
        Block,
        Anywhere,
        &[
            r"(?:write|add|set|edit|echo|modify|append|put)\b[^\n]{0,120}?(?:bypasspermissions|enableallprojectmcpservers)",
            r"[\x22']defaultmode[\x22']\s*:\s*[\x22']bypasspermissions",
            r"[\x22']enableallprojectmcpservers[\x22']\s*:\s*true",
            r"[\x22']allow[\x22']\s*:\s*\[\s*[\x22']\*[\x22']",
        ],
        "It changes the agent's settings so that nothing is asked any more",
    )
    .techniques(&["T1562"]),
];

/// Tools of the agents a skill may name.
const KNOWN: &[&str] = &["Read", "Write", "Edit", "Glob", "Grep", "Bash", "WebFetch", "Task", "Agent"];
/// Places that no tool needs to be pointed at.
const PRIVATE: &[&str] = &["~/.ssh", "~/.aws", "/etc/shadow", "~/.gnupg", "~/.netrc", "id_rsa", "~/.kube"];
/// Commands that ask for more than a skill needs.
const DANGEROUS: &[&str] = &["sudo", "rm:", "rm ", "dd:", "mkfs", "nc:", "chmod:"];

/// What one tool comes to: rule, why.
type ToolJudgement = (&'static RuleInfo, String);

/// What the front matter's tools say about the skill.
fn judge_tools(
    front: &FrontMatter,
    has_scripts: bool,
    body: &str,
) -> Vec<(ToolJudgement, Spanned<AllowedTool>)> {
    if front.tools.is_none() && front.allowed_tools.is_none() {
        return Vec::new();
    }
    let purpose = StatedPurpose {
        description: front
            .description
            .as_ref()
            .map(|text| text.value.to_ascii_lowercase())
            .unwrap_or_default(),
        body: body.to_ascii_lowercase(),
        has_scripts,
        skill_os: front.kind.is_some() || front.extends.is_some(),
    };
    let declared = front.tools.iter().flatten().map(|tool| (tool, true));
    let allowed = front.allowed_tools.iter().flatten().map(|tool| (tool, false));
    let judged = declared
        .chain(allowed)
        .filter_map(|(tool, strict)| purpose.judge_tool(tool, strict).map(|found| (found, tool.clone())));
    judged.collect()
}

/// A list of tools without any that reaches the network, beside a script that does.
fn find_undeclared(skill: &SkillFiles, front: &FrontMatter) -> Option<(Spanned<AllowedTool>, String)> {
    let tools = || front.tools.iter().chain(&front.allowed_tools).flatten();
    let first = tools().next()?.clone();
    if tools().any(|tool| reaches_the_network(&tool.value)) {
        return None;
    }
    let mut scripts = skill.files.iter().filter(|file| file.kind == FileKind::Script);
    let script = scripts.find(|file| !is_example_file(&file.path) && uses_the_network(&file.bytes))?;
    Some((first, script.path.clone()))
}

/// Whether a tool may reach the network: by itself, or by whatever it runs.
fn reaches_the_network(tool: &AllowedTool) -> bool {
    let name = tool.name.to_ascii_lowercase();
    let known = [
        "read",
        "write",
        "edit",
        "multiedit",
        "glob",
        "grep",
        "ls",
        "notebookedit",
        "notebookread",
        "todowrite",
    ];
    !known.contains(&name.as_str())
}

/// Whether a script calls something that reaches the network.
fn uses_the_network(script: &[u8]) -> bool {
    const CALLS: &[&[u8]] = &[
        b"requests.post(",
        b"requests.get(",
        b"urlopen(",
        b"httpx.",
        b"axios",
        b"socket.connect(",
        b"curl ",
        b"wget ",
    ];
    CALLS.iter().any(|call| memchr::memmem::find(script, call).is_some())
}

/// What a skill says it does.
struct StatedPurpose {
    description: String,
    body: String,
    has_scripts: bool,
    /// Whether it is written for `SkillOS`, whose list of tools is closed.
    skill_os: bool,
}

impl StatedPurpose {
    fn judge_tool(&self, tool: &AllowedTool, strict: bool) -> Option<ToolJudgement> {
        let name = tool.name.as_str();
        if name == "*" || name.eq_ignore_ascii_case("all") {
            return Some((&WILDCARD, "Every tool is asked for".to_owned()));
        }
        let known = KNOWN.contains(&name) || name.starts_with("mcp__");
        if !known && strict && self.skill_os {
            return Some((&UNKNOWN_TOOL, format!("`{name}` is not among the tools a skill may declare")));
        }
        self.judge_argument(tool).or_else(|| self.judge_need(tool))
    }

    /// What stands in the parentheses.
    fn judge_argument(&self, tool: &AllowedTool) -> Option<ToolJudgement> {
        let argument = tool.argument.as_ref()?.to_ascii_lowercase();
        let name = &tool.name;
        if PRIVATE.iter().any(|place| argument.contains(place)) {
            return Some((&PRIVATE_FILES, format!("{name} is asked for where secrets lie")));
        }
        if name != "Bash" {
            return None;
        }
        if DANGEROUS.iter().any(|word| argument.starts_with(word)) {
            return Some((&DANGEROUS_COMMAND, format!("Bash is asked for with `{argument}`")));
        }
        let network = ["http", "api", "fetch", "web", "url", "download", "request", "server", "search"];
        let unneeded = argument.starts_with("curl") && !self.speaks_of(&network, true);
        unneeded.then(|| (&OVERCLAIM, "The network is asked for; nothing in the skill needs it".to_owned()))
    }

    fn judge_need(&self, tool: &AllowedTool) -> Option<ToolJudgement> {
        let running = [
            "run", "execut", "shell", "command", "script", "build", "deploy", "install", "test", "git",
            "cli", "terminal", "automat",
        ];
        let writing = [
            "write", "generat", "creat", "sav", "edit", "updat", "produc", "convert", "format", "build",
            "scaffold", "render", "draft", "export",
        ];
        let fetching = [
            "fetch", "web", "download", "url", "http", "online", "api", "site", "search", "internet",
            "research",
        ];
        let delegating =
            ["orchestrat", "delegat", "agent", "coordinat", "parallel", "workflow", "pipeline", "multi"];
        let shown = self.has_scripts || self.body.contains("```");
        let needed = match tool.name.as_str() {
            _ if self.description.is_empty() => true,
            "Bash" if self.skill_os => self.speaks_of(&running, false) || shown,
            "Bash" => {
                tool.argument.is_some() || self.speaks_of(&running, true) || shown || self.body.contains('`')
            }
            _ if !self.skill_os => true,
            "Write" => self.speaks_of(&writing, false),
            "WebFetch" => self.speaks_of(&fetching, false),
            "Task" | "Agent" => self.speaks_of(&delegating, false),
            _ => true,
        };
        (!needed)
            .then(|| (&OVERCLAIM, format!("{} declared; description suggests it is not needed", tool.name)))
    }

    fn speaks_of(&self, words: &[&str], in_body: bool) -> bool {
        words.iter().any(|word| self.description.contains(word) || (in_body && self.body.contains(word)))
    }
}
