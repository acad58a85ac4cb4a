//! `skillsandbox check-command`: may this command line run?

use std::path::PathBuf;

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use skillsandbox_command_policy::{
    CommandDecision, CommandDenial, CommandPolicy, Dialect, GlobHandling, OtherTools, RealPaths,
};
use skillsandbox_run::DecisionAnswer;

use crate::args::OutputFormat;
use crate::decision_lines;
use crate::output::{self, ExitAnswer, visible};
use crate::style::{GREEN, RED, RESET, YELLOW};

/// Turns every check off, for debugging on one's own machine; the answers say so.
const BYPASS: &str = "SKILLSANDBOX_BYPASS_COMMAND_POLICY";

/// Decide whether a command line may run, without running it
///
/// Shell syntax, paths out of the root (links included), commands that are not listed, and commands that run others are refused,
/// with a hint. What is allowed is shown as the list of arguments to start, without a shell.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  skillsandbox check-command --root skills/weather -- 'git log -n 3'
  skillsandbox check-command --allowed-tools 'Bash(git:*) Bash(jq:*)' -- 'git status && id'
  printf '%s\\n' '{\"id\":1,\"command\":\"git status\"}' | skillsandbox check-command --stdin

With --stdin and --format json the answer is {\"version\":1, \"id\":…, \"decision\":\"allow\"|\"deny\", \"rule\":…, \"reason\":…, \"error\":…, \"argv\":[…]}:
docs/decisions.md describes it; check-path and the MCP server answer alike.

Exit codes: 0 allowed, 1 refused, 2 an error. With --stdin, 0 when all lines were answered.
SKILLSANDBOX_BYPASS_COMMAND_POLICY=1 turns every check off, and the answers say so.")]
pub(crate) struct CheckCommandArgs {
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

    /// Read a request in each line of standard input, and answer each with a line
    #[arg(long, conflicts_with = "command")]
    stdin: bool,

    /// How to show the decision
    #[arg(long, value_name = "FORMAT", default_value = "text", conflicts_with = "stdin")]
    format: OutputFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Shell {
    /// Every POSIX shell
    Any,
    /// Bash, which has ANSI-C quotes
    Bash,
}

impl CheckCommandArgs {
    pub(crate) fn run(&self) -> anyhow::Result<ExitAnswer> {
        let policy = self.policy()?;
        if policy.is_bypassed() {
            output::message(&format!("warning: {BYPASS} is set: nothing is checked"));
        }
        if self.stdin {
            decision_lines::serve(&["command"], |request| Ok(answer(&policy, &request.text("command")?)))?;
            return Ok(ExitAnswer::Yes);
        }
        let line = self.command.as_deref().unwrap_or_default();
        let decision = policy.check(line);
        match self.format {
            OutputFormat::Json => decision_lines::print(&answer(&policy, line))?,
            OutputFormat::Text => output::result(&as_text(&policy, line, &decision))?,
        }
        Ok(if decision.is_allowed() { ExitAnswer::Yes } else { ExitAnswer::No })
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

/// The decision as the protocol has it: what is allowed comes with the program and its arguments.
fn answer(policy: &CommandPolicy, line: &str) -> DecisionAnswer<CommandDecision> {
    let decision = policy.check(line);
    let allowed = decision.is_allowed();
    let answer = DecisionAnswer::new(decision);
    if !allowed {
        return answer;
    }
    let argv = policy.parse(line).unwrap_or_default();
    answer.with_argv(argv.iter().map(|word| word.to_string_lossy().into_owned()).collect())
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
                "{RED}refused{RESET}  {rule}: `{construct}` at {position}\n         {reason}\n         {hint}\n"
            )
        }
        CommandDecision::Bypassed => {
            format!("{YELLOW}bypassed{RESET} {}\n         nothing was checked\n", argv())
        }
        CommandDecision::Allowed => format!("{GREEN}allowed{RESET}  {}\n", argv()),
    }
}
