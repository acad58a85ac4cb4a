//! `cargo xtask bench peers`: what a user of the released command pays, beside bubblewrap, other sandboxes, the floor in C and nothing at all.
//!
//! Root measures as an ordinary user, unless asked not to: this program builds, puts everything on a stage that everybody can see, and starts
//! itself there as that user (`--stage`), which measures and prints.

mod everything_on;
mod install;
mod lineup;
mod options;
mod others;
mod pieces;
mod released;
mod stage;
mod table;
mod themes;
mod tools;
mod turns;

use std::collections::BTreeSet;
use std::fs;
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context as _;

use self::options::{Action, NamedCommand, Options, Theme};
use self::stage::Stage;
use self::table::{Report, Table};
use self::themes::Bench;
use self::tools::{Setup, Tool};
use crate::setup;
use crate::workspace::{cargo, root, succeed, target_dir};

pub(crate) fn run(words: &[&str]) -> anyhow::Result<()> {
    if let ["help" | "--help" | "-h"] = words {
        print!("{}", options::HELP);
        return Ok(());
    }
    let options = Options::parse(words)?;
    if let Some(stage) = &options.stage {
        return measure(&options, stage);
    }
    let peers = target_dir()?.join("peers");
    match options.action {
        Action::List => {
            print!("{}", list(&options, &peers));
            Ok(())
        }
        Action::Install => {
            install::run(&peers);
            Ok(())
        }
        Action::Build => build(),
        Action::Measure => start(options, &peers),
    }
}

/// The rows of each theme; and of each tool, where it is or how to get it.
fn list(options: &Options, peers: &Path) -> String {
    let setup = Setup { peers: peers.to_owned(), ..Setup::default() };
    let commands = match options.commands.as_slice() {
        [] => &[NamedCommand::new("", PathBuf::new())],
        commands => commands,
    };
    let mut lines = Vec::new();
    for &theme in &options.themes {
        lines.push(theme.name().to_owned());
        lines.extend(lineup::row_names(theme, commands).iter().map(|name| format!("  {name}")));
    }
    lines.extend([String::new(), "installed".to_owned()]);
    for tool in Tool::ALL.into_iter().filter(|tool| !matches!(tool, Tool::Bare | Tool::Floor)) {
        let place = match tool.find(&setup) {
            Some(program) => program.display().to_string(),
            None => format!("not here: {}", tool.how_to_install()),
        };
        lines.push(format!("  {:<36} {place}", tool.name()));
    }
    lines.join("\n") + "\n"
}

/// Builds what is missing and hands over to the user that measures.
fn start(mut options: Options, peers: &Path) -> anyhow::Result<()> {
    if options.commands.is_empty() {
        // By a process of its own, for what it says is not part of the tables.
        let mut build = Command::new(std::env::current_exe()?);
        build.args(["bench", "peers", "--build"]).stdout(std::io::stderr().as_fd().try_clone_to_owned()?);
        succeed(&mut build)?;
        let path = target_dir()?.join("release/skillsandbox");
        options.commands.push(NamedCommand::new("", path));
    }
    for command in &options.commands {
        released::check(&command.path)?;
    }
    let floor = build_floor().inspect_err(|error| eprintln!("no floor in C: {error:#}")).ok();
    let stage = Stage::make(&options, floor.as_deref())?;
    succeed(&mut stage.measuring_command(&options, peers)?)
}

/// The command as it is released.
fn build() -> anyhow::Result<()> {
    let environment = setup::run()?;
    succeed(cargo(["build", "--release", "--package", "skillsandbox"]).envs(environment))
}

fn build_floor() -> anyhow::Result<PathBuf> {
    let folder = target_dir()?.join("bench");
    fs::create_dir_all(&folder)?;
    let program = folder.join("floor_start");
    let source = root().join("xtask/bench/floor_start.c");
    succeed(Command::new("cc").args(["-O2", "-o"]).arg(&program).arg(source))?;
    Ok(program)
}

/// On the stage, as the user.
fn measure(options: &Options, stage: &Path) -> anyhow::Result<()> {
    turns::adopt_orphans()?;
    let peers = options.peers.clone().unwrap_or_default();
    let mut setup = stage::setup(stage, &peers);
    let first = options.commands.first().context("there is no command to measure")?;
    options.commands.iter().try_for_each(everything_on::check)?;
    setup.pieces = pieces::look(first)?;
    let busy = others::look();
    let mut bench = Bench::new(options, &setup);
    let mut tables: Vec<Table> = Vec::new();
    for theme in &options.themes {
        eprintln!("measuring: {}", theme.name());
        tables.extend(match theme {
            Theme::Start => themes::start::measure(&mut bench),
            Theme::AtOnce => themes::at_once::measure(&mut bench),
            Theme::Steady => themes::steady::measure(&mut bench),
            Theme::Memory => themes::memory::measure(&mut bench),
            Theme::Mcp => themes::mcp::measure(&mut bench),
        });
    }
    say_once(&mut tables);
    let mut conditions = vec![conditions(options, &setup, busy)];
    if others::is_busy(busy) {
        conditions.push(others::BUSY.to_owned());
        tables.iter_mut().for_each(Table::leave_targets_of_time_open);
    }
    let lacks =
        Tool::ALL.into_iter().filter(|&tool| tool != Tool::BubblewrapWithEtc && tool.find(&setup).is_some());
    let lacks = lacks.filter_map(|tool| Some(format!("{}: {}.", tool.name(), tool.lacks()?)));
    let mut notes = vec![
        "The same policy for all, as far as each can express it: /usr, the same pieces of /etc and /var to read, a private /tmp and home, no \
         network, an empty environment. What each lacks beside `skillsandbox exec`:"
            .to_owned(),
    ];
    notes.extend(lacks);
    notes.push(
        "Connections and downloads by name: `cargo xtask bench network`; audits: `cargo xtask bench audit`."
            .into(),
    );
    let failure = failure_of_ours(&tables).map(str::to_owned);
    println!("{}", Report { conditions, tables, notes }.render(options.format));
    failure.map_or(Ok(()), |failure| Err(anyhow::anyhow!(failure)))
}

/// A note on a row of the command that is measured: where one of others is missing, the rest is of use; where one of ours is, something is broken.
fn failure_of_ours(tables: &[Table]) -> Option<&str> {
    let mut notes = tables.iter().flat_map(|table| &table.notes);
    notes.find(|note| note.starts_with(options::OURS)).map(String::as_str)
}

/// What is not here is not here for any table: the first says so.
fn say_once(tables: &mut [Table]) {
    let mut said = BTreeSet::new();
    for table in tables {
        table.notes.retain(|note| said.insert(note.clone()));
    }
}

/// Where and how it was measured.
fn conditions(options: &Options, setup: &Setup, busy: Option<u64>) -> String {
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let user = if setup::is_root() { "root" } else { "an ordinary user" };
    format!(
        "{cores} cores, Linux {}, as {user}; in turns, shuffled with seed {}; {} pieces of /etc and /var; processors {} busy with \
         other things before it began.",
        kernel.trim(),
        options.seed,
        setup.pieces.len(),
        busy.map_or("an unknown share".to_owned(), |percent| format!("{percent} %"))
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_row_of_the_command_is_a_failure_and_one_of_others_is_not() {
        let table = |notes: &[&str]| Table {
            key: "start",
            title: String::new(),
            is_about_time: true,
            columns: Vec::new(),
            rows: Vec::new(),
            notes: notes.iter().map(|&note| note.to_owned()).collect(),
        };
        let of_others =
            table(&["sandlock is not here: …", "A process of `skillsandbox exec` hides its memory"]);
        assert_eq!(failure_of_ours(std::slice::from_ref(&of_others)), None);
        let command = NamedCommand::new("now", PathBuf::new());
        let note = format!("{} does not work here", command.row("exec"));
        assert_eq!(failure_of_ours(&[of_others, table(&[&note])]), Some(note.as_str()));
    }

    #[test]
    fn the_list_names_every_row_and_every_tool() {
        let options = Options::parse(&["--list", "--command", "before=/a", "--command", "after=/b"]).unwrap();
        let text = list(&options, Path::new("/nonexistent"));
        for theme in Theme::ALL {
            assert!(text.contains(&format!("{}\n", theme.name())), "{text}");
            let rows = lineup::row_names(theme, &options.commands);
            assert!(rows.len() >= 3, "{rows:?}");
            for row in rows {
                assert!(text.contains(&format!("  {row}\n")), "{row}: {text}");
            }
        }
        for tool in Tool::ALL {
            assert!(text.contains(tool.name()), "{text}");
        }
        for row in ["exec", "run", "serve", "--version"] {
            for name in ["before", "after"] {
                assert!(text.contains(&format!("`skillsandbox {row}` ({name})")), "{text}");
            }
        }
        assert!(text.contains("not here: `cargo xtask bench peers --install`"), "{text}");
    }
}
