//! Records that were made and not reported yet.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::syscall_record::SyscallRecord;
use crate::supervise::WakeEvent;

/// Where records go: into the queue, where somebody is told, and to whoever must know that one was lost.
#[derive(Debug, Clone, Default)]
pub(crate) struct RecordSink {
    pub(super) queue: Option<Arc<RecordQueue>>,
    /// Woken up when something that must be told could not be.
    pub(super) required: Option<Arc<WakeEvent>>,
}

impl RecordSink {
    /// Whether anybody is told.
    pub(super) fn is_heard(&self) -> bool {
        self.queue.is_some()
    }

    pub(super) fn record(&self, record: SyscallRecord) {
        let has_room = self.queue.as_ref().is_none_or(|queue| queue.push(record));
        if let Some(required) = self.required.as_ref().filter(|_| !has_room) {
            required.signal();
        }
    }

    /// Something was tried, and it could not be seen what.
    pub(super) fn record_miss(&self) {
        if let Some(queue) = &self.queue {
            queue.count_unseen();
        }
        if let Some(required) = &self.required {
            required.signal();
        }
    }
}

/// Most records that wait to be reported.
const MOST: usize = 1 << 16;

/// How long the reporter waits for more before it takes what there is: the listener must not have to wake it up for each record.
const BATCH: Duration = Duration::from_millis(2);

/// Between the thread that observes and the one that reports.
#[derive(Debug, Default)]
pub(crate) struct RecordQueue {
    state: Mutex<QueueState>,
    ready: Condvar,
}

#[derive(Debug, Default)]
struct QueueState {
    waiting: Vec<SyscallRecord>,
    lost: u64,
    /// Of which the reporter knows already.
    reported_lost: u64,
    is_over: bool,
    /// The reporter waits for the first.
    is_idle: bool,
}

/// What was taken out.
#[derive(Debug)]
pub(crate) struct RecordBatch {
    pub(crate) records: Vec<SyscallRecord>,
    /// What did not fit in, after all of `records`.
    pub(crate) lost: u64,
    /// There will be no more.
    pub(crate) is_last: bool,
}

impl RecordQueue {
    fn lock(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether there was room for it.
    pub(crate) fn push(&self, record: SyscallRecord) -> bool {
        let mut state = self.lock();
        if state.waiting.len() >= MOST {
            state.lost += 1;
            return false;
        }
        state.waiting.push(record);
        let is_idle = std::mem::take(&mut state.is_idle);
        drop(state);
        if is_idle {
            self.ready.notify_one();
        }
        true
    }

    /// Counts a call that could not even be read.
    pub(crate) fn count_unseen(&self) {
        let mut state = self.lock();
        state.lost += 1;
        let is_idle = std::mem::take(&mut state.is_idle);
        drop(state);
        if is_idle {
            self.ready.notify_one();
        }
    }

    /// Counts a record that was taken out and could not be reported.
    pub(crate) fn count_unreported(&self) {
        let mut state = self.lock();
        state.lost += 1;
        state.reported_lost += 1;
    }

    /// There will be no more.
    pub(crate) fn close(&self) {
        self.lock().is_over = true;
        self.ready.notify_all();
    }

    /// Waits for something, and takes all there is.
    pub(crate) fn take_all(&self) -> RecordBatch {
        let mut state = self.lock();
        while state.waiting.is_empty() && state.lost == state.reported_lost && !state.is_over {
            state.is_idle = true;
            state = self.ready.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.is_idle = false;
        if !state.is_over {
            let (after, _) = self.ready.wait_timeout(state, BATCH).unwrap_or_else(PoisonError::into_inner);
            state = after;
        }
        let records = std::mem::take(&mut state.waiting);
        let lost = state.lost - state.reported_lost;
        state.reported_lost = state.lost;
        RecordBatch { records, lost, is_last: state.is_over }
    }

    /// How many did not fit in.
    pub(crate) fn lost_count(&self) -> u64 {
        self.lock().lost
    }
}
