//! `skillsandbox trace`: what can be done with the trace of a run. One file a verb, in `trace/`.

mod export;
mod files;
mod html;
mod prune;
mod reference;
mod show;
mod verify;

use clap::{Args, Subcommand};

use crate::output::ExitAnswer;

/// Look at the trace of a run, check it, or give it to other programs; remove old ones
#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct TraceArgs {
    #[command(subcommand)]
    verb: TraceVerb,
}

#[derive(Debug, Subcommand)]
enum TraceVerb {
    Show(show::TraceShowArgs),
    Html(html::TraceHtmlArgs),
    Export(export::TraceExportArgs),
    Verify(verify::TraceVerifyArgs),
    Prune(prune::TracePruneArgs),
}

impl TraceArgs {
    pub(crate) fn run(&self) -> anyhow::Result<ExitAnswer> {
        match &self.verb {
            TraceVerb::Show(verb) => verb.run(),
            TraceVerb::Html(verb) => verb.run(),
            TraceVerb::Export(verb) => verb.run(),
            TraceVerb::Verify(verb) => verb.run(),
            TraceVerb::Prune(verb) => verb.run(),
        }
    }
}
