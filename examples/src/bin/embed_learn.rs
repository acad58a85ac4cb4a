//! Finds out what a command needs besides what every run has, and changes nothing for it:
//!
//! ```text
//! embed_learn SKILL-FOLDER PROGRAM [ARGUMENT]...
//! ```
#![allow(clippy::print_stdout)]

use std::path::PathBuf;

use skillsandbox_learn::{LearnPlaces, ManifestDraft, Rehearsal};
use skillsandbox_run::Job;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let folder = PathBuf::from(arguments.next().ok_or("no folder given")?).canonicalize()?;
    let program = arguments.next().ok_or("no program given")?;
    let mut job = Job::new(program.to_string_lossy(), &program);
    job.arguments = arguments.collect();
    job.read.push(folder.clone());
    job.workdir = Some(folder.clone());
    let places = LearnPlaces::new(&folder, None).ok_or("there is no home")?;
    let learnt = Rehearsal::new(job, places.clone()).learn(&mut ())?;
    for finding in &learnt.proposals.findings {
        println!("# never granted: {} ({})", finding.what, finding.why);
    }
    // A program of one's own asks somebody here what of it is accepted.
    let mut draft = ManifestDraft::new("learnt", None, None);
    for proposal in &learnt.proposals.files {
        draft.grant_file(proposal, &places);
    }
    print!("{}", draft.to_text()?);
    Ok(())
}
