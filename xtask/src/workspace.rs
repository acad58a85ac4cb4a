//! The workspace as cargo sees it, and the one way its crates may depend on each other.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail};
use serde_json::Value;

/// The root of the workspace.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."))
}

/// The cargo that runs us, in the root.
pub(crate) fn cargo<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>) -> Command {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(args).current_dir(root());
    command
}

/// Runs a command to its end; a failure names it.
pub(crate) fn succeed(command: &mut Command) -> anyhow::Result<()> {
    let status = command.status().with_context(|| format!("cannot start {}", shown(command)))?;
    if !status.success() {
        bail!("`{}` failed ({status})", shown(command));
    }
    Ok(())
}

/// Runs a command and returns what it printed.
pub(crate) fn output(command: &mut Command) -> anyhow::Result<String> {
    let output = command
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("cannot start {}", shown(command)))?;
    if !output.status.success() {
        bail!("`{}` failed ({})", shown(command), output.status);
    }
    String::from_utf8(output.stdout)
        .with_context(|| format!("`{}` printed something that is not text", shown(command)))
}

/// A command as one would type it.
pub(crate) fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    let words = std::iter::once(program).chain(command.get_args());
    words.map(OsStr::to_string_lossy).collect::<Vec<_>>().join(" ")
}

/// One package of the workspace.
#[derive(Debug)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) publishable: bool,
    pub(crate) is_library: bool,
    /// Packages of the workspace it needs to build, tests aside.
    #[cfg_attr(not(test), expect(dead_code, reason = "the direction test reads it"))]
    pub(crate) depends_on: Vec<String>,
}

/// The packages of the workspace.
pub(crate) fn packages() -> anyhow::Result<Vec<Package>> {
    let metadata = metadata()?;
    let packages = metadata["packages"].as_array().context("cargo metadata lists no packages")?;
    let names: Vec<&str> = packages.iter().filter_map(|package| package["name"].as_str()).collect();
    Ok(packages.iter().map(|package| Package::read(package, &names)).collect())
}

impl Package {
    fn read(package: &Value, ours: &[&str]) -> Self {
        let list = |key: &str| package[key].as_array().cloned().unwrap_or_default();
        let depends_on = list("dependencies").into_iter().filter(|dependency| dependency["kind"] != "dev");
        let depends_on = depends_on.filter_map(|dependency| Some(dependency["name"].as_str()?.to_owned()));
        Self {
            name: package["name"].as_str().unwrap_or_default().to_owned(),
            version: package["version"].as_str().unwrap_or_default().to_owned(),
            // `publish = false` is an empty list of registries.
            publishable: package["publish"].as_array().is_none_or(|registries| !registries.is_empty()),
            is_library: list("targets").iter().any(|target| target["kind"][0] == "lib"),
            depends_on: depends_on.filter(|name| ours.contains(&name.as_str())).collect(),
        }
    }
}

fn metadata() -> anyhow::Result<Value> {
    let text = output(&mut cargo(["metadata", "--format-version", "1", "--no-deps"]))?;
    Ok(serde_json::from_str(&text)?)
}

/// Where cargo builds.
pub(crate) fn target_dir() -> anyhow::Result<PathBuf> {
    let metadata = metadata()?;
    Ok(metadata["target_directory"].as_str().context("cargo metadata names no target directory")?.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Who may depend on whom (docs/ARCHITECTURE.md). Crates that are not here yet appear with their work; one that is
    /// in the workspace and not here fails the test, so that its place is thought about.
    const MAY_USE: &[(&str, &[&str])] = &[
        ("skillsandbox-text", &[]),
        ("skillsandbox-terms", &[]),
        ("skillsandbox-manifest", &[]),
        ("skillsandbox-path-policy", &[]),
        ("skillsandbox-command-policy", &[]),
        ("skillsandbox-egress", &[]),
        ("skillsandbox-enforcer", &["skillsandbox-egress"]),
        ("skillsandbox-tracer", &[]),
        ("skillsandbox-credentials", &[]),
        ("skillsandbox-scanner", &["skillsandbox-manifest", "skillsandbox-command-policy"]),
        // The only part that asks somebody outside about skills. The scanner has a trait for it, so that nobody else need know it.
        ("skillsandbox-judge", &["skillsandbox-scanner"]),
        (
            "skillsandbox-run",
            &[
                "skillsandbox-manifest",
                "skillsandbox-path-policy",
                "skillsandbox-command-policy",
                "skillsandbox-enforcer",
                "skillsandbox-tracer",
                "skillsandbox-credentials",
                "skillsandbox-scanner",
            ],
        ),
        (
            "skillsandbox-learn",
            &["skillsandbox-manifest", "skillsandbox-run", "skillsandbox-scanner", "skillsandbox-tracer"],
        ),
        // It uses `run` and not the other way round (docs/adr/0013): its history implements `run`'s trait, and its git is `run`'s.
        (
            "skillsandbox-store",
            &[
                "skillsandbox-manifest",
                "skillsandbox-path-policy",
                "skillsandbox-run",
                "skillsandbox-scanner",
                "skillsandbox-tracer",
            ],
        ),
        (
            "skillsandbox-mcp",
            &[
                "skillsandbox-manifest",
                "skillsandbox-path-policy",
                "skillsandbox-command-policy",
                "skillsandbox-tracer",
                "skillsandbox-scanner",
                "skillsandbox-run",
                "skillsandbox-store",
            ],
        ),
        // Embeds them as others would.
        ("skillsandbox-examples", EVERY_LIBRARY),
        ("skillsandbox-benches", &[]),
        (
            "skillsandbox-bench-programs",
            &[
                "skillsandbox-benches",
                "skillsandbox-enforcer",
                "skillsandbox-scanner",
                "skillsandbox-store",
                "skillsandbox-test-support",
            ],
        ),
        ("skillsandbox-test-support", &["skillsandbox-manifest", "skillsandbox-tracer"]),
        // Attacks any sandbox from within: it knows nothing of ours.
        ("skillsandbox-probe", &[]),
        ("skillsandbox-network-tests", &["skillsandbox-enforcer"]),
        // Starts the command as a user would, and reads its traces.
        ("skillsandbox-demo", &["skillsandbox-tracer"]),
        ("skillsandbox-scanner-eval", &["skillsandbox-scanner"]),
        // The first thing a fresh machine builds.
        ("xtask", &[]),
    ];
    const EVERY_LIBRARY: &[&str] = &[
        "skillsandbox-manifest",
        "skillsandbox-path-policy",
        "skillsandbox-command-policy",
        "skillsandbox-enforcer",
        "skillsandbox-tracer",
        "skillsandbox-scanner",
        "skillsandbox-judge",
        "skillsandbox-run",
        "skillsandbox-learn",
        "skillsandbox-store",
        "skillsandbox-mcp",
    ];
    /// Use nothing of ours; everything may use them.
    const LEAVES: [&str; 2] = ["skillsandbox-terms", "skillsandbox-text"];
    /// May use everything; nothing uses it.
    const TOP: &str = "skillsandbox";

    fn violations(packages: &[Package]) -> Vec<String> {
        let mut found = Vec::new();
        for package in packages {
            if package.depends_on.iter().any(|used| used == TOP) {
                found.push(format!("{} uses {TOP}, which nothing may", package.name));
            }
            if package.name == TOP {
                continue;
            }
            let Some((_, allowed)) = MAY_USE.iter().find(|(name, _)| *name == package.name) else {
                found.push(format!("{} has no place in the order of crates", package.name));
                continue;
            };
            let is_wrong =
                |used: &&String| !LEAVES.contains(&used.as_str()) && !allowed.contains(&used.as_str());
            for used in package.depends_on.iter().filter(is_wrong) {
                found.push(format!("{} may not use {used}", package.name));
            }
        }
        found
    }

    #[test]
    fn crates_depend_in_one_direction() {
        let packages = packages().unwrap();
        assert!(packages.iter().any(|package| package.name == "skillsandbox-manifest"), "{packages:?}");
        assert_eq!(violations(&packages), Vec::<String>::new());
    }

    #[test]
    fn a_wrong_edge_is_found() {
        let package = |name: &str, depends_on: &[&str]| Package {
            name: name.to_owned(),
            version: String::new(),
            publishable: true,
            is_library: true,
            depends_on: depends_on.iter().map(|name| (*name).to_owned()).collect(),
        };
        assert_eq!(violations(&[package("skillsandbox-manifest", &["skillsandbox-scanner"])]).len(), 1);
        assert_eq!(violations(&[package("skillsandbox-run", &["skillsandbox"])]).len(), 2);
        assert_eq!(violations(&[package("skillsandbox-new", &[])]).len(), 1);
        assert_eq!(violations(&[package(LEAVES[0], &["skillsandbox-manifest"])]).len(), 1);
        assert_eq!(violations(&[package("skillsandbox-manifest", &LEAVES)]).len(), 0);
        assert_eq!(violations(&[package("skillsandbox", &["skillsandbox-run"])]).len(), 0);
    }

    #[test]
    fn every_published_crate_says_what_crates_io_shows() {
        let metadata = metadata().unwrap();
        for package in metadata["packages"].as_array().unwrap() {
            if package["publish"].as_array().is_some_and(Vec::is_empty) {
                continue;
            }
            for key in ["description", "license", "repository", "readme", "rust_version", "homepage"] {
                assert!(
                    package[key].as_str().is_some_and(|text| !text.is_empty()),
                    "{}: {key}",
                    package["name"]
                );
            }
            for key in ["keywords", "categories"] {
                assert!(
                    package[key].as_array().is_some_and(|list| !list.is_empty()),
                    "{}: {key}",
                    package["name"]
                );
            }
        }
    }
}
