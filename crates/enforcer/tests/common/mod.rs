//! What the tests share: a plan with a time limit, a shell in it, and its outcome.
#![allow(dead_code, reason = "each test file uses a part of it")]

pub(crate) mod cases;

use std::path::{Path, PathBuf};
use std::time::Duration;

use skillsandbox_enforcer::{Command, Plan, PlanBuilder, RunOutcome};

#[allow(unused_imports)]
pub(crate) use skillsandbox_enforcer::PlanBuilder as Builder;

/// A plan that ends by itself.
pub(crate) fn plan() -> PlanBuilder {
    Plan::builder().timeout(Duration::from_mins(1))
}

/// Runs a shell script under a plan and captures what it says.
pub(crate) fn sh(plan: PlanBuilder, script: &str) -> RunOutcome {
    run(plan, &Command::new("/bin/sh").args(["-c", script]))
}

/// Runs a command under a plan and captures what it says.
pub(crate) fn run(plan: PlanBuilder, command: &Command) -> RunOutcome {
    let plan = plan.build().expect("the plan is sound");
    let running = plan.spawn(&command.clone().captured(1 << 20)).expect("the sandbox stands");
    running.wait().expect("the run is watched to its end")
}

/// What a script said, provided that it ended well.
pub(crate) fn output(plan: PlanBuilder, script: &str) -> String {
    let outcome = sh(plan, script);
    assert!(outcome.success(), "{outcome:?}\n{}", outcome.stderr.text());
    outcome.stdout.text().into_owned()
}

/// A folder of its own, with no link in its path, removed at the end.
pub(crate) struct Folder(tempfile::TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder"))
    }

    /// One that does not lie in /tmp, where every run has a folder of its own.
    pub(crate) fn outside_tmp() -> Self {
        Self(tempfile::tempdir_in("/var/tmp").expect("a temporary folder"))
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.0.path().canonicalize().expect("it exists")
    }

    /// A file in it, with its folders.
    pub(crate) fn file(&self, name: &str, content: &str) -> PathBuf {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().expect("it has a folder")).expect("a folder");
        std::fs::write(&path, content).expect("a file");
        path
    }

    /// A folder in it.
    pub(crate) fn folder(&self, name: &str) -> PathBuf {
        let path = self.path().join(name);
        std::fs::create_dir_all(&path).expect("a folder");
        path
    }
}

pub(crate) fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
