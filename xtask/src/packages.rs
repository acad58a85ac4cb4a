//! Every crate as it would be published: packaged, unpacked, and checked from what is in the package alone.
//!
//! `cargo publish --dry-run` says the same, and compiles every dependency a second time in a folder of its own. Here the
//! unpacked crates are one workspace that shares the target folder, so only our own sources are compiled again: once with all
//! features together, and each crate by itself without any, which finds a feature of a dependency that only a neighbour asks for.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, ensure};

use crate::setup::Environment;
use crate::workspace::{Package, cargo, packages, root, succeed, target_dir};

pub(crate) fn check(environment: &Environment) -> anyhow::Result<()> {
    let published: Vec<Package> = packages()?.into_iter().filter(|package| package.publishable).collect();
    let target = target_dir()?;
    let workspace = unpack_all(&published, &target, environment)?;
    let check = |arguments: &[&str]| {
        let mut command = cargo(["check", "--quiet", "--offline", "--target-dir"]);
        command.arg(&target).args(arguments).current_dir(&workspace).envs(environment);
        succeed(&mut command).context("a crate could not be published as it is")
    };
    check(&["--workspace", "--all-features"])?;
    for package in published.iter().filter(|package| package.is_library) {
        println!("{} without features", package.name);
        check(&["--package", &package.name, "--no-default-features"])?;
    }
    Ok(())
}

/// A workspace of the unpacked packages, below the target folder.
fn unpack_all(published: &[Package], target: &Path, environment: &Environment) -> anyhow::Result<PathBuf> {
    let mut package = cargo(["package", "--no-verify", "--allow-dirty", "--quiet"]);
    package.args(published.iter().flat_map(|package| ["--package", &package.name])).envs(environment);
    succeed(&mut package).context("a crate cannot be packaged")?;
    let workspace = target.join("packaged");
    if workspace.exists() {
        fs::remove_dir_all(&workspace)?;
    }
    fs::create_dir_all(&workspace)?;
    for Package { name, version, .. } in published {
        let archive = target.join("package").join(format!("{name}-{version}.crate"));
        ensure!(archive.is_file(), "cargo made no package of {name}");
        succeed(Command::new("tar").arg("-xzf").arg(archive).arg("-C").arg(&workspace))?;
    }
    let settings = fs::read_to_string(root().join("Cargo.toml"))?;
    fs::write(workspace.join("Cargo.toml"), workspace_manifest(published, &settings))?;
    fs::copy(root().join("Cargo.lock"), workspace.join("Cargo.lock"))?;
    Ok(workspace)
}

/// The packages as members, each standing in for its published self, with the profiles of our own workspace: others would
/// compile every dependency anew.
fn workspace_manifest(published: &[Package], settings: &str) -> String {
    let folder = |package: &Package| format!("{}-{}", package.name, package.version);
    let members: Vec<String> = published.iter().map(|package| format!("{:?}", folder(package))).collect();
    let mut manifest = format!("[workspace]\nresolver = \"3\"\nmembers = [{}]\n", members.join(", "));
    manifest.push_str("\n[patch.crates-io]\n");
    for package in published.iter().filter(|package| package.is_library) {
        let _ = writeln!(manifest, "{} = {{ path = {:?} }}", package.name, folder(package));
    }
    manifest.push('\n');
    let mut in_profile = false;
    for line in settings.lines() {
        if line.starts_with('[') {
            in_profile = line.starts_with("[profile.");
        }
        if in_profile {
            let _ = writeln!(manifest, "{line}");
        }
    }
    manifest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_packaged_workspace_has_our_profiles_and_nothing_else_of_ours() {
        let package = |name: &str, is_library| Package {
            name: name.to_owned(),
            version: "0.1.0".to_owned(),
            publishable: true,
            is_library,
            depends_on: Vec::new(),
        };
        let settings = "[workspace]\nmembers = [\"crates/*\"]\n[profile.dev]\ndebug = 1\n[lints]\nx = 1\n";
        let manifest = workspace_manifest(&[package("a", true), package("b", false)], settings);
        assert_eq!(
            manifest,
            "[workspace]\nresolver = \"3\"\nmembers = [\"a-0.1.0\", \"b-0.1.0\"]\n\n[patch.crates-io]\n\
             a = { path = \"a-0.1.0\" }\n\n[profile.dev]\ndebug = 1\n"
        );
    }
}
