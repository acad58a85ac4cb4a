//! `skillsandbox trace`: what can be done with the trace of a run. One file a verb, in `trace/`.

mod export;
mod files;
mod html;
mod show;
mod verify;

use clap::{Args, Subcommand};

use crate::output::Answer;

/// Look at the trace of a run, check it, or give it to other programs
#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct Trace {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Show(show::Show),
    Html(html::Html),
    Export(export::Export),
    Verify(verify::Verify),
}

impl Trace {
    pub(crate) fn run(&self) -> anyhow::Result<Answer> {
        match &self.verb {
            Verb::Show(verb) => verb.run(),
            Verb::Html(verb) => verb.run(),
            Verb::Export(verb) => verb.run(),
            Verb::Verify(verb) => verb.run(),
        }
    }
}
