//! Opening, making, listing, renaming and removing beneath the root.
// A test may fail by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::fs;
use std::io::{Read as _, Write as _};

use skillsandbox_path_policy::{OpenError, OpenOptions, PathRule};

use crate::common::{TreeAccess, each_way};

fn rule<T>(result: &Result<T, OpenError>) -> Option<PathRule> {
    match result {
        Ok(_) => None,
        Err(error) => error.denial().map(skillsandbox_path_policy::PathDenial::rule),
    }
}

#[test]
fn files_are_read_and_written() {
    each_way(|way, build| {
        let tree = TreeAccess::new();
        tree.link("projects/foo.md", "ws/link");
        tree.link(tree.path("ws/projects"), "ws/folder");
        tree.link("projects/made", "ws/dangling");
        let policy = build(tree.builder());
        for path in ["projects/foo.md", "link", "folder/foo.md", "projects/a/../foo.md", "./projects//foo.md"]
        {
            let mut text = String::new();
            policy.open(path, &OpenOptions::reading()).unwrap().read_to_string(&mut text).unwrap();
            assert_eq!(text, "inside", "{way}: {path}");
        }
        policy.create("new.txt").unwrap().write_all(b"one").unwrap();
        policy.open("new.txt", &OpenOptions::appending()).unwrap().write_all(b"two").unwrap();
        assert_eq!(fs::read_to_string(tree.path("ws/new.txt")).unwrap(), "onetwo", "{way}");
        policy.create("new.txt").unwrap();
        assert_eq!(fs::read_to_string(tree.path("ws/new.txt")).unwrap(), "", "{way}: emptied");
        policy.create("dangling").unwrap().write_all(b"x").unwrap();
        assert!(tree.path("ws/projects/made").is_file(), "{way}: made where the link leads");
        let again = policy.open("new.txt", &OpenOptions::writing().create_new());
        assert!(
            matches!(&again, Err(OpenError::Io { error, .. }) if error.kind() == std::io::ErrorKind::AlreadyExists),
            "{way}: {again:?}"
        );
        let missing = policy.open("nothing", &OpenOptions::reading());
        assert!(
            matches!(&missing, Err(OpenError::Io { error, .. }) if error.kind() == std::io::ErrorKind::NotFound),
            "{way}: {missing:?}"
        );
        let no_folder = policy.create("no/folder");
        assert!(matches!(&no_folder, Err(OpenError::Io { .. })), "{way}: {no_folder:?}");
        assert!(
            matches!(policy.create("projects"), Err(OpenError::Io { .. })),
            "{way}: a folder is not emptied"
        );
        let absolute = tree.path("ws/projects/foo.md");
        assert!(policy.open(&absolute, &OpenOptions::reading_and_writing()).is_ok(), "{way}");
    });
}

#[test]
fn nothing_outside_is_opened_made_or_changed() {
    each_way(|way, build| {
        let tree = TreeAccess::new();
        tree.link("../outside", "ws/out");
        tree.link("../outside/secret", "ws/leaf");
        tree.link("../outside/new", "ws/dangling");
        tree.link(tree.path("outside/new"), "ws/absolute");
        tree.link("/proc/self/root", "ws/proc");
        let policy = build(tree.builder().forbid("projects/a"));
        for path in [
            "../outside/secret",
            "out/secret",
            "leaf",
            "dangling",
            "absolute",
            "/etc/passwd",
            "proc/etc/passwd",
            "~/x",
            "projects/a/b/c.txt",
        ] {
            assert!(rule(&policy.open(path, &OpenOptions::reading())).is_some(), "{way}: {path}");
            assert!(rule(&policy.create(path)).is_some(), "{way}: {path}");
            assert!(rule(&policy.open(path, &OpenOptions::appending().create())).is_some(), "{way}: {path}");
            // With O_EXCL the kernel never follows a link at the end; the policy refuses it before.
            assert!(policy.open(path, &OpenOptions::writing().create_new()).is_err(), "{way}: {path}");
        }
        for path in ["..", "out", "/", "/etc", "proc", "projects/a"] {
            assert!(rule(&policy.read_dir(path)).is_some(), "{way}: {path}");
        }
        for path in ["out/x", "../x", "/tmp/x", "projects/a/x"] {
            assert!(rule(&policy.create_dir(path)).is_some(), "{way}: {path}");
            assert!(rule(&policy.remove(path)).is_some(), "{way}: {path}");
            assert!(rule(&policy.rename("projects/foo.md", path)).is_some(), "{way}: {path}");
            assert!(rule(&policy.rename(path, "stolen")).is_some(), "{way}: {path}");
        }
        assert_eq!(fs::read_to_string(tree.path("outside/secret")).unwrap(), "SECRET", "{way}");
        assert_eq!(fs::read_dir(tree.path("outside")).unwrap().count(), 2, "{way}: nothing was made there");
    });
}

#[test]
fn folders_are_listed_made_renamed_and_removed() {
    each_way(|way, build| {
        let tree = TreeAccess::new();
        tree.link("../outside", "ws/out");
        let policy = build(tree.builder());
        let mut entries = policy.read_dir(".").unwrap();
        entries.sort_by(|left, right| left.name.cmp(&right.name));
        let shown: Vec<_> =
            entries.iter().map(|entry| (entry.name.to_str().unwrap(), entry.is_dir, entry.is_link)).collect();
        assert_eq!(shown, [(".git", true, false), ("out", false, true), ("projects", true, false)], "{way}");
        policy.create_dir("made").unwrap();
        assert!(policy.create_dir("made").is_err(), "{way}");
        policy.rename("projects/foo.md", "made/bar.md").unwrap();
        assert_eq!(fs::read_to_string(tree.path("ws/made/bar.md")).unwrap(), "inside", "{way}");
        policy.rename("made/", "renamed").unwrap();
        assert!(policy.remove("renamed").is_err(), "{way}: it is not empty");
        policy.remove("renamed/bar.md").unwrap();
        policy.remove("renamed").unwrap();
        // The link itself, not what it leads to.
        policy.rename("out", "away").unwrap();
        policy.remove("away").unwrap();
        assert!(tree.path("outside/secret").is_file(), "{way}");
        for path in [".", "..", "projects/..", "projects/.", "/", ""] {
            assert!(rule(&policy.remove(path)).is_some(), "{way}: {path}");
            assert!(rule(&policy.rename(path, "x")).is_some(), "{way}: {path}");
        }
        assert_eq!(rule(&policy.remove(&tree.path("ws"))), Some(PathRule::IsRoot), "{way}");
    });
}

/// A folder that holds a forbidden path could be moved, and the path would no longer be known.
#[test]
fn a_forbidden_path_is_not_moved_with_its_folder() {
    each_way(|way, build| {
        let tree = TreeAccess::new();
        let policy =
            build(tree.builder().forbid("projects/a/b").write_root(tree.path("ws/projects/a")).read_only());
        assert_eq!(rule(&policy.rename("projects/a", "x")), Some(PathRule::IsRoot), "{way}");
        let policy = build(tree.builder().forbid("projects/a/b"));
        for folder in ["projects", "projects/a"] {
            assert_eq!(rule(&policy.rename(folder, "x")), Some(PathRule::ForbiddenBelow), "{way}: {folder}");
            assert_eq!(rule(&policy.remove(folder)), Some(PathRule::ForbiddenBelow), "{way}: {folder}");
        }
        assert_eq!(rule(&policy.rename("projects/a/b", "x")), Some(PathRule::Forbidden), "{way}");
        assert_eq!(
            rule(&policy.rename("projects/foo.md", "projects/a/b/x")),
            Some(PathRule::Forbidden),
            "{way}"
        );
        // Nor a folder that holds a root.
        let outer = build(tree.builder().write_root(tree.path("ws/projects/a/b")));
        assert_eq!(rule(&outer.rename("projects/a", "x")), Some(PathRule::IsRoot), "{way}");
    });
}

/// A pipe nobody writes to would hold the reader forever.
#[test]
fn pipes_and_devices_do_not_hold_anybody() {
    each_way(|way, build| {
        let tree = TreeAccess::new();
        let pipe = tree.path("ws/pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let policy = build(tree.builder().read_root("/dev"));
        let opened = policy.open("pipe", &OpenOptions::reading());
        assert!(matches!(opened, Err(OpenError::NotRegular { .. })), "{way}: {opened:?}");
        assert!(policy.open("pipe", &OpenOptions::writing()).is_err(), "{way}");
        assert!(
            matches!(policy.open("/dev/null", &OpenOptions::reading()), Err(OpenError::NotRegular { .. })),
            "{way}"
        );
        assert!(policy.open("/dev/null", &OpenOptions::reading().special_files()).is_ok(), "{way}");
    });
}

#[test]
fn errors_become_io_errors() {
    let tree = TreeAccess::new();
    let policy = tree.policy();
    let denied: std::io::Error = policy.open("/etc/passwd", &OpenOptions::reading()).unwrap_err().into();
    assert_eq!(denied.kind(), std::io::ErrorKind::PermissionDenied);
    assert!(denied.to_string().starts_with("path traversal blocked: "), "{denied}");
    let missing: std::io::Error = policy.open("x", &OpenOptions::reading()).unwrap_err().into();
    assert_eq!(missing.kind(), std::io::ErrorKind::NotFound);
}
