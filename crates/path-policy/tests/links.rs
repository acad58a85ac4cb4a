//! Links, climbs, roots in roots: what the kernel would do, by every way the policy has.
// A test may fail by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::fs;
use std::os::unix::fs::symlink;

use skillsandbox_path_policy::{
    AccessKind, CaseHandling, PathDecision, PathPolicy, PathPolicyError, PathRule,
};

use crate::common::{TreeAccess, each_way};

fn rule(decision: &PathDecision<'_>) -> Option<PathRule> {
    decision.rule()
}

#[test]
fn climbs_are_resolved_behind_links_as_the_kernel_does() {
    each_way(|way, build| {
        let tree = TreeAccess::new();
        // `deep/..` is projects/a, not the root: a text that is cut short would say otherwise.
        tree.link("projects/a/b", "ws/deep");
        fs::create_dir(tree.path("ws/shallow")).unwrap();
        tree.link("../..", "ws/shallow/up");
        let policy = build(tree.builder());
        assert_eq!(policy.resolve("deep/..", AccessKind::Read).unwrap(), tree.path("ws/projects/a"), "{way}");
        assert_eq!(
            policy.resolve("deep/../../foo.md", AccessKind::Read).unwrap(),
            tree.path("ws/projects/foo.md")
        );
        assert!(policy.check("deep/../../..", AccessKind::Read).is_allowed(), "{way}: the root itself");
        assert_eq!(
            rule(&policy.check("deep/../../../..", AccessKind::Read)),
            Some(PathRule::LinkLeadsOut),
            "{way}"
        );
        assert_eq!(
            rule(&policy.check("shallow/up/outside/secret", AccessKind::Read)),
            Some(PathRule::LinkLeadsOut),
            "{way}"
        );
        assert_eq!(rule(&policy.check("projects/../..", AccessKind::Read)), Some(PathRule::Climbs), "{way}");
        assert_eq!(
            rule(&policy.check("projects/../../ws/projects", AccessKind::Read)),
            Some(PathRule::Climbs),
            "{way}: not even for a moment"
        );
        assert_eq!(
            rule(&policy.check("missing/../projects", AccessKind::Read)),
            Some(PathRule::Unresolvable),
            "{way}"
        );
        assert_eq!(
            rule(&policy.check("projects/foo.md/..", AccessKind::Read)),
            Some(PathRule::Unresolvable),
            "{way}"
        );
        assert_eq!(
            rule(&policy.check("projects/foo.md/", AccessKind::Read)),
            Some(PathRule::Unresolvable),
            "{way}"
        );
        assert_eq!(
            rule(&policy.check("projects/foo.md/.", AccessKind::Read)),
            Some(PathRule::Unresolvable),
            "{way}"
        );
    });
}

#[test]
fn loops_and_long_chains_end() {
    each_way(|way, build| {
        let tree = TreeAccess::new();
        tree.link("b", "ws/a");
        tree.link("a", "ws/b");
        tree.link("self/x", "ws/self");
        tree.link("projects/foo.md", "ws/chain0");
        for step in 1..=45 {
            tree.link(format!("chain{}", step - 1), &format!("ws/chain{step}"));
        }
        // Every link asks for the one before it twice: 2^20 steps for whoever does not count.
        fs::create_dir(tree.path("ws/bomb0")).unwrap();
        for step in 1..=20 {
            let before = format!("bomb{}", step - 1);
            tree.link(format!("{before}/../{before}"), &format!("ws/bomb{step}"));
        }
        let policy = build(tree.builder());
        for path in ["a", "a/x", "self", "chain45", "bomb20"] {
            assert_eq!(
                rule(&policy.check(path, AccessKind::Read)),
                Some(PathRule::LinkLoop),
                "{way}: {path}"
            );
        }
        assert!(
            policy.check("chain39", AccessKind::Read).is_allowed(),
            "{way}: as many as the kernel follows"
        );
        assert!(
            fs::metadata(tree.path("ws/chain39")).is_ok() && fs::metadata(tree.path("ws/chain40")).is_err()
        );
        assert!(policy.check("chain40", AccessKind::Read).is_denied(), "{way}");
    });
}

#[test]
fn links_that_come_later_are_seen() {
    each_way(|way, build| {
        let tree = TreeAccess::new();
        let policy = build(tree.builder());
        assert!(policy.check("new/secret", AccessKind::Write).is_allowed(), "{way}");
        tree.link("../outside", "ws/new");
        assert!(policy.check("new/secret", AccessKind::Write).is_denied(), "{way}");
        fs::remove_file(tree.path("ws/new")).unwrap();
        fs::rename(tree.path("ws/projects"), tree.path("ws/old")).unwrap();
        symlink(tree.path("outside"), tree.path("ws/projects")).unwrap();
        assert!(policy.check("projects/secret", AccessKind::Read).is_denied(), "{way}");
    });
}

#[test]
fn links_of_proc_never_count_as_inside() {
    each_way(|way, build| {
        let tree = TreeAccess::new();
        let own = std::process::id();
        tree.link("/proc/self/root/etc", "ws/a");
        tree.link("/proc/self/cwd", "ws/b");
        tree.link("/dev/fd", "ws/c");
        let policy = build(tree.builder().read_root("/proc").read_root("/dev"));
        for path in [
            "/proc/self/root/etc/passwd".to_owned(),
            format!("/proc/{own}/root/etc/passwd"),
            format!("/proc/{own}/root{}", tree.text("ws/projects/foo.md")),
            format!("/proc/{own}/cwd/Cargo.toml"),
            format!("/proc/{own}/exe"),
            format!("/proc/{own}/fd/0"),
            "/proc/thread-self/root".to_owned(),
            "/dev/fd/0".to_owned(),
            "/dev/stdin".to_owned(),
            "a/passwd".to_owned(),
            "b/Cargo.toml".to_owned(),
            "c/0".to_owned(),
        ] {
            assert_eq!(
                rule(&policy.check(&path, AccessKind::Read)),
                Some(PathRule::MagicLink),
                "{way}: {path}"
            );
        }
        assert!(
            policy.check("/proc/version", AccessKind::Read).is_allowed(),
            "{way}: files of a granted root are"
        );
        let plain = tree.policy();
        for path in
            ["/proc/self/root", "/proc/self/fd/0", "/dev/fd/0", "/dev/stdin", "a/passwd", "b/x", "c/0"]
        {
            assert!(plain.check(path, AccessKind::Read).is_denied(), "{way}: {path}");
        }
    });
}

#[test]
fn a_whole_file_system_has_to_be_asked_for() {
    assert!(matches!(PathPolicy::new("/"), Err(PathPolicyError::WholeFileSystem { .. })));
    assert!(matches!(PathPolicy::new("/usr/.."), Err(PathPolicyError::WholeFileSystem { .. })));
    let tree = TreeAccess::new();
    let whole = PathPolicy::builder()
        .root("/")
        .dangerous_whole_file_system()
        .forbid(tree.path("outside"))
        .build()
        .unwrap();
    assert!(whole.check("/etc", AccessKind::Read).is_allowed());
    assert!(whole.check("/../../etc", AccessKind::Read).is_allowed(), "above the top is the top");
    assert!(whole.check(&tree.path("outside/secret"), AccessKind::Read).is_denied());
    assert!(whole.check("/proc/self/root", AccessKind::Read).is_denied());
    assert!(whole.check("/dev/fd/0", AccessKind::Read).is_denied());
    for missing in [tree.path("nothing"), tree.path("outside/secret")] {
        assert!(matches!(PathPolicy::new(missing), Err(PathPolicyError::Root { .. })));
    }
}

#[test]
fn prefixes_of_names_are_no_prefixes_of_paths() {
    each_way(|way, build| {
        let tree = TreeAccess::new();
        fs::create_dir(tree.path("data")).unwrap();
        tree.link(tree.path("database"), "data/base");
        tree.link("../database", "data/relative");
        let policy = build(PathPolicy::builder().root(tree.path("data")));
        for path in [
            tree.text("database"),
            tree.text("database/secret"),
            tree.text("data") + "base/secret",
            tree.text("dat"),
        ] {
            assert_eq!(
                rule(&policy.check(&path, AccessKind::Read)),
                Some(PathRule::OutsideRoot),
                "{way}: {path}"
            );
        }
        assert!(policy.check("base/secret", AccessKind::Read).is_denied(), "{way}");
        assert!(policy.check("relative/secret", AccessKind::Read).is_denied(), "{way}");
        assert!(policy.check(&(tree.text("data") + "//x"), AccessKind::Read).is_allowed(), "{way}");
    });
}

#[test]
fn roots_add_up() {
    each_way(|way, build| {
        let tree = TreeAccess::new();
        fs::create_dir_all(tree.path("shared/out")).unwrap();
        tree.link(tree.path("shared"), "ws/shared");
        tree.link("../shared/out/x", "ws/result");
        let policy = build(
            tree.builder()
                .read_root(tree.path("shared"))
                .write_root(tree.path("shared/out"))
                .read_root(tree.path("outside/deep")),
        );
        for (path, read, write) in [
            (tree.text("shared/a"), true, false),
            (tree.text("shared/out/x"), true, true),
            ("shared/a".to_owned(), true, false),
            ("shared/out/new".to_owned(), true, true),
            ("shared/out/../a".to_owned(), true, false),
            ("result".to_owned(), true, true),
            ("../shared/a".to_owned(), true, false),
            ("../shared/out/../../shared/out/a".to_owned(), false, false),
            ("../outside/deep/x".to_owned(), true, false),
            ("../outside/deep/../secret".to_owned(), false, false),
            ("../outside".to_owned(), false, false),
            ("..".to_owned(), false, false),
            ("../outside/secret".to_owned(), false, false),
            ("../ws/projects".to_owned(), false, false),
            ("../../../../../../../../etc/passwd".to_owned(), false, false),
            (tree.text("outside/deep/../secret"), false, false),
            (tree.text("outside/deep/x"), true, false),
            (tree.text("outside"), false, false),
        ] {
            assert_eq!(policy.check(&path, AccessKind::Read).is_allowed(), read, "{way}: read {path}");
            assert_eq!(policy.check(&path, AccessKind::Write).is_allowed(), write, "{way}: write {path}");
        }
        assert_eq!(rule(&policy.check("shared/a", AccessKind::Write)), Some(PathRule::ReadOnly), "{way}");
        let read_only = build(tree.builder().read_only());
        assert_eq!(
            rule(&read_only.check("projects/foo.md", AccessKind::Write)),
            Some(PathRule::ReadOnly),
            "{way}"
        );
        assert!(read_only.check("projects/foo.md", AccessKind::Read).is_allowed(), "{way}");
    });
}

/// An inner root whose name was swapped for a link is judged by where the link leads.
#[test]
fn a_root_inside_another_is_not_trusted_by_its_name() {
    each_way(|way, build| {
        let tree = TreeAccess::new();
        let policy = build(tree.builder().write_root(tree.path("ws/projects")));
        fs::rename(tree.path("ws/projects"), tree.path("ws/moved")).unwrap();
        tree.link("../outside", "ws/projects");
        assert!(policy.check(&tree.path("ws/projects/secret"), AccessKind::Read).is_denied(), "{way}");
        assert!(policy.check("projects/secret", AccessKind::Read).is_denied(), "{way}");
    });
}

#[test]
fn a_root_is_known_by_the_name_it_was_given() {
    each_way(|way, build| {
        let tree = TreeAccess::new();
        tree.link("ws", "alias");
        let policy = build(PathPolicy::builder().root(tree.path("alias")));
        assert_eq!(policy.root(), tree.path("ws"), "{way}");
        for path in ["alias/projects/foo.md", "ws/projects/foo.md"] {
            assert!(policy.check(&tree.path(path), AccessKind::Write).is_allowed(), "{way}: {path}");
        }
        // Once the link leads elsewhere, the name means something else.
        fs::remove_file(tree.path("alias")).unwrap();
        tree.link("outside", "alias");
        assert!(policy.check(&tree.path("alias/secret"), AccessKind::Read).is_denied(), "{way}");
        assert!(policy.check(&tree.path("alias/projects/foo.md"), AccessKind::Read).is_denied(), "{way}");

        // A root that was named through the workspace is found through its link, and no longer once that leads elsewhere.
        tree.link("../database", "ws/data");
        let policy = build(tree.builder().read_root(tree.path("ws/data")));
        assert!(
            policy.check("data/secret", AccessKind::Read).is_allowed(),
            "{way}: granted, and found through the link"
        );
        fs::remove_file(tree.path("ws/data")).unwrap();
        tree.link("../outside", "ws/data");
        assert!(policy.check("data/secret", AccessKind::Read).is_denied(), "{way}");
        assert!(policy.check(&tree.path("ws/data/secret"), AccessKind::Read).is_denied(), "{way}");
    });
}

#[test]
fn forbidden_links_forbid_both_ends_and_every_passage() {
    each_way(|way, build| {
        let tree = TreeAccess::new();
        fs::create_dir(tree.path("ws/real")).unwrap();
        tree.file("ws/real/key", "KEY");
        tree.link("real", "ws/secret");
        tree.link("projects", "ws/passage");
        let policy = build(tree.builder().forbid("secret").forbid("passage"));
        for path in ["secret/key", "real/key", "real", "passage/foo.md"] {
            assert_eq!(
                rule(&policy.check(path, AccessKind::Read)),
                Some(PathRule::Forbidden),
                "{way}: {path}"
            );
        }
        let other = build(tree.builder().forbid("through").forbid("real"));
        tree.link("projects", "ws/through");
        assert_eq!(
            rule(&other.check("through/foo.md", AccessKind::Read)),
            Some(PathRule::Forbidden),
            "{way}: it came later"
        );
        assert!(other.check("projects/foo.md", AccessKind::Read).is_allowed(), "{way}");
    });
    let tree = TreeAccess::new();
    for bad in ["", "~/.ssh", "../x", "a/../b"] {
        assert!(
            matches!(tree.builder().forbid(bad).build(), Err(PathPolicyError::Forbidden { .. })),
            "{bad}"
        );
    }
}

#[test]
fn letters_and_their_case() {
    each_way(|way, build| {
        let tree = TreeAccess::new();
        let (composed, decomposed) = ("caf\u{e9}", "cafe\u{301}");
        let policy = build(tree.builder().forbid(composed).forbid(".Env"));
        assert!(policy.check(composed, AccessKind::Read).is_denied(), "{way}");
        assert!(policy.check(decomposed, AccessKind::Read).is_denied(), "{way}: the same letters");
        assert!(policy.check(".env", AccessKind::Read).is_allowed(), "{way}");
        let folding = build(tree.builder().forbid(composed).forbid(".Env").case(CaseHandling::Insensitive));
        for path in [".env", ".ENV/x", "CAF\u{c9}", "Cafe\u{301}/x"] {
            assert!(folding.check(path, AccessKind::Read).is_denied(), "{way}: {path}");
        }
        assert!(
            folding.check(&tree.path("WS/x"), AccessKind::Read).is_denied(),
            "{way}: roots are compared byte by byte"
        );
        // One spelling leads out: a tool that normalises would follow it.
        tree.link("../outside", &format!("ws/r{composed}"));
        for path in [format!("r{composed}/secret"), format!("r{decomposed}/secret")] {
            assert!(folding.check(&path, AccessKind::Read).is_denied(), "{way}: {path}");
        }
        assert!(folding.check("Zu\u{308}rich.md", AccessKind::Write).is_allowed(), "{way}");
    });
}

#[test]
fn percent_signs_are_judged_decoded_too() {
    each_way(|way, build| {
        let tree = TreeAccess::new();
        tree.link("../outside", "ws/o t");
        tree.link("../outside", "ws/%72");
        let policy = build(tree.builder().forbid("secret"));
        for path in [
            "sec%72et",
            "sec%2572et",
            "o%20t/secret",
            "%2572/secret",
            "%72/secret",
            "%2e%2e/x",
            "..%2fx",
            "%c0%ae%c0%ae/x",
            "%ef%bc%8fx",
        ] {
            assert!(policy.check(path, AccessKind::Read).is_denied(), "{way}: {path}");
        }
        for path in ["a%20b", "100%", "100%25.txt", "caf%C3%A9"] {
            assert!(policy.check(path, AccessKind::Write).is_allowed(), "{way}: {path}");
        }
    });
}

/// Letters that NFKC turns into others: a tool that normalises would open the other name.
#[test]
fn compatible_letters_are_judged_too() {
    each_way(|way, build| {
        let tree = TreeAccess::new();
        tree.link("../outside", "ws/out");
        let policy = build(tree.builder().forbid(".env").forbid("secret"));
        for path in [".\u{ff45}nv", "\u{ff53}ecret/x", "se\u{1d41c}ret", "\u{24de}ut/secret"] {
            assert_eq!(
                rule(&policy.check(path, AccessKind::Read)),
                Some(PathRule::Composition),
                "{way}: {path}"
            );
        }
        for path in ["\u{bd} cup.md", "Notes\u{2026}", "\u{fb01}le", "x\u{b2}"] {
            assert!(
                policy.check(path, AccessKind::Write).is_allowed(),
                "{way}: {path}: {}",
                policy.check(path, AccessKind::Write).reason()
            );
        }
    });
}

/// What is odd about the root's own name is the user's business.
#[test]
fn a_root_may_have_any_name() {
    each_way(|way, build| {
        let tree = TreeAccess::new();
        for name in
            ["Acme Inc.", "a%20b", "cafe\u{301}", "caf\u{e9}", "back\\slash", "{a,..}", "$HOME", "a: b"]
        {
            let root = tree.path(name);
            fs::create_dir(&root).unwrap();
            symlink(tree.path("outside"), root.join("out")).unwrap();
            symlink(root.join("x"), root.join("in")).unwrap();
            let policy = build(PathPolicy::builder().root(&root));
            for inside in ["x", "x/y", "in", "~x", "./a"] {
                assert!(
                    policy.check(&root.join(inside), AccessKind::Write).is_allowed(),
                    "{way}: {name}/{inside}"
                );
            }
            assert!(policy.check(&root, AccessKind::Read).is_allowed(), "{way}: {name}");
            for bad in ["out/secret", "../outside/secret", "x\0", "%2e%2e/x", "a\\b", "x.", "．．/x"] {
                assert!(policy.check(&root.join(bad), AccessKind::Read).is_denied(), "{way}: {name}/{bad}");
            }
            assert!(
                policy
                    .check(&format!("{}/{}", root.display(), "a/".repeat(2100)), AccessKind::Read)
                    .is_denied(),
                "{way}: too long"
            );
        }
    });
}

/// More folders than file descriptors, deeper paths than are followed: a denial, not a panic.
#[test]
fn depth_is_bounded() {
    each_way(|way, build| {
        let tree = TreeAccess::new();
        let mut deep = tree.path("ws/d");
        for _ in 0..250 {
            deep.push("d");
        }
        fs::create_dir_all(&deep).unwrap();
        tree.link("d/".repeat(200), "ws/jump");
        let policy = build(tree.builder());
        assert!(policy.check(&"d/".repeat(200), AccessKind::Read).is_allowed(), "{way}");
        assert_eq!(
            rule(&policy.check(&"d/".repeat(257), AccessKind::Read)),
            Some(PathRule::TooDeep),
            "{way}"
        );
        assert!(policy.check("jump/d", AccessKind::Read).is_allowed(), "{way}");
        assert!(policy.check("jump/../../d", AccessKind::Read).is_allowed(), "{way}");
    });
}
