//! Sources that attack whoever unpacks them. Each is refused, and nothing of it is written anywhere.
#![cfg(target_os = "linux")]
// A test may fail by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::fs;
use std::os::unix::fs::symlink;

use common::{Member, Stage, Tar, document, files, gzip, zip, zstd};
use proptest::prelude::*;
use skillsandbox_store::{Error, InstallOutcome, unpack};

fn skill_md() -> Vec<u8> {
    document("demo", "Keep them.").into_bytes()
}

/// A zip with a good document and these members.
fn zipped(members: Vec<Member>) -> Vec<u8> {
    let mut all = vec![Member::new("SKILL.md", &skill_md())];
    all.extend(members);
    zip(&all)
}

fn tarred() -> Tar {
    Tar::default().file("SKILL.md", &skill_md())
}

/// Installs an archive and expects that it is refused for what it is, and that nothing outside of the store's own files was touched.
#[track_caller]
fn refused(what: &str, name: &str, bytes: &[u8], why: &str) {
    let stage = Stage::new();
    stage.write("victim/file", "untouched");
    let archive = stage.write(&format!("victim/sub/{name}"), bytes);
    let before = files(stage.dir.path());
    let error = match stage.install(&archive) {
        Err(error) => error,
        Ok(outcome) => panic!("{what}: {:?}", outcome.done),
    };
    assert!(error.is_refusal(), "{what}: {error}");
    assert!(error.to_string().contains(why), "{what}: {error}");
    let after: Vec<String> =
        files(stage.dir.path()).into_iter().filter(|path| path != "store/.skillsandbox/lock").collect();
    assert_eq!(after, before, "{what}");
    assert_eq!(fs::read_to_string(stage.dir.path().join("victim/file")).unwrap(), "untouched");
}

#[test]
fn the_honest_ones_are_installed() {
    let script = b"#!/bin/sh\necho hello\n";
    let tar = || {
        Tar::default()
            .file("demo/SKILL.md", &skill_md())
            .member(b"demo/run.sh", b'0', "", 0o755, 21, script)
            .end()
    };
    let dotted = Tar::default()
        .member(b"./", b'5', "", 0o755, 0, b"")
        .file("./SKILL.md", &skill_md())
        .member(b"./run.sh", b'0', "", 0o755, 21, script)
        .end();
    let mut run = Member::new("run.sh", script);
    run.mode = 0o100_755;
    let mut packed = Member::new("SKILL.md", &skill_md());
    packed.deflated = true;
    let mac = Member::new("__MACOSX/._SKILL.md", b"\0\x05\x16\x07");
    for (name, bytes) in [
        ("demo.tar", tar()),
        ("demo.tar.gz", gzip(&tar())),
        ("demo.tgz", gzip(&tar())),
        ("demo.tar.zst", zstd(&tar())),
        ("dotted.tar", dotted),
        ("demo.zip", zip(&[packed, run, mac])),
    ] {
        let stage = Stage::new();
        let archive = stage.write(name, bytes);
        let outcome = stage.install(&archive).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(outcome.done, InstallOutcome::Installed, "{name}: {:#?}", outcome.report.findings);
        let there = stage.root().join("skills/demo");
        assert_eq!(files(&there), ["SKILL.md", "run.sh"], "{name}");
        assert_eq!(fs::read(there.join("SKILL.md")).unwrap(), skill_md());
        let mode = |path: &str| {
            use std::os::unix::fs::PermissionsExt as _;
            fs::metadata(there.join(path)).unwrap().permissions().mode() & 0o111
        };
        assert_eq!((mode("SKILL.md"), mode("run.sh") != 0), (0, true), "{name}");
    }
}

/// Names that lead elsewhere, deceive, or are more than one file somewhere.
const NAMES: &[(&str, &str)] = &[
    ("../file", "leads out"),
    ("../../victim/file", "leads out"),
    ("a/../../file", "leads out"),
    ("a/./b", "leads out"),
    ("/etc/skillsandbox-test", "root of the file system"),
    ("//etc/skillsandbox-test", "root of the file system"),
    ("..\\file", "backslash"),
    ("a\\b", "backslash"),
    ("C:/file", "colon"),
    ("a\u{202e}gpj.sh", "deceive"),
    ("a\nb", "deceive"),
    ("a\u{1b}[2Jb", "deceive"),
    (".git/hooks/post-checkout", "git"),
    ("sub/.GIT/config", "git"),
    ("skill.MD", "case does not count"),
    ("SKILL.md/x", "two of that name"),
    ("a//b", "empty part"),
    ("a/1/2/3/4/5/6/7/8/9/0/1/2/3/4/5/6/7", "too deep"),
];

#[test]
fn names_in_archives() {
    for (name, why) in NAMES {
        refused(name, "demo.zip", &zipped(vec![Member::new(name, b"evil")]), why);
        let tar = tarred().file(name, b"evil").end();
        refused(name, "demo.tar", &tar, why);
        refused(name, "demo.tar.gz", &gzip(&tar), why);
        refused(name, "demo.tar.zst", &zstd(&tar), why);
        // The long names of GNU and of POSIX say where it really goes.
        let long = format!("{name}\0");
        let gnu = tarred().member(b"././@LongLink", b'L', "", 0o644, long.len() as u64, long.as_bytes());
        refused(name, "demo.tar", &gnu.file("innocent.md", b"evil").end(), why);
        if !name.contains('\n') {
            let record = |length: usize| format!("{length} path={name}\n");
            let mut length = record(10).len();
            length = record(length).len();
            let record = record(length);
            let pax = tarred().member(b"pax", b'x', "", 0o644, record.len() as u64, record.as_bytes());
            refused(name, "demo.tar", &pax.file("innocent.md", b"evil").end(), why);
        }
    }
    let mut latin = Member::new("x", b"evil");
    latin.name = b"caf\xe9.md".to_vec();
    refused("not UTF-8", "demo.zip", &zipped(vec![latin]), "UTF-8");
    refused("not UTF-8", "demo.tar", &tarred().member(b"caf\xe9.md", b'0', "", 0o644, 0, b"").end(), "UTF-8");
    let folder = |name: &str| tarred().member(name.as_bytes(), b'5', "", 0o755, 0, b"").end();
    refused("a folder", "demo.tar", &folder("../out/"), "leads out");
    refused("a folder", "demo.tar", &folder("/out/"), "root of the file system");
    refused("a folder", "demo.zip", &zipped(vec![Member::new("../out/", b"")]), "leads out");
}

#[test]
fn links_devices_and_the_like() {
    for (kind, link) in
        [(b'1', "SKILL.md"), (b'2', "/etc/passwd"), (b'2', "SKILL.md"), (b'3', ""), (b'4', ""), (b'6', "")]
    {
        let tar = tarred().member(b"innocent.md", kind, link, 0o644, 0, b"").end();
        refused(&format!("{}", kind as char), "demo.tar", &tar, "not a file");
    }
    // First a link to elsewhere, then a file through it.
    let through = tarred().member(b"out", b'2', "../..", 0o777, 0, b"").file("out/file", b"evil").end();
    refused("through a link", "demo.tar", &through, "not a file");
    for mode in [0o120_777, 0o020_666, 0o060_666, 0o010_666, 0o140_666] {
        let mut member = Member::new("innocent.md", b"/etc/passwd");
        member.mode = mode;
        refused(&format!("{mode:o}"), "demo.zip", &zipped(vec![member]), "not a file");
    }
}

#[test]
fn what_two_programs_would_read_differently() {
    let twice = zipped(vec![Member::new("a", b"1"), Member::new("a", b"2")]);
    refused("two of a name", "demo.zip", &twice, "one name");
    refused("two of a name", "demo.tar", &tarred().file("a", b"1").file("a", b"2").end(), "two of that name");
    refused(
        "a file and a folder",
        "demo.tar",
        &tarred().file("a", b"1").file("a/b", b"2").end(),
        "two of that name",
    );
    let mut locked = Member::new("a", b"secret");
    locked.flags = 1;
    refused("encrypted", "demo.zip", &zipped(vec![locked]), "password");
}

#[test]
fn bombs() {
    // Ten gigabytes of zeros, from ten megabytes.
    let block = gzip(&vec![0; 1 << 20]);
    let header = Tar::default().member(b"zeros", b'0', "", 0o644, 10 << 30, b"").0;
    let mut bomb = gzip(&header);
    for _ in 0..10 << 10 {
        bomb.extend(&block);
    }
    refused("10 GB of zeros in tar.gz", "demo.tar.gz", &bomb, "more than");
    let mut zeros = Member::new("zeros", &vec![0; 65 << 20]);
    zeros.deflated = true;
    refused("65 MB of zeros in a zip", "demo.zip", &zipped(vec![zeros]), "more than");
    // A header that promises little.
    let mut liar = Member::new("liar", &vec![0; 65 << 20]);
    (liar.deflated, liar.claimed) = (true, Some(10));
    let stage = Stage::new();
    let archive = stage.write("demo.zip", zipped(vec![liar]));
    assert!(stage.install(&archive).is_err());
    // A sparse file that is all hole.
    let mut sparse = tarred().member(b"hole", b'S', "", 0o644, 0, b"").0;
    let at = sparse.len() - 512;
    sparse[at + 257..at + 265].copy_from_slice(b"ustar  \0");
    sparse[at + 483..at + 495].copy_from_slice(b"77777777777\0");
    let sum: u32 = sparse[at..]
        .iter()
        .enumerate()
        .map(|(i, b)| if (148..156).contains(&i) { 32 } else { u32::from(*b) })
        .sum();
    sparse[at + 148..at + 155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
    refused("a sparse file", "demo.tar", &sparse, "");
    // Sizes that are not there.
    refused("cut off", "demo.tar", &tarred().member(b"a", b'0', "", 0o644, 1 << 40, b"x").0, "");
    // Too many.
    let mut many = tarred();
    for number in 0..4001 {
        many = many.file(&format!("f{number}"), b"");
    }
    refused("4002 files", "demo.tar", &many.end(), "4000 files");
    let mut folders = tarred();
    for number in 0..17_000 {
        folders = folders.member(format!("d{number}/").as_bytes(), b'5', "", 0o755, 0, b"");
    }
    refused("17,000 folders", "demo.tar.gz", &gzip(&folders.end()), "members");
    // The headers alone, without end.
    let endless: Vec<u8> = tarred()
        .0
        .into_iter()
        .chain(Tar::default().member(b"g", b'g', "", 0o644, 0, b"").0.repeat(20_000))
        .collect();
    refused("20,000 headers", "demo.tar.gz", &gzip(&endless), "members");
    let large = Tar::default().member(b"long", b'L', "", 0o644, 200 << 20, b"").0;
    let mut bomb = gzip(&large);
    for _ in 0..300 {
        bomb.extend(&block);
    }
    refused("a name of 200 MB", "demo.tar.gz", &bomb, "");
}

#[test]
fn what_is_no_archive() {
    for (name, bytes) in [
        ("demo.zip", b"".to_vec()),
        ("demo.zip", b"PK\x03\x04".to_vec()),
        ("demo.zip", b"not an archive".to_vec()),
        ("demo.tar.gz", gzip(b"not a tar")),
        ("demo.tar.gz", gzip(&gzip(&tarred().end()))),
        ("demo.tar.zst", zstd(b"not a tar")),
        ("demo.tar", vec![0; 10240]),
        ("demo.zip", zip(&[])),
        ("demo.zip", zip(&[Member::new("README.md", b"no skill")])),
        ("demo.bin", b"\x7fELF".to_vec()),
    ] {
        refused(name, name, &bytes, "");
    }
    let cut = gzip(&tarred().end());
    refused("cut off", "demo.tar.gz", &cut[..cut.len() / 2], "");
}

type Trap = fn(&std::path::Path);

#[test]
fn folders_that_lead_out() {
    let traps: [(&str, Trap); 7] = [
        ("a link out", |dir| symlink("/etc/passwd", dir.join("a.md")).unwrap()),
        ("a link to a folder", |dir| symlink("/etc", dir.join("etc")).unwrap()),
        ("a link to itself", |dir| symlink("a", dir.join("a")).unwrap()),
        ("a document that is a link", |dir| {
            fs::rename(dir.join("SKILL.md"), dir.with_extension("md")).unwrap();
            symlink(dir.with_extension("md"), dir.join("SKILL.md")).unwrap();
        }),
        ("a pipe", |dir| {
            assert!(std::process::Command::new("mkfifo").arg(dir.join("pipe")).status().unwrap().success());
        }),
        ("git's folder further down", |dir| {
            fs::create_dir_all(dir.join("sub/.git/hooks")).unwrap();
            fs::write(dir.join("sub/.git/hooks/post-checkout"), "x").unwrap();
        }),
        ("a name that is not UTF-8", |dir| {
            use std::os::unix::ffi::OsStrExt as _;
            fs::write(dir.join(std::ffi::OsStr::from_bytes(b"caf\xe9")), "x").unwrap();
        }),
    ];
    for (what, trap) in traps {
        let stage = Stage::new();
        let skill = stage.skill("demo", "Keep them.");
        trap(&skill);
        let error = stage.install(&skill).expect_err(what);
        assert!(error.is_refusal(), "{what}: {error}");
        assert_eq!(stage.files(), Vec::<String>::new(), "{what}");
    }
}

#[test]
fn git_is_left_out_of_a_folder_and_a_nested_skill_is_scanned() {
    let stage = Stage::new();
    let skill = stage.skill("demo", "Keep them.");
    stage.write("sources/demo/.git/config", "[core]\n\tfsmonitor = evil\n");
    stage.installed(&skill);
    assert_eq!(files(&stage.root().join("skills")), ["demo/SKILL.md"]);
    // The scanner leaves nested skills to a scan of their own; here there is none but this.
    let outer = stage.skill("outer", "Keep them.");
    stage.write("sources/outer/inner/SKILL.md", document("inner", common::BLOCKED));
    assert_eq!(stage.install(&outer).unwrap().done, InstallOutcome::Blocked);
}

#[test]
fn names_of_skills() {
    for name in ["../evil", "a/b", ".", "..", ".hidden", "-rf", "weathеr", "CON\u{202e}"] {
        let stage = Stage::new();
        let text = document("x", "Keep them.").replace("name: x", &format!("name: '{name}'"));
        let skill = stage.write("sources/x/SKILL.md", text);
        let result = stage.store().install(
            skillsandbox_store::SkillSource::Local(skill.parent().unwrap().to_owned()),
            skillsandbox_store::Approval::Forced,
            &mut skillsandbox_store::DeclineReviewer,
        );
        match result {
            Err(Error::Name { .. }) => {}
            Ok(outcome) => assert_eq!(outcome.done, InstallOutcome::Blocked, "{name}: {}", outcome.name),
            Err(other) => panic!("{name}: {other}"),
        }
        assert!(
            stage.files().iter().all(|path| path.starts_with("security/")),
            "{name}: {:?}",
            stage.files()
        );
    }
}

#[test]
fn two_spellings_of_a_name_are_not_two_skills() {
    let stage = Stage::new();
    stage.installed(&stage.skill("notes", "Keep them."));
    let other = stage.skill("Notes", "Keep them.");
    assert!(matches!(stage.install(&other), Err(Error::Occupied { .. })));
    stage.write(
        "sources/two/skillsandbox.yaml",
        "skill: { name: one, version: '1' }\nentrypoint: { command: sh }\n",
    );
    let two = stage.write("sources/two/SKILL.md", document("two", "Keep them."));
    assert!(matches!(stage.install(two.parent().unwrap()), Err(Error::TwoNames { .. })));
    // Whatever document the scanner goes by.
    for (folder, document_name) in [("three", "skill.md"), ("four", "README.md")] {
        let manifest = "skill: { name: one, version: '1' }\nentrypoint: { command: sh }\n";
        stage.write(&format!("sources/{folder}/skillsandbox.yaml"), manifest);
        let file = stage.write(&format!("sources/{folder}/{document_name}"), document("two", "Keep them."));
        let result = stage.install(file.parent().unwrap());
        assert!(matches!(result, Err(Error::TwoNames { .. })), "{document_name}: {result:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    /// Archives that were honest once, with some bytes changed: whatever comes out is a tree of sane names, or an error.
    #[test]
    fn damaged_archives_yield_sane_names_or_nothing(
        kind in 0..4_usize,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..8),
        cut in any::<prop::sample::Index>(),
        whole in any::<bool>(),
    ) {
        let tar = || tarred().file("scripts/run.sh", b"echo hello").end();
        let mut bytes = match kind {
            0 => zipped(vec![Member::new("scripts/run.sh", b"echo hello")]),
            1 => tar(),
            2 => gzip(&tar()),
            _ => zstd(&tar()),
        };
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if !whole {
            let length = cut.index(bytes.len());
            bytes.truncate(length);
        }
        if let Ok(unpacked) = unpack("x", &bytes) {
            for path in unpacked.tree.hashes().keys() {
                prop_assert!(path.split('/').all(|part| !matches!(part, "" | "." | ".." | ".git")), "{path:?}");
                prop_assert!(!path.contains(['\\', '\0', ':']), "{path:?}");
            }
        }
    }
}
