//! Tools that nobody described: whatever their values look like, no path out of the root passes; addresses and prose do.
// A test may fail by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::path::{Component, Path, PathBuf};

use proptest::prelude::*;
use serde_json::{Value, json};
use skillsandbox_path_policy::{PathDecision, PathPolicy};

use crate::common::TreeAccess;

/// A text wherever an unknown tool may have it: under keys that say path, that say nothing, in lists, deeper down, as the arguments
/// themselves.
fn calls(text: &str) -> Vec<Value> {
    vec![
        json!({ "path": text }),
        json!({ "source": text }),
        json!({ "uri": text }),
        json!({ "output_file": text }),
        json!({ "paths": text }),
        json!({ "files": [text] }),
        json!({ "glob": text }),
        json!({ "subject": text }),
        json!({ "x": ["a", text] }),
        json!({ "x": { "y": [{ "z": text }] } }),
        json!({ "path": { "y": [text] } }),
        json!([text]),
        json!(text),
    ]
}

fn decide(policy: &PathPolicy, tool: &str, arguments: &Value) -> PathDecision<'static> {
    policy.validate_call(tool, arguments).into_owned()
}

fn refused(policy: &PathPolicy, text: &str) {
    for arguments in calls(text) {
        let decision = policy.validate_call("frobnicate", &arguments);
        assert!(decision.is_denied(), "{text:?} passes in {arguments}");
        let reason = decision.reason();
        assert!(reason.starts_with("path traversal blocked: tool `frobnicate`: "), "{reason}");
    }
    // As a key, where some tools have a file's name.
    let arguments = json!({ "edits": { text: "new text" } });
    assert!(policy.validate_call("frobnicate", &arguments).is_denied(), "{text:?} passes as a key");
}

#[test]
fn an_unknown_tools_path_does_not_pass_for_an_address() {
    let tree = TreeAccess::new();
    let policy = tree.policy();
    for text in [
        "ab://../../../../etc/passwd",
        "/etc/://../passwd",
        "a/../../../etc/passwd#://",
        "../../etc/passwd?x=http://a.test",
        "/etc/passwd#http://a.test/",
        "http://../../../etc/passwd",
        "http://./../../../etc/passwd",
        "http://a.test/../../../../etc/passwd",
        "https://a.test/%2e%2e/%2e%2e/%2e%2e/etc/passwd",
        "https://a.test/%252e%252e/%252e%252e/%252e%252e/etc/passwd",
        "https://a.test/..\\..\\..\\etc\\passwd",
        "https:///etc/passwd",
        "https:/etc/passwd",
        "http:///../../etc",
        "://etc/passwd",
        "x://etc/passwd",
        "c://windows/win.ini",
        "root:///etc/passwd",
        "jar:file:///etc/passwd!/x",
        "view-source:file:///etc/passwd",
        "netdoc:///etc/passwd",
        "unix:///var/run/docker.sock",
        "phar:///etc/passwd",
        "php://filter/resource=/etc/passwd",
        "http://a.test\0/../../etc/passwd",
        "http://a.test /etc/passwd",
        "data:text/plain,/etc/passwd",
        "data:;base64,/../../../etc/passwd",
    ] {
        refused(&policy, text);
    }
}

#[test]
fn an_unknown_tools_path_does_not_hide_behind_white_space() {
    let tree = TreeAccess::new();
    let policy = tree.policy();
    for blank in [
        " ", "\t", "\n", "\r\n", "\u{a0}", "\u{3000}", "\u{2003}", "\u{85}", "\u{b}", "\0", "\u{200b}",
        "\u{feff}", "\u{1b}",
    ] {
        for path in ["/etc/passwd", "../../etc/passwd", "~/.ssh/id_rsa", "file:///etc/passwd", "..", "C:\\x"]
        {
            refused(&policy, &format!("{blank}{path}"));
            refused(&policy, &format!("{blank}{blank}{path}{blank}"));
        }
    }
}

#[test]
fn an_unknown_tools_path_is_found_in_every_dress() {
    let tree = TreeAccess::new();
    let policy = tree.policy();
    for text in [
        "x=/etc/passwd",
        "--file=/etc/passwd",
        "--file=../../etc/passwd",
        "-f/etc/passwd",
        "@/etc/passwd",
        "name=@/etc/passwd;type=text/plain",
        "--file /etc/passwd",
        "-f /etc/passwd",
        "./a /etc/passwd",
        "a.txt /etc/passwd",
        "a.txt,/etc/passwd",
        "a.txt;/etc/passwd",
        "a:/etc/passwd",
        "ab:/etc/passwd",
        "a|/etc/passwd",
        "\"/etc/passwd\"",
        "'/etc/passwd'",
        "`/etc/passwd`",
        "</etc/passwd",
        ">/etc/passwd",
        "</etc/passwd>",
        "(/etc/passwd)",
        "[/etc/passwd]",
        "{/etc/passwd}",
        "[\"a\",\"/etc/passwd\"]",
        "{\"path\":\"/etc/passwd\"}",
        "a.txt\n/etc/passwd",
        "a\n../../etc/passwd",
        "file:/etc/passwd",
        "FILE:///etc/passwd",
        "File:etc/passwd",
        "fi%6ce:///etc/passwd",
        "file%3a///etc/passwd",
        "%66ile:///etc/passwd",
        "%2Fetc%2Fpasswd",
        "%2fetc/passwd",
        "%2E%2E%2Fetc",
        "..%2f..%2fetc%2fpasswd",
        "a%2f..%2f..%2f..%2fetc",
        "%252fetc%252fpasswd",
        "%25252525252525252fetc",
        "x=%2fetc%2fpasswd",
        "%c0%ae%c0%ae/%c0%ae%c0%ae/etc",
        "%c0%af%c0%afetc",
        "%ef%bc%8fetc%ef%bc%8fpasswd",
        "x=%e2%88%95etc",
        "%2ffile:./",
        "%u002e%u002e/etc",
        "a%00/etc/passwd",
        "%7e/.ssh",
        "~",
        "~/x",
        "~root/..",
        "~root/.ssh/id_rsa",
        "x=~/.ssh/id_rsa",
        "@~/.ssh/id_rsa",
        "$HOME/..",
        "$HOME/.ssh",
        "x=$HOME/.ssh",
        "${HOME}/.ssh",
        "$OLDPWD/../x",
        "$(pwd)/x",
        "`pwd`/x",
        "%USERPROFILE%\\x",
        "%APPDATA%/x",
        "/etc/passwd\0.txt",
        "a\0/etc/passwd",
        "..\\..\\etc\\passwd",
        "a\\..\\..\\..\\etc",
        "\\etc\\passwd",
        "\\\\server.test\\share",
        "//server.test/share",
        "\\\\?\\C:\\x",
        "C:\\x",
        "C:/x",
        "x=C:\\x",
        "／etc／passwd",
        "∕etc∕passwd",
        "．．/．．/etc/passwd",
        "‥/‥/etc",
        "․․/etc",
        "～/.ssh",
        "ｆｉｌｅ：///etc/passwd",
        ".\u{200b}./.\u{200b}./etc/passwd",
        "\u{202e}/etc/passwd",
        "..;/..;/etc/passwd",
        "..",
        "../",
        "a/../../..",
        "./../../x",
        "/",
        "//",
        "/./etc",
    ] {
        refused(&policy, text);
    }
}

/// Nothing in such a text says that it is a path, but that there is something of that name.
#[test]
fn an_unknown_tools_relative_path_is_looked_at_under_any_key() {
    let tree = TreeAccess::new();
    tree.link(tree.path("outside"), "ws/out");
    tree.link(tree.path("outside/secret"), "ws/projects/leak");
    tree.link("/proc/self/root", "ws/proc");
    let policy = tree.policy();
    for text in [
        "out",
        "out/secret",
        "out/secret ",
        "out/new",
        "projects/leak",
        "projects/../out/secret",
        "x=out/secret",
        "--file=out/secret",
        "--file out/secret",
        "@out/secret",
        "a.txt,out/secret",
        "out,a.txt",
        "a.txt\nout/secret",
        "out%2fsecret",
        "proc/etc",
        "out/secret.",
        "out/a\\b",
        "\u{ff4f}ut/secret",
    ] {
        refused(&policy, text);
    }
    std::fs::create_dir(tree.path("ws/kept")).unwrap();
    let policy = tree.builder().forbid("kept").forbid("not-there").build().unwrap();
    for text in ["kept/key", "kept", "x=kept/key", "kept,a", "not-there/key"] {
        refused(&policy, text);
    }
    for text in ["keptsake", "and/or", "projects/foo.md", "kept it at home", "refs/heads/main", "a.b", "."] {
        let decision = decide(&policy, "frobnicate", &json!({ "subject": text }));
        assert!(decision.is_allowed(), "{text}: {}", decision.reason());
    }
}

#[test]
fn addresses_and_prose_of_an_unknown_tool_pass() {
    let tree = TreeAccess::new();
    let policy = tree.policy();
    for address in [
        "https://a.test",
        "https://a.test/",
        "https://a.test/img.png",
        "http://localhost:3000/health?x=1&y=/a/b#c",
        "HTTPS://A.TEST/x",
        "https://user@a.test:8443/a/b?next=%2Fhome",
        "http://[::1]:8080/x",
        "https://a.test/acme%2Fwidgets/x",
        "https://a.test/a/b..c/...",
        "s3://bucket/key/x.csv",
        "ssh://git@a.test/acme/x.git",
        "postgres://app@db.test:5432/app",
        "git+https://a.test/acme/x.git",
        "data:image/jpeg;base64,/9j/4AAQSkZJRgABAQ==",
    ] {
        for arguments in calls(address) {
            let decision = policy.validate_call("frobnicate", &arguments);
            assert!(decision.is_allowed(), "{arguments}: {}", decision.reason());
        }
    }
    for prose in [
        "",
        "hello",
        "Please look at /etc/hosts and ../x, then tell me",
        "and/or",
        "see https://a.test/x for more",
        "a ratio of 1:2, or 3/4",
        "about ~5 minutes",
        "it costs $5/month",
        "text/html,application/json;q=0.9,*/*;q=0.8",
        "*/5 * * * *",
        "refs/heads/main",
        "docker.test/acme/api:1.2",
        "git@github.test:acme/widgets.git",
        "2026-01-02T03:04:05Z",
        "12:30",
        "a=b&c=d",
        "user@mail.test",
        "#/components/schemas/Pet is a pointer",
        "100%",
        "50% off",
        "caf%C3%A9",
        "a%20b",
        "和／或",
        "Yes/No",
        "main..dev",
        "v1.2.3...v1.3.0",
        "[...slug]",
        "fn main() {\n    // /etc/passwd\n}\n",
        "SELECT * FROM t WHERE a = '/x'",
        "km/h",
        "(a|b)",
        "feature/login",
        "x => x/2",
    ] {
        for arguments in [json!({ "subject": prose }), json!({ "x": [{ "note": prose }] })] {
            let decision = policy.validate_call("frobnicate", &arguments);
            assert!(decision.is_allowed(), "{arguments}: {}", decision.reason());
        }
    }
    // Paths inside pass as before.
    for text in [
        "projects/foo.md",
        "./projects/foo.md",
        "projects/a/../foo.md",
        "x=projects/foo.md",
        "@projects/foo.md",
    ] {
        for arguments in [json!({ "path": text }), json!({ "subject": text })] {
            let decision = policy.validate_call("frobnicate", &arguments);
            assert!(decision.is_allowed(), "{arguments}: {}", decision.reason());
        }
    }
    let inside = tree.text("ws/projects/foo.md");
    for text in [inside.clone(), format!("x={inside}"), format!("@{inside}"), format!("--file={inside}")] {
        let decision = decide(&policy, "frobnicate", &json!({ "subject": text }));
        assert!(decision.is_allowed(), "{text}: {}", decision.reason());
    }
}

#[test]
fn an_address_key_does_not_carry_a_file() {
    let tree = TreeAccess::new();
    let policy = tree.policy();
    for text in [
        "file:///etc/passwd",
        " FILE:/etc/passwd",
        "view-source:file:///etc/passwd",
        "file%3a///etc/passwd",
        "ab://../../../../etc/passwd",
        "jar:file:/x!/y",
    ] {
        for key in ["url", "href", "image_url", "endpoint"] {
            assert!(decide(&policy, "fetch", &json!({ key: text })).is_denied(), "{key}: {text}");
        }
    }
    for text in ["https://a.test/../x", "/v1/chat", "about:blank", "https://a.test/?file=x", "profile:me"] {
        let decision = decide(&policy, "fetch", &json!({ "url": text }));
        assert!(decision.is_allowed(), "{text}: {}", decision.reason());
    }
}

/// Where a reader would end up that takes the text as a path: as far as the text tells.
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

/// The slow reference: every way in which some reader takes a text for a path. Trimmed or not, behind any sign that ends a name and
/// a value begins after, decoded, with its backslashes turned round, and as a file's address.
fn leads_out(root: &Path, text: &str) -> bool {
    let mut readings = vec![text.to_owned()];
    // An address with a host: what stands behind its signs belongs to it.
    let trimmed = text.trim_matches(|c: char| c.is_whitespace() || c.is_control());
    let behind = trimmed.strip_prefix("https://").or(trimmed.strip_prefix("http://")).unwrap_or_default();
    let host: String =
        behind.chars().take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-')).collect();
    let after = &behind[host.len()..];
    let is_address = host.starts_with(|c: char| c.is_ascii_alphabetic())
        && !host.contains("..")
        && (after.is_empty() || after.starts_with(['/', '?', '#']))
        && !after.contains(['\\', '\0']);
    for _ in 0..3 {
        let mut more = Vec::new();
        for reading in &readings {
            more.push(reading.trim_matches(|c: char| c.is_whitespace() || c.is_control()).to_owned());
            more.push(reading.replace('\\', "/"));
            more.push(reading.replace("%2e", ".").replace("%2f", "/").replace("%25", "%"));
            more.push(reading.strip_prefix("file:").unwrap_or_default().to_owned());
            for (at, sign) in
                reading.char_indices().filter(|(_, c)| !is_address && "=@,;|\"'<>([{`\0".contains(*c))
            {
                more.push(reading[at + sign.len_utf8()..].to_owned());
            }
        }
        readings.extend(more);
        readings.sort_unstable();
        readings.dedup();
    }
    readings.iter().any(|reading| {
        reading.starts_with('~') || reading.starts_with("$HOME") || !lexical(root, reading).starts_with(root)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    /// What the reference finds to lead out is refused: in one word under every key, whatever stands before it under a key that says path.
    #[test]
    fn the_policy_refuses_what_the_reference_finds(parts in prop::collection::vec(prop::sample::select(vec![
        "/", "/", "..", "..", "../", "a", "b", "etc", "passwd", ".", ":", "://", "ab://", "http://", "https://a.test", "file:", "=", "@", ",", ";", "|", "\"", "'",
        "(", "[", "{", "<", "-f", "--x=", "%2e", "%2f", "%252e", "%252f", "\\", "~", "$HOME", "\0", "#", "?", "&", "!",
    ]), 1..9), before in prop::sample::select(vec!["", "", " ", "\t", "\n", "\u{a0}"])) {
        let text = format!("{before}{}", parts.concat());
        let policy = shared();
        let out = leads_out(policy.root(), &text);
        for arguments in calls(&text) {
            let decision = policy.validate_call("frobnicate", &arguments);
            prop_assert!(!out || decision.is_denied(), "{:?} passes in {}", text, arguments);
        }
    }

    /// Words with spaces between them are prose, and an address is an address.
    #[test]
    fn prose_and_addresses_pass(words in prop::collection::vec("[A-Za-z]{1,9}[,.!?]?", 2..12), host in "[a-z][a-z0-9]{0,9}(\\.test)?", path in "(/[a-z0-9_.-]{0,3}[a-z]){0,4}", query in "(\\?[a-z]=[a-z/:]{0,9})?") {
        let policy = shared();
        let prose = words.join(" ");
        let decision = decide(policy, "frobnicate", &json!({ "subject": prose }));
        prop_assert!(decision.is_allowed(), "{}: {}", prose, decision.reason());
        let address = format!("https://{host}{path}{query}");
        for arguments in calls(&address) {
            let decision = policy.validate_call("frobnicate", &arguments);
            prop_assert!(decision.is_allowed(), "{}: {}", arguments, decision.reason());
        }
    }
}

/// One tree for all cases: nothing is changed in it.
fn shared() -> &'static PathPolicy {
    static POLICY: std::sync::OnceLock<(TreeAccess, PathPolicy)> = std::sync::OnceLock::new();
    &POLICY
        .get_or_init(|| {
            let tree = TreeAccess::new();
            let policy = tree.policy();
            (tree, policy)
        })
        .1
}
