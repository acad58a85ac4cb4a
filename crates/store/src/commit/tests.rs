//! Changes that are killed, cut short, and made at once.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

use super::*;
use crate::lockfile::{LockEntry, PackagesLock, SecurityScan};
use crate::tree;

const HELPER: &str = "SKILLSANDBOX_STORE_CRASH";

/// A version of the skill: several files in several folders, all of which differ between versions.
fn version(number: u32) -> (SkillTree, LockEntry) {
    let mut tree = SkillTree::default();
    for file in 0..5 {
        let text = format!("{number} {file}").repeat(40);
        tree.insert(&format!("a/{file}/{number}.md"), text.into_bytes(), false).unwrap();
    }
    tree.insert("SKILL.md", format!("version {number}").into_bytes(), false).unwrap();
    let files = tree.hashes();
    let entry = LockEntry {
        name: "notes".to_owned(),
        version: number.to_string(),
        source: "local:/x".to_owned(),
        installed_to: "skills/notes".to_owned(),
        hash: tree::whole(&files),
        installed_at: String::new(),
        security_scan: SecurityScan {
            verdict: "SAFE".to_owned(),
            scan_id: String::new(),
            report_path: String::new(),
            scanned_at: String::new(),
        },
        resolved: None,
        forced: false,
        suppressed: Vec::new(),
        permissions: None,
        executable: Vec::new(),
        files,
        other: BTreeMap::new(),
    };
    (tree, entry)
}

fn put(layout: &StoreLayout, number: u32) -> Result<(), Error> {
    put_version(layout, version(number))
}

fn put_version(layout: &StoreLayout, (tree, entry): (SkillTree, LockEntry)) -> Result<(), Error> {
    put_held(&StoreGuard::take(layout, None, || {})?, (tree, entry))
}

/// With a store that is held already.
fn put_held(guard: &StoreGuard<'_>, (tree, entry): (SkillTree, LockEntry)) -> Result<(), Error> {
    let mut lock = LockText::read(guard.layout)?;
    lock.insert(&entry)?;
    guard.commit("skills/notes", &StoreChange::Folder(&tree), &lock)
}

fn take_away(layout: &StoreLayout) -> Result<(), Error> {
    let guard = StoreGuard::take(layout, None, || {})?;
    let mut lock = LockText::read(layout)?;
    lock.remove("notes");
    guard.commit("skills/notes", &StoreChange::Gone, &lock)
}

/// What is there, by the lock; and that the disk agrees with it to the byte.
#[track_caller]
fn state(layout: &StoreLayout) -> Option<String> {
    let lock = PackagesLock::read(layout).unwrap();
    let place = layout.skills().join("notes");
    let Some(entry) = lock.get("notes") else {
        assert!(!place.exists(), "it is not in the lock, and there");
        return None;
    };
    let found = crate::folder::read(&place).unwrap();
    assert_eq!((found.odd.len(), found.tree.hashes()), (0, entry.files.clone()));
    Some(entry.version.clone())
}

/// Installs, updates and removes without end, and says so before and after each. Not a test: the next one starts and kills it.
#[test]
#[ignore = "started by the test below"]
fn changes_without_end() {
    let Ok(given) = std::env::var(HELPER) else { return };
    let (round, root) = given.split_once(' ').unwrap();
    let (layout, first) = (StoreLayout::new(root), round.parse::<u32>().unwrap() * 100);
    let versions: Vec<_> = (first..first + 3).map(version).collect();
    for (number, version) in (first..).zip(versions) {
        if number % 3 == 2 {
            println!("\nwill -");
            take_away(&layout).unwrap();
            println!("\ndid -");
        } else {
            println!("\nwill {number}");
            put_version(&layout, version).unwrap();
            println!("\ndid {number}");
        }
    }
    // It is to be killed while it works, not to have ended.
    std::thread::sleep(Duration::from_mins(1));
}

#[test]
fn killed_at_200_points_it_is_the_old_state_or_the_new_one() {
    let dir = tempfile::tempdir().unwrap();
    let layout = StoreLayout::new(dir.path().join("store"));
    let name = concat!(module_path!(), "::changes_without_end");
    let name = name.split_once("::").unwrap().1;
    // How long a change takes here, so that the kills fall into it.
    let begin = Instant::now();
    for number in 0..5 {
        put_version(&layout, version(number)).unwrap();
    }
    let span = u64::try_from(begin.elapsed().as_micros()).unwrap();
    let (mut finished, mut undone, mut journals) = (0, 0, 0);
    let mut before = "4".to_owned();
    // A plain generator: the same points on every run, as far as a clock can be the same.
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    for round in 0..200 {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", name, "--ignored", "--nocapture"])
            .env(HELPER, format!("{} {}", round + 1, layout.root().display()))
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let first = lines.find(|line| line.starts_with("will ")).expect("the helper begins");
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        std::thread::sleep(Duration::from_micros(random % span));
        child.kill().unwrap();
        child.wait().unwrap();
        let rest: Vec<String> =
            lines.filter(|line| line.starts_with("will ") || line.starts_with("did ")).collect();
        // What is in the lock now, before anybody recovers, is whole.
        PackagesLock::read(&layout).unwrap_or_else(|error| panic!("round {round}: {error}"));
        journals += u32::from(layout.work().join("journal").exists());
        drop(StoreGuard::take(&layout, None, || {}).unwrap());
        let now = state(&layout).unwrap_or_else(|| "-".to_owned());
        let said: Vec<&str> = std::iter::once(&first).chain(&rest).map(String::as_str).collect();
        let last = |word: &str| said.iter().rev().find_map(|line| line.strip_prefix(word));
        let (will, did) = (last("will ").unwrap(), last("did "));
        // Either what was begun last, or what was there before it.
        let old = if did == Some(will) { will } else { did.unwrap_or(&before) };
        assert!(now == will || now == old, "round {round}: {now}, was {before}: {said:?}");
        if did != Some(will) {
            let count = if now == will { &mut finished } else { &mut undone };
            *count += 1;
        }
        before = now;
        let left: Vec<_> =
            fs::read_dir(layout.work()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, ["lock"], "round {round}");
    }
    println!("{finished} were finished, {undone} undone; {journals} died between the decision and its end");
    assert!(finished + undone > 20 && undone > 0, "few were killed at work: {finished} and {undone}");
}

/// Each step of a decided change, cut short after it: whoever comes next ends at the same state.
#[test]
fn recovery_goes_on_from_every_step() {
    for done in 0..4 {
        let dir = tempfile::tempdir().unwrap();
        let layout = StoreLayout::new(dir.path().join("store"));
        put(&layout, 1).unwrap();
        let (tree, entry) = version(2);
        let guard = StoreGuard::take(&layout, None, || {}).unwrap();
        let mut lock = LockText::read(&layout).unwrap();
        lock.insert(&entry).unwrap();
        let (work, name) = (layout.work(), uuid::Uuid::new_v4().to_string());
        let staged = work.join(STAGING).join(&name);
        guard.decide(&work, &name, &staged, "skills/notes", &StoreChange::Folder(&tree), &lock).unwrap();
        let (new, target) = (staged.join("new"), layout.skills().join("notes"));
        match done {
            0 => {}
            // As a file system does it that cannot exchange: the place is empty for a moment.
            1 => move_away(&target, &staged.join("old")).unwrap(),
            2 => place(&new, &target, &staged.join("old")).unwrap(),
            _ => {
                place(&new, &target, &staged.join("old")).unwrap();
                fs::rename(staged.join("packages.lock"), layout.lock_file()).unwrap();
            }
        }
        drop(guard);
        drop(StoreGuard::take(&layout, None, || {}).unwrap());
        assert_eq!(state(&layout).as_deref(), Some("2"), "after step {done}");
        // And a second time: there is nothing left to do.
        drop(StoreGuard::take(&layout, None, || {}).unwrap());
        assert_eq!(state(&layout).as_deref(), Some("2"));
    }
}

#[test]
fn a_journal_that_leads_elsewhere_is_not_followed() {
    let dir = tempfile::tempdir().unwrap();
    let layout = StoreLayout::new(dir.path().join("store"));
    put(&layout, 1).unwrap();
    fs::write(dir.path().join("victim"), "x").unwrap();
    for (staged, target) in [
        ("../..", "skills/notes"),
        ("550e8400-e29b-41d4-a716-446655440000", "../victim"),
        ("550e8400-e29b-41d4-a716-446655440000", "/etc/passwd"),
    ] {
        let text = format!("{{\"staged\":\"{staged}\",\"target\":\"{target}\",\"new\":null}}");
        fs::write(layout.work().join("journal"), text).unwrap();
        assert!(matches!(StoreGuard::take(&layout, None, || {}), Err(Error::State { .. })), "{target}");
    }
    assert_eq!(fs::read_to_string(dir.path().join("victim")).unwrap(), "x");
}

/// The skills lie on another disk than the rest: no rename leads there. The store is as it was, and can be used.
#[test]
fn what_cannot_be_carried_out_is_taken_back() {
    let dir = tempfile::tempdir().unwrap();
    let Ok(other) = tempfile::tempdir_in("/dev/shm") else {
        eprintln!("SKIPPED: there is no second disk at /dev/shm");
        return;
    };
    let same = fs::metadata(dir.path()).unwrap().dev() == fs::metadata(other.path()).unwrap().dev();
    if same {
        eprintln!("SKIPPED: /dev/shm is the same disk as the temporary folder");
        return;
    }
    let layout = StoreLayout::new(dir.path().join("store"));
    fs::create_dir(layout.root()).unwrap();
    // After the store was taken, which refuses links.
    let guard = StoreGuard::take(&layout, None, || {}).unwrap();
    std::os::unix::fs::symlink(other.path(), layout.skills()).unwrap();
    for _ in 0..2 {
        let error = put_held(&guard, version(1)).unwrap_err();
        assert!(matches!(error, Error::Io { .. }), "{error}");
        assert_eq!(state(&layout), None);
        assert!(!layout.work().join("journal").exists());
    }
    drop(guard);
    fs::remove_file(layout.skills()).unwrap();
    put(&layout, 2).unwrap();
    assert_eq!(state(&layout).as_deref(), Some("2"));
}

#[test]
fn two_take_turns() {
    let dir = tempfile::tempdir().unwrap();
    let layout = StoreLayout::new(dir.path().join("store"));
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let layout = &layout;
            scope.spawn(move || {
                for number in 0..10 {
                    put(layout, thread * 100 + number).unwrap();
                }
            });
        }
    });
    assert!(state(&layout).is_some());
    let held = StoreGuard::take(&layout, None, || {}).unwrap();
    let told = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        let second = scope.spawn(|| {
            let wait = || told.store(true, std::sync::atomic::Ordering::SeqCst);
            StoreGuard::take(&layout, None, wait).map(drop)
        });
        while !told.load(std::sync::atomic::Ordering::SeqCst) {
            std::thread::yield_now();
        }
        assert!(!second.is_finished());
        drop(held);
        second.join().unwrap().unwrap();
    });
}

#[test]
fn a_store_whose_own_folders_are_links_is_refused_and_nothing_behind_them_is_touched() {
    for name in [
        "skills",
        ".skillsandbox",
        ".skillsandbox/staging",
        ".skillsandbox/quarantine",
        ".skillsandbox/journal",
    ] {
        let dir = tempfile::tempdir().unwrap();
        let (root, elsewhere) = (dir.path().join("store"), dir.path().join("elsewhere"));
        fs::create_dir_all(elsewhere.join("kept")).unwrap();
        let link = root.join(name);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(&elsewhere, &link).unwrap();
        let layout = StoreLayout::new(&root);
        let error = StoreGuard::take(&layout, None, || {}).map(drop).unwrap_err().to_string();
        assert!(error.contains("symbolic link"), "{name}: {error}");
        assert!(elsewhere.join("kept").exists(), "{name}");
    }
}
