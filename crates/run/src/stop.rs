//! Ends a run from another thread.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::{fmt, io};

/// Ends a run before its time: given to a run, kept by the caller that may want to end it. Clones are the same handle.
///
/// A run that has not started when it is told to stop does not start.
#[derive(Clone, Default)]
pub struct StopHandle(Arc<Mutex<StopState>>);

/// Signals that tell a run to stop. Nobody waits for them before the run goes on; what comes earlier is asked for.
pub trait StopSignals: Send {
    /// A signal that has come already, if one has. Does not wait.
    fn take_arrived(&mut self) -> Option<i32>;

    /// Waits for signals from now on, in a thread of its own, and tells the handle.
    ///
    /// # Errors
    /// Nobody can wait. The run is ended then: it could not be stopped.
    fn start_waiting(self: Box<Self>, stop: StopHandle) -> io::Result<()>;
}

#[derive(Default)]
struct StopState {
    stopped: bool,
    signal: Option<i32>,
    end: Option<Box<dyn Fn() + Send>>,
    /// Until the run goes on.
    signals: Option<Box<dyn StopSignals>>,
}

impl StopState {
    /// Takes note of a signal for which nobody waits yet.
    fn check_arrived(&mut self) {
        if let Some(signal) = self.signals.as_mut().and_then(|signals| signals.take_arrived()) {
            self.signal.get_or_insert(signal);
            self.stopped = true;
        }
    }
}

impl StopHandle {
    /// A handle for one run.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A handle for one run, which these signals end too.
    #[must_use]
    pub fn with_signals(signals: impl StopSignals + 'static) -> Self {
        let state = StopState { signals: Some(Box::new(signals)), ..StopState::default() };
        Self(Arc::new(Mutex::new(state)))
    }

    fn state(&self) -> MutexGuard<'_, StopState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the run, with all its processes. Returns at once.
    pub fn stop(&self) {
        let mut state = self.state();
        state.stopped = true;
        if let Some(end) = &state.end {
            end();
        }
    }

    /// The same because this program was sent a signal: the run's exit code says which.
    pub fn stop_for_signal(&self, signal: i32) {
        self.state().signal.get_or_insert(signal);
        self.stop();
    }

    /// The signal for which it was told to stop.
    pub(crate) fn signal(&self) -> Option<i32> {
        self.state().signal
    }

    /// Whether the run was told to stop.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        let mut state = self.state();
        state.check_arrived();
        state.stopped
    }

    /// How the run is ended, now that it goes on. One that was told to stop before is ended at once.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "nothing runs there yet"))]
    pub(crate) fn runs(&self, end: impl Fn() + Send + 'static) {
        let mut state = self.state();
        if state.stopped {
            end();
        }
        state.end = Some(Box::new(end));
        let signals = state.signals.take();
        // Who waits may tell this handle at once.
        drop(state);
        if let Some(signals) = signals
            && signals.start_waiting(self.clone()).is_err()
        {
            self.stop();
        }
    }

    /// The run has ended.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "nothing runs there yet"))]
    pub(crate) fn ended(&self) {
        self.state().end = None;
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

    /// Signals that came, or that nobody can wait for; and how often somebody began to wait.
    struct TestSignals(Option<i32>, bool, Arc<AtomicUsize>);

    impl StopSignals for TestSignals {
        fn take_arrived(&mut self) -> Option<i32> {
            self.0.take()
        }

        fn start_waiting(self: Box<Self>, stop: StopHandle) -> io::Result<()> {
            self.2.fetch_add(1, Ordering::SeqCst);
            if let Some(signal) = self.0 {
                stop.stop_for_signal(signal);
            }
            if self.1 { Ok(()) } else { Err(io::Error::other("no more threads")) }
        }
    }

    #[test]
    fn a_signal_before_the_run_counts_though_nobody_waits_yet() {
        let waits = Arc::new(AtomicUsize::new(0));
        let stop = StopHandle::with_signals(TestSignals(Some(15), true, Arc::clone(&waits)));
        assert!(stop.is_stopped() && stop.is_stopped());
        assert_eq!((stop.signal(), waits.load(Ordering::SeqCst)), (Some(15), 0));
    }

    #[test]
    fn signals_are_waited_for_once_the_run_goes_on() {
        let ends = Arc::new(AtomicUsize::new(0));
        let waits = Arc::new(AtomicUsize::new(0));
        let ended = Arc::clone(&ends);
        let stop = StopHandle::with_signals(TestSignals(Some(2), true, Arc::clone(&waits)));
        stop.runs(move || _ = ended.fetch_add(1, Ordering::SeqCst));
        assert_eq!((waits.load(Ordering::SeqCst), ends.load(Ordering::SeqCst)), (1, 1));
        assert_eq!(stop.signal(), Some(2));
        stop.runs(|| ());
        assert_eq!(waits.load(Ordering::SeqCst), 1, "once");
    }

    #[test]
    fn a_run_that_no_signal_could_end_is_ended() {
        let ends = Arc::new(AtomicUsize::new(0));
        let ended = Arc::clone(&ends);
        let stop = StopHandle::with_signals(TestSignals(None, false, Arc::default()));
        stop.runs(move || _ = ended.fetch_add(1, Ordering::SeqCst));
        assert_eq!(ends.load(Ordering::SeqCst), 1);
        assert!(stop.is_stopped());
    }
}
