use std::os::unix::fs::{PermissionsExt as _, symlink};

use super::*;

const MAX: u64 = 1 << 16;

/// A memory that holds one file, and where that lies.
fn memory(dir: &tempfile::TempDir) -> (PrivateMemory, PathBuf) {
    let memory = PrivateMemory::at(dir.path().canonicalize().unwrap().join("state/memory"));
    memory.write("a", "body").unwrap();
    let file = memory.folder.join("a");
    (memory, file)
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn is_known(memory: &PrivateMemory) -> bool {
    memory.read("a", MAX).is_some_and(|body| body == "body")
}

#[test]
fn only_its_owner_can_read_or_write_it() {
    let dir = tempfile::tempdir().unwrap();
    let (memory, file) = memory(&dir);
    assert!(is_known(&memory) && memory.read("b", MAX).is_none());
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(fs::metadata(&memory.folder).unwrap().permissions().mode() & 0o777, 0o700);
}

#[test]
fn what_is_damaged_or_of_another_form_is_not_believed() {
    let dir = tempfile::tempdir().unwrap();
    let (memory, file) = memory(&dir);
    let text = fs::read_to_string(&file).unwrap();
    let mut bad: Vec<String> = (0..text.len()).map(|end| text[..end].to_owned()).collect();
    bad.extend([
        text.replace("body", "evil"),
        text.replace("remembered 1 ", "remembered 2 "),
        format!("{text} "),
        format!("{text}{}", "x".repeat(1 << 20)),
    ]);
    for bad in bad {
        fs::write(&file, &bad).unwrap();
        assert_eq!(memory.read("a", MAX), None, "{bad:.200}");
    }
    fs::write(&file, [0xff; 600]).unwrap();
    assert_eq!(memory.read("a", MAX), None);
    fs::write(&file, &text).unwrap();
    assert!(is_known(&memory), "the control");
}

#[test]
fn what_others_could_have_written_is_not_believed() {
    let dir = tempfile::tempdir().unwrap();
    let (memory, file) = memory(&dir);
    let aside = dir.path().join("aside");
    for mode in [0o620, 0o602, 0o666] {
        set_mode(&file, mode);
        assert!(!is_known(&memory), "{mode:o}");
    }
    set_mode(&file, 0o600);
    for mode in [0o770, 0o703, 0o1777] {
        set_mode(&memory.folder, mode);
        assert!(!is_known(&memory) && memory.write("a", "body").is_err(), "{mode:o}");
    }
    set_mode(&memory.folder, 0o700);
    assert!(is_known(&memory), "the control");
    fs::hard_link(&file, &aside).unwrap();
    assert!(!is_known(&memory), "a second name");
    fs::remove_file(&file).unwrap();
    symlink(&aside, &file).unwrap();
    assert!(!is_known(&memory), "a link");
    fs::remove_file(&file).unwrap();
    // Without a writer, who opens it for reading waits.
    nix::unistd::mkfifo(&file, nix::sys::stat::Mode::S_IRWXU).unwrap();
    assert!(!is_known(&memory), "a pipe");
    fs::remove_file(&file).unwrap();
    fs::rename(&aside, &file).unwrap();
    let moved = dir.path().join("moved");
    fs::rename(&memory.folder, &moved).unwrap();
    symlink(&moved, &memory.folder).unwrap();
    assert!(!is_known(&memory) && memory.write("a", "body").is_err(), "a folder that is a link");
    if nix::unistd::geteuid().is_root() {
        fs::remove_file(&memory.folder).unwrap();
        fs::rename(&moved, &memory.folder).unwrap();
        assert!(is_known(&memory), "the control");
        std::os::unix::fs::chown(&file, Some(12345), None).unwrap();
        assert!(!is_known(&memory), "somebody else's file");
        std::os::unix::fs::chown(&file, Some(0), None).unwrap();
        std::os::unix::fs::chown(&memory.folder, Some(12345), None).unwrap();
        assert!(!is_known(&memory), "somebody else's folder");
    }
}

#[test]
fn the_oldest_make_room_and_drafts_of_a_crash_with_them() {
    let dir = tempfile::tempdir().unwrap();
    let (memory, _) = memory(&dir);
    for number in 0..MAX_ENTRIES {
        fs::write(memory.folder.join(format!(".draft-{number}")), "").unwrap();
    }
    memory.write("b", "body").unwrap();
    assert!(fs::read_dir(&memory.folder).unwrap().count() <= MAX_ENTRIES);
    assert!(memory.read("b", MAX).is_some());
}

#[test]
fn many_at_once_leave_one_whole_file() {
    let dir = tempfile::tempdir().unwrap();
    let (memory, _) = memory(&dir);
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let memory = &memory;
            scope.spawn(move || {
                for round in 0..20 {
                    memory.write("a", &format!("body {thread} {round}")).unwrap();
                    assert!(memory.read("a", MAX).is_some_and(|body| body.starts_with("body")));
                }
            });
        }
    });
    assert_eq!(fs::read_dir(&memory.folder).unwrap().count(), 1);
}
