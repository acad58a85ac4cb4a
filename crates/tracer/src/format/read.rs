//! Reading a trace, event by event, from a file that anybody may have written.
//!
//! Whatever is read was checked: there is no way to an event that does not go through its hash. What checks the end against the
//! events is in `verify.rs`.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::format::chain::{
    DIGEST, END, EVENT_INDENT, EVENTS_BEGIN, EVENTS_END, HASH_END, HASH_FIELD, HEADER_HASH, HashChain,
    TraceDigest,
};
use crate::format::error::{TamperError, TamperKind, TraceError};
use crate::format::event::Event;
use crate::format::tally::EventTally;
use crate::format::trace::{TRACE_FORMAT, Trace, TraceHeader, TraceSummary};

/// The longest line of a trace, and the longest header: four times the longest event that is ever written.
pub const MAX_LINE: usize = 1024 * 1024;
/// The longest end of a trace: 10,000 places, and classes with a hundred each.
const MAX_TAIL: usize = 4 * 1024 * 1024;

/// What stands behind the events.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct TraceEnding {
    /// The places of those events that were denied: the first [`crate::MAX_VIOLATIONS`] of them.
    pub policy_violations: Vec<u64>,
    /// What it amounts to.
    pub violation_summary: TraceSummary,
    /// The digest of everything before it, which is right.
    #[serde(skip, default = "nothing")]
    pub digest: TraceDigest,
}

fn nothing() -> TraceDigest {
    HashChain::begin(b"").now()
}

/// Reads a trace event by event, in bounded memory.
///
/// An iterator over its events: it ends behind the last one, or with the first error. Then [`TraceReader::finish`] reads what
/// stands behind them.
#[derive(Debug)]
pub struct TraceReader<R> {
    lines: TraceLines<R>,
    header: TraceHeader,
    chain: HashChain,
    next: u64,
    state: ReadState,
    /// What was wrong, where something was.
    wrong: Option<TamperError>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReadState {
    /// The line that was read last promises an event (the first one may be the end).
    Begun,
    Promised,
    /// The line that was read last had no comma.
    Last,
    Over,
    Failed,
}

impl TraceReader<BufReader<File>> {
    /// Opens a file.
    pub fn open(path: &Path) -> Result<Self, TraceError> {
        let file = open_plain(path).map_err(|error| TraceError::Read { path: path.to_owned(), error })?;
        Self::named(BufReader::with_capacity(64 * 1024, file), path.to_owned())
    }
}

impl<R: BufRead> TraceReader<R> {
    /// Reads from anything.
    pub fn new(input: R) -> Result<Self, TraceError> {
        Self::named(input, PathBuf::from("(input)"))
    }

    fn named(input: R, path: PathBuf) -> Result<Self, TraceError> {
        let mut lines = TraceLines { input, path, line: Vec::new(), number: 0, ended: false };
        let mut head = Vec::new();
        let hash = loop {
            if !lines.advance()? {
                return Err(if head.starts_with(b"{\n  \"format\"") {
                    lines.truncated(None, "its header has no end").into()
                } else {
                    TraceError::NotATrace(format!("it does not begin as {TRACE_FORMAT} does"))
                });
            }
            if let Some(hash) = lines.line.strip_prefix(HEADER_HASH.as_bytes()) {
                break hash.to_vec();
            }
            head.extend_from_slice(&lines.line);
            head.push(b'\n');
            if !head.starts_with(b"{\n") || head.len() > MAX_LINE {
                return Err(TraceError::NotATrace(format!("it does not begin as {TRACE_FORMAT} does")));
            }
        };
        let chain = HashChain::begin(&head);
        let expected = format!("{}\",", chain.now());
        if lines.ended && expected.as_bytes().starts_with(&hash) {
            return Err(lines.truncated(None, "nothing stands behind its header").into());
        }
        if hash != expected.as_bytes() || !head.ends_with(b",\n") {
            return Err(lines
                .wrong(TamperKind::Edited, None, "the header does not have the hash that stands here")
                .into());
        }
        let header: TraceHeader = {
            let json = head.strip_suffix(b",\n").unwrap_or(&head);
            let json = [json, b"}"].concat();
            serde_json::from_slice(&json)
                .map_err(|error| TraceError::NotATrace(format!("its header cannot be read: {error}")))?
        };
        if header.format != TRACE_FORMAT {
            let format = skillsandbox_text::shorten_line(&header.format, 64);
            return Err(TraceError::NotATrace(format!(
                "its format is `{format}`; this version reads `{TRACE_FORMAT}`: use the version that wrote it"
            )));
        }
        if !lines.advance()? {
            return Err(lines.truncated(None, "nothing stands behind its header").into());
        }
        if lines.line != EVENTS_BEGIN.as_bytes() {
            return Err(if lines.ended && EVENTS_BEGIN.as_bytes().starts_with(&lines.line) {
                lines.truncated(None, "nothing stands behind its header").into()
            } else {
                lines.wrong(TamperKind::Edited, None, "the events do not begin where they should").into()
            });
        }
        Ok(Self { lines, header, chain, next: 0, state: ReadState::Begun, wrong: None })
    }

    /// What it begins with.
    #[must_use]
    pub fn header(&self) -> &TraceHeader {
        &self.header
    }

    /// The line that was read last, from 1.
    #[must_use]
    pub fn line(&self) -> u64 {
        self.lines.number
    }

    /// Reads what stands behind the events; skips, and checks, those that were not read.
    pub fn finish(mut self) -> Result<TraceEnding, TraceError> {
        for event in self.by_ref() {
            event?;
        }
        if let Some(wrong) = self.wrong {
            return Err(wrong.into());
        }
        if self.state != ReadState::Over {
            return Err(self.lines.wrong(TamperKind::Edited, None, "it could not be read to its end").into());
        }
        self.ending()
    }

    fn read_event(&mut self) -> Result<Option<Event>, TraceError> {
        if !self.lines.advance()? {
            return Err(self.cut("the run that wrote it did not end, or its end was cut off"));
        }
        let line = self.lines.line.as_slice();
        if line == EVENTS_END.as_bytes() && self.state != ReadState::Promised {
            self.state = ReadState::Over;
            return Ok(None);
        }
        if self.lines.ended && self.state != ReadState::Promised && EVENTS_END.as_bytes().starts_with(line) {
            return Err(self.cut("the end is missing"));
        }
        if self.state == ReadState::Last {
            return Err(self.broken("the events do not end as they should, or a line has lost its comma"));
        }
        let (line, comma) = match line.strip_suffix(b",") {
            Some(line) => (line, true),
            None => (line, false),
        };
        let Some((body, hash)) = split(line) else {
            return Err(if self.lines.ended {
                self.cut("its last line is not whole")
            } else {
                self.broken("it is not an event with its hash")
            });
        };
        let mut chain = self.chain;
        let expected = chain.link(body).to_string();
        let event = parse(body);
        if hash != expected.as_bytes() {
            let found = event.map(|event| event.sequence);
            return Err(self.out_of_place(found));
        }
        let event = match event {
            Some(event) if event.sequence == self.next => event,
            // The hash is right, so it was made for this: by another program, or by somebody who knows how.
            Some(event) => return Err(self.out_of_place(Some(event.sequence))),
            None => return Err(self.broken("it has the right hash, but is not an event")),
        };
        self.chain = chain;
        self.next += 1;
        self.state = if comma { ReadState::Promised } else { ReadState::Last };
        Ok(Some(event))
    }

    /// The line has not the hash it should have, or not the place.
    fn out_of_place(&mut self, found: Option<u64>) -> TraceError {
        let (expected, line) = (self.next, self.lines.number);
        let wrong = |how, what: String| TraceError::from(TamperError::new(how, line, expected, what));
        match found {
            Some(found) if found > expected => {
                if self.stands_later(expected) {
                    wrong(
                        TamperKind::Reordered,
                        format!("event {found} stands here, and event {expected} behind it"),
                    )
                } else {
                    wrong(
                        TamperKind::Removed,
                        format!("event {found} stands here, and event {expected} nowhere"),
                    )
                }
            }
            Some(found) if found < expected => wrong(
                TamperKind::Duplicated,
                format!("event {found} stands here, which was there already, instead of event {expected}"),
            ),
            _ => wrong(
                TamperKind::Edited,
                format!("event {expected}, or the hash before it, is not what it was"),
            ),
        }
    }

    /// Whether an event stands further down. Only asked when something is wrong already.
    fn stands_later(&mut self, sequence: u64) -> bool {
        while let Ok(true) = self.lines.advance() {
            let line = self.lines.line.as_slice();
            let line = line.strip_suffix(b",").unwrap_or(line);
            if split(line).and_then(|(body, _)| parse(body)).is_some_and(|event| event.sequence == sequence) {
                return true;
            }
        }
        false
    }

    fn ending(&mut self) -> Result<TraceEnding, TraceError> {
        let mut tail = Vec::new();
        let digest = loop {
            if !self.lines.advance()? {
                return Err(self.cut("the digest is missing"));
            }
            if let Some(digest) = self.lines.line.strip_prefix(DIGEST.as_bytes()) {
                break digest.to_vec();
            }
            tail.extend_from_slice(&self.lines.line);
            tail.push(b'\n');
            if tail.len() > MAX_TAIL {
                return Err(self.broken("what stands behind the events is longer than it is ever written"));
            }
        };
        let expected = self.chain.link(&tail);
        if digest != format!("{expected}\"").as_bytes() {
            return Err(if self.lines.ended && format!("{expected}\"").as_bytes().starts_with(&digest) {
                self.cut("the digest is not whole")
            } else {
                self.broken("what stands behind the events, or the digest, is not what it was")
            });
        }
        let unreadable =
            |error| self.broken(&format!("it has the right digest, and cannot be read: {error}"));
        let json = [b"{", tail.strip_suffix(b",\n").unwrap_or(&tail), b"}"].concat();
        let mut ending: TraceEnding = serde_json::from_slice(&json).map_err(unreadable)?;
        ending.digest = expected;
        if !self.lines.advance()? || (self.lines.ended && self.lines.line == END.as_bytes()) {
            return Err(self.cut("its last line is missing"));
        }
        if self.lines.line != END.as_bytes() {
            return Err(self.broken("its last line is not what it was"));
        }
        if self.lines.advance()? {
            return Err(self
                .lines
                .wrong(TamperKind::Appended, None, "something stands behind the end")
                .into());
        }
        Ok(ending)
    }

    fn broken(&self, what: &str) -> TraceError {
        self.lines.wrong(TamperKind::Edited, self.next, what).into()
    }

    fn cut(&self, what: &str) -> TraceError {
        self.lines.truncated(self.next.checked_sub(1), what).into()
    }
}

impl<R: BufRead> Iterator for TraceReader<R> {
    type Item = Result<Event, TraceError>;

    fn next(&mut self) -> Option<Self::Item> {
        if matches!(self.state, ReadState::Over | ReadState::Failed) {
            return None;
        }
        let event = self.read_event();
        if let Err(error) = &event {
            self.state = ReadState::Failed;
            if let TraceError::Tampered(tampered) = error {
                self.wrong = Some(tampered.clone());
            }
        }
        event.transpose()
    }
}

/// Reads a whole trace into memory, and checks it as [`crate::verify_trace`] does. For a long one there is [`TraceReader`].
pub fn read_trace(path: &Path) -> Result<Trace, TraceError> {
    let mut events = Vec::new();
    let checked = crate::format::verify::check(TraceReader::open(path)?, |event| events.push(event))?;
    Ok(Trace {
        header: checked.header,
        events,
        policy_violations: checked.ending.policy_violations,
        violation_summary: checked.ending.violation_summary,
    })
}

/// As much of a trace as was read.
#[derive(Debug)]
#[non_exhaustive]
pub struct TracePart {
    /// What was read. Where the end is missing, its summary is what follows from the events, and says that it is not complete.
    pub trace: Trace,
    /// Events that are in the trace and were not kept.
    pub omitted: u64,
    /// Why there is not more, or what is not as it was written.
    pub wrong: Option<TraceError>,
}

/// Reads a trace as far as it is whole, and keeps so many of its events: what a run left that was killed, or somebody's file of any
/// size. Nothing that stands behind the first line that is wrong is read.
pub fn read_trace_part<R: BufRead>(reader: TraceReader<R>, most: usize) -> TracePart {
    let header = reader.header().clone();
    let mut events = Vec::new();
    let mut omitted = 0;
    let mut tally = EventTally::default();
    let checked = crate::format::verify::check(reader, |event| {
        tally.count(&event);
        if events.len() < most {
            events.push(event);
        } else {
            omitted += 1;
        }
    });
    let (policy_violations, violation_summary, wrong) = match checked {
        Ok(checked) => (checked.ending.policy_violations, checked.ending.violation_summary, None),
        Err(error) => {
            let mut summary =
                TraceSummary { incomplete_because: vec![error.to_string()], ..TraceSummary::default() };
            tally.complete(&mut summary);
            (tally.violations().to_vec(), summary, Some(error))
        }
    };
    TracePart { trace: Trace { header, events, policy_violations, violation_summary }, omitted, wrong }
}

/// Opens a file, and never waits for it: a pipe in the place of a trace has nobody who writes to it.
fn open_plain(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.read(true);
    #[cfg(unix)]
    {
        let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, flags);
    }
    let file = options.open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a plain file"));
    }
    Ok(file)
}

/// The line of an event: what its hash covers, and the hash.
fn split(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let line = line.strip_suffix(HASH_END.as_bytes())?;
    let (rest, hash) = line.split_at_checked(line.len().checked_sub(64)?)?;
    let body = rest.strip_suffix(HASH_FIELD.as_bytes())?;
    body.starts_with(EVENT_INDENT.as_bytes()).then_some((body, hash))
}

fn parse(body: &[u8]) -> Option<Event> {
    serde_json::from_slice(&[body, b"}"].concat()).ok()
}

/// Lines of bounded length, counted.
#[derive(Debug)]
struct TraceLines<R> {
    input: R,
    path: PathBuf,
    /// The line that was read last, without its end.
    line: Vec<u8>,
    number: u64,
    /// Whether the line had no end.
    ended: bool,
}

impl<R: BufRead> TraceLines<R> {
    /// Reads the next line; `false` where there is none.
    fn advance(&mut self) -> Result<bool, TraceError> {
        self.line.clear();
        let limit = MAX_LINE as u64 + 1;
        let read = self.input.by_ref().take(limit).read_until(b'\n', &mut self.line);
        read.map_err(|error: io::Error| TraceError::Read { path: self.path.clone(), error })?;
        if self.line.is_empty() {
            self.ended = true;
            return Ok(false);
        }
        self.number += 1;
        if self.line.last() == Some(&b'\n') {
            self.line.pop();
        } else if self.line.len() as u64 == limit {
            return Err(self
                .wrong(TamperKind::Edited, None, "this line is longer than any that is ever written")
                .into());
        } else {
            self.ended = true;
        }
        Ok(true)
    }

    fn wrong(&self, how: TamperKind, sequence: impl Into<Option<u64>>, what: &str) -> TamperError {
        TamperError::new(how, self.number, sequence, what)
    }

    fn truncated(&self, last: Option<u64>, what: &str) -> TamperError {
        let what = match last {
            Some(last) => format!("nothing whole stands behind event {last}: {what}"),
            None => what.to_owned(),
        };
        TamperError::new(TamperKind::Truncated, self.number, last, what)
    }
}
