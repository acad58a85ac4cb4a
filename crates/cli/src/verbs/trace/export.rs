//! `skillsandbox trace export`: a trace for other programs.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use skillsandbox_tracer::{Event, Trace, TraceError, TraceHeader, TraceReader, TraceSummary, export};

use super::files;
use super::reference::TraceReference;
use crate::output::{self, ExitAnswer, message, visible};

/// Write a trace in a form that other programs read
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  skillsandbox trace export --last --format ndjson | jq 'select(.verdict == \"denied\")'
  skillsandbox trace export trace.json --format ocsf -o events.ndjson")]
pub(crate) struct TraceExportArgs {
    #[command(flatten)]
    trace: TraceReference,

    /// Which form
    #[arg(long, value_name = "FORMAT", default_value = "json")]
    format: ExportFormat,

    /// Where it goes, instead of to standard output
    #[arg(short, long, value_name = "FILE", default_value = "-", hide_default_value = true)]
    output: PathBuf,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum ExportFormat {
    /// The trace as it is, indented
    Json,
    /// An event a line
    Ndjson,
    /// Events of the Open Cybersecurity Schema Framework, one a line
    Ocsf,
}

impl ExportFormat {
    fn write(self, out: impl Write, trace: &Trace) -> io::Result<()> {
        match self {
            Self::Json => export::write_json(out, trace),
            Self::Ndjson => export::write_ndjson(out, trace),
            Self::Ocsf => export::write_ocsf(out, trace),
        }
    }

    fn write_event(self, out: &mut impl Write, header: &TraceHeader, event: &Event) -> io::Result<()> {
        match self {
            Self::Ocsf => export::write_ocsf_event(out, header, event),
            Self::Json | Self::Ndjson => export::write_ndjson_event(out, header, event),
        }
    }
}

impl TraceExportArgs {
    pub(crate) fn run(&self) -> anyhow::Result<ExitAnswer> {
        let file = self.trace.resolve()?;
        if !matches!(self.format, ExportFormat::Json)
            && let Some(reader) = files::open(&file)?
        {
            return self.stream(&file, reader);
        }
        let files::LoadedTrace { trace, answer } = files::load(&file)?;
        self.written(|out| self.format.write(out, &trace))?;
        Ok(answer)
    }

    fn written(&self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> anyhow::Result<()> {
        if self.output == Path::new("-") {
            output::stream_plain(write)
        } else {
            files::replace(&self.output, |mut file| write(&mut file))
        }
    }

    /// Writes event by event, however many there are. What stands before something wrong is written.
    fn stream(&self, file: &Path, mut reader: TraceReader<BufReader<File>>) -> anyhow::Result<ExitAnswer> {
        let mut wrong = None;
        self.written(|out| {
            let mut out = BufWriter::new(out);
            let header = reader.header().clone();
            for event in reader.by_ref() {
                match event {
                    Ok(event) => self.format.write_event(&mut out, &header, &event)?,
                    Err(error) => {
                        wrong = Some(error);
                        return out.flush();
                    }
                }
            }
            match reader.finish() {
                Ok(ending) if matches!(self.format, ExportFormat::Ocsf) => {
                    // What proves it is known only now, and read once more.
                    let summary = &ending.violation_summary;
                    let evidence = evidence(file, summary).map_err(io::Error::other)?;
                    export::write_ocsf_findings(&mut out, &header, summary, &evidence)?;
                }
                Ok(_) => {}
                Err(error) => wrong = Some(error),
            }
            out.flush()
        })?;
        Ok(match wrong {
            Some(wrong) => {
                let file = visible(&file.display().to_string());
                message(&format!("{file}: not as it was written: {}", visible(&wrong.to_string())));
                ExitAnswer::No
            }
            None => ExitAnswer::Yes,
        })
    }
}

/// The events that are evidence: a hundred for each class at most.
fn evidence(file: &Path, summary: &TraceSummary) -> Result<Vec<Event>, TraceError> {
    let places: BTreeSet<u64> =
        summary.classifications.iter().flat_map(|found| found.evidence.iter().copied()).collect();
    let events = TraceReader::open(file)?.filter(|event| match event {
        Ok(event) => places.contains(&event.sequence),
        Err(_) => true,
    });
    events.collect()
}
