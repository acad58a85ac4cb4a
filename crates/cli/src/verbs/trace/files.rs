//! Traces are read here, and what is made of them is written.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use skillsandbox_tracer::{TRACE_FORMAT, Trace, TraceError, TraceReader, read_trace_part};

use crate::output::{ExitAnswer, message, visible};

/// Events that are held in memory. A page or a timeline of more is of no use to anybody.
const MOST_EVENTS: usize = 200_000;

/// Bytes of standard input, and of a document that is not laid out as a run writes it, which has to be read as a whole.
const MOST_BYTES: u64 = 128 << 20;

/// A trace as far as it was read.
pub(super) struct LoadedTrace {
    pub(super) trace: Trace,
    /// No if something about it is wrong, which was said.
    pub(super) answer: ExitAnswer,
}

/// Reads a trace; `-` is standard input. Says what is not as it should be.
pub(super) fn load(path: &Path) -> anyhow::Result<LoadedTrace> {
    let name = visible(&path.display().to_string());
    if path == Path::new("-") {
        let bytes = whole(io::stdin().lock(), &name)?;
        return match TraceReader::new(Cursor::new(&bytes)) {
            Err(TraceError::NotATrace(_)) => laid_out_anew(&bytes, &name),
            reader => part(reader, &name),
        };
    }
    match TraceReader::open(path) {
        Err(TraceError::NotATrace(_)) => {
            let file = File::open(path).with_context(|| format!("cannot open {name}"))?;
            laid_out_anew(&whole(file, &name)?, &name)
        }
        Err(TraceError::Read { error, .. }) => Err(error).with_context(|| format!("cannot open {name}")),
        reader => part(reader, &name),
    }
}

fn part<R: io::BufRead>(
    reader: Result<TraceReader<R>, TraceError>,
    name: &str,
) -> anyhow::Result<LoadedTrace> {
    let part = read_trace_part(reader?, MOST_EVENTS);
    if part.omitted > 0 {
        message(&format!(
            "{name}: the first {MOST_EVENTS} events; {} more are not shown: `trace export --format ndjson` has all of them",
            part.omitted
        ));
    }
    let answer = if let Some(wrong) = &part.wrong {
        message(&format!("{name}: not as it was written: {}", visible(&wrong.to_string())));
        ExitAnswer::No
    } else {
        ExitAnswer::Yes
    };
    Ok(LoadedTrace { trace: part.trace, answer })
}

/// A trace that another program has written, which has no hashes that could be checked.
fn laid_out_anew(bytes: &[u8], name: &str) -> anyhow::Result<LoadedTrace> {
    let trace: Trace = serde_json::from_slice(bytes)
        .with_context(|| format!("{name} is not a trace that this version can read"))?;
    if trace.header.format != TRACE_FORMAT {
        let format = visible(&trace.header.format);
        bail!(
            "{name} says that it is `{format}`, and this version reads `{TRACE_FORMAT}`: use the version that wrote it"
        );
    }
    message(&format!("{name}: not checked: it is not laid out as a run writes it"));
    Ok(LoadedTrace { trace, answer: ExitAnswer::Yes })
}

fn whole(input: impl Read, name: &str) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    input.take(MOST_BYTES + 1).read_to_end(&mut bytes).with_context(|| format!("cannot read {name}"))?;
    if bytes.len() as u64 > MOST_BYTES {
        bail!(
            "{name} is longer than 128 MiB: name the file that the run wrote, which is read piece by piece"
        );
    }
    Ok(bytes)
}

/// Opens a trace that is read event by event. `None` where it has to be read as a whole.
pub(super) fn open(path: &Path) -> anyhow::Result<Option<TraceReader<BufReader<File>>>> {
    if path == Path::new("-") {
        return Ok(None);
    }
    match TraceReader::open(path) {
        Err(TraceError::NotATrace(_)) => Ok(None),
        reader => Ok(Some(reader.with_context(|| format!("cannot read {}", path.display()))?)),
    }
}

/// Writes a file as a whole or not at all. What was there before is replaced, and a link there is not followed.
pub(super) fn replace(path: &Path, write: impl FnOnce(&File) -> io::Result<()>) -> anyhow::Result<()> {
    let Some(name) = path.file_name() else { bail!("{} is not a file name", path.display()) };
    let mut beside = std::ffi::OsString::from(".");
    beside.push(name);
    beside.push(format!(".{}.part", std::process::id()));
    let beside = path.with_file_name(beside);
    let cannot = || format!("cannot write {}", path.display());
    let file = OpenOptions::new().write(true).create_new(true).open(&beside).with_context(cannot)?;
    let written = write(&file).and_then(|()| fs::rename(&beside, path));
    if written.is_err() {
        // It is ours, and of no use to anybody.
        let _ = fs::remove_file(&beside);
    }
    written.with_context(cannot)
}

/// Where a page goes if nobody says: beside the trace, as `trace.html` is to `trace.json`.
pub(super) fn beside(path: &Path, extension: &str) -> anyhow::Result<PathBuf> {
    if path == Path::new("-") {
        bail!("say where the page is to go, with --output FILE (`-` is standard output)");
    }
    let page = path.with_extension(extension);
    if page == path {
        bail!("the page would replace the trace: say where it is to go, with --output FILE");
    }
    Ok(page)
}
