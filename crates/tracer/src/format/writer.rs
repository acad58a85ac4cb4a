//! A trace as a file, written while the run goes on.
//!
//! The file has its final name from the beginning. Whatever ends us, what was written until then is there and can be read,
//! and the missing end shows that it is not all: no JSON reader takes it for a whole document.

use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::format::bounds;
use crate::format::chain::{
    DIGEST, END, EVENT_INDENT, EVENTS_BEGIN, EVENTS_END, HASH_END, HASH_FIELD, HEADER_HASH, HashChain,
    TraceDigest,
};
use crate::format::error::TraceError;
use crate::format::event::Event;
use crate::format::json;
use crate::format::read::MAX_LINE;
use crate::format::tally::EventTally;
use crate::format::trace::{TraceHeader, TraceSummary};

/// How long an event that nobody prevented may wait to be written to the file.
const PATIENCE: Duration = Duration::from_millis(200);

/// Writes one trace.
#[derive(Debug)]
pub struct TraceWriter {
    path: PathBuf,
    out: BufWriter<File>,
    /// The last line that was written: its memory is used again for the next.
    line: Vec<u8>,
    chain: HashChain,
    tally: EventTally,
    next: u64,
    bytes: u64,
    flushed: Instant,
    /// After an error nothing more is written: a line in the middle of another would be worse than none.
    broken: Option<io::ErrorKind>,
}

impl TraceWriter {
    /// Makes the file and writes the header.
    ///
    /// The file must not be there, by whatever kind of link, and its folder must not be a symbolic link: somebody
    /// who can put links where traces are written cannot choose what is overwritten. Only its owner may read it.
    pub fn create(path: &Path, header: &TraceHeader) -> Result<Self, TraceError> {
        let failed = |error| TraceError::Create { path: path.to_owned(), error };
        let mut head = json::lines(header, 1, 0).map_err(failed)?;
        if head.len() > MAX_LINE {
            return Err(failed(io::Error::new(
                io::ErrorKind::InvalidInput,
                "its header is longer than 1 MiB",
            )));
        }
        // Everything but the line break and the brace at the end.
        head.truncate(head.len().saturating_sub(2));
        head.extend_from_slice(b",\n");
        let chain = HashChain::begin(&head);
        let out = BufWriter::with_capacity(64 * 1024, create_new(path).map_err(failed)?);
        let mut writer = Self {
            path: path.to_owned(),
            out,
            line: Vec::new(),
            chain,
            tally: EventTally::default(),
            next: 0,
            bytes: 0,
            flushed: Instant::now(),
            broken: None,
        };
        head.extend_from_slice(format!("{HEADER_HASH}{}\",\n{EVENTS_BEGIN}", chain.now()).as_bytes());
        writer.put(&head)?;
        writer.flush()?;
        Ok(writer)
    }

    /// Writes one event, at the next place, and returns the place. Texts that are too long are cut.
    ///
    /// What was prevented is in the file when this returns; anything else with one of the next events, or at the end.
    pub fn write(&mut self, mut event: Event) -> Result<u64, TraceError> {
        event.sequence = self.next;
        event.repeats = event.repeats.filter(|first| *first < self.next);
        bounds::shorten(&mut event);
        self.write_numbered(&event)?;
        Ok(event.sequence)
    }

    /// Writes an event that is short and has its place already, which is the next one.
    pub(crate) fn write_numbered(&mut self, event: &Event) -> Result<(), TraceError> {
        debug_assert_eq!(event.sequence, self.next, "a trace has no gaps");
        let mut line = std::mem::take(&mut self.line);
        line.clear();
        line.extend_from_slice(if self.next == 0 { b"\n" } else { b",\n" });
        let start = line.len();
        line.extend_from_slice(EVENT_INDENT.as_bytes());
        json::append_line(&mut line, event).map_err(|error| self.failed(error))?;
        // The brace comes behind the hash.
        line.pop_if(|last| *last == b'}');
        let mut chain = self.chain;
        let hash = chain.link(line.get(start..).unwrap_or_default());
        write!(line, "{HASH_FIELD}{hash}{HASH_END}").map_err(|error| self.failed(error))?;
        self.put(&line)?;
        self.line = line;
        self.chain = chain;
        self.next += 1;
        self.tally.count(event);
        if event.is_violation() || self.flushed.elapsed() > PATIENCE {
            self.flush()?;
        }
        Ok(())
    }

    /// The place that the next event gets.
    #[must_use]
    pub fn next_sequence(&self) -> u64 {
        self.next
    }

    /// How long the file is.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Writes what stands behind the events, and returns the digest of the whole.
    ///
    /// What follows from the events is counted here, whatever the summary says: counts, whether it is complete, whether all was
    /// prevented.
    pub fn finish(mut self, mut summary: TraceSummary) -> Result<TraceDigest, TraceError> {
        bounds::shorten_summary(&mut summary);
        self.tally.complete(&mut summary);
        let mut tail = Vec::new();
        let mut member = |name: &str, value: io::Result<Vec<u8>>| {
            let value = value.map_err(|error| TraceError::Write { path: self.path.clone(), error })?;
            tail.extend_from_slice(format!("  \"{name}\": ").as_bytes());
            tail.extend_from_slice(&value);
            tail.extend_from_slice(b",\n");
            Ok::<(), TraceError>(())
        };
        member("policy_violations", json::line(&self.tally.violations()))?;
        member("violation_summary", json::lines(&summary, 2, 1))?;
        let digest = self.chain.link(&tail);
        self.put(format!("\n{EVENTS_END}\n").as_bytes())?;
        self.put(&tail)?;
        self.put(format!("{DIGEST}{digest}\"\n{END}\n").as_bytes())?;
        self.flush()?;
        Ok(digest)
    }

    /// Hands to the system what was not yet handed to it.
    pub fn flush(&mut self) -> Result<(), TraceError> {
        self.flushed = Instant::now();
        if let Some(kind) = self.broken {
            return Err(self.failed(kind.into()));
        }
        self.out.flush().map_err(|error| self.failed(error))
    }

    fn put(&mut self, bytes: &[u8]) -> Result<(), TraceError> {
        if let Some(kind) = self.broken {
            return Err(self.failed(kind.into()));
        }
        self.out.write_all(bytes).map_err(|error| self.failed(error))?;
        self.bytes += bytes.len() as u64;
        Ok(())
    }

    fn failed(&mut self, error: io::Error) -> TraceError {
        self.broken = Some(error.kind());
        TraceError::Write { path: self.path.clone(), error }
    }
}

#[cfg(unix)]
fn create_new(path: &Path) -> io::Result<File> {
    use rustix::fs::{CWD, Mode, OFlags, openat};

    let invalid = || io::Error::new(io::ErrorKind::InvalidInput, "it has no file name");
    let name = path.file_name().ok_or_else(invalid)?;
    let folder = match path.parent() {
        Some(folder) if folder.as_os_str().is_empty() => Path::new("."),
        Some(folder) => folder,
        None => return Err(invalid()),
    };
    // `a/` and `a/.` would follow the link that `a` is.
    let folder: PathBuf = folder.components().collect();
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::RDONLY;
    let folder = openat(CWD, &folder, flags, Mode::empty()).map_err(|error| {
        let error = io::Error::from(error);
        if error.kind() == io::ErrorKind::NotADirectory
            || error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error())
        {
            io::Error::new(
                error.kind(),
                "its folder is a symbolic link, or none at all; name the folder itself",
            )
        } else {
            error
        }
    })?;
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::WRONLY;
    let file: File = openat(&folder, name, flags, Mode::RUSR | Mode::WUSR)?.into();
    // Whoever tidies up among traces sees that this one is being written. A file system that has no locks has no such sign.
    let _ = file.try_lock();
    Ok(file)
}

#[cfg(not(unix))]
fn create_new(path: &Path) -> io::Result<File> {
    File::options().write(true).create_new(true).open(path)
}
