//! What is folded, what is not, and who hears of what when.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::sync::{Arc, Mutex};

use skillsandbox_test_support::small_trace::{events, file, header};
use skillsandbox_tracer::{
    AttackClass, Classification, Classify, Event, EventKind, EventSink, EventVerdict, FoldMode,
    NetConnection, OutputLine, Recorder, Redact, TraceHeader, TraceSummary, TraceWriter, TracedProcess,
    read_trace, verify_trace,
};

/// Keeps what it is told.
#[derive(Clone, Default)]
struct Memory(Arc<Mutex<Vec<String>>>, Arc<Mutex<Vec<Event>>>);

impl EventSink for Memory {
    fn begin(&mut self, header: &TraceHeader) {
        self.0.lock().unwrap().push(format!("begin {}", header.skill_name));
    }
    fn event(&mut self, event: &Event, class: Option<AttackClass>) {
        self.0.lock().unwrap().push(format!("{} {class:?}", event.sequence));
        self.1.lock().unwrap().push(event.clone());
    }
    fn end(&mut self, summary: &TraceSummary) {
        self.0.lock().unwrap().push(format!("end {}", summary.events));
    }
}

fn recorded(fold: FoldMode, events: impl IntoIterator<Item = Event>) -> Vec<Event> {
    let memory = Memory::default();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace.json");
    let header = header();
    let writer = TraceWriter::create(&path, &header).unwrap();
    let mut recorder = Recorder::new(&header, Some(writer), vec![Box::new(memory.clone())]).fold(fold);
    for event in events {
        recorder.record(event);
    }
    let done = recorder.finish();
    assert!(done.error.is_none());
    let trace = read_trace(&path).unwrap();
    assert_eq!(trace.events, *memory.1.lock().unwrap(), "sinks hear what is written, in that order");
    assert_eq!(trace.violation_summary, done.summary);
    trace.events
}

fn total(events: &[Event]) -> u64 {
    events.iter().map(|event| event.count).sum()
}

#[test]
fn repeats_are_written_twice_the_first_time_and_the_rest() {
    let secret = || file("/home/user/.ssh/id_rsa", EventVerdict::Denied);
    let mut all = vec![secret()];
    all.extend((0..999).map(|_| secret()));
    all.push(file("/skill/a", EventVerdict::Allowed));
    all.push(secret());
    let written = recorded(FoldMode::Repeats, all);
    assert_eq!(written.len(), 3);
    assert_eq!((written[0].count, written[0].repeats), (1, None));
    assert_eq!((written[2].count, written[2].repeats), (1000, Some(0)));
    assert_eq!(written[2].kind, written[0].kind);
    assert!(written[2].last_elapsed_us.unwrap() >= written[2].elapsed_us);
    assert!(written[2].elapsed_us >= written[0].elapsed_us);
}

#[test]
fn one_more_time_is_no_crowd() {
    let written =
        recorded(FoldMode::Repeats, [file("/a", EventVerdict::Denied), file("/a", EventVerdict::Denied)]);
    assert_eq!((written[1].count, written[1].repeats, written[1].last_elapsed_us), (1, Some(0), None));
}

#[test]
fn what_differs_is_not_folded() {
    let base = || file("/a", EventVerdict::Denied);
    let mut other_rule = base();
    other_rule.rule = None;
    let other_binary = base().with_process(TracedProcess::new(4711, Some("/usr/bin/perl".to_owned())));
    let mut split = base();
    split.kind = EventKind::Exec { path: "/a".to_owned(), argv: vec!["b".to_owned(), "c".to_owned()] };
    let mut joined = base();
    joined.kind = EventKind::Exec { path: "/a".to_owned(), argv: vec!["bc".to_owned()] };
    let all = [
        base(),
        file("/b", EventVerdict::Denied),
        file("/a", EventVerdict::Allowed),
        other_rule,
        other_binary,
        split,
        joined,
    ];
    let written = recorded(FoldMode::Repeats, all.clone());
    assert_eq!(written.len(), all.len());
    assert!(written.iter().all(|event| event.repeats.is_none()));
    // Another process of the same program is the same.
    let other_process = base().with_process(TracedProcess::new(4712, Some("/usr/bin/python3".to_owned())));
    assert_eq!(recorded(FoldMode::Repeats, [base(), other_process])[1].repeats, Some(0));
}

#[test]
fn output_and_what_went_through_stay_as_they_are() {
    let mut connection = NetConnection::default();
    connection.port = 443;
    let line = || Event::new(EventKind::Stdout(OutputLine::new("again")));
    let allowed =
        || Event::new(EventKind::NetConnect(connection.clone())).with_verdict(EventVerdict::Allowed, None);
    let written = recorded(FoldMode::RepeatsAndSystem, [line(), line(), allowed(), allowed()]);
    assert_eq!(written.len(), 4);
    assert!(written.iter().all(|event| event.repeats.is_none() && event.count == 1));
    let denied =
        || Event::new(EventKind::NetConnect(connection.clone())).with_verdict(EventVerdict::Denied, None);
    assert_eq!(recorded(FoldMode::Repeats, [denied(), denied(), denied()]).len(), 2);
}

#[test]
fn the_systems_own_files_are_summed_up_by_folder() {
    let paths = ["/usr/lib/libc.so", "/usr/lib/python3/os.py", "/lib64/ld.so", "/usr/lib/python3/re.py"];
    let all = || {
        paths
            .iter()
            .map(|path| file(path, EventVerdict::Allowed))
            .chain([file("/usr/lib/none", EventVerdict::Failed)])
    };
    let written = recorded(FoldMode::RepeatsAndSystem, all());
    let shown: Vec<_> = written
        .iter()
        .map(|event| (serde_json::to_value(event).unwrap()["path"].clone(), event.count))
        .collect();
    assert_eq!(shown, [("/usr/lib/*".into(), 3), ("/lib64/*".into(), 1), ("/usr/lib/*".into(), 1)]);
    assert_eq!(recorded(FoldMode::Repeats, all()).len(), 5);
}

#[test]
fn nothing_is_called_the_systems_that_only_looks_so() {
    let mut all = vec![
        file("/usr/lib/../../home/user/.ssh/id_rsa", EventVerdict::Allowed),
        file("/usr/lib/.hidden/x", EventVerdict::Allowed),
        file("/usr/lib//x", EventVerdict::Allowed),
        file("/usr/library", EventVerdict::Allowed),
        file("/usr/lib", EventVerdict::Allowed),
        file("usr/lib/x", EventVerdict::Allowed),
        file("/home/user/usr/lib/x", EventVerdict::Allowed),
        file("/usr/lib/secret", EventVerdict::Denied),
        file("/etc/passwd", EventVerdict::Allowed),
    ];
    let mut written = file("/usr/lib/x", EventVerdict::Allowed);
    written.kind = EventKind::File {
        operation: skillsandbox_tracer::FileOperation::Write,
        path: "/usr/lib/x".to_owned(),
        to: None,
    };
    all.push(written);
    let kept = recorded(FoldMode::RepeatsAndSystem, all.clone());
    assert_eq!(kept.len(), all.len());
    for (kept, given) in kept.iter().zip(&all) {
        assert_eq!(kept.kind, given.kind);
    }
}

#[test]
fn nothing_gets_lost_when_the_table_is_full() {
    // More kinds than are remembered, each three times, round and round.
    let all =
        (0..3).flat_map(|_| (0..5000).map(|number| file(&format!("/data/{number}"), EventVerdict::Denied)));
    let written = recorded(FoldMode::Repeats, all);
    assert_eq!(total(&written), 15_000);
    // Each one in a row instead.
    let all = (0..5000)
        .flat_map(|number| (0..3).map(move |_| file(&format!("/data/{number}"), EventVerdict::Denied)));
    let written = recorded(FoldMode::Repeats, all);
    // Two for each, and one more for each that filled the table.
    assert_eq!((written.len(), total(&written)), (10_002, 15_000));
    for event in written.iter().filter(|event| event.repeats.is_some()) {
        assert_eq!(written[usize::try_from(event.repeats.unwrap()).unwrap()].kind, event.kind);
    }
}

#[test]
fn unfolded_each_event_is_written() {
    let written = recorded(FoldMode::Nothing, (0..100).map(|_| file("/a", EventVerdict::Denied)));
    assert_eq!(written.len(), 100);
}

struct Panics;
impl EventSink for Panics {
    fn event(&mut self, event: &Event, _: Option<AttackClass>) {
        assert!(event.sequence < 3, "a sink that breaks");
    }
}

struct Words;
impl Redact for Words {
    fn redact<'t>(&self, text: &'t str) -> std::borrow::Cow<'t, str> {
        if text.contains("hunter2") { text.replace("hunter2", "[REDACTED]").into() } else { text.into() }
    }
}

struct Denied(Vec<u64>);
impl Classify for Denied {
    fn observe(&mut self, event: &Event) -> Option<AttackClass> {
        self.0.extend(event.is_violation().then_some(event.sequence));
        event.is_violation().then_some(AttackClass::Discovery)
    }
    fn finish(self: Box<Self>) -> Vec<Classification> {
        let found = serde_json::json!({ "class": "discovery", "severity": "low", "mitre_tactic": "discovery",
            "techniques": [], "evidence": self.0, "prevented": true, "message": "looked around" });
        vec![serde_json::from_value(found).unwrap()]
    }
}

#[test]
fn a_sink_that_breaks_breaks_nothing_else() {
    let memory = Memory::default();
    let sinks: Vec<Box<dyn EventSink>> = vec![Box::new(Panics), Box::new(memory.clone())];
    let mut recorder = Recorder::new(&header(), None, sinks).classify(Box::new(Denied(Vec::new())));
    for event in events() {
        recorder.record(event);
    }
    let done = recorder.finish();
    assert!(done.error.is_none() && done.digest.is_none());
    let heard = memory.0.lock().unwrap();
    assert_eq!(heard.len(), 17);
    assert_eq!(
        (heard[0].as_str(), heard[3].as_str(), heard[16].as_str()),
        ("begin weather-lookup", "2 Some(Discovery)", "end 15")
    );
}

#[test]
fn secrets_reach_neither_file_nor_sink_nor_class() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace.json");
    let memory = Memory::default();
    let writer = TraceWriter::create(&path, &header()).unwrap();
    let mut recorder =
        Recorder::new(&header(), Some(writer), vec![Box::new(memory.clone())]).redact(Box::new(Words));
    recorder.record(file("/tmp/hunter2", EventVerdict::Denied));
    // Longer than a text may be, with the secret across the place where it is cut.
    let long = format!("{}hunter2", "a".repeat(skillsandbox_tracer::MAX_TEXT - 3));
    recorder.record(Event::new(EventKind::Stdout(OutputLine::new(long))));
    let _ = recorder.finish();
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(!text.contains("hun") && text.contains("[REDACTED]"));
    assert!(!format!("{:?}", memory.1.lock().unwrap()).contains("hun"));
    verify_trace(&path).unwrap();
}

#[test]
fn noise_cannot_keep_what_was_prevented_out_of_a_full_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace.json");
    let memory = Memory::default();
    let writer = TraceWriter::create(&path, &header()).unwrap();
    let mut recorder = Recorder::new(&header(), Some(writer), vec![Box::new(memory.clone())])
        .max_file(100_000)
        .classify(Box::new(Denied(Vec::new())));
    for number in 0..1000 {
        recorder.record(file(&format!("/noise/{number}"), EventVerdict::Allowed));
    }
    recorder.record(file("/home/user/.ssh/id_rsa", EventVerdict::Denied));
    for number in 0..1000 {
        recorder.record(file(&format!("/probe/{number}"), EventVerdict::Denied));
    }
    recorder.record(Event::new(EventKind::RunEnded {
        exit_code: Some(0),
        signal: None,
        end: "itself".into(),
        error: None,
    }));
    let done = recorder.finish();
    assert!(done.error.is_none());
    let trace = read_trace(&path).unwrap();
    assert!(std::fs::metadata(&path).unwrap().len() < 130_000);
    let summary = &trace.violation_summary;
    assert!(!summary.complete);
    assert_eq!(
        summary.allowed + summary.denied + summary.lost,
        2001,
        "each is written or counted: {summary:?}"
    );
    assert!(
        trace
            .events
            .iter()
            .any(|event| event.is_violation() && serde_json::to_string(event).unwrap().contains("id_rsa"))
    );
    assert!(matches!(trace.events.last().unwrap().kind, EventKind::Lost { .. }));
    assert!(trace.events.iter().any(|event| matches!(event.kind, EventKind::RunEnded { .. })));
    // The sinks heard of every one, also of those that the file has no room for.
    let heard = memory.1.lock().unwrap();
    assert_eq!(heard.iter().filter(|event| event.verdict.is_some()).count(), 2001);
}
