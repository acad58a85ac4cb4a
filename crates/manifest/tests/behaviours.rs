//! The checklist's rows about the manifest, one test each; docs/behaviours.md names them.
#![cfg(feature = "declarations")]
// A test may fail by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use serde_json::json;
use skillsandbox_manifest::{
    Code, Destination, FileAccess, GrantBases, Invalid, Manifest, PermissionSet, Policy, Protocol, Resolver,
    Runtime, SyscallProfile,
};

/// A manifest with the least it needs, and `body` added.
fn parse(body: &str) -> Result<Manifest, Invalid> {
    Manifest::parse(&format!(
        "skill: {{ name: demo, version: \"1.0\" }}\nentrypoint: {{ command: python3, args: [main.py] }}\n{body}"
    ))
}

fn places() -> GrantBases {
    GrantBases::new("/skills/demo", "/home/ada")
}

#[track_caller]
fn refused(body: &str, code: Code) {
    let invalid = parse(body).expect_err(body);
    assert!(invalid.diagnostics.iter().any(|d| d.code == code), "{body}: {invalid}");
}

#[test]
fn row_001_a_complete_manifest_loads_and_missing_sections_are_named() {
    let text = r#"
skill: { name: weather-lookup, version: "0.1.0", description: Looks up the weather }
permissions: { env_vars: { allow: [LANG] } }
resources: { memory_mb: 128 }
entrypoint: { command: python3, args: [main.py] }
"#;
    let manifest = Manifest::parse(text).unwrap();
    assert_eq!(manifest.skill().name.value, "weather-lookup");
    let without = |section: &str| -> String {
        text.lines().filter(|line| !line.starts_with(section)).map(|l| format!("{l}\n")).collect()
    };
    let invalid = Manifest::parse(&without("skill:")).unwrap_err();
    let [only] = invalid.diagnostics.as_slice() else { panic!("{invalid}") };
    assert_eq!((only.code, only.path.as_str()), (Code::MissingKey, "skill"));
    assert!(only.message.contains("`skill`"), "{only}");
    // A skill with several scripts has none: the caller gives the command.
    assert_eq!(Manifest::parse(&without("entrypoint:")).unwrap().entrypoint(), None);
    let invalid = Manifest::parse(&text.replace("command: python3, ", "")).unwrap_err();
    assert!(invalid.to_string().contains("`entrypoint.command` is missing"), "{invalid}");
    for (part, field) in [("name: weather-lookup, ", "skill.name"), ("version: \"0.1.0\", ", "skill.version")]
    {
        let invalid = Manifest::parse(&text.replace(part, "")).unwrap_err();
        assert!(invalid.to_string().contains(&format!("`{field}` is missing")), "{invalid}");
    }
}

#[test]
fn row_002_egress_takes_domain_and_ports_with_defaults() {
    let manifest = parse(
        "permissions: { network: { egress: [{ domain: a.test }, { domain: b.test, ports: [80, 8080], protocol: http }] } }",
    )
    .unwrap();
    let [a, b] = manifest.network().egress.as_slice() else { panic!() };
    assert_eq!((a.ports.clone(), a.protocol), ([443].into(), Protocol::Tcp));
    assert_eq!((b.ports.clone(), b.protocol), ([80, 8080].into(), Protocol::Http));
    assert_eq!(a.to, Destination::Domain("a.test".parse().unwrap()));
}

#[test]
fn row_003_read_and_write_are_separate_grants() {
    let manifest = parse("permissions: { filesystem: { read: [/data/in], write: [/data/out] } }").unwrap();
    let access = |path: &str| manifest.filesystem().access(path.as_ref(), &places());
    assert_eq!(access("/data/in/x"), Some(FileAccess::Read));
    assert_eq!(access("/data/out/x"), Some(FileAccess::Write));
    assert_eq!(access("/data"), None);
    assert_eq!(access("/data/input"), None);
}

#[test]
fn row_004_env_allow_is_an_exact_allow_list() {
    let manifest = parse("permissions: { env_vars: { allow: [API, LANG] } }").unwrap();
    for (name, expected) in
        [("API", true), ("LANG", true), ("API2", false), ("api", false), ("PATH", false), ("", false)]
    {
        assert_eq!(manifest.env_vars().decide(name).is_allowed(), expected, "{name}");
    }
}

#[test]
fn row_005_only_three_syscall_profiles_exist() {
    for (word, profile) in [
        ("default", SyscallProfile::Default),
        ("strict", SyscallProfile::Strict),
        ("permissive", SyscallProfile::Permissive),
    ] {
        let manifest = parse(&format!("permissions: {{ syscalls: {{ profile: {word} }} }}")).unwrap();
        assert_eq!(manifest.syscall_profile(), profile);
    }
    for word in ["Default", "none", "\"\"", "unconfined", "strict2"] {
        refused(&format!("permissions: {{ syscalls: {{ profile: {word} }} }}"), Code::UnknownValue);
    }
}

#[test]
fn row_006_zero_limits_are_refused_and_defaults_exist() {
    let resources = parse("").unwrap().resources().clone();
    assert_eq!(resources.memory.bytes(), 256 << 20);
    assert_eq!(resources.runtime.as_secs(), 30);
    for limit in [
        "memory_mb",
        "max_runtime_seconds",
        "max_cpu_percent",
        "max_cpu_seconds",
        "max_processes",
        "max_open_files",
        "disk_mb",
        "max_output_bytes",
    ] {
        refused(&format!("resources: {{ {limit}: 0 }}"), Code::OutOfRange);
    }
}

#[test]
fn row_007_extra_arguments_are_appended_to_the_entrypoints() {
    let manifest = parse("").unwrap();
    let entrypoint = manifest.entrypoint().unwrap();
    assert_eq!(entrypoint.command.to_string(), "python3");
    let arguments: Vec<_> = entrypoint.arguments(["--city", "a b; c"]).collect();
    assert_eq!(arguments, ["main.py", "--city", "a b; c"]);
}

#[test]
fn row_008_an_omitted_section_grants_nothing() {
    for body in ["", "permissions: {}", "permissions: { network: {}, filesystem: {}, env_vars: {} }"] {
        let manifest = parse(body).unwrap();
        assert!(manifest.network().egress.is_empty());
        assert!(manifest.filesystem().read.is_empty() && manifest.filesystem().write.is_empty());
        for name in ["PATH", "HOME", "AWS_SECRET_ACCESS_KEY", "LANG"] {
            assert!(!manifest.env_vars().decide(name).is_allowed());
        }
    }
}

#[test]
fn row_009_unknown_and_misspelt_keys_are_errors_with_a_suggestion() {
    for (body, help) in [
        ("permission: {}", "did you mean `permissions`?"),
        ("permissions: { networks: {} }", "did you mean `network`?"),
        ("permissions: { filesystem: { raed: [] } }", "did you mean `read`?"),
        ("permissions: { env_vars: { alow: [] } }", "did you mean `allow`?"),
        ("resources: { memory: 1 }", "did you mean `memory_mb`?"),
        ("network: {}", "did you mean `permissions.network`?"),
    ] {
        let invalid = parse(body).unwrap_err();
        let [only] = invalid.diagnostics.as_slice() else { panic!("{body}: {invalid}") };
        assert_eq!((only.code, only.help.as_deref(), only.line), (Code::UnknownKey, Some(help), 3), "{body}");
    }
}

#[test]
fn row_012_three_runtimes_are_accepted() {
    for (word, runtime) in [("native", Runtime::Native), ("wasm", Runtime::Wasm), ("oci", Runtime::Oci)] {
        assert_eq!(parse(&format!("runtime: {word}")).unwrap().runtime(), runtime);
    }
    assert_eq!(parse("").unwrap().runtime(), Runtime::Native);
    for word in ["docker", "Native", "''", "wasi"] {
        refused(&format!("runtime: {word}"), Code::UnknownValue);
    }
}

#[test]
fn row_014_forbidden_wins_over_any_grant() {
    let manifest = parse(
        "permissions: { filesystem: { read: ['~'], write: [~/work], forbidden: [~/.ssh, ~/work/secret] } }",
    )
    .unwrap();
    let access = |path: &str| manifest.filesystem().access(path.as_ref(), &places());
    assert_eq!(access("/home/ada/notes"), Some(FileAccess::Read));
    assert_eq!(access("/home/ada/work/x"), Some(FileAccess::Write));
    assert_eq!(access("/home/ada/.ssh/id_ed25519"), None);
    assert_eq!(access("/home/ada/.ssh"), None);
    assert_eq!(access("/home/ada/work/secret/x"), None);
    assert_eq!(access("/home/ada/.sshd"), Some(FileAccess::Read));
    // A path that names no place is allowed nothing.
    assert_eq!(access("/home/ada/x/../.ssh/id"), None);
    assert_eq!(access("/home/ada/work/../../../etc/shadow"), None);
    assert_eq!(access("notes"), None);
    // Also where the grant names the very place.
    let manifest = parse("permissions: { filesystem: { read: [/a/b], forbidden: [/a] } }").unwrap();
    assert_eq!(manifest.filesystem().access("/a/b".as_ref(), &places()), None);
}

#[test]
fn row_015_egress_takes_wildcards_ranges_protocols_and_a_resolver() {
    let manifest = parse(
        r#"
permissions:
  network:
    resolver: 1.1.1.1
    egress:
      - { domain: "*.amazonaws.com", protocol: https }
      - { cidr: 10.1.2.3/16, ports: [5432] }
      - { domain: time.test, ports: [123], protocol: udp }
"#,
    )
    .unwrap();
    let network = manifest.network();
    assert_eq!(network.resolver, Resolver::Address("1.1.1.1".parse().unwrap()));
    let shown: Vec<_> = network.egress.iter().map(ToString::to_string).collect();
    assert_eq!(
        shown,
        ["*.amazonaws.com port 443 https", "10.1.0.0/16 port 5432 tcp", "time.test port 123 udp"]
    );
}

#[test]
fn row_016_env_globs_and_deny_wins() {
    let manifest =
        parse("permissions: { env_vars: { allow: [APP_*, LANG, '!APP_DEBUG*'], deny: ['*_SECRET', LANG] } }")
            .unwrap();
    for (name, expected) in [
        ("APP_MODE", true),
        ("APP_", true),
        ("APP_DEBUG", false),
        ("APP_DEBUG_LEVEL", false),
        ("APP_SECRET", false),
        ("LANG", false),
        ("XAPP_MODE", false),
        // A wildcard does not reach what sounds like a secret.
        ("APP_API_KEY", false),
        ("APP_token", false),
    ] {
        assert_eq!(manifest.env_vars().decide(name).is_allowed(), expected, "{name}");
    }
    refused("permissions: { env_vars: { allow: ['*'] } }", Code::InvalidVariable);
}

#[test]
fn row_017_resources_take_numbers_and_human_sizes() {
    let manifest = parse(
        r#"resources: { memory_mb: "512M", max_cpu_percent: "50%", disk_mb: 1G, max_runtime_seconds: 5m, max_output_bytes: 64K }"#,
    )
    .unwrap();
    let resources = manifest.resources();
    assert_eq!(resources.memory.bytes(), 512 << 20);
    assert_eq!(resources.cpu_percent, 50);
    assert_eq!(resources.disk.bytes(), 1 << 30);
    assert_eq!(resources.runtime.as_secs(), 300);
    assert_eq!(resources.output.bytes(), 64 << 10);
    let plain = parse("resources: { memory_mb: 512, disk_mb: 1024, max_cpu_percent: 250 }").unwrap();
    assert_eq!(plain.resources().memory, resources.memory);
    assert_eq!(plain.resources().disk, resources.disk);
    assert_eq!(plain.resources().cpu_percent, 250);
}

const DECLARED: &str = r#"
permissions:
  network:
    egress:
      - { domain: "*.example.com", ports: [80, 443] }
      - { domain: tracker.test }
      - { cidr: 10.0.0.0/8, ports: [5432] }
  filesystem: { read: [/data, ~/notes], write: [/out, /tmp/x] }
  env_vars: { allow: [APP_*, LANG, HOME_DIR] }
  commands: { allow: [python3, git, curl], allowed_args: { git: [log, push] } }
resources: { memory_mb: 512, max_runtime_seconds: 10 }
"#;

#[test]
fn row_018_a_policy_narrows() {
    let policy = Policy::parse(
        r#"
permissions:
  network:
    egress: [{ domain: api.example.com, protocol: https }, { cidr: 10.1.0.0/16, ports: [5432, 22] }]
  filesystem: { read: [/data/public], write: [/tmp], forbidden: [/tmp/x/keep] }
  env_vars: { allow: ["*_DIR", "APP_*"], deny: [APP_DEBUG] }
  syscalls: { profile: strict }
  commands: { allow: [python3, git], allowed_args: { git: [log, status] }, forbidden_args: { git: [--exec] } }
resources: { memory_mb: 128, max_runtime_seconds: 60 }
"#,
    )
    .unwrap();
    let narrowed = policy.narrow(&parse(DECLARED).unwrap(), &places());
    let manifest = &narrowed.manifest;
    let shown: Vec<_> = manifest.network().egress.iter().map(ToString::to_string).collect();
    assert_eq!(shown, ["api.example.com port 443 https", "10.1.0.0/16 port 5432 tcp"]);
    let access = |path: &str| manifest.filesystem().access(path.as_ref(), &places());
    assert_eq!(access("/data/public/x"), Some(FileAccess::Read));
    assert_eq!(access("/data/private"), None);
    assert_eq!(access("/tmp/x/y"), Some(FileAccess::Write));
    assert_eq!(access("/tmp/x/keep/y"), None);
    assert_eq!(access("/out/y"), None);
    assert_eq!(access("/home/ada/notes"), None);
    for (name, expected) in
        [("APP_MODE", true), ("APP_DEBUG", false), ("HOME_DIR", true), ("LANG", false), ("TMP_DIR", false)]
    {
        assert_eq!(manifest.env_vars().decide(name).is_allowed(), expected, "{name}");
    }
    assert_eq!(manifest.syscall_profile(), SyscallProfile::Strict);
    let commands = manifest.commands().unwrap();
    assert!(!commands.allows(&"curl".parse().unwrap()));
    assert_eq!(commands.allowed_args[&"git".parse().unwrap()], ["log"]);
    assert_eq!(commands.forbidden_args[&"git".parse().unwrap()], ["--exec"]);
    assert_eq!(manifest.resources().memory.bytes(), 128 << 20);
    assert_eq!(manifest.resources().runtime.as_secs(), 10);
    assert!(narrowed.changes.iter().any(|change| change.path == "resources.memory_mb"));
}

#[test]
fn row_018_a_policy_never_widens() {
    // The policy would allow everything the skill did not ask for.
    let policy = Policy::parse(
        r#"
permissions:
  network: { egress: [{ domain: "*.example.com" }, { domain: evil.test }] }
  filesystem: { read: [/], write: [/etc] }
resources: { memory_mb: 65536 }
"#,
    );
    assert!(policy.is_err(), "`/` is refused in a policy too");
    let policy = Policy::parse(
        r#"
permissions:
  network: { egress: [{ domain: "*.example.com" }, { domain: evil.test }] }
  filesystem: { read: [/data, /etc], write: [/out, /etc] }
  env_vars: { allow: [AWS_*] }
  commands: { allow: [bash] }
  syscalls: { profile: permissive }
resources: { memory_mb: 65536 }
"#,
    )
    .unwrap();
    let bare = parse("permissions: { commands: { allow: [python3] } }").unwrap();
    let narrowed = policy.narrow(&bare, &places()).manifest;
    assert!(narrowed.network().egress.is_empty());
    assert_eq!(narrowed.filesystem().access("/etc/passwd".as_ref(), &places()), None);
    assert!(!narrowed.env_vars().decide("AWS_REGION").is_allowed());
    assert!(narrowed.commands().unwrap().allow.is_empty());
    assert_eq!(narrowed.syscall_profile(), SyscallProfile::Default);
    assert_eq!(narrowed.resources().memory.bytes(), 256 << 20);
}

#[test]
fn row_018_a_policy_does_not_open_a_secret_that_only_a_wildcard_covered() {
    for (declared, ceiling, reaches) in [
        ("APP_*", "APP_TOKEN", false),
        ("APP_TOKEN", "APP_*", false),
        ("APP_*", "*_TOKEN", false),
        ("APP_TOKEN", "APP_TOKEN", true),
    ] {
        let manifest = parse(&format!("permissions: {{ env_vars: {{ allow: ['{declared}'] }} }}")).unwrap();
        let policy =
            Policy::parse(&format!("permissions: {{ env_vars: {{ allow: ['{ceiling}'] }} }}")).unwrap();
        let narrowed = policy.narrow(&manifest, &places()).manifest;
        assert_eq!(
            narrowed.env_vars().decide("APP_TOKEN").is_allowed(),
            reaches,
            "{declared} under {ceiling}"
        );
    }
}

#[test]
fn row_018_a_skills_own_resolver_does_not_outlive_a_ceiling_on_names() {
    let manifest =
        parse("permissions: { network: { resolver: 9.9.9.9, egress: [{ domain: api.example.com }] } }")
            .unwrap();
    let policy =
        Policy::parse("permissions: { network: { egress: [{ domain: '*.example.com' }] } }").unwrap();
    let narrowed = policy.narrow(&manifest, &places());
    assert_eq!(narrowed.manifest.network().resolver, Resolver::System);
    assert_eq!(narrowed.changes[0].path, "permissions.network.resolver");
}

#[test]
fn row_018_what_is_left_has_no_doubles_and_says_when_it_cannot_start() {
    let manifest =
        parse("permissions: { env_vars: { allow: [A*, AB*] }, filesystem: { read: ['~', '~/proc'] } }")
            .unwrap();
    let policy =
        Policy::parse("permissions: { env_vars: { allow: [ABC*, 'ABC*x'] }, commands: { allow: [git] } }")
            .unwrap();
    let root = GrantBases::new("/skills/demo", "/");
    let narrowed = policy.narrow(&manifest, &root);
    let shown: Vec<_> = narrowed.manifest.env_vars().allow.iter().map(ToString::to_string).collect();
    assert_eq!(shown, ["ABC*", "ABC*x"]);
    assert!(
        narrowed.changes.iter().any(|change| change.path == "entrypoint.command"),
        "{:?}",
        narrowed.changes
    );
    assert!(narrowed.manifest.filesystem().read.is_empty(), "`~` is `/` here, and `~/proc` is `/proc`");
}

#[test]
fn row_018_what_a_policy_leaves_out_it_does_not_narrow() {
    let manifest = parse(DECLARED).unwrap();
    let narrowed = Policy::parse("resources: { memory_mb: 4096 }").unwrap().narrow(&manifest, &places());
    assert_eq!(narrowed.changes, []);
    assert_eq!(narrowed.manifest.network(), manifest.network());
    assert_eq!(narrowed.manifest.env_vars(), manifest.env_vars());
    // An empty list is all there may be.
    let none = Policy::parse("permissions: { network: { egress: [] }, filesystem: { write: [] } }").unwrap();
    let narrowed = none.narrow(&manifest, &places());
    assert!(narrowed.manifest.network().egress.is_empty());
    assert!(narrowed.manifest.filesystem().write.is_empty());
    // What may not be written may still be read.
    assert_eq!(narrowed.manifest.filesystem().access("/out/x".as_ref(), &places()), Some(FileAccess::Read));
}

/// No socket is reached that the manifest does not name, and a policy leaves those that it names too; one that bounds files and says
/// nothing of sockets leaves none.
#[test]
fn row_172_a_policy_bounds_the_sockets_that_a_manifest_names() {
    let manifest =
        parse("permissions: { filesystem: { read: [/run], unix_sockets: [/run/a.sock, ~/b.sock] } }")
            .unwrap();
    assert!(
        parse("permissions: { filesystem: { read: [/run] } }").unwrap().filesystem().unix_sockets.is_empty()
    );
    for (policy, left) in [
        ("network: {}", &["/run/a.sock", "/home/ada/b.sock"][..]),
        ("filesystem: { forbidden: [/x] }", &["/run/a.sock", "/home/ada/b.sock"]),
        ("filesystem: { unix_sockets: [/run] }", &["/run/a.sock"]),
        ("filesystem: { read: [/run], unix_sockets: [~/b.sock] }", &["/home/ada/b.sock"]),
        ("filesystem: { unix_sockets: [] }", &[]),
        ("filesystem: { read: [/run] }", &[]),
        ("filesystem: { write: [/run] }", &[]),
    ] {
        let policy = Policy::parse(&format!("permissions: {{ {policy} }}")).unwrap();
        let narrowed = policy.narrow(&manifest, &GrantBases::new("/skills/x", "/home/ada"));
        let sockets = &narrowed.manifest.filesystem().unix_sockets;
        let sockets: Vec<_> = sockets.iter().map(ToString::to_string).collect();
        assert_eq!(sockets, left, "{policy:?}");
    }
}

const PARAMETERS: &str = r#"
parameters:
  - { name: city, type: string, required: true, pattern: "^[\\p{L} .'-]+$", min_length: 2, max_length: 12 }
  - { name: days, type: number, min: 1, max: 7 }
  - { name: unit, type: string, enum: [c, f], default: c }
  - { name: verbose, type: boolean }
  - { name: tags, type: array, min_length: 1, max_length: 2 }
  - { name: extra, type: object }
  - { name: key, type: string, secret: true, pattern: "^sk-" }
"#;

#[test]
fn row_131_every_type_and_rule_is_checked() {
    let manifest = parse(PARAMETERS).unwrap();
    let accepted = manifest.validate_parameters(&json!({ "city": "Łódź", "days": 3.5 })).unwrap();
    assert_eq!(json!(accepted), json!({ "city": "Łódź", "days": 3.5, "unit": "c" }));
    assert!(
        manifest
            .validate_parameters(&json!({ "city": "Oslo", "verbose": true, "tags": ["a"], "extra": {} }))
            .is_ok()
    );
    for (values, rule, expected) in [
        (json!({}), "required", json!("string")),
        (json!({ "city": 1 }), "type", json!("string")),
        (json!({ "city": null }), "type", json!("string")),
        (json!({ "city": "a;b" }), "pattern", json!("^[\\p{L} .'-]+$")),
        (json!({ "city": "Ł" }), "min_length", json!(2)),
        (json!({ "city": "Llanfairpwllgwyngyll" }), "max_length", json!(12)),
        (json!({ "city": "Oslo", "days": 0 }), "min", json!(1.0)),
        (json!({ "city": "Oslo", "days": 8 }), "max", json!(7.0)),
        (json!({ "city": "Oslo", "days": "3" }), "type", json!("number")),
        (json!({ "city": "Oslo", "unit": "k" }), "enum", json!(["c", "f"])),
        (json!({ "city": "Oslo", "verbose": "yes" }), "type", json!("boolean")),
        (json!({ "city": "Oslo", "tags": [] }), "min_length", json!(1)),
        (json!({ "city": "Oslo", "tags": [1, 2, 3] }), "max_length", json!(2)),
        (json!({ "city": "Oslo", "tags": {} }), "type", json!("array")),
        (json!({ "city": "Oslo", "extra": [] }), "type", json!("object")),
        (json!(["city"]), "type", json!("object")),
        (json!(null), "type", json!("object")),
    ] {
        let error = manifest.validate_parameters(&values).expect_err(&values.to_string());
        let first = &error.violations[0];
        assert_eq!((first.rule, &first.expected), (rule, &expected), "{values}");
    }
    // A value that is matched has a bound, also where the manifest names none.
    let patterned = parse("parameters: [{ name: a, type: string, pattern: a }]").unwrap();
    assert!(patterned.validate_parameters(&json!({ "a": "a".repeat(4096) })).is_ok());
    let error = patterned.validate_parameters(&json!({ "a": "a".repeat(4097) })).unwrap_err();
    assert_eq!((error.violations.len(), error.violations[0].rule), (1, "max_length"));
    let error = manifest.validate_parameters(&json!({ "city": "Oslo", "planet": "x" })).unwrap_err();
    assert_eq!(error.violations[0].rule, "unknown");
}

#[test]
fn row_132_a_failure_has_the_documented_shape() {
    let manifest = parse(PARAMETERS).unwrap();
    let error = manifest.validate_parameters(&json!({ "city": "Oslo", "unit": "kelvin" })).unwrap_err();
    assert_eq!(
        error.to_json(),
        json!({ "error": {
            "code": "INVALID_PARAMETERS",
            "message": "Parameter validation failed",
            "details": { "parameter": "unit", "value": "kelvin", "rule": "enum", "expected": ["c", "f"] },
        }})
    );
    let error = manifest.validate_parameters(&json!({ "city": 1, "days": 99 })).unwrap_err().to_json();
    assert_eq!(error["error"]["details"]["parameter"], "city");
    assert_eq!(error["error"]["more"][0]["parameter"], "days");
}

#[test]
fn row_132_a_secret_never_appears_in_a_failure() {
    let manifest = parse(PARAMETERS).unwrap();
    let secret = "hunter2-hunter2";
    for values in [
        json!({ "city": "Oslo", "key": secret }), // breaks its pattern
        json!({ "city": "Oslo", "key": { "nested": secret } }), // breaks its type
        json!({ "city": "Oslo", "kye": secret }), // its name is misspelt
        json!({ "city": "Oslo", "api_token": [secret] }), // a name that sounds like one
        json!(secret),                            // not even an object
    ] {
        let error = manifest.validate_parameters(&values).unwrap_err();
        for shown in [error.to_string(), error.to_json().to_string(), format!("{error:?}")] {
            assert!(!shown.contains("hunter2"), "{shown}");
        }
    }
    let manifest = parse(
        "parameters: [{ name: config, type: string }, { name: privateKey, type: string, max_length: 1 }]",
    )
    .unwrap();
    let error = manifest
        .validate_parameters(&json!({ "config": { "password": secret } , "privateKey": secret }))
        .unwrap_err();
    assert!(!error.to_json().to_string().contains("hunter2"), "{error}");
    // However many wrong names a call has, the answer stays small.
    let many: serde_json::Map<_, _> = (0..100_000).map(|i| (format!("k{i}"), json!(1))).collect();
    let error = manifest.validate_parameters(&json!(many)).unwrap_err();
    assert_eq!((error.violations.len(), error.omitted), (50, 99_950));
    let manifest = parse(PARAMETERS).unwrap();
    let long = "x".repeat(100_000);
    let error = manifest.validate_parameters(&json!({ "city": long })).unwrap_err();
    assert!(error.to_json().to_string().len() < 2_000);
}

#[test]
fn a_parameter_may_be_a_path_that_is_read_or_written() {
    let manifest = parse(
        "parameters: [{ name: in, type: path, required: true }, { name: out, type: path, access: write, pattern: '\\.pdf$' }]",
    )
    .unwrap();
    let access: Vec<_> = manifest.parameters().iter().map(|parameter| parameter.access).collect();
    assert_eq!(access, [Some(FileAccess::Read), Some(FileAccess::Write)]);
    assert!(manifest.validate_parameters(&json!({ "in": "a.txt", "out": "b.pdf" })).is_ok());
    for wrong in [json!({ "in": 5 }), json!({ "in": "a", "out": "b.txt" }), json!({ "out": "b.pdf" })] {
        assert!(manifest.validate_parameters(&wrong).is_err(), "{wrong}");
    }
    assert_eq!(Manifest::parse(&manifest.to_yaml()).unwrap(), manifest);
    for wrong in [
        "{ name: a, type: string, access: read }",
        "{ name: a, type: path, access: execute }",
        "{ name: a, type: path, default: .env }",
        "{ name: a, type: path, min: 1 }",
    ] {
        assert!(parse(&format!("parameters: [{wrong}]")).is_err(), "{wrong}");
    }
    // To write what was only read is more.
    let set = |access: &str| {
        let manifest = parse(&format!("parameters: [{{ name: a, type: path, access: {access} }}]")).unwrap();
        PermissionSet::declared(Some(&manifest), None)
    };
    assert!(set("read").compare(&set("write")).widens() && !set("write").compare(&set("read")).widens());
}

#[test]
fn the_workspace_is_a_base_of_grants_and_names_no_place_without_one() {
    let manifest =
        parse("permissions: { filesystem: { read: ['${WORKSPACE}'], write: ['${WORKSPACE}/out'] } }")
            .unwrap();
    assert_eq!(manifest.workspace_need().map(ToString::to_string).as_deref(), Some("${WORKSPACE}"));
    let here = places().with_workspace("/work");
    let [read, write] = [&manifest.filesystem().read[0], &manifest.filesystem().write[0]];
    assert_eq!(read.resolve(&here).to_str(), Some("/work"));
    assert_eq!(write.resolve(&here).to_str(), Some("/work/out"));
    assert!(!write.resolve(&places()).is_absolute());
    let files = manifest.filesystem();
    assert_eq!(files.access("/work/out/x".as_ref(), &here), Some(FileAccess::Write));
    assert_eq!(files.access("/work/out/x".as_ref(), &places()), None);
    assert_eq!(Manifest::parse(&manifest.to_yaml()).unwrap(), manifest);
    // A policy narrows it by where it is; one that names it itself bounds nothing without one.
    let policy = |text: &str| Policy::parse(text).unwrap();
    let narrow = |policy: &Policy, places: &GrantBases| policy.narrow(&manifest, places).manifest;
    let elsewhere = policy("permissions: { filesystem: { read: [/data] } }");
    assert!(narrow(&elsewhere, &here).filesystem().write.is_empty());
    assert!(narrow(&elsewhere, &here).filesystem().read.is_empty());
    let own = policy(
        "permissions: { filesystem: { read: ['${WORKSPACE}'], write: ['${WORKSPACE}'], forbidden: ['${WORKSPACE}/.env'] } }",
    );
    assert_eq!(narrow(&own, &here).filesystem().write.len(), 1);
    assert_eq!(own.read_ceiling(&places()), Some(Vec::new()));
    let forbidden = parse("permissions: { filesystem: { forbidden: ['${WORKSPACE}/x'] } }").unwrap();
    assert_eq!(forbidden.workspace_need(), None, "what is not there needs not be forbidden");
    for (part, needed) in [
        ("entrypoint: { command: '${WORKSPACE}/run' }", true),
        ("permissions: { commands: { allow: ['${WORKSPACE}/run'] } }", true),
        ("permissions: { commands: { allow: [sh] } }", false),
    ] {
        let manifest = Manifest::parse(&format!("skill: {{ name: a, version: '1' }}\n{part}\n")).unwrap();
        assert_eq!(manifest.workspace_need().is_some(), needed, "{part}");
    }
}

#[test]
fn safe_defaults_grant_nothing_but_two_variables() {
    let manifest = Manifest::safe_defaults("notes", "1").unwrap();
    let set = PermissionSet::declared(Some(&manifest), None);
    assert_eq!(
        (set.env_vars.as_slice(), set.entrypoint),
        (&["LANG".to_owned(), "PATH".to_owned()][..], None)
    );
    assert!(
        set.network.is_empty() && set.read.is_empty() && set.write.is_empty() && set.unix_sockets.is_empty()
    );
    let empty = Manifest::parse("skill: { name: notes, version: '1' }\n").unwrap();
    assert_eq!(manifest.resources(), empty.resources());
    assert_eq!(manifest.syscall_profile(), empty.syscall_profile());
    for (name, version) in [("", "1"), ("../x", "1"), ("a", ""), ("a", "1\n2")] {
        assert!(Manifest::safe_defaults(name, version).is_err(), "{name:?} {version:?}");
    }
}
