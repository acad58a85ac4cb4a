//! Set-up of a fresh machine: the one C library the workspace builds on, libseccomp; and for the tests, the programs without
//! which a good part of them would have nothing to confine.
//!
//! Looks first, installs only what is missing, says what it does, and where it cannot, says what to type.

use std::collections::HashMap;
use std::fs;
use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail};

use crate::ordinary;
use crate::workspace::{shown, succeed, target_dir};

/// Variables that tell the build where the library is.
pub(crate) type Environment = HashMap<&'static str, PathBuf>;

/// A package manager, and what it calls libseccomp with its headers and, where it has one, the static archive.
struct Manager {
    program: &'static str,
    install: &'static [&'static str],
    packages: &'static [&'static str],
    refresh: &'static [&'static str],
    /// What it calls [`PROGRAMS`], and what they need to be of use.
    programs: &'static [&'static str],
    /// What it calls Python's installer.
    pip: &'static str,
}

/// Programs that the tests of the sandbox may count on. `strace` is an oracle, two make networks to test in; those after them are ordinary programs of which nobody should
/// be told anything.
const PROGRAMS: [&str; 21] = [
    "python3", "git", "gcc", "curl", "openssl", "strace", "unshare", "ip", "make", "jq", "sqlite3", "zip",
    "unzip", "file", "patch", "rsync", "less", "xz", "bzip2", "tree", "bc",
];
/// Besides where an ordinary user looks: some distributions keep `ip` where only root does.
const ROOTS_PATH: &str = "/usr/sbin:/sbin";

const MANAGERS: &[Manager] = &[
    Manager {
        program: "apt-get",
        install: &["install", "--yes", "--no-install-recommends"],
        packages: &["libseccomp-dev"],
        refresh: &["update"],
        programs: &[
            "python3",
            "python3-venv",
            "git",
            "gcc",
            "libc6-dev",
            "curl",
            "openssl",
            "strace",
            "util-linux",
            "iproute2",
            "make",
            "jq",
            "sqlite3",
            "zip",
            "unzip",
            "file",
            "patch",
            "rsync",
            "less",
            "xz-utils",
            "bzip2",
            "tree",
            "bc",
        ],
        pip: "python3-pip",
    },
    Manager {
        program: "dnf",
        install: &["install", "--assumeyes"],
        packages: &["libseccomp-devel", "libseccomp-static"],
        refresh: &[],
        programs: &[
            "python3",
            "git",
            "gcc",
            "curl",
            "openssl",
            "strace",
            "util-linux",
            "iproute",
            "make",
            "jq",
            "sqlite",
            "zip",
            "unzip",
            "file",
            "patch",
            "rsync",
            "less",
            "xz",
            "bzip2",
            "tree",
            "bc",
        ],
        pip: "python3-pip",
    },
    Manager {
        program: "pacman",
        install: &["--sync", "--noconfirm", "--needed"],
        packages: &["libseccomp"],
        refresh: &["--sync", "--refresh"],
        programs: &[
            "python",
            "git",
            "gcc",
            "curl",
            "openssl",
            "strace",
            "util-linux",
            "iproute2",
            "make",
            "jq",
            "sqlite",
            "zip",
            "unzip",
            "file",
            "patch",
            "rsync",
            "less",
            "xz",
            "bzip2",
            "tree",
            "bc",
        ],
        pip: "python-pip",
    },
    Manager {
        program: "apk",
        install: &["add"],
        packages: &["libseccomp-dev", "libseccomp-static"],
        refresh: &["update"],
        programs: &[
            "python3",
            "git",
            "gcc",
            "musl-dev",
            "curl",
            "openssl",
            "strace",
            "util-linux",
            "iproute2",
            "make",
            "jq",
            "sqlite",
            "zip",
            "unzip",
            "file",
            "patch",
            "rsync",
            "less",
            "xz",
            "bzip2",
            "tree",
            "bc",
        ],
        pip: "py3-pip",
    },
    Manager {
        program: "zypper",
        install: &["--non-interactive", "install"],
        packages: &["libseccomp-devel"],
        refresh: &["--non-interactive", "refresh"],
        programs: &[
            "python3",
            "git",
            "gcc",
            "curl",
            "openssl",
            "strace",
            "util-linux",
            "iproute2",
            "make",
            "jq",
            "sqlite3",
            "zip",
            "unzip",
            "file",
            "patch",
            "rsync",
            "less",
            "xz",
            "bzip2",
            "tree",
            "bc",
        ],
        pip: "python3-pip",
    },
];

/// Finds libseccomp or installs it; the result is the environment to build in.
pub(crate) fn run() -> anyhow::Result<Environment> {
    if !cfg!(target_os = "linux") {
        println!("set-up: this is not Linux, so no C library is needed");
        return Ok(Environment::new());
    }
    let unpacked = target_dir()?.join("libseccomp");
    if let Some(found) = Library::find(&unpacked) {
        println!("set-up: libseccomp is there ({})", found.description());
        return Ok(found.environment());
    }
    println!("set-up: the headers of libseccomp are missing");
    install(&unpacked)?;
    let found =
        Library::find(&unpacked).context("libseccomp was installed, but its headers are still not found")?;
    println!("set-up: libseccomp is there now ({})", found.description());
    Ok(found.environment())
}

/// Finds or installs [`PROGRAMS`], where an ordinary user finds them too; the result is those that the tests may require.
pub(crate) fn programs() -> anyhow::Result<Vec<&'static str>> {
    let missing = || -> Vec<&str> {
        let folders = || std::env::split_paths(ordinary::PATH).chain(std::env::split_paths(ROOTS_PATH));
        let found = |program: &str| folders().any(|folder| folder.join(program).is_file());
        PROGRAMS.into_iter().filter(|program| !found(program)).collect()
    };
    let before = missing();
    if before.is_empty() || !cfg!(target_os = "linux") {
        println!("set-up: {} are there", PROGRAMS.join(", "));
        return Ok(PROGRAMS.to_vec());
    }
    println!("set-up: for the tests, {} are missing", before.join(", "));
    let manager = MANAGERS.iter().find(|manager| on_path(manager.program));
    if is_root() {
        let manager = manager.with_context(|| format!("install {}", before.join(", ")))?;
        manager.install_packages(true, manager.programs)?;
        let after = missing();
        if !after.is_empty() {
            bail!("{} were installed, but are not in {}", after.join(", "), ordinary::PATH);
        }
    } else if let Some(manager) = manager {
        // Not worth a password: libseccomp is needed to build, these only to try more.
        println!(
            "set-up: tests that need them will be skipped; as root, run: {}",
            manager.shown(manager.programs)
        );
    }
    let after = missing();
    Ok(PROGRAMS.into_iter().filter(|program| !after.contains(program)).collect())
}

pub(crate) fn is_root() -> bool {
    nix::unistd::geteuid().is_root()
}

/// As root: Python's installer, by whatever package manager is here. Whether it worked is seen by looking for it.
pub(crate) fn install_pip() {
    if let Some(manager) = MANAGERS.iter().find(|manager| on_path(manager.program)) {
        let _ = manager.install_packages(true, &[manager.pip]);
    }
}

/// As root: a package, where this is the package manager.
pub(crate) fn install_if_known(program: &str, package: &str) {
    if let Some(manager) = MANAGERS.iter().find(|manager| manager.program == program && on_path(program)) {
        let _ = manager.install_packages(true, &[package]);
    }
}

/// libseccomp as the C compiler finds it.
#[derive(Debug, PartialEq)]
struct Library {
    /// The folder of `libseccomp.a`; without it the binary needs the shared library where it runs.
    archive_dir: Option<PathBuf>,
}

impl Library {
    fn find(unpacked: &Path) -> Option<Self> {
        let local_header = unpacked.join("usr/include");
        let header = has_header(None) || (local_header.is_dir() && has_header(Some(&local_header)));
        header.then(|| Self { archive_dir: archive_dir().or_else(|| unpacked_archive(unpacked)) })
    }

    fn environment(&self) -> Environment {
        let Some(dir) = &self.archive_dir else {
            return Environment::new();
        };
        // Both are needed: the crate links the shared library unless told otherwise (docs.rs/libseccomp).
        HashMap::from([
            ("LIBSECCOMP_LINK_TYPE", PathBuf::from("static")),
            ("LIBSECCOMP_LIB_PATH", dir.clone()),
        ])
    }

    fn description(&self) -> String {
        match &self.archive_dir {
            Some(dir) => format!("static, in {}", dir.display()),
            None => "shared only: the binary will need libseccomp.so.2 where it runs".to_owned(),
        }
    }
}

/// Asks the preprocessor, which knows every place headers may be.
fn has_header(extra: Option<&Path>) -> bool {
    let mut cc = Command::new("cc");
    cc.args(["-E", "-x", "c", "-"]).args(extra.iter().map(|dir| format!("-I{}", dir.display())));
    cc.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let Ok(mut child) = cc.spawn() else { return false };
    let written = child.stdin.take().map(|mut stdin| stdin.write_all(b"#include <seccomp.h>\n"));
    let ended = child.wait();
    written.is_some_and(|result| result.is_ok()) && ended.is_ok_and(|status| status.success())
}

fn archive_dir() -> Option<PathBuf> {
    let output = Command::new("cc").arg("-print-file-name=libseccomp.a").output().ok()?;
    let path = PathBuf::from(String::from_utf8(output.stdout).ok()?.trim());
    // The compiler answers with the bare name where it finds nothing.
    let found = path.is_absolute() && path.is_file();
    found.then(|| path.canonicalize().ok()?.parent().map(Path::to_owned)).flatten()
}

fn unpacked_archive(unpacked: &Path) -> Option<PathBuf> {
    let lib = fs::read_dir(unpacked.join("usr/lib")).ok()?;
    lib.filter_map(Result::ok).map(|entry| entry.path()).find(|dir| dir.join("libseccomp.a").is_file())
}

fn install(unpacked: &Path) -> anyhow::Result<()> {
    let Some(manager) = MANAGERS.iter().find(|manager| on_path(manager.program)) else {
        let names = MANAGERS.iter().map(|m| format!("{} ({})", m.packages.join(" "), m.program));
        bail!(
            "no package manager known here; install the development files of libseccomp: {}",
            names.collect::<Vec<_>>().join(", ")
        );
    };
    let root = is_root();
    if root || on_path("sudo") {
        let result = manager.install_packages(root, manager.packages);
        if result.is_ok() || manager.program != "apt-get" {
            return result.with_context(|| manager.by_hand());
        }
        println!("set-up: that did not work; trying without root");
    }
    if manager.program == "apt-get" && on_path("dpkg-deb") {
        return unpack_debian(unpacked).with_context(|| manager.by_hand());
    }
    bail!("{}", manager.by_hand())
}

impl Manager {
    fn by_hand(&self) -> String {
        format!("libseccomp could not be installed; as root, run: {}", self.shown(self.packages))
    }

    fn shown(&self, packages: &[&str]) -> String {
        format!("{} {} {}", self.program, self.install.join(" "), packages.join(" "))
    }

    fn install_packages(&self, root: bool, packages: &[&str]) -> anyhow::Result<()> {
        let install: Vec<&str> = self.install.iter().chain(packages).copied().collect();
        let first = succeed_shown(&mut self.command(root, &install));
        if first.is_ok() || self.refresh.is_empty() {
            return first;
        }
        println!("set-up: the package list may be old; refreshing it");
        succeed_shown(&mut self.command(root, self.refresh))?;
        succeed_shown(&mut self.command(root, &install))
    }

    fn command(&self, root: bool, args: &[&str]) -> Command {
        let mut command = if root {
            Command::new(self.program)
        } else {
            let mut sudo = Command::new("sudo");
            // Without a terminal nobody could type a password.
            sudo.args((!std::io::stdin().is_terminal()).then_some("-n")).arg(self.program);
            sudo
        };
        command.args(args).env("DEBIAN_FRONTEND", "noninteractive");
        command
    }
}

/// Debian and its kin without root: the package's files, unpacked under target/.
fn unpack_debian(unpacked: &Path) -> anyhow::Result<()> {
    let downloads = unpacked.join("download");
    fs::create_dir_all(&downloads)?;
    succeed_shown(Command::new("apt-get").args(["download", "libseccomp-dev"]).current_dir(&downloads))?;
    let package = fs::read_dir(&downloads)?.filter_map(Result::ok).map(|entry| entry.path());
    let package =
        package.into_iter().find(|path| path.extension().is_some_and(|extension| extension == "deb"));
    let package = package.context("apt-get download left no package")?;
    succeed_shown(Command::new("dpkg-deb").arg("--extract").arg(package).arg(unpacked))
}

pub(crate) fn succeed_shown(command: &mut Command) -> anyhow::Result<()> {
    println!("set-up: {}", shown(command));
    succeed(command)
}

fn on_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|dir| dir.join(program).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_manager_says_what_to_type() {
        for manager in MANAGERS {
            let text = manager.by_hand();
            assert!(text.contains(manager.program) && text.contains("libseccomp"), "{text}");
        }
    }

    #[test]
    fn an_archive_is_linked_statically_and_nothing_is_set_without_one() {
        let found = Library { archive_dir: Some("/lib/x".into()) };
        assert_eq!(found.environment()["LIBSECCOMP_LINK_TYPE"], Path::new("static"));
        assert_eq!(found.environment()["LIBSECCOMP_LIB_PATH"], Path::new("/lib/x"));
        assert!(Library { archive_dir: None }.environment().is_empty());
    }

    #[test]
    fn unpacked_packages_are_found_below_the_multiarch_folder() {
        let dir = std::env::temp_dir().join(format!("skillsandbox-xtask-{}", std::process::id()));
        let lib = dir.join("usr/lib/x86_64-linux-gnu");
        fs::create_dir_all(&lib).unwrap();
        assert_eq!(unpacked_archive(&dir), None);
        fs::write(lib.join("libseccomp.a"), "").unwrap();
        assert_eq!(unpacked_archive(&dir), Some(lib));
        fs::remove_dir_all(&dir).unwrap();
    }
}
