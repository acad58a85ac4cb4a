//! A run as it happens: a line an event, and what it all came to.

use std::io::{self, Write};

use skillsandbox_text::Keep;

use super::row::{self, EventRow, RowColour, RowLead};
use super::tally::TraceTally;
use super::{RenderOptions, tables};
use crate::{AttackClass, Event, EventKind, TraceSummary};

/// Bytes that are written at once, of many events.
const CHUNK: usize = 64 * 1024;

/// Writes a line for every event when it happens, each in one piece, and drops none. What is done again, reads of the system's libraries and
/// what is only known after the end have no line: the tables at the end count them.
///
/// A skill that prints this view's own lines, moves the cursor or turns text around is shown doing so, on one line of its
/// own: see [`Escape`](super::Escape).
///
/// ```
/// use skillsandbox_tracer::render::{RenderOptions, LiveView};
/// use skillsandbox_tracer::{AttackClass, Event, FileOperation, EventVerdict, EventKind};
///
/// let mut watch = LiveView::new(Vec::new(), RenderOptions::default());
/// let what = EventKind::File { operation: FileOperation::Read, path: "/root/.ssh/id_rsa\r\n".into(), to: None };
/// let event = Event::new(what).with_verdict(EventVerdict::Denied, None);
/// watch.event(&event, &[AttackClass::CredentialHarvesting])?;
/// let shown = String::from_utf8(watch.into_inner()).unwrap();
/// assert_eq!(shown, "[00:00:00.000] 🔒 DENIED  read      /root/.ssh/id_rsa\\r\\n  [CREDENTIAL_HARVESTING]\n");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct LiveView<W: Write> {
    out: W,
    look: RenderOptions,
    tally: TraceTally,
    line: String,
    /// When the run ended, once that was shown.
    ended_us: Option<u64>,
}

impl<W: Write> LiveView<W> {
    /// Writes to `out`, which needs no buffer of its own.
    pub fn new(out: W, look: RenderOptions) -> Self {
        Self { out, look, tally: TraceTally::default(), line: String::new(), ended_us: None }
    }

    /// One event, with the classes it belongs to as far as that is known by now. It is on the screen when this returns.
    pub fn event(&mut self, event: &Event, classes: &[AttackClass]) -> io::Result<()> {
        self.add(event, classes);
        self.write()
    }

    /// Those that are there already, in few writes: for a caller that finds several waiting.
    pub fn events<'a>(
        &mut self,
        events: impl IntoIterator<Item = (&'a Event, &'a [AttackClass])>,
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
    pub fn finish(&mut self, summary: &TraceSummary, notes: &[&str]) -> io::Result<()> {
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
            let mut line = EventRow::new(out, look);
            line.theirs(note, usize::MAX, Keep::Ends, RowColour::Dim);
            line.end();
        }
        self.write()
    }

    /// What was written to.
    pub fn into_inner(self) -> W {
        self.out
    }

    fn add(&mut self, event: &Event, classes: &[AttackClass]) {
        self.tally.add(event);
        // What was done again was shown when it was done first; what is told after the end and happened before it was folded.
        let came_late = self.ended_us.is_some_and(|end| event.elapsed_us <= end);
        if event.repeats.is_some() || event.last_elapsed_us.is_some() || came_late {
            return;
        }
        if matches!(event.kind, EventKind::RunEnded { .. }) {
            self.ended_us = Some(event.elapsed_us);
        }
        row::event(&mut self.line, &self.look, event, classes, RowLead::Live);
    }

    fn write(&mut self) -> io::Result<()> {
        let written = self.out.write_all(self.line.as_bytes()).and_then(|()| self.out.flush());
        // What could not be written is not written twice.
        self.line.clear();
        written
    }
}
