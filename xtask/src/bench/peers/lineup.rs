//! Who takes part in a theme: the tools that are here and work, and the commands that are measured.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
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
    /// Where it keeps what it remembers, if not in the home of all.
    pub(super) home: Option<PathBuf>,
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
    let secret = setup.secret().display().to_string();
    for starter in starters(theme, setup, commands, &mut notes) {
        let entry = starter.entry(setup, writable, line);
        let thief = starter.entry(setup, writable, &["/bin/cat", &secret]);
        match check(&entry, setup).and_then(|()| check_policy(&thief, setup)) {
            Ok(()) => entries.push(entry),
            Err(error) => notes.push(format!("{} does not work here: {error:#}", entry.name)),
        }
    }
    (entries, notes)
}

/// Something that starts commands.
enum Starter<'a> {
    Tool(Tool, PathBuf),
    Command(&'a NamedCommand),
}

/// Those of a theme that are here, and notes on those that are not.
fn starters<'a>(
    theme: Theme,
    setup: &Setup,
    commands: &'a [NamedCommand],
    notes: &mut Vec<String>,
) -> Vec<Starter<'a>> {
    let mut starters = Vec::new();
    for &tool in tools(theme) {
        match tool.find(setup) {
            Some(program) => starters.push(Starter::Tool(tool, program)),
            None if tool == Tool::Bare => starters.push(Starter::Tool(tool, PathBuf::new())),
            None => notes.push(format!("{} is not here: {}", tool.name(), tool.how_to_install())),
        }
    }
    starters.extend(commands.iter().map(Starter::Command));
    starters
}

impl Starter<'_> {
    fn entry(&self, setup: &Setup, writable: Option<&Path>, line: &[&str]) -> Entry {
        match self {
            Self::Tool(tool, program) => Entry {
                part: Part::Tool(*tool),
                name: format!("{}{}", tool.name(), version(*tool, program)),
                words: tool.wrap(program, setup, writable, line),
                home: None,
            },
            Self::Command(command) => {
                let mut words = vec![command.path.display().to_string(), "exec".into()];
                words.extend(writable.iter().flat_map(|path| ["--write".into(), path.display().to_string()]));
                words.push("--".into());
                words.extend(line.iter().map(|&word| word.to_owned()));
                Entry { part: Part::Exec, name: command.row("exec"), words, home: Some(command.home.clone()) }
            }
        }
    }
}

/// The rows of `run`.
pub(super) fn gather_runs(setup: &Setup, commands: &[NamedCommand]) -> (Vec<Entry>, Vec<String>) {
    let skill = setup.skills.join(super::stage::SKILL).display().to_string();
    let mut notes = Vec::new();
    let mut entries = Vec::new();
    for command in commands {
        let words = vec![command.path.display().to_string(), "run".into(), skill.clone()];
        let home = Some(command.home.clone());
        let entry = Entry { part: Part::Run, name: command.row("run"), words, home };
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
    let (status, said) = start_once(entry, setup)?;
    if !status.success() {
        bail!("{status}: {said}");
    }
    Ok(())
}

/// Tries to read what was not granted: bare, that works, and everywhere else it must not, or the figures are of another policy.
fn check_policy(thief: &Entry, setup: &Setup) -> anyhow::Result<()> {
    let (status, said) = start_once(thief, setup)?;
    match thief.part {
        Part::Tool(Tool::Bare) if !status.success() => bail!("the control did not work: {said}"),
        Part::Tool(Tool::Bare) => Ok(()),
        Part::Tool(_) | Part::Exec | Part::Run if status.success() => {
            bail!("a file that was not granted could be read")
        }
        Part::Tool(_) | Part::Exec | Part::Run => Ok(()),
    }
}

/// How it ended, and the first lines of what it said.
fn start_once(entry: &Entry, setup: &Setup) -> anyhow::Result<(ExitStatus, String)> {
    let file = setup.work.join("said-by-first-start");
    let mut command = prepare(entry)?;
    command.stderr(File::create(&file)?);
    let status = ordinary::bounded(&mut command, FIRST_START)?;
    let text = String::from_utf8_lossy(&fs::read(&file)?).into_owned();
    fs::remove_file(&file)?;
    let said: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).take(3).collect();
    let said = said.join("; ");
    let status = status.with_context(|| format!("it did not end in a minute: {said}"))?;
    Ok((status, said))
}

/// A command with little around it, the same for all.
pub(super) fn prepare(entry: &Entry) -> anyhow::Result<Command> {
    let (program, arguments) = entry.words.split_first().context("an empty command")?;
    let mut command = Command::new(program);
    command.envs(entry.home.iter().map(|home| ("HOME", home)));
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    Ok(command)
}

/// Starts it and waits for its end.
pub(super) fn run(entry: &Entry) -> anyhow::Result<()> {
    let status = prepare(entry)?.status()?;
    if !status.success() {
        bail!("it ended with {status} after it had worked before");
    }
    Ok(())
}
