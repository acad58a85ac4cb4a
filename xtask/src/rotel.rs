//! A collector of OpenTelemetry, for the tests of the export: rotel, one program from the Python package index, below the target folder.
//!
//! Nothing of the product needs it. Where it cannot be had, the tests that want it are left out, and that is listed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::setup;
use crate::workspace::{output, root, target_dir};

/// What tests know it by, in `SKILLSANDBOX_REQUIRE`.
pub(crate) const NAME: &str = "rotel-agent";
/// Tells tests where it is.
pub(crate) const VARIABLE: &str = "SKILLSANDBOX_ROTEL";
/// Which version, and the hash of every file that it may be.
const PINNED: &str = "xtask/rotel.txt";

/// Finds or installs it. `None` where it cannot be had here; why was said.
pub(crate) fn find() -> anyhow::Result<Option<PathBuf>> {
    let folder = target_dir()?.join("rotel");
    // It lies beside the Python that would start it, and needs none to be started; but the library of one.
    let program = folder.join("rotel").join(NAME);
    if is_pinned(&folder) && works(&program) {
        println!("set-up: {NAME} is there ({})", program.display());
        return Ok(Some(program));
    }
    if !cfg!(target_os = "linux") {
        println!("set-up: {NAME} is tested against on Linux only");
        return Ok(None);
    }
    println!("set-up: for the tests, {NAME} is missing");
    if !Pip::find().is_some_and(|pip| install(&pip, &folder)) {
        println!("set-up: {NAME} cannot be installed; tests that need it will be skipped");
        return Ok(None);
    }
    if !works(&program) && setup::is_root() {
        // The package of Python has the interpreter only.
        let version =
            output(Command::new("python3").args(["-c", "import sys; print(sys.version_info.minor)"]))?;
        setup::install_if_known("apt-get", &format!("libpython3.{}", version.trim()));
    }
    if !works(&program) {
        println!("set-up: {NAME} does not start here; tests that need it will be skipped");
        return Ok(None);
    }
    println!("set-up: {NAME} is there now ({})", program.display());
    Ok(Some(program))
}

/// Whether what is there was installed by the list as it is now.
fn is_pinned(folder: &Path) -> bool {
    let now = fs::read(root().join(PINNED)).ok();
    now.is_some() && fs::read(folder.join("pinned.txt")).ok() == now
}

fn works(program: &Path) -> bool {
    program.is_file() && succeeds(Command::new(program).arg("--version"))
}

fn succeeds(command: &mut Command) -> bool {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Python's installer.
enum Pip {
    /// A part of the Python that is here.
    OfPython,
    /// In an environment of its own.
    Own(PathBuf),
}

impl Pip {
    /// One that is there, one that needs no root to be had, or one that root may install.
    fn find() -> Option<Self> {
        if Self::OfPython.works() {
            return Some(Self::OfPython);
        }
        let place = target_dir().ok()?.join("rotel-pip");
        let own = Self::Own(place.join("bin/pip"));
        if own.works() || (succeeds(Command::new("python3").args(["-m", "venv"]).arg(&place)) && own.works())
        {
            return Some(own);
        }
        if setup::is_root() {
            setup::install_pip();
        }
        Some(Self::OfPython).filter(Self::works)
    }

    fn works(&self) -> bool {
        succeeds(self.command().arg("--version"))
    }

    fn command(&self) -> Command {
        match self {
            Self::OfPython => {
                let mut command = Command::new("python3");
                command.args(["-m", "pip"]);
                command
            }
            Self::Own(program) => Command::new(program),
        }
    }
}

fn install(pip: &Pip, folder: &Path) -> bool {
    // Of an earlier, other version.
    let _ = fs::remove_dir_all(folder);
    let mut command = pip.command();
    command.args([
        "install",
        "--quiet",
        "--no-deps",
        "--only-binary",
        ":all:",
        "--require-hashes",
        "--target",
    ]);
    command.arg(folder).arg("--requirement").arg(root().join(PINNED));
    // It is a folder of ours below the target folder: that root owns it is meant.
    command.env("PIP_ROOT_USER_ACTION", "ignore");
    setup::succeed_shown(&mut command).is_ok()
        && fs::copy(root().join(PINNED), folder.join("pinned.txt")).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_pinned() {
        let text = fs::read_to_string(root().join(PINNED)).unwrap();
        let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
        let (first, hashes) = lines.split_first().unwrap();
        assert!(first.starts_with("rotel=="), "{first}");
        assert!(hashes.len() >= 2);
        for hash in hashes {
            let digits = hash.trim().trim_end_matches(" \\").strip_prefix("--hash=sha256:").unwrap();
            assert!(digits.len() == 64 && digits.bytes().all(|byte| byte.is_ascii_hexdigit()), "{hash}");
        }
    }

    #[test]
    fn what_does_not_start_does_not_work() {
        assert!(!works(Path::new("/nowhere/rotel-agent")));
        assert!(!works(&root().join(PINNED)));
        assert!(works(Path::new("/bin/true")));
    }
}
