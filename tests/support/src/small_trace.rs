//! A small trace with one event of every kind, for whoever wants to break it.

use std::path::PathBuf;

use skillsandbox_tracer::{
    Event, EventKind, EventVerdict, FileOperation, NetConnection, OutputLine, Recorder, TamperKind,
    TraceDigest, TraceError, TraceHeader, TraceSummary, TraceWriter, TracedProcess,
};
use tempfile::TempDir;

pub fn header() -> TraceHeader {
    let mut header = TraceHeader::new("weather-lookup", "skillsandbox 0.0.0-test");
    header.skill_version = Some("0.1.0".to_owned());
    header.host = [("kernel".to_owned(), "6.1".to_owned()), ("landlock".to_owned(), "4".to_owned())].into();
    header
}

pub fn file(path: &str, verdict: EventVerdict) -> Event {
    Event::new(EventKind::File { operation: FileOperation::Read, path: path.to_owned(), to: None })
        .with_verdict(verdict, "filesystem.read".to_owned())
        .with_process(TracedProcess::new(4711, Some("/usr/bin/python3".to_owned())))
}

/// One event of every kind.
pub fn events() -> Vec<Event> {
    let connection = |verdict| {
        let mut connection = NetConnection::default();
        connection.name = Some("collector.evil.test".to_owned());
        connection.port = 443;
        connection.transport.push_str("tcp");
        Event::new(EventKind::NetConnect(connection)).with_verdict(verdict, None)
    };
    let mut line = OutputLine::new("{\"temperature\": 7}, \"hash\":\"00\"} \u{1b}[2J \u{202e}é\\xff");
    line.omitted = 12;
    vec![
        Event::new(EventKind::RunStarted { command: vec!["python3".to_owned(), "main.py".to_owned()] }),
        Event::new(EventKind::Policy {
            subject: "environment".to_owned(),
            message: "3 of 40 variables passed".to_owned(),
            figures: [("allowed".to_owned(), 3), ("stripped".to_owned(), 37)].into(),
        }),
        file("/home/user/.aws/credentials", EventVerdict::Denied),
        file("/skill/main.py", EventVerdict::Allowed),
        file("/skill/missing.py", EventVerdict::Failed),
        Event::new(EventKind::Exec {
            path: "/bin/sh".to_owned(),
            argv: vec!["sh".to_owned(), "-c".to_owned()],
        })
        .with_verdict(EventVerdict::Denied, None),
        Event::new(EventKind::DnsQuery { name: Some("collector.evil.test".to_owned()), server: None })
            .with_verdict(EventVerdict::Denied, "network.egress".to_owned()),
        connection(EventVerdict::Denied),
        connection(EventVerdict::Allowed),
        Event::new(EventKind::SyscallRefused {
            name: "ptrace".to_owned(),
            reason: "reads other programs".to_owned(),
            errno: Some(1),
        })
        .with_verdict(EventVerdict::Denied, None),
        Event::new(EventKind::Stdout(line)),
        Event::new(EventKind::Stderr(OutputLine::new(""))),
        Event::new(EventKind::ResourceLimitHit {
            limit: "memory".to_owned(),
            mechanism: "cgroup".to_owned(),
        }),
        Event::new(EventKind::Lost { at: "observer".to_owned() }),
        Event::new(EventKind::RunEnded {
            exit_code: Some(0),
            signal: None,
            end: "itself".to_owned(),
            error: None,
        }),
    ]
}

/// A trace of these events, in a folder that goes away with it.
pub fn trace_of(events: impl IntoIterator<Item = Event>) -> (TempDir, PathBuf, TraceDigest) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace.json");
    let header = header();
    let mut recorder = Recorder::new(&header, Some(TraceWriter::create(&path, &header).unwrap()), Vec::new());
    for event in events {
        recorder.record(event);
    }
    let done = recorder.finish();
    assert!(done.error.is_none(), "{:?}", done.error);
    (folder, path, done.digest.unwrap())
}

pub fn small() -> (TempDir, PathBuf, TraceDigest) {
    trace_of(events())
}

pub fn verify_bytes(bytes: &[u8]) -> Result<TraceSummary, TraceError> {
    let reader = skillsandbox_tracer::TraceReader::new(bytes)?;
    skillsandbox_tracer::verify_trace_from(reader).map(|verified| verified.summary)
}

/// In which way these bytes are wrong, and at which line and event.
pub fn wrong(bytes: &[u8]) -> (TamperKind, u64, Option<u64>) {
    match verify_bytes(bytes) {
        Err(TraceError::Tampered(tampered)) => (tampered.how, tampered.line, tampered.sequence),
        other => panic!("not found: {other:?}"),
    }
}

/// What an attacker does who knows the format: every hash anew, and nothing else.
pub fn rechained(text: &str) -> Vec<u8> {
    use std::fmt::Write as _;

    use sha2::{Digest as _, Sha256};

    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let mut out = String::new();
    let mut lines = text.split_inclusive('\n').peekable();
    while !lines.peek().unwrap().starts_with("  \"hash\"") {
        out.push_str(lines.next().unwrap());
    }
    let mut hash = Sha256::digest(&out).to_vec();
    lines.next();
    writeln!(out, "  \"hash\": \"{}\",", hex(&hash)).unwrap();
    let mut tail = String::new();
    let mut in_tail = false;
    for line in lines {
        if line.starts_with("    {\"sequence\"") && !in_tail {
            let (body, _) = line.rsplit_once(",\"hash\":\"").unwrap();
            hash = Sha256::digest([&hash, body.as_bytes()].concat()).to_vec();
            let end = if line.ends_with(",\n") { ",\n" } else { "\n" };
            write!(out, "{body},\"hash\":\"{}\"}}{end}", hex(&hash)).unwrap();
        } else if line.starts_with("  \"digest\"") {
            hash = Sha256::digest([&hash, tail.as_bytes()].concat()).to_vec();
            writeln!(out, "  \"digest\": \"{}\"", hex(&hash)).unwrap();
        } else {
            if in_tail {
                tail.push_str(line);
            }
            in_tail |= line == "  ],\n";
            out.push_str(line);
        }
    }
    out.into_bytes()
}

/// The same text with the hashes that belong to it: what somebody writes who knows the format, and what no chain without a key can find.
///
/// # Panics
/// What is not laid out as a trace.
#[must_use]
pub fn chained_anew(text: &str) -> String {
    use sha2::{Digest as _, Sha256};

    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let (head, rest) = text.split_once("  \"hash\": \"").unwrap();
    let mut hash: [u8; 32] = Sha256::digest(head.as_bytes()).into();
    let mut out = format!("{head}  \"hash\": \"{}\",\n  \"events\": [", hex(&hash));
    let (events, tail) = rest.split_once("\n  ],\n").unwrap();
    let mut lines: Vec<String> = Vec::new();
    for line in events.lines().skip(2) {
        let (body, _) = line.rsplit_once(",\"hash\":\"").unwrap();
        let mut next = Sha256::new();
        next.update(hash);
        next.update(body.as_bytes());
        hash = next.finalize().into();
        lines.push(format!("{body},\"hash\":\"{}\"}}", hex(&hash)));
    }
    out.push('\n');
    out.push_str(&lines.join(",\n"));
    out.push_str("\n  ],\n");
    let (end, _) = tail.split_once("  \"digest\": \"").unwrap();
    let mut next = Sha256::new();
    next.update(hash);
    next.update(end.as_bytes());
    format!("{out}{end}  \"digest\": \"{}\"\n}}\n", hex(&next.finalize()))
}
