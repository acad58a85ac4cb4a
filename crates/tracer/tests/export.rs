//! A trace for other programs.
// A test may fail by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::io;

use serde_json::{Value, json};
use skillsandbox_test_support::stories;
use skillsandbox_tracer::{Event, EventVerdict, Trace, export};

fn written(write: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) -> String {
    let mut out = Vec::new();
    write(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn ocsf(trace: &Trace) -> Vec<Value> {
    let text = written(|out| export::write_ocsf(out, trace));
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn json_is_the_trace() {
    for trace in [stories::weather(), stories::malicious_weather(), stories::hostile()] {
        let text = written(|out| export::write_json(out, &trace));
        assert_eq!(serde_json::from_str::<Trace>(&text).unwrap(), trace);
        assert!(!text.contains(['\u{1b}', '\u{202e}', '\u{200b}', '\u{2028}', '\u{e0041}', '\r']));
    }
}

#[test]
fn ndjson_is_an_event_a_line() {
    for trace in [stories::malicious_weather(), stories::hostile()] {
        let text = written(|out| export::write_ndjson(out, &trace));
        assert_eq!(text.lines().count(), trace.events.len());
        for (line, event) in text.lines().zip(&trace.events) {
            assert!(!line.contains(char::is_control));
            let value: Value = serde_json::from_str(line).unwrap();
            assert_eq!(value["trace_id"], trace.header.trace_id.to_string());
            assert_eq!(&serde_json::from_value::<Event>(value).unwrap(), event);
        }
    }
}

/// What the schema requires of every event, by the published text of 1.3.0: `base_event`, `metadata`, `product`.
const BASE: [&str; 9] = [
    "/class_uid",
    "/category_uid",
    "/activity_id",
    "/type_uid",
    "/severity_id",
    "/time",
    "/metadata/version",
    "/metadata/product/name",
    "/metadata/product/vendor_name",
];

/// What it requires of events of one class, and of the objects in them that we write. Lists of names: one of them at least.
fn required(class: u64) -> &'static [&'static [&'static str]] {
    match class {
        0 => &[],
        1001 => &[
            &["/actor/process", "/actor/app_name"],
            &["/device/type_id"],
            &["/file/name"],
            &["/file/type_id"],
        ],
        1003 => &[
            &["/actor/process", "/actor/app_name"],
            &["/device/type_id"],
            &["/kernel/name"],
            &["/kernel/type_id"],
        ],
        1007 => {
            &[&["/actor/process", "/actor/app_name"], &["/device/type_id"], &["/process/pid", "/process/uid"]]
        }
        2004 => &[&["/finding_info/uid"], &["/finding_info/title"], &["/finding_info/analytic/type_id"]],
        4001 => &[
            &["/dst_endpoint/ip", "/dst_endpoint/hostname", "/dst_endpoint/name"],
            &["/src_endpoint/name"],
            &["/connection_info/direction_id"],
        ],
        4003 => &[&["/dst_endpoint/ip", "/dst_endpoint/name"], &["/src_endpoint/name"]],
        other => panic!("class {other}"),
    }
}

/// Activities that a class has.
fn activities(class: u64) -> std::ops::RangeInclusive<u64> {
    match class {
        0 => 99..=99,
        1001 => 1..=14,
        1003 => 1..=4,
        1007 => 1..=5,
        2004 => 1..=3,
        4001 => 1..=7,
        4003 => 1..=1,
        other => panic!("class {other}"),
    }
}

#[test]
fn ocsf_events_have_what_the_schema_requires() {
    for trace in [stories::weather(), stories::malicious_weather(), stories::hostile(), stories::many(200)] {
        let events = ocsf(&trace);
        assert_eq!(events.len(), trace.events.len() + trace.violation_summary.classifications.len());
        for event in &events {
            for path in BASE {
                assert!(event.pointer(path).is_some_and(|value| !value.is_null()), "{path}: {event:#}");
            }
            let number = |name: &str| event[name].as_u64().unwrap_or_else(|| panic!("{name}: {event:#}"));
            let class = number("class_uid");
            for names in required(class) {
                let has = |path: &&str| event.pointer(path).is_some_and(|value| !value.is_null());
                assert!(names.iter().any(has), "{names:?}: {event:#}");
            }
            assert_eq!(number("category_uid"), class / 1000);
            assert_eq!(number("type_uid"), class * 100 + number("activity_id"));
            assert!(activities(class).contains(&number("activity_id")), "{event:#}");
            assert!((0..=6).contains(&number("severity_id")));
            assert_eq!(event["metadata"]["version"], "1.3.0");
            // Milliseconds, not seconds and not microseconds.
            assert!((1_700_000_000_000..2_000_000_000_000).contains(&number("time")), "{event:#}");
            // An id and its caption are there together.
            for name in ["action", "disposition", "status"] {
                assert_eq!(event.get(name).is_some(), event.get(format!("{name}_id")).is_some(), "{event:#}");
            }
        }
    }
}

#[test]
fn ocsf_says_blocked_of_what_was_tried_and_denied_and_of_nothing_else() {
    let mut trace = stories::malicious_weather();
    // A policy never blocked anything, whatever it says.
    trace.events[0].verdict = Some(EventVerdict::Denied);
    let events = ocsf(&trace);
    for (event, shown) in trace.events.iter().zip(&events) {
        assert_eq!(shown["disposition_id"] == json!(2), event.is_violation(), "{shown:#}");
        assert_eq!(shown["action_id"] == json!(2), event.is_violation());
        assert_eq!(shown["unmapped"]["skillsandbox"], serde_json::to_value(event).unwrap());
    }
    assert!(events[0].get("disposition_id").is_none());
    let classes: Vec<u64> = events.iter().map(|event| event["class_uid"].as_u64().unwrap()).collect();
    for class in [0, 1001, 1003, 1007, 2004, 4001, 4003] {
        assert!(classes.contains(&class), "{class}");
    }
}

#[test]
fn an_ocsf_finding_names_technique_tactic_and_proof() {
    let trace = stories::malicious_weather();
    let events = ocsf(&trace);
    let finding = events.iter().find(|event| event["class_uid"] == 2004).unwrap();
    assert_eq!(finding["severity_id"], 4);
    assert_eq!(finding["disposition_id"], 2);
    assert_eq!(
        finding["finding_info"]["attacks"][0]["tactic"],
        json!({ "uid": "TA0006", "name": "Credential Access" })
    );
    assert_eq!(finding["finding_info"]["attacks"][0]["technique"]["uid"], "T1552");
    assert_eq!(finding["finding_info"]["attacks"][0]["sub_technique"]["uid"], "T1552.001");
    // What it points to is there.
    for related in finding["finding_info"]["related_events"].as_array().unwrap() {
        let there = events.iter().find(|event| event["metadata"]["uid"] == related["uid"]).unwrap();
        assert_eq!(there["type_uid"], related["type_uid"]);
    }
    assert_eq!(finding["evidences"].as_array().unwrap().len(), 5);
}

#[test]
fn an_ocsf_finding_is_not_blocked_when_its_proof_was_allowed() {
    let mut trace = stories::malicious_weather();
    let place = usize::try_from(trace.violation_summary.classifications[0].evidence[0]).unwrap();
    trace.events[place].verdict = Some(EventVerdict::Allowed);
    let events = ocsf(&trace);
    let finding = events.iter().find(|event| event["class_uid"] == 2004).unwrap();
    assert_eq!((&finding["disposition_id"], &finding["action_id"]), (&json!(1), &json!(1)));
}
