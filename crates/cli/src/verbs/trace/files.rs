//! Traces are read here, and what is made of them is written.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use skillsandbox_tracer::{FORMAT, Trace};

/// Reads a trace; `-` is standard input.
pub(super) fn load(path: &Path) -> anyhow::Result<Trace> {
    let name = path.display();
    let input: Box<dyn Read> = if path == Path::new("-") {
        Box::new(io::stdin().lock())
    } else {
        Box::new(File::open(path).with_context(|| format!("cannot open {name}"))?)
    };
    let trace: Trace = serde_json::from_reader(BufReader::new(input))
        .with_context(|| format!("{name} is no trace that this version can read"))?;
    if trace.header.format != FORMAT {
        let format = &trace.header.format;
        bail!(
            "{name} says that it is `{format}`, and this version reads `{FORMAT}`: use the version that wrote it"
        );
    }
    Ok(trace)
}

/// Writes a file as a whole or not at all. What was there before is replaced, and a link there is not followed.
pub(super) fn replace(path: &Path, write: impl FnOnce(&File) -> io::Result<()>) -> anyhow::Result<()> {
    let Some(name) = path.file_name() else { bail!("{} is no name of a file", path.display()) };
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
