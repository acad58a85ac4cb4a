//! `skillsandbox trace export`: a trace for other programs.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use skillsandbox_tracer::{Trace, export};

use super::files;
use crate::output::Answer;

/// Write a trace in a form that other programs read
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  skillsandbox trace export trace.json --format ndjson | jq 'select(.verdict == \"denied\")'
  skillsandbox trace export trace.json --format ocsf -o events.ndjson")]
pub(crate) struct Export {
    /// The trace; `-` reads standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Which form
    #[arg(long, value_name = "FORMAT", default_value = "json")]
    format: Format,

    /// Where it goes, instead of to standard output
    #[arg(short, long, value_name = "FILE", default_value = "-", hide_default_value = true)]
    output: PathBuf,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    /// The trace as it is, indented
    Json,
    /// An event a line
    Ndjson,
    /// Events of the Open Cybersecurity Schema Framework, one a line
    Ocsf,
}

impl Format {
    fn write(self, out: impl Write, trace: &Trace) -> io::Result<()> {
        match self {
            Self::Json => export::json(out, trace),
            Self::Ndjson => export::ndjson(out, trace),
            Self::Ocsf => export::ocsf(out, trace),
        }
    }
}

impl Export {
    pub(crate) fn run(&self) -> anyhow::Result<Answer> {
        let trace = files::load(&self.file)?;
        if self.output == Path::new("-") {
            self.format.write(io::stdout().lock(), &trace)?;
        } else {
            files::replace(&self.output, |file| self.format.write(file, &trace))?;
        }
        Ok(Answer::Yes)
    }
}
