//! What a collector gets of a run.

use std::collections::{BTreeMap, HashSet};
use std::time::{Duration, UNIX_EPOCH};

use opentelemetry_proto::tonic::trace::v1::{Span, span::SpanKind, status::StatusCode};
use skillsandbox_tracer::{
    Classifier, Event, EventKind, EventVerdict, FileOperation, FoldMode, NetConnection, Redactor,
    TracedProcess,
};

use super::collector::{Collector, attribute};
use super::{export, export_by, patient, settings};
use skillsandbox_test_support::small_trace::{events, file, header};

fn named<'s>(spans: &'s [Span], name: &str) -> &'s Span {
    let mut found = spans.iter().filter(|span| span.name == name);
    let first = found.next().unwrap_or_else(|| panic!("no {name}"));
    assert!(found.next().is_none(), "{name} is there twice");
    first
}

fn says(span: &Span, key: &str) -> String {
    attribute(&span.attributes, key)
        .unwrap_or_else(|| panic!("{} has no {key}: {:?}", span.name, span.attributes))
}

fn at(time: jiff::Timestamp) -> u64 {
    u64::try_from(std::time::SystemTime::from(time).duration_since(UNIX_EPOCH).unwrap().as_nanos()).unwrap()
}

#[test]
fn every_kind_of_event_has_its_span_below_one_root() {
    let collector = Collector::good();
    let header = header();
    let (recorded, delivered) = export_by(patient(&collector), &header, events(), |recorder| {
        recorder.classify(Box::new(Classifier::new()))
    });
    assert_eq!(delivered.warning(), None);
    let spans = collector.spans();
    let mut names: Vec<&str> = spans.iter().map(|span| span.name.as_str()).collect();
    names.sort_unstable();
    // Two connections; of three files the one that was denied; no output.
    let expected = [
        "sandbox.dns.query",
        "sandbox.exec",
        "sandbox.fs.violation",
        "sandbox.net.connect",
        "sandbox.net.connect",
        "sandbox.policy",
        "sandbox.run",
        "sandbox.syscall.refused",
    ];
    assert_eq!(names, expected);
    assert_eq!(delivered.spans, spans.len() as u64);
    let root = named(&spans, "sandbox.run");
    assert!(root.parent_span_id.is_empty());
    assert_eq!(root.trace_id, header.trace_id.into_bytes());
    let ids: HashSet<&[u8]> = spans.iter().map(|span| span.span_id.as_slice()).collect();
    assert_eq!(ids.len(), spans.len());
    for span in &spans {
        assert_eq!(span.trace_id, root.trace_id);
        assert!(span.start_time_unix_nano <= span.end_time_unix_nano);
        if span.name != "sandbox.run" {
            assert_eq!(span.parent_span_id, root.span_id, "{}", span.name);
        }
    }
    assert_eq!(root.start_time_unix_nano, at(header.started));
    let took = Duration::from_micros(recorded.summary.duration_us);
    assert!(root.end_time_unix_nano >= root.start_time_unix_nano + u64::try_from(took.as_nanos()).unwrap());

    let read = named(&spans, "sandbox.fs.violation");
    assert_eq!(says(read, "file.path"), "/home/user/.aws/credentials");
    assert_eq!(says(read, "skillsandbox.file.operation"), "read");
    assert_eq!(says(read, "skillsandbox.verdict"), "denied");
    assert_eq!(says(read, "skillsandbox.rule"), "filesystem.read");
    assert_eq!(says(read, "skillsandbox.sequence"), "2");
    assert_eq!(says(read, "skillsandbox.count"), "1");
    assert_eq!(says(read, "skillsandbox.class"), "credential_harvesting");
    assert_eq!(says(read, "process.pid"), "4711");
    assert_eq!(says(read, "process.executable.path"), "/usr/bin/python3");
    assert_eq!(says(read, "error.type"), "denied");
    let status = read.status.as_ref().unwrap();
    assert_eq!((status.code(), status.message.as_str()), (StatusCode::Error, "filesystem.read"));

    let exec = named(&spans, "sandbox.exec");
    assert_eq!(says(exec, "process.executable.path"), "/bin/sh");
    assert_eq!(says(exec, "process.command_args"), "sh -c");
    let lookup = named(&spans, "sandbox.dns.query");
    assert_eq!(says(lookup, "dns.question.name"), "collector.evil.test");
    assert_eq!(lookup.kind(), SpanKind::Client);
    let call = named(&spans, "sandbox.syscall.refused");
    assert_eq!(says(call, "skillsandbox.syscall.name"), "ptrace");
    assert_eq!(says(call, "skillsandbox.syscall.errno"), "1");
    let policy = named(&spans, "sandbox.policy");
    assert_eq!(says(policy, "skillsandbox.policy.subject"), "environment");
    assert_eq!(says(policy, "skillsandbox.policy.figures.stripped"), "37");
    assert_eq!(policy.status.as_ref().unwrap().code(), StatusCode::Unset);
}

#[test]
fn the_root_says_what_the_run_amounts_to() {
    let collector = Collector::good();
    let (recorded, _) = export_by(patient(&collector), &header(), events(), |recorder| {
        recorder.classify(Box::new(Classifier::new()))
    });
    let spans = collector.spans();
    let root = named(&spans, "sandbox.run");
    let summary = recorded.summary;
    assert!(summary.max_severity.is_some());
    for (key, expected) in [
        ("skillsandbox.skill.name", "weather-lookup".to_owned()),
        ("skillsandbox.skill.version", "0.1.0".to_owned()),
        ("skillsandbox.events", summary.events.to_string()),
        ("skillsandbox.denied", summary.denied.to_string()),
        ("skillsandbox.lost", "1".to_owned()),
        ("skillsandbox.complete", "false".to_owned()),
        ("skillsandbox.all_prevented", summary.all_prevented.to_string()),
        ("skillsandbox.spans.omitted", "0".to_owned()),
        ("skillsandbox.end", "itself".to_owned()),
        ("process.exit.code", "0".to_owned()),
        ("process.command_args", "python3 main.py".to_owned()),
    ] {
        assert_eq!(says(root, key), expected, "{key}");
    }
    let severity = serde_json::to_value(summary.max_severity).unwrap();
    assert_eq!(says(root, "skillsandbox.severity"), severity.as_str().unwrap());
    let techniques = says(root, "skillsandbox.mitre.techniques");
    for found in &summary.classifications {
        assert!(found.techniques.iter().all(|one| techniques.contains(&one.id)), "{techniques}");
    }
    let status = root.status.as_ref().unwrap();
    assert_eq!(status.code(), StatusCode::Error);
    assert_eq!(status.message, format!("{} attempts were denied", summary.denied));
    let mut marks: BTreeMap<&str, usize> = BTreeMap::new();
    root.events.iter().for_each(|mark| *marks.entry(&mark.name).or_default() += 1);
    let expected: BTreeMap<&str, usize> = [
        ("sandbox.started", 1),
        ("sandbox.ended", 1),
        ("sandbox.limit", 1),
        ("sandbox.lost", 1),
        ("sandbox.classification", summary.classifications.len()),
    ]
    .into();
    assert_eq!(marks, expected);
    let mark = root.events.iter().find(|mark| mark.name == "sandbox.classification").unwrap();
    let evidence = attribute(&mark.attributes, "skillsandbox.evidence").unwrap();
    let first: Vec<String> = summary.classifications[0].evidence.iter().map(u64::to_string).collect();
    assert_eq!(evidence, first.join(" "));
}

#[test]
fn row_177_a_collector_is_told_what_is_unknown() {
    let collector = Collector::good();
    let denied = file("/home/ada/.aws/credentials", EventVerdict::Denied);
    let unknown = file("/home/ada/.ssh/id_ed25519", EventVerdict::Unknown);
    export_by(patient(&collector), &header(), vec![denied, unknown], |recorder| {
        recorder.classify(Box::new(Classifier::new()))
    });
    let spans = collector.spans();
    let span = named(&spans, "sandbox.fs.unknown");
    assert_eq!(says(span, "skillsandbox.verdict"), "unknown");
    assert_eq!(span.status.as_ref().unwrap().code(), StatusCode::Unset);
    let root = named(&spans, "sandbox.run");
    assert_eq!(says(root, "skillsandbox.unknown"), "1");
    assert_eq!(says(root, "skillsandbox.all_prevented"), "false");
    let mark = root.events.iter().find(|event| event.name == "sandbox.classification").unwrap();
    let flag = |key| attribute(&mark.attributes, key);
    assert_eq!(flag("skillsandbox.prevented").as_deref(), Some("false"));
    assert_eq!(flag("skillsandbox.unknown").as_deref(), Some("true"));
}

#[test]
fn a_run_without_a_denial_is_an_error_only_if_it_failed() {
    let ended = |exit_code, signal, end: &str, error: Option<&str>| {
        let (end, error) = (end.to_owned(), error.map(str::to_owned));
        Event::new(EventKind::RunEnded { exit_code, signal, end, error })
    };
    for (event, message, kind) in [
        (ended(Some(0), None, "itself", None), None, None),
        (ended(Some(3), None, "itself", None), Some("exit code 3"), Some("3")),
        (ended(None, Some(11), "itself", None), Some("ended by signal 11"), Some("itself")),
        (ended(None, Some(9), "timeout", None), Some("ended by timeout"), Some("timeout")),
        (ended(None, None, "refused", Some("no such program")), Some("no such program"), Some("refused")),
    ] {
        let collector = Collector::good();
        export(patient(&collector), &header(), vec![event]);
        let spans = collector.spans();
        let root = named(&spans, "sandbox.run");
        let status = root.status.as_ref().unwrap();
        let code = if message.is_some() { StatusCode::Error } else { StatusCode::Unset };
        assert_eq!((status.code(), status.message.as_str()), (code, message.unwrap_or_default()));
        assert_eq!(attribute(&root.attributes, "error.type").as_deref(), kind);
    }
}

#[test]
fn spans_have_the_times_of_what_happened() {
    let collector = Collector::good();
    let header = header();
    let second = |seconds: i64| header.started + jiff::SignedDuration::from_secs(seconds);
    let timed = |mut event: Event, seconds: i64| {
        event.time = second(seconds);
        event.elapsed_us = u64::try_from(seconds).unwrap() * 1_000_000;
        event
    };
    let mut connection = NetConnection::default();
    connection.name = Some("api.weather.test".to_owned());
    connection.address = Some("198.18.0.1".to_owned());
    connection.dialled = Some("[2001:db8::7]:8443".to_owned());
    connection.server_name = Some("api.weather.test".to_owned());
    (connection.port, connection.duration_us, connection.sent, connection.received) =
        (443, 3_000_000, 10, 20);
    connection.transport.push_str("tcp");
    connection.reason = Some("closed".to_owned());
    let connected = Event::new(EventKind::NetConnect(connection))
        .with_verdict(EventVerdict::Allowed, "network.egress".to_owned());
    // Told when it was over: it began three seconds before.
    let mut all = vec![timed(connected, 10)];
    all.extend((20..30).map(|seconds| timed(file("/etc/shadow", EventVerdict::Denied), seconds)));
    export(patient(&collector), &header, all);

    let spans = collector.spans();
    let connected = named(&spans, "sandbox.net.connect");
    assert_eq!(connected.start_time_unix_nano, at(second(7)));
    assert_eq!(connected.end_time_unix_nano, at(second(10)));
    for (key, expected) in [
        ("server.address", "api.weather.test"),
        ("server.port", "443"),
        ("network.transport", "tcp"),
        ("network.peer.address", "2001:db8::7"),
        ("network.peer.port", "8443"),
        ("tls.client.server_name", "api.weather.test"),
        ("skillsandbox.net.used_address", "198.18.0.1"),
        ("skillsandbox.net.bytes_sent", "10"),
        ("skillsandbox.net.bytes_received", "20"),
        ("skillsandbox.net.reason", "closed"),
    ] {
        assert_eq!(says(connected, key), expected, "{key}");
    }
    assert_eq!(attribute(&connected.attributes, "error.type"), None);
    assert_eq!(connected.status.as_ref().unwrap().code(), StatusCode::Unset);

    let reads: Vec<&Span> = spans.iter().filter(|span| span.name == "sandbox.fs.violation").collect();
    assert_eq!(reads.len(), 2);
    let (first, again) = (reads[0], reads[1]);
    assert_eq!((first.start_time_unix_nano, first.end_time_unix_nano), (at(second(20)), at(second(20))));
    assert_eq!((again.start_time_unix_nano, again.end_time_unix_nano), (at(second(21)), at(second(29))));
    assert_eq!(says(again, "skillsandbox.count"), "9");
    assert_eq!(says(again, "skillsandbox.repeats"), says(first, "skillsandbox.sequence"));
    assert!(named(&spans, "sandbox.run").end_time_unix_nano >= at(second(21)));
}

/// One event of each exported kind, with a secret in every text of it.
fn secretive(secret: &str) -> Vec<Event> {
    let text = || format!("before {secret} after");
    let some = || Some(text());
    let mut connection = NetConnection::default();
    (connection.name, connection.address, connection.server_name) = (some(), some(), some());
    (connection.dialled, connection.reason, connection.transport) = (some(), some(), text());
    let all = [
        EventKind::RunStarted { command: vec![text(), text()] },
        EventKind::Policy { subject: text(), message: text(), figures: [(secret.to_owned(), 1)].into() },
        EventKind::File { operation: FileOperation::Rename, path: text(), to: some() },
        EventKind::Exec { path: text(), argv: vec![text(), text()] },
        EventKind::DnsQuery { name: some(), server: some() },
        EventKind::NetConnect(connection),
        EventKind::SyscallRefused { name: text(), reason: text(), errno: Some(1) },
        EventKind::ResourceLimitHit { limit: text(), mechanism: text() },
        EventKind::Lost { at: text() },
        EventKind::RunEnded { exit_code: None, signal: None, end: text(), error: some() },
    ];
    let by = |what| {
        Event::new(what)
            .with_verdict(EventVerdict::Denied, some())
            .with_process(TracedProcess::new(1, some()))
    };
    all.into_iter().map(by).collect()
}

#[test]
fn what_is_exported_has_passed_the_redaction() {
    const SECRET: &str = "hunter2-hunter2-hunter2";
    let found = |redacted: bool| {
        let collector = Collector::good();
        let (_, delivered) = export_by(patient(&collector), &header(), secretive(SECRET), |recorder| {
            if redacted {
                let redactor = Redactor::new([("API_KEY", SECRET)]).unwrap();
                recorder.redact(Box::new(std::sync::Arc::new(redactor)))
            } else {
                recorder
            }
        });
        assert_eq!(delivered.warning(), None);
        assert_eq!(delivered.spans, 7);
        let bytes: Vec<u8> = collector.requests().into_iter().flat_map(|request| request.body).collect();
        bytes.windows(SECRET.len()).filter(|window| *window == SECRET.as_bytes()).count()
    };
    // The control: nothing is found because it was taken out, not because it never was there.
    assert!(found(false) > 30);
    assert_eq!(found(true), 0);
}

#[test]
fn the_output_of_the_program_is_not_exported() {
    let collector = Collector::good();
    let line = |text: &str| Event::new(EventKind::Stdout(skillsandbox_tracer::OutputLine::new(text)));
    export(patient(&collector), &header(), vec![line("a private matter")]);
    let bytes: Vec<u8> = collector.requests().into_iter().flat_map(|request| request.body).collect();
    assert!(!String::from_utf8_lossy(&bytes).contains("private matter"));
    assert_eq!(collector.spans().len(), 1);
}

#[test]
fn of_too_many_events_the_rest_is_counted_and_noise_keeps_nothing_out() {
    let collector = Collector::good();
    let exec = |number: u32| {
        Event::new(EventKind::Exec { path: format!("/bin/{number}"), argv: Vec::new() })
            .with_verdict(EventVerdict::Allowed, None)
    };
    let denied = |number: u32| file(&format!("/secret/{number}"), EventVerdict::Denied);
    let mut all: Vec<Event> = (0..500).map(exec).collect();
    all.extend((0..500).map(denied));
    all.push(exec(1000));
    // Lines of output are no spans, so they are not omitted either.
    all.push(Event::new(EventKind::Stdout(skillsandbox_tracer::OutputLine::new("x"))));
    let (recorded, delivered) = export(patient(&collector).max_spans(100), &header(), all);
    assert_eq!(recorded.summary.denied, 500);
    assert_eq!((delivered.spans, delivered.dropped, delivered.omitted), (101, 0, 901));
    let spans = collector.spans();
    let count = |name: &str| spans.iter().filter(|span| span.name == name).count();
    assert_eq!((count("sandbox.exec"), count("sandbox.fs.violation"), count("sandbox.run")), (50, 50, 1));
    assert_eq!(says(named(&spans, "sandbox.run"), "skillsandbox.spans.omitted"), "901");
}

#[test]
fn hostile_texts_arrive_harmless_and_short() {
    let collector = Collector::good();
    let path = format!("/tmp/\u{1b}]0;owned\u{7}\u{202e}{}", "é".repeat(50_000));
    let argv = vec!["x".repeat(100_000); 300];
    let exec = Event::new(EventKind::Exec { path, argv })
        .with_verdict(EventVerdict::Denied, "r\u{1b}[2J".repeat(9000));
    let (_, delivered) =
        export_by(patient(&collector), &header(), vec![exec], |recorder| recorder.fold(FoldMode::Nothing));
    assert_eq!(delivered.warning(), None);
    let bytes: Vec<u8> = collector.requests().into_iter().flat_map(|request| request.body).collect();
    assert!(bytes.len() < 40_000, "{}", bytes.len());
    let spans = collector.spans();
    let exec = named(&spans, "sandbox.exec");
    let path = says(exec, "process.executable.path");
    assert!(path.starts_with("/tmp/\\u{1b}]0;owned\\u{7}\\u{202e}éé"), "{path}");
    let texts = [path, says(exec, "skillsandbox.rule"), exec.status.clone().unwrap().message];
    assert!(texts.iter().all(|text| !text.contains(['\u{1b}', '\u{202e}'])));
}

#[test]
fn a_recorder_that_goes_away_leaves_a_run_without_an_end() {
    let collector = Collector::good();
    let header = header();
    let (exporter, handle) = patient(&collector).start(&header).unwrap();
    let mut recorder = skillsandbox_tracer::Recorder::new(&header, None, vec![Box::new(exporter)]);
    recorder.record(file("/etc/shadow", EventVerdict::Denied));
    drop(recorder);
    assert_eq!(handle.finish().spans, 2);
    let spans = collector.spans();
    let root = named(&spans, "sandbox.run");
    assert_eq!(root.status.as_ref().unwrap().message, "the run was not recorded to its end");
    assert_eq!(says(root, "skillsandbox.complete"), "false");
}

#[test]
fn limits_of_the_environment_are_kept() {
    let collector = Collector::good();
    let variables = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", collector.endpoint()),
        ("OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT", "4".to_owned()),
        ("OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT", "5".to_owned()),
        ("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "2".to_owned()),
    ];
    let variables: Vec<(&str, &str)> =
        variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let settings = settings(&variables).patience(Duration::from_secs(30));
    let (_, delivered) = export(settings, &header(), events());
    assert_eq!(delivered.warning(), None);
    let sizes: Vec<usize> = collector
        .exports()
        .iter()
        .map(|export| export.resource_spans[0].scope_spans[0].spans.len())
        .collect();
    assert!(sizes.iter().all(|size| *size <= 2) && sizes.iter().sum::<usize>() == 8, "{sizes:?}");
    let spans = collector.spans();
    let read = named(&spans, "sandbox.fs.violation");
    assert_eq!(read.attributes.len(), 4);
    assert!(read.dropped_attributes_count > 3);
    assert_eq!(says(read, "skillsandbox.verdict"), "denie");
}

#[test]
fn impossible_times_and_numbers_break_nothing() {
    let mut all = Vec::new();
    for time in [jiff::Timestamp::MIN, jiff::Timestamp::MAX, jiff::Timestamp::from_second(1).unwrap()] {
        for number in [0, 1, u64::MAX] {
            let mut connection = NetConnection::default();
            (connection.duration_us, connection.sent, connection.received) = (number, number, number);
            let mut event =
                Event::new(EventKind::NetConnect(connection)).with_verdict(EventVerdict::Denied, None);
            (event.time, event.elapsed_us, event.count) = (time, number / 2, number);
            event.last_elapsed_us = Some(number);
            event.repeats = Some(number);
            all.push(event);
        }
    }
    let collector = Collector::good();
    let mut header = header();
    (header.started, header.trace_id) = (jiff::Timestamp::MAX, uuid::Uuid::nil());
    let (recorded, delivered) =
        export_by(patient(&collector), &header, all, |recorder| recorder.fold(FoldMode::Nothing));
    assert_eq!(recorded.summary.events, 9);
    assert_eq!((delivered.spans, delivered.warning()), (10, None));
    let spans = collector.spans();
    // No collector takes a trace without a number.
    assert!(spans.iter().all(|span| span.trace_id.iter().any(|byte| *byte != 0)));
}
