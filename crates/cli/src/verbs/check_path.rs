//! `skillsandbox check-path`: may this tool call touch these paths?

use std::path::PathBuf;

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use serde_json::Value;
use skillsandbox_path_policy::{
    CaseHandling, PathDecision, PathPolicy, PathPolicyBuilder, ToolMode, UnknownTools, strict_json,
};
use skillsandbox_run::{DecisionAnswer, DecisionRequest, InvalidRequest};

use crate::args::OutputFormat;
use crate::decision_lines;
use crate::output::{self, ExitAnswer};

/// Check the paths of a tool call against a workspace
///
/// Every path in the arguments must be inside the root; then the tool's mode counts. Runs nothing.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  skillsandbox check-path --root . --tool Read --args '{\"file_path\": \"notes.md\"}'
  skillsandbox check-path --root . --forbid .env --tool Grep --args '{\"pattern\": \"x\"}' --format json
  echo '{\"id\": 1, \"tool\": \"Read\", \"arguments\": {\"file_path\": \"/etc/passwd\"}}' | skillsandbox check-path --root . --stdin

With --stdin and --format json the answer is {\"version\":1, \"id\":…, \"decision\":\"allow\"|\"deny\"|\"prompt\", \"rule\":…, \"reason\":…, \"error\":…}:
docs/decisions.md describes it; check-command and the MCP server answer alike.

Exit codes: 0 allowed, 1 denied or to be confirmed, 2 an error. With --stdin, 0 when all lines were answered.")]
pub(crate) struct CheckPathArgs {
    /// The workspace; without it the current directory
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,

    /// A tool's name
    #[arg(
        long,
        value_name = "NAME",
        required_unless_present = "stdin",
        conflicts_with = "stdin",
        requires = "args"
    )]
    tool: Option<String>,

    /// Its arguments
    #[arg(long, value_name = "JSON", required_unless_present = "stdin", conflicts_with = "stdin")]
    args: Option<String>,

    /// Read a request in each line of standard input, and answer each with a line
    #[arg(long)]
    stdin: bool,

    /// One more folder that may be read
    #[arg(long, value_name = "DIR")]
    read_root: Vec<PathBuf>,

    /// One more folder that may be read and written
    #[arg(long, value_name = "DIR")]
    write_root: Vec<PathBuf>,

    /// A path that is refused with all below it
    #[arg(long, value_name = "PATH")]
    forbid: Vec<PathBuf>,

    /// What a tool may do once its paths are inside: TOOL=allow, TOOL=prompt or TOOL=deny; `*` for all others
    #[arg(long, value_name = "TOOL=MODE", value_parser = tool_mode)]
    mode: Vec<(String, ToolMode)>,

    /// What happens to tools that are not known
    #[arg(long, value_name = "CHOICE", default_value = "check")]
    unknown_tools: Unknown,

    /// Compare forbidden names without their case
    #[arg(long)]
    ignore_case: bool,

    /// How to show the decision; --stdin always answers in JSON
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: OutputFormat,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Unknown {
    /// Not looked at
    Ignore,
    /// Arguments that look like paths are checked
    Check,
    /// Denied
    Deny,
}

fn tool_mode(text: &str) -> Result<(String, ToolMode), String> {
    let (tool, mode) = text.rsplit_once('=').ok_or("write TOOL=MODE")?;
    let mode = match mode {
        "allow" => ToolMode::Allow,
        "prompt" => ToolMode::Prompt,
        "deny" => ToolMode::Deny,
        _ => return Err("the mode is allow, prompt or deny".to_owned()),
    };
    if tool.is_empty() { Err("the tool is missing".to_owned()) } else { Ok((tool.to_owned(), mode)) }
}

impl CheckPathArgs {
    pub(crate) fn run(&self) -> anyhow::Result<ExitAnswer> {
        let policy = self.policy()?;
        let (Some(tool), Some(arguments)) = (&self.tool, &self.args) else {
            decision_lines::serve(&["tool", "arguments"], |request| answer_request(&policy, request))?;
            return Ok(ExitAnswer::Yes);
        };
        let arguments = strict_json(arguments).context("--args is not valid JSON")?;
        let decision = policy.judge_call(tool, &arguments);
        match self.format {
            OutputFormat::Json => decision_lines::print(&answer(&policy, tool, &arguments))?,
            OutputFormat::Text if decision.is_denied() => {
                output::result(&format!("deny: {}\n", decision.reason()))?;
            }
            OutputFormat::Text => output::result(&format!("{}\n", decision.as_str()))?,
        }
        Ok(if decision.is_allowed() { ExitAnswer::Yes } else { ExitAnswer::No })
    }

    fn policy(&self) -> anyhow::Result<PathPolicy> {
        let mut builder = PathPolicy::builder().unknown_tools(match self.unknown_tools {
            Unknown::Ignore => UnknownTools::Ignore,
            Unknown::Check => UnknownTools::Check,
            Unknown::Deny => UnknownTools::Deny,
        });
        if let Some(root) = &self.root {
            builder = builder.root(root);
        }
        if self.ignore_case {
            builder = builder.case(CaseHandling::Insensitive);
        }
        builder = self.read_root.iter().fold(builder, PathPolicyBuilder::read_root);
        builder = self.write_root.iter().fold(builder, PathPolicyBuilder::write_root);
        builder = self.forbid.iter().fold(builder, PathPolicyBuilder::forbid);
        for (tool, mode) in &self.mode {
            builder = if tool == "*" { builder.default_mode(*mode) } else { builder.mode(tool, *mode) };
        }
        Ok(builder.build()?)
    }
}

/// The decision as the protocol has it. Nobody is asked here: the caller decides what to do about `prompt`.
fn answer(policy: &PathPolicy, tool: &str, arguments: &Value) -> DecisionAnswer<PathDecision<'static>> {
    DecisionAnswer::new(policy.judge_call(tool, arguments).into_owned())
}

fn answer_request(
    policy: &PathPolicy,
    request: &DecisionRequest<'_>,
) -> Result<DecisionAnswer<PathDecision<'static>>, InvalidRequest> {
    let tool = request.text("tool")?;
    let arguments = strict_json(request.json("arguments")?)
        .map_err(|error| InvalidRequest::unreadable_json("arguments", &error))?;
    Ok(answer(policy, &tool, &arguments))
}
