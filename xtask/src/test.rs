//! `cargo xtask test`: every check there is, each with its time.

use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context as _;

use crate::workspace::{cargo, succeed, target_dir};
use crate::{behaviours, elsewhere, generate, mcp_clients, ordinary, packages, rotel, setup, skipped};

pub(crate) fn run() -> anyhow::Result<()> {
    let mut steps = Steps::default();
    let environment = steps.step("set-up", test_environment)?;
    // Every cargo below, and every program those start, sees where the C library is, and what the tests may count on.
    let cargo = |args: &[&str]| {
        let mut command = cargo(args);
        command.envs(environment.clone());
        command
    };
    let mut run = |name: &str, mut command: Command| steps.step(name, || succeed(&mut command));

    run("format", cargo(&["fmt", "--all", "--check"]))?;
    run(
        "clippy",
        cargo(&["clippy", "--workspace", "--all-targets", "--all-features", "--", "-D", "warnings"]),
    )?;
    let nextest = has_nextest();
    if nextest {
        run("tests", cargo(&["nextest", "run", "--workspace", "--all-features"]))?;
    } else {
        println!("cargo-nextest is not installed; the tests run with cargo test");
        run("tests", cargo(&["test", "--workspace", "--all-features", "--all-targets"]))?;
    }
    skipped::print(&environment[skipped::VARIABLE]);
    steps.step("as an ordinary user", || ordinary::run(&environment))?;
    let mut run = |name: &str, mut command: Command| steps.step(name, || succeed(&mut command));
    run("documentation tests", cargo(&["test", "--workspace", "--all-features", "--doc"]))?;
    let mut doc = cargo(&["doc", "--workspace", "--all-features", "--no-deps"]);
    doc.env("RUSTDOCFLAGS", "-D warnings");
    run("documentation", doc)?;
    steps.step("another system", || elsewhere::check(&environment))?;
    // The tests of the command have built it.
    let command = target_dir()?.join("debug").join(format!("skillsandbox{}", std::env::consts::EXE_SUFFIX));
    steps.step("generated files", || generate::check(command.exists().then_some(command.as_path())))?;
    steps.step("behaviours", behaviours::check)?;
    steps.step("packages", || packages::check(&environment))?;
    steps.summary();
    Ok(())
}

/// The environment of the tests: see the file of each name.
pub(crate) fn test_environment() -> anyhow::Result<setup::Environment> {
    let mut environment = setup::run()?;
    let mut required = setup::programs()?;
    let (folder, clients) = mcp_clients::install()?;
    environment.insert(mcp_clients::VARIABLE, folder);
    required.extend(clients);
    if let Some(rotel) = rotel::find()? {
        environment.insert(rotel::VARIABLE, rotel);
        required.push(rotel::NAME);
    }
    environment.insert("SKILLSANDBOX_REQUIRE", required.join(",").into());
    let skipped = target_dir()?.join("skipped-tests");
    // Of an earlier run.
    let _ = fs::remove_file(&skipped);
    environment.insert(skipped::VARIABLE, skipped);
    Ok(environment)
}

fn has_nextest() -> bool {
    let mut probe = cargo(["nextest", "--version"]);
    probe.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

#[derive(Default)]
struct Steps(Vec<(String, Duration)>);

impl Steps {
    fn step<T>(&mut self, name: &str, step: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<T> {
        println!("\n== {name}");
        let start = Instant::now();
        let result = step().with_context(|| format!("the step `{name}` failed"));
        self.0.push((name.to_owned(), start.elapsed()));
        if result.is_err() {
            self.summary();
        }
        result
    }

    fn summary(&self) {
        println!("\n== time of each step");
        for (name, time) in &self.0 {
            println!("{:>8.1} s  {name}", time.as_secs_f64());
        }
        println!("{:>8.1} s  in all", self.0.iter().map(|(_, time)| time.as_secs_f64()).sum::<f64>());
    }
}
