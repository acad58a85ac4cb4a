//! Inspecting a plan says what a run would have, makes nothing and executes nothing.
// A test may fail by panicking.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use skillsandbox_enforcer::{
    Command, Error, Layer, PathAccess, PathSource, Plan, PlanInspection, PlanProblem, SyscallProfile,
};

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

/// Everything below a folder, with its kind and content.
fn picture(folder: &Path) -> Vec<String> {
    let mut lines = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            let kind = fs::symlink_metadata(&path).unwrap().file_type();
            lines.push(format!("{} {kind:?} {:?}", path.display(), fs::read(&path).ok()));
            if kind.is_dir() {
                folders.push(path);
            }
        }
    }
    lines.sort();
    lines
}

fn granted<'a>(
    inspection: &'a PlanInspection,
    path: &Path,
) -> Option<&'a skillsandbox_enforcer::GrantedPath> {
    inspection.grants.iter().find(|grant| grant.path == path)
}

#[test]
fn a_plan_is_shown_as_it_would_be_carried_out_and_nothing_is_made() {
    let own = folder();
    let root = own.path().canonicalize().unwrap();
    fs::create_dir_all(root.join("read/secret")).unwrap();
    fs::write(root.join("read/secret/key"), "x").unwrap();
    symlink(root.join("read"), root.join("name")).unwrap();
    let wanted = root.join("new/deep/folder");
    let marker = root.join("marker");
    let plan = Plan::builder()
        .read(root.join("name"))
        .write(&wanted)
        .forbid(root.join("read/secret"))
        .env("GREETING", "a value that is nobody's business")
        .memory(64 << 20)
        .syscalls(SyscallProfile::Strict)
        .no_exec()
        .best_effort(Layer::Landlock)
        .build()
        .unwrap();
    let before = picture(&root);
    let command = Command::new("/bin/sh").args(["-c", &format!("touch {}", marker.display())]);
    let inspection = plan.inspect(&command).unwrap();

    assert_eq!(picture(&root), before, "something was made");
    assert!(!marker.exists() && !root.join("new").exists());

    assert!(
        inspection.program.is_absolute() && inspection.program.ends_with("sh"),
        "{:?}",
        inspection.program
    );
    let read = granted(&inspection, &root.join("read")).unwrap();
    assert_eq!(
        (read.access, read.source, read.would_be_created),
        (PathAccess::Read, PathSource::Plan, false)
    );
    let write = granted(&inspection, &wanted).unwrap();
    assert_eq!(
        (write.access, write.source, write.would_be_created),
        (PathAccess::Write, PathSource::Plan, true)
    );
    let usr = granted(&inspection, Path::new("/usr")).unwrap();
    assert_eq!((usr.access, usr.source), (PathAccess::Read, PathSource::System));
    assert!(
        inspection
            .links
            .iter()
            .any(|link| link.path == root.join("name") && link.target == root.join("read"))
    );
    assert_eq!(inspection.masked, [root.join("read/secret")]);
    assert_eq!(inspection.limits.memory, Some(64 << 20));
    assert_eq!(inspection.profile, SyscallProfile::Strict);
    assert!(inspection.no_exec);
    assert_eq!(inspection.best_effort, [Layer::Landlock]);
    for name in ["GREETING", "HOME", "PATH"] {
        assert!(inspection.variables.iter().any(|variable| variable == name), "{name}");
    }
    let json = serde_json::to_string(&inspection).unwrap();
    assert!(!json.contains("nobody's business"), "{json}");
    assert!(!format!("{inspection:?}").contains("nobody's business"));
}

/// Where a run would be refused, so is the look, and in the same words.
#[test]
fn what_a_run_refuses_the_look_refuses() {
    let own = folder();
    let root = own.path().canonicalize().unwrap();
    fs::write(root.join("file"), "x").unwrap();
    let new = root.join("new");
    let command = Command::new("/bin/sh");
    let build = |plan: skillsandbox_enforcer::PlanBuilder| plan.build().unwrap();
    let plans = [
        ("a forbidden file that could be made", build(Plan::builder().write(&new).forbid(new.join("a/b")))),
        ("a grant below a file", build(Plan::builder().write(root.join("file/below")))),
        ("a read grant that is not there", build(Plan::builder().read(&new))),
        ("a working directory that is in no grant", build(Plan::builder().workdir(&root))),
    ];
    for (name, plan) in plans {
        let looked = plan.inspect(&command).err().map(|error| error.to_string());
        assert!(!new.exists(), "{name}: something was made");
        let ran = plan.spawn(&command).err().map(|error| error.to_string());
        assert!(looked.is_some(), "{name}: the look did not refuse");
        assert_eq!(looked, ran, "{name}");
        let _ = fs::remove_dir(&new);
    }
    let through_link = root.join("link");
    symlink("/proc", &through_link).unwrap();
    let plan = build(Plan::builder().write(through_link.join("new/folder")));
    let refused = plan.inspect(&command);
    assert!(matches!(refused, Err(Error::Plan(PlanProblem::Own(_)))), "{refused:?}");
}
