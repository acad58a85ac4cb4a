//! What `cargo xtask bench peers` is asked for.

use std::path::PathBuf;

use anyhow::{Context as _, bail};

pub(super) const HELP: &str = "\
Usage: cargo xtask bench peers [OPTIONS]

What one start, and going on, costs beside others: everything in turns, shuffled, in one run.

  --runs N              starts of each row (100); the themes that take longer run a share of it
  --seed N              of the shuffle (1)
  --theme NAME          only this theme; may be given several times: start, at-once, steady, memory, mcp
  --command [NAME=]PATH measure this program instead of building one; may be given several times, with names
  --root                measure as root; without it, root measures as an ordinary user made for it
  --markdown | --json   the tables as docs/benchmarks.md has them, or for programs
  --list                the rows, what is installed and how to install the rest; measures nothing
  --install             install what others publish for it, below target/peers (Debian packages by apt-get, as root)
";

/// One table of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Theme {
    Start,
    AtOnce,
    Steady,
    Memory,
    Mcp,
}

impl Theme {
    pub(super) const ALL: [Self; 5] = [Self::Start, Self::AtOnce, Self::Steady, Self::Memory, Self::Mcp];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::AtOnce => "at-once",
            Self::Steady => "steady",
            Self::Memory => "memory",
            Self::Mcp => "mcp",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Text,
    Markdown,
    Json,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    Measure,
    List,
    Install,
    /// Only the build, for the process that asks for the rest.
    Build,
}

/// What the name of a row of ours begins with.
pub(super) const OURS: &str = "`skillsandbox ";

/// A `skillsandbox` to measure, and how its rows are told from those of another one; empty where there is only one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NamedCommand {
    pub(super) name: String,
    pub(super) path: PathBuf,
    /// On the stage: a home of its own, for two versions may not remember alike.
    pub(super) home: PathBuf,
}

impl NamedCommand {
    /// On the stage, each program has a folder of its own, and its home is beside it.
    pub(super) fn new(name: &str, path: PathBuf) -> Self {
        let home = path.parent().map(|folder| folder.join("home")).unwrap_or_default();
        Self { name: name.to_owned(), path, home }
    }

    /// The name of a row about a verb of it.
    pub(super) fn row(&self, verb: &str) -> String {
        if self.name.is_empty() { format!("{OURS}{verb}`") } else { format!("{OURS}{verb}` ({})", self.name) }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Options {
    pub(super) runs: usize,
    pub(super) seed: u64,
    pub(super) themes: Vec<Theme>,
    pub(super) commands: Vec<NamedCommand>,
    pub(super) as_root: bool,
    pub(super) format: Format,
    pub(super) action: Action,
    /// The stage, once it stands: the process that measures is told so, and started by the one that made it.
    pub(super) stage: Option<PathBuf>,
    /// Where peers were installed.
    pub(super) peers: Option<PathBuf>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            runs: 100,
            seed: 1,
            themes: Vec::new(),
            commands: Vec::new(),
            as_root: false,
            format: Format::Text,
            action: Action::Measure,
            stage: None,
            peers: None,
        }
    }
}

impl Options {
    pub(super) fn parse(words: &[&str]) -> anyhow::Result<Self> {
        let mut options = Self::default();
        let mut words = words.iter().copied();
        while let Some(word) = words.next() {
            let mut value = || words.next().with_context(|| format!("{word} needs a value\n\n{HELP}"));
            match word {
                "--runs" => options.runs = number(value()?)?,
                "--seed" => options.seed = value()?.parse().context("--seed needs a number")?,
                "--theme" => options.themes.push(theme(value()?)?),
                "--command" => options.commands.push(named_command(value()?)),
                "--root" => options.as_root = true,
                "--markdown" => options.format = Format::Markdown,
                "--json" => options.format = Format::Json,
                "--list" => options.action = Action::List,
                "--install" => options.action = Action::Install,
                "--build" => options.action = Action::Build,
                "--stage" => options.stage = Some(value()?.into()),
                "--peers" => options.peers = Some(value()?.into()),
                other => bail!("unknown option `{other}`\n\n{HELP}"),
            }
        }
        if options.themes.is_empty() {
            options.themes = Theme::ALL.to_vec();
        }
        let names: Vec<&str> = options.commands.iter().map(|command| command.name.as_str()).collect();
        if names.iter().enumerate().any(|(at, name)| names[..at].contains(name)) {
            bail!("several commands need different names: --command before=PATH --command after=PATH");
        }
        Ok(options)
    }

    /// The words that [`Self::parse`] reads as these options.
    pub(super) fn words(&self) -> Vec<String> {
        let mut words = vec!["--runs".into(), self.runs.to_string(), "--seed".into(), self.seed.to_string()];
        for theme in &self.themes {
            words.extend(["--theme".into(), theme.name().into()]);
        }
        for command in &self.commands {
            words.extend(["--command".into(), format!("{}={}", command.name, command.path.display())]);
        }
        words.extend(self.as_root.then(|| "--root".into()));
        match self.format {
            Format::Text => {}
            Format::Markdown => words.push("--markdown".into()),
            Format::Json => words.push("--json".into()),
        }
        match self.action {
            Action::Measure => {}
            Action::List => words.push("--list".into()),
            Action::Install => words.push("--install".into()),
            Action::Build => words.push("--build".into()),
        }
        for (flag, path) in [("--stage", &self.stage), ("--peers", &self.peers)] {
            if let Some(path) = path {
                words.extend([flag.into(), path.display().to_string()]);
            }
        }
        words
    }
}

fn number(word: &str) -> anyhow::Result<usize> {
    match word.parse() {
        Ok(number @ 1..=100_000) => Ok(number),
        _ => bail!("--runs needs a number from 1 to 100000, not `{word}`"),
    }
}

fn theme(word: &str) -> anyhow::Result<Theme> {
    let found = Theme::ALL.into_iter().find(|theme| theme.name() == word);
    found.with_context(|| format!("there is no theme `{word}`: {}", Theme::ALL.map(Theme::name).join(", ")))
}

/// What stands before the first `=` is a name, unless it is part of the path.
fn named_command(word: &str) -> NamedCommand {
    match word.split_once('=') {
        Some((name, path)) if !name.contains('/') => NamedCommand::new(name, path.into()),
        _ => NamedCommand::new("", word.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_handed_on_as_they_were_read() {
        for words in [
            vec![],
            vec!["--runs", "7", "--seed", "9", "--theme", "mcp", "--theme", "start", "--json", "--root"],
            vec!["--command", "before=/a=b/c", "--command", "after=d", "--markdown", "--list"],
            vec!["--command", "./x=y", "--install", "--stage", "/s", "--peers", "/p"],
        ] {
            let options = Options::parse(&words).unwrap();
            let again = options.words();
            let again = Options::parse(&again.iter().map(String::as_str).collect::<Vec<_>>()).unwrap();
            assert_eq!(again, options, "{words:?}");
        }
        let options = Options::parse(&["--command", "before=/a=b/c", "--command", "./x=y"]).unwrap();
        assert_eq!(options.commands[0].path, PathBuf::from("/a=b/c"));
        assert_eq!(options.commands[1].path, PathBuf::from("./x=y"));
        assert_eq!(options.commands[0].row("exec"), "`skillsandbox exec` (before)");
        assert_eq!(options.commands[1].row("exec"), "`skillsandbox exec`");
    }

    #[test]
    fn what_is_not_an_option_is_refused() {
        for words in [
            vec!["--runs", "0"],
            vec!["--runs", "1000000"],
            vec!["--runs"],
            vec!["--theme", "network"],
            vec!["--seed", "x"],
            vec!["--command", "a=/x", "--command", "a=/y"],
            vec!["start"],
        ] {
            Options::parse(&words).unwrap_err();
        }
    }
}
