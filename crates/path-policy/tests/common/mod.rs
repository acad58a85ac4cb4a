//! A workspace to attack, and every way the policy may resolve paths in it.
#![allow(dead_code)] // each test file uses some of it

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, TargetArch};
use skillsandbox_path_policy::{PathPolicy, PathPolicyBuilder};

/// `<temp>/ws` is the workspace, `<temp>/outside` holds what must not be reached.
pub(crate) struct TreeAccess {
    pub(crate) dir: tempfile::TempDir,
}

impl TreeAccess {
    pub(crate) fn new() -> Self {
        let tree = Self { dir: tempfile::tempdir().unwrap() };
        for folder in ["ws/projects/a/b", "outside/deep", "database", "ws/.git"] {
            fs::create_dir_all(tree.dir.path().join(folder)).unwrap();
        }
        tree.file("outside/secret", "SECRET");
        tree.file("database/secret", "SECRET");
        tree.file("ws/projects/foo.md", "inside");
        tree.file("ws/projects/a/b/c.txt", "inside");
        tree.file("ws/.git/config", "inside");
        tree
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join(name)
    }

    pub(crate) fn text(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    pub(crate) fn file(&self, name: &str, content: &str) {
        fs::write(self.path(name), content).unwrap();
    }

    pub(crate) fn link(&self, target: impl AsRef<Path>, name: &str) {
        symlink(target, self.path(name)).unwrap();
    }

    pub(crate) fn builder(&self) -> PathPolicyBuilder {
        PathPolicy::builder().root(self.path("ws"))
    }

    pub(crate) fn policy(&self) -> PathPolicy {
        self.builder().build().unwrap()
    }
}

/// How a policy gets at the kernel.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Way {
    /// `openat2`.
    Openat2,
    /// The walk, because the builder says so.
    Walk,
    /// The walk, because the kernel says `ENOSYS`, as before 5.6.
    Enosys,
    /// The walk, because a filter says `EPERM`, as that of old container runtimes.
    Eperm,
    /// The walk, because the call went away after the policy was made.
    GoneLater,
}

/// Runs a test over every way. Where a filter is needed it runs in a thread of its own, whose filter dies with it.
pub(crate) fn each_way(test: impl Fn(&str, &dyn Fn(PathPolicyBuilder) -> PathPolicy) + Sync) {
    let test = &test;
    for way in [Way::Openat2, Way::Walk, Way::Enosys, Way::Eperm, Way::GoneLater] {
        std::thread::scope(|scope| {
            let thread = scope.spawn(move || {
                let name = format!("{way:?}");
                match way {
                    Way::Openat2 => test(&name, &|builder| builder.build().unwrap()),
                    Way::Walk => test(&name, &|builder| builder.without_openat2().build().unwrap()),
                    Way::Enosys | Way::Eperm => {
                        let errno = if matches!(way, Way::Enosys) { 38 } else { 1 };
                        refuse_calls(&[OPENAT2], errno);
                        test(&name, &|builder| builder.build().unwrap());
                    }
                    Way::GoneLater => test(&name, &|builder| {
                        let policy = builder.build().unwrap();
                        refuse_calls(&[OPENAT2], 38);
                        policy
                    }),
                }
            });
            thread.join().unwrap_or_else(|_| panic!("failed by way of {way:?}"));
        });
    }
}

/// The same number on every architecture (it is younger than the common table).
pub(crate) const OPENAT2: i64 = 437;

/// From now on these calls of this thread fail with this number.
pub(crate) fn refuse_calls(calls: &[i64], errno: u32) {
    let rules = calls.iter().map(|&call| (call, Vec::new())).collect();
    let arch: TargetArch = std::env::consts::ARCH.try_into().unwrap();
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, SeccompAction::Errno(errno), arch).unwrap();
    let program: BpfProgram = filter.try_into().unwrap();
    seccompiler::apply_filter(&program).unwrap();
}
