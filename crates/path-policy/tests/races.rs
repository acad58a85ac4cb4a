//! A thread swaps a folder for a link, as fast as it can, while paths through it are opened.
// A test may fail by panicking.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr
)]

mod common;

use std::fs;
use std::io::Read as _;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use skillsandbox_path_policy::{OpenOptions, PathPolicy};

use crate::common::TreeAccess;

const SWAPS: usize = 200_000;

/// `ws/d` is a folder and `ws/l` a link to what is outside; each swap exchanges the two in one step.
fn swapping(tree: &TreeAccess, attack: impl Fn(usize)) -> usize {
    let (folder, link) = (tree.path("ws/d"), tree.path("ws/l"));
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..SWAPS {
                renameat_with(CWD, &folder, CWD, &link, RenameFlags::EXCHANGE).unwrap();
            }
            done.store(true, Ordering::Release);
        });
        let mut rounds = 0;
        while !done.load(Ordering::Acquire) {
            attack(rounds);
            rounds += 1;
        }
        rounds
    })
}

fn tree() -> TreeAccess {
    let tree = TreeAccess::new();
    fs::create_dir(tree.path("ws/d")).unwrap();
    tree.file("ws/d/secret", "inside");
    tree.link("../outside", "ws/l");
    tree
}

fn read(policy: &PathPolicy, path: &str) -> Option<String> {
    let mut text = String::new();
    policy.open(path, &OpenOptions::reading()).ok()?.read_to_string(&mut text).unwrap();
    Some(text)
}

fn no_escape(tree: &TreeAccess, policy: &PathPolicy) {
    let reached = std::cell::Cell::new(0);
    let refused = std::cell::Cell::new(0);
    let rounds = swapping(tree, |round| {
        for path in ["d/secret", "d/../d/secret", "l/secret", "d/deep/../secret"] {
            match read(policy, path) {
                Some(text) => {
                    assert_eq!(text, "inside", "round {round}: {path} led out");
                    reached.set(reached.get() + 1);
                }
                None => refused.set(refused.get() + 1),
            }
        }
        // What is made, moved or removed through the folder must not land outside either.
        let _ = policy.create("d/made");
        let _ = policy.create_dir("d/folder");
        let _ = policy.rename("d/made", "l/moved");
        let _ = policy.remove("d/moved");
        let _ = policy.remove("d/secret-outside");
        for entry in policy.read_dir("d").unwrap_or_default() {
            assert_ne!(entry.name, "only-outside", "round {round}: the folder outside was listed");
        }
    });
    let mut outside: Vec<_> =
        fs::read_dir(tree.path("outside")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    outside.sort();
    assert_eq!(outside, ["deep", "only-outside", "secret", "secret-outside"]);
    assert_eq!(fs::read_to_string(tree.path("outside/secret")).unwrap(), "SECRET");
    eprintln!(
        "{rounds} rounds over {SWAPS} swaps: {} reads inside, {} refused",
        reached.get(),
        refused.get()
    );
    assert!(reached.get() > 0, "the control: something could be read at all");
    assert!(refused.get() > 0, "the control: the swap was seen");
}

fn attack(tree: &TreeAccess) {
    tree.file("outside/secret-outside", "x");
    tree.file("outside/only-outside", "x");
}

#[test]
fn no_swap_leads_out_with_openat2() {
    let tree = tree();
    attack(&tree);
    no_escape(&tree, &tree.policy());
}

#[test]
fn no_swap_leads_out_of_the_walk() {
    let tree = tree();
    attack(&tree);
    no_escape(&tree, &tree.builder().without_openat2().build().unwrap());
}

/// A forbidden folder changes its name with another, and never shows.
#[test]
fn no_swap_shows_what_is_forbidden() {
    for walk in [false, true] {
        let tree = TreeAccess::new();
        fs::create_dir(tree.path("ws/d")).unwrap();
        tree.file("ws/d/key", "inside");
        tree.link(".git", "ws/l");
        tree.file("ws/.git/key", "SECRET");
        let builder = tree.builder().forbid(".git");
        let policy = if walk { builder.without_openat2() } else { builder }.build().unwrap();
        let reached = std::cell::Cell::new(0);
        swapping(&tree, |round| {
            for path in ["d/key", "l/key", "d/../l/key"] {
                if let Some(text) = read(&policy, path) {
                    assert_eq!(text, "inside", "round {round}: {path}");
                    reached.set(reached.get() + 1);
                }
            }
        });
        assert!(reached.get() > 0, "the control: something could be read at all");
    }
}
