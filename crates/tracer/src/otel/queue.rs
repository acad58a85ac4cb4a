//! Spans on their way: a bounded queue, and the thread that empties it.
//!
//! Whoever puts a span in never waits. Whoever wants to know how it went waits until a moment that was set beforehand, and the thread
//! is left to itself after that: what it is waiting for then has a timeout of its own.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use opentelemetry_sdk::trace::SpanData;

/// The most bytes that wait, about: a queue of long command lines is no longer in memory than one of short ones.
pub(super) const QUEUE_BYTES: usize = 8 * 1024 * 1024;
/// The most bytes of a request, about. Collectors often take no more than 4 MiB.
const BATCH_BYTES: usize = 2 * 1024 * 1024;

/// A span, and about how many bytes it takes.
#[derive(Debug)]
pub(super) struct QueuedSpan {
    pub(super) span: SpanData,
    pub(super) bytes: usize,
}

/// What the run, the thread and whoever waits for both have in common.
#[derive(Debug)]
pub(super) struct SpanQueue {
    most: usize,
    batch: usize,
    delay: Duration,
    state: Mutex<SpanQueueState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct SpanQueueState {
    spans: VecDeque<QueuedSpan>,
    bytes: usize,
    /// In a request that nobody answered yet.
    in_flight: u64,
    delivered: u64,
    dropped: u64,
    error: Option<String>,
    /// Until when the rest may be sent; set when the run ends.
    until: Option<Instant>,
    /// Nobody waits any more.
    abandoned: bool,
    /// The thread is gone.
    stopped: bool,
}

/// How it went so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DeliveryCounts {
    pub(super) delivered: u64,
    pub(super) dropped: u64,
    pub(super) error: Option<String>,
    /// Spans whose fate was not known when the time was over.
    pub(super) unknown: u64,
}

impl SpanQueue {
    pub(super) fn new(most: usize, batch: usize, delay: Duration) -> Self {
        Self { most, batch: batch.max(1), delay, state: Mutex::default(), changed: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, SpanQueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a span in, or counts it as dropped. What was denied may fill all of the room, anything else half: noise cannot keep what
    /// matters out.
    pub(super) fn offer(&self, queued: QueuedSpan, matters: bool) {
        let mut state = self.lock();
        let (most, bytes) =
            if matters { (self.most, QUEUE_BYTES) } else { (self.most.div_ceil(2), QUEUE_BYTES / 2) };
        if state.spans.len() >= most || state.bytes + queued.bytes > bytes || state.stopped || state.abandoned
        {
            state.dropped += 1;
            return;
        }
        state.bytes += queued.bytes;
        state.spans.push_back(queued);
        if state.spans.len() >= self.batch || state.bytes >= BATCH_BYTES {
            drop(state);
            self.changed.notify_all();
        }
    }

    /// The last span, which is the one that says most: it goes first, and there is always room for it.
    pub(super) fn end(&self, root: Option<QueuedSpan>, until: Instant) {
        let mut state = self.lock();
        if let Some(root) = root {
            state.bytes += root.bytes;
            state.spans.push_front(root);
        }
        state.until.get_or_insert(until);
        drop(state);
        self.changed.notify_all();
    }

    /// Waits until everything was sent or the time is over, and says how it went. Nothing is counted after that.
    pub(super) fn settle(&self, otherwise: Instant) -> DeliveryCounts {
        let mut state = self.lock();
        let until = *state.until.get_or_insert(otherwise);
        self.changed.notify_all();
        while !state.stopped {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            state = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        state.abandoned = true;
        self.changed.notify_all();
        let unknown = state.in_flight.saturating_add(state.spans.len() as u64);
        DeliveryCounts {
            delivered: state.delivered,
            dropped: state.dropped,
            error: state.error.clone(),
            unknown,
        }
    }

    /// The moment at which a request that begins now has to be over.
    pub(super) fn limit(&self, timeout: Duration) -> Instant {
        let state = self.lock();
        let limit = Instant::now() + timeout;
        if state.abandoned { Instant::now() } else { state.until.map_or(limit, |until| until.min(limit)) }
    }

    pub(super) fn has_ended(&self) -> bool {
        let state = self.lock();
        state.until.is_some() || state.abandoned
    }

    /// Waits a while before something is tried again. The end of the run ends that, too: then there is less time than was thought.
    pub(super) fn pause(&self, time: Duration) {
        let state = self.lock();
        let had_ended = state.until.is_some();
        let goes_on = |state: &mut SpanQueueState| state.until.is_some() == had_ended && !state.abandoned;
        drop(self.changed.wait_timeout_while(state, time, goes_on).unwrap_or_else(PoisonError::into_inner));
    }

    /// The next spans to send; `None` when there will be no more.
    fn next(&self) -> Option<Vec<SpanData>> {
        let waits = |state: &mut SpanQueueState| {
            state.until.is_none()
                && !state.abandoned
                && state.spans.len() < self.batch
                && state.bytes < BATCH_BYTES
        };
        let mut state = self.lock();
        loop {
            state = self
                .changed
                .wait_timeout_while(state, self.delay, waits)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
            if state.abandoned {
                return None;
            }
            let mut batch = Vec::new();
            let mut bytes = 0;
            while batch.len() < self.batch && (batch.is_empty() || bytes < BATCH_BYTES) {
                let Some(queued) = state.spans.pop_front() else { break };
                bytes += queued.bytes;
                batch.push(queued.span);
            }
            state.bytes = state.bytes.saturating_sub(bytes);
            if !batch.is_empty() {
                state.in_flight = batch.len() as u64;
                return Some(batch);
            }
            if state.until.is_some() {
                return None;
            }
        }
    }

    /// A request was answered, or given up: so many of its spans were not taken, for this reason.
    fn sent(&self, refused: u64, why: Option<String>) {
        let mut state = self.lock();
        let all = std::mem::take(&mut state.in_flight);
        let refused = refused.min(all);
        state.delivered += all - refused;
        state.dropped += refused;
        if why.is_some() {
            state.error = why;
        }
    }

    /// What the thread does: sends batch after batch. `send` answers how many of them were not taken, and why.
    pub(super) fn work(self: &Arc<Self>, mut send: impl FnMut(Vec<SpanData>) -> (u64, Option<String>)) {
        let _gone = ThreadGone(self);
        while let Some(batch) = self.next() {
            let (refused, why) = send(batch);
            self.sent(refused, why);
        }
    }
}

/// Says that the thread is gone, however it went.
struct ThreadGone<'a>(&'a SpanQueue);

impl Drop for ThreadGone<'_> {
    fn drop(&mut self) {
        self.0.lock().stopped = true;
        self.0.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::otel::spans::empty;

    fn span(bytes: usize) -> QueuedSpan {
        QueuedSpan { span: empty(), bytes }
    }

    fn queue(most: usize) -> Arc<SpanQueue> {
        Arc::new(SpanQueue::new(most, 2, Duration::from_mins(1)))
    }

    fn far() -> Instant {
        Instant::now() + Duration::from_mins(1)
    }

    #[test]
    fn noise_fills_half_of_the_queue_and_what_was_denied_all_of_it() {
        let queue = queue(10);
        (0..100).for_each(|_| queue.offer(span(1), false));
        assert_eq!(queue.lock().spans.len(), 5);
        (0..100).for_each(|_| queue.offer(span(1), true));
        assert_eq!(queue.lock().spans.len(), 10);
        queue.end(Some(span(1)), far());
        assert_eq!(queue.lock().spans.len(), 11);
        assert_eq!(queue.lock().dropped, 190);
        assert_eq!(queue.lock().bytes, 11);
    }

    #[test]
    fn few_long_spans_fill_it_too() {
        let queue = queue(1000);
        (0..100).for_each(|_| queue.offer(span(QUEUE_BYTES / 10), true));
        assert_eq!(queue.lock().spans.len(), 10);
        assert_eq!(queue.lock().dropped, 90);
    }

    #[test]
    fn all_that_waits_is_sent_in_batches_the_root_first() {
        let queue = queue(100);
        (0..5).for_each(|_| queue.offer(span(1), true));
        let mut root = span(1);
        root.span.name = "root".into();
        queue.end(Some(root), far());
        let mut batches = Vec::new();
        queue.work(|batch| {
            batches.push(batch.iter().map(|span| span.name.to_string()).collect::<Vec<_>>());
            (0, None)
        });
        assert_eq!(batches, [["root", ""], ["", ""], ["", ""]]);
        let expected = DeliveryCounts { delivered: 6, dropped: 0, error: None, unknown: 0 };
        assert_eq!(queue.settle(far()), expected);
        assert_eq!(queue.lock().bytes, 0);
    }

    #[test]
    fn a_large_span_is_a_batch_of_its_own() {
        let queue = Arc::new(SpanQueue::new(100, 100, Duration::from_mins(1)));
        (0..3).for_each(|_| queue.offer(span(BATCH_BYTES), true));
        queue.end(None, far());
        let mut sizes = Vec::new();
        queue.work(|batch| {
            sizes.push(batch.len());
            (0, None)
        });
        assert_eq!(sizes, [1, 1, 1]);
    }

    #[test]
    fn what_was_refused_is_counted_and_the_last_reason_kept() {
        let queue = queue(100);
        (0..4).for_each(|_| queue.offer(span(1), true));
        queue.end(None, far());
        let mut answers = [(1, Some("one".to_owned())), (u64::MAX, Some("all".to_owned()))].into_iter();
        queue.work(|_| answers.next().unwrap());
        let expected = DeliveryCounts { delivered: 1, dropped: 3, error: Some("all".to_owned()), unknown: 0 };
        assert_eq!(queue.settle(far()), expected);
    }

    #[test]
    fn nobody_waits_for_a_thread_that_broke() {
        let queue = queue(100);
        (0..4).for_each(|_| queue.offer(span(1), true));
        queue.end(None, far());
        let worker = Arc::clone(&queue);
        let broke = std::thread::spawn(move || worker.work(|_| panic!("as a test"))).join();
        assert!(broke.is_err());
        assert_eq!(queue.settle(far()).unknown, 4);
    }

    #[test]
    fn what_is_not_sent_in_time_is_not_known() {
        let queue = queue(100);
        (0..4).for_each(|_| queue.offer(span(1), true));
        queue.end(None, Instant::now());
        assert_eq!(queue.settle(far()).unknown, 4);
        // And the thread, should it still be there, sends nothing more.
        queue.work(|_| panic!("sent after the end"));
    }
}
