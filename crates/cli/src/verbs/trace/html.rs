//! `skillsandbox trace html`: a trace as a page.

use std::path::{Path, PathBuf};

use clap::Args;
use skillsandbox_tracer::render::html::{self, PageOptions};

use super::files;
use super::reference::TraceReference;
use crate::output::{self, ExitAnswer};

/// Make one page of a trace: what happened, what got out, what to do; findings, processes, network, files, timeline
#[derive(Debug, Args)]
#[command(
    after_help = "The page needs no network and no other file, and can do nothing but show itself: text of the skill stays text.
It needs no script either: one adds a filter. #verdict=denied&text=ssh or #event=12 behind its address opens it there. A long trace is folded:
`trace show --all` has every event.

Examples:
  skillsandbox trace html --last -o page.html
  skillsandbox trace html trace.json              (writes trace.html)
  skillsandbox trace html trace.json -o - > page.html"
)]
pub(crate) struct TraceHtmlArgs {
    #[command(flatten)]
    trace: TraceReference,

    /// Where the page goes, instead of beside the trace; `-` is standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl TraceHtmlArgs {
    pub(crate) fn run(&self) -> anyhow::Result<ExitAnswer> {
        let file = self.trace.resolve()?;
        let to = match &self.output {
            Some(output) => output.clone(),
            None => files::beside(&file, "html")?,
        };
        let files::LoadedTrace { trace, answer } = files::load(&file)?;
        let mut options = PageOptions::default();
        if file != Path::new("-") {
            options.digest = skillsandbox_tracer::verify_trace(&file).ok().map(|verified| verified.digest);
        }
        if to == Path::new("-") {
            output::stream_plain(|out| html::write_page(out, &trace, options))?;
        } else {
            files::replace(&to, |file| html::write_page(file, &trace, options))?;
            output::message(&format!("wrote {}", output::visible(&to.display().to_string())));
        }
        Ok(answer)
    }
}
