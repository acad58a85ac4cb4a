//! What the tests of `run` and `exec` have in common: the command in a home of its own.

#![allow(dead_code, reason = "each test file uses some of it")]

pub(crate) mod notes;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// A home folder of a user who has never run anything.
pub(crate) struct Stage {
    folder: tempfile::TempDir,
}

impl Stage {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["home", "skill"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        Self { folder }
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join("home")
    }

    pub(crate) fn skill(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join("skill")
    }

    /// A shell skill: its declaration, without name and entrypoint, and its script.
    pub(crate) fn shell_skill(&self, declaration: &str, script: &str) -> PathBuf {
        let head = "skill: { name: tested, version: \"1.2.3\" }\nentrypoint: { command: sh, args: [main.sh, own] }\n";
        self.write("skill/skillsandbox.yaml", &format!("{head}{declaration}"));
        self.write("skill/SKILL.md", "---\nname: tested\ndescription: A skill for tests\n---\nRun it.\n");
        self.write("skill/main.sh", script);
        self.skill()
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.path().canonicalize().unwrap().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let program = std::env::var_os("SKILLSANDBOX");
        let program = program.unwrap_or_else(|| env!("CARGO_BIN_EXE_skillsandbox").into());
        let mut command = Command::new(program);
        command.args(arguments).env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin");
        command.env("HOME", self.home()).stdin(Stdio::null()).current_dir(self.home());
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// `run --format json` of the skill, with these flags, and its exit code.
    pub(crate) fn report(&self, flags: &[&str]) -> (Value, i32) {
        let skill = self.skill();
        let mut arguments = vec!["run", "--format", "json", skill.to_str().unwrap()];
        arguments.extend(flags);
        let output = self.run(&arguments);
        let report = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{error}: {} {}", text(&output.stdout), text(&output.stderr)));
        (report, output.status.code().unwrap())
    }

    /// The traces that were written where nobody said otherwise.
    pub(crate) fn traces(&self) -> Vec<PathBuf> {
        let folder = self.home().join(".local/state/skillsandbox/traces");
        fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path()).collect()
    }
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

pub(crate) fn code(output: &Output) -> i32 {
    output.status.code().unwrap_or_else(|| panic!("{output:?}"))
}

pub(crate) fn trace(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}
