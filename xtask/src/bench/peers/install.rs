//! `--install`: what others publish, below target/peers; Debian packages by apt-get, where this is root. What cannot be installed is said,
//! and the rest goes on.

use std::path::Path;
use std::process::Command;

use super::tools::{Source, Tool};
use crate::setup::{self, succeed_shown};
use crate::workspace::cargo;

pub(super) fn run(peers: &Path) {
    for tool in Tool::ALL {
        let Some(program) = tool.program() else { continue };
        let folder = peers.join(program);
        let result = match tool.source() {
            Source::Here => continue,
            Source::Debian(packages) => install_packages(packages),
            Source::Crate(package, version) => {
                let mut command = cargo(["install", "--locked", "--root"]);
                command.arg(&folder).arg("--target-dir").arg(peers.join("build"));
                succeed_shown(command.arg(format!("{package}@{version}")))
            }
            Source::Npm(package, version, also) => install_packages(also).and_then(|()| {
                let mut command = Command::new("npm");
                command.args(["install", "--no-audit", "--no-fund", "--prefix"]).arg(&folder);
                succeed_shown(command.arg(format!("{package}@{version}")))
            }),
            Source::Go(path) => {
                succeed_shown(Command::new("go").args(["install", path]).env("GOBIN", folder.join("bin")))
            }
            Source::ByHand(how) => Err(anyhow::anyhow!("only by hand: {how}")),
        };
        match result {
            Ok(()) => println!("{}: installed", tool.name()),
            Err(error) => println!("{}: not installed: {error:#}", tool.name()),
        }
    }
}

/// Nothing is done about packages that are there.
fn install_packages(packages: &[&str]) -> anyhow::Result<()> {
    let missing = |package: &&&str| {
        let mut query = Command::new("dpkg-query");
        let output = query.args(["--show", "--showformat", "${db:Status-Status}", package]).output();
        !output.is_ok_and(|output| output.stdout == b"installed")
    };
    if setup::is_root() {
        for package in packages.iter().filter(missing) {
            setup::install_if_known("apt-get", package);
        }
    }
    let missing: Vec<&str> = packages.iter().filter(missing).copied().collect();
    anyhow::ensure!(missing.is_empty(), "as root, run: apt-get install {}", missing.join(" "));
    Ok(())
}
