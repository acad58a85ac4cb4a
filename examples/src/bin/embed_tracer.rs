//! What a runtime does around a run: record what happens, finish, and check. `embed_tracer FILE`
//!
//! ```sh
//! cargo run -p skillsandbox-examples --bin embed_tracer -- trace.json && cat trace.json
//! ```

#![allow(clippy::print_stdout)] // a program for a terminal

use std::error::Error;
use std::path::PathBuf;

use skillsandbox_tracer::{
    AttackClass, Event, EventKind, EventSink, EventVerdict, FileOperation, OutputLine, Recorder, TraceHeader,
    TraceWriter, TracedProcess, verify_trace,
};

/// A live view of the simplest kind.
struct Live;

impl EventSink for Live {
    fn event(&mut self, event: &Event, _: Option<AttackClass>) {
        // Events hold texts of strangers: `{:?}` escapes what a terminal would obey.
        println!("{:>3}  {:?} {:?}, {} times", event.sequence, event.verdict, event.kind, event.count);
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = PathBuf::from(std::env::args().nth(1).ok_or("name the file to write")?);
    let header = TraceHeader::new("weather-lookup", concat!("embed_tracer ", env!("CARGO_PKG_VERSION")));
    let mut recorder =
        Recorder::new(&header, Some(TraceWriter::create(&path, &header)?), vec![Box::new(Live)]);

    let python = || TracedProcess::new(4711, Some("/usr/bin/python3".to_owned()));
    recorder.record(Event::new(EventKind::RunStarted {
        command: vec!["python3".to_owned(), "main.py".to_owned()],
    }));
    for _ in 0..1000 {
        let path = "/home/user/.aws/credentials".to_owned();
        let read = EventKind::File { operation: FileOperation::Read, path, to: None };
        recorder.record(
            Event::new(read)
                .with_verdict(EventVerdict::Denied, "filesystem.read".to_owned())
                .with_process(python()),
        );
    }
    recorder.record(Event::new(EventKind::Stdout(OutputLine::new("{\"temperature\": 7}"))));
    let ended =
        EventKind::RunEnded { exit_code: Some(0), signal: None, end: "itself".to_owned(), error: None };
    recorder.record(Event::new(ended));

    let done = recorder.finish();
    if let Some(error) = done.error {
        return Err(error.into());
    }
    println!("{} attempts were prevented", done.summary.denied);
    println!("digest {}", verify_trace(&path)?.digest);
    Ok(())
}
