//! `cargo xtask test`: every check there is, each with its time.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context as _;

use crate::workspace::{cargo, packages, succeed, target_dir};
use crate::{behaviours, elsewhere, generate, mcp_clients, ordinary, rotel, setup, skipped};

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
    for package in packages()?.iter().filter(|package| package.is_library) {
        let name = format!("{} without features", package.name);
        run(&name, cargo(&["check", "--package", &package.name, "--no-default-features"]))?;
    }
    steps.step("another system", || elsewhere::check(&environment))?;
    // The tests of the command have built it.
    let command = target_dir()?.join("debug").join(format!("skillsandbox{}", std::env::consts::EXE_SUFFIX));
    steps.step("generated files", || generate::check(command.exists().then_some(command.as_path())))?;
    steps.step("behaviours", behaviours::check)?;
    steps.step("packages", || {
        let names: Vec<_> =
            packages()?.into_iter().filter(|package| package.publishable).map(|p| p.name).collect();
        // A target folder of its own, so that what is forgotten there costs the other steps nothing.
        let target = target_dir()?.join("publish");
        forget_packages(&names, &target);
        let target = target.to_string_lossy().into_owned();
        let mut args = vec!["publish", "--dry-run", "--allow-dirty", "--quiet", "--target-dir", &target];
        args.extend(names.iter().flat_map(|name| ["--package", name.as_str()]));
        succeed(&mut cargo(&args)).context("a crate could not be published as it is")
    })?;
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

/// Removes what cargo kept of our own packages from an earlier dry run: the sources it unpacked from the registry it makes in
/// the target folder, and what it built of them. It knows both by name and version only, so a change without a new version
/// would be checked against the old code.
fn forget_packages(names: &[String], target: &Path) {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(std::env::home_dir()?.join(".cargo"))).unwrap_or_default();
    // A registry in a folder has no host, so its name begins with the hyphen before the hash.
    let registries = entries(&home.join("registry/src")).filter(|path| name_of(path).starts_with('-'));
    for folder in registries.chain([target.join("debug/.fingerprint")]) {
        for kept in entries(&folder) {
            let name = name_of(&kept);
            if names.iter().any(|own| name.rsplit_once('-').is_some_and(|(package, _)| package == own)) {
                // What cannot be removed is at worst checked as it was.
                let _ = fs::remove_dir_all(&kept);
            }
        }
    }
}

fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    fs::read_dir(folder).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()))
}

fn name_of(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
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
