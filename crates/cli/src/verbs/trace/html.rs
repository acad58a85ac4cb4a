//! `skillsandbox trace html`: a trace as a page.

use std::path::{Path, PathBuf};

use clap::Args;
use skillsandbox_tracer::render::html;

use super::files;
use crate::output::{self, ExitAnswer};

/// Make one page of a trace: findings, timeline with filters, processes, network, every event
#[derive(Debug, Args)]
#[command(
    after_help = "The page needs no network and no other file, and can do nothing but show itself: text of the skill stays text.
#verdict=denied&text=ssh or #event=12 behind its address opens it there.

Examples:
  skillsandbox trace html trace.json              (writes trace.html)
  skillsandbox trace html trace.json -o - > page.html"
)]
pub(crate) struct TraceHtmlArgs {
    /// The trace; `-` reads standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Where the page goes, instead of beside the trace; `-` is standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl TraceHtmlArgs {
    pub(crate) fn run(&self) -> anyhow::Result<ExitAnswer> {
        let to = match &self.output {
            Some(output) => output.clone(),
            None => files::beside(&self.file, "html")?,
        };
        let files::LoadedTrace { trace, answer } = files::load(&self.file)?;
        if to == Path::new("-") {
            html::write_page(std::io::stdout().lock(), &trace)?;
        } else {
            files::replace(&to, |file| html::write_page(file, &trace))?;
            output::message(&format!("wrote {}", output::visible(&to.display().to_string())));
        }
        Ok(answer)
    }
}
