//! Memory does not grow with the trace. One test a run: it looks at the whole process.
#![cfg(target_os = "linux")]
#![allow(clippy::print_stdout)] // the figure
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use skillsandbox_test_support::small_trace::{file, header};
use skillsandbox_tracer::{EventVerdict, FoldMode, Recorder, TraceWriter, verify_trace};

/// The most memory this process has had, in KiB.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

fn record_and_verify(events: u64, folds: &[FoldMode]) {
    let folder = tempfile::tempdir().unwrap();
    let before = peak();
    for fold in folds {
        let path = folder.path().join(format!("{fold:?}.json"));
        let writer = TraceWriter::create(&path, &header()).unwrap();
        let mut recorder = Recorder::new(&header(), Some(writer), Vec::new()).fold(*fold);
        for number in 0..events {
            // All different, and a third denied: nothing can be folded.
            let verdict = if number % 3 == 0 { EventVerdict::Denied } else { EventVerdict::Allowed };
            recorder.record(file(&format!("/data/{number}"), verdict));
        }
        let done = recorder.finish();
        assert!(done.error.is_none() && done.summary.complete);
        let verified = verify_trace(&path).unwrap();
        assert_eq!(verified.summary.events, events);
        let length = std::fs::metadata(&path).unwrap().len();
        assert!(length > events * 200, "{length}");
    }
    let grown = peak() - before;
    println!("{events} events: {grown} KiB more at most");
    assert!(grown < 16 * 1024, "{grown} KiB for {events} events");
}

#[test]
fn a_long_trace_takes_no_more_memory_than_a_short_one() {
    // Some 600 bytes each in memory: 36 MB, were they held.
    record_and_verify(60_000, &[FoldMode::RepeatsAndSystem]);
}

/// `cargo test --release -p skillsandbox-tracer --test memory -- --ignored`
#[test]
#[ignore = "a minute in release; run by itself"]
fn a_million_events_take_no_more_memory_either() {
    record_and_verify(1_000_000, &[FoldMode::Nothing, FoldMode::RepeatsAndSystem]);
}
