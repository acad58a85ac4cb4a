//! `--watch`: a line an event, as it happens.
//!
//! A terminal that is slow, or stopped, is no reason for the run to wait or for the trace to lose something: lines are written by a thread of
//! their own, and those for which it has no room are counted.

use std::io::IsTerminal as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use skillsandbox_run::RunReport;
use skillsandbox_tracer::render::{LiveView, RenderOptions, TextStyle};
use skillsandbox_tracer::{AttackClass, Event, EventSink, TraceSummary};

/// Events that may wait to be written.
const ROOM: usize = 16 * 1024;
/// Bytes of text that those may have together: an event may have 64 KiB.
const ROOM_BYTES: u64 = 16 << 20;
/// How long a line waits for one that happened before it and is told of later.
const SETTLE: Duration = Duration::from_millis(40);
/// Events that are written at once, where several wait.
const AT_ONCE: usize = 256;

enum LiveMessage {
    Event(Box<Event>, Option<AttackClass>),
    End(Box<TraceSummary>, Vec<String>),
}

struct LiveSink {
    to: SyncSender<LiveMessage>,
    waiting: Arc<AtomicU64>,
    dropped: Arc<AtomicU64>,
}

impl EventSink for LiveSink {
    fn event(&mut self, event: &Event, class: Option<AttackClass>) {
        let bytes = event.text_bytes();
        if self.waiting.fetch_add(bytes, Ordering::Relaxed) > ROOM_BYTES {
            self.waiting.fetch_sub(bytes, Ordering::Relaxed);
            self.dropped.fetch_add(1, Ordering::Relaxed);
            return;
        }
        if let Err(TrySendError::Full(_)) =
            self.to.try_send(LiveMessage::Event(Box::new(event.clone()), class))
        {
            self.waiting.fetch_sub(bytes, Ordering::Relaxed);
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// The thread that writes.
pub(super) struct LiveDisplay {
    to: SyncSender<LiveMessage>,
    dropped: Arc<AtomicU64>,
    thread: JoinHandle<()>,
}

/// A sink for the run, and a handle to end it with.
pub(super) fn start() -> anyhow::Result<(Box<dyn EventSink>, LiveDisplay)> {
    let (to, told) = sync_channel(ROOM);
    let dropped = Arc::new(AtomicU64::new(0));
    let thread = std::thread::Builder::new().name("skillsandbox-view".into());
    let waiting = Arc::new(AtomicU64::new(0));
    let written = Arc::clone(&waiting);
    let thread = thread.spawn(move || write(&told, &written)).context("cannot start a thread")?;
    let live = LiveSink { to: to.clone(), waiting, dropped: Arc::clone(&dropped) };
    Ok((Box::new(live), LiveDisplay { to, dropped, thread }))
}

fn write(told: &Receiver<LiveMessage>, room: &AtomicU64) {
    let mut look = RenderOptions::default().style(TextStyle::Colour).zone(jiff::tz::TimeZone::system());
    if std::io::stderr().is_terminal()
        && let Some((width, _)) = terminal_size::terminal_size_of(std::io::stderr())
    {
        look = look.columns(width.0.into());
    }
    // It takes the colours out again where they are not wanted.
    let mut watch = LiveView::new(anstream::stderr(), look);
    let mut waiting: Vec<WaitingLine> = Vec::new();
    loop {
        let first = if waiting.is_empty() {
            told.recv().map_err(|_| RecvTimeoutError::Disconnected)
        } else {
            told.recv_timeout(SETTLE)
        };
        let is_over = matches!(first, Err(RecvTimeoutError::Disconnected));
        let mut end = None;
        for next in first.into_iter().chain(told.try_iter().take(AT_ONCE)) {
            match next {
                LiveMessage::Event(event, class) => {
                    waiting.push(WaitingLine { since: Instant::now(), event, class });
                }
                LiveMessage::End(summary, notes) => end = Some((summary, notes)),
            }
        }
        // Several threads tell of what they see: a line stands where it belongs by its time.
        waiting.sort_by_key(|line| line.event.time);
        let ready = if end.is_some() || is_over {
            waiting.len()
        } else {
            waiting.iter().rposition(|line| line.since.elapsed() >= SETTLE).map_or(0, |last| last + 1)
        };
        let lines: Vec<WaitingLine> = waiting.drain(..ready).collect();
        for line in &lines {
            room.fetch_sub(line.event.text_bytes(), Ordering::Relaxed);
        }
        let events = lines.iter().map(|line| (line.event.as_ref(), line.class.as_slice()));
        // Nobody reads any more: the trace is written all the same.
        if watch.events(events).is_err() {
            return;
        }
        if let Some((summary, notes)) = end {
            let notes: Vec<&str> = notes.iter().map(String::as_str).collect();
            let _ = watch.finish(&summary, &notes);
            return;
        }
        if is_over {
            return;
        }
    }
}

/// A line that may have to wait for one that happened before it.
struct WaitingLine {
    since: Instant,
    event: Box<Event>,
    class: Option<AttackClass>,
}

impl LiveDisplay {
    /// Writes what it all came to, and waits until that is on the screen.
    pub(super) fn finish(self, report: &RunReport) {
        let mut notes = super::summary::notes(report);
        if let count @ 1.. = self.dropped.load(Ordering::Relaxed) {
            notes.push(format!("{count} lines were not shown, for they came too fast; the trace has them"));
        }
        let summary = Box::new(report.summary.clone());
        if self.to.send(LiveMessage::End(summary, notes)).is_ok() {
            let _ = self.thread.join();
        }
    }
}
