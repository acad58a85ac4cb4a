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

/// What somebody does to the file.
fn tamper(path: &std::path::Path, sql: &str) {
    let connection = Connection::open(path).unwrap();
    connection.execute_batch("PRAGMA foreign_keys = off").unwrap();
    connection.execute_batch(sql).unwrap();
}

fn check(path: &std::path::Path) -> skillsandbox_store::history::ChainCheck {
    History::read(path).unwrap().unwrap().check_chain(None).unwrap()
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
        tamper(&path, sql);
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
    let after = history.check_chain(None).unwrap();
    assert_eq!((after.runs, after.earlier, after.removed, &after.wrong), (10, 0, 21, &None));
    let head = after.head.unwrap();
    assert_eq!(history.check_chain(Some(&head)).unwrap().has_head, Some(true));
    // Another one, and the chain is whole after it, too.
    history.record(&entry("and-another", 1_700_001_001, Status::Success)).unwrap();
    let after = history.check_chain(Some(&head)).unwrap();
    assert_eq!((after.runs, after.removed, after.has_head, &after.wrong), (10, 22, Some(true), &None));
    assert_eq!(history.pinned().unwrap().len(), 1);
}

/// A history as the first version made it, with runs in it.
#[test]
fn row_180_a_history_of_before_the_chain_is_taken_over() {
    let (_folder, path) = history_of(3);
    tamper(&path, UNCHAIN);
    let mut history = History::open(&path).unwrap();
    history.record(&entry("new", 1_700_000_100, Status::Success)).unwrap();
    let found = history.check_chain(None).unwrap();
    assert_eq!((found.runs, found.earlier, found.wrong), (1, 3, None));
    // What came before is told apart, and is what it was when the chain was made.
    drop(history);
    for sql in [
        "UPDATE runs SET skill = 'other' WHERE number = 2",
        "DELETE FROM runs WHERE number = 1",
        "DELETE FROM runs WHERE number = 3",
        "UPDATE chain SET earlier = 4",
        "UPDATE chain SET earlier = 0",
        "DELETE FROM runs WHERE number <= 3; UPDATE chain SET number = 3, earlier = 0",
    ] {
        let (_folder, path) = history_of(3);
        tamper(&path, UNCHAIN);
        History::open(&path).unwrap().record(&entry("new", 1_700_000_100, Status::Success)).unwrap();
        assert_eq!(check(&path).wrong, None);
        tamper(&path, sql);
        assert!(check(&path).wrong.is_some(), "{sql}");
    }
}

/// Makes a history what the first version made.
const UNCHAIN: &str = "PRAGMA user_version = 1; DROP INDEX runs_pinned; DROP TABLE chain; ALTER TABLE runs DROP COLUMN link;
    ALTER TABLE runs DROP COLUMN unknown; ALTER TABLE runs DROP COLUMN base; ALTER TABLE runs DROP COLUMN signature;
    ALTER TABLE runs DROP COLUMN pinned; ALTER TABLE classes DROP COLUMN unknown";

/// The chain's beginning is not believed: it cannot be moved past what was edited or removed.
#[test]
fn row_180_the_beginning_of_the_chain_is_part_of_it() {
    const MOVED: &str = "UPDATE chain SET (number, link) = (SELECT number, link FROM runs WHERE number = 2);";
    for (what, sql) in [
        ("an edit before it", format!("UPDATE runs SET digest = 'ff' WHERE number = 2; {MOVED}")),
        ("moved alone", MOVED.to_owned()),
        ("the oldest removed", format!("{MOVED} DELETE FROM runs WHERE number <= 2")),
        ("all edited", "UPDATE runs SET digest = 'ff'; UPDATE chain SET number = 5".to_owned()),
        ("all removed", "DELETE FROM runs; UPDATE chain SET number = 5".to_owned()),
        ("moved back", "UPDATE chain SET number = -1".to_owned()),
        ("another link", "UPDATE chain SET link = randomblob(32)".to_owned()),
        (
            "no such link",
            "UPDATE chain SET link = x'00'; UPDATE runs SET base = 1 WHERE number = 5".to_owned(),
        ),
        (
            "called earlier",
            "UPDATE runs SET digest = 'ff' WHERE number = 2; UPDATE chain SET earlier = 5".to_owned(),
        ),
        (
            "the newest says so",
            format!("{MOVED} DELETE FROM runs WHERE number <= 2; UPDATE runs SET base = 2 WHERE number = 5"),
        ),
        ("all say so", format!("{MOVED} DELETE FROM runs WHERE number <= 2; UPDATE runs SET base = 2")),
    ] {
        let (_folder, path) = history_of(5);
        let head = check(&path).head.unwrap();
        tamper(&path, &sql);
        let history = History::read(&path).unwrap().unwrap();
        assert!(history.check_chain(Some(&head)).unwrap().wrong.is_some(), "{what}");
    }
    // Whoever writes the links anew as well has another head; the old one is not found where it is only said to be.
    let (_folder, path) = history_of(5);
    let head = check(&path).head.unwrap();
    tamper(
        &path,
        &format!("{MOVED} DELETE FROM runs WHERE number <= 4; UPDATE chain SET number = 4, link = x'{head}'"),
    );
    let found = History::read(&path).unwrap().unwrap().check_chain(Some(&head)).unwrap();
    assert_eq!(found.has_head, Some(false));
    for no_link in ["", "zz", &head[2..]] {
        let (_folder, path) = history_of(1);
        let found = History::read(&path).unwrap().unwrap().check_chain(Some(no_link)).unwrap();
        assert_eq!(found.has_head, Some(false), "{no_link:?}");
    }
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
    assert_eq!(signature.statement.history, history.check_chain(None).unwrap().head.unwrap());
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
