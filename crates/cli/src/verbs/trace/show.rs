//! `skillsandbox trace show`: a trace on a terminal.

use std::io::IsTerminal as _;

use clap::Args;
use skillsandbox_text::Glyphs;
use skillsandbox_tracer::render::text::{self, Timeline};
use skillsandbox_tracer::render::{RenderOptions, TextStyle};

use super::files;
use super::reference::TraceReference;
use crate::output::{self, ExitAnswer};

/// Show what a run tried: what it amounts to and why, processes, what was denied, network, files, timeline
#[derive(Debug, Args)]
#[command(
    after_help = "Nothing that a skill wrote reaches the terminal as it is: what could move the cursor, hide or reorder text is
shown as an escape, and `…` stands for what was cut and for nothing else.

Examples:
  skillsandbox trace show --last
  skillsandbox trace show 3f2a9c1b                # as `skillsandbox history` lists it
  skillsandbox trace show trace.json
  skillsandbox trace show --all trace.json | less
  skillsandbox trace show --ascii --local trace.json"
)]
pub(crate) struct TraceShowArgs {
    #[command(flatten)]
    trace: TraceReference,

    /// Show every event of the timeline
    #[arg(long)]
    all: bool,

    /// Use no icons, and show letters that are not ASCII as escapes
    #[arg(long)]
    ascii: bool,

    /// Times as the clock here shows them, not in UTC
    #[arg(long)]
    local: bool,
}

impl TraceShowArgs {
    pub(crate) fn run(&self) -> anyhow::Result<ExitAnswer> {
        let files::LoadedTrace { trace, answer } = files::load(&self.trace.resolve()?)?;
        let mut look = RenderOptions::default().style(TextStyle::Colour);
        if self.ascii {
            look = look.glyphs(Glyphs::Ascii);
        }
        if self.local {
            look = look.zone(jiff::tz::TimeZone::system());
        }
        if std::io::stdout().is_terminal()
            && let Some((width, _)) = terminal_size::terminal_size()
        {
            look = look.columns(width.0.into());
        }
        let timeline = if self.all { Timeline::All } else { Timeline::Short };
        // It takes the colours out again where they are not wanted.
        output::stream(|out| text::write_text(out, &trace, &look, timeline))?;
        Ok(answer)
    }
}
