//! The store's own files: whatever somebody put in their place, nothing hangs, nothing is removed elsewhere, and an audit does not pass it.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use common::{BLOCKED, Stage, document};
use rustix::fs::{CWD, FileType, FlockOperation, flock, mknodat};
use skillsandbox_store::{
    AuditReport, AuditScope, Error, InstallOutcome, KEEP_REPORTS, Store, StoreLayout, index, page,
};

fn audit(stage: &Stage) -> AuditReport {
    stage.store().audit(&AuditScope::Everything, &|_| {}, &|| {}).unwrap()
}

fn pipe(path: &Path) {
    let _ = fs::remove_file(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    mknodat(CWD, path, FileType::Fifo, 0o600.into(), 0).unwrap();
}

/// Does it in a thread, and gives up on one that hangs: a generous bound that nothing is measured by.
fn ends<T: Send + 'static>(what: &str, does: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, told) = mpsc::channel();
    std::thread::spawn(move || done.send(does()));
    told.recv_timeout(Duration::from_mins(1)).unwrap_or_else(|_| panic!("{what} hangs"))
}

#[test]
fn audit_looks_at_the_whole_store_and_fails_for_a_skill_that_was_dropped_in() {
    let stage = Stage::new();
    stage.installed(&stage.skill("good", "Keep them."));
    assert!(audit(&stage).clean);
    let dropped = stage.root().join("skills/dropped");
    fs::create_dir(&dropped).unwrap();
    fs::write(dropped.join("SKILL.md"), document("dropped", BLOCKED)).unwrap();
    let found = audit(&stage);
    assert!(!found.clean && found.skills.iter().any(|skill| skill.name == "dropped" && skill.refused));
}

#[test]
fn audit_fails_for_a_lock_that_is_empty_or_missing_beside_skills() {
    for (what, does) in [
        ("emptied", (|lock| fs::write(lock, "").unwrap()) as fn(&Path)),
        ("without entries", |lock| fs::write(lock, "[]\n").unwrap()),
        ("blank", |lock| fs::write(lock, "\n \n").unwrap()),
        ("missing", |lock| fs::remove_file(lock).unwrap()),
    ] {
        let stage = Stage::new();
        // Nothing beside it: nothing is wrong.
        assert!(audit(&stage).clean);
        stage.installed(&stage.skill("good", "Keep them."));
        does(&stage.layout().lock_file());
        let found = audit(&stage);
        assert!(!found.clean, "{what}");
        assert!(found.problems.iter().any(|problem| problem.contains("packages.lock")), "{what}: {found:?}");
    }
}

#[test]
fn audit_finds_setuid_setgid_and_world_writable_bits() {
    let stage = Stage::new();
    let source = stage.skill("good", "Keep them.");
    fs::create_dir(source.join("lib")).unwrap();
    for name in ["run.sh", "lib/more.sh"] {
        fs::write(source.join(name), "echo\n").unwrap();
    }
    // They are not installed, whatever the source has.
    fs::set_permissions(source.join("run.sh"), fs::Permissions::from_mode(0o6777)).unwrap();
    fs::set_permissions(source.join("lib"), fs::Permissions::from_mode(0o777)).unwrap();
    stage.installed(&source);
    assert!(audit(&stage).clean);
    let installed = stage.root().join("skills/good");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    assert_eq!(mode(&installed.join("run.sh")) & 0o6022, 0);
    assert_eq!(mode(&installed.join("lib")) & 0o6022, 0);
    for (name, bits, says) in [
        ("run.sh", 0o4755, "setuid"),
        ("run.sh", 0o2755, "setgid"),
        ("run.sh", 0o757, "every user can change it"),
        ("lib/more.sh", 0o646, "every user can change it"),
        ("lib", 0o777, "every user can change it"),
        ("", 0o777, "every user can change it"),
    ] {
        let path = installed.join(name);
        fs::set_permissions(&path, fs::Permissions::from_mode(bits)).unwrap();
        let found = audit(&stage);
        assert!(
            !found.clean && found.skills[0].problems.iter().any(|problem| problem.contains(says)),
            "{name}: {found:?}"
        );
        // Installing again puts it right.
        assert_eq!(stage.install(&source).unwrap().done, InstallOutcome::Updated, "{name}");
        assert!(audit(&stage).clean, "{name}");
    }
    for place in [stage.root(), stage.root().join("skills"), stage.layout().lock_file()] {
        let before = mode(&place);
        fs::set_permissions(&place, fs::Permissions::from_mode(before | 0o002)).unwrap();
        assert!(!audit(&stage).clean, "{place:?}");
        fs::set_permissions(&place, fs::Permissions::from_mode(before)).unwrap();
    }
    assert!(audit(&stage).clean);
}

#[test]
fn a_pipe_in_the_place_of_a_file_of_the_store_is_an_error_and_not_waited_for() {
    let places: [fn(&StoreLayout) -> std::path::PathBuf; 6] = [
        StoreLayout::lock_file,
        StoreLayout::blocklist,
        StoreLayout::index,
        |layout| layout.root().join(".skillsandbox/lock"),
        |layout| layout.root().join(".skillsandbox/journal"),
        |layout| layout.root().join("skills/good/SKILL.md"),
    ];
    for (number, place) in places.into_iter().enumerate() {
        let stage = Stage::new();
        let source = stage.skill("good", "Keep them.");
        stage.installed(&source);
        pipe(&place(&stage.layout()));
        let layout = stage.layout();
        let clean = ends("audit", {
            let layout = layout.clone();
            move || {
                Store::new(layout).audit(&AuditScope::Everything, &|_| {}, &|| {}).map(|found| found.clean)
            }
        });
        assert!(!matches!(clean, Ok(true)), "{number}: {clean:?}");
        ends("list", {
            let layout = layout.clone();
            move || Store::new(layout).list().is_ok()
        });
        ends("reports", move || index(&layout, None).map(drop).is_ok());
    }
}

#[test]
fn a_linked_folder_of_the_store_never_leads_recovery_elsewhere() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path().canonicalize().unwrap();
    let victim = here.join("elsewhere");
    let precious = |below: &str| victim.join(below).join("staging/precious");
    let layouts: [(&str, StoreLayout, &str); 4] = [
        (".skillsandbox", StoreLayout::new(here.join("one")), ""),
        ("system", StoreLayout::system(here.join("two")), ".skillsandbox"),
        ("system/.skillsandbox", StoreLayout::system(here.join("three")), ""),
        ("security", StoreLayout::new(here.join("four")), "scan_reports"),
    ];
    for (name, layout, below) in layouts {
        fs::create_dir_all(precious(below)).unwrap();
        let link = layout.root().join(name);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink(&victim, &link).unwrap();
        let found = Store::new(layout).audit(&AuditScope::Everything, &|_| {}, &|| {});
        assert!(matches!(found, Err(Error::State { .. })), "{name}: {found:?}");
        assert!(precious(below).exists(), "{name}");
    }
}

#[test]
fn whoever_waits_for_the_store_is_told_and_waits_no_longer_than_was_said() {
    let stage = Stage::new();
    stage.installed(&stage.skill("good", "Keep them."));
    let lock = fs::File::open(stage.root().join(".skillsandbox/lock")).unwrap();
    flock(&lock, FlockOperation::LockExclusive).unwrap();
    let told = Arc::new(AtomicBool::new(false));
    let store = |seconds| {
        let told = Arc::clone(&told);
        stage
            .store()
            .wait_at_most(Duration::from_millis(seconds))
            .on_waiting(move || told.store(true, Ordering::SeqCst))
    };
    // Not at all: nobody has to be told.
    assert!(matches!(store(0).remove("good"), Err(Error::Busy { .. })));
    assert!(!told.load(Ordering::SeqCst));
    assert!(matches!(store(120).remove("good"), Err(Error::Busy { .. })));
    assert!(told.swap(false, Ordering::SeqCst));
    assert!(matches!(store(120).audit(&AuditScope::Everything, &|_| {}, &|| {}), Err(Error::Busy { .. })));
    assert!(told.load(Ordering::SeqCst));
    drop(lock);
    store(0).remove("good").unwrap();
}

#[test]
fn of_each_skill_only_the_newest_reports_are_kept_and_those_that_the_lock_names() {
    let stage = Stage::new();
    stage.installed(&stage.skill("good", "Keep them."));
    let named = stage.store().list().unwrap().get("good").unwrap().security_scan.report_path.clone();
    let reports = || fs::read_dir(stage.layout().reports()).unwrap().count();
    for _ in 0..5 {
        audit(&stage);
    }
    assert_eq!(reports(), 12, "a page and its JSON for each scan");
    assert_eq!(stage.store().prune_reports(2).unwrap(), 3);
    assert_eq!(reports(), 6);
    assert!(stage.root().join(&named).exists());
    // The index has a row for every page that is there, and each can be shown.
    let rows = index(&stage.layout(), None).unwrap();
    assert_eq!(rows.len(), 3);
    for row in &rows {
        assert!(!page(&stage.layout(), &row.scan_id).unwrap().is_empty());
    }
    // Without being asked for, too.
    for number in 0..KEEP_REPORTS + 10 {
        fs::write(stage.layout().reports().join(format!("good_20200101T000000Z-{number}.md")), "x").unwrap();
    }
    audit(&stage);
    assert!(reports() <= 2 * (KEEP_REPORTS + 1), "{}", reports());
    assert!(stage.root().join(&named).exists());
}

#[test]
fn no_report_is_ever_there_in_part() {
    let stage = Stage::new();
    stage.installed(&stage.skill("good", "Keep them."));
    // What a kill leaves behind is not taken for a page, and is in nobody's way.
    for left in ["good_20200101T000000Z.md.1.part", "good_20200101T000000Z.part"] {
        fs::write(stage.layout().reports().join(left), "").unwrap();
    }
    audit(&stage);
    for entry in fs::read_dir(stage.layout().reports()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "md" || ending == "json") {
            assert!(fs::metadata(&path).unwrap().len() > 0, "{path:?}");
        }
    }
}
