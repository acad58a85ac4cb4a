//! Whether what should build on other systems than Linux still does, without such a system: the compiler checks it for one.

use std::process::{Command, Stdio};

use crate::setup::Environment;
use crate::workspace::{cargo, succeed};

/// A system that is no Linux, and whose standard library rustup has for every host.
const TARGET: &str = "x86_64-apple-darwin";
/// What is of use there: to read, judge and show, and to refuse to run.
const PACKAGES: [&str; 3] = ["skillsandbox-run", "skillsandbox-command-policy", "skillsandbox-manifest"];

pub(crate) fn check(environment: &Environment) -> anyhow::Result<()> {
    if !has_target() {
        println!(
            "SKIPPED: rustup has no standard library for {TARGET} here; whether it builds for other systems was not checked"
        );
        return Ok(());
    }
    let mut command = cargo(["check", "--target", TARGET]);
    command.args(PACKAGES.iter().flat_map(|package| ["--package", package])).envs(environment);
    command.env("RUSTFLAGS", "-D warnings");
    succeed(&mut command)
}

/// Installs it where it is missing: a few seconds, once.
fn has_target() -> bool {
    let quiet = |arguments: &[&str]| {
        let mut rustup = Command::new("rustup");
        rustup.args(arguments).stdin(Stdio::null()).stderr(Stdio::null()).output().ok()
    };
    let installed = || {
        let list = quiet(&["target", "list", "--installed"]);
        list.is_some_and(|list| String::from_utf8_lossy(&list.stdout).lines().any(|line| line == TARGET))
    };
    installed() || (quiet(&["target", "add", TARGET]).is_some() && installed())
}
