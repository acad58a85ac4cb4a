//! Properties over generated texts and manifests.
#![cfg(feature = "declarations")]
// A test may fail by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::collections::BTreeSet;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use serde_json::{Value, json};
use skillsandbox_manifest::{Destination, FileAccess, GrantBases, Manifest, PermissionSet, Policy, SkillDoc};
use skillsandbox_text::is_deceptive;

fn places() -> GrantBases {
    GrantBases::new("/skills/demo", "/home/ada")
}

const HOSTS: &[&str] = &["example.com", "a.example.com", "b.a.example.com", "other.test"];
const PATTERNS: &[&str] =
    &["example.com", "*.example.com", "a.example.com", "*.a.example.com", "other.test", "bücher.example"];
const RANGES: &[&str] = &["10.0.0.0/8", "10.1.0.0/16", "10.1.2.3", "2001:db8::/32", "2001:db8:1::/48"];
const ADDRESSES: &[&str] =
    &["10.0.0.1", "10.1.0.1", "10.1.2.3", "2001:db8:1::1", "2001:db8:2::1", "192.0.2.1"];
const PATHS: &[&str] = &[
    "/data",
    "/data/in",
    "/data/in/deep",
    "/database",
    "/out",
    "~/notes",
    "/home/ada/notes",
    "/home/ada/notes/x",
    "cache",
    "/skills/demo/cache",
    "/home",
];
const VARIABLES: &[&str] = &["APP_*", "APP_MODE", "*_DIR", "APP_*_DIR", "LANG", "A*R", "APP_TOKEN"];
const NAMES: &[&str] = &[
    "APP_MODE",
    "APP_DIR",
    "APP_X_DIR",
    "TMP_DIR",
    "LANG",
    "AR",
    "APP_TOKEN",
    "APP_",
    "_DIR",
    "ADIR",
    "HOME",
];
const PORTS: &[u16] = &[80, 443, 5432];
const PROTOCOLS: &[&str] = &["tcp", "https", "http", "udp"];

fn some(of: &'static [&'static str]) -> impl Strategy<Value = Vec<&'static str>> {
    subsequence(of.to_vec(), 0..=of.len())
}

fn egress() -> impl Strategy<Value = Value> {
    let ports = || subsequence(PORTS.to_vec(), 1..=PORTS.len());
    let by_name = (select(PATTERNS), ports(), select(PROTOCOLS)).prop_map(
        |(domain, ports, protocol)| json!({ "domain": domain, "ports": ports, "protocol": protocol }),
    );
    let by_address = (select(RANGES), ports(), select(&["tcp", "udp"][..]))
        .prop_map(|(cidr, ports, protocol)| json!({ "cidr": cidr, "ports": ports, "protocol": protocol }));
    prop_oneof![by_name, by_address]
}

fn permissions() -> impl Strategy<Value = Value> {
    let files = (some(PATHS), some(PATHS), some(PATHS));
    let env = (some(VARIABLES), some(VARIABLES));
    (vec(egress(), 0..4), files, env, select(&["default", "strict", "permissive"][..])).prop_map(
        |(egress, (read, write, forbidden), (allow, deny), profile)| {
            json!({
                "network": { "egress": egress },
                "filesystem": { "read": read, "write": write, "forbidden": forbidden },
                "env_vars": { "allow": allow, "deny": deny },
                "syscalls": { "profile": profile },
            })
        },
    )
}

fn resources() -> impl Strategy<Value = Value> {
    (1..4096_u64, 1..400_u64, 1..100_u64, 1..600_u64, 1..2_000_000_u64).prop_map(|(memory, cpu, processes, time, output)| {
        json!({
            "memory_mb": memory, "max_cpu_percent": cpu, "max_cpu_seconds": time * cpu, "max_processes": processes,
            "max_runtime_seconds": time, "max_output_bytes": output, "disk_mb": format!("{}K", memory * 1024 + 1),
        })
    })
}

fn manifest() -> impl Strategy<Value = Manifest> {
    // YAML has no place for these two.
    let is_yaml = |c: char| !matches!(c, '\u{fffe}' | '\u{ffff}');
    let letter = any::<char>().prop_filter("nothing deceptive", move |c| !is_deceptive(*c) && is_yaml(*c));
    let args = vec(vec(letter, 0..20).prop_map(String::from_iter), 0..4);
    let name = "[a-z][a-z0-9_-]{0,20}";
    (name, permissions(), resources(), args, any::<bool>()).prop_map(|(name, permissions, resources, args, parameters)| {
        let parameters = if parameters {
            json!([{ "name": "city", "type": "string", "pattern": "^[a-z: #'\"]+$", "max_length": 3 },
                   { "name": "n", "type": "number", "min": -1.5, "max": 10, "enum": [1, 2.5], "default": 2.5 }])
        } else {
            json!([])
        };
        let value = json!({
            "skill": { "name": name, "version": "1.0", "description": args.join(" ") },
            "permissions": permissions, "resources": resources, "parameters": parameters,
            "entrypoint": { "command": "python3", "args": args },
        });
        // JSON is YAML, as far as the values here go.
        Manifest::parse(&value.to_string()).unwrap_or_else(|invalid| panic!("{value}: {invalid}"))
    })
}

fn policy() -> impl Strategy<Value = Policy> {
    (permissions(), resources(), any::<[bool; 5]>()).prop_map(|(mut permissions, resources, keep)| {
        let parts = permissions.as_object_mut().unwrap();
        for (name, keep) in ["network", "filesystem", "env_vars", "syscalls"].iter().zip(keep) {
            if !keep {
                parts.remove(*name);
            }
        }
        if keep[4]
            && let Some(files) = parts.get_mut("filesystem")
        {
            files.as_object_mut().unwrap().remove("write");
        }
        Policy::parse(&json!({ "permissions": permissions, "resources": resources }).to_string()).unwrap()
    })
}

/// Every (name or address, port, protocol) of a small world that a manifest reaches.
fn reached(manifest: &Manifest) -> BTreeSet<(String, u16, &'static str)> {
    let mut all = BTreeSet::new();
    for rule in &manifest.network().egress {
        // `tcp` is whatever may be spoken over TCP.
        let spoken: &[&str] = match rule.protocol.as_str() {
            "tcp" => &["tcp", "https", "http"],
            "https" => &["https"],
            "http" => &["http"],
            _ => &["udp"],
        };
        let hosts: Vec<&str> = match &rule.to {
            Destination::Domain(pattern) => {
                HOSTS.iter().filter(|host| pattern.matches(host)).copied().collect()
            }
            Destination::Cidr(range) => {
                ADDRESSES.iter().filter(|address| range.contains(address.parse().unwrap())).copied().collect()
            }
        };
        for host in hosts {
            for port in &rule.ports {
                all.extend(spoken.iter().map(|word| (host.to_owned(), *port, *word)));
            }
        }
    }
    all
}

fn probes() -> Vec<String> {
    let bases = [
        "/data",
        "/data/in",
        "/data/in/deep",
        "/database",
        "/out",
        "/home",
        "/home/ada",
        "/home/ada/notes",
        "/home/ada/notes/x",
        "/skills/demo",
        "/skills/demo/cache",
        "/etc",
    ];
    bases.iter().flat_map(|base| [(*base).to_owned(), format!("{base}/file")]).collect()
}

fn access(manifest: &Manifest, path: &str) -> Option<FileAccess> {
    manifest.filesystem().access(path.as_ref(), &places())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn a_manifest_written_out_reads_back_equal(manifest in manifest()) {
        let yaml = manifest.to_yaml();
        let again = Manifest::parse(&yaml).map_err(|invalid| TestCaseError::fail(format!("{invalid}\n{yaml}")))?;
        prop_assert_eq!(&again, &manifest, "{}", yaml);
        let json = serde_json::to_string(&manifest).unwrap();
        prop_assert_eq!(Manifest::parse(&json).unwrap(), manifest);
    }

    #[test]
    fn row_018_narrowing_never_widens(manifest in manifest(), policy in policy()) {
        let narrowed = policy.narrow(&manifest, &places()).manifest;
        prop_assert!(reached(&narrowed).is_subset(&reached(&manifest)));
        let set = |manifest: &Manifest| PermissionSet::declared(Some(manifest), None);
        let diff = set(&manifest.with_absolute_paths(&places())).compare(&set(&narrowed));
        prop_assert_eq!(diff.wider, []);
        for path in probes() {
            prop_assert!(access(&narrowed, &path) <= access(&manifest, &path), "{}", path);
        }
        for name in NAMES {
            let before = manifest.env_vars().decide(name).is_allowed();
            prop_assert!(before || !narrowed.env_vars().decide(name).is_allowed(), "{}", name);
        }
        let strictest = narrowed.syscall_profile().stricter(manifest.syscall_profile());
        prop_assert_eq!(narrowed.syscall_profile(), strictest);
        prop_assert!(narrowed.resources().memory <= manifest.resources().memory);
        prop_assert!(narrowed.resources().runtime <= manifest.resources().runtime);
        prop_assert!(narrowed.resources().disk <= manifest.resources().disk);
    }

    #[test]
    fn row_018_narrowing_takes_exactly_what_both_allow(mine in manifest(), theirs in permissions()) {
        let text = json!({ "permissions": theirs }).to_string();
        let policy = Policy::parse(&text).unwrap();
        // A manifest that declares just what the policy allows.
        let ceiling = json!({ "skill": { "name": "x", "version": "1" }, "entrypoint": { "command": "x" }, "permissions": theirs });
        let ceiling = Manifest::parse(&ceiling.to_string()).unwrap();
        let narrowed = policy.narrow(&mine, &places()).manifest;
        let both: BTreeSet<_> = reached(&mine).intersection(&reached(&ceiling)).cloned().collect();
        prop_assert_eq!(reached(&narrowed), both);
        for path in probes() {
            prop_assert_eq!(access(&narrowed, &path), access(&mine, &path).min(access(&ceiling, &path)), "{}", path);
        }
        for name in NAMES {
            let both = mine.env_vars().decide(name).is_allowed() && ceiling.env_vars().decide(name).is_allowed();
            prop_assert_eq!(narrowed.env_vars().decide(name).is_allowed(), both, "{}", name);
        }
    }

    /// What is compared by its words is compared by what it allows.
    #[test]
    fn what_is_not_wider_allows_no_more(old in manifest(), new in manifest()) {
        let set = |manifest: &Manifest| PermissionSet::declared(Some(&manifest.with_absolute_paths(&places())), None);
        let diff = set(&old).compare(&set(&new));
        let wider = |path: &str| diff.wider.iter().any(|change| change.section.starts_with(path));
        prop_assert!(wider("permissions.network.egress") || reached(&new).is_subset(&reached(&old)));
        for path in probes() {
            prop_assert!(wider("permissions.filesystem") || access(&new, &path) <= access(&old, &path), "{}", path);
        }
        for name in NAMES {
            let before = old.env_vars().decide(name).is_allowed();
            prop_assert!(wider("permissions.env_vars") || before || !new.env_vars().decide(name).is_allowed(), "{}", name);
        }
        prop_assert_eq!(wider("resources.memory_mb"), new.resources().memory > old.resources().memory);
        prop_assert_eq!(wider("resources.disk_mb"), new.resources().disk > old.resources().disk);
        prop_assert_eq!(wider("entrypoint"), new.entrypoint().unwrap().args.iter().map(|a| &a.value).ne(old.entrypoint().unwrap().args.iter().map(|a| &a.value)));
    }

    #[test]
    fn no_text_makes_the_manifest_panic(text in "\\PC{0,300}") {
        let _ = Manifest::parse(&text);
        let _ = Policy::parse(&text);
    }

    #[test]
    fn no_yaml_like_text_makes_it_panic(
        words in vec(select(&["skill", "name", ":", " ", "\n", "  ", "-", "[", "]", "{", "}", "'", "\"", "\\", "|", ">", "&a", "*a",
            "!!x", "? ", "#", "---", "...", "%", "\u{feff}", "\r", "\t", "é", "\u{1f600}", "\u{0}", "permissions", "network", "egress",
            "domain", "*.", "ports", "0", "443", ",", "<<", "~", "entrypoint", "command"][..]), 0..80)
    ) {
        let text = words.concat();
        if let Err(invalid) = Manifest::parse(&text) {
            prop_assert!(!invalid.diagnostics.is_empty());
            for diagnostic in &invalid.diagnostics {
                prop_assert!(text.get(diagnostic.span.range()).is_some(), "{:?} in {:?}", diagnostic, text);
                let lines = text.replace("\r\n", "\n").matches(['\n', '\r']).count() + 1;
                prop_assert!(diagnostic.line >= 1 && diagnostic.line <= lines, "{:?} in {:?}", diagnostic, text);
            }
        }
        let doc = SkillDoc::parse(&format!("---\n{text}\n---\nbody"));
        prop_assert!(doc.front_matter.is_some() || doc.body_start < 4);
    }

    #[test]
    fn no_skill_doc_panics_and_its_places_lie_in_the_text(text in "(---)?[\r\n]{0,2}(name: \\PC{0,20}[\r\n]{1,2}|\\PC{0,40}[\r\n]){0,6}(---[\r\n])?\\PC{0,20}") {
        let doc = SkillDoc::parse(&text);
        prop_assert!(text.is_char_boundary(doc.body_start));
        if let Some(front) = &doc.front_matter {
            prop_assert!(text.get(front.span.range()).is_some());
            for value in [&front.name, &front.description].into_iter().flatten() {
                prop_assert!(text.get(value.span.range()).is_some(), "{:?}", value);
            }
        }
    }
}
