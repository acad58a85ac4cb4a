//! What nobody saw the end of is said to be unknown, by everything that shows a trace.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::fs;

use skillsandbox_test_support::small_trace::chained_anew;
use skillsandbox_tracer::render::{LiveView, RenderOptions};
use skillsandbox_tracer::{
    Classifier, Event, EventKind, EventVerdict, FileOperation, Prevention, Recorder, Trace, TraceHeader,
    TraceWriter, export, read_trace, render, verify_trace,
};

fn read(path: &str, verdict: EventVerdict) -> Event {
    let kind = EventKind::File { operation: FileOperation::Read, path: path.to_owned(), to: None };
    Event::new(kind).with_verdict(verdict, "why".to_owned())
}

fn recorded(folder: &tempfile::TempDir, events: Vec<Event>) -> (std::path::PathBuf, Trace) {
    let path = folder.path().join(format!("{}.json", fs::read_dir(folder.path()).unwrap().count()));
    let header = TraceHeader::new("weather", "test");
    let writer = TraceWriter::create(&path, &header).unwrap();
    let mut recorder = Recorder::new(&header, Some(writer), Vec::new()).classify(Box::new(Classifier::new()));
    for event in events {
        recorder.record(event);
    }
    let summary = recorder.finish().summary;
    let trace = read_trace(&path).unwrap();
    assert_eq!(trace.violation_summary, summary);
    (path, trace)
}

const KEY: &str = "/home/ada/.ssh/id_ed25519";

#[test]
fn row_177_what_nobody_saw_is_unknown_and_then_not_all_was_prevented() {
    let folder = tempfile::tempdir().unwrap();
    let cases = [
        (vec![EventVerdict::Denied], Prevention::Prevented, true),
        (vec![EventVerdict::Denied, EventVerdict::Unknown], Prevention::Unknown, false),
        (vec![EventVerdict::Unknown], Prevention::Unknown, false),
        (vec![EventVerdict::Unknown, EventVerdict::Allowed], Prevention::NotPrevented, false),
        (
            vec![EventVerdict::Allowed, EventVerdict::Unknown, EventVerdict::Denied],
            Prevention::NotPrevented,
            false,
        ),
    ];
    for (verdicts, prevention, all_prevented) in cases {
        // A key that is refused once is a class by itself, so that what is asked is only whether it was prevented.
        let refused = read("/home/ada/.aws/credentials", EventVerdict::Denied);
        let events = std::iter::once(refused).chain(verdicts.iter().map(|verdict| read(KEY, *verdict)));
        let (_, trace) = recorded(&folder, events.collect());
        let summary = &trace.violation_summary;
        let unknown = verdicts.iter().filter(|verdict| **verdict == EventVerdict::Unknown).count() as u64;
        assert_eq!(summary.classifications[0].prevention(), prevention, "{verdicts:?}");
        assert_eq!((summary.unknown, summary.all_prevented), (unknown, all_prevented), "{verdicts:?}");
        // Neither denied nor allowed, and no violation.
        let denied = 1 + verdicts.iter().filter(|verdict| **verdict == EventVerdict::Denied).count() as u64;
        assert_eq!(summary.denied, denied);
    }
    // Also where nothing is classified.
    let (_, trace) = recorded(&folder, vec![read("/opt/x", EventVerdict::Unknown)]);
    let summary = &trace.violation_summary;
    assert!(
        summary.classifications.is_empty() && !summary.all_prevented && trace.policy_violations.is_empty()
    );
}

/// What is missing may have been anything: a trace that lost something, or was not told of something, does not say that all was prevented.
#[test]
fn row_177_not_all_is_said_to_be_prevented_where_something_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let ended = |name: &str, incomplete: Option<&str>, lost: u64| {
        let path = folder.path().join(name);
        let header = TraceHeader::new("weather", "test");
        let writer = TraceWriter::create(&path, &header).unwrap();
        let mut recorder =
            Recorder::new(&header, Some(writer), Vec::new()).classify(Box::new(Classifier::new()));
        recorder.record(read(KEY, EventVerdict::Denied));
        if lost > 0 {
            let mut event = Event::new(EventKind::Lost { at: "observer".to_owned() });
            event.count = lost;
            recorder.record(event);
        }
        if let Some(because) = incomplete {
            recorder.mark_incomplete(because.to_owned());
        }
        let summary = recorder.finish().summary;
        assert!(verify_trace(&path).is_ok());
        assert!(summary.classifications.iter().all(|found| found.prevented), "of what is there, all was");
        (path, summary)
    };
    let (_, control) = ended("whole", None, 0);
    assert!(control.complete && control.all_prevented && !control.classifications.is_empty());
    for (name, incomplete, lost) in [
        ("lost", None, 3),
        ("uncovered", Some("what was hidden was replaced while it ran"), 0),
        ("both", Some("files were not observed"), 1),
    ] {
        let (path, summary) = ended(name, incomplete, lost);
        assert!(!summary.complete && !summary.all_prevented, "{name}");
        let text = fs::read_to_string(&path).unwrap();
        let edited = text.replacen("\"all_prevented\": false", "\"all_prevented\": true", 1);
        assert_ne!(text, edited);
        let other = folder.path().join(format!("{name}-edited"));
        fs::write(&other, chained_anew(&edited)).unwrap();
        let error = verify_trace(&other).unwrap_err().to_string();
        assert!(error.starts_with("inconsistent"), "{name}: {error}");
        let mut shown = Vec::new();
        let look = RenderOptions::default().columns(160);
        let trace = read_trace(&path).unwrap();
        render::text::write_text(&mut shown, &trace, &look, render::text::Timeline::All).unwrap();
        let shown = String::from_utf8(shown).unwrap();
        assert!(shown.contains("NOT KNOWN WHETHER EVERYTHING WAS PREVENTED"), "{shown}");
    }
}

/// What no observer is told of is said in the trace itself, under its hash.
#[test]
fn row_177_a_trace_says_what_it_does_not_cover() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace.json");
    let mut header = TraceHeader::new("weather", "test");
    header.not_covered = vec!["fchdir".to_owned(), "kill".to_owned()];
    let writer = TraceWriter::create(&path, &header).unwrap();
    let _ = Recorder::new(&header, Some(writer), Vec::new()).finish();
    assert_eq!(read_trace(&path).unwrap().header.not_covered, ["fchdir", "kill"]);
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replacen("\"fchdir\"", "\"openat\"", 1)).unwrap();
    assert!(verify_trace(&path).is_err());
}

#[test]
fn row_177_an_end_that_says_more_than_its_events_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let (path, _) =
        recorded(&folder, vec![read(KEY, EventVerdict::Denied), read(KEY, EventVerdict::Unknown)]);
    let text = fs::read_to_string(&path).unwrap();
    for (from, to) in [
        ("\"all_prevented\": false", "\"all_prevented\": true"),
        ("\"prevented\":false", "\"prevented\":true"),
        ("\"unknown\": 1", "\"unknown\": 0"),
    ] {
        let from = if text.contains(from) { from.to_owned() } else { from.replace(':', ": ") };
        assert!(text.contains(&from), "{from}\n{text}");
        let edited = chained_anew(&text.replacen(&from, to, 1));
        let other = folder.path().join("edited.json");
        fs::write(&other, edited).unwrap();
        let error = verify_trace(&other).unwrap_err().to_string();
        assert!(error.starts_with("inconsistent"), "{to}: {error}");
    }
}

#[test]
fn row_177_everything_that_shows_a_trace_shows_unknown_as_unknown() {
    let folder = tempfile::tempdir().unwrap();
    let refused = read("/home/ada/.aws/credentials", EventVerdict::Denied);
    let (_, trace) = recorded(&folder, vec![refused, read(KEY, EventVerdict::Unknown)]);
    let look = RenderOptions::default().columns(160);

    let mut text = Vec::new();
    render::text::write_text(&mut text, &trace, &look, render::text::Timeline::All).unwrap();
    let text = String::from_utf8(text).unwrap();
    let mut live = LiveView::new(Vec::new(), look.clone());
    for event in &trace.events {
        live.event(event, &[]).unwrap();
    }
    live.finish(&trace.violation_summary, &[]).unwrap();
    let live = String::from_utf8(live.into_inner()).unwrap();
    for shown in [&text, &live] {
        assert!(shown.contains("NOT KNOWN WHETHER EVERYTHING WAS PREVENTED"), "{shown}");
        assert!(shown.contains("UNKNOWN") && shown.contains("1 unknown"), "{shown}");
        assert!(!shown.contains(" prevented "), "{shown}");
    }

    let mut ocsf = Vec::new();
    export::write_ocsf(&mut ocsf, &trace).unwrap();
    let lines: Vec<serde_json::Value> =
        String::from_utf8(ocsf).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let finding = lines.iter().find(|line| line["finding_info"].is_object()).unwrap();
    assert_eq!((&finding["action"], &finding["disposition"]), (&"Unknown".into(), &"Unknown".into()));
    let event = lines.iter().find(|line| line["metadata"]["sequence"] == 1).unwrap();
    assert_eq!((&event["action_id"], &event["status_id"]), (&0.into(), &0.into()));
    assert_eq!(event["disposition"], "Unknown");

    let mut page = Vec::new();
    render::html::write_page(&mut page, &trace, render::html::PageOptions::default()).unwrap();
    let page = String::from_utf8(page).unwrap();
    assert!(page.contains("unknown whether prevented") && page.contains("class=\"unknown\""));
}
