//! The trace of a run has what was tried, and nothing that was not.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![cfg(target_os = "linux")]

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::time::Duration;

use skillsandbox_enforcer::egress::{NetworkRule, Protocol};
use skillsandbox_enforcer::{Command, Plan, PlanBuilder};
use skillsandbox_run::{RecordedRun, RunStreams, record};
use skillsandbox_text::Secret;
use skillsandbox_tracer::{
    AttackClass, Classifier, Event, EventKind, EventVerdict, Recorder, Trace, TraceHeader, TraceWriter,
    read_trace, verify_trace,
};

struct Traced {
    ran: RecordedRun,
    trace: Trace,
    path: PathBuf,
    _folder: tempfile::TempDir,
}

fn traced(plan: PlanBuilder, command: Command, secrets: &[(&str, &str)]) -> Traced {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace.json");
    let header = TraceHeader::new("tested", "tests");
    let writer = TraceWriter::create(&path, &header).unwrap();
    let recorder = Recorder::new(&header, Some(writer), Vec::new()).classify(Box::new(Classifier::new()));
    let secrets: Vec<_> =
        secrets.iter().map(|(name, value)| ((*name).to_owned(), Secret::from(*value))).collect();
    let plan = plan.timeout(Duration::from_mins(1)).build().unwrap();
    let ran = record(&plan, command, recorder, &secrets, None, &RunStreams::default()).unwrap();
    let trace = read_trace(&path).unwrap();
    verify_trace(&path).unwrap();
    Traced { ran, trace, path, _folder: folder }
}

impl Traced {
    fn all(&self, kind: impl Fn(&EventKind) -> bool) -> Vec<&Event> {
        self.trace.events.iter().filter(|event| kind(&event.kind)).collect()
    }

    fn classes(&self) -> Vec<AttackClass> {
        self.trace.violation_summary.classifications.iter().map(|found| found.class).collect()
    }

    fn text(&self) -> String {
        std::fs::read_to_string(&self.path).unwrap()
    }
}

fn python(script: &str) -> Command {
    Command::new("python3").args(["-c", script])
}

#[test]
fn row_085_the_trace_states_how_many_variables_were_handed_on() {
    let traced = traced(Plan::builder().allow_env("PATH"), Command::new("/bin/true"), &[]);
    let figures = traced.trace.events.iter().find_map(|event| match &event.kind {
        EventKind::Policy { subject, figures, .. } if subject == "environment" => Some(figures),
        _ => None,
    });
    let figures = figures.expect("a policy event");
    let outcome = traced.ran.outcome.as_ref().unwrap();
    assert_eq!(figures["allowed"], outcome.environment.allowed as u64);
    assert_eq!(figures["stripped"], outcome.environment.stripped as u64);
    assert!(figures.contains_key("stripped_secrets"));
}

#[test]
fn row_112_refused_calls_are_in_the_trace() {
    let traced = traced(Plan::builder(), python("import ctypes; ctypes.CDLL(None).ptrace(0, 0, 0, 0)"), &[]);
    let refused =
        traced.all(|what| matches!(what, EventKind::SyscallRefused { name, .. } if name == "ptrace"));
    assert_eq!(refused.len(), 1);
    assert_eq!(refused[0].verdict, Some(EventVerdict::Denied));
    assert!(refused[0].process.as_ref().unwrap().binary.as_ref().unwrap().contains("python"));
    assert!(traced.classes().contains(&AttackClass::SandboxEscape), "{:?}", traced.classes());
}

#[test]
fn row_113_a_limit_that_was_reached_is_in_the_trace() {
    let traced = traced(Plan::builder(), Command::new("/bin/true"), &[]);
    assert!(traced.all(|what| matches!(what, EventKind::ResourceLimitHit { .. })).is_empty());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace.json");
    let header = TraceHeader::new("tested", "tests");
    let writer = TraceWriter::create(&path, &header).unwrap();
    let plan = Plan::builder().timeout(Duration::from_millis(200)).build().unwrap();
    let recorder = Recorder::new(&header, Some(writer), Vec::new());
    record(&plan, Command::new("sleep").arg("30"), recorder, &[], None, &RunStreams::default()).unwrap();
    let trace = read_trace(&path).unwrap();
    let hit = |event: &Event| matches!(&event.kind, EventKind::ResourceLimitHit { limit, .. } if limit == "timeout");
    assert!(trace.events.iter().any(hit), "{trace:#?}");
}

#[test]
fn row_138_a_run_that_does_not_start_has_a_trace_too() {
    let traced = traced(Plan::builder(), Command::new("no-such-program-anywhere"), &[]);
    assert!(traced.ran.outcome.is_err());
    let ended = traced.all(|what| matches!(what, EventKind::RunEnded { end, error: Some(error), .. } if end == "refused" && error.contains("no-such-program")));
    assert_eq!(ended.len(), 1);
    assert!(traced.all(|what| matches!(what, EventKind::RunStarted { .. })).is_empty());
}

#[test]
fn row_139_lookups_policy_output_and_end_are_recorded() {
    let script = "
import socket, sys
try: socket.getaddrinfo('webhook.test', 443)
except OSError: pass
print('one', flush=True); print('two', file=sys.stderr); sys.stdout.buffer.write(b'\\xff\\x00three')
sys.exit(7)
";
    let plan = Plan::builder().egress(NetworkRule::domain("api.weather.test").unwrap());
    let traced = traced(plan, python(script), &[]);
    let lookup = traced
        .all(|what| matches!(what, EventKind::DnsQuery { name: Some(name), .. } if name == "webhook.test"));
    assert!(!lookup.is_empty() && lookup.iter().all(|event| event.verdict == Some(EventVerdict::Denied)));
    let lines: Vec<_> = traced
        .trace
        .events
        .iter()
        .filter_map(|event| match &event.kind {
            EventKind::Stdout(line) => Some(("out", line.text.as_str())),
            EventKind::Stderr(line) => Some(("err", line.text.as_str())),
            _ => None,
        })
        .collect();
    assert!(lines.contains(&("out", "one")) && lines.contains(&("err", "two")), "{lines:?}");
    assert!(lines.iter().any(|(_, line)| line.starts_with("\\xff") && line.ends_with("three")), "{lines:?}");
    assert!(
        !traced
            .all(|what| matches!(what, EventKind::Policy { subject, .. } if subject == "network"))
            .is_empty()
    );
    let last = traced.all(|what| matches!(what, EventKind::RunEnded { exit_code: Some(7), .. }));
    assert_eq!(last.len(), 1);
    let order: Vec<_> = traced.trace.events.iter().map(|event| event.sequence).collect();
    assert!(order.iter().copied().eq(0..order.len() as u64));
}

#[test]
fn row_140_what_was_tried_is_recorded_as_it_was() {
    let script = "
import socket
for path in ['/etc/shadow', '/etc/ld.so.cache', '/tmp/no-such-file']:
    try: open(path).close()
    except OSError: pass
for address in [('192.0.2.7', 4444), ('198.51.100.1', 80)]:
    try: socket.create_connection(address, 1)
    except OSError: pass
";
    let plan = Plan::builder().egress(NetworkRule::domain("api.weather.test").unwrap());
    let traced = traced(plan, python(script), &[]);
    let verdict = |wanted: &str| {
        let found = traced.all(|what| matches!(what, EventKind::File { path, .. } if path == wanted));
        found.first().unwrap_or_else(|| panic!("{wanted}")).verdict
    };
    assert_eq!(verdict("/etc/shadow"), Some(EventVerdict::Denied));
    assert_eq!(verdict("/etc/ld.so.cache"), Some(EventVerdict::Allowed));
    assert_eq!(verdict("/tmp/no-such-file"), Some(EventVerdict::Failed));
    let connects = traced.all(|what| matches!(what, EventKind::NetConnect(_)));
    assert_eq!(connects.len(), 2);
    for event in connects {
        assert_eq!(event.verdict, Some(EventVerdict::Denied));
        assert!(event.process.as_ref().unwrap().pid > 1);
    }
    assert!(traced.trace.violation_summary.complete);
}

/// Secrets are in no file that a run leaves behind, in none of their forms.
#[test]
fn secrets_do_not_reach_the_trace() {
    let secret = "hunter2-correct-horse-battery";
    let script = format!(
        "import base64, binascii, subprocess
s = '{secret}'
print(s); print('x' + s + 'y'); print(base64.b64encode(s.encode()).decode()); print(binascii.hexlify(s.encode()).decode())
subprocess.run(['true', '--password=' + s])
try: open('/tmp/' + s)
except OSError: pass
"
    );
    let traced = traced(Plan::builder(), python(&script), &[("DATABASE_PASSWORD", secret)]);
    let text = traced.text();
    assert!(text.contains("[REDACTED:DATABASE_PASSWORD]"));
    assert!(
        !text.contains(secret) && !text.contains("aHVudGVyMi") && !text.contains("68756e74657232"),
        "{text}"
    );
}

fn example(name: &str) -> PathBuf {
    let examples = std::env::var_os("SKILLSANDBOX_EXAMPLES").map(PathBuf::from);
    let examples =
        examples.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/skills"));
    examples.join(name).canonicalize().unwrap()
}

/// A weather service on loopback.
fn service() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = stream.read(&mut [0; 4096]);
            let body = r#"{"temperature_c": 21, "conditions": "sunny"}"#;
            let _ = write!(
                stream,
                "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
                body.len()
            );
        }
    });
    address
}

fn skill(name: &str) -> Traced {
    let folder = example(name);
    let rule = NetworkRule::domain("api.weather.test").unwrap().ports([80]).protocol(Protocol::Http);
    let plan = Plan::builder()
        .read(&folder)
        .workdir(&folder)
        .env("LANG", "C.UTF-8")
        .env("WEATHER_API", "http://api.weather.test")
        .env("WEATHER_API_KEY", "not-a-real-key")
        .egress(rule)
        .pin("api.weather.test", 80, service());
    let traced = traced(plan, Command::new("python3").args(["main.py", "Berlin"]), &[]);
    let answer = |what: &EventKind| matches!(what, EventKind::Stdout(line) if line.text.contains("sunny"));
    assert_eq!(traced.all(answer).len(), 1, "it does its work: {}", traced.text());
    traced
}

#[test]
fn row_142_a_benign_skill_is_classified_as_nothing() {
    let traced = skill("weather");
    assert_eq!(traced.classes(), [], "{:#?}", traced.trace.violation_summary);
    assert!(traced.trace.violation_summary.all_prevented);
    let violations: Vec<_> = traced.trace.events.iter().filter(|event| event.is_violation()).collect();
    assert!(violations.is_empty(), "{violations:#?}");
}

#[test]
fn row_141_the_attempts_of_a_thief_are_named() {
    let traced = skill("malicious-weather");
    let summary = &traced.trace.violation_summary;
    let classes = traced.classes();
    for class in [
        AttackClass::CredentialHarvesting,
        AttackClass::CredentialExfiltration,
        AttackClass::SupplyChainAttack,
        AttackClass::DnsTunnelling,
    ] {
        assert!(classes.contains(&class), "{class:?} is not in {summary:#?}");
    }
    let techniques: Vec<&str> = summary
        .classifications
        .iter()
        .flat_map(|found| &found.techniques)
        .map(|technique| technique.id.as_str())
        .collect();
    for id in ["T1552.001", "T1552.004", "T1071.004", "T1195.002"] {
        assert!(techniques.contains(&id), "{id} is not among {techniques:?}");
    }
    assert!(summary.all_prevented, "{summary:#?}");
    // What it tried, by name; and each "denied" is an attempt that was seen.
    let read_trace = |wanted: &str| {
        !traced.all(|what| matches!(what, EventKind::File { path, .. } if path.ends_with(wanted))).is_empty()
    };
    for path in [".aws/credentials", ".ssh/id_rsa", ".ssh/id_ed25519", ".netrc", "/proc/1/environ"] {
        assert!(read_trace(path), "{path}");
    }
    let names = traced.all(
        |what| matches!(what, EventKind::DnsQuery { name: Some(name), .. } if name.ends_with("exfil.test")),
    );
    assert!(names.len() > 3 && names.iter().all(|event| event.verdict == Some(EventVerdict::Denied)));
    assert!(
        !traced
            .all(
                |what| matches!(what, EventKind::DnsQuery { name: Some(name), .. } if name == "webhook.test")
            )
            .is_empty()
    );
    for place in &traced.trace.policy_violations {
        let event = &traced.trace.events[usize::try_from(*place).unwrap()];
        assert!(event.is_violation() && !matches!(event.kind, EventKind::Policy { .. }));
    }
}
