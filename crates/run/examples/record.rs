//! Runs a command that may do nothing but talk to itself, and writes down what it tries:
//!
//! ```text
//! record TRACE.json PROGRAM [ARGUMENT]...
//! ```
#![allow(clippy::print_stderr)]

use skillsandbox_enforcer::{Command, Plan};
use skillsandbox_run::{Forward, Options, record};
use skillsandbox_tracer::{Classifier, Header, Recorder, TraceWriter};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let trace = arguments.next().ok_or("no file for the trace given")?;
    let program = arguments.next().ok_or("no program given")?;
    let header = Header::new(program.to_string_lossy(), concat!("record ", env!("CARGO_PKG_VERSION")));
    let writer = TraceWriter::create(trace.as_ref(), &header)?;
    let recorder = Recorder::new(&header, Some(writer), Vec::new()).classify(Box::new(Classifier::new()));
    let mut options = Options::default();
    (options.stdout, options.stderr) = (Forward::Own, Forward::Own);
    let ran = record(&Plan::builder().build()?, Command::new(program).args(arguments), recorder, &options)?;
    let summary = &ran.recorded.summary;
    eprintln!(
        "{} events, {} denied, {} allowed, {} failed",
        summary.events, summary.denied, summary.allowed, summary.failed
    );
    for found in &summary.classifications {
        let techniques: Vec<&str> = found.techniques.iter().map(|technique| technique.id.as_str()).collect();
        eprintln!("{:?} {:?} {}: {}", found.severity, found.class, techniques.join(" "), found.message);
    }
    ran.outcome?;
    Ok(())
}
