//! What a scan costs: instructions, which no other work on the machine changes, and time and memory of the command.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, ensure};

use crate::bench::{median, print_row};
use crate::workspace::{cargo, root, succeed, target_dir};

/// How much more than before is a regression: compilers differ by less.
const TOLERANCE: f64 = 1.05;
/// Where the numbers of the last measurement are kept.
const BASELINE: &str = "xtask/bench/instructions.txt";

pub(crate) fn run(corpus: Option<&str>) -> anyhow::Result<()> {
    let build = [
        "build",
        "--release",
        "--package",
        "skillsandbox",
        "--package",
        "skillsandbox-bench-programs",
        "--bins",
    ];
    succeed(&mut cargo(build))?;
    let target = target_dir()?;
    let floor = median(&["true".into()])?;
    print_row("start of an empty program (true)", floor, floor);
    let binary = target.join("release/skillsandbox");
    let weather = root().join("examples/skills/weather");
    print_row("scan one skill, cold", median(&[binary.clone(), "scan".into(), weather])?, floor);
    if let Some(corpus) = corpus {
        let skills = PathBuf::from(corpus).join("skills");
        let scan = [binary, "scan".into(), "--format".into(), "ndjson".into(), skills];
        print_row("scan the whole corpus", median(&scan)?, floor);
    }
    instructions(&target.join("release/scan_text"))
}

/// Instructions by what is scanned; an error where they are many more than the last time.
fn instructions(program: &Path) -> anyhow::Result<()> {
    let before = fs::read_to_string(root().join(BASELINE)).unwrap_or_default();
    let known = |name: &str| {
        before.lines().find_map(|line| line.strip_suffix(&format!(" {name}"))?.trim().parse::<f64>().ok())
    };
    let mut worse = Vec::new();
    let mut now = String::new();
    println!();
    for name in ["clean", "hostile", "start"] {
        let count = count(program, name)?;
        now.push_str(&[count.to_string().as_str(), " ", name, "\n"].concat());
        let ratio = known(name).map_or(1.0, |before| count / before);
        println!("{name:<12} {:>8.1} million instructions, {ratio:.3} x the last", count / 1e6);
        if ratio > TOLERANCE {
            worse.push(name);
        }
    }
    let file = root().join("target").join("instructions.txt");
    fs::create_dir_all(file.parent().unwrap_or(Path::new(".")))?;
    fs::write(&file, now)?;
    println!("kept in target/instructions.txt; where the change is meant, copy it to {BASELINE}");
    ensure!(worse.is_empty(), "many more instructions than before: {}", worse.join(", "));
    Ok(())
}

/// What callgrind counts.
fn count(program: &Path, name: &str) -> anyhow::Result<f64> {
    let valgrind = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(program)
        .arg(name)
        .output()
        .context("cannot run valgrind: install it")?;
    let text = String::from_utf8_lossy(&valgrind.stderr);
    let line =
        text.lines().find_map(|line| line.split_once("Collected :")).context("callgrind counted nothing")?;
    Ok(line.1.trim().parse()?)
}
