//! How many skills run and wait, and how all of them end.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use skillsandbox_run::StopHandle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use crate::answer::ToolProblem;

/// Most calls that wait for a slot. An agent asks for a handful at once; more is a flood, and each holds its arguments.
const MOST_WAITING: usize = 64;

/// The runs of a server.
#[derive(Debug, Clone)]
pub(crate) struct SkillRunSlots(Arc<SlotState>);

#[derive(Debug)]
struct SlotState {
    slots: Arc<Semaphore>,
    most: usize,
    state: Mutex<RunningState>,
    closed: watch::Sender<bool>,
}

#[derive(Debug, Default)]
struct RunningState {
    waiting: usize,
    next: u64,
    running: HashMap<u64, StopHandle>,
}

/// Ends a server from elsewhere: its running skills, and then itself.
#[derive(Debug, Clone)]
pub struct ServerShutdown(SkillRunSlots);

impl ServerShutdown {
    /// Ends every skill that runs, with all its processes, and the server. Returns at once.
    pub fn close(&self) {
        self.0.close();
    }
}

/// A run that has its slot; given back when it is dropped.
#[derive(Debug)]
pub(crate) struct SkillRunSlot {
    runs: SkillRunSlots,
    number: u64,
    stop: StopHandle,
    _permit: OwnedSemaphorePermit,
}

impl SkillRunSlots {
    pub(crate) fn new(most: usize) -> Self {
        let (closed, _) = watch::channel(false);
        let slots = Arc::new(Semaphore::new(most));
        Self(Arc::new(SlotState { slots, most, state: Mutex::default(), closed }))
    }

    pub(crate) fn shutdown(&self) -> ServerShutdown {
        ServerShutdown(self.clone())
    }

    /// How many may run at a time.
    pub(crate) fn most(&self) -> usize {
        self.0.most
    }

    /// Waits for a slot. Dropping the future gives up waiting.
    pub(crate) async fn slot(&self) -> Result<SkillRunSlot, ToolProblem> {
        let _waiting = WaitingCall::begin(self)?;
        let permit = tokio::select! {
            permit = Arc::clone(&self.0.slots).acquire_owned() => permit.map_err(|_| closing())?,
            () = self.closed() => return Err(closing()),
        };
        let stop = StopHandle::new();
        let mut state = self.state();
        // Under the same lock that closing takes, so that no run slips by.
        if *self.0.closed.borrow() {
            return Err(closing());
        }
        let number = state.next;
        state.next += 1;
        state.running.insert(number, stop.clone());
        drop(state);
        Ok(SkillRunSlot { runs: self.clone(), number, stop, _permit: permit })
    }

    /// Ends when the server is to end.
    pub(crate) async fn closed(&self) {
        let mut closed = self.0.closed.subscribe();
        // An error would mean that nobody can close any more: we are the sender.
        let _ = closed.wait_for(|closed| *closed).await;
    }

    /// Ends every run, and lets none begin.
    pub(crate) fn close(&self) {
        let stops: Vec<StopHandle> = {
            let state = self.state();
            self.0.closed.send_replace(true);
            state.running.values().cloned().collect()
        };
        for stop in stops {
            stop.stop();
        }
    }

    fn state(&self) -> MutexGuard<'_, RunningState> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SkillRunSlot {
    /// What ends this run.
    pub(crate) fn stop(&self) -> &StopHandle {
        &self.stop
    }
}

impl Drop for SkillRunSlot {
    fn drop(&mut self) {
        self.runs.state().running.remove(&self.number);
    }
}

fn closing() -> ToolProblem {
    ToolProblem::new("the server is shutting down; nothing was run")
}

struct WaitingCall<'a>(&'a SkillRunSlots);

impl<'a> WaitingCall<'a> {
    fn begin(runs: &'a SkillRunSlots) -> Result<Self, ToolProblem> {
        let mut state = runs.state();
        if state.waiting >= MOST_WAITING {
            return Err(ToolProblem::new("too many skills wait to be run; this one was not run")
                .why(format!("{} run at a time, and {MOST_WAITING} wait already", runs.most()))
                .cure("wait for answers to the calls before, then call again"));
        }
        state.waiting += 1;
        drop(state);
        Ok(Self(runs))
    }
}

impl Drop for WaitingCall<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.waiting = state.waiting.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block_on<F: Future>(future: F) -> F::Output {
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
    }

    #[test]
    fn no_more_run_than_may_and_no_more_wait_than_may() {
        block_on(async {
            let runs = SkillRunSlots::new(2);
            let one = runs.slot().await.unwrap();
            let _two = runs.slot().await.unwrap();
            let mut waiting: Vec<_> = (0..MOST_WAITING).map(|_| Box::pin(runs.slot())).collect();
            for slot in &mut waiting {
                assert!(futures_poll(slot).is_none());
            }
            assert!(runs.slot().await.unwrap_err().text().contains("too many"));
            // Somebody gives up, and somebody ends.
            waiting.pop();
            drop(one);
            assert!(futures_poll(&mut waiting[0]).is_some_and(|slot| slot.is_ok()));
        });
    }

    #[test]
    fn closing_ends_what_runs_and_what_waits_and_lets_nothing_begin() {
        block_on(async {
            let runs = SkillRunSlots::new(1);
            let running = runs.slot().await.unwrap();
            let mut waiting = Box::pin(runs.slot());
            assert!(futures_poll(&mut waiting).is_none());
            runs.shutdown().close();
            assert!(running.stop().is_stopped());
            assert!(waiting.await.is_err());
            drop(running);
            assert!(runs.slot().await.is_err());
            runs.closed().await;
        });
    }

    fn futures_poll<F: Future + Unpin>(future: &mut F) -> Option<F::Output> {
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        match std::pin::Pin::new(future).poll(&mut context) {
            std::task::Poll::Ready(output) => Some(output),
            std::task::Poll::Pending => None,
        }
    }
}
