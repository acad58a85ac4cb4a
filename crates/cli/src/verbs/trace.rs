//! `skillsandbox trace`: what to do with the trace of a run.

mod export;
mod files;
mod html;
mod show;

use clap::{Args, Subcommand};

use crate::output::Answer;

/// Show the trace of a run, or give it to other programs
#[derive(Debug, Args)]
pub(crate) struct Trace {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Show(show::Show),
    Html(html::Html),
    Export(export::Export),
}

impl Trace {
    pub(crate) fn run(&self) -> anyhow::Result<Answer> {
        match &self.verb {
            Verb::Show(verb) => verb.run(),
            Verb::Html(verb) => verb.run(),
            Verb::Export(verb) => verb.run(),
        }
    }
}
