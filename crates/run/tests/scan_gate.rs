//! What was scanned is what runs.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![cfg(target_os = "linux")]

use std::fs;
use std::path::{Path, PathBuf};

use skillsandbox_run::{
    LoadedSkill, OutputTarget, Refusal, RunOptions, RunReport, ScanAdmission, SkillCall, Unrecorded,
    UserPolicy, run_skill,
};

fn skill(above: &Path) -> PathBuf {
    let folder = above.join("skill");
    fs::create_dir_all(folder.join("data")).unwrap();
    let manifest = "skill: { name: s, version: '1' }\npermissions: { filesystem: { write: [\"${SKILL_DIR}/data\"] } }\n\
                    entrypoint: { command: sh, args: [main.sh] }\n";
    fs::write(folder.join("skillsandbox.yaml"), manifest).unwrap();
    fs::write(folder.join("main.sh"), "echo scanned; cat data/*\n").unwrap();
    fs::write(folder.join("data/notes"), "notes\n").unwrap();
    folder.canonicalize().unwrap()
}

/// Runs a skill that is changed after it was scanned and before it is mounted.
fn changed(folder: &Path, trace: &Path, change: impl FnOnce()) -> RunReport {
    let loaded = LoadedSkill::load(folder, &UserPolicy::none()).unwrap();
    let mut options = RunOptions::default();
    options.trace = Some(trace.to_owned());
    options.streams.stdout = OutputTarget::Kept;
    options.streams.stderr = OutputTarget::Kept;
    run_skill(&loaded, &SkillCall::default(), ScanAdmission::Required, &Unrecorded, |_| change(), options)
}

/// What somebody does to a skill's folder.
type Change<'c> = Box<dyn Fn(&Path) + 'c>;

#[test]
fn a_skill_that_is_changed_between_scan_and_run_is_not_run() {
    let above = tempfile::tempdir_in("/var/tmp").unwrap();
    let at = |name: &str| above.path().canonicalize().unwrap().join(name);
    let payload = "echo UNSCANNED\n";
    let changes: Vec<(&str, Change<'_>)> = vec![
        ("rewritten", Box::new(|folder| fs::write(folder.join("main.sh"), payload).unwrap())),
        (
            "replaced by a rename",
            Box::new(|folder| {
                fs::write(at("new.sh"), payload).unwrap();
                fs::rename(at("new.sh"), folder.join("main.sh")).unwrap();
            }),
        ),
        ("one more file", Box::new(|folder| fs::write(folder.join("sh"), payload).unwrap())),
        (
            "a file in a new folder",
            Box::new(|folder| {
                fs::create_dir(folder.join("lib")).unwrap();
                fs::write(folder.join("lib/x.sh"), payload).unwrap();
            }),
        ),
        (
            "a git folder, which no scan reads",
            Box::new(|folder| {
                fs::create_dir(folder.join(".git")).unwrap();
                fs::write(folder.join(".git/x.sh"), payload).unwrap();
            }),
        ),
        (
            "a link instead",
            Box::new(|folder| {
                fs::remove_file(folder.join("main.sh")).unwrap();
                std::os::unix::fs::symlink("data/notes", folder.join("main.sh")).unwrap();
            }),
        ),
        (
            "another mode",
            Box::new(|folder| {
                let mode = std::os::unix::fs::PermissionsExt::from_mode(0o6777);
                fs::set_permissions(folder.join("main.sh"), mode).unwrap();
            }),
        ),
        ("an empty folder more", Box::new(|folder| fs::create_dir(folder.join("lib")).unwrap())),
        (
            "a link that leads out",
            Box::new(|folder| std::os::unix::fs::symlink("/etc/hostname", folder.join("more")).unwrap()),
        ),
        (
            "the folder is another",
            Box::new(|folder| {
                fs::rename(folder, at("old")).unwrap();
                skill(&at(""));
                fs::write(folder.join("main.sh"), payload).unwrap();
            }),
        ),
    ];
    for (what, change) in changes {
        let _ = fs::remove_dir_all(at("old"));
        let _ = fs::remove_dir_all(at("skill"));
        let folder = skill(&at(""));
        let report = changed(&folder, &at("trace.json"), || change(&folder));
        let printed = String::from_utf8_lossy(&report.stdout.kept).into_owned();
        assert!(matches!(report.ended, Err(Refusal::Changed(_))), "{what}: {:?} {printed}", report.ended);
        assert!(printed.is_empty(), "{what}: {printed}");
        fs::remove_file(at("trace.json")).unwrap();
    }
    // The controls: unchanged it runs, and what it may write itself is its own to change.
    let _ = fs::remove_dir_all(at("skill"));
    let folder = skill(&at(""));
    let report =
        changed(&folder, &at("trace.json"), || fs::write(folder.join("data/notes"), "more notes\n").unwrap());
    assert_eq!(String::from_utf8_lossy(&report.stdout.kept), "scanned\nmore notes\n", "{:?}", report.ended);
}
