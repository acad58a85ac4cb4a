//! What a run talks to: it says what happens, and every place that wants to know is told, in the same order.
//!
//! ```text
//! event ──► clock ──► redaction ──► bounds ──► folding ──► place ──► file ──► classification ──► sinks
//! ```

use std::borrow::Cow;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use jiff::Timestamp;
use skillsandbox_text::{NextWord, Redactor, redact_named_values};

use crate::classify::Classifier;
use crate::format::bounds;
use crate::format::chain::TraceDigest;
use crate::format::error::TraceError;
use crate::format::event::{Event, EventKind, EventVerdict};
use crate::format::tally::EventTally;
use crate::format::trace::{AttackClass, Classification, TraceHeader, TraceSummary};
use crate::format::writer::TraceWriter;
use crate::record::fold::{EventFolder, FoldMode, FoldStep};

/// How long the file of a trace may get, unless something else is asked for: 200,000 events, more than anybody reads.
pub const MAX_FILE: u64 = 64 * 1024 * 1024;

/// Wants to know what happens while it happens: a live view, an exporter.
///
/// Nothing that a sink does reaches the run: it has no way to report an error, and one that panics is not asked again. A sink that
/// waits makes the run wait; one that talks to a network must have a queue of its own.
///
/// A sink hears of everything at once, the first time it happens. What repeats it comes later as one event that has
/// [`Event::repeats`]; what it repeats was told before.
pub trait EventSink: Send {
    /// The run begins.
    fn begin(&mut self, header: &TraceHeader) {
        let _ = header;
    }
    /// Something happened, and this is what it looks like.
    fn event(&mut self, event: &Event, class: Option<AttackClass>);
    /// The run has ended.
    fn end(&mut self, summary: &TraceSummary) {
        let _ = summary;
    }
}

/// Says what attempts amount to.
pub trait Classify: Send {
    /// Something happened. What it looks like by itself, for the live view.
    fn observe(&mut self, event: &Event) -> Option<AttackClass>;
    /// What all of it amounts to.
    fn finish(self: Box<Self>) -> Vec<Classification>;
}

/// Takes secrets out of texts.
pub trait Redact: Send {
    /// The text without secrets.
    fn redact<'t>(&self, text: &'t str) -> Cow<'t, str>;
}

/// Records one run.
pub struct Recorder {
    started: Instant,
    began: Timestamp,
    writer: Option<TraceWriter>,
    sinks: Vec<Box<dyn EventSink>>,
    redact: Option<Box<dyn Redact>>,
    classify: Option<Box<dyn Classify>>,
    folder: EventFolder,
    tally: EventTally,
    next: u64,
    max_file: u64,
    /// Where it was written that events are not written any more, and how many were not.
    lost: Option<(u64, u64)>,
    /// How many that event itself stands for.
    first_lost: u64,
    incomplete: Vec<String>,
    error: Option<TraceError>,
}

/// What is left of a run when it is recorded.
#[derive(Debug)]
#[non_exhaustive]
pub struct RecordedTrace {
    /// What it amounts to.
    pub summary: TraceSummary,
    /// The digest of the trace, where one was written to its end. Worth printing: kept elsewhere, it shows a trace that was
    /// written anew.
    pub digest: Option<TraceDigest>,
    /// Why the trace was not written to its end.
    pub error: Option<TraceError>,
}

impl Recorder {
    /// Records a run that begins now: to a file, where there is one, and to the sinks.
    #[must_use]
    pub fn new(header: &TraceHeader, writer: Option<TraceWriter>, sinks: Vec<Box<dyn EventSink>>) -> Self {
        let next = writer.as_ref().map_or(0, TraceWriter::next_sequence);
        let mut recorder = Self {
            started: Instant::now(),
            began: header.started,
            writer,
            sinks,
            redact: None,
            classify: None,
            folder: EventFolder::new(FoldMode::default()),
            tally: EventTally::default(),
            next,
            max_file: MAX_FILE,
            lost: None,
            first_lost: 0,
            incomplete: Vec::new(),
            error: None,
        };
        recorder.tell(|sink| sink.begin(header));
        recorder
    }

    /// What is folded.
    #[must_use]
    pub fn fold(mut self, fold: FoldMode) -> Self {
        self.folder = EventFolder::new(fold);
        self
    }

    /// Takes secrets out of every text, before anybody else sees it.
    #[must_use]
    pub fn redact(mut self, redact: Box<dyn Redact>) -> Self {
        self.redact = Some(redact);
        self
    }

    /// Says what the attempts amount to.
    #[must_use]
    pub fn classify(mut self, classify: Box<dyn Classify>) -> Self {
        self.classify = Some(classify);
        self
    }

    /// How long the file may get, in bytes, but for its end. What was prevented, or is unknown, may fill all of it, anything else half: noise
    /// cannot keep what matters out. What is not written is counted as lost, and still classified and told to the sinks.
    #[must_use]
    pub fn max_file(mut self, bytes: u64) -> Self {
        self.max_file = bytes;
        self
    }

    /// Something happened: now, unless the event says when.
    pub fn record(&mut self, mut event: Event) {
        if event.time == Timestamp::UNIX_EPOCH {
            event.elapsed_us = micros(self.started.elapsed());
            let elapsed = jiff::SignedDuration::from_micros(event.elapsed_us.try_into().unwrap_or(i64::MAX));
            event.time = self.began.checked_add(elapsed).unwrap_or(Timestamp::MAX);
        }
        if let Some(redact) = &self.redact {
            redact_named_arguments(&mut event);
            bounds::each_text(&mut event, |text| redacted(redact.as_ref(), text));
        }
        bounds::shorten(&mut event);
        match self.folder.take(&event) {
            FoldStep::Pass => {
                self.place(event);
            }
            FoldStep::Write(key) => {
                if let Some(event) = self.place(event) {
                    self.folder.wrote(key, event);
                }
            }
            FoldStep::Counted => {}
        }
        if self.folder.is_full() {
            self.unfold();
        }
    }

    /// Not everything that was tried is in the trace, for this reason.
    pub fn mark_incomplete(&mut self, because: impl Into<String>) {
        let because = because.into();
        if !self.incomplete.contains(&because) && self.incomplete.len() < 64 {
            self.incomplete.push(because);
        }
    }

    /// When its clock was started.
    #[must_use]
    pub fn started(&self) -> Instant {
        self.started
    }

    /// The place that the next event gets.
    #[must_use]
    pub fn next_sequence(&self) -> u64 {
        self.next
    }

    /// The run has ended: writes what was folded, what it amounts to, and the end of the file.
    #[must_use]
    pub fn finish(mut self) -> RecordedTrace {
        self.unfold();
        if let Some((_, more)) = self.lost {
            let count = more.saturating_add(self.first_lost);
            let limit = self.max_file;
            self.mark_incomplete(format!(
                "{count} events were left out of the trace, which reached its limit of {limit} bytes"
            ));
        }
        if let Some((place, more @ 1..)) = self.lost {
            let mut event = Event::new(EventKind::Lost { at: "trace".to_owned() });
            event.count = more;
            event.repeats = Some(place);
            event.elapsed_us = micros(self.started.elapsed());
            event.time = Timestamp::now();
            self.lost = None;
            self.write(event);
        }
        let mut summary = TraceSummary {
            duration_us: micros(self.started.elapsed()),
            classifications: self.classifications(),
            ..TraceSummary::default()
        };
        if let Some(error) = &self.error {
            let because = error.to_string();
            self.mark_incomplete(because);
        }
        summary.incomplete_because = std::mem::take(&mut self.incomplete);
        if let Some(redact) = &self.redact {
            let messages = summary.classifications.iter_mut().map(|found| &mut found.message);
            messages.chain(&mut summary.incomplete_because).for_each(|text| redacted(redact.as_ref(), text));
        }
        bounds::shorten_summary(&mut summary);
        self.tally.complete(&mut summary);
        let mut digest = None;
        match self.writer.take().filter(|_| self.error.is_none()).map(|writer| writer.finish(summary.clone()))
        {
            Some(Ok(made)) => digest = Some(made),
            Some(Err(error)) => {
                summary.incomplete_because.push(error.to_string());
                summary.complete = false;
                self.error = Some(error);
            }
            None => {}
        }
        self.tell(|sink| sink.end(&summary));
        RecordedTrace { summary, digest, error: self.error.take() }
    }

    fn unfold(&mut self) {
        for event in self.folder.drain() {
            self.place(event);
        }
    }

    /// Gives an event its place, and tells everybody. `None` where the file has no more room for it.
    fn place(&mut self, event: Event) -> Option<Event> {
        let Some(writer) = &self.writer else { return Some(self.write(event)) };
        let matters = event.is_violation() || event.verdict == Some(EventVerdict::Unknown);
        let room = if matters { self.max_file } else { self.max_file / 2 };
        if writer.bytes() < room || is_essential(&event) {
            return Some(self.write(event));
        }
        let (place, count) = if let Some((place, count)) = self.lost {
            (place, count.saturating_add(event.count))
        } else {
            let mut note = Event::new(EventKind::Lost { at: "trace".to_owned() });
            (note.time, note.elapsed_us, note.count) = (event.time, event.elapsed_us, event.count);
            self.first_lost = event.count;
            (self.write(note).sequence, 0)
        };
        self.lost = Some((place, count));
        // It has no place: the one that says so stands for it.
        let mut event = event;
        event.sequence = place;
        self.announce(&event);
        None
    }

    fn write(&mut self, mut event: Event) -> Event {
        event.sequence = self.next;
        event.repeats = event.repeats.filter(|first| *first < self.next);
        self.next += 1;
        self.tally.count(&event);
        if let (Some(writer), None) = (&mut self.writer, &self.error) {
            // A file that cannot be written does not keep the others from being told.
            self.error = writer.write_numbered(&event).err();
        }
        self.announce(&event);
        event
    }

    fn announce(&mut self, event: &Event) {
        let observed =
            self.classify.as_mut().map(|classify| catch_unwind(AssertUnwindSafe(|| classify.observe(event))));
        let class = match observed {
            Some(Ok(class)) => class,
            Some(Err(_)) => {
                self.classify = None;
                self.mark_incomplete(NOT_CLASSIFIED);
                None
            }
            None => None,
        };
        self.tell(|sink| sink.event(event, class));
    }

    fn classifications(&mut self) -> Vec<Classification> {
        let Some(classify) = self.classify.take() else { return Vec::new() };
        catch_unwind(AssertUnwindSafe(|| classify.finish())).unwrap_or_else(|_| {
            self.mark_incomplete(NOT_CLASSIFIED);
            Vec::new()
        })
    }

    fn tell(&mut self, mut with: impl FnMut(&mut dyn EventSink)) {
        self.sinks.retain_mut(|sink| catch_unwind(AssertUnwindSafe(|| with(sink.as_mut()))).is_ok());
    }
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder")
            .field("writer", &self.writer)
            .field("next", &self.next)
            .finish_non_exhaustive()
    }
}

/// Events are of strangers' making. Should one of them ever break the classification, the trace goes on, and says so.
const NOT_CLASSIFIED: &str = "the classification broke down; what was tried is not classified";

/// What a name gives away in the arguments of a program, as the history has it: `--token x`, `API_KEY=x`.
fn redact_named_arguments(event: &mut Event) {
    let (EventKind::Exec { argv: words, .. } | EventKind::RunStarted { command: words }) = &mut event.kind
    else {
        return;
    };
    let mut next = NextWord::Plain;
    for word in words {
        let named = redact_named_values(word, &mut next);
        if named != *word {
            *word = named;
        }
    }
}

fn redacted(redact: &dyn Redact, text: &mut String) {
    if let Cow::Owned(redacted) = redact.redact(text) {
        *text = redacted;
    }
}

/// What a trace has few of, and is none without.
fn is_essential(event: &Event) -> bool {
    matches!(
        event.kind,
        EventKind::RunStarted { .. }
            | EventKind::Policy { .. }
            | EventKind::ResourceLimitHit { .. }
            | EventKind::Lost { .. }
            | EventKind::RunEnded { .. }
    )
}

fn micros(duration: std::time::Duration) -> u64 {
    duration.as_micros().try_into().unwrap_or(u64::MAX)
}

impl Classify for Classifier {
    fn observe(&mut self, event: &Event) -> Option<AttackClass> {
        Self::observe(self, event)
    }

    fn finish(self: Box<Self>) -> Vec<Classification> {
        Self::finish(*self)
    }
}

impl Redact for std::sync::Arc<Redactor> {
    fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        Redactor::redact(self, text)
    }
}
