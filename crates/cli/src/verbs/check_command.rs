//! `skillsandbox check-command`: may this command line run?

use std::io::{self, BufRead, BufReader, Read as _, Write as _};
use std::path::PathBuf;

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use serde::Deserialize;
use serde_json::{Value, json};
use skillsandbox_command_policy::{
    CommandDecision, CommandDenial, CommandPolicy, DenialPosition, Dialect, GlobHandling, OtherTools,
    RealPaths,
};

use crate::output::{self, Answer, escaped, visible};

/// Turns every check off, for debugging on one's own machine; the answers say so.
const BYPASS: &str = "SKILLSANDBOX_BYPASS_COMMAND_POLICY";

/// Longest line of JSON that is read: a command line of the greatest length, with every byte escaped.
const MAX_JSON: usize = 1024 * 1024;

/// Decide whether a command line may run, without running it
///
/// Shell syntax, paths out of the root (links included), commands that are not listed, and commands that run others are refused,
/// with a hint. What is allowed is shown as the list of arguments to start, without a shell.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  skillsandbox check-command --root skills/weather -- 'git log -n 3'
  skillsandbox check-command --allowed-tools 'Bash(git:*) Bash(jq:*)' -- 'git status && id'
  printf '%s\\n' '{\"command\":\"git status\"}' | skillsandbox check-command --stdin

Exit codes: 0 allowed, 1 refused, 2 an error. With --stdin, 0 when all lines were answered.
SKILLSANDBOX_BYPASS_COMMAND_POLICY=1 turns every check off, and the answers say so.")]
pub(crate) struct CheckCommand {
    /// The command line, as one argument
    #[arg(value_name = "COMMAND", required_unless_present = "stdin")]
    command: Option<String>,

    /// The folder that commands run in and may name files of
    #[arg(long, value_name = "DIR", default_value = ".")]
    root: PathBuf,

    /// What a skill declares, such as 'Bash(git:*) Bash(npm run:*)'; any program when left out
    #[arg(long, value_name = "LIST")]
    allowed_tools: Option<String>,

    /// Let the list hold other tools too, such as Read
    #[arg(long, requires = "allowed_tools")]
    whole_list: bool,

    /// A program that may be called; may be given several times
    #[arg(long = "allow", value_name = "PROGRAM")]
    allow: Vec<String>,

    /// Take *, ? and [ as they stand instead of refusing them
    #[arg(long)]
    literal_globs: bool,

    /// The shell that has to read the line alike
    #[arg(long, value_name = "SHELL", default_value = "any")]
    shell: Shell,

    /// Let a rule about commands that run others pass, by its name
    #[arg(long, value_name = "RULE")]
    dangerously_allow: Vec<String>,

    /// Read {"command": "…"} line by line from standard input, and answer each with a line of JSON
    #[arg(long, conflicts_with = "command")]
    stdin: bool,

    /// How to show the decision
    #[arg(long, value_name = "FORMAT", default_value = "text", conflicts_with = "stdin")]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Shell {
    /// Every POSIX shell
    Any,
    /// Bash, with its $'…' quotes
    Bash,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people
    Text,
    /// For programs
    Json,
}

/// One line of `--stdin`. Repeated and unknown keys are errors: who checks and who runs must read the same command.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    command: String,
}

impl CheckCommand {
    pub(crate) fn run(&self) -> anyhow::Result<Answer> {
        let policy = self.policy()?;
        if policy.is_bypassed() {
            output::message(&format!("warning: {BYPASS} is set: nothing is checked"));
        }
        if self.stdin {
            answer_lines(&policy)?;
            return Ok(Answer::Yes);
        }
        let line = self.command.as_deref().unwrap_or_default();
        let decision = policy.check(line);
        match self.format {
            Format::Json => output::json(&as_json(&policy, line, &decision))?,
            Format::Text => output::result(&as_text(&policy, line, &decision))?,
        }
        Ok(if decision.is_allowed() { Answer::Yes } else { Answer::No })
    }

    fn policy(&self) -> anyhow::Result<CommandPolicy> {
        let rules = RealPaths::new(&self.root)
            .with_context(|| format!("cannot read the root {}", self.root.display()))?;
        let mut builder = CommandPolicy::builder().root(&self.root).path_rules(rules);
        if let Some(list) = &self.allowed_tools {
            builder = builder.allowed_tools(list);
        }
        if self.whole_list {
            builder = builder.other_tools(OtherTools::PassThrough);
        }
        if !self.allow.is_empty() {
            builder = builder.commands(&self.allow);
        }
        if self.literal_globs {
            builder = builder.globs(GlobHandling::Literal);
        }
        if self.shell == Shell::Bash {
            builder = builder.dialect(Dialect::Bash);
        }
        for rule in &self.dangerously_allow {
            builder = builder.dangerously_allow(rule);
        }
        if std::env::var_os(BYPASS).is_some_and(|value| value == "1") {
            builder = builder.dangerously_bypass();
        }
        Ok(builder.build()?)
    }
}

/// Answers line by line, each as soon as nothing more waits to be read, so that a runtime can ask and wait, or send many at once.
fn answer_lines(policy: &CommandPolicy) -> anyhow::Result<()> {
    let mut input = BufReader::with_capacity(64 * 1024, io::stdin().lock());
    let mut out = io::BufWriter::new(io::stdout().lock());
    let mut line = Vec::new();
    while read_line(&mut input, &mut line)? {
        let answer = match request(&line) {
            Ok(command) => as_json(policy, &command, &policy.check(&command)),
            Err(message) => json!({ "error": message }),
        };
        out.write_all(escaped(&answer.to_string()).as_bytes())?;
        out.write_all(b"\n")?;
        if input.buffer().is_empty() {
            out.flush()?;
        }
    }
    out.flush()?;
    Ok(())
}

/// Reads one line, without its end; of one that is too long only a little more than is taken. False at the end of the input.
fn read_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    let most = u64::try_from(MAX_JSON).unwrap_or(u64::MAX).saturating_add(1);
    if input.by_ref().take(most).read_until(b'\n', line)? == 0 {
        return Ok(false);
    }
    if line.last() == Some(&b'\n') {
        line.pop();
    } else if line.len() > MAX_JSON {
        input.skip_until(b'\n')?;
    }
    Ok(true)
}

fn request(line: &[u8]) -> Result<String, String> {
    if line.len() > MAX_JSON {
        return Err(format!("the line is longer than {MAX_JSON} bytes"));
    }
    let refuse =
        |why: &str| Err(format!("not a line such as {{\"command\":\"git status\"}}: {}", visible(why)));
    // A list would be taken for the values of the keys.
    if !line.trim_ascii_start().starts_with(b"{") {
        return refuse("it is no object");
    }
    let request: Result<Request, _> = serde_json::from_slice(line);
    request.map(|request| request.command).or_else(|error| refuse(&error.to_string()))
}

fn as_json(policy: &CommandPolicy, line: &str, decision: &CommandDecision) -> Value {
    let argv = || -> Vec<String> {
        let argv = policy.parse(line).unwrap_or_default();
        argv.iter().map(|word| word.to_string_lossy().into_owned()).collect()
    };
    match decision {
        CommandDecision::Denied(denied) => {
            let byte = match denied.position {
                DenialPosition::Byte(at) => Some(at),
                _ => None,
            };
            json!({
                "decision": "deny",
                "rule": denied.rule.as_str(),
                "reason": denied.to_string(),
                "construct": denied.construct,
                "byte": byte,
                "hint": denied.hint,
            })
        }
        CommandDecision::Bypassed => {
            json!({ "decision": "allow", "rule": "bypassed", "reason": format!("nothing was checked: {BYPASS} is set"), "argv": argv() })
        }
        _ => json!({ "decision": "allow", "rule": null, "reason": "every check passed", "argv": argv() }),
    }
}

fn as_text(policy: &CommandPolicy, line: &str, decision: &CommandDecision) -> String {
    let argv = || {
        let argv = policy.parse(line).unwrap_or_default();
        let words = argv.iter().map(|word| visible(&format!("{:?}", word.to_string_lossy())));
        words.collect::<Vec<_>>().join(" ")
    };
    match decision {
        CommandDecision::Denied(CommandDenial { rule, construct, position, reason, hint, .. }) => {
            let (construct, reason, hint) = (visible(construct), visible(reason), visible(hint));
            format!(
                "\u{1b}[1;31mrefused\u{1b}[0m  {rule}: `{construct}` at {position}\n         {reason}\n         {hint}\n"
            )
        }
        CommandDecision::Bypassed => {
            format!("\u{1b}[1;33mbypassed\u{1b}[0m {}\n         nothing was checked\n", argv())
        }
        _ => format!("\u{1b}[32mallowed\u{1b}[0m  {}\n", argv()),
    }
}
