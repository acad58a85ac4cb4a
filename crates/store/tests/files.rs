//! Files that are not as they should be: nothing is written to them, and every message says what to do.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod records;

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Command;

use records::{all, entry, place};
use rusqlite::Connection;
use skillsandbox_store::history::{Error, Filter, History, Status};

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().permissions().mode() & 0o777
}

fn record(path: &Path) -> Result<(), Error> {
    History::open(path)?.record(&entry("a", 1, Status::Success))
}

fn count(path: &Path) -> usize {
    all(&History::read(path).unwrap().unwrap(), &Filter::default()).len()
}

#[test]
fn only_its_owner_reads_it() {
    let (_folder, path) = place();
    let history = History::open(&path).unwrap();
    assert_eq!(mode(path.parent().unwrap()), 0o700);
    for file in fs::read_dir(path.parent().unwrap()).unwrap() {
        let file = file.unwrap().path();
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
    drop(history);
    // Opened up since, it is closed again.
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    record(&path).unwrap();
    assert_eq!(mode(&path), 0o600);
}

#[test]
fn there_is_nothing_to_read_before_something_was_recorded() {
    let (_folder, path) = place();
    assert!(History::read(&path).unwrap().is_none());
    assert!(!path.parent().unwrap().exists(), "looking makes nothing");
}

#[test]
fn links_and_folders_of_others_are_refused() {
    let (folder, path) = place();
    let victim = folder.path().join("victim");
    fs::write(&victim, "precious").unwrap();
    fs::create_dir(path.parent().unwrap()).unwrap();
    let refused = |path: &Path, why: &str| {
        let error = record(path).unwrap_err();
        assert!(matches!(error, Error::Unsafe { .. }) && error.to_string().contains(why), "{error}");
        assert!(matches!(History::read(path), Err(Error::Unsafe { .. })));
        assert_eq!(fs::read(&victim).unwrap(), b"precious");
    };
    symlink(&victim, &path).unwrap();
    refused(&path, "symbolic link");
    fs::remove_file(&path).unwrap();
    symlink(folder.path().join("nowhere"), &path).unwrap();
    refused(&path, "symbolic link");
    assert!(!folder.path().join("nowhere").exists());
    fs::remove_file(&path).unwrap();
    fs::hard_link(&victim, &path).unwrap();
    refused(&path, "another name");
    fs::remove_file(&path).unwrap();
    // Opening it would wait for somebody to write to it.
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    refused(&path, "no file");
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    refused(&path, "no file");
    fs::remove_dir(&path).unwrap();
    fs::set_permissions(path.parent().unwrap(), fs::Permissions::from_mode(0o777)).unwrap();
    refused(&path, "changed by other users");
    fs::set_permissions(path.parent().unwrap(), fs::Permissions::from_mode(0o700)).unwrap();
    let link = folder.path().join("link");
    symlink(path.parent().unwrap(), &link).unwrap();
    refused(&link.join("history.db"), "symbolic link");
    // Further up, a link is the owner's own business.
    let above = folder.path().join("above");
    symlink(folder.path().canonicalize().unwrap(), &above).unwrap();
    record(&above.join("state/history.db")).unwrap();
    assert_eq!(count(&path), 1);
}

#[test]
fn links_beside_it_are_not_followed() {
    let (folder, path) = place();
    record(&path).unwrap();
    for name in ["history.db-wal", "history.db-shm"] {
        let victim = folder.path().join("victim");
        fs::write(&victim, "precious").unwrap();
        let link = path.with_file_name(name);
        symlink(&victim, &link).unwrap();
        let _ = record(&path);
        assert_eq!(fs::read(&victim).unwrap(), b"precious", "{name}");
        let _ = fs::remove_file(&link);
    }
}

#[test]
fn a_damaged_file_is_left_as_it_is_and_the_cure_is_named() {
    let (_folder, path) = place();
    record(&path).unwrap();
    let whole = fs::read(&path).unwrap();
    let damages: [Vec<u8>; 4] = [
        b"not a database, but a text that is long enough to be none".repeat(40),
        whole[..whole.len() / 2].to_vec(),
        whole.iter().enumerate().map(|(at, byte)| if at < 100 { *byte } else { 0xff }).collect(),
        [&whole[..20], &b"x".repeat(5000)].concat(),
    ];
    for damage in damages {
        fs::write(&path, &damage).unwrap();
        let error = record(&path).unwrap_err();
        assert!(error.to_string().contains("move it away"), "{error}");
        assert_eq!(fs::read(&path).unwrap().len(), damage.len());
    }
    // An empty file is as good as none.
    fs::write(&path, "").unwrap();
    record(&path).unwrap();
    assert_eq!(count(&path), 1);
}

#[test]
fn random_damage_is_an_error_and_never_a_panic() {
    let (_folder, path) = place();
    let mut history = History::open(&path).unwrap();
    for number in 0..200 {
        history.record(&entry(&format!("skill-{number}"), number, Status::Success)).unwrap();
    }
    drop(history);
    let whole = fs::read(&path).unwrap();
    let mut state: u64 = 7;
    let mut next = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap()
    };
    let mut broken = 0;
    for _ in 0..60 {
        let mut damaged = whole.clone();
        for _ in 0..200 {
            let at = next() % damaged.len();
            damaged[at] = u8::try_from(next() % 256).unwrap();
        }
        fs::write(&path, damaged).unwrap();
        let tried = History::open(&path).and_then(|mut history| {
            history.record(&entry("new", 1, Status::Success))?;
            history.each(&Filter::default(), |_| std::ops::ControlFlow::Continue(()))?;
            history.stats(&Filter::default())
        });
        broken += usize::from(tried.is_err());
        for beside in ["history.db-wal", "history.db-shm"] {
            let _ = fs::remove_file(path.with_file_name(beside));
        }
    }
    assert!(broken > 30, "{broken}: the damage is seen");
}

#[test]
fn a_later_version_and_another_program_keep_theirs() {
    let (_folder, path) = place();
    record(&path).unwrap();
    let raw = Connection::open(&path).unwrap();
    raw.pragma_update(None, "user_version", 99).unwrap();
    drop(raw);
    let before = fs::read(&path).unwrap();
    let error = record(&path).unwrap_err();
    assert!(matches!(error, Error::Newer { found: 99, .. }), "{error}");
    assert!(matches!(History::read(&path), Err(Error::Newer { .. })));
    assert_eq!(fs::read(&path).unwrap(), before);
    fs::remove_file(&path).unwrap();
    let raw = Connection::open(&path).unwrap();
    raw.execute_batch("CREATE TABLE theirs (a); INSERT INTO theirs VALUES (1)").unwrap();
    drop(raw);
    let before = fs::read(&path).unwrap();
    assert!(matches!(record(&path), Err(Error::Foreign { .. })));
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn a_set_up_that_was_interrupted_is_done_by_the_next() {
    let (_folder, path) = place();
    fs::create_dir(path.parent().unwrap()).unwrap();
    fs::set_permissions(path.parent().unwrap(), fs::Permissions::from_mode(0o700)).unwrap();
    // Killed after the first step that leaves a mark: a database in write-ahead mode with nothing in it.
    let raw = Connection::open(&path).unwrap();
    raw.pragma_update(None, "journal_mode", "wal").unwrap();
    drop(raw);
    record(&path).unwrap();
    assert_eq!(count(&path), 1);
}

#[test]
fn a_lock_is_waited_for_and_then_given_up() {
    let (_folder, path) = place();
    record(&path).unwrap();
    let raw = Connection::open(&path).unwrap();
    raw.execute_batch("BEGIN IMMEDIATE").unwrap();
    let error = record(&path).unwrap_err();
    assert!(matches!(error, Error::Locked { .. }), "{error}");
    // Readers do not wait for writers.
    assert_eq!(count(&path), 1);
    raw.execute_batch("ROLLBACK").unwrap();
    record(&path).unwrap();
    assert_eq!(count(&path), 2);
}

/// Where a test is to do its part in a process of its own.
const PART: &str = "SKILLSANDBOX_STORE_TEST_FILE";

/// Not a test by itself: records in the file that the variable names, and says what came of it.
#[test]
fn child_that_records() {
    let Some(path) = std::env::var_os(PART) else { return };
    let path = Path::new(&path);
    let mut history = match History::open(path) {
        Ok(history) => history,
        Err(error) => return fs::write(format!("{}.said", path.display()), error.to_string()).unwrap(),
    };
    for number in 0..2000 {
        let mut run = entry("a", number, Status::Success);
        run.error = Some("x".repeat(3000));
        if let Err(error) = history.record(&run) {
            let said = format!("after {number}: {error}");
            // Not on the disk that is full.
            return fs::write(std::env::var_os("SAID").unwrap(), said).unwrap();
        }
    }
    panic!("there was room for all of it");
}

#[test]
fn a_full_disk_is_said_to_be_full_and_what_was_recorded_stays() {
    let folder = tempfile::tempdir().unwrap();
    let said = folder.path().join("said");
    let small = folder.path().join("small");
    fs::create_dir(&small).unwrap();
    let script = "mount -t tmpfs -o size=1m,mode=700 tmpfs \"$1\" && \"$2\" --exact child_that_records && cp \"$1\"/history.db* \"$3\"";
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "--mount", "sh", "-c", script, "sh"]);
    command.arg(&small).arg(std::env::current_exe().unwrap()).arg(folder.path());
    command.env(PART, small.join("history.db")).env("SAID", &said);
    let output = command.output().expect("unshare is among the programs that set-up installs");
    let told =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}");
    let said = fs::read_to_string(&said).unwrap();
    assert!(said.contains("the disk is full"), "{said}");
    let number: usize = said.strip_prefix("after ").unwrap().split(':').next().unwrap().parse().unwrap();
    let copy = folder.path().join("history.db");
    assert!(number > 5, "{said}");
    assert_eq!(count(&copy), number, "{said}");
}

#[test]
fn what_cannot_be_written_is_read() {
    let (_folder, path) = place();
    record(&path).unwrap();
    let folder = path.parent().unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o400)).unwrap();
    fs::set_permissions(folder, fs::Permissions::from_mode(0o500)).unwrap();
    // Root may write all the same; the mount below is for it.
    if !rustix::process::geteuid().is_root() {
        let error = record(&path).unwrap_err();
        assert!(matches!(error, Error::ReadOnly { .. }), "{error}");
        assert_eq!(count(&path), 1);
    }
    fs::set_permissions(folder, fs::Permissions::from_mode(0o700)).unwrap();
    let said = folder.parent().unwrap().join("said");
    let script =
        "mount --bind \"$1\" \"$1\" && mount -o remount,bind,ro \"$1\" && \"$2\" --exact child_that_reads";
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "--mount", "sh", "-c", script, "sh"]);
    command.arg(folder).arg(std::env::current_exe().unwrap()).env(PART, &path).env("SAID", &said);
    let output = command.output().expect("unshare is among the programs that set-up installs");
    let told =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}");
    let said = fs::read_to_string(said).unwrap();
    assert!(said.starts_with("1 record; ") && said.contains("read-only"), "{said}");
}

/// Not a test by itself: reads a history that cannot be written.
#[test]
fn child_that_reads() {
    let (Some(path), Some(said)) = (std::env::var_os(PART), std::env::var_os("SAID")) else { return };
    let path = Path::new(&path);
    let error = record(path).unwrap_err();
    fs::write(said, format!("{} record; {error}", count(path))).unwrap();
}
