//! What a runtime does around a run: record what happens, finish, and check. `record FILE`
//!
//! ```sh
//! cargo run -p skillsandbox-tracer --example record -- trace.json && cat trace.json
//! ```

#![allow(clippy::print_stdout)] // a program for a terminal

use std::error::Error;
use std::path::PathBuf;

use skillsandbox_tracer::{
    Class, Event, FileOperation, Header, Line, Process, Recorder, Sink, TraceWriter, Verdict, What, verify,
};

/// A live view of the simplest kind.
struct Live;

impl Sink for Live {
    fn event(&mut self, event: &Event, _: Option<Class>) {
        // Events hold texts of strangers: `{:?}` escapes what a terminal would obey.
        println!("{:>3}  {:?} {:?}, {} times", event.sequence, event.verdict, event.what, event.count);
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = PathBuf::from(std::env::args().nth(1).ok_or("name the file to write")?);
    let header = Header::new("weather-lookup", concat!("record ", env!("CARGO_PKG_VERSION")));
    let mut recorder =
        Recorder::new(&header, Some(TraceWriter::create(&path, &header)?), vec![Box::new(Live)]);

    let python = || Process::new(4711, Some("/usr/bin/python3".to_owned()));
    recorder
        .record(Event::new(What::RunStarted { command: vec!["python3".to_owned(), "main.py".to_owned()] }));
    for _ in 0..1000 {
        let path = "/home/user/.aws/credentials".to_owned();
        let read = What::File { operation: FileOperation::Read, path, to: None };
        recorder.record(Event::new(read).judged(Verdict::Denied, "filesystem.read".to_owned()).by(python()));
    }
    recorder.record(Event::new(What::Stdout(Line::new("{\"temperature\": 7}"))));
    let ended = What::RunEnded { exit_code: Some(0), signal: None, end: "itself".to_owned(), error: None };
    recorder.record(Event::new(ended));

    let done = recorder.finish();
    if let Some(error) = done.error {
        return Err(error.into());
    }
    println!("{} attempts were prevented", done.summary.denied);
    println!("digest {}", verify(&path)?.digest);
    Ok(())
}
