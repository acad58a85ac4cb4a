//! `skillsandbox check-path`: may this tool call touch these paths?

use std::io::{self, BufRead, Read as _, Write as _};
use std::path::PathBuf;

use anyhow::{Context as _, bail};
use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use skillsandbox_path_policy::{
    CaseHandling, PathDecision, PathPolicy, PathPolicyBuilder, ToolMode, UnknownTools, strict_json,
};

use crate::output::{self, Answer, escaped};
use crate::verbs::inspect::Format;

/// Longest line that is read: arguments may hold a whole file's content.
const MAX_LINE: usize = 16 * 1024 * 1024;

/// Check the paths of a tool call against a workspace
///
/// Every path in the arguments must be inside the root; then the tool's mode counts. Runs nothing.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  skillsandbox check-path --root . --tool Read --args '{\"file_path\": \"notes.md\"}'
  skillsandbox check-path --root . --forbid .env --tool Grep --args '{\"pattern\": \"x\"}' --format json
  echo '{\"tool\": \"Read\", \"args\": {\"file_path\": \"/etc/passwd\"}}' | skillsandbox check-path --root . --stdin

With --stdin each line is answered by one line, {\"decision\": \"allow\"|\"deny\"|\"prompt\"|\"error\", \"rule\": …, \"reason\": …}, as
soon as it is read; an \"id\" in the line comes back in the answer. Exit code 1 for deny and prompt; with --stdin 0 at the end of the input.")]
pub(crate) struct CheckPath {
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

    /// Read calls from standard input, one a line, and answer one line each
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
    format: Format,
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

impl CheckPath {
    pub(crate) fn run(&self) -> anyhow::Result<Answer> {
        let policy = self.policy()?;
        let (Some(tool), Some(arguments)) = (&self.tool, &self.args) else {
            return serve(&policy, &mut io::BufReader::new(io::stdin().lock()), &mut io::stdout().lock());
        };
        let arguments = strict_json(arguments).context("--args is no valid JSON")?;
        // Nobody is asked here: whoever called decides what to do about `prompt`.
        let decision = policy.judge_call(tool, &arguments);
        match self.format {
            Format::Json => output::json(&as_json(&decision))?,
            Format::Text if decision.is_denied() => {
                output::result(&format!("deny: {}\n", decision.reason()))?;
            }
            Format::Text => output::result(&format!("{}\n", decision.as_str()))?,
        }
        Ok(if decision.is_allowed() { Answer::Yes } else { Answer::No })
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

fn as_json(decision: &PathDecision<'_>) -> Value {
    let rule = decision.rule().map(skillsandbox_path_policy::PathRule::code);
    json!({ "decision": decision.as_str(), "rule": rule, "reason": decision.reason() })
}

/// Answers lines until there are no more. What cannot be read is answered by an error, and the next line goes on.
fn serve(
    policy: &PathPolicy,
    input: &mut io::BufReader<impl io::Read>,
    output: &mut impl io::Write,
) -> anyhow::Result<Answer> {
    let mut output = io::BufWriter::new(output);
    let mut line = Vec::new();
    loop {
        line.clear();
        let most = u64::try_from(MAX_LINE).unwrap_or(u64::MAX);
        if input.by_ref().take(most).read_until(b'\n', &mut line)? == 0 {
            output.flush()?;
            return Ok(Answer::Yes);
        }
        let whole = line.len() < MAX_LINE || line.ends_with(b"\n");
        if !whole {
            skip_line(input)?;
        }
        if !whole || !line.trim_ascii().is_empty() {
            let answer = if whole {
                answer(policy, &line)
            } else {
                malformed(&anyhow::anyhow!("the line is longer than 16 MiB"))
            };
            writeln!(output, "{}", escaped(&answer.to_string()))?;
        }
        // A caller that waits for this answer gets it; one that sent many gets them together.
        if input.buffer().is_empty() {
            output.flush()?;
        }
    }
}

fn skip_line(input: &mut impl BufRead) -> io::Result<()> {
    loop {
        let buffer = input.fill_buf()?;
        let end = buffer.iter().position(|&byte| byte == b'\n');
        let (used, done) = end.map_or((buffer.len(), buffer.is_empty()), |end| (end + 1, true));
        input.consume(used);
        if done {
            return Ok(());
        }
    }
}

fn answer(policy: &PathPolicy, line: &[u8]) -> Value {
    let request = match read_request(line) {
        Ok(request) => request,
        Err(error) => return malformed(&error),
    };
    let decision = policy.judge_call(&request.tool, &request.arguments);
    let mut answer = as_json(&decision);
    if let (Some(id), Value::Object(answer)) = (request.id, &mut answer) {
        answer.insert("id".to_owned(), id);
    }
    answer
}

fn malformed(error: &anyhow::Error) -> Value {
    json!({ "decision": "error", "rule": "malformed", "reason": format!("{error:#}") })
}

struct Request {
    tool: String,
    arguments: Value,
    id: Option<Value>,
}

fn read_request(line: &[u8]) -> anyhow::Result<Request> {
    let text = str::from_utf8(line).context("the line is not UTF-8")?;
    let Value::Object(mut request) = strict_json(text)? else { bail!("the line is no object") };
    let tool = match request.remove("tool") {
        Some(Value::String(tool)) => tool,
        Some(_) => bail!("`tool` is no text"),
        None => bail!("`tool` is missing"),
    };
    let arguments = request.remove("args").context("`args` is missing")?;
    let id = request.remove("id");
    // A misspelt key could hide arguments from the check.
    match request.keys().next() {
        Some(key) => bail!("`{}` is not known; a line has tool, args and id", key.escape_debug()),
        None => Ok(Request { tool, arguments, id }),
    }
}
