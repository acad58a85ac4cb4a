//! Lists of traversal strings: not one may resolve outside, in any spelling a tool may give it.
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
use std::path::{Component, Path, PathBuf};

use serde_json::json;
use skillsandbox_path_policy::{AccessKind, OpenOptions, PathPolicy};

use crate::common::TreeAccess;

const OWN: &str = include_str!("payloads.txt");

/// Where a tool would end up that decodes, turns backslashes round and opens: as far as the text tells.
fn lexical(root: &Path, text: &str) -> PathBuf {
    let mut path = root.to_owned();
    for component in Path::new(text).components() {
        match component {
            Component::RootDir | Component::Prefix(_) => path = PathBuf::from("/"),
            Component::ParentDir => drop(path.pop()),
            Component::CurDir => {}
            Component::Normal(name) => path.push(name),
        }
    }
    path
}

/// The text once and twice percent-decoded, with backslashes turned round.
fn readings(text: &str) -> Vec<String> {
    fn decode(text: &str) -> String {
        let bytes = text.as_bytes();
        let (mut out, mut at) = (Vec::new(), 0);
        while at < bytes.len() {
            let byte = (bytes[at] == b'%')
                .then(|| text.get(at + 1..at + 3).and_then(|digits| u8::from_str_radix(digits, 16).ok()))
                .flatten();
            out.push(byte.unwrap_or(bytes[at]));
            at += if byte.is_some() { 3 } else { 1 };
        }
        String::from_utf8_lossy(&out).into_owned()
    }
    let once = decode(text);
    let twice = decode(&once);
    let all = [text.to_owned(), once, twice];
    all.iter().cloned().chain(all.iter().map(|text| text.replace('\\', "/"))).collect()
}

/// What is allowed is inside, however it is read; what is opened was inside.
fn replay(policy: &PathPolicy, text: &str) -> bool {
    let root = policy.root();
    let arguments = json!({ "path": text });
    let decision = policy.check(text, AccessKind::ReadWrite);
    assert_eq!(policy.validate_call("Edit", &arguments).is_allowed(), decision.is_allowed(), "{text:?}");
    if decision.is_allowed() {
        for reading in readings(text) {
            assert!(lexical(root, &reading).starts_with(root), "{text:?}, read as {reading:?}, leads out");
        }
        let resolved = policy.resolve(text, AccessKind::ReadWrite).unwrap();
        assert!(resolved.starts_with(root), "{text:?} is {}", resolved.display());
        if let Ok(real) = root.join(text).canonicalize() {
            assert_eq!(real, resolved, "{text:?}");
        }
    }
    if let Ok(file) = policy.open(text, &OpenOptions::reading()) {
        use std::os::fd::AsRawFd as _;
        let real = fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd())).unwrap();
        assert!(real.starts_with(root), "{text:?} opened {}", real.display());
    }
    decision.is_allowed()
}

#[test]
fn no_payload_of_our_own_resolves_outside() {
    let tree = TreeAccess::new();
    let mut seen = 0;
    for policy in [tree.policy(), tree.builder().without_openat2().build().unwrap()] {
        for line in OWN.split('\n').filter(|line| !line.is_empty()) {
            assert!(!replay(&policy, line), "{line:?} is allowed");
            seen += 1;
        }
    }
    assert!(seen >= 140, "only {seen}");
}

/// The lists of other people, where they are there: `../shared/corpus/paths` beside the workspace.
#[test]
fn no_payload_of_the_lists_resolves_outside() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus/paths");
    let Ok(entries) = fs::read_dir(&folder) else {
        eprintln!("NOTE: {} is not there: only the built-in list of payloads was replayed", folder.display());
        return;
    };
    let tree = TreeAccess::new();
    let policies = [tree.policy(), tree.builder().without_openat2().build().unwrap()];
    let (mut seen, mut allowed) = (0, 0);
    for entry in entries {
        let text = fs::read(entry.unwrap().path()).unwrap();
        for line in text.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
            let line = String::from_utf8_lossy(line);
            let line = line.trim_end_matches('\r').replace("{FILE}", "etc/passwd");
            // Most of the lists are made to be put behind an address, so each is tried with and without its slash.
            for payload in [
                line.as_str(),
                line.trim_start_matches('/'),
                &format!("projects/{line}"),
                &format!("projects/a/{line}"),
            ] {
                for policy in &policies {
                    seen += 1;
                    allowed += usize::from(replay(policy, payload));
                }
            }
        }
    }
    eprintln!("{seen} payloads, {allowed} of them plain names inside the root");
    assert!(seen > 4000, "only {seen} payloads in {}", folder.display());
}
