//! `skillsandbox serve`: an MCP server for agents.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use skillsandbox_mcp::{DEFAULT_CONCURRENT, MAX_CONCURRENT, McpServer, ServerSettings};

use super::run_history::user_history;
use super::running::{flags, signals};
use crate::output::{ExitAnswer, message};

/// Serve skills to an agent, over MCP on standard input and output
///
/// The agent lists and runs the skills below the roots, held to what they declare. Nothing that it says changes the roots, the policy or the
/// limits, or skips the scan.
#[derive(Debug, Args)]
#[command(after_help = "Ends when its input does, or at a signal, and ends the skills that run then.

Examples:
  skillsandbox serve --root ~/skills
  skillsandbox serve --root ~/skills --root ./skills --policy my-policy.yaml --timeout 60

In an agent's configuration (.mcp.json):
  {\"mcpServers\": {\"skillsandbox\": {\"command\": \"skillsandbox\", \"args\": [\"serve\", \"--root\", \"/home/me/skills\"]}}}")]
pub(crate) struct ServeArgs {
    /// A folder whose sub-folders are skills; may be given several times
    #[arg(long = "root", value_name = "DIR", required = true)]
    roots: Vec<PathBuf>,

    /// Narrow every skill by this policy file instead of ~/.config/skillsandbox/policy.yaml
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,

    /// How many skills run at a time, at most 64; more wait
    #[arg(long, value_name = "N", default_value_t = DEFAULT_CONCURRENT)]
    max_concurrent: usize,

    /// The longest that a skill may run, whatever its manifest says
    #[arg(long, value_name = "SECONDS", value_parser = flags::seconds)]
    timeout: Option<Duration>,
}

impl ServeArgs {
    pub(crate) fn run(&self) -> anyhow::Result<ExitAnswer> {
        let mut settings = ServerSettings::new(self.roots.iter().cloned());
        settings.policy.clone_from(&self.policy);
        if self.max_concurrent > MAX_CONCURRENT {
            message(&format!("--max-concurrent is {MAX_CONCURRENT} at most; taken as that"));
        }
        settings.max_concurrent = self.max_concurrent.min(MAX_CONCURRENT);
        settings.timeout = self.timeout;
        let server = McpServer::new(&settings, user_history())?;
        let shutdown = server.shutdown();
        signals::on_interrupt(move || shutdown.close())?;
        server.serve_stdio()?;
        Ok(ExitAnswer::Yes)
    }
}
