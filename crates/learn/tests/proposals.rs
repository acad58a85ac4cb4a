//! From what was seen to text: never more than a named generalisation of it, whatever names a program chose.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use skillsandbox_learn::{
    DraftEntry, FileGrant, GrantWidth, LearnPlaces, ManifestDraft, Observations, Proposals, why_never,
};
use skillsandbox_manifest::Manifest;
use skillsandbox_terms::FileOperation;
use skillsandbox_tracer::{Event, EventKind, EventVerdict, NetConnection};

struct World {
    _folder: tempfile::TempDir,
    top: PathBuf,
    places: LearnPlaces,
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let top = folder.path().canonicalize().unwrap();
        for name in ["skill", "home", "work", "data/all", "data/some"] {
            fs::create_dir_all(top.join(name)).unwrap();
        }
        for name in
            ["data/all/1", "data/all/2", "data/some/1", "data/some/2", "data/some/3", "work/in", "home/note"]
        {
            fs::write(top.join(name), "x").unwrap();
        }
        let places = LearnPlaces::at(&top.join("skill"), &top.join("home"), Some(&top.join("work")));
        Self { _folder: folder, top, places }
    }

    fn see(&self, acts: &[(FileOperation, &str)]) -> Proposals {
        let mut seen = Observations::default();
        for (operation, name) in acts {
            let path = self.top.join(name).to_str().unwrap().to_owned();
            let event = Event::new(EventKind::File { operation: *operation, path, to: None });
            seen.observe(&event.with_verdict(EventVerdict::Denied, "not granted".to_owned()), &[], &[]);
        }
        Proposals::of(&seen, &self.places)
    }

    fn grants(&self, acts: &[(FileOperation, &str)]) -> Vec<(String, GrantWidth)> {
        self.see(acts)
            .files
            .into_iter()
            .map(|one| (one.spelling.replace(self.top.to_str().unwrap(), ""), one.width))
            .collect()
    }
}

#[test]
fn what_is_granted_is_what_was_seen_or_a_named_generalisation_of_it() {
    use FileOperation::{MakeFolder, Read, Remove, Write};
    let world = World::new();
    for (acts, expected) in [
        (vec![(Read, "data/some/1")], vec![("/data/some/1", GrantWidth::Exact)]),
        (
            vec![(Read, "data/some/1"), (Read, "data/some/2")],
            vec![("/data/some/1", GrantWidth::Exact), ("/data/some/2", GrantWidth::Exact)],
        ),
        (vec![(Read, "data/all/1"), (Read, "data/all/2")], vec![("/data/all", GrantWidth::EverySibling)]),
        (vec![(Read, "data/some")], vec![("/data/some", GrantWidth::WholeFolder(3))]),
        (vec![(Read, "work/in")], vec![("${WORKSPACE}", GrantWidth::Workspace)]),
        (vec![(Read, "home/note")], vec![("~/note", GrantWidth::Exact)]),
        (vec![(Read, "skill/SKILL.md")], vec![]),
        (vec![(Write, "data/some/1")], vec![("/data/some/1", GrantWidth::Exact)]),
        (vec![(Write, "data/some/new")], vec![("/data/some", GrantWidth::WholeFolder(3))]),
        (vec![(Remove, "data/some/1")], vec![("/data/some", GrantWidth::WholeFolder(2))]),
        (
            vec![(MakeFolder, "data/new"), (Write, "data/new/deep/file")],
            vec![("/data/new", GrantWidth::MadeByRun)],
        ),
        (vec![(Write, "work/out/file")], vec![("${WORKSPACE}", GrantWidth::Workspace)]),
        (vec![(Write, "skill/cache/file")], vec![("${SKILL_DIR}/cache", GrantWidth::MadeByRun)]),
        (vec![(Write, "skill/__pycache__/x.pyc")], vec![]),
        (vec![(MakeFolder, "data")], vec![]),
    ] {
        let expected: Vec<(String, GrantWidth)> =
            expected.into_iter().map(|(path, width)| (path.to_owned(), width)).collect();
        assert_eq!(world.grants(&acts), expected, "{acts:?}");
    }
}

#[test]
fn a_folder_that_a_person_named_is_granted_as_named_where_something_in_it_is_read() {
    use FileOperation::{Read, Write};
    let mut world = World::new();
    world.places.named_folders = vec![world.top.join("data")];
    let named = vec![("/data".to_owned(), GrantWidth::NamedFolder)];
    assert_eq!(world.grants(&[(Read, "data/some/1"), (Read, "data/all/2")]), named);
    assert_eq!(world.grants(&[(Read, "home/note")]), [("~/note".to_owned(), GrantWidth::Exact)]);
    // To be read, it was named; what is changed in it is proposed as it was seen.
    let written = world.grants(&[(Write, "data/some/1")]);
    assert_eq!(written, [("/data/some/1".to_owned(), GrantWidth::Exact)]);
    // A name does not make a grant of what is never granted.
    fs::create_dir_all(world.top.join("home/.ssh")).unwrap();
    fs::write(world.top.join("home/.ssh/id_rsa"), "x").unwrap();
    world.places.named_folders = vec![world.top.join("home")];
    assert!(world.see(&[(Read, "home/.ssh/id_rsa")]).files.is_empty());
    assert_eq!(world.grants(&[(Read, "home/note")]), [("~/note".to_owned(), GrantWidth::Exact)]);
}

#[test]
fn what_is_never_granted_becomes_a_finding() {
    use FileOperation::{Read, Write};
    let world = World::new();
    for name in [
        "home/.ssh/id_rsa",
        "home/.aws/credentials",
        "home/.bashrc",
        "home/.config/google-chrome/Default/Cookies",
        "home/.claude/settings.json",
        "home/.netrc",
        "home",
        "home/.gnupg/secring.gpg",
    ] {
        let path = world.top.join(name);
        if name != "home" {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, "x").unwrap();
        }
        let proposals = world.see(&[(Read, name)]);
        assert!(proposals.files.is_empty() && !proposals.findings.is_empty(), "{name}: {proposals:?}");
    }
    for (operation, path) in [
        (Read, "/proc/1/environ"),
        (Write, "/usr/bin/new"),
        (Write, "/etc/cron.d/x"),
        (Read, "/etc/shadow"),
        (Write, "/tmp/new"),
        (Read, "/root/../etc/shadow"),
        (Read, "/home"),
    ] {
        let proposals = world.see(&[(operation, path)]);
        assert!(proposals.files.is_empty(), "{path}: {proposals:?}");
    }
    // A name of the home is not the home, and what lies beside it is not in it.
    assert!(why_never(&FileGrant::Read(world.top.join("homework")), &world.places).is_none());
    let into_home = world.see(&[(Write, "home/new-file")]);
    assert!(into_home.files.is_empty() && !into_home.findings.is_empty(), "{into_home:?}");
}

#[test]
fn hosts_are_names_and_ports_that_a_manifest_can_grant() {
    let world = World::new();
    let mut seen = Observations::default();
    for (name, address, port) in [
        (Some("api.a.test"), None, 443),
        (Some("evil\u{1b}[2J.test"), None, 443),
        (Some("a.test\n- x"), None, 1),
        (Some("*.test"), None, 443),
        (None, Some("9.9.9.9"), 853),
        (None, Some("169.254.169.254"), 80),
        (None, Some("127.0.0.1"), 5432),
        (None, Some("nonsense"), 1),
    ] {
        let mut connection = NetConnection::default();
        connection.name = name.map(str::to_owned);
        connection.address = address.map(str::to_owned);
        connection.port = port;
        connection.transport = "tcp".to_owned();
        let event = Event::new(EventKind::NetConnect(connection));
        seen.observe(&event.with_verdict(EventVerdict::Denied, None), &[], &[]);
    }
    let proposals = Proposals::of(&seen, &world.places);
    let hosts: BTreeSet<&str> = proposals.hosts.iter().map(|one| one.to.host.as_str()).collect();
    assert_eq!(hosts, BTreeSet::from(["9.9.9.9", "api.a.test"]));
    let mut draft = ManifestDraft::new("x", None, None);
    for host in &proposals.hosts {
        assert!(draft.grant_host(host) && !draft.grant_host(host), "once");
    }
    assert_eq!(Manifest::parse(&draft.to_text().unwrap()).unwrap().network().egress.len(), 2);
}

#[test]
fn memory_is_bounded_whatever_a_program_does() {
    let mut seen = Observations::default();
    for number in 0..(skillsandbox_learn::MOST_FILES + 500) {
        let path = format!("/data/{number}");
        let event = Event::new(EventKind::File { operation: FileOperation::Read, path, to: None });
        seen.observe(&event.with_verdict(EventVerdict::Denied, None), &[], &[]);
    }
    for number in 0..10_000 {
        let event = Event::new(EventKind::DnsQuery { name: Some(format!("n{number}.test")), server: None });
        seen.observe(&event.with_verdict(EventVerdict::Denied, None), &[], &[]);
    }
    assert_eq!(seen.files.len(), skillsandbox_learn::MOST_FILES);
    assert_eq!(seen.names.len(), skillsandbox_learn::MOST_HOSTS);
    assert_eq!(seen.omitted, 500 + 10_000 - skillsandbox_learn::MOST_HOSTS as u64);
}

const OPERATIONS: [FileOperation; 6] = [
    FileOperation::Read,
    FileOperation::Write,
    FileOperation::Remove,
    FileOperation::Rename,
    FileOperation::MakeFolder,
    FileOperation::Truncate,
];

fn part() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => prop::sample::select(vec![
            "data", "all", "some", "1", "2", "3", "new", "deep", "home", "work", "skill", ".ssh", "id_rsa", ".env", "..", "SKILL.md",
        ]).prop_map(str::to_owned),
        1 => "[a-z\"'#:\\- \\n{}\\[\\]*$~\\\\]{1,6}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn grants_lie_within_a_generalisation_of_what_was_seen(
        acts in prop::collection::vec((prop::sample::select(OPERATIONS.to_vec()), prop::collection::vec(part(), 1..4)), 1..8)
    ) {
        let world = World::new();
        let acts: Vec<(FileOperation, String)> =
            acts.into_iter().map(|(operation, parts)| (operation, parts.join("/"))).collect();
        let named: Vec<(FileOperation, &str)> = acts.iter().map(|(operation, name)| (*operation, name.as_str())).collect();
        let proposals = world.see(&named);
        let seen: Vec<(FileOperation, PathBuf)> =
            acts.iter().map(|(operation, name)| (*operation, world.top.join(name))).collect();
        let mut draft = ManifestDraft::new("x", None, None);
        for proposal in &proposals.files {
            let path = proposal.grant.path();
            let below = |one: &Path| one.starts_with(path);
            let writes = seen.iter().any(|(operation, one)| *operation != FileOperation::Read && below(one));
            prop_assert!(seen.iter().any(|(_, one)| below(one)), "nothing was seen in {path:?}");
            prop_assert!(!proposal.grant.writes() || writes, "nothing was changed in {path:?}");
            let is_explained = match proposal.width {
                GrantWidth::Exact => seen.iter().any(|(_, one)| one == path),
                GrantWidth::MadeByRun => !path.exists(),
                GrantWidth::EverySibling => fs::read_dir(path).unwrap().all(|entry| {
                    let entry = entry.unwrap().path();
                    seen.iter().any(|(_, one)| *one == entry)
                }),
                GrantWidth::Workspace => world.places.workspace.as_deref() == Some(path),
                GrantWidth::NamedFolder => world.places.named_folders.iter().any(|named| named == path),
                GrantWidth::WholeFolder(_) => seen.iter().any(|(_, one)| one == path || one.parent() == Some(path)),
            };
            prop_assert!(is_explained, "{proposal:?}");
            prop_assert_eq!(why_never(&proposal.grant, &world.places), None);
            prop_assert!(!proposal.spelling.contains('\n'));
            draft.grant_file(proposal, &world.places);
        }
        // And the text says that and nothing else.
        let text = draft.to_text().unwrap();
        let manifest = Manifest::parse(&text).unwrap();
        let bases = world.places.bases();
        let files = manifest.filesystem();
        for grant in files.read.iter().chain(&files.write) {
            let path = grant.value.resolve(&bases);
            prop_assert!(proposals.files.iter().any(|one| one.grant.path() == path), "{text}");
        }
    }

    #[test]
    fn no_evidence_breaks_out_of_its_comment(evidence in any::<String>(), description in any::<String>(), name in any::<String>()) {
        let mut draft = ManifestDraft::new(&name, None, Some(&description));
        draft.about.push(evidence.clone());
        draft.read.push(DraftEntry::new("/srv/data".to_owned(), [evidence.clone()]));
        draft.egress.push(DraftEntry::new(serde_json::json!({ "domain": "a.test" }), [evidence]));
        let text = draft.to_text().unwrap();
        let manifest = Manifest::parse(&text).unwrap();
        prop_assert_eq!(manifest.filesystem().read.len(), 1);
        prop_assert!(manifest.filesystem().write.is_empty());
        prop_assert_eq!(manifest.network().egress.len(), 1);
        prop_assert!(manifest.entrypoint().is_none() && manifest.env_vars().allow.is_empty());
    }

    #[test]
    fn any_toml_is_converted_to_a_valid_manifest_or_refused(
        capability in any::<String>(), host in any::<String>(), name in any::<String>(), memory in any::<String>()
    ) {
        let text = toml::to_string(&serde_json::json!({ "skills": [{
            "name": name,
            "capabilities": { "filesystem": [format!("read:{capability}"), capability.clone()], "network": [host], "env_allowlist": [capability] },
            "resources": { "memory": memory, "cpu": "0.5" },
        }] })).unwrap();
        let skill = skillsandbox_learn::convert_toml(&text).unwrap().remove(0);
        let manifest = Manifest::parse(&skill.draft.to_text().unwrap()).unwrap();
        prop_assert_eq!(manifest.resources().cpu_percent, 50);
        // What is not in it was named.
        prop_assert!(!manifest.filesystem().read.is_empty() || skill.lost.len() >= 2, "{:?}", skill.lost);
    }
}
