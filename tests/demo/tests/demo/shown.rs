//! The demo as a user starts it, and what it leaves behind.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::OnceLock;

use serde_json::Value;
use skillsandbox_demo::evidence::Evidence;

/// A program of the workspace: from a variable where the tests were copied away from the checkout, else where cargo puts it.
fn program(variable: &str, name: &str) -> PathBuf {
    let beside = || Path::new(env!("CARGO_BIN_EXE_skillsandbox-demo")).with_file_name(name);
    let path = std::env::var_os(variable).map_or_else(beside, PathBuf::from);
    assert!(path.is_file(), "{} is not there: run `cargo build --package {name}`", path.display());
    path
}

pub(crate) fn skillsandbox() -> PathBuf {
    program("SKILLSANDBOX", "skillsandbox")
}

/// `skillsandbox-demo …`, with a secret of the caller's in its environment that must go nowhere.
pub(crate) fn demo(arguments: &[&str]) -> Command {
    let mut command = Command::new(program("SKILLSANDBOX_DEMO", "skillsandbox-demo"));
    command
        .args(arguments)
        .env("SKILLSANDBOX", skillsandbox())
        .env("REAL_SECRET_TOKEN", REAL)
        .stdin(Stdio::null());
    command
}

/// A secret that is not planted.
pub(crate) const REAL: &str = "a-real-secret-of-the-caller";

/// A demo that was played, with the folder it kept.
pub(crate) struct Shown {
    status: ExitStatus,
    pub(crate) text: String,
    folder: tempfile::TempDir,
}

impl Shown {
    /// One that was played for all tests of this process.
    pub(crate) fn once() -> &'static Self {
        static SHOWN: OnceLock<Shown> = OnceLock::new();
        let shown = SHOWN.get_or_init(|| Self::play(None));
        assert_eq!(shown.code(), Some(0), "{}", shown.text);
        shown
    }

    /// Plays it, with another program in the place of `skillsandbox` where one is given.
    pub(crate) fn play(program: Option<&Path>) -> Self {
        let folder = tempfile::Builder::new().prefix("demo-test-").tempdir().unwrap();
        let kept = folder.path().join("kept");
        let mut command = demo(&["--keep", kept.to_str().unwrap()]);
        if let Some(program) = program {
            command.arg("--skillsandbox").arg(program);
        }
        let output = command.output().unwrap();
        let text =
            String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        Self { status: output.status, text, folder }
    }

    pub(crate) fn code(&self) -> Option<i32> {
        self.status.code()
    }

    pub(crate) fn kept(&self, name: &str) -> PathBuf {
        self.folder.path().join("kept").join(name)
    }

    pub(crate) fn read(&self, name: &str) -> String {
        let path = self.kept(name);
        std::fs::read_to_string(&path)
            .unwrap_or_else(|error| panic!("{}: {error}\n{}", path.display(), self.text))
    }

    pub(crate) fn evidence(&self) -> Evidence {
        serde_json::from_str(&self.read("evidence.json")).unwrap()
    }

    /// A trace, as JSON that nothing of ours has read.
    pub(crate) fn trace(&self, name: &str) -> Value {
        serde_json::from_str(&self.read(&format!("traces/{name}.json"))).unwrap()
    }

    /// Lines of the sink's record, as they are.
    pub(crate) fn record(&self) -> Vec<String> {
        self.read("sink.ndjson").lines().map(str::to_owned).collect()
    }

    /// A line of the table: its four cells.
    pub(crate) fn row(&self, what: &str) -> Vec<String> {
        let is_it = |line: &&str| line.get(8..).is_some_and(|rest| rest.starts_with(what));
        let line = self.text.lines().find(is_it).unwrap_or_else(|| panic!("no row {what}:\n{}", self.text));
        let cells = line[8..].split("  ").map(str::trim).filter(|cell| !cell.is_empty());
        cells.map(str::to_owned).collect()
    }
}
