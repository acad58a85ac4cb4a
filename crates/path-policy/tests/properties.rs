//! The policy beside a slow reference that does what `path_resolution(7)` says, one name at a time, on trees full of links.
// A test may fail by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use skillsandbox_path_policy::{AccessKind, OpenOptions, PathPolicy};

use crate::common::TreeAccess;

/// Where the kernel would end up, in text: none if it would not, or would leave the root on the way.
fn reference(root: &Path, path: &str) -> Option<PathBuf> {
    let mut here = root.to_owned();
    let mut left: Vec<String> = path.split('/').rev().map(str::to_owned).collect();
    if path.starts_with('/') {
        here = PathBuf::from("/");
    }
    let (mut links, mut missing) = (0, false);
    while let Some(name) = left.pop() {
        if name.is_empty() || name == "." {
            if !missing && !here.is_dir() {
                return None;
            }
            continue;
        }
        if name == ".." {
            if missing || !here.is_dir() {
                return None;
            }
            here.pop();
        } else {
            if !missing && !here.is_dir() {
                return None;
            }
            let next = here.join(&name);
            match fs::symlink_metadata(&next) {
                Ok(metadata) if metadata.is_symlink() => {
                    links += 1;
                    if links > 40 {
                        return None;
                    }
                    let target = fs::read_link(&next).unwrap().to_str().unwrap().to_owned();
                    if target.starts_with('/') {
                        here = PathBuf::from("/");
                    }
                    left.extend(target.split('/').rev().map(str::to_owned));
                }
                Ok(_) => here = next,
                Err(_) => {
                    missing = true;
                    here = next;
                }
            }
        }
        // On the way to an absolute place one passes above the root.
        let absolute_way = root.starts_with(&here)
            && here != root
            && left.last().is_some_and(|next| root.starts_with(here.join(next)));
        if !here.starts_with(root) && !absolute_way {
            return None;
        }
    }
    here.starts_with(root).then_some(here)
}

/// Names are few, so that paths and links meet each other.
fn name() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["a", "b", "c", "d"]).prop_map(str::to_owned)
}

fn path() -> impl Strategy<Value = String> {
    let part = prop_oneof![6 => name(), 3 => Just("..".to_owned()), 1 => Just(".".to_owned()), 1 => Just(String::new())];
    prop::collection::vec(part, 1..8).prop_map(|parts| {
        let path = parts.join("/");
        if path.is_empty() { ".".to_owned() } else { path }
    })
}

#[derive(Clone, Debug)]
enum Thing {
    Folder(String),
    File(String),
    /// Where it is, where it leads, whether it is written from the top.
    Link(String, String, bool),
}

fn thing() -> impl Strategy<Value = Thing> {
    let place = || prop::collection::vec(name(), 1..4).prop_map(|names| names.join("/"));
    prop_oneof![
        3 => place().prop_map(Thing::Folder),
        1 => place().prop_map(Thing::File),
        4 => (place(), path(), any::<bool>()).prop_map(|(place, target, top)| Thing::Link(place, target, top)),
    ]
}

fn build(root: &Path, things: &[Thing]) {
    for thing in things {
        // Earlier things may be in the way, or links; whatever can be made inside is.
        let (Thing::Folder(place) | Thing::File(place) | Thing::Link(place, ..)) = thing;
        let target = root.join(place);
        let Some(parent) = target.parent() else { continue };
        let inside = parent.canonicalize().is_ok_and(|parent| parent.starts_with(root));
        if !inside && fs::create_dir_all(parent).is_err()
            || !parent.canonicalize().is_ok_and(|parent| parent.starts_with(root))
        {
            continue;
        }
        let _ = match thing {
            Thing::Folder(_) => fs::create_dir(&target),
            Thing::File(_) => fs::write(&target, "x"),
            Thing::Link(_, to, true) => symlink(root.join(to), &target),
            Thing::Link(_, to, false) => symlink(to, &target),
        };
    }
}

fn compare(policy: &PathPolicy, path: &str) {
    let root = policy.root();
    let expected = reference(root, path);
    let resolved = policy.resolve(path, AccessKind::ReadWrite);
    // A climb out of the root that the text decides is refused without looking whether it comes back.
    assert_eq!(policy.check(path, AccessKind::ReadWrite).is_allowed(), resolved.is_ok(), "{path:?}");
    match (&resolved, &expected) {
        (Ok(resolved), Some(expected)) => assert_eq!(resolved, expected, "{path:?}"),
        (Err(_), None) => {}
        _ => panic!("{path:?}: the policy says {resolved:?}, the reference {expected:?}"),
    }
    // And the kernel itself: what is allowed and exists is where we say.
    if let (Ok(resolved), Ok(real)) = (&resolved, root.join(path).canonicalize()) {
        assert_eq!(*resolved, real, "{path:?}");
    }
    if let Ok(file) = policy.open(path, &OpenOptions::reading()) {
        use std::os::fd::AsRawFd as _;
        let real = fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd())).unwrap();
        assert_eq!(Some(real), expected, "{path:?}");
    } else if let Some(place) = &expected {
        assert!(!place.exists(), "{path:?} is {} and was not opened", place.display());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_policy_decides_as_the_reference(things in prop::collection::vec(thing(), 0..14), paths in prop::collection::vec(path(), 1..24)) {
        let tree = TreeAccess::new();
        let root = tree.path("ws");
        fs::remove_dir_all(&root).unwrap();
        fs::create_dir(&root).unwrap();
        build(&root, &things);
        for policy in [tree.policy(), tree.builder().without_openat2().build().unwrap()] {
            for path in &paths {
                compare(&policy, path);
                let absolute = root.join(path.trim_start_matches('/')).to_str().unwrap().to_owned();
                compare(&policy, &absolute);
            }
        }
    }

    /// Any text at all: an answer, never a panic, and what is allowed is inside.
    #[test]
    fn any_text_has_an_answer(text in "(\\PC|[./~$%{}\\\\ \\x00-\\x1f]){0,40}") {
        let tree = TreeAccess::new();
        let policy = tree.policy();
        let decision = policy.check(&text, AccessKind::Write);
        if decision.is_allowed() {
            let resolved = policy.resolve(&text, AccessKind::Write).unwrap();
            prop_assert!(resolved.starts_with(policy.root()));
        } else {
            prop_assert!(decision.reason().starts_with("path traversal blocked: "));
        }
        let arguments = serde_json::json!({ "path": text, "pattern": text, "glob": text, text.clone(): [text.clone()] });
        for tool in ["Glob", "Read", text.as_str()] {
            let _ = policy.validate_call(tool, &arguments);
        }
    }
}
