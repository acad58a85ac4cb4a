//! # CHECK-03: tool overclaiming
//!
//! ## What it looks for
//! Tools that do not fit what the skill says it does, tools nobody knows, wildcards, and aliases or hooks that smuggle in more.
//!
//! ## Why it matters
//! A declared tool is granted without a question. A summariser needs no shell.
//!
//! ## Flagged
//! `tools: [Read, Bash]` with "Summarises text files".
//!
//! ## Not flagged
//! Bash where the description speaks of running, building, deploying, or where the skill comes with scripts.
//!
//! ## Blind spots
//! Descriptions that justify everything.
//!
//! ## References
//! OWASP LLM06.

use skillsandbox_manifest::{AllowedTool, FrontMatter, Spanned};

use crate::rule::CheckId::Tools;
use crate::rule::Rule;
use crate::rule::Scope::{Anywhere, Words};
use crate::rule::Status::{self, Block, Warn};

const ADVICE: &str = "Ask the author which tool is used for what, and grant only those.";

pub(crate) const RULES: &[Rule] = &[
    Rule {
        check: Tools,
        id: "alias",
        status: Block,
        scope: Words,
        patterns: &[
            r"maps?\_to<4>(?:unrestricted|path\_traversal|full\_(?:shell|system))",
            r"(?:unrestricted|full)\_(?:shell|bash|system|filesystem)\_access<6>(?:granted|enabled|without|required|always|now)",
            r"path\_traversal\_enabled",
        ],
        near: "",
        why: "A harmless name stands for an unrestricted tool",
        advice: ADVICE,
        techniques: &["T1548"],
    },
    Rule {
        check: Tools,
        id: "settings-abuse",
        status: Block,
        scope: Anywhere,
        patterns: &[
            r"(?:write|add|set|edit|echo|modify|append|put)\b[^\n]{0,120}?(?:bypasspermissions|enableallprojectmcpservers)",
            r"[\x22']defaultmode[\x22']\s*:\s*[\x22']bypasspermissions",
            r"[\x22']enableallprojectmcpservers[\x22']\s*:\s*true",
            r"[\x22']allow[\x22']\s*:\s*\[\s*[\x22']\*[\x22']",
        ],
        near: "",
        why: "It changes the agent's settings so that nothing is asked any more",
        advice: ADVICE,
        techniques: &["T1562"],
    },
];

/// Tools of the agents a skill may name.
const KNOWN: &[&str] = &["Read", "Write", "Edit", "Glob", "Grep", "Bash", "WebFetch", "Task", "Agent"];
/// Places that no tool needs to be pointed at.
const PRIVATE: &[&str] = &["~/.ssh", "~/.aws", "/etc/shadow", "~/.gnupg", "~/.netrc", "id_rsa", "~/.kube"];
/// Commands that ask for more than a skill needs.
const DANGEROUS: &[&str] = &["sudo", "rm:", "rm ", "dd:", "mkfs", "nc:", "chmod:"];

/// What one tool comes to: rule, status, why.
type Judgement = (&'static str, Status, String);

/// What the front matter's tools say about the skill.
pub(crate) fn judge(
    front: &FrontMatter,
    has_scripts: bool,
    body: &str,
) -> Vec<(Judgement, Spanned<AllowedTool>)> {
    if front.tools.is_none() && front.allowed_tools.is_none() {
        return Vec::new();
    }
    let purpose = Purpose {
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
        .filter_map(|(tool, strict)| purpose.judge(tool, strict).map(|found| (found, tool.clone())));
    judged.collect()
}

/// Whether a tool may reach the network: by itself, or by whatever it runs.
pub(crate) fn reaches_the_network(tool: &AllowedTool) -> bool {
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
pub(crate) fn uses_the_network(script: &[u8]) -> bool {
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
struct Purpose {
    description: String,
    body: String,
    has_scripts: bool,
    /// Whether it is written for `SkillOS`, whose list of tools is closed.
    skill_os: bool,
}

impl Purpose {
    fn judge(&self, tool: &AllowedTool, strict: bool) -> Option<Judgement> {
        let name = tool.name.as_str();
        if name == "*" || name.eq_ignore_ascii_case("all") {
            return Some(("wildcard", Warn, "Every tool is asked for".to_owned()));
        }
        let known = KNOWN.contains(&name) || name.starts_with("mcp__");
        if !known && strict && self.skill_os {
            return Some((
                "unknown-tool",
                Block,
                format!("`{name}` is not among the tools a skill may declare"),
            ));
        }
        self.argument(tool).or_else(|| self.overclaim(tool))
    }

    /// What stands in the parentheses.
    fn argument(&self, tool: &AllowedTool) -> Option<Judgement> {
        let argument = tool.argument.as_ref()?.to_ascii_lowercase();
        let name = &tool.name;
        if PRIVATE.iter().any(|place| argument.contains(place)) {
            return Some(("private-files", Block, format!("{name} is asked for where secrets lie")));
        }
        if name != "Bash" {
            return None;
        }
        if DANGEROUS.iter().any(|word| argument.starts_with(word)) {
            return Some(("dangerous-command", Warn, format!("Bash is asked for with `{argument}`")));
        }
        let network = ["http", "api", "fetch", "web", "url", "download", "request", "server", "search"];
        let unneeded = argument.starts_with("curl") && !self.speaks_of(&network, true);
        unneeded.then(|| {
            ("overclaim", Warn, "The network is asked for; nothing in the skill needs it".to_owned())
        })
    }

    fn overclaim(&self, tool: &AllowedTool) -> Option<Judgement> {
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
        (!needed).then(|| {
            ("overclaim", Warn, format!("{} declared; description suggests it is not needed", tool.name))
        })
    }

    fn speaks_of(&self, words: &[&str], in_body: bool) -> bool {
        words.iter().any(|word| self.description.contains(word) || (in_body && self.body.contains(word)))
    }
}
