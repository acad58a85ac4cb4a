//! What is read from `/proc/self`, and groups of supervisors that are gone.

use std::fs;
use std::path::Path;

use super::super::kernel::CgroupKernel as _;
use super::super::leftovers;
use super::fake::FakeKernel;
use super::*;

/// Our unified group for a mount's root and point and our own path, all relative to the fake's root; where it was found.
fn unified(fake: &Arc<FakeKernel>, root: &str, point: &str, own: &str) -> Result<String, String> {
    let base = fake.root.to_str().unwrap();
    let mountinfo = format!("31 23 0:28 {root} {base}{point} rw - cgroup2 cgroup2 rw\n");
    let host = CgroupHost::parse(
        mountinfo.as_bytes(),
        format!("1:name=systemd:/x\n0::{own}\n").as_bytes(),
        fake.clone(),
    );
    host.unified_group().map(|own| own.folder.strip_prefix(&fake.root).unwrap().to_str().unwrap().to_owned())
}

#[test]
fn our_group_is_found_through_roots_and_namespaces() {
    let fake = FakeKernel::legacy();
    for folder in ["a/b/c", "with space/x", "back\\slash", "tab\there", "odd:name/y", "ends (deleted)"] {
        fs::create_dir_all(fake.root.join(folder)).unwrap();
    }
    for (root, point, own, expected) in [
        ("/", "", "/", Some("")),
        ("/", "", "/a/b", Some("a/b")),
        ("/", "/a", "/b/c", Some("a/b/c")),
        // The whole of the mount is our own part of the hierarchy.
        ("/docker/1", "/a", "/docker/1", Some("a")),
        ("/docker/1", "/a", "/docker/1/b", Some("a/b")),
        // A name that only begins alike.
        ("/docker/1", "/a", "/docker/12", None),
        ("/docker/1", "/a", "/other", None),
        // A namespace whose root is below the mount's: where we are from there has no name.
        ("/..", "/a", "/", None),
        ("/../..", "/a", "/b", None),
        // And we above the root of our namespace.
        ("/", "/a", "/../b", None),
        ("/", "", "/../../a", None),
        ("/../x", "/a", "/../x", Some("a")),
        // Escapes of mountinfo; there are none in /proc/self/cgroup.
        ("/", "/with\\040space", "/x", Some("with space/x")),
        ("/", "/back\\134slash", "/", Some("back\\slash")),
        ("/", "/tab\\011here", "/", Some("tab\there")),
        ("/a\\040b", "/a", "/a b/b", Some("a/b")),
        // What is no escape stays.
        ("/a\\9", "/a", "/a\\9/b", Some("a/b")),
        ("/a\\40", "/a", "/a\\40/b", Some("a/b")),
        ("/a\\777", "/a", "/a\\777/b", Some("a/b")),
        ("/", "", "/odd:name/y", Some("odd:name/y")),
        // Removed under us; a group of that very name is not taken for it.
        ("/", "", "/ends (deleted)", None),
        ("/", "", "/does/not/exist", None),
    ] {
        let found = unified(&fake, root, point, own);
        assert_eq!(found.as_deref().ok(), expected, "{root} {point} {own}: {found:?}");
    }
}

#[test]
fn of_several_mounts_the_first_that_serves() {
    let fake = FakeKernel::legacy();
    for folder in ["hidden", "partial", "fixed", "good"] {
        fs::create_dir_all(fake.root.join(folder)).unwrap();
    }
    fake.odd.lock().unwrap().covered.insert(fake.root.join("hidden"));
    let base = fake.root.display();
    let lines = [
        (format!("30 23 0:28 / {base}/hidden rw - cgroup2 cgroup2 rw"), "covered by another mount"),
        (format!("31 23 0:28 /elsewhere {base}/partial rw - cgroup2 cgroup2 rw"), "is outside what"),
        (
            format!("32 23 0:28 / {base}/fixed ro,nosuid shared:1 master:2 - cgroup2 none rw"),
            "mounted read-only",
        ),
        (format!("33 23 0:28 / {base}/fixed rw - cgroup2 none ro"), "mounted read-only"),
        (format!("34 23 0:28 / {base}/good rw - cgroup2 none"), ""),
    ];
    let host = |count: usize| {
        let text: Vec<&str> = lines.iter().take(count).map(|(line, _)| line.as_str()).collect();
        CgroupHost::parse(text.join("\n").as_bytes(), b"0::/", fake.clone())
    };
    for (index, (_, expected)) in lines.iter().enumerate() {
        match host(index + 1).unified_group() {
            Ok(own) => assert_eq!((own.folder, *expected), (fake.root.join("good"), "")),
            Err(reason) => assert!(reason.contains(expected) && !expected.is_empty(), "{reason}"),
        }
    }
}

#[test]
fn broken_lines_are_no_mounts() {
    let fake = FakeKernel::legacy();
    for mountinfo in [
        "",
        "\n\n",
        "31",
        "31 23 0:28 / /x rw",
        "31 23 0:28 / /x rw shared:1 cgroup2 cgroup2 rw",
        "31 23 0:28 / /x rw -",
        "31 23 0:28 / /x rw - cgroup2",
        "31 23 0:28 / /x rw - tmpfs cgroup2 rw",
        // A mount point that looks like the rest of a line.
        "31 23 0:28 / /x\\040-\\040cgroup2 rw - ext4 cgroup2 rw",
    ] {
        let host = CgroupHost::parse(mountinfo.as_bytes(), b"0::/\n", fake.clone());
        assert_eq!(host.unified_group().unwrap_err(), "no cgroup2 file system is mounted", "{mountinfo}");
    }
    let line = format!("31 23 0:28 / {} rw - cgroup2 none rw", fake.root.display());
    for cgroup in ["", "0", "0:", "0::", "0::relative", "::\n1:memory:/"] {
        let host = CgroupHost::parse(line.as_bytes(), cgroup.as_bytes(), fake.clone());
        assert_eq!(
            host.unified_group().unwrap_err(),
            "/proc/self/cgroup does not name our cgroup2 group",
            "{cgroup}"
        );
    }
}

/// A group that a killed supervisor left, with the process number in its name.
fn left(fake: &FakeKernel, pid: u32, procs: &str) -> String {
    let name = format!("skillsandbox-{pid}-0-0123456789abcdef");
    fake.group(&name, "", "");
    fake.group(&format!("{name}/run"), "", procs);
    name
}

/// A number that was a process's, and is none's.
fn ended() -> u32 {
    let mut child = std::process::Command::new("true").spawn().unwrap();
    child.wait().unwrap();
    child.id()
}

#[test]
fn groups_of_the_dead_are_removed_if_empty() {
    let fake = FakeKernel::unified("pids");
    let dead = ended();
    let empty = left(&fake, dead, "");
    fake.group(&format!("skillsandbox-{dead}-other"), "", "");
    fake.group("system.slice", "", "");
    let living = left(&fake, std::process::id(), "");
    leftovers::remove_leftovers(&*fake, &fake.root);
    assert_eq!(
        fake.groups(""),
        [living.clone(), format!("skillsandbox-{dead}-other"), "system.slice".to_owned()]
            .into_iter()
            .collect::<std::collections::BTreeSet<_>>()
            .into_iter()
            .collect::<Vec<_>>()
    );
    assert!(!Path::new(&fake.root.join(empty)).exists());

    let busy = left(&fake, dead, "4711\n");
    leftovers::remove_leftovers(&*fake, &fake.root);
    assert!(fake.groups("").contains(&busy));
    // Nothing was ended for it.
    assert!(fake.writes().iter().all(|write| !write.starts_with("cgroup.kill")), "{:?}", fake.writes());
}

#[test]
fn a_group_that_is_held_is_left_alone_whatever_its_number_means_here() {
    // In another pid namespace the number of a living supervisor is nobody's here, or somebody else's.
    let fake = FakeKernel::unified("pids");
    let name = left(&fake, ended(), "");
    let folder = fs::File::open(fake.root.join(&name)).unwrap();
    rustix::fs::flock(&folder, rustix::fs::FlockOperation::LockExclusive).unwrap();
    leftovers::remove_leftovers(&*fake, &fake.root);
    assert_eq!(fake.groups(""), [name]);
    drop(folder);
    leftovers::remove_leftovers(&*fake, &fake.root);
    assert!(fake.groups("").is_empty());
}

#[test]
fn a_sweep_is_bounded() {
    let fake = FakeKernel::unified("pids");
    let dead = ended();
    for count in 0..300 {
        fake.make(&fake.root.join(format!("skillsandbox-{dead}-{count}-0123456789abcdef"))).unwrap();
    }
    leftovers::remove_leftovers(&*fake, &fake.root);
    assert_eq!(fake.groups("").len(), 44);
}
