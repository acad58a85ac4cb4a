//! Memory does not grow with what is exported, whoever takes it. One test a run: it looks at the whole process.
#![cfg(all(target_os = "linux", feature = "otel"))]
#![allow(clippy::print_stdout)] // the figure
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::net::TcpListener;
use std::time::Duration;

use skillsandbox_test_support::small_trace::header;
use skillsandbox_tracer::otel::OtelSettings;
use skillsandbox_tracer::{Event, EventKind, EventVerdict, FoldMode, Recorder};

/// The most memory this process has had, in KiB.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Different programs, each with some KB of arguments; nobody takes any of them.
fn record(events: u64) {
    let stuck = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", stuck.local_addr().unwrap());
    let variables = |name: &str| match name {
        "OTEL_EXPORTER_OTLP_ENDPOINT" => Some(endpoint.clone()),
        "OTEL_BSP_MAX_QUEUE_SIZE" => Some("1000000000".to_owned()),
        _ => None,
    };
    let settings = OtelSettings::from_variables(variables).unwrap().unwrap();
    let header = header();
    let before = peak();
    let (exporter, handle) =
        settings.max_spans(u64::MAX).patience(Duration::from_millis(100)).start(&header).unwrap();
    let mut recorder = Recorder::new(&header, None, vec![Box::new(exporter)]).fold(FoldMode::Nothing);
    let argument = "x".repeat(1000);
    for number in 0..events {
        let argv = vec![argument.clone(), number.to_string(), argument.clone()];
        let exec = EventKind::Exec { path: format!("/bin/{number}"), argv };
        recorder.record(Event::new(exec).with_verdict(EventVerdict::Denied, None));
    }
    let summary = recorder.finish().summary;
    assert_eq!(summary.denied, events);
    let delivered = handle.finish();
    // Each is accounted for, and the root.
    assert_eq!((delivered.spans, delivered.dropped, delivered.omitted), (0, events + 1, 0));
    let grown = peak() - before;
    println!("{events} events: {grown} KiB more at most");
    assert!(grown < 32 * 1024, "{grown} KiB for {events} events");
}

#[test]
fn a_long_run_takes_no_more_memory_than_a_short_one() {
    // Some 3 KB each in memory: 90 MB, were they held.
    record(30_000);
}

/// `cargo test --release -p skillsandbox-tracer --features otel --test otel_memory -- --ignored`
#[test]
#[ignore = "run by itself"]
fn a_million_events_take_no_more_memory_either() {
    record(1_000_000);
}
