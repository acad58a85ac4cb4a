//! What was seen and not told yet.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::syscall_record::Raw;

/// Most that waits to be told.
const MOST: usize = 1 << 16;

/// How long the desk waits for more before it takes what there is: who puts something in must not have to wake somebody up each time.
const BATCH: Duration = Duration::from_millis(2);

/// Between the thread that sees and the one that tells.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    state: Mutex<State>,
    ready: Condvar,
}

#[derive(Debug, Default)]
struct State {
    waiting: Vec<Raw>,
    lost: u64,
    /// Of which the desk knows already.
    told_lost: u64,
    is_over: bool,
    /// Somebody waits for the first.
    is_idle: bool,
}

/// What was taken out.
#[derive(Debug)]
pub(crate) struct Batch {
    pub(crate) seen: Vec<Raw>,
    /// What did not fit in, after all of `seen`.
    pub(crate) lost: u64,
    /// There will be no more.
    pub(crate) is_last: bool,
}

impl Queue {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether there was room for it.
    pub(crate) fn put(&self, raw: Raw) -> bool {
        let mut state = self.state();
        if state.waiting.len() >= MOST {
            state.lost += 1;
            return false;
        }
        state.waiting.push(raw);
        let is_idle = std::mem::take(&mut state.is_idle);
        drop(state);
        if is_idle {
            self.ready.notify_one();
        }
        true
    }

    /// Something could not even be seen.
    pub(crate) fn miss(&self) {
        let mut state = self.state();
        state.lost += 1;
        let is_idle = std::mem::take(&mut state.is_idle);
        drop(state);
        if is_idle {
            self.ready.notify_one();
        }
    }

    /// One that was taken out could not be told.
    pub(crate) fn lose(&self) {
        let mut state = self.state();
        state.lost += 1;
        state.told_lost += 1;
    }

    /// There will be no more.
    pub(crate) fn close(&self) {
        self.state().is_over = true;
        self.ready.notify_all();
    }

    /// Waits for something, and takes all there is.
    pub(crate) fn take(&self) -> Batch {
        let mut state = self.state();
        while state.waiting.is_empty() && state.lost == state.told_lost && !state.is_over {
            state.is_idle = true;
            state = self.ready.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.is_idle = false;
        if !state.is_over {
            let (after, _) = self.ready.wait_timeout(state, BATCH).unwrap_or_else(PoisonError::into_inner);
            state = after;
        }
        let seen = std::mem::take(&mut state.waiting);
        let lost = state.lost - state.told_lost;
        state.told_lost = state.lost;
        Batch { seen, lost, is_last: state.is_over }
    }

    /// How many did not fit in.
    pub(crate) fn lost(&self) -> u64 {
        self.state().lost
    }
}
