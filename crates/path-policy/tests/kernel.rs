//! What a denial costs: no disk, no allocation.
// A test may fail by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use serde_json::json;
use skillsandbox_path_policy::{AccessKind, PathRule};

use crate::common::{TreeAccess, refuse_calls};

/// What the text alone decides.
const BY_TEXT: &[(&str, PathRule)] = &[
    ("../../etc/passwd", PathRule::Climbs),
    ("./../x", PathRule::Climbs),
    ("/etc/passwd", PathRule::OutsideRoot),
    ("~/.ssh/id_rsa", PathRule::Home),
    ("$HOME/x", PathRule::Variable),
    ("file:///etc/passwd", PathRule::Url),
    ("a\\..\\b", PathRule::Backslash),
    ("a\0b", PathRule::ControlCharacter),
    ("．．/x", PathRule::LookAlike),
    ("", PathRule::Empty),
    ("a/.. /b", PathRule::TrailingDot),
];

/// Every call that looks at a path, where this architecture has it.
#[cfg(target_arch = "x86_64")]
const LOOKING: &[i64] = &[2, 4, 6, 21, 89, 257, 262, 267, 269, 332, 437, 439, 138];
#[cfg(target_arch = "aarch64")]
const LOOKING: &[i64] = &[56, 79, 78, 48, 291, 437, 439, 44];

#[test]
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn what_the_text_decides_does_not_touch_the_disk() {
    let tree = TreeAccess::new();
    let policy = tree.policy();
    let thread = std::thread::spawn(move || {
        // EIO from every call that could look.
        refuse_calls(LOOKING, 5);
        assert_eq!(
            policy.check("projects/foo.md", AccessKind::Read).rule().unwrap(),
            PathRule::Unresolvable,
            "the control"
        );
        for (path, rule) in BY_TEXT {
            assert_eq!(policy.check(path, AccessKind::Read).rule().unwrap(), *rule, "{path:?}");
        }
    });
    thread.join().unwrap();
}

#[test]
fn what_the_text_decides_allocates_nothing() {
    let tree = TreeAccess::new();
    let policy = tree.policy();
    for (path, rule) in BY_TEXT {
        let arguments = json!({ "file_path": path, "limit": 10, "content": "x" });
        let bare = allocation_counter::measure(|| {
            assert_eq!(policy.check(path, AccessKind::Read).rule(), Some(*rule));
        });
        let call = allocation_counter::measure(|| {
            let decision = policy.validate_call("mcp__fs__read-file", &arguments);
            assert_eq!(decision.rule(), Some(*rule));
        });
        assert_eq!((bare.count_total, call.count_total), (0, 0), "{path:?}");
    }
    let allowed = allocation_counter::measure(|| {
        assert!(policy.check("projects/a/b/c.txt", AccessKind::Read).is_allowed());
    });
    assert_eq!(allowed.count_total, 0, "nor does a plain yes");
    assert!(
        allocation_counter::measure(|| drop(policy.check("..", AccessKind::Read).reason())).count_total > 0,
        "the control"
    );
}
