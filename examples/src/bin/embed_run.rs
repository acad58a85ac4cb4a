//! Runs a command that may do nothing but talk to itself, and says what it tried:
//!
//! ```text
//! embed_run TRACE.json PROGRAM [ARGUMENT]...
//! ```
#![allow(clippy::print_stderr)]

use skillsandbox_run::{Job, OutputTarget, RunOptions, Unrecorded, run};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let trace = arguments.next().ok_or("no file for the trace given")?;
    let program = arguments.next().ok_or("no program given")?;
    let mut job = Job::new(program.to_string_lossy(), &program);
    job.arguments = arguments.collect();
    let mut options = RunOptions::default();
    options.trace = Some(trace.into());
    (options.streams.stdout, options.streams.stderr) = (OutputTarget::Own, OutputTarget::Own);
    let report = run(&job, &Unrecorded, options);
    for denial in &report.denied.denials {
        eprintln!("prevented: {}", denial.what);
    }
    for found in &report.summary.classifications {
        let techniques: Vec<&str> = found.techniques.iter().map(|technique| technique.id.as_str()).collect();
        eprintln!("{:?} {:?} {}: {}", found.severity, found.class, techniques.join(" "), found.message);
    }
    report.ended?;
    Ok(())
}
