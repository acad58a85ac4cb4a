use std::os::unix::fs::{PermissionsExt as _, symlink};

use super::*;

fn scan() -> RememberedScan {
    RememberedScan {
        verdict: "SAFE".to_owned(),
        scanner_version: "1".to_owned(),
        digest: "d".to_owned(),
        unwritable_digest: "u".to_owned(),
        suppressed: 0,
        scanned_at: "2026-11-17T00:00:00Z".to_owned(),
    }
}

fn question(tree: &str, settings: &str) -> ScanQuestion {
    ScanQuestion::new(Path::new("/skills/a"), &[], tree.to_owned(), settings).unwrap()
}

/// A memory that holds one entry, and that entry's file.
fn memory(dir: &tempfile::TempDir) -> (ScanMemory, PathBuf) {
    let memory = ScanMemory { folder: dir.path().canonicalize().unwrap().join("state/scans") };
    memory.keep(&question("t", "s"), scan()).unwrap();
    let file = memory.folder.join(&question("t", "s").name);
    (memory, file)
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn what_was_said_is_found_for_the_same_files_and_settings_only() {
    let dir = tempfile::tempdir().unwrap();
    let (memory, file) = memory(&dir);
    assert_eq!(memory.find(&question("t", "s")), Some(scan()));
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(fs::metadata(&memory.folder).unwrap().permissions().mode() & 0o777, 0o700);
    for other in [
        question("other", "s"),
        question("t", "other"),
        ScanQuestion::new(Path::new("/skills/b"), &[], "t".to_owned(), "s").unwrap(),
        ScanQuestion::new(Path::new("/skills/a"), &["data".to_owned()], "t".to_owned(), "s").unwrap(),
    ] {
        assert_eq!(memory.find(&other), None, "{other:?}");
    }
    // Another build of this program.
    let mut other = question("t", "s");
    other.settings = hash_texts([&b"s"[..], b"another build"]);
    assert_eq!(memory.find(&other), None);
    // The next state of a folder takes the place of the last.
    memory.keep(&question("t2", "s"), scan()).unwrap();
    assert_eq!(memory.find(&question("t2", "s")), Some(scan()));
    assert_eq!(memory.find(&question("t", "s")), None);
    assert_eq!(fs::read_dir(&memory.folder).unwrap().count(), 1);
}

#[test]
fn an_entry_that_is_damaged_or_of_another_form_is_not_believed() {
    let dir = tempfile::tempdir().unwrap();
    let (memory, file) = memory(&dir);
    let text = fs::read_to_string(&file).unwrap();
    let body = text
        .split_once('\n')
        .unwrap()
        .1
        .trim_end()
        .replace("\"suppressed\":0", "\"suppressed\":0,\"more\":1");
    let unknown = format!("{HEAD}{}\n{body}\n", hash_texts([body.as_bytes()]));
    let whole = text.len();
    let mut bad: Vec<String> = (0..whole).step_by(7).map(|end| text[..end].to_owned()).collect();
    bad.extend([
        text.replace("SAFE", "EVIL"),
        text.replace("scan 1 ", "scan 2 "),
        format!("{text} "),
        format!("{text}{}", "x".repeat(1 << 20)),
        unknown,
    ]);
    for bad in bad {
        fs::write(&file, &bad).unwrap();
        assert_eq!(memory.find(&question("t", "s")), None, "{bad:.200}");
    }
    fs::write(&file, [0xff; 600]).unwrap();
    assert_eq!(memory.find(&question("t", "s")), None);
    fs::write(&file, &text).unwrap();
    assert_eq!(memory.find(&question("t", "s")), Some(scan()), "the control");
}

#[test]
fn an_entry_that_others_could_have_written_is_not_believed() {
    let dir = tempfile::tempdir().unwrap();
    let (memory, file) = memory(&dir);
    let aside = dir.path().join("aside");
    for mode in [0o620, 0o602, 0o666] {
        set_mode(&file, mode);
        assert_eq!(memory.find(&question("t", "s")), None, "{mode:o}");
    }
    set_mode(&file, 0o600);
    for mode in [0o770, 0o703, 0o1777] {
        set_mode(&memory.folder, mode);
        assert_eq!(memory.find(&question("t", "s")), None, "{mode:o}");
        assert!(memory.keep(&question("t", "s"), scan()).is_err(), "{mode:o}");
    }
    set_mode(&memory.folder, 0o700);
    assert_eq!(memory.find(&question("t", "s")), Some(scan()), "the control");
    fs::hard_link(&file, &aside).unwrap();
    assert_eq!(memory.find(&question("t", "s")), None, "a second name");
    fs::remove_file(&file).unwrap();
    symlink(&aside, &file).unwrap();
    assert_eq!(memory.find(&question("t", "s")), None, "a link");
    fs::remove_file(&file).unwrap();
    // Without a writer, who opens it for reading waits.
    nix::unistd::mkfifo(&file, nix::sys::stat::Mode::S_IRWXU).unwrap();
    assert_eq!(memory.find(&question("t", "s")), None, "a pipe");
    fs::remove_file(&file).unwrap();
    fs::rename(&aside, &file).unwrap();
    let moved = dir.path().join("moved");
    fs::rename(&memory.folder, &moved).unwrap();
    symlink(&moved, &memory.folder).unwrap();
    assert_eq!(memory.find(&question("t", "s")), None, "a folder that is a link");
    assert!(memory.keep(&question("t", "s"), scan()).is_err());
    if nix::unistd::geteuid().is_root() {
        fs::remove_file(&memory.folder).unwrap();
        fs::rename(&moved, &memory.folder).unwrap();
        std::os::unix::fs::chown(&file, Some(12345), None).unwrap();
        assert_eq!(memory.find(&question("t", "s")), None, "somebody else's file");
        std::os::unix::fs::chown(&file, Some(0), None).unwrap();
        std::os::unix::fs::chown(&memory.folder, Some(12345), None).unwrap();
        assert_eq!(memory.find(&question("t", "s")), None, "somebody else's folder");
    }
}

#[test]
fn the_oldest_entries_make_room_and_drafts_of_a_crash_with_them() {
    let dir = tempfile::tempdir().unwrap();
    let (memory, _) = memory(&dir);
    for number in 0..MAX_ENTRIES {
        fs::write(memory.folder.join(format!(".draft-{number}")), "").unwrap();
    }
    memory.keep(&question("t2", "s"), scan()).unwrap();
    assert!(fs::read_dir(&memory.folder).unwrap().count() <= MAX_ENTRIES);
    assert_eq!(memory.find(&question("t2", "s")), Some(scan()));
}

#[test]
fn many_at_once_leave_one_whole_entry() {
    let dir = tempfile::tempdir().unwrap();
    let (memory, _) = memory(&dir);
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let memory = &memory;
            scope.spawn(move || {
                for round in 0..20 {
                    memory.keep(&question(&format!("{thread} {round}"), "s"), scan()).unwrap();
                    let found = memory.find(&question(&format!("{thread} {round}"), "s"));
                    assert!(found.is_none_or(|found| found == scan()));
                }
            });
        }
    });
    assert_eq!(fs::read_dir(&memory.folder).unwrap().count(), 1);
}
