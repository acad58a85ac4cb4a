//! Ends a run from another thread.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// Ends a run before its time: given to a run, kept by the caller that may want to end it. Clones are the same handle.
///
/// A run that has not started when it is told to stop does not start.
#[derive(Clone, Default)]
pub struct StopHandle(Arc<Mutex<StopState>>);

#[derive(Default)]
struct StopState {
    stopped: bool,
    signal: Option<i32>,
    end: Option<Box<dyn Fn() + Send>>,
}

impl StopHandle {
    /// A handle for one run.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Ends the run, with all its processes. Returns at once.
    pub fn stop(&self) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.stopped = true;
        if let Some(end) = &state.end {
            end();
        }
    }

    /// The same because this program was sent a signal: the run's exit code says which.
    pub fn stop_for_signal(&self, signal: i32) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).signal.get_or_insert(signal);
        self.stop();
    }

    /// The signal for which it was told to stop.
    pub(crate) fn signal(&self) -> Option<i32> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).signal
    }

    /// Whether the run was told to stop.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).stopped
    }

    /// How the run is ended, now that it goes on. One that was told to stop before is ended at once.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "nothing runs there yet"))]
    pub(crate) fn runs(&self, end: impl Fn() + Send + 'static) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if state.stopped {
            end();
        }
        state.end = Some(Box::new(end));
    }

    /// The run has ended.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "nothing runs there yet"))]
    pub(crate) fn ended(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).end = None;
    }
}

impl fmt::Debug for StopHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StopHandle").field("stopped", &self.is_stopped()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn a_run_is_ended_whether_it_began_before_or_after() {
        let count = Arc::new(AtomicUsize::new(0));
        let end = |count: &Arc<AtomicUsize>| {
            let count = Arc::clone(count);
            move || {
                count.fetch_add(1, Ordering::SeqCst);
            }
        };
        let stop = StopHandle::new();
        stop.runs(end(&count));
        assert!(!stop.is_stopped());
        stop.clone().stop();
        assert_eq!(count.load(Ordering::SeqCst), 1);
        stop.runs(end(&count));
        assert_eq!(count.load(Ordering::SeqCst), 2);
        stop.ended();
        stop.stop();
        assert_eq!(count.load(Ordering::SeqCst), 2);
    }
}
