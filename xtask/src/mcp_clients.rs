//! MCP clients that others wrote, for the tests of `serve`: the official SDK for Python, and the MCP Inspector; and MCP servers that others
//! wrote, for the tests of `wrap`: the filesystem server from npm, and the git server from the Python index.
//!
//! Each is installed once, in a version that is fixed here, from its own registry into the target folder. What cannot be had is said, and its
//! tests are skipped by name; what is there is required of the tests.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Context as _;

use crate::workspace::{shown, succeed, target_dir};

/// Names the folder to the tests.
pub(crate) const VARIABLE: &str = "SKILLSANDBOX_MCP_CLIENTS";

/// A client or a server, and how it is had.
struct Client {
    /// What the tests call it.
    name: &'static str,
    /// What it needs to be installed.
    needs: &'static str,
    version: &'static str,
    install: fn(&Path, &str) -> anyhow::Result<()>,
    /// Whether it starts: a version of Python or Node that is too old shows here.
    starts: fn(&Path) -> Command,
}

const CLIENTS: [Client; 4] = [
    Client {
        name: "mcp-python",
        needs: "python3",
        version: "2.3.0",
        install: install_python,
        starts: start_python,
    },
    Client {
        name: "mcp-inspector",
        needs: "npm",
        version: "2.12.0",
        install: install_inspector,
        starts: start_inspector,
    },
    Client {
        name: "mcp-server-filesystem",
        needs: "npm",
        version: "2026.8.31",
        install: install_filesystem,
        starts: start_filesystem,
    },
    Client {
        name: "mcp-server-git",
        needs: "python3",
        version: "2026.10.19",
        install: install_git,
        starts: start_git,
    },
];

/// The folder, and the clients that are there.
pub(crate) fn install() -> anyhow::Result<(PathBuf, Vec<&'static str>)> {
    let folder = target_dir()?.join("mcp-clients");
    let mut there = Vec::new();
    for client in &CLIENTS {
        match client.ensure(&folder) {
            Ok(()) => {
                println!("set-up: {} {} is there", client.name, client.version);
                there.push(client.name);
            }
            Err(error) => {
                println!("set-up: {} cannot be had; its tests will be skipped: {error:#}", client.name);
            }
        }
    }
    Ok((folder, there))
}

impl Client {
    fn ensure(&self, folder: &Path) -> anyhow::Result<()> {
        // Written last: what was interrupted begins anew.
        let done = folder.join(format!("{}-{}", self.name, self.version));
        if !done.is_file() {
            let found = quiet(Command::new(self.needs).arg("--version"));
            anyhow::ensure!(found, "it needs {}, which is not here", self.needs);
            fs::create_dir_all(folder)?;
            (self.install)(folder, self.version)?;
        }
        anyhow::ensure!(quiet(&mut (self.starts)(folder)), "it was installed, and does not start");
        fs::write(&done, "").context("cannot note that it is there")
    }
}

fn install_python(folder: &Path, version: &str) -> anyhow::Result<()> {
    install_from_pypi(&folder.join("python"), &format!("mcp=={version}"))
}

fn install_git(folder: &Path, version: &str) -> anyhow::Result<()> {
    install_from_pypi(&folder.join("servers-python"), &format!("mcp-server-git=={version}"))
}

fn install_from_pypi(venv: &Path, package: &str) -> anyhow::Result<()> {
    step(Command::new("python3").args(["-m", "venv", "--clear"]).arg(venv))
        .context("on Debian and its kin, the package python3-venv may be missing")?;
    let mut pip = Command::new(venv.join("bin/pip"));
    step(pip.args(["install", "--quiet", "--disable-pip-version-check", package]))
}

fn start_python(folder: &Path) -> Command {
    let mut command = Command::new(folder.join("python/bin/python"));
    command.args(["-c", "import mcp; mcp.Client"]);
    command
}

fn install_inspector(folder: &Path, version: &str) -> anyhow::Result<()> {
    install_from_npm(&folder.join("npm"), &format!("@modelcontextprotocol/inspector@{version}"))
}

fn install_filesystem(folder: &Path, version: &str) -> anyhow::Result<()> {
    install_from_npm(
        &folder.join("servers-npm"),
        &format!("@modelcontextprotocol/server-filesystem@{version}"),
    )
}

fn install_from_npm(to: &Path, package: &str) -> anyhow::Result<()> {
    let mut npm = Command::new("npm");
    npm.args(["install", "--no-audit", "--no-fund", "--ignore-scripts", "--silent", "--prefix"]).arg(to);
    step(npm.arg(package))
}

/// It is a server: at the end of its input it ends.
fn start_filesystem(folder: &Path) -> Command {
    let mut command = Command::new(folder.join("servers-npm/node_modules/.bin/mcp-server-filesystem"));
    command.arg(folder);
    command
}

fn start_git(folder: &Path) -> Command {
    let mut command = Command::new(folder.join("servers-python/bin/mcp-server-git"));
    command.arg("--help");
    command
}

fn start_inspector(folder: &Path) -> Command {
    let mut command = Command::new(folder.join("npm/node_modules/.bin/mcp-inspector"));
    command.args(["--cli", "--help"]);
    command
}

fn step(command: &mut Command) -> anyhow::Result<()> {
    println!("set-up: {}", shown(command));
    succeed(command)
}

fn quiet(command: &mut Command) -> bool {
    let command = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_that_does_not_start_is_not_there() {
        let folder = std::env::temp_dir().join(format!("skillsandbox-clients-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let client = Client {
            name: "x",
            needs: "sh",
            version: "1",
            install: |_, _| Ok(()),
            starts: |_| Command::new("/no/such/program"),
        };
        assert!(client.ensure(&folder).is_err());
        assert!(!folder.join("x-1").exists());
        let missing = Client { needs: "no-such-program-anywhere", ..client };
        assert!(missing.ensure(&folder).unwrap_err().to_string().contains("no-such-program-anywhere"));
        fs::remove_dir_all(&folder).unwrap();
    }
}
