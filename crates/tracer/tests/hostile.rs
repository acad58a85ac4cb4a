//! Callers that get it wrong, and hooks that break: what is written verifies all the same.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use proptest::prelude::*;
use skillsandbox_test_support::small_trace;
use skillsandbox_test_support::small_trace::{file, header};
use skillsandbox_tracer::{
    AttackClass, Classification, Classify, Event, EventKind, EventVerdict, FoldMode, OutputLine, Recorder,
    TraceSummary, TraceWriter, read_trace, verify_trace,
};

fn class(evidence: &[u64], prevented: bool) -> Classification {
    serde_json::from_value(
        serde_json::json!({ "class": "discovery", "severity": "high", "mitre_tactic": "discovery",
        "techniques": [], "evidence": evidence, "prevented": prevented, "message": "m".repeat(2_000_000) }),
    )
    .unwrap()
}

struct Liar;
impl Classify for Liar {
    fn observe(&mut self, _: &Event) -> Option<AttackClass> {
        None
    }
    fn finish(self: Box<Self>) -> Vec<Classification> {
        vec![class(&[0], true), class(&[1], true), class(&[0, 1, 2, 700], true)]
    }
}

#[test]
fn what_was_allowed_was_not_prevented_whoever_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace.json");
    let writer = TraceWriter::create(&path, &header()).unwrap();
    let mut recorder = Recorder::new(&header(), Some(writer), Vec::new()).classify(Box::new(Liar));
    for (name, verdict) in
        [("/a", EventVerdict::Denied), ("/b", EventVerdict::Allowed), ("/c", EventVerdict::Failed)]
    {
        recorder.record(file(name, verdict));
    }
    let done = recorder.finish();
    let summary = read_trace(&path).unwrap().violation_summary;
    assert_eq!(summary, done.summary);
    let found: Vec<_> =
        summary.classifications.iter().map(|found| (found.evidence.clone(), found.prevented)).collect();
    assert_eq!(found, [(vec![0], true), (vec![1], false), (vec![0, 1, 2], false)]);
    assert!(!summary.all_prevented);
    assert!(summary.classifications[0].message.len() <= 1024);

    // And who says so in the file is found, although every hash is right.
    let text = std::fs::read_to_string(&path).unwrap();
    let lies = [
        text.replacen("\"evidence\":[1],\"prevented\":false", "\"evidence\":[1],\"prevented\":true", 1),
        text.replacen("\"evidence\":[1],", "\"evidence\":[1,3],", 1),
        text.replacen("\"all_prevented\": false", "\"all_prevented\": true", 1),
        text.replacen("\"max_severity\": \"high\"", "\"max_severity\": \"low\"", 1),
    ];
    for lie in lies {
        assert_ne!(lie, text);
        assert_eq!(
            small_trace::wrong(&small_trace::rechained(&lie)).0,
            skillsandbox_tracer::TamperKind::Inconsistent
        );
    }
}

struct Breaks(u64);
impl Classify for Breaks {
    fn observe(&mut self, event: &Event) -> Option<AttackClass> {
        assert!(event.sequence != self.0, "breaks");
        None
    }
    fn finish(self: Box<Self>) -> Vec<Classification> {
        panic!("breaks")
    }
}

#[test]
fn a_classifier_that_breaks_leaves_a_trace_that_says_so() {
    for at in [1, 99] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trace.json");
        let writer = TraceWriter::create(&path, &header()).unwrap();
        let mut recorder = Recorder::new(&header(), Some(writer), Vec::new()).classify(Box::new(Breaks(at)));
        for name in ["/a", "/b", "/c"] {
            recorder.record(file(name, EventVerdict::Denied));
        }
        assert!(recorder.finish().error.is_none());
        let summary = verify_trace(&path).unwrap().summary;
        assert_eq!((summary.denied, summary.complete), (3, false));
        assert!(summary.incomplete_because[0].contains("classification"));
    }
}

#[test]
fn what_is_shared_between_threads_may_be() {
    fn is_send<T: Send>() {}
    is_send::<Recorder>();
    is_send::<TraceWriter>();
}

prop_compose! {
    /// An event with anything in it, also what nobody should say.
    fn any_event()(
        kind in 0..6, text in "\\PC{0,20}|[\\x00-\\x20\u{7f}-\u{a0}\u{202e}\"\\\\]{0,9}", number in 0_u64..4,
        verdict in prop::option::of(prop::sample::select(vec![EventVerdict::Allowed, EventVerdict::Denied, EventVerdict::Failed, EventVerdict::Unknown])),
        count in prop::sample::select(vec![0, 1, 1, 1, 2, u64::MAX]), last in prop::option::of(0..u64::MAX),
        repeats in prop::option::weighted(0.1, 0..50_u64), elapsed in prop::sample::select(vec![0, 7, u64::MAX]),
        time in any::<bool>(),
    ) -> Event {
        let what = match kind {
            0 => return file(&format!("/usr/lib/{number}"), verdict.unwrap_or(EventVerdict::Allowed)),
            1 => EventKind::Stdout(OutputLine::new(text.clone())),
            2 => EventKind::Lost { at: text.clone() },
            3 => EventKind::Policy { subject: text.clone(), message: text.clone(), figures: [(text.clone(), number)].into() },
            4 => EventKind::DnsQuery { name: Some(format!("{number}.test")), server: Some(text.clone()) },
            _ => EventKind::Exec { path: format!("/bin/{number}"), argv: vec![text.clone(); usize::try_from(number).unwrap()] },
        };
        let mut event = Event::new(what).with_verdict(verdict.unwrap_or(EventVerdict::Denied), text);
        event.verdict = verdict;
        (event.count, event.last_elapsed_us, event.repeats, event.elapsed_us) = (count, last, repeats, elapsed);
        if time {
            event.time = jiff::Timestamp::MAX;
        }
        event
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_recorded_verifies_and_reads_back(
        events in prop::collection::vec(any_event(), 0..60),
        fold in prop::sample::select(vec![FoldMode::Nothing, FoldMode::Repeats, FoldMode::RepeatsAndSystem]),
        max_file in prop::sample::select(vec![0, 5_000, u64::MAX]),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trace.json");
        let writer = TraceWriter::create(&path, &header()).unwrap();
        let mut recorder = Recorder::new(&header(), Some(writer), Vec::new()).fold(fold).max_file(max_file);
        for event in &events {
            recorder.record(event.clone());
        }
        let done = recorder.finish();
        let trace = read_trace(&path).unwrap();
        prop_assert_eq!(&trace.violation_summary, &done.summary);
        // Each attempt is counted, where it was written.
        let times = |of: EventVerdict| events.iter()
            .filter(|event| event.verdict == Some(of) && !matches!(event.kind, EventKind::Policy { .. }))
            .fold(0_u64, |sum, event| sum.saturating_add(event.count.max(1)));
        if max_file == u64::MAX {
            prop_assert_eq!(done.summary.denied, times(EventVerdict::Denied));
            prop_assert_eq!(done.summary.allowed, times(EventVerdict::Allowed));
            prop_assert_eq!(done.summary.failed, times(EventVerdict::Failed));
            prop_assert_eq!(done.summary.unknown, times(EventVerdict::Unknown));
        }
        // The same by hand.
        let other = folder.path().join("other.json");
        let mut writer = TraceWriter::create(&other, &header()).unwrap();
        for event in events {
            writer.write(event).unwrap();
        }
        writer.finish(TraceSummary::default()).unwrap();
        verify_trace(&other).unwrap();
    }
}
