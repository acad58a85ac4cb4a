//! `skillsandbox exec`: any command in the sandbox.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod sandboxed;

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::process::Stdio;

use sandboxed::{Stage, code, text};

#[test]
fn nothing_is_granted_but_what_the_flags_say() {
    let stage = Stage::new();
    stage.write("home/in/file", "in\n");
    stage.write("home/other", "other\n");
    let home = stage.home();
    let home = home.display();
    let script = format!(
        "cat {home}/in/file; cat {home}/other; echo out > {home}/out/file; echo no > {home}/in/file; env | sort | grep -v -e HOME -e XDG -e PWD -e TMPDIR"
    );
    let mut command = stage.command(&[
        "exec", "-q", "--read", "in", "--write", "out", "--env", "GIVEN", "--env", "SET=1 2", "--", "sh",
        "-c", &script,
    ]);
    let output = command.env("GIVEN", "yes").env("OTHER", "no").output().unwrap();
    let out = text(&output.stdout);
    assert!(out.starts_with("in\n") && out.contains("GIVEN=yes\n") && out.contains("SET=1 2\n"), "{out}");
    assert!(!out.contains("other") && !out.contains("OTHER"), "{out}");
    assert_eq!(fs::read_to_string(stage.home().join("out/file")).unwrap(), "out\n");
    assert_eq!(fs::read_to_string(stage.home().join("in/file")).unwrap(), "in\n");
}

#[test]
fn a_secret_that_is_set_by_hand_is_not_in_the_trace() {
    let stage = Stage::new();
    let arguments = ["exec", "-q", "--env", "API_TOKEN=hunter2-by-hand", "--", "sh", "-c", "echo $API_TOKEN"];
    assert_eq!(text(&stage.run(&arguments).stdout), "hunter2-by-hand\n");
    let recorded = fs::read_to_string(&stage.traces()[0]).unwrap();
    assert!(recorded.contains("[REDACTED:API_TOKEN]") && !recorded.contains("hunter2-by-hand"), "{recorded}");
}

#[test]
fn a_pattern_hands_on_no_variable_whose_name_is_that_of_a_secret() {
    let stage = Stage::new();
    let secrets = [
        "Authorization",
        "DB_PWD",
        "MYSQL_PWD",
        "PGPASSWORD",
        "X_API_KEY",
        "SMTP_PASS",
        "COOKIE",
        "SENTRY_DSN",
        "DATABASE_URL",
        "GITHUB_TOKEN",
    ];
    let mut command = stage.command(&["exec", "-q", "--env", "*", "--", "env"]);
    command.envs(secrets.map(|name| (name, "hunter2-of-the-host"))).env("GIVEN", "yes");
    let out = text(&command.output().unwrap().stdout);
    assert!(out.contains("GIVEN=yes\n"), "{out}");
    assert!(!out.contains("hunter2"), "{out}");
    // Its own name still hands one on.
    let mut command = stage.command(&["exec", "-q", "--env", "*", "--env", "DB_PWD", "--", "env"]);
    let out = text(&command.env("DB_PWD", "hunter2-of-the-host").output().unwrap().stdout);
    assert!(out.contains("DB_PWD=hunter2-of-the-host\n"), "{out}");
}

#[test]
fn it_starts_where_it_is_called_if_that_is_granted() {
    let stage = Stage::new();
    let output = stage.run(&["exec", "-q", "--read", ".", "--", "pwd"]);
    assert_eq!(text(&output.stdout).trim(), stage.home().to_str().unwrap());
    let output = stage.run(&["exec", "-q", "--", "pwd"]);
    assert_eq!(text(&output.stdout).trim(), "/home/skill");
}

#[test]
fn exit_codes_and_limits() {
    let stage = Stage::new();
    let run = |arguments: &[&str]| code(&stage.run(&[&["exec"], arguments].concat()));
    assert_eq!(run(&["--", "sh", "-c", "exit 9"]), 9);
    assert_eq!(run(&["--timeout", "0.3", "--", "sleep", "60"]), 124);
    assert_eq!(run(&["--", "no-such-program"]), 127);
    assert_eq!(run(&["--", "/etc/hostname"]), 126);
    assert_eq!(run(&["--", "sh", "-c", "kill -TERM $$"]), 128 + 15);
    let more = "x=x; while :; do x=$x$x; done";
    assert_eq!(run(&["--memory", "32M", "--timeout", "60", "--", "sh", "-c", more]), 128 + 9);
    assert_eq!(run(&["--profile", "strict", "--", "sh", "-c", "ls | cat"]), 2);
    assert_eq!(run(&[]), 2);
    assert_eq!(run(&["--memory", "0", "--", "true"]), 2);
}

#[test]
fn standard_input_is_handed_on_only_when_asked_for() {
    let stage = Stage::new();
    for (flags, expected) in
        [(&["exec", "-q", "--stdin", "--", "cat"][..], "typed\n"), (&["exec", "-q", "--", "cat"], "")]
    {
        let mut child = stage.command(flags).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        // Who does not read has gone already.
        let _ = child.stdin.take().unwrap().write_all(b"typed\n");
        assert_eq!(text(&child.wait_with_output().unwrap().stdout), expected);
    }
}

/// Answers each connection with a line, and says how many there were.
fn server() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().take(8) {
            let mut stream = stream.unwrap();
            let mut request = [0; 512];
            let _ = stream.read(&mut request);
            let _ = stream.write_all(b"HTTP/1.0 200 OK\r\nContent-Length: 6\r\n\r\nhello\n");
        }
    });
    address
}

#[test]
fn a_host_is_reached_by_its_name_and_no_other() {
    let stage = Stage::new();
    let to = server();
    let pin = format!("api.weather.test:80:{to}");
    let script = "
import urllib.request
for host in ['api.weather.test', 'other.weather.test', '192.0.2.1']:
    try: print(host, urllib.request.urlopen('http://' + host + '/', timeout=5).read())
    except OSError as error: print(host, 'failed')
";
    let arguments = [
        "exec",
        "-q",
        "--allow-host",
        "api.weather.test:80",
        "--resolve",
        &pin,
        "--",
        "python3",
        "-c",
        script,
    ];
    let output = stage.run(&arguments);
    assert_eq!(
        text(&output.stdout),
        "api.weather.test b'hello\\n'\nother.weather.test failed\n192.0.2.1 failed\n",
        "{}",
        text(&output.stderr)
    );
    // Nothing can be reached that is not granted, pinned or not.
    let output = stage.run(&["exec", "-q", "--resolve", &pin, "--", "python3", "-c", script]);
    assert!(text(&output.stdout).starts_with("api.weather.test failed\n"), "{}", text(&output.stdout));
}

#[test]
fn a_range_of_addresses_can_be_granted() {
    let stage = Stage::new();
    let to = server();
    let script = format!(
        "import socket; s = socket.create_connection(('127.0.0.1', {}), 5); s.send(b'x'); print(s.recv(4))",
        to.port()
    );
    let range = format!("127.0.0.0/8:{}", to.port());
    let output = stage.run(&["exec", "-q", "--allow-cidr", &range, "--", "python3", "-c", &script]);
    assert_eq!(text(&output.stdout), "b'HTTP'\n", "{}", text(&output.stderr));
    let output = stage.run(&["exec", "-q", "--", "python3", "-c", &script]);
    assert_ne!(code(&output), 0);
}

#[test]
fn the_old_name_of_observe_works_and_says_so() {
    let stage = Stage::new();
    for (flags, said) in [
        (&["--observe", "off"][..], None),
        (&["--audit", "off"], Some("--audit is the old name of --observe")),
        (&["--audit-required"], Some("--audit-required is the old name of --observe-required")),
        (&["--observe-required"], None),
    ] {
        let output = stage.run(&[&["exec", "-q"], flags, &["--", "true"]].concat());
        assert_eq!(code(&output), 0, "{flags:?}: {}", text(&output.stderr));
        let stderr = text(&output.stderr);
        match said {
            Some(said) => assert!(stderr.contains(said), "{flags:?}: {stderr}"),
            None => assert!(!stderr.contains("old name"), "{flags:?}: {stderr}"),
        }
    }
    // Less is observed by either name.
    for flag in ["--observe", "--audit"] {
        let output = stage.run(&["exec", flag, "off", "--", "true"]);
        assert!(text(&output.stderr).contains("observe level off"), "{}", text(&output.stderr));
    }
    assert_eq!(code(&stage.run(&["exec", "--audit", "off", "--observe", "full", "--", "true"])), 2);
    assert!(!text(&stage.run(&["exec", "--help"]).stdout).contains("--audit"));
}

#[test]
fn cpu_seconds_end_a_run_and_the_trace_says_so() {
    let stage = Stage::new();
    let output = stage.run(&[
        "exec",
        "-q",
        "--cpu-seconds",
        "1",
        "--timeout",
        "60",
        "--",
        "sh",
        "-c",
        "while :; do :; done",
    ]);
    assert_eq!(code(&output), 137, "{output:?}");
    let recorded = sandboxed::trace(&stage.traces()[0]);
    let events = recorded["events"].as_array().unwrap();
    let of = |kind: &str| {
        events.iter().find(|event| event["kind"] == kind).unwrap_or_else(|| panic!("{kind}: {events:?}"))
    };
    assert_eq!(of("resource_limit_hit")["limit"], "cpu_time");
    assert_eq!(of("run_ended")["end"], "cpu_time");
}

#[test]
fn max_cpu_seconds_of_a_manifest_end_a_run_and_a_policy_lowers_them() {
    let stage = Stage::new();
    stage.shell_skill(
        "resources: { max_cpu_seconds: 3600, max_runtime_seconds: 60 }\n",
        "while :; do :; done\n",
    );
    let policy = stage.write("home/.config/skillsandbox/policy.yaml", "resources: { max_cpu_seconds: 1 }\n");
    let (report, exit) = stage.report(&[]);
    assert_eq!((exit, &report["error"]["code"]), (137, &"CPU_TIME_LIMIT".into()), "{report}");
    let shown = stage.run(&["inspect", stage.skill().to_str().unwrap()]);
    assert!(text(&shown.stdout).contains("cpu time   1 s"), "{}", text(&shown.stdout));
    fs::remove_file(policy).unwrap();
    let shown = stage.run(&["run", "--dry-run", stage.skill().to_str().unwrap()]);
    assert!(text(&shown.stdout).contains("3600 s of processor time"), "{}", text(&shown.stdout));
}

#[test]
fn a_json_result_has_no_more_than_16_mib_of_each_output() {
    let stage = Stage::new();
    let script = "head -c 17000000 /dev/zero | tr '\\0' a; head -c 17000001 /dev/zero | tr '\\0' b >&2";
    let output = stage.run(&["exec", "--format", "json", "--", "sh", "-c", script]);
    assert_eq!(code(&output), 0, "{}", text(&output.stderr));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    for (name, sign, bytes) in [("stdout", b'a', 17_000_000), ("stderr", b'b', 17_000_001)] {
        let printed = report[name]["text"].as_str().unwrap();
        assert_eq!((printed.len(), report[name]["bytes"].as_u64()), (16 << 20, Some(bytes)), "{name}");
        assert!(printed.bytes().all(|byte| byte == sign), "{name}");
    }
}
