//! Whether what should build on other systems than Linux still does, without such a system: the compiler checks it for one.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::setup::Environment;
use crate::workspace::{cargo, root, succeed};

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
    command.env("CC_x86_64_apple_darwin", write_compiler()?).env("AR_x86_64_apple_darwin", "ar");
    succeed(&mut command)
}

/// A C compiler for what is only checked and never linked: that of this system, without the options of the other.
fn write_compiler() -> anyhow::Result<PathBuf> {
    const SCRIPT: &str = "#!/bin/sh\nskip=0\nfor word do\n  shift\n  case \"$word\" in\n    -arch) skip=1 ;;\n    -mmacosx-version-min=*) ;;\n    *) if [ $skip = 1 ]; then skip=0; else set -- \"$@\" \"$word\"; fi ;;\n  esac\ndone\nexec cc \"$@\"\n";
    let path = root().join("target").join("cc-of-another-system");
    fs::create_dir_all(root().join("target"))?;
    fs::write(&path, SCRIPT)?;
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
    Ok(path)
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
