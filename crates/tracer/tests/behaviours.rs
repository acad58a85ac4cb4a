//! Rows of docs/behaviours.md.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use serde_json::Value;
use skillsandbox_test_support::small_trace::{events, header};
use skillsandbox_tracer::{Event, EventKind, Recorder, TraceWriter, verify_trace};

fn run(events: Vec<Event>) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace.json");
    let header = header();
    let mut recorder = Recorder::new(&header, Some(TraceWriter::create(&path, &header).unwrap()), Vec::new());
    for event in events {
        recorder.record(event);
    }
    assert!(recorder.finish().error.is_none());
    verify_trace(&path).unwrap();
    let trace: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    assert_eq!(trace["trace_id"], header.trace_id.to_string());
    assert_eq!(trace["skill_name"], "weather-lookup");
    assert_eq!(trace["skill_version"], "0.1.0");
    let mut before = 0;
    for (number, event) in trace["events"].as_array().unwrap().iter().enumerate() {
        assert_eq!(event["sequence"], number);
        let time: jiff::Timestamp = event["time"].as_str().unwrap().parse().unwrap();
        assert!(
            time >= header.started.round(jiff::Unit::Microsecond).unwrap()
                - jiff::SignedDuration::from_micros(1)
        );
        let elapsed = event["elapsed_us"].as_u64().unwrap();
        assert!(elapsed >= before);
        before = elapsed;
    }
    assert!(trace["violation_summary"]["duration_us"].as_u64().unwrap() >= before);
    trace
}

#[test]
fn row_138_a_trace_after_every_run_also_a_failed_one() {
    let trace = run(events());
    assert_eq!(trace["policy_violations"], serde_json::json!([2, 5, 6, 7, 9]));
    assert_eq!(trace["violation_summary"]["denied"], 5);
    // A program that failed, one that was ended, and one that was never started.
    let ended = |exit_code, signal, end: &str, error: Option<&str>| {
        let (end, error) = (end.to_owned(), error.map(str::to_owned));
        Event::new(EventKind::RunEnded { exit_code, signal, end, error })
    };
    let failed = [
        ended(Some(1), None, "itself", None),
        ended(None, Some(9), "timeout", None),
        ended(None, None, "refused", Some("no such program: `nonesuch`")),
    ];
    for event in failed {
        let what = serde_json::to_value(&event.kind).unwrap();
        let trace = run(vec![event]);
        for (key, value) in what.as_object().unwrap() {
            assert_eq!(&trace["events"][0][key], value);
        }
        assert_eq!(trace["policy_violations"], serde_json::json!([]));
        assert_eq!(trace["violation_summary"]["all_prevented"], true);
        assert_eq!(trace["violation_summary"]["complete"], true);
    }
}
