//! `cargo xtask demo`: from a fresh machine to the product at work, in one command.
//!
//! What is shown is a program of its own, `tests/demo`, so that an image of a container can hold it without this one.

use std::process::Command;

use anyhow::{Context as _, bail};

use crate::setup;
use crate::workspace::{cargo, root, shown, succeed, target_dir};

/// Sets up, builds and shows; `arguments` are the demo's own.
pub(crate) fn run(arguments: &[&str]) -> anyhow::Result<()> {
    let environment = setup::run()?;
    println!("building; the first time takes a minute or two");
    let folder = target_dir()?.join("debug");
    let program = |name: &str| folder.join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    if !cfg!(target_os = "linux") {
        succeed(cargo(["build", "--package", "skillsandbox"]).envs(environment))?;
        return elsewhere(Command::new(program("skillsandbox")));
    }
    setup::programs()?;
    succeed(
        cargo(["build", "--package", "skillsandbox", "--package", "skillsandbox-demo"]).envs(environment),
    )?;
    let mut demo = Command::new(program("skillsandbox-demo"));
    demo.args(arguments).env("SKILLSANDBOX", program("skillsandbox"));
    let status = demo.status().with_context(|| format!("cannot start {}", shown(&demo)))?;
    match status.code() {
        Some(0) => {
            println!("\nMore: `cargo xtask demo shell`, examples/README.md, `skillsandbox --help`");
            Ok(())
        }
        Some(1) => bail!("the demo did not go as it should"),
        _ => bail!("the demo could not be played ({status})"),
    }
}

/// Where there is no Linux, there is no sandbox; what reads works.
fn elsewhere(mut command: Command) -> anyhow::Result<()> {
    println!("the sandbox needs Linux (or Docker: see Dockerfile). What works here:\n");
    command.args(["inspect", "examples/skills/weather"]).current_dir(root());
    println!("$ {}", shown(&command));
    succeed(&mut command)
}
