//! A run as it happens: a line an event, and what it all came to.

use std::io::{self, Write};

use skillsandbox_text::Keep;

use super::row::{self, Colour, Lead, Row};
use super::tally::Tally;
use super::{Look, tables};
use crate::{Class, Event, Summary};

/// Bytes that are written at once, of many events.
const CHUNK: usize = 64 * 1024;

/// Writes a line for every event, each in one piece, and drops none.
///
/// A skill that prints this view's own lines, moves the cursor or turns text around is shown doing so, on one line of its
/// own: see [`Escape`](super::Escape).
///
/// ```
/// use skillsandbox_tracer::render::{Look, Watch};
/// use skillsandbox_tracer::{Class, Event, FileOperation, Verdict, What};
///
/// let mut watch = Watch::new(Vec::new(), Look::default());
/// let what = What::File { operation: FileOperation::Read, path: "/root/.ssh/id_rsa\r\n".into(), to: None };
/// let event = Event::new(what).judged(Verdict::Denied, None);
/// watch.event(&event, &[Class::CredentialHarvesting])?;
/// let shown = String::from_utf8(watch.into_inner()).unwrap();
/// assert_eq!(shown, "[00:00:00.000] 🔒 DENIED  read      /root/.ssh/id_rsa\\r\\n  [CREDENTIAL_HARVESTING]\n");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Watch<W: Write> {
    out: W,
    look: Look,
    tally: Tally,
    line: String,
}

impl<W: Write> Watch<W> {
    /// Writes to `out`, which needs no buffer of its own.
    pub fn new(out: W, look: Look) -> Self {
        Self { out, look, tally: Tally::default(), line: String::new() }
    }

    /// One event, with the classes it belongs to as far as that is known by now. It is on the screen when this returns.
    pub fn event(&mut self, event: &Event, classes: &[Class]) -> io::Result<()> {
        self.add(event, classes);
        self.write()
    }

    /// Those that are there already, in few writes: for a caller that finds several waiting.
    pub fn events<'a>(
        &mut self,
        events: impl IntoIterator<Item = (&'a Event, &'a [Class])>,
    ) -> io::Result<()> {
        for (event, classes) in events {
            self.add(event, classes);
            if self.line.len() >= CHUNK {
                self.write()?;
            }
        }
        self.write()
    }

    /// What it came to. `notes` are lines of the caller's own: where the trace is, and its digest.
    pub fn finish(&mut self, summary: &Summary, notes: &[&str]) -> io::Result<()> {
        let (out, look) = (&mut self.line, &self.look);
        tables::counts(out, look, &self.tally);
        tables::violations(out, look, &self.tally);
        tables::network(out, look, &self.tally);
        if !summary.classifications.is_empty() {
            row::heading(out, look, "what it amounts to");
            for found in &summary.classifications {
                tables::classification(out, look, found);
            }
        }
        row::heading(out, look, "result");
        tables::verdict(out, look, summary);
        for note in notes {
            let mut line = Row::new(out, look);
            line.theirs(note, usize::MAX, Keep::Ends, Colour::Dim);
            line.end();
        }
        self.write()
    }

    /// What was written to.
    pub fn into_inner(self) -> W {
        self.out
    }

    fn add(&mut self, event: &Event, classes: &[Class]) {
        self.tally.add(event);
        row::event(&mut self.line, &self.look, event, classes, Lead::Live);
    }

    fn write(&mut self) -> io::Result<()> {
        let written = self.out.write_all(self.line.as_bytes()).and_then(|()| self.out.flush());
        // What could not be written is not written twice.
        self.line.clear();
        written
    }
}
