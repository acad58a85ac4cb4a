//! `cargo xtask test`: every check there is, each with its time.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context as _;

use crate::workspace::{cargo, packages, succeed};
use crate::{behaviours, generate, setup};

pub(crate) fn run() -> anyhow::Result<()> {
    let mut steps = Steps::default();
    let environment = steps.step("set-up", setup::run)?;
    // Every cargo below, and every program those start, sees where the C library is.
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
    run("documentation tests", cargo(&["test", "--workspace", "--all-features", "--doc"]))?;
    let mut doc = cargo(&["doc", "--workspace", "--all-features", "--no-deps"]);
    doc.env("RUSTDOCFLAGS", "-D warnings");
    run("documentation", doc)?;
    for package in packages()?.iter().filter(|package| package.is_library) {
        let name = format!("{} without features", package.name);
        run(&name, cargo(&["check", "--package", &package.name, "--no-default-features"]))?;
    }
    steps.step("generated files", generate::check)?;
    steps.step("behaviours", behaviours::check)?;
    steps.step("packages", || {
        let names: Vec<_> =
            packages()?.into_iter().filter(|package| package.publishable).map(|p| p.name).collect();
        let mut args = vec!["publish", "--dry-run", "--allow-dirty", "--quiet"];
        args.extend(names.iter().flat_map(|name| ["--package", name.as_str()]));
        succeed(&mut cargo(&args)).context("a crate could not be published as it is")
    })?;
    steps.summary();
    Ok(())
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
