//! `skillsandbox serve`: an MCP server for agents.

use std::os::unix::fs::DirBuilderExt as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use clap::Args;
use skillsandbox_mcp::{DEFAULT_CONCURRENT, MAX_CONCURRENT, McpServer, ServerSettings};
use skillsandbox_store::{StoreLayout, StoreSkills};

use super::run_history::user_history;
use super::running::grants::AskedReach;
use super::running::{flags, grants, signals};
use crate::output::{ExitAnswer, message};

/// Serve skills to an agent, over MCP on standard input and output
///
/// The agent lists and runs the installed skills, or those below the roots, held to what they declare. Nothing that it says changes the roots, the policy or the
/// limits, or skips the scan.
#[derive(Debug, Args)]
#[command(after_help = "Ends when its input does, or at a signal, and ends the skills that run then.

Examples:
  skillsandbox serve
  skillsandbox serve --root ~/skills
  skillsandbox serve --root ~/skills --root ./skills --policy my-policy.yaml --timeout 60

In an agent's configuration (.mcp.json):
  {\"mcpServers\": {\"skillsandbox\": {\"command\": \"skillsandbox\", \"args\": [\"serve\"]}}}")]
pub(crate) struct ServeArgs {
    /// A folder whose sub-folders are skills, instead of the installed ones; may be given several times
    #[arg(long = "root", value_name = "DIR")]
    roots: Vec<PathBuf>,

    /// The folder that every skill works in: it starts there, and may read and change it; with `:ro` behind it, only read
    #[arg(long, value_name = "DIR[:ro]")]
    workspace: Option<PathBuf>,

    /// Narrow every skill by this policy file instead of ~/.config/skillsandbox/policy.yaml
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,

    /// List a tool of its own for every skill that declares parameters, typed by these
    #[arg(long)]
    tools_per_skill: bool,

    /// How many skills run at a time, at most 64; more wait
    #[arg(long, value_name = "N", default_value_t = DEFAULT_CONCURRENT)]
    max_concurrent: usize,

    /// The longest that a skill may run, whatever its manifest says
    #[arg(long, value_name = "SECONDS", value_parser = flags::seconds)]
    timeout: Option<Duration>,
}

impl ServeArgs {
    /// What decides how far it reaches.
    #[cfg(target_os = "linux")]
    pub(crate) fn asked_reach(&self) -> AskedReach<'_> {
        AskedReach {
            workspace: self.workspace.as_deref(),
            policy: self.policy.as_deref(),
            ..AskedReach::default()
        }
    }

    pub(crate) fn run(&self) -> anyhow::Result<ExitAnswer> {
        let layout = StoreLayout::user().context("there is no home with installed skills; set HOME")?;
        let mut roots = self.roots.clone();
        if roots.is_empty() {
            roots.push(installed_skills(&layout)?);
        }
        let mut settings = ServerSettings::new(roots);
        settings.installed = Some(Arc::new(StoreSkills::new(layout)));
        settings.workspace = self.workspace.as_deref().map(grants::workspace).transpose()?;
        settings.policy.clone_from(&self.policy);
        if self.max_concurrent > MAX_CONCURRENT {
            message(&format!("--max-concurrent is {MAX_CONCURRENT} at most; taken as that"));
        }
        settings.max_concurrent = self.max_concurrent.min(MAX_CONCURRENT);
        settings.timeout = self.timeout;
        settings.tools_per_skill = self.tools_per_skill;
        let server = McpServer::new(&settings, user_history())?;
        let shutdown = server.shutdown();
        signals::on_interrupt(move || shutdown.close())?;
        server.serve_stdio()?;
        Ok(ExitAnswer::Yes)
    }
}

/// Where skills are installed; made where nothing is yet, so that an agent can be set up before the first skill.
fn installed_skills(layout: &StoreLayout) -> anyhow::Result<PathBuf> {
    let folder = layout.skills();
    let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder);
    made.with_context(|| format!("cannot make {}", folder.display()))?;
    Ok(folder)
}
