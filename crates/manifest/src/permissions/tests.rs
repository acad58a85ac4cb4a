use super::*;

fn declared(rest: &str) -> PermissionSet {
    let entrypoint =
        if rest.contains("entrypoint:") { "" } else { "entrypoint: { command: python3, args: [main.py] }\n" };
    let text = format!("skill: {{ name: a, version: '1' }}\n{rest}\n{entrypoint}");
    PermissionSet::declared(Some(&Manifest::parse(&text).unwrap()), None)
}

fn wider(old: &str, new: &str) -> Vec<String> {
    declared(old).compare(&declared(new)).wider.iter().map(ToString::to_string).collect()
}

fn narrower(old: &str, new: &str) -> Vec<String> {
    declared(old).compare(&declared(new)).narrower.iter().map(ToString::to_string).collect()
}

fn permission(key: &str, value: &str) -> String {
    format!("permissions: {{ {key}: {{ {value} }} }}")
}

#[test]
fn what_is_new_is_named_and_what_was_covered_is_not() {
    let none = Vec::<String>::new();
    let net = |rules: &str| permission("network", &format!("egress: [{rules}]"));
    let a = net("{ domain: a.test }");
    assert_eq!(wider(&net(""), &a), ["permissions.network.egress: added a.test 443/tcp"]);
    assert_eq!(wider(&a, &net("")), none);
    assert_eq!(narrower(&a, &net("")), ["permissions.network.egress: removed a.test 443/tcp"]);
    let below = (net("{ domain: '*.weather.test' }"), net("{ domain: x.weather.test }"));
    assert_eq!(wider(&below.0, &below.1), none);
    assert_eq!(
        narrower(&below.0, &below.1),
        ["permissions.network.egress: narrowed from *.weather.test 443/tcp to x.weather.test 443/tcp"]
    );
    assert_eq!(wider(&below.1, &below.0), ["permissions.network.egress: added *.weather.test 443/tcp"]);
    assert_eq!(
        wider(&a, &net("{ domain: a.test, ports: [443, 80] }")),
        ["permissions.network.egress: added a.test 80/tcp"]
    );
    let https = net("{ domain: a.test, protocol: https }");
    assert_eq!(wider(&a, &https), none);
    assert_eq!(wider(&https, &a), ["permissions.network.egress: added a.test 443/tcp"]);
    let udp = net("{ domain: a.test, protocol: udp }");
    assert_eq!(wider(&a, &udp), ["permissions.network.egress: added a.test 443/udp"]);
    assert_eq!(wider(&net("{ cidr: 10.0.0.0/8 }"), &net("{ cidr: 10.1.0.0/16 }")), none);
    let files = |text: &str| permission("filesystem", text);
    assert_eq!(wider(&files("read: [/srv]"), &files("read: [/srv/a]")), none);
    assert_eq!(
        wider(&files("read: [/srv]"), &files("write: [/srv]")),
        ["permissions.filesystem.write: added /srv"]
    );
    assert_eq!(wider(&files("write: [/srv]"), &files("read: [/srv]")), none);
    assert_eq!(
        wider(&files("read: [/srv], forbidden: [/srv/key]"), &files("read: [/srv]")),
        ["permissions.filesystem.forbidden: removed /srv/key"]
    );
    assert_eq!(
        wider(&files("read: [/run]"), &files("read: [/run], unix_sockets: [/run/x.sock]")),
        ["permissions.filesystem.unix_sockets: added /run/x.sock"]
    );
    assert_eq!(wider(&files("unix_sockets: [/run/x.sock]"), &files("read: []")), none);
    let env = |text: &str| permission("env_vars", text);
    assert_eq!(wider(&env("allow: ['APP_*']"), &env("allow: [APP_MODE]")), none);
    assert_eq!(wider(&env("allow: ['APP_*']"), &env("allow: ['APP_X_*']")), none);
    assert_eq!(
        wider(&env("allow: ['APP_*']"), &env("allow: [APP_TOKEN]")),
        ["permissions.env_vars.allow: added APP_TOKEN"]
    );
    assert_eq!(
        wider(&env("allow: ['APP_*'], deny: [APP_X]"), &env("allow: ['APP_*']")),
        ["permissions.env_vars.deny: removed APP_X"]
    );
    let syscalls = permission("syscalls", "");
    assert_eq!(
        wider(&permission("commands", "allow: [python3]"), &syscalls),
        ["permissions.commands: added any program"]
    );
    let strict = permission("syscalls", "profile: strict");
    assert_eq!(wider(&strict, &syscalls), ["permissions.syscalls.profile: widened from strict to default"]);
    assert_eq!(wider(&syscalls, &strict), none);
}

#[test]
fn a_resolver_an_entrypoint_or_a_runtime_of_its_own_is_wider() {
    let none = Vec::<String>::new();
    let resolver = |to: &str| permission("network", &format!("resolver: {to}"));
    assert_eq!(
        wider("", &resolver("192.0.2.53")),
        ["permissions.network.resolver: changed from system to 192.0.2.53"]
    );
    assert_eq!(
        wider(&resolver("192.0.2.53"), &resolver("192.0.2.54")),
        ["permissions.network.resolver: changed from 192.0.2.53 to 192.0.2.54"]
    );
    assert_eq!(wider(&resolver("192.0.2.53"), ""), none);
    for (entrypoint, shown) in [
        ("entrypoint: { command: sh, args: [main.py] }", "sh main.py"),
        (
            "entrypoint: { command: python3, args: [main.py, -c, 'print(1)'] }",
            "python3 main.py -c 'print(1)'",
        ),
        ("entrypoint: { command: python3 }", "python3"),
    ] {
        assert_eq!(wider("", entrypoint), [format!("entrypoint: changed from python3 main.py to {shown}")]);
    }
    assert_eq!(wider("", "runtime: wasm"), ["runtime: changed from native to wasm"]);
}

#[test]
fn each_limit_is_compared_in_its_own_unit() {
    let limit = |text: &str| format!("resources: {{ {text} }}");
    for (key, low, high, shown) in [
        ("memory_mb", "64", "128", "raised from 64 MiB to 128 MiB"),
        ("memory_mb", "64", "'64.5M'", "raised from 64 MiB to 66048 KiB"),
        ("memory_mb", "'64.5M'", "65", "raised from 66048 KiB to 65 MiB"),
        ("max_cpu_percent", "50", "100", "raised from 50 % of one core to 100 % of one core"),
        ("max_cpu_seconds", "10", "'1m'", "raised from 10 s to 60 s"),
        ("max_processes", "1", "2", "raised from 1 to 2"),
        ("max_open_files", "1", "2", "raised from 1 to 2"),
        ("disk_mb", "1", "1024", "raised from 1 MiB to 1 GiB"),
        ("max_runtime_seconds", "30", "60", "raised from 30 s to 60 s"),
        ("max_output_bytes", "1024", "1048576", "raised from 1 KiB to 1 MiB"),
    ] {
        let (low, high) = (limit(&format!("{key}: {low}")), limit(&format!("{key}: {high}")));
        assert_eq!(wider(&low, &high), [format!("resources.{key}: {shown}")]);
        assert_eq!(wider(&high, &low), Vec::<String>::new());
        assert_eq!(narrower(&high, &low).len(), 1);
    }
}

#[test]
fn a_limit_on_processor_time_that_goes_is_a_wider_permission() {
    let limited = "resources: { max_cpu_seconds: 60 }";
    assert_eq!(wider(limited, ""), ["resources.max_cpu_seconds: raised from 60 s to unlimited"]);
    assert_eq!(wider("", limited), Vec::<String>::new());
    assert_eq!(narrower("", limited).len(), 1);
}

#[test]
fn rules_about_arguments_are_compared_by_what_they_allow() {
    let commands = |rules: &str| permission("commands", &format!("allow: [python3, git]{rules}"));
    let bare = commands("");
    let only = |list: &str| commands(&format!(", allowed_args: {{ git: [{list}] }}"));
    let never = |list: &str| commands(&format!(", forbidden_args: {{ git: [{list}] }}"));
    for (old, new) in [
        (&bare, &only("log")),
        (&only("log, status"), &only("log")),
        (&bare, &never("--exec")),
        (&never("--exec"), &never("--exec, -c")),
    ] {
        assert_eq!(wider(old, new), Vec::<String>::new(), "{old} to {new}");
        assert_eq!(wider(new, old).len(), 1, "{new} to {old}");
    }
    // Two arguments are not one with a space in it.
    assert_eq!(wider(&only("'log status'"), &only("log, status")).len(), 1);
    assert_eq!(wider(&only("never"), &never("never")).len(), 1);
}

#[test]
fn parameters_are_compared_by_what_they_let_through() {
    let none = Vec::<String>::new();
    let takes = |rules: &str| format!("parameters: [{{ name: city, type: string{rules} }}]");
    assert_eq!(wider("", &takes(", required: true")), ["parameters: added city: string, required"]);
    assert_eq!(narrower(&takes(""), ""), ["parameters: removed city: string"]);
    for rules in [", max_length: 8", ", pattern: '^a$'", ", enum: [a, b]", ", min_length: 2"] {
        assert_eq!(wider(&takes(""), &takes(rules)), none, "{rules}");
        assert_eq!(
            wider(&takes(rules), &takes("")),
            [format!(
                "parameters: changed from {} to city: string",
                declared(&takes(rules)).parameters.unwrap()[0]
            )]
        );
    }
    assert_eq!(wider(&takes(", max_length: 8"), &takes(", max_length: 4")), none);
    assert_eq!(wider(&takes(", max_length: 4"), &takes(", max_length: 8")).len(), 1);
    assert_eq!(wider(&takes(", default: a"), &takes(", default: b")).len(), 1);
    assert_eq!(wider(&takes(", secret: true"), &takes("")).len(), 1, "its value would appear in traces");
    assert_eq!(wider(&takes(""), &takes(", required: true")), none);
}

#[test]
fn tools_are_compared_too() {
    let tools = |list: Option<&[&str]>| PermissionSet {
        document: DocumentPermissions {
            tools: list.map(|list| list.iter().map(|tool| (*tool).to_owned()).collect()),
            ..DocumentPermissions::default()
        },
        ..PermissionSet::default()
    };
    let wider = |old, new| tools(old).compare(&tools(new)).widens();
    assert!(wider(Some(&["Read"]), Some(&["Read", "Bash"])));
    assert!(wider(Some(&["Bash(git:*)"]), Some(&["Bash"])));
    assert!(!wider(Some(&["Bash"]), Some(&["Bash(git:*)"])));
    assert!(wider(Some(&["Read"]), None));
    assert!(!wider(None, Some(&["Bash"])));
}

fn documented(front: &str) -> PermissionSet {
    let text = format!("---\nname: a\ndescription: b\n{front}---\n");
    PermissionSet::declared(None, crate::SkillDoc::parse(&text).front_matter.as_ref())
}

/// What the front matter gives and denies, by whichever key.
#[test]
fn every_key_of_the_front_matter_that_gives_or_denies_is_compared() {
    let none = Vec::<String>::new();
    let wider = |old: &str, new: &str| -> Vec<String> {
        documented(old).compare(&documented(new)).wider.iter().map(ToString::to_string).collect()
    };
    let read = "allowed-tools: Read\n";
    assert_eq!(wider(read, "allowed-tools: Read\ntools: Bash\n"), ["allowed-tools: added Bash"]);
    assert_eq!(wider("tools: Read\n", "allowed-tools: Bash\ntools: Read\n"), ["allowed-tools: added Bash"]);
    assert_eq!(wider(read, "allowed-tools: Read\ntools: [Read]\n"), none);
    assert_eq!(
        wider("disallowed-tools: Bash, Write\n", "disallowed-tools: [Write]\n"),
        ["disallowed-tools: removed Bash"]
    );
    assert_eq!(
        wider("disallowed-tools: Bash\n", "disallowed-tools: Bash(git:*)\n"),
        ["disallowed-tools: removed Bash"]
    );
    assert_eq!(wider("disallowed-tools: Bash(git:*)\n", "disallowed-tools: Bash\n"), none);
    assert_eq!(wider("", "disallowed-tools: Bash\n"), none);
    let hook = |command: &str| format!("hooks: {{ pre: {command} }}\n");
    assert_eq!(wider("", &hook("./x.sh")), [r#"front matter: added hooks {"pre":"./x.sh"}"#]);
    assert_eq!(
        wider(&hook("./x.sh"), &hook("./y.sh")),
        [r#"front matter: changed from hooks {"pre":"./x.sh"} to hooks {"pre":"./y.sh"}"#]
    );
    assert_eq!(wider(&hook("./x.sh"), &hook("./x.sh")), none);
    // It may have been what said no.
    assert_eq!(wider(&hook("./x.sh"), ""), [r#"front matter: removed hooks {"pre":"./x.sh"}"#]);
    for (key, shown) in [
        ("allowedTools: Bash", r#"allowedTools "Bash""#),
        ("permissionMode: bypassPermissions", r#"permissionMode "bypassPermissions""#),
        ("mcpServers: { x: { command: sh } }", r#"mcpServers {"x":{"command":"sh"}}"#),
        ("extends: base", r#"extends "base""#),
        ("type: agent", r#"type "agent""#),
        ("metadata: { some: { install: [x] } }", r#"metadata.some {"install":["x"]}"#),
    ] {
        assert_eq!(wider("", &format!("{key}\n")), [format!("front matter: added {shown}")]);
    }
    let told = "type: skill\nversion: 2\nlicense: MIT\nsource: x\nauthor: Ada\nTags: [a]\nwhen_to_use: now\nmetadata: { version: 2 }\n";
    assert_eq!(wider("", told), none);
    // Text that is not YAML is read line by line, and asked about in the same way.
    let broken = "x: \"a: b: c\n";
    let asked = wider(broken, &format!("{broken}hooks:\n  pre:\n    - command: curl\n"));
    assert!(asked.iter().any(|line| line.contains("curl")), "{asked:?}");
}

/// A lock of before has no settings and no disallowed tools.
#[test]
fn what_a_document_says_is_stored_beside_the_rest() {
    let all = documented("allowed-tools: Read\ndisallowed-tools: Bash\nhooks: { pre: ./x.sh }\n");
    let stored = serde_yaml::to_string(&all).unwrap();
    assert!(stored.contains("\ntools:\n") && stored.contains("\ndisallowed_tools:\n"), "{stored}");
    assert_eq!(serde_yaml::from_str::<PermissionSet>(&stored).unwrap(), all);
    let old: PermissionSet = serde_yaml::from_str("commands: []\ntools: [Read]\n").unwrap();
    let wider: Vec<String> = old.compare(&all).wider.iter().map(ToString::to_string).collect();
    assert_eq!(wider, [r#"front matter: added hooks {"pre":"./x.sh"}"#]);
    let unlimited: PermissionSet = serde_yaml::from_str("commands: []\ntools: null\n").unwrap();
    assert_eq!(unlimited.document.tools, None);
    let paths: Vec<_> = all.entries().iter().map(|entry| entry.path).collect();
    assert!(paths.contains(&"disallowed-tools") && paths.contains(&"front matter"), "{paths:?}");
}

/// A lock of before has no resolver, runtime, entrypoint or parameters: what is not recorded is not known.
#[test]
fn what_was_not_recorded_is_unknown() {
    let all = declared("permissions: { network: { resolver: 192.0.2.53, egress: [{ domain: a.test }] } }");
    let mut old = serde_json::to_value(&all).unwrap();
    for key in ["resolver", "runtime", "entrypoint", "parameters"] {
        assert!(old.as_object_mut().unwrap().remove(key).is_some(), "{key}");
    }
    let old: PermissionSet = serde_json::from_value(old).unwrap();
    let wider: Vec<String> = old.compare(&all).wider.iter().map(ToString::to_string).collect();
    assert_eq!(
        wider,
        [
            "entrypoint: set to python3 main.py; none is recorded for the installed version",
            "permissions.network.resolver: changed from system to 192.0.2.53",
        ]
    );
    // And a set without anything is nothing, not everything.
    let empty: PermissionSet = serde_json::from_str("{}").unwrap();
    assert_eq!(empty, PermissionSet::default());
    assert!(empty.compare(&declared("")).wider.iter().any(|change| change.section == "permissions.commands"));
}

#[test]
fn a_set_comes_back_as_it_was_stored() {
    let all = declared(
        "runtime: wasm\npermissions:\n  network: { resolver: 192.0.2.53, egress: [{ domain: a.test }, { cidr: 10.0.0.0/8 }] }\n  filesystem: { read: [/a b], write: [/w], forbidden: [/w/x], unix_sockets: [/run/x.sock] }\n  env_vars: { allow: [A*], deny: [AB] }\n  syscalls: { profile: strict }\n  commands: { allow: [python3, git], allowed_args: { git: [log] }, forbidden_args: { git: [-c] } }\nresources: { memory_mb: '1.5M' }\nparameters: [{ name: n, type: number, min: 0.5, max: 2, default: 1 }]",
    );
    let stored = serde_yaml::to_string(&all).unwrap();
    let again: PermissionSet = serde_yaml::from_str(&stored).unwrap();
    assert_eq!(again, all, "{stored}");
    assert_eq!(again.compare(&all), PermissionDiff::default());
    let paths: std::collections::BTreeSet<_> = all.entries().iter().map(|entry| entry.path).collect();
    assert_eq!(paths.len(), 14 + ResourceLimit::ALL.len(), "every kind has an entry: {paths:?}");
}

#[test]
fn a_manifest_that_loses_its_entrypoint_is_wider_and_one_that_goes_is_not() {
    let with = declared("");
    let without = Manifest::parse("skill: { name: a, version: '1' }\n").unwrap();
    let without = PermissionSet::declared(Some(&without), None);
    let told: Vec<String> = with.compare(&without).wider.iter().map(ToString::to_string).collect();
    assert_eq!(told, ["entrypoint: removed python3 main.py; the caller may run any command"]);
    assert!(!with.compare(&PermissionSet::declared(None, None)).widens());
    assert!(without.compare(&with).widens(), "nobody was asked about what it runs");
}
