//! What was recorded is chained: an edit, a removal, an insertion and a cut are found, and a signed head tells a chain that was written anew.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod records;

use records::{class, denied, entry, place};
use rusqlite::Connection;
use skillsandbox_store::history::{Filter, History, Status};
use skillsandbox_store::signing::{SignatureFault, SigningError, SigningKey, TraceSignature, TraceStatement};

fn history_of(runs: i64) -> (tempfile::TempDir, std::path::PathBuf) {
    let (folder, path) = place();
    let mut history = History::open(&path).unwrap();
    for number in 0..runs {
        let mut run = entry(&format!("skill-{number}"), 1_700_000_000 + number, Status::Success);
        run.digest = Some(format!("{number:064x}"));
        run.denials = vec![denied("read /etc/shadow", 1)];
        run.classes = vec![class("discovery")];
        history.record(&run).unwrap();
    }
    (folder, path)
}

fn check(path: &std::path::Path) -> skillsandbox_store::history::ChainCheck {
    History::read(path).unwrap().unwrap().check_chain().unwrap()
}

#[test]
fn row_180_every_change_to_the_history_is_found() {
    let intact = history_of(8);
    let good = check(&intact.1);
    assert_eq!((good.runs, good.earlier, &good.wrong), (8, 0, &None));
    for (what, sql) in [
        ("an edit", "UPDATE runs SET digest = 'ff' WHERE number = 4"),
        ("an edit of the newest", "UPDATE runs SET status = 'failure' WHERE number = 8"),
        ("a verdict", "UPDATE classes SET prevented = 0 WHERE run = 3"),
        ("an unknown", "UPDATE classes SET unknown = 1 WHERE run = 3"),
        ("a denial", "DELETE FROM denials WHERE run = 2"),
        ("a denial that moved", "UPDATE denials SET run = 100 WHERE run = 2"),
        ("a removal", "DELETE FROM runs WHERE number = 5"),
        ("the oldest removed", "DELETE FROM runs WHERE number = 1"),
        ("the newest removed", "DELETE FROM runs WHERE number = 8"),
        ("all removed", "DELETE FROM runs"),
        ("a lost link", "UPDATE runs SET link = NULL WHERE number = 6"),
        ("all links lost", "UPDATE runs SET link = NULL"),
        ("a swap", "UPDATE runs SET number = CASE number WHEN 3 THEN 99 WHEN 4 THEN 3 ELSE number END; UPDATE runs SET number = 4 WHERE number = 99"),
        ("an insertion", "INSERT INTO runs (id, started, skill, tool, parameters, arguments, status, ending, duration_ms, denied, denials_omitted,
            classes, complete) VALUES ('x', 1, 's', 't', '{}', '[]', 'success', 'exited', 1, 0, 0, '', 1)"),
        ("a text that looks like another field", "UPDATE runs SET skill = skill || tool, tool = '' WHERE number = 4"),
    ] {
        let (_folder, path) = history_of(8);
        assert_eq!(check(&path).wrong, None);
        let connection = Connection::open(&path).unwrap();
        connection.execute_batch("PRAGMA foreign_keys = off").unwrap();
        connection.execute_batch(sql).unwrap();
        drop(connection);
        assert!(check(&path).wrong.is_some(), "{what}");
    }
}

#[test]
fn row_180_pinning_and_trimming_leave_the_chain_whole() {
    let (_folder, path) = history_of(30);
    let mut history = History::open(&path).unwrap().keep(10);
    let id = {
        let mut filter = Filter::default();
        filter.limit = Some(1);
        records::all(&history, &filter)[0].execution_id.clone()
    };
    assert!(history.pin(&id, true).unwrap().pinned);
    history.record(&entry("one-more", 1_700_001_000, Status::Success)).unwrap();
    let after = history.check_chain().unwrap();
    assert_eq!((after.runs, after.earlier, &after.wrong), (10, 0, &None));
    assert_eq!(history.pinned().unwrap().len(), 1);
}

/// A history as the first version made it, with runs in it.
#[test]
fn row_180_a_history_of_before_the_chain_is_taken_over() {
    let (_folder, path) = history_of(3);
    let connection = Connection::open(&path).unwrap();
    connection
        .execute_batch(
            "PRAGMA user_version = 1; DROP INDEX runs_pinned; DROP TABLE chain; ALTER TABLE runs DROP COLUMN link; ALTER TABLE runs DROP COLUMN unknown;
             ALTER TABLE runs DROP COLUMN signature; ALTER TABLE runs DROP COLUMN pinned; ALTER TABLE classes DROP COLUMN unknown",
        )
        .unwrap();
    drop(connection);
    let mut history = History::open(&path).unwrap();
    history.record(&entry("new", 1_700_000_100, Status::Success)).unwrap();
    let found = history.check_chain().unwrap();
    assert_eq!((found.runs, found.earlier, found.wrong), (1, 3, None));
}

#[test]
fn row_180_a_signed_head_verifies_and_nothing_else_does() {
    let (_folder, path) = place();
    let key = SigningKey::create(&path.with_file_name("signing.key")).unwrap();
    let mut history = History::open(&path).unwrap();
    let mut run = entry("weather", 1_700_000_000, Status::Success);
    run.digest = Some("ab".repeat(32));
    let signature = history.record_signed(&run, &key).unwrap().unwrap();
    assert_eq!(signature.check(&key.public()), Ok(()));
    assert_eq!(signature.statement.history, history.check_chain().unwrap().head.unwrap());
    assert_eq!(history.signature(run.id).unwrap().as_ref(), Some(&signature));

    let mut other = signature.clone();
    other.statement.digest = "cd".repeat(32);
    assert_eq!(other.check(&key.public()), Err(SignatureFault::Wrong));
    let mut other = signature.clone();
    other.statement.history = "00".repeat(32);
    assert_eq!(other.check(&key.public()), Err(SignatureFault::Wrong));
    let mut other = signature.clone();
    other.statement.trace_id = uuid::Uuid::nil();
    assert_eq!(other.check(&key.public()), Err(SignatureFault::Wrong));
    for wrong in ["", "zz", &"00".repeat(64), &signature.signature[2..]] {
        let mut other = signature.clone();
        wrong.clone_into(&mut other.signature);
        assert_eq!(other.check(&key.public()), Err(SignatureFault::Wrong), "{wrong}");
    }
    // Another key, also where the signature says that it is ours.
    let other_key = SigningKey::create(&path.with_file_name("other.key")).unwrap();
    let mut forged = other_key.sign(&signature.statement);
    assert!(matches!(forged.check(&key.public()), Err(SignatureFault::OtherKey(_))));
    forged.key = key.public().to_string();
    assert_eq!(forged.check(&key.public()), Err(SignatureFault::Wrong));
}

#[cfg(unix)]
#[test]
fn row_180_a_key_is_its_owners_alone() {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().canonicalize().unwrap().join("state");
    let file = state.join("signing.key");
    assert!(matches!(SigningKey::load(&file), Err(SigningError::NoKey(_))));
    let key = SigningKey::create(&file).unwrap();
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o7777, 0o600);
    assert_eq!(SigningKey::load(&file).unwrap().public(), key.public());
    assert!(matches!(SigningKey::create(&file), Err(SigningError::Exists(_))));
    assert!(!format!("{key:?}").contains(fs::read_to_string(&file).unwrap().trim()));

    for mode in [0o640, 0o604, 0o660, 0o602] {
        fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
        assert!(matches!(SigningKey::load(&file), Err(SigningError::Unsafe { .. })), "{mode:o}");
    }
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    fs::hard_link(&file, state.join("second")).unwrap();
    assert!(matches!(SigningKey::load(&file), Err(SigningError::Unsafe { .. })));
    fs::remove_file(state.join("second")).unwrap();

    let link = state.join("link.key");
    symlink(&file, &link).unwrap();
    assert!(SigningKey::load(&link).is_err());
    assert!(SigningKey::create(&link).is_err());
    let pipe = state.join("pipe.key");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    assert!(SigningKey::load(&pipe).is_err(), "and it does not wait");
    fs::set_permissions(&state, fs::Permissions::from_mode(0o777)).unwrap();
    assert!(matches!(SigningKey::load(&file), Err(SigningError::Unsafe { .. })));
    fs::set_permissions(&state, fs::Permissions::from_mode(0o700)).unwrap();
    symlink(&state, folder.path().join("other")).unwrap();
    assert!(SigningKey::load(&folder.path().join("other/signing.key")).is_err());
    fs::write(&file, "not a key\n").unwrap();
    assert!(matches!(SigningKey::load(&file), Err(SigningError::Malformed { .. })));
}

#[test]
fn a_signature_lies_beside_its_trace_and_comes_back() {
    let (folder, path) = place();
    let key = SigningKey::create(&path.with_file_name("signing.key")).unwrap();
    let signature = key.sign(&TraceStatement::new(uuid::Uuid::nil(), "ab", "cd"));
    let beside = TraceSignature::beside(&folder.path().join("a.json"));
    assert!(beside.ends_with("a.json.sig"));
    assert_eq!(TraceSignature::read(&beside).unwrap(), None);
    signature.write(&beside).unwrap();
    assert!(signature.write(&beside).is_err(), "nothing is replaced");
    assert_eq!(TraceSignature::read(&beside).unwrap(), Some(signature));
}
