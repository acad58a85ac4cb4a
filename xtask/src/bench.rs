//! Benchmarks of whole commands: time and peak memory, beside an alternative in the same run.

pub(crate) mod peers;
pub(crate) mod scanner;
pub(crate) mod watch;

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

use anyhow::{Context as _, bail};

use crate::setup;
use crate::workspace::{cargo, output, root, succeed, target_dir};

/// Runs of each command; the median is reported.
const RUNS: usize = 15;

#[derive(Clone, Copy)]
pub(crate) struct Cost {
    pub(crate) milliseconds: f64,
    pub(crate) mebibytes: f64,
}

/// `skillsandbox validate` on manifests made against it, beside the empty program and, where it is installed, a general
/// validator of YAML against the same schema.
pub(crate) fn manifest() -> anyhow::Result<()> {
    succeed(&mut cargo(["build", "--release", "--package", "skillsandbox"]))?;
    let target = target_dir()?;
    let binary = target.join("release/skillsandbox");
    let texts = target.join("bench/hostile");
    succeed(Command::new(build_program("hostile_manifests")?).arg(&texts))?;

    let floor = median(&["true".into()])?;
    print_row("start of an empty program (true)", floor, floor);
    let weather = root().join("examples/skills/weather");
    let valid = median(&[binary.clone(), "validate".into(), weather.clone()])?;
    print_row("validate the weather example", valid, floor);
    other_validator(&weather, floor)?;

    println!();
    let mut dirs: Vec<PathBuf> = fs::read_dir(&texts)?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    dirs.sort();
    let mut worst = Cost { milliseconds: 0.0, mebibytes: 0.0 };
    for dir in &dirs {
        let cost = median(&[binary.clone(), "validate".into(), dir.clone()])?;
        worst.milliseconds = worst.milliseconds.max(cost.milliseconds);
        worst.mebibytes = worst.mebibytes.max(cost.mebibytes);
        print_row(&dir.file_name().unwrap_or_default().to_string_lossy(), cost, floor);
    }
    println!(
        "\nworst of {} hostile manifests: {:.1} ms, {:.1} MiB",
        dirs.len(),
        worst.milliseconds,
        worst.mebibytes
    );
    Ok(())
}

/// The least that observing a call can cost here, by a supervisor that does nothing with it.
fn floor() -> anyhow::Result<()> {
    let program = target_dir()?.join("bench/floor");
    fs::create_dir_all(target_dir()?.join("bench"))?;
    succeed(Command::new("cc").args(["-O2", "-o"]).arg(&program).arg(root().join("xtask/bench/floor.c")))?;
    println!("the least that a supervisor can cost (xtask/bench/floor.c):");
    succeed(&mut Command::new(&program))
}

/// Start, steady state and thousands of runs of the sandbox, beside bubblewrap, where it is installed, and no sandbox.
pub(crate) fn enforcer() -> anyhow::Result<()> {
    let program = build_program("sandbox")?;
    for part in ["start", "steady", "observed", "soak", "ends"] {
        println!();
        succeed(Command::new(&program).arg(part))?;
        if part == "observed" {
            floor()?;
        }
    }
    Ok(())
}

/// Connections, lookups, bytes and the start with names granted, of the library and of the command, beside the same without a sandbox.
pub(crate) fn network() -> anyhow::Result<()> {
    let program = build_program("network")?;
    succeed(cargo(["build", "--release", "--package", "skillsandbox"]).envs(setup::run()?))?;
    for part in ["connections", "download", "upload", "concurrent", "start"] {
        println!();
        succeed(Command::new(&program).arg(part))?;
    }
    Ok(())
}

/// Queries of a history of a million runs, beside a search of the same in a file of lines.
pub(crate) fn history() -> anyhow::Result<()> {
    succeed(&mut Command::new(build_program("history")?))
}

/// An audit of a thousand installed skills, beside reading their files.
pub(crate) fn audit() -> anyhow::Result<()> {
    succeed(&mut Command::new(build_program("audit")?))
}

/// Builds one of the programs in xtask/bench; where it is.
fn build_program(name: &str) -> anyhow::Result<PathBuf> {
    let environment = setup::run()?;
    let build = ["build", "--release", "--package", "skillsandbox-bench-programs", "--bin", name];
    succeed(cargo(build).envs(environment))?;
    Ok(target_dir()?.join("release").join(name))
}

fn other_validator(skill: &Path, floor: Cost) -> anyhow::Result<()> {
    let installed = Command::new("check-jsonschema")
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    if !installed.is_ok_and(|status| status.success()) {
        println!("check-jsonschema is not installed (pip install check-jsonschema): no row for it");
        return Ok(());
    }
    let schema = root().join("docs/schema/skillsandbox.schema.json");
    let manifest = skill.join("skillsandbox.yaml");
    let cost = median(&["check-jsonschema".into(), "--schemafile".into(), schema, manifest])?;
    print_row("check-jsonschema on the same file", cost, floor);
    Ok(())
}

/// Calls sent to `skillsandbox check-path --stdin`.
const CALLS: usize = 100_000;

/// Decisions of `skillsandbox check-path --stdin` a second: all questions at once, and one after the other as a runtime asks that waits.
pub(crate) fn check_path() -> anyhow::Result<()> {
    succeed(&mut cargo(["build", "--release", "--package", "skillsandbox"]))?;
    let target = target_dir()?;
    let workspace = target.join("bench/workspace");
    fs::create_dir_all(workspace.join("a/b/c"))?;
    fs::write(workspace.join("a/b/c/d.txt"), "x")?;
    let mut echo = Command::new("cat");
    let mut binary = Command::new(target.join("release/skillsandbox"));
    binary.args(["check-path", "--stdin", "--root"]).arg(&workspace);
    for (name, command) in
        [("cat, the floor of any pipe", &mut echo), ("skillsandbox check-path --stdin", &mut binary)]
    {
        let together = together(command)?;
        let one_by_one = one_by_one(command)?;
        println!("{name:<40} {together:>10.0} /s together  {one_by_one:>10.0} /s one by one");
    }
    Ok(())
}

fn question(number: usize) -> String {
    // Half of them are refused.
    let path = if number.is_multiple_of(2) { "a/b/c/d.txt" } else { "../../etc/passwd" };
    format!("{{\"tool\":\"Read\",\"arguments\":{{\"file_path\":\"{path}\",\"limit\":100}}}}\n")
}

fn start(command: &mut Command) -> anyhow::Result<(Child, ChildStdin, BufReader<ChildStdout>)> {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let questions = child.stdin.take().context("no standard input")?;
    let answers = BufReader::new(child.stdout.take().context("no standard output")?);
    Ok((child, questions, answers))
}

fn together(command: &mut Command) -> anyhow::Result<f64> {
    let (mut child, mut questions, answers) = start(command)?;
    let text: String = (0..CALLS).map(question).collect();
    let begin = Instant::now();
    let writer = std::thread::spawn(move || questions.write_all(text.as_bytes()));
    let answered = answers.lines().count();
    let time = begin.elapsed().as_secs_f64();
    writer.join().map_err(|_| anyhow::anyhow!("the writer failed"))??;
    child.wait()?;
    if answered != CALLS {
        bail!("{answered} answers to {CALLS} questions");
    }
    #[allow(clippy::cast_precision_loss)] // far below 2^53
    Ok(CALLS as f64 / time)
}

fn one_by_one(command: &mut Command) -> anyhow::Result<f64> {
    let (mut child, mut questions, mut answers) = start(command)?;
    let calls = CALLS / 10;
    let mut line = String::new();
    let begin = Instant::now();
    for number in 0..calls {
        questions.write_all(question(number).as_bytes())?;
        line.clear();
        answers.read_line(&mut line)?;
    }
    let time = begin.elapsed().as_secs_f64();
    drop(questions);
    child.wait()?;
    #[allow(clippy::cast_precision_loss)] // far below 2^53
    Ok(calls as f64 / time)
}

pub(crate) fn print_row(name: &str, cost: Cost, floor: Cost) {
    let ratio = cost.milliseconds / floor.milliseconds;
    println!("{name:<40} {:>8.1} ms  {ratio:>6.1} x  {:>6.1} MiB", cost.milliseconds, cost.mebibytes);
}

pub(crate) fn median(command: &[PathBuf]) -> anyhow::Result<Cost> {
    let mut runs = Vec::with_capacity(RUNS);
    for _ in 0..RUNS {
        // Its own process, so that the peak of its children is that of this one command.
        let own = std::env::current_exe()?;
        let line = output(Command::new(own).arg("measure").args(command))?;
        let (milliseconds, mebibytes) = line.trim().split_once(' ').context("no measurement")?;
        runs.push(Cost { milliseconds: milliseconds.parse()?, mebibytes: mebibytes.parse()? });
    }
    let middle = |key: fn(&Cost) -> f64| {
        let mut values: Vec<f64> = runs.iter().map(key).collect();
        values.sort_by(f64::total_cmp);
        values.get(RUNS / 2).copied().unwrap_or_default()
    };
    Ok(Cost { milliseconds: middle(|cost| cost.milliseconds), mebibytes: middle(|cost| cost.mebibytes) })
}

/// Runs one command and prints its wall time in milliseconds and its peak memory in MiB.
#[cfg(unix)]
pub(crate) fn measure(command: &[&str]) -> anyhow::Result<()> {
    use nix::sys::resource::{UsageWho, getrusage};
    let [program, args @ ..] = command else { bail!("nothing to measure") };
    let start = Instant::now();
    let mut child = Command::new(program).args(args).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    child.wait()?;
    let time = start.elapsed();
    let kibibytes = getrusage(UsageWho::RUSAGE_CHILDREN)?.max_rss();
    #[allow(clippy::cast_precision_loss)] // far below 2^53
    let mebibytes = kibibytes as f64 / 1024.0;
    println!("{} {mebibytes}", time.as_secs_f64() * 1000.0);
    Ok(())
}

#[cfg(not(unix))]
pub(crate) fn measure(_command: &[&str]) -> anyhow::Result<()> {
    bail!("memory is measured on Unix only")
}
