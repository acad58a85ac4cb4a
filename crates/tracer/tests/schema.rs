//! What is written is what the schema says, and the schema says something.
#![cfg(feature = "schema")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use boon::{Compiler, Schemas};
use serde_json::{Value, json};
use skillsandbox_test_support::small_trace;
use skillsandbox_tracer::{EventVerdict, schema};

fn valid(value: &Value) -> bool {
    let mut schemas = Schemas::new();
    let mut compiler = Compiler::new();
    compiler.add_resource("trace.json", schema::trace()).unwrap();
    let schema = compiler.compile("trace.json", &mut schemas).unwrap();
    schemas.validate(value, schema).is_ok()
}

fn trace() -> Value {
    let mut events = small_trace::events();
    events.push(small_trace::file("/home/user/.aws/credentials", EventVerdict::Denied));
    let (_folder, path, _) = small_trace::trace_of(events);
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

#[test]
fn what_is_written_is_valid() {
    let trace = trace();
    assert_eq!(trace["events"][15]["repeats"], 2);
    assert!(valid(&trace));
}

#[test]
fn what_is_not_so_is_not_valid() {
    let changes: &[(&str, Value)] = &[
        ("/events/2/kind", json!("flie")),
        ("/events/2/operation", json!("look")),
        ("/events/2/verdict", json!("perhaps")),
        ("/events/2/sequence", json!("2")),
        ("/events/2/hash", json!("00")),
        ("/events/2/path", json!(null)),
        ("/digest", json!("")),
        ("/hash", json!(1)),
        ("/policy_violations", json!("none")),
        ("/violation_summary", json!({})),
        ("/trace_id", json!(7)),
        ("/events", json!({})),
    ];
    for (place, value) in changes {
        let mut trace = trace();
        *trace.pointer_mut(place).unwrap() = value.clone();
        assert!(!valid(&trace), "{place}");
    }
    for key in [
        "format",
        "trace_id",
        "started",
        "hash",
        "events",
        "policy_violations",
        "violation_summary",
        "digest",
    ] {
        let mut trace = trace();
        trace.as_object_mut().unwrap().remove(key).unwrap();
        assert!(!valid(&trace), "{key}");
    }
}
