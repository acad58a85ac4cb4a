//! `skillsandbox trace`: what can be done with the trace of a run. One file a verb, in `trace/`.

mod verify;

use clap::{Args, Subcommand};

use crate::output::Answer;

/// Look at the trace of a run, and check it
#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct Trace {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Verify(verify::Verify),
}

impl Trace {
    pub(crate) fn run(&self) -> anyhow::Result<Answer> {
        match &self.verb {
            Verb::Verify(verb) => verb.run(),
        }
    }
}
