//! The spool: what was appended is found by whoever opens the history, once, in order and chained; what is not whole is never taken for a record.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod records;

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use records::{all, class, denied, entry, place};
use rusqlite::Connection;
use skillsandbox_store::history::{Appended, Entry, Error, Filter, History, Spool, Status};
use skillsandbox_store::signing::SigningKey;

fn append(path: &Path, run: &Entry) {
    assert_ne!(Spool::beside(path).append(run).unwrap(), Appended::NoRoom);
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

fn spool(path: &Path) -> PathBuf {
    beside(path, ".spool")
}

fn taken(path: &Path) -> PathBuf {
    beside(path, ".spool.taken")
}

fn read(path: &Path) -> History {
    History::read(path).unwrap().unwrap()
}

/// The skills in the order in which they were recorded.
fn skills(path: &Path) -> Vec<String> {
    let history = read(path);
    let check = history.check_chain(None).unwrap();
    assert_eq!(check.wrong, None);
    let mut records = all(&history, &Filter::default());
    records.reverse();
    assert_eq!(check.runs, records.len() as u64);
    assert!(records.iter().all(|record| record.link.is_some()));
    records.into_iter().map(|record| record.skill).collect()
}

fn named(name: &str, second: i64) -> Entry {
    entry(name, second, Status::Success)
}

#[test]
fn what_was_appended_is_found_in_order_chained_and_once() {
    let (_folder, path) = place();
    append(&path, &named("a", 1));
    append(&path, &named("b", 2));
    assert!(!path.exists(), "nobody has opened the database");
    assert_eq!(fs::metadata(spool(&path)).unwrap().permissions().mode() & 0o7777, 0o600);
    assert_eq!(skills(&path), ["a", "b"]);
    assert!(!spool(&path).exists() && !taken(&path).exists());
    append(&path, &named("c", 3));
    History::open(&path).unwrap().record(&named("d", 4)).unwrap();
    append(&path, &named("e", 5));
    assert_eq!(skills(&path), ["a", "b", "c", "d", "e"]);
    assert_eq!(skills(&path).len(), 5, "again");
}

#[test]
fn an_appended_run_is_kept_as_one_that_was_recorded_directly() {
    let mut run = named("weather", 1_700_000_000);
    run.version = Some("1.2".into());
    run.parameters.insert("city".into(), "Oslo\n\0\"".into());
    run.parameters.insert("api_key".into(), "correct horse battery".into());
    run.arguments = vec!["--token".into(), "correct horse battery".into(), "é".repeat(3000)];
    run.error = Some("it said correct horse battery".into());
    (run.denied, run.unknown, run.denials_omitted) = (u64::MAX, 2, 3);
    run.denials = vec![denied("read /etc/shadow", 6), denied("read /root", 1)];
    run.denials[0].declare = Some("read: /etc".into());
    run.classes = vec![class("credential_harvesting"), class("discovery")];
    (run.classes[1].prevented, run.classes[1].unknown) = (false, true);
    run.complete = true;
    run.trace = Some(std::ffi::OsStr::new("/tmp/a b%20\u{1b}.json").into());
    run.digest = Some("ab".repeat(32));
    let kept = |how: &dyn Fn(&Path)| {
        let (_folder, path) = place();
        how(&path);
        let history = read(&path);
        let found = serde_json::to_value(history.find(&run.id.to_string()).unwrap()).unwrap();
        assert!(!found.to_string().contains("correct horse"), "{found:#}");
        found
    };
    let direct = kept(&|path| History::open(path).unwrap().record(&run).unwrap());
    let appended = kept(&|path| {
        append(path, &run);
        let bytes = fs::read(spool(path)).unwrap();
        assert!(!String::from_utf8_lossy(&bytes).contains("correct horse"), "not in the spool either");
    });
    // The link covers all of it.
    assert_eq!(direct, appended);
}

#[test]
fn a_signed_run_covers_what_was_appended_before_it() {
    let (_folder, path) = place();
    append(&path, &named("a", 1));
    let key = SigningKey::create(&path.with_file_name("signing.key")).unwrap();
    let mut run = named("signed", 2);
    run.digest = Some("ab".repeat(32));
    let mut history = History::open(&path).unwrap();
    let signature = history.record_signed(&run, &key).unwrap().unwrap();
    let check = history.check_chain(Some(&signature.statement.history)).unwrap();
    assert_eq!((check.runs, check.has_head, check.head), (2, Some(true), Some(signature.statement.history)));
    assert_eq!(skills(&path), ["a", "signed"]);
    // What was appended is changed now: the signed link is not found any more.
    let raw = Connection::open(&path).unwrap();
    raw.execute_batch("UPDATE runs SET skill = 'x' WHERE number = 1").unwrap();
    assert!(read(&path).check_chain(None).unwrap().wrong.is_some());
}

/// As after a kill at each step of taking in: the states that it can leave.
#[test]
fn whatever_a_killed_program_left_is_taken_in_once() {
    let (_folder, path) = place();
    append(&path, &named("a", 1));
    append(&path, &named("b", 2));
    let bytes = fs::read(spool(&path)).unwrap();
    // After it was renamed; somebody has appended since.
    fs::rename(spool(&path), taken(&path)).unwrap();
    append(&path, &named("c", 3));
    assert_eq!(skills(&path), ["a", "b", "c"]);
    // After the transaction, before the file was removed.
    fs::write(taken(&path), &bytes).unwrap();
    append(&path, &named("d", 4));
    assert_eq!(skills(&path), ["a", "b", "c", "d"]);
    assert!(!taken(&path).exists() && !spool(&path).exists());
    // The rename was lost with the power, the transaction was not.
    fs::write(spool(&path), &bytes).unwrap();
    assert_eq!(skills(&path), ["a", "b", "c", "d"]);
    // Before the first write.
    fs::write(spool(&path), "").unwrap();
    fs::write(taken(&path), "").unwrap();
    assert_eq!(skills(&path), ["a", "b", "c", "d"]);
}

#[test]
fn what_was_cut_off_is_skipped_said_and_kept_to_be_looked_at() {
    let (_folder, path) = place();
    append(&path, &named("a", 1));
    let whole = fs::read(spool(&path)).unwrap();
    let half = &whole[..whole.len() / 2];
    let mut bytes = half.to_vec();
    append(&path, &named("b", 2));
    bytes.extend_from_slice(&fs::read(spool(&path)).unwrap()[whole.len()..]);
    // What a file system leaves after a loss of power, what is nobody's, and half a record at the end.
    bytes.extend_from_slice(&[0; 4096]);
    bytes.extend_from_slice(b"\n1 0123456789abcdef {}\nmine\n\xff\xfe\n");
    bytes.extend_from_slice(half);
    fs::write(spool(&path), &bytes).unwrap();
    let history = read(&path);
    assert_eq!(all(&history, &Filter::default()).len(), 1);
    assert!(matches!(history.notes(), [note] if note.contains("cut off") && note.contains(".spool.damaged")));
    let damaged = beside(&path, ".spool.damaged");
    assert_eq!(fs::metadata(&damaged).unwrap().permissions().mode() & 0o7777, 0o600);
    let kept = fs::read(&damaged).unwrap();
    for part in [half.strip_prefix(b"\n").unwrap(), b"mine", b"\xff\xfe"] {
        assert!(kept.windows(part.len()).any(|window| window == part));
    }
    // It is said for as long as it is there, and what comes later is not concerned.
    append(&path, &named("c", 3));
    assert_eq!((skills(&path), read(&path).notes().len()), (vec!["b".to_owned(), "c".to_owned()], 1));
    fs::remove_file(damaged).unwrap();
    assert!(read(&path).notes().is_empty());
}

#[test]
fn a_spool_of_a_later_version_is_refused_and_stays_as_it_is() {
    let (_folder, path) = place();
    append(&path, &named("a", 1));
    assert_eq!(skills(&path), ["a"]);
    append(&path, &named("b", 2));
    // A line of form 2, by the words that all forms have in common.
    let sum = {
        use sha2::{Digest as _, Sha256};
        data_encoding::HEXLOWER.encode(&Sha256::digest(b"2 anything")[..8])
    };
    let mut bytes = fs::read(spool(&path)).unwrap();
    bytes.extend_from_slice(format!("\n2 {sum} anything\n").as_bytes());
    fs::write(spool(&path), &bytes).unwrap();
    for _ in 0..2 {
        let error = History::read(&path).map(|_| ()).unwrap_err();
        assert!(matches!(error, Error::Newer { found: 2, known: 1, .. }), "{error}");
        assert!(error.to_string().contains("later version"), "{error}");
        assert!(matches!(History::open(&path), Err(Error::Newer { .. })));
        assert_eq!(fs::read(taken(&path)).unwrap(), bytes);
    }
    // Nothing of it was recorded, and what is appended meanwhile waits with it.
    let raw = Connection::open(&path).unwrap();
    assert_eq!(raw.query_row("SELECT count(*) FROM runs", [], |row| row.get::<_, i64>(0)).unwrap(), 1);
    append(&path, &named("c", 3));
    fs::rename(taken(&path), path.with_file_name("moved-away")).unwrap();
    assert_eq!(skills(&path), ["a", "c"]);
}

#[test]
fn links_pipes_and_files_of_others_are_refused() {
    let (folder, path) = place();
    let victim = folder.path().join("victim");
    fs::write(&victim, "precious").unwrap();
    fs::create_dir(path.parent().unwrap()).unwrap();
    fs::set_permissions(path.parent().unwrap(), fs::Permissions::from_mode(0o700)).unwrap();
    let refused = |why: &str| {
        let error = Spool::beside(&path).append(&named("a", 1)).unwrap_err();
        assert!(matches!(error, Error::Unsafe { .. }) && error.to_string().contains(why), "{why}: {error}");
        assert_eq!(fs::read(&victim).unwrap(), b"precious");
    };
    let unreadable = |why: &str| {
        let error = History::read(&path).map(|_| ()).unwrap_err();
        assert!(matches!(error, Error::Unsafe { .. }) && error.to_string().contains(why), "{why}: {error}");
        assert_eq!(fs::read(&victim).unwrap(), b"precious");
    };
    // The database, whose place is checked for every run.
    symlink(&victim, &path).unwrap();
    refused("symbolic link");
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    refused("is no file");
    fs::remove_dir(&path).unwrap();
    fs::hard_link(&victim, &path).unwrap();
    refused("another name");
    fs::remove_file(&path).unwrap();
    for file in [spool(&path), taken(&path)] {
        let is_spool = file == spool(&path);
        let check = |why: &str| {
            if is_spool {
                refused(why);
            }
            unreadable(why);
        };
        symlink(&victim, &file).unwrap();
        check("symbolic link");
        fs::remove_file(&file).unwrap();
        symlink(folder.path().join("nowhere"), &file).unwrap();
        check("symbolic link");
        assert!(!folder.path().join("nowhere").exists());
        fs::remove_file(&file).unwrap();
        fs::hard_link(&victim, &file).unwrap();
        check("another name");
        fs::remove_file(&file).unwrap();
        fs::create_dir(&file).unwrap();
        if is_spool {
            refused("is no file");
        }
        unreadable("is no file");
        fs::remove_dir(&file).unwrap();
        // Opening it would wait for somebody at the other end.
        assert!(Command::new("mkfifo").arg(&file).status().unwrap().success());
        fs::write(&victim, "precious").unwrap();
        check("is no file");
        fs::remove_file(&file).unwrap();
    }
    // Only root can give a file away.
    if rustix::process::geteuid().is_root() {
        for file in [path.clone(), spool(&path), taken(&path)] {
            fs::write(&file, "theirs").unwrap();
            std::os::unix::fs::chown(&file, Some(65_534), None).unwrap();
            if file != taken(&path) {
                refused("belongs to another user");
            }
            unreadable("belongs to another user");
            assert_eq!(fs::read(&file).unwrap(), b"theirs");
            fs::remove_file(&file).unwrap();
        }
    }
    fs::set_permissions(path.parent().unwrap(), fs::Permissions::from_mode(0o777)).unwrap();
    refused("changed by other users");
    fs::set_permissions(path.parent().unwrap(), fs::Permissions::from_mode(0o700)).unwrap();
    let link = folder.path().join("link");
    symlink(path.parent().unwrap(), &link).unwrap();
    let error = Spool::beside(link.join("history.db")).append(&named("a", 1)).unwrap_err();
    assert!(error.to_string().contains("symbolic link"), "{error}");
    // Further up, a link is the owner's own business.
    symlink(folder.path().canonicalize().unwrap(), folder.path().join("above")).unwrap();
    append(&folder.path().join("above/state/history.db"), &named("a", 1));
    // Opened up since, it is closed again.
    fs::set_permissions(spool(&path), fs::Permissions::from_mode(0o644)).unwrap();
    append(&path, &named("b", 2));
    assert_eq!(fs::metadata(spool(&path)).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(skills(&path), ["a", "b"]);
    // What lies where the damaged are kept is not followed, and nothing is lost for it.
    symlink(&victim, beside(&path, ".spool.damaged")).unwrap();
    append(&path, &named("c", 3));
    fs::OpenOptions::new()
        .append(true)
        .open(spool(&path))
        .and_then(|mut file| std::io::Write::write_all(&mut file, b"half\n"))
        .unwrap();
    assert!(matches!(History::read(&path), Err(Error::Unsafe { .. })));
    assert_eq!(fs::read(&victim).unwrap(), b"precious");
    fs::remove_file(beside(&path, ".spool.damaged")).unwrap();
    assert_eq!(skills(&path), ["a", "b", "c"]);
}

#[test]
fn the_spool_has_an_end_and_one_of_those_who_append_is_told_in_time() {
    let (_folder, path) = place();
    let mut run = named("a", 1);
    // Texts that are nobody's secret, so that none is taken out.
    run.error = Some("It could not be done. ".repeat(150));
    let mut told = 0;
    let begin = |path: &Path| fs::metadata(spool(path)).map_or(0, |found| found.len());
    while begin(&path) < 1 << 20 {
        run.id = uuid::Uuid::new_v4();
        match Spool::beside(&path).append(&run).unwrap() {
            Appended::Kept => {}
            Appended::KeptAndDue => told += 1,
            Appended::NoRoom => panic!("there is room"),
        }
    }
    assert_eq!(told, 4, "once for every 256 KiB");
    fs::OpenOptions::new().append(true).open(spool(&path)).unwrap().set_len(16 << 20).unwrap();
    assert_eq!(Spool::beside(&path).append(&named("b", 2)).unwrap(), Appended::NoRoom);
    assert_eq!(begin(&path), 16 << 20);
}

#[test]
fn a_spool_that_cannot_be_taken_in_is_said_and_loses_nothing() {
    let (_folder, path) = place();
    append(&path, &named("a", 1));
    assert_eq!(skills(&path), ["a"]);
    // Somebody else holds the database.
    let raw = Connection::open(&path).unwrap();
    raw.execute_batch("BEGIN IMMEDIATE").unwrap();
    append(&path, &named("b", 2));
    let history = read(&path);
    assert_eq!(all(&history, &Filter::default()).len(), 1);
    assert!(matches!(history.notes(), [note] if note.contains("not shown")), "{:?}", history.notes());
    raw.execute_batch("ROLLBACK").unwrap();
    assert_eq!(skills(&path), ["a", "b"]);
    // It is damaged: what was appended waits until it was moved away.
    append(&path, &named("c", 3));
    fs::write(&path, "not a database, whatever its name says".repeat(100)).unwrap();
    append(&path, &named("d", 4));
    assert!(matches!(History::read(&path), Err(Error::Broken { .. })));
    fs::remove_file(&path).unwrap();
    for rest in ["-wal", "-shm"] {
        let _ = fs::remove_file(beside(&path, rest));
    }
    assert_eq!(skills(&path), ["c", "d"]);
}

/// A program that was stopped with the file open, or that somebody debugs.
#[test]
fn an_appender_that_is_stopped_holds_up_no_other() {
    let (_folder, path) = place();
    append(&path, &named("a", 1));
    let stopped = fs::File::open(spool(&path)).unwrap();
    stopped.lock_shared().unwrap();
    append(&path, &named("b", 2));
    // Whoever takes in waits for it, for a while, and then does without.
    let history = read(&path);
    assert!(matches!(history.notes(), [note] if note.contains("not shown")), "{:?}", history.notes());
    append(&path, &named("c", 3));
    drop(stopped);
    assert_eq!(skills(&path), ["a", "b", "c"]);
}

/// Where a test is to do its part in a process of its own.
const PART: &str = "SKILLSANDBOX_STORE_TEST_SPOOL";

/// Not a test by itself: appends until the disk is full, and says how often that went well.
#[test]
fn child_that_fills_the_disk() {
    let Some(path) = std::env::var_os(PART) else { return };
    for number in 0..5000 {
        let mut run = named("a", number);
        run.error = Some("It could not be done. ".repeat(100));
        if let Err(error) = Spool::beside(Path::new(&path)).append(&run) {
            return fs::write(std::env::var_os("SAID").unwrap(), format!("{number}: {error}")).unwrap();
        }
    }
    panic!("there was room for all of it");
}

#[test]
fn a_full_disk_is_said_to_be_full_and_what_was_appended_stays() {
    let folder = tempfile::tempdir().unwrap();
    let (said, small) = (folder.path().join("said"), folder.path().join("small"));
    fs::create_dir(&small).unwrap();
    let script = "mount -t tmpfs -o size=1m,mode=700 tmpfs \"$1\" && \"$2\" --exact child_that_fills_the_disk && cp \"$1\"/history.db* \"$3\"";
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
    let number: usize = said.split(':').next().unwrap().parse().unwrap();
    assert!(number > 5, "{said}");
    let copy = folder.path().canonicalize().unwrap().join("history.db");
    assert_eq!(skills(&copy).len(), number, "{said}");
    assert!(read(&copy).notes().is_empty(), "half a line was taken back");
}

/// Not a test by itself: reads a history that cannot be written.
#[test]
fn child_that_reads() {
    let (Some(path), Some(said)) = (std::env::var_os(PART), std::env::var_os("SAID")) else { return };
    let path = Path::new(&path);
    let history = read(path);
    let error = Spool::beside(path).append(&named("x", 1)).unwrap_err();
    let text = format!(
        "{} record; {}; {error}",
        all(&history, &Filter::default()).len(),
        history.notes().join("; ")
    );
    fs::write(said, text).unwrap();
}

#[test]
fn what_cannot_be_written_is_read_and_what_is_not_shown_is_said() {
    let (_folder, path) = place();
    append(&path, &named("a", 1));
    assert_eq!(skills(&path), ["a"]);
    append(&path, &named("b", 2));
    let folder = path.parent().unwrap();
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
    assert!(
        said.starts_with("1 record; ") && said.contains("are not shown") && said.contains("read-only"),
        "{said}"
    );
    assert_eq!(skills(&path), ["a", "b"], "and nothing is lost");
}

#[test]
fn what_is_appended_is_trimmed_as_everything_is_and_the_chain_stays_whole() {
    let (_folder, path) = place();
    for number in 0..300 {
        append(&path, &named("a", number));
    }
    assert_eq!(skills(&path).len(), 300);
    let mut history = History::open(&path).unwrap().keep(100);
    history.record(&named("b", 400)).unwrap();
    let check = history.check_chain(None).unwrap();
    assert_eq!((check.runs, check.removed, check.wrong), (100, 201, None));
    append(&path, &named("c", 500));
    assert_eq!(read(&path).check_chain(None).unwrap().wrong, None);
}
