//! Reading from a folder that may be hostile.
#![cfg(feature = "declarations")]
// A test may fail by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::fs;
use std::path::Path;

use skillsandbox_manifest::{LoadError, MAX_BYTES, Manifest, SkillDoc};

const VALID: &str = "skill: { name: demo, version: \"1\" }\nentrypoint: { command: python3 }\n";

fn skill(write: impl FnOnce(&Path)) -> (tempfile::TempDir, Result<Manifest, LoadError>) {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("skill");
    fs::create_dir(&folder).unwrap();
    write(&folder.join(Manifest::FILE_NAME));
    let result = Manifest::load(&folder);
    (dir, result)
}

macro_rules! refused {
    ($result:expr, $variant:ident) => {
        let (_dir, result) = $result;
        let error = result.expect_err(stringify!($variant));
        assert!(matches!(error, LoadError::$variant { .. }), "{error}");
    };
}

#[test]
fn a_valid_file_loads() {
    let (_dir, result) = skill(|path| fs::write(path, VALID).unwrap());
    assert_eq!(result.unwrap().skill().name.value, "demo");
}

#[test]
fn what_is_no_readable_text_is_named() {
    refused!(skill(|_| {}), NotFound);
    refused!(skill(|path| fs::create_dir(path).unwrap()), NotAFile);
    refused!(skill(|path| fs::write(path, vec![b'#'; MAX_BYTES + 1]).unwrap()), TooLarge);
    refused!(skill(|path| fs::write(path, b"skill: {}\n# \xff\n").unwrap()), NotUtf8);
    refused!(skill(|path| fs::write(path, b"a\0b").unwrap()), Invalid);
    refused!(skill(|path| fs::write(path, b"\xff\xfes\0k\0").unwrap()), NotUtf8);
    let (_dir, result) = skill(|path| fs::write(path, b"skill: {}\n# \xff\n").unwrap());
    assert!(matches!(result, Err(LoadError::NotUtf8 { line: 2, .. })));
    let (_dir, result) = skill(|path| fs::write(path, vec![b'#'; MAX_BYTES]).unwrap());
    assert!(matches!(result, Err(LoadError::Invalid { .. })), "a file of exactly the bound is read");
}

#[test]
fn the_folder_must_be_one() {
    let dir = tempfile::tempdir().unwrap();
    assert!(matches!(Manifest::load(dir.path().join("none")), Err(LoadError::NoSuchFolder { .. })));
    let file = dir.path().join("file");
    fs::write(&file, VALID).unwrap();
    assert!(matches!(Manifest::load(&file), Err(LoadError::NotAFolder { .. })));
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn links_are_refused_wherever_they_lead() {
        let secret = tempfile::NamedTempFile::new().unwrap();
        fs::write(secret.path(), VALID).unwrap();
        refused!(skill(|path| symlink(secret.path(), path).unwrap()), Link);
        refused!(skill(|path| symlink("/etc/passwd", path).unwrap()), Link);
        refused!(skill(|path| symlink("../skillsandbox.yaml", path).unwrap()), Link);
        refused!(skill(|path| symlink("/proc/self/environ", path).unwrap()), Link);
        refused!(skill(|path| symlink("sub/../../x", path).unwrap()), Link);
        refused!(skill(|path| symlink(path, path).unwrap()), Link);
        refused!(skill(|path| symlink("gone.yaml", path).unwrap()), Link);
        // Also inside the folder: behind it could lie a place the skill may write.
        refused!(
            skill(|path| {
                fs::write(path.with_file_name("real.yaml"), VALID).unwrap();
                symlink("real.yaml", path).unwrap();
            }),
            Link
        );
    }

    #[test]
    fn a_link_through_an_inner_link_out_is_refused() {
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("m.yaml"), VALID).unwrap();
        refused!(
            skill(|path| {
                symlink(outside.path(), path.with_file_name("sub")).unwrap();
                symlink("sub/m.yaml", path).unwrap();
            }),
            Link
        );
    }

    #[test]
    fn a_pipe_or_a_socket_or_a_device_does_not_hold_us() {
        refused!(
            skill(|path| {
                assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
            }),
            NotAFile
        );
        refused!(skill(|path| drop(UnixListener::bind(path).unwrap())), NotAFile);
        refused!(skill(|path| symlink("/dev/zero", path).unwrap()), Link);
    }

    #[test]
    fn skill_docs_are_read_as_carefully() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join(SkillDoc::FILE_NAME), "---\nname: x\n---\nbody\n").unwrap();
        let (doc, text) = SkillDoc::load(dir.path()).unwrap();
        assert_eq!(doc.body(&text), "body\n");
        fs::remove_file(dir.path().join(SkillDoc::FILE_NAME)).unwrap();
        symlink("/etc/passwd", dir.path().join(SkillDoc::FILE_NAME)).unwrap();
        assert!(matches!(SkillDoc::load(dir.path()), Err(LoadError::Link { .. })));
    }

    #[test]
    fn a_folder_that_is_a_link_is_the_users_own_choice() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join(Manifest::FILE_NAME), VALID).unwrap();
        let link = dir.path().join("link");
        symlink(dir.path(), &link).unwrap();
        assert!(Manifest::load(&link).is_ok());
    }
}
