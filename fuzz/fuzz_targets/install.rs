//! Any bytes are installed as a skill that is an archive: nothing panics, nothing is written outside of the store, what is unpacked stays
//! within its bounds, and what is installed is what the lock says.
#![no_main]

use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use skillsandbox_store::{Approval, DeclineReviewer, SkillSource, Store, StoreLayout, unpack};

/// A folder for this process; beside the store in it lies a file that nothing may touch.
static DIR: LazyLock<PathBuf> = LazyLock::new(|| {
    let dir = std::env::temp_dir().join(format!("skillsandbox-fuzz-{}", std::process::id()));
    let _ = fs::remove_dir_all(&dir);
    fs::create_dir_all(&dir).expect("a folder");
    fs::write(dir.join("victim"), "untouched").expect("a file");
    dir
});

fuzz_target!(|bytes: &[u8]| {
    let Ok(unpacked) = unpack("fuzz.skill", bytes) else { return };
    let hashes = unpacked.tree.hashes();
    assert!(hashes.len() <= 4000);
    for path in hashes.keys() {
        assert!(path.split('/').all(|part| !matches!(part, "" | "." | ".." | ".git")), "{path:?}");
        assert!(!path.contains(['\\', '\0', '\n', ':']), "{path:?}");
    }
    // The whole way is slow, and only taken by what is a skill.
    if unpacked.tree.bytes("SKILL.md").is_none() || bytes.len() > 4096 {
        return;
    }
    let (root, archive) = (DIR.join("store"), DIR.join("fuzz.skill"));
    let _ = fs::remove_dir_all(&root);
    fs::write(&archive, bytes).expect("the archive");
    let store = Store::new(StoreLayout::new(&root));
    let _ = store.install(SkillSource::Local(archive), Approval::Forced, &mut DeclineReviewer);
    let lock = store.list().expect("the lock can be read");
    for entry in lock.entries() {
        assert_eq!(entry.files, hashes);
        for path in hashes.keys() {
            assert!(entry.path(store.layout()).join(path).is_file(), "{path:?}");
        }
    }
    let mut beside: Vec<_> =
        fs::read_dir(&*DIR).expect("it is there").map(|entry| entry.expect("an entry").file_name()).collect();
    beside.sort();
    assert_eq!(beside, ["fuzz.skill", "store", "victim"]);
    assert_eq!(fs::read(DIR.join("victim")).expect("it is there"), b"untouched");
});
