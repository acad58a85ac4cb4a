//! `skillsandbox hook`: decides about an agent's tool calls, in the agent's own protocol. `docs/agents.md` has the protocols.
//!
//! It fails closed. A product takes every exit code but 0 and 2 for "go on", a hook that takes too long as well, and one that says nothing: so
//! whatever goes wrong here, a panic and a closed output included, ends with code 2 and a reason on standard error, which all of them take for
//! "no".

mod claude_code;
mod codex;
mod gemini;
mod installed;

use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use clap::{Args, ValueEnum};
use serde_json::{Map, Value};
use skillsandbox_manifest::user_folders;
use skillsandbox_path_policy::strict_json;
use skillsandbox_run::{
    AgentCall, AgentGuard, GuardAnswer, GuardReason, GuardSettings, MAX_REQUEST_BYTES, ShellHandling,
    ToolKind, UserPolicy, real_path,
};

pub(crate) use installed::{SettingsHook, settings_hook};

use super::policy::PolicyArgs;
use crate::output::{self, ExitAnswer, escaped, visible};

/// What all products take for "no", with the reason on standard error.
const BLOCKED: u8 = 2;
/// How long a decision may take: less than the settings let it, so that the answer is ours.
const DEADLINE: Duration = Duration::from_secs(10);
/// Longest name of a tool.
const MOST_NAME: usize = 512;

/// Decide about an agent's tool call: a hook for Claude Code, Codex or Gemini CLI
///
/// Reads one call as JSON from standard input and answers in the product's own form. Nothing is allowed that the product would not allow by
/// itself: a call is denied, a person is asked, or the product goes on as if there were no hook.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Examples:
  skillsandbox hook claude-code --print-settings
  skillsandbox hook gemini --shell pass --print-settings
  skillsandbox hook claude-code < call.json

The project is --root, or what the product says in its variable, or the current directory. Paths outside it, places of credentials and addresses
of this machine are denied; command lines that cannot be vouched for are asked about (denied where nobody can be asked).

Exit codes: 0 the answer is on standard output, 2 denied: what came in could not be judged, and standard error says why.")]
pub(crate) struct HookArgs {
    /// Whose hook it is
    #[arg(value_name = "PRODUCT")]
    product: ProductName,

    /// The project that the agent works in
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,

    /// One more folder that may be read
    #[arg(long, value_name = "DIR")]
    read_root: Vec<PathBuf>,

    /// One more folder that may be read and written
    #[arg(long, value_name = "DIR")]
    write_root: Vec<PathBuf>,

    /// The programs that command lines may start, such as 'Bash(git:*) Bash(npm run:*)'; any when left out
    #[arg(long, value_name = "LIST")]
    allowed_tools: Option<String>,

    /// What happens to command lines that cannot be vouched for: pipes, substitutions, programs that run others
    #[arg(long, value_name = "CHOICE", default_value = "ask")]
    shell: ShellChoice,

    /// A tool whose calls are approved without a question when every check has passed; may be given several times
    #[arg(long, value_name = "TOOL")]
    approve: Vec<String>,

    #[command(flatten)]
    policy: PolicyArgs,

    /// Print the lines for the product's settings, with these flags; decide nothing
    #[arg(long)]
    print_settings: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ProductName {
    /// Claude Code: `PreToolUse`
    ClaudeCode,
    /// Codex: `PreToolUse`
    Codex,
    /// Gemini CLI: `BeforeTool`
    Gemini,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum ShellChoice {
    /// A person is asked; denied where the product cannot ask
    Ask,
    /// Denied
    Deny,
    /// The product decides by itself, unless the line names a place of credentials
    Pass,
}

impl From<ShellChoice> for ShellHandling {
    fn from(choice: ShellChoice) -> Self {
        match choice {
            ShellChoice::Ask => Self::Ask,
            ShellChoice::Deny => Self::Deny,
            ShellChoice::Pass => Self::Pass,
        }
    }
}

/// What differs between products.
struct Product {
    /// The event that the hook is for.
    event: &'static str,
    /// Its tools, by their exact names.
    tools: &'static [(&'static str, ToolKind)],
    /// The variable in which it tells a hook the project's folder.
    project_variable: Option<&'static str>,
    /// Folders of the home with what the agent was given to read: skills, plugins.
    reads: &'static [&'static str],
    /// Folders of the home that are the agent's own to write.
    writes: &'static [&'static str],
    /// Whether a person can be asked about this call.
    can_ask: fn(&Map<String, Value>) -> bool,
    /// The answer in its own form.
    answer: fn(&GuardAnswer) -> Value,
    /// The lines for its settings that run this command.
    settings: fn(&str) -> Value,
    /// Where they go.
    settings_file: &'static str,
}

impl ProductName {
    fn product(self) -> &'static Product {
        match self {
            Self::ClaudeCode => &claude_code::PRODUCT,
            Self::Codex => &codex::PRODUCT,
            Self::Gemini => &gemini::PRODUCT,
        }
    }
}

impl HookArgs {
    pub(crate) fn run(&self) -> anyhow::Result<ExitAnswer> {
        let product = self.product.product();
        if self.print_settings {
            output::message(&format!("Put this into {}:", product.settings_file));
            output::json(&(product.settings)(&Self::command_line()?))?;
            return Ok(ExitAnswer::Yes);
        }
        // Where standard output is closed, every write to it succeeds and nobody reads the answer.
        let decided = match output::check_stdout() {
            Ok(()) => self.decide_in_time(product),
            Err(problem) => Err(format!("{problem:#}")),
        };
        let problem = match decided {
            Ok(answer) => match print(&(product.answer)(&answer)) {
                Ok(()) => return Ok(ExitAnswer::Yes),
                Err(error) => format!("the answer cannot be written: {error}"),
            },
            Err(problem) => problem,
        };
        block(&problem);
        Ok(ExitAnswer::Code(BLOCKED))
    }

    /// Decides in a thread of its own, which nobody waits for longer than a product does. A panic there would end this program with a code that
    /// means "go on".
    fn decide_in_time(&self, product: &'static Product) -> Result<GuardAnswer, String> {
        let (sender, decided) = mpsc::channel();
        let hook = self.clone();
        let decide = move || sender.send(hook.decide(product).map_err(|error| format!("{error:#}")));
        let started = std::thread::Builder::new().name("skillsandbox-hook".to_owned()).spawn(decide);
        started.map_err(|error| format!("no thread can be started: {error}"))?;
        match decided.recv_timeout(DEADLINE) {
            Ok(answer) => answer,
            Err(RecvTimeoutError::Timeout) => {
                Err(format!("no decision within {} seconds", DEADLINE.as_secs()))
            }
            Err(RecvTimeoutError::Disconnected) => {
                Err("the hook failed; please report it as a bug".to_owned())
            }
        }
    }

    fn decide(&self, product: &Product) -> anyhow::Result<GuardAnswer> {
        let call = HookCall::read(&read_input()?, product)?;
        let root = self.project(product)?;
        let policy = self.find_policy(&root).context("your policy cannot be used, so nothing goes on")?;
        let mut settings = GuardSettings::new(root);
        settings.read_roots = own_folders(product.reads).chain(self.read_root.iter().cloned()).collect();
        settings.write_roots = own_folders(product.writes).chain(self.write_root.iter().cloned()).collect();
        settings.allowed_tools.clone_from(&self.allowed_tools);
        settings.approve.clone_from(&self.approve);
        settings.shell = self.shell.into();
        let guard = AgentGuard::new(settings, &policy)?;
        if let Some(known) = call.lookalike(product) {
            let reason = format!("the tool `{}` is not `{known}`, but is spelt like it", call.tool);
            return Ok(GuardAnswer::Deny(GuardReason::new(
                "unknown-tool",
                reason,
                "Call a tool by its own name.",
            )));
        }
        let kind = product.tools.iter().find(|(name, _)| *name == call.tool).map(|(_, kind)| *kind);
        let answer =
            guard.judge(&AgentCall { tool: &call.tool, kind, input: &call.input, cwd: &call.cwd })?;
        Ok(match answer {
            GuardAnswer::Ask(reason) if !(product.can_ask)(&call.fields) => GuardAnswer::Deny(reason),
            other => other,
        })
    }

    /// The user's policy. One that is named and lies in the project may have come with it; the user's own may lie there, where the project is the
    /// home: no call may change it.
    fn find_policy(&self, root: &Path) -> anyhow::Result<UserPolicy> {
        let policy = self.policy.find(std::iter::empty::<&Path>())?;
        match policy.file() {
            Some(file) if !policy.is_own() && real_path(file).starts_with(real_path(root)) => {
                bail!("{} lies in the project that it would judge", file.display())
            }
            Some(_) | None => Ok(policy),
        }
    }

    /// The project: what the person says, then the product, then where the hook was started.
    fn project(&self, product: &Product) -> anyhow::Result<PathBuf> {
        if let Some(root) = &self.root {
            return Ok(root.clone());
        }
        match product.project_variable.and_then(std::env::var_os) {
            Some(root) if !root.is_empty() => Ok(root.into()),
            _ => std::env::current_dir().context("there is no current directory, and no --root"),
        }
    }

    /// The command that the settings run: this program by its path, with the flags that were given.
    fn command_line() -> anyhow::Result<String> {
        let program = std::env::current_exe().context("it is not known where this program lies")?;
        let mut words = vec![program.to_str().context("this program's path is not text")?.to_owned()];
        words.extend(std::env::args().skip(1).filter(|word| word != "--print-settings"));
        Ok(skillsandbox_text::quote_words(&words))
    }
}

/// Those of a product's folders that are there, and lie in the home whatever links are on the way.
fn own_folders(names: &'static [&'static str]) -> impl Iterator<Item = PathBuf> {
    let home = user_folders::home().and_then(|home| home.canonicalize().ok());
    home.into_iter().flat_map(|home| {
        let folders = names.iter().filter_map(|name| home.join(name).canonicalize().ok()).collect::<Vec<_>>();
        folders
            .into_iter()
            .filter(move |folder| folder.is_dir() && folder.starts_with(&home) && *folder != home)
    })
}

/// A call as a product tells of it.
struct HookCall {
    tool: String,
    input: Map<String, Value>,
    cwd: PathBuf,
    /// All that was told.
    fields: Map<String, Value>,
}

impl HookCall {
    /// Reads a call. Keys that stand twice, at any depth, and values of another type than is documented are refused; what a newer version of the
    /// product adds beside them is not.
    fn read(input: &[u8], product: &Product) -> anyhow::Result<Self> {
        let text = std::str::from_utf8(input).context("the call is not UTF-8")?;
        let Value::Object(mut fields) =
            strict_json(text).context("the call is not JSON with each key once")?
        else {
            bail!("the call is not a JSON object");
        };
        let event = text_of(&fields, "hook_event_name")?;
        ensure!(
            event == product.event,
            "this hook is for {}, and was called for another event",
            product.event
        );
        let tool = text_of(&fields, "tool_name")?.to_owned();
        ensure!(!tool.is_empty() && tool.len() <= MOST_NAME, "`tool_name` is empty or too long");
        let cwd = PathBuf::from(text_of(&fields, "cwd")?);
        ensure!(cwd.is_absolute(), "`cwd` is not an absolute path");
        let Some(Value::Object(input)) = fields.remove("tool_input") else {
            bail!("`tool_input` is not a JSON object");
        };
        Ok(Self { tool, input, cwd, fields })
    }

    /// A tool of the product that this one is spelt like, but for case and separators.
    fn lookalike(&self, product: &Product) -> Option<&'static str> {
        let normal = |name: &str| {
            name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect::<String>()
        };
        let own = normal(&self.tool);
        let names = product.tools.iter().map(|(name, _)| *name);
        let mut alike = names.filter(|name| normal(name) == own);
        let is_exact = product.tools.iter().any(|(name, _)| *name == self.tool);
        if is_exact { None } else { alike.next() }
    }
}

fn text_of<'a>(fields: &'a Map<String, Value>, key: &str) -> anyhow::Result<&'a str> {
    fields.get(key).and_then(Value::as_str).with_context(|| format!("`{key}` is missing, or is not a text"))
}

/// All of standard input, where that is not too much.
fn read_input() -> anyhow::Result<Vec<u8>> {
    let mut input = Vec::new();
    let most = u64::try_from(MAX_REQUEST_BYTES).unwrap_or(u64::MAX);
    io::stdin().lock().take(most + 1).read_to_end(&mut input).context("standard input cannot be read")?;
    ensure!(input.len() <= MAX_REQUEST_BYTES, "the call is larger than {MAX_REQUEST_BYTES} bytes");
    Ok(input)
}

fn print(answer: &Value) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{}", escaped(&answer.to_string()))?;
    out.flush()
}

/// Says why the call is blocked: what a product repeats to the agent.
fn block(problem: &str) {
    let text =
        format!("SkillSandbox denied the call, because it could not be judged: {}\n", visible(problem));
    // A closed standard error leaves nobody to tell; the exit code still says no.
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// The form that Claude Code and Codex share.
fn pre_tool_use(decision: &str, reason: Option<&GuardReason>) -> Value {
    let mut output = Map::new();
    output.insert("hookEventName".to_owned(), "PreToolUse".into());
    output.insert("permissionDecision".to_owned(), decision.into());
    output.extend(
        reason.map(|reason| ("permissionDecisionReason".to_owned(), Value::from(reason.to_string()))),
    );
    Value::Object(Map::from_iter([("hookSpecificOutput".to_owned(), Value::Object(output))]))
}

/// No decision: the product goes on as if there were no hook.
fn no_decision() -> Value {
    Value::Object(Map::new())
}
