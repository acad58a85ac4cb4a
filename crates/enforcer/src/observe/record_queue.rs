//! Records that were made and not reported yet.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::AccessVerdict;
use super::syscall_record::{CallerPath, RecordedAction, SyscallRecord};
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

/// Most bytes that they have together: a program chooses how long its paths and arguments are, and one record may have 70 KiB.
const MOST_BYTES: usize = 32 << 20;

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
    /// What `waiting` takes, about.
    bytes: usize,
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
        let bytes = size(&record);
        let mut state = self.lock();
        if state.waiting.len() >= MOST || state.bytes.saturating_add(bytes) > MOST_BYTES {
            state.lost += 1;
            return false;
        }
        state.bytes += bytes;
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

    /// Waits for something, and takes all there is. What comes next is put into `emptied`, so that nobody who records has to wait for
    /// memory.
    pub(crate) fn take_all(&self, emptied: Vec<SyscallRecord>) -> RecordBatch {
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
        let records = std::mem::replace(&mut state.waiting, emptied);
        state.bytes = 0;
        let lost = state.lost - state.reported_lost;
        state.reported_lost = state.lost;
        RecordBatch { records, lost, is_last: state.is_over }
    }

    /// How many did not fit in.
    pub(crate) fn lost_count(&self) -> u64 {
        self.lock().lost
    }
}

/// About how many bytes a record takes.
fn size(record: &SyscallRecord) -> usize {
    let path = |path: &CallerPath| {
        let base = path.base.as_ref().map_or(0, Vec::capacity);
        let resolved = path.resolved.as_ref().map_or(0, |resolved| resolved.path.as_os_str().len());
        path.text.capacity() + base + resolved
    };
    let own = match &record.action {
        RecordedAction::File { path: from, to, .. } => path(from) + to.as_ref().map_or(0, path),
        RecordedAction::Exec { path: program, arguments } => {
            let texts = arguments.texts.iter().map(|text| text.capacity() + size_of::<Vec<u8>>());
            path(program) + texts.sum::<usize>()
        }
        RecordedAction::Network(attempt) => {
            [&attempt.name, &attempt.server_name].into_iter().flatten().map(String::capacity).sum()
        }
        RecordedAction::Connect { path: socket, verdict } => {
            let rule = match verdict {
                Some(AccessVerdict::Allowed(rule)) => rule.capacity(),
                Some(AccessVerdict::Denied(_) | AccessVerdict::NotThere | AccessVerdict::Unknown(_))
                | None => 0,
            };
            path(socket) + rule
        }
        RecordedAction::ConnectAbstract { name, .. } => name.capacity(),
        RecordedAction::Refused(call) => call.name.capacity(),
    };
    size_of::<SyscallRecord>() + own
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use skillsandbox_terms::FileOperation;

    use super::*;

    #[test]
    fn row_178_the_queue_is_bounded_by_bytes_and_what_does_not_fit_is_counted() {
        let queue = RecordQueue::default();
        let record = |bytes: usize| SyscallRecord {
            at: Instant::now(),
            actor: None,
            action: RecordedAction::File {
                operation: FileOperation::Read,
                path: CallerPath::new(vec![b'x'; bytes], None, true, false),
                to: None,
            },
        };
        let count = 3 * MOST_BYTES / (64 << 10);
        let fitted = (0..count).filter(|_| queue.push(record(64 << 10))).count();
        assert!(fitted * (64 << 10) <= MOST_BYTES && fitted > 0, "{fitted}");
        assert_eq!(queue.lost_count(), (count - fitted) as u64);
        // There is room again when they were taken out.
        let batch = queue.take_all(Vec::new());
        assert_eq!((batch.records.len(), batch.lost), (fitted, (count - fitted) as u64));
        assert!(queue.push(record(64 << 10)));
    }
}
