//! Who takes part in a theme: the tools that are here and work, and the commands that are measured.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, bail};

use super::options::{NamedCommand, Theme};
use super::tools::{Setup, Tool};
use crate::ordinary;

/// For the first start of each, which shows whether it works at all.
const FIRST_START: Duration = Duration::from_mins(1);

/// What a row is compared as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Tool(Tool),
    Exec,
    Run,
}

/// A row, and what is started for it.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) part: Part,
    pub(super) name: String,
    pub(super) words: Vec<String>,
}

/// The tools of a theme.
pub(super) fn tools(theme: Theme) -> &'static [Tool] {
    match theme {
        Theme::Start => &Tool::ALL,
        Theme::AtOnce => &[Tool::Bare, Tool::Floor, Tool::Bubblewrap, Tool::Sandlock],
        Theme::Steady => &[Tool::Bare, Tool::Floor, Tool::Bubblewrap, Tool::Sandlock, Tool::Landrun],
        Theme::Memory => &[Tool::Bubblewrap, Tool::Sandlock],
        Theme::Mcp => &[],
    }
}

/// The names of all rows that a theme has where everything is installed.
pub(super) fn row_names(theme: Theme, commands: &[NamedCommand]) -> Vec<String> {
    let of_commands = |verb: &str| commands.iter().map(|command| command.row(verb)).collect::<Vec<_>>();
    let tools = tools(theme).iter().map(|tool| tool.name().to_owned());
    let ours = match theme {
        Theme::Start => {
            let mut names = of_commands("exec");
            names.extend(of_commands("run"));
            names.push("`bwrap --version`".into());
            names.extend(of_commands("--version"));
            names
        }
        Theme::AtOnce | Theme::Steady | Theme::Memory => of_commands("exec"),
        Theme::Mcp => {
            commands.iter().flat_map(|command| [command.row("run"), command.row("serve")]).collect()
        }
    };
    tools.chain(ours).collect()
}

/// The rows of a theme for one command line, and notes on those that are not there.
pub(super) fn gather(
    theme: Theme,
    setup: &Setup,
    commands: &[NamedCommand],
    writable: Option<&Path>,
    line: &[&str],
) -> (Vec<Entry>, Vec<String>) {
    let mut entries = Vec::new();
    let mut notes = Vec::new();
    for &tool in tools(theme) {
        let program = match tool.find(setup) {
            Some(program) => program,
            None if tool == Tool::Bare => Path::new("").to_owned(),
            None => {
                notes.push(format!("{} is not here: {}", tool.name(), tool.how_to_install()));
                continue;
            }
        };
        let words = tool.wrap(&program, setup, writable, line);
        let name = format!("{}{}", tool.name(), version(tool, &program));
        entries.push(Entry { part: Part::Tool(tool), name, words });
    }
    for command in commands {
        let mut words = vec![command.path.display().to_string(), "exec".into()];
        words.extend(writable.iter().flat_map(|folder| ["--write".into(), folder.display().to_string()]));
        words.push("--".into());
        words.extend(line.iter().map(|&word| word.to_owned()));
        entries.push(Entry { part: Part::Exec, name: command.row("exec"), words });
    }
    entries.retain(|entry| match check(entry, setup) {
        Ok(()) => true,
        Err(error) => {
            notes.push(format!("{} does not work here: {error:#}", entry.name));
            false
        }
    });
    (entries, notes)
}

/// The rows of `run`.
pub(super) fn gather_runs(setup: &Setup, commands: &[NamedCommand]) -> (Vec<Entry>, Vec<String>) {
    let skill = setup.skills.join(super::stage::SKILL).display().to_string();
    let mut notes = Vec::new();
    let mut entries = Vec::new();
    for command in commands {
        let words = vec![command.path.display().to_string(), "run".into(), skill.clone()];
        let entry = Entry { part: Part::Run, name: command.row("run"), words };
        match check(&entry, setup) {
            Ok(()) => entries.push(entry),
            Err(error) => notes.push(format!("{} does not work here: {error:#}", entry.name)),
        }
    }
    (entries, notes)
}

/// A blank and the version of a tool that somebody else makes, where it says so; once.
fn version(tool: Tool, program: &Path) -> String {
    if matches!(tool, Tool::Bare | Tool::Floor | Tool::BubblewrapWithEtc) {
        return String::new();
    }
    let output = Command::new(program).arg("--version").stdin(Stdio::null()).output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    let number = text.split_whitespace().find(|word| word.starts_with(|first: char| first.is_ascii_digit()));
    number.map(|number| format!(" {number}")).unwrap_or_default()
}

/// One start, to see that it works; what it said where it does not.
fn check(entry: &Entry, setup: &Setup) -> anyhow::Result<()> {
    let said = setup.home.join("said-by-first-start");
    let mut command = prepare(&entry.words)?;
    command.stderr(File::create(&said)?);
    let status = ordinary::bounded(&mut command, FIRST_START)?;
    if status.is_some_and(|status| status.success()) {
        return Ok(());
    }
    let text = fs::read_to_string(&said).unwrap_or_default();
    let text: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).take(3).collect();
    match status {
        Some(status) => bail!("{status}: {}", text.join("; ")),
        None => bail!("it did not end in a minute: {}", text.join("; ")),
    }
}

/// A command with little around it, the same for all.
pub(super) fn prepare(words: &[String]) -> anyhow::Result<Command> {
    let (program, arguments) = words.split_first().context("an empty command")?;
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    Ok(command)
}

/// Starts it and waits for its end.
pub(super) fn run(entry: &Entry) -> anyhow::Result<()> {
    let status = prepare(&entry.words)?.status()?;
    if !status.success() {
        bail!("it ended with {status} after it had worked before");
    }
    Ok(())
}
