//! A run, exported to whatever collector the `OTEL_*` variables name.
//!
//! ```sh
//! OTEL_EXPORTER_OTLP_ENDPOINT=http://localhost:4318 cargo run -p skillsandbox-examples --bin embed_otel
//! ```

#![allow(clippy::print_stdout, clippy::print_stderr)] // a program for a terminal

use std::error::Error;

use skillsandbox_tracer::otel::OtelExporter;
use skillsandbox_tracer::{
    Classifier, Event, EventKind, EventSink, EventVerdict, FileOperation, Recorder, TraceHeader,
    TracedProcess,
};

fn main() -> Result<(), Box<dyn Error>> {
    let header = TraceHeader::new("weather-lookup", concat!("embed_otel ", env!("CARGO_PKG_VERSION")));
    // `None`: the variables say that nothing is to be exported.
    let (exporter, handle) = OtelExporter::from_env(&header)?.unzip();
    let sinks = exporter.map(|exporter| Box::new(exporter) as Box<dyn EventSink>);
    let mut recorder =
        Recorder::new(&header, None, sinks.into_iter().collect()).classify(Box::new(Classifier::new()));

    let python = || TracedProcess::new(4711, Some("/usr/bin/python3".to_owned()));
    let command = vec!["python3".to_owned(), "main.py".to_owned()];
    recorder.record(Event::new(EventKind::RunStarted { command }));
    for _ in 0..1000 {
        let path = "/home/user/.aws/credentials".to_owned();
        let read = EventKind::File { operation: FileOperation::Read, path, to: None };
        recorder.record(
            Event::new(read)
                .with_verdict(EventVerdict::Denied, "filesystem.read".to_owned())
                .with_process(python()),
        );
    }
    let lookup = EventKind::DnsQuery { name: Some("collector.evil.test".to_owned()), server: None };
    recorder.record(
        Event::new(lookup)
            .with_verdict(EventVerdict::Denied, "network.egress".to_owned())
            .with_process(python()),
    );
    let ended =
        EventKind::RunEnded { exit_code: Some(0), signal: None, end: "itself".to_owned(), error: None };
    recorder.record(Event::new(ended));
    let done = recorder.finish();
    println!("{} attempts were prevented; trace {}", done.summary.denied, header.trace_id.simple());

    if let Some(handle) = handle {
        for warning in handle.warnings() {
            eprintln!("warning: {warning}");
        }
        let delivered = handle.finish();
        println!("{} spans were delivered to {}", delivered.spans, delivered.endpoint);
        if let Some(warning) = delivered.warning() {
            eprintln!("warning: {warning}");
        }
    }
    Ok(())
}
