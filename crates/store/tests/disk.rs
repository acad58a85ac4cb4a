//! A disk that is full: a clear error, and nothing lost.
#![cfg(target_os = "linux")]
// A test may fail by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::fs;
use std::path::Path;
use std::process::Command;

use common::{Stage, document};
use skillsandbox_store::{
    Approval, AuditScope, DeclineReviewer, Error, InstallOutcome, SkillSource, Store, StoreLayout,
};

const HELPER: &str = "SKILLSANDBOX_STORE_SMALL_DISK";

fn install(store: &Path, skill: &Path) -> Result<InstallOutcome, Error> {
    let store = Store::new(StoreLayout::new(store));
    store
        .install(SkillSource::Local(skill.to_owned()), Approval::Ask, &mut DeclineReviewer)
        .map(|outcome| outcome.done)
}

/// Fills a disk step by step until an installation fails, and looks at what is left. Not a test: the next one starts it where a small
/// disk is mounted.
#[test]
#[ignore = "started by the test below"]
fn on_a_small_disk() {
    let Some(given) = std::env::var_os(HELPER) else { return };
    let dir = Path::new(&given);
    let (disk, skills) = (dir.join("disk"), dir.join("skills"));
    let root = disk.join("store");
    assert_eq!(install(&root, &skills.join("small")).unwrap(), InstallOutcome::Installed);
    let layout = StoreLayout::new(&root);
    let lock = fs::read_to_string(layout.lock_file()).unwrap();
    let mut failed = 0;
    // Each time a little less room, so that another write is the one that fails.
    for round in 0..24 {
        let free = rest(&disk);
        let leave = 4096 * round;
        let filler = disk.join("filler");
        fs::write(&filler, vec![b'x'; usize::try_from(free.saturating_sub(leave)).unwrap()]).unwrap();
        match install(&root, &skills.join("large")) {
            Ok(done) => {
                assert_eq!(done, InstallOutcome::Installed, "round {round}");
                Store::new(layout.clone()).remove("large").unwrap();
            }
            Err(Error::NoRoom { path }) => {
                failed += 1;
                assert!(path.starts_with(&disk), "{}", path.display());
                assert_eq!(fs::read_to_string(layout.lock_file()).unwrap(), lock, "round {round}");
                assert!(!layout.skills().join("large").exists(), "round {round}");
            }
            Err(other) => panic!("round {round}: {other}"),
        }
        fs::remove_file(&filler).unwrap();
        // With room again, everything is as it was, and goes on.
        let audit = Store::new(layout.clone()).audit(&AuditScope::Everything, &|_| {}, &|| {}).unwrap();
        assert!(audit.clean && audit.skills.len() == 1, "round {round}: {audit:#?}");
        let rows = fs::read_to_string(layout.index()).unwrap();
        assert!(rows.ends_with("|\n"), "round {round}: half a row");
    }
    assert!(failed >= 5, "the disk was full only {failed} times");
    println!("full {failed} times of 24");
}

fn rest(disk: &Path) -> u64 {
    let stat = rustix::fs::statvfs(disk).unwrap();
    stat.f_bavail * stat.f_frsize
}

#[test]
fn a_full_disk_is_a_clear_error_and_nothing_is_lost() {
    let stage = Stage::new();
    let dir = stage.dir.path().canonicalize().unwrap();
    fs::create_dir(dir.join("disk")).unwrap();
    stage.write("skills/small/SKILL.md", document("small", "Keep them."));
    stage.write("skills/large/SKILL.md", document("large", "Keep them."));
    for number in 0..6 {
        stage.write(&format!("skills/large/{number}.md"), "Keep notes short. ".repeat(400));
    }
    // A namespace of its own, in which a small disk can be mounted.
    let script = "mount -t tmpfs -o size=1m none \"$1/disk\" || exit 77; shift; exec \"$@\"";
    let own = std::env::current_exe().unwrap();
    let output = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "sh", "-c", script, "sh"])
        .arg(&dir)
        .arg(own)
        .args(["--exact", "on_a_small_disk", "--ignored", "--nocapture"])
        .env(HELPER, &dir)
        .output()
        .expect("unshare is part of util-linux");
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if output.status.code() == Some(77) || err.contains("unshare failed") {
        eprintln!("SKIPPED: no disk can be mounted here: {err}");
        return;
    }
    assert!(output.status.success(), "{out}\n{err}");
    assert!(out.contains("full "), "{out}");
}
