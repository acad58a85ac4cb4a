//! How many runs may go on at a time.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::running::RunningCommand;
use crate::error::Error;
use crate::plan::{Command, Plan};

/// A bound on the runs that go on at a time, shared by all who clone it.
///
/// A run takes a slot when it starts and gives it back when it has ended.
///
/// ```
/// use skillsandbox_enforcer::{Command, Error, OutputMode, Plan, RunSlots, StdinMode};
///
/// # fn main() -> Result<(), Error> {
/// let slots = RunSlots::new(1);
/// let plan = Plan::builder().build()?;
/// let first = slots.spawn(&plan, &Command::new("cat").stdin(StdinMode::Piped).stdout(OutputMode::Discarded))?;
/// assert!(matches!(slots.spawn(&plan, &Command::new("true")), Err(Error::Busy(1))));
/// first.wait()?;
/// slots.spawn(&plan, &Command::new("true"))?.wait()?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct RunSlots {
    limit: usize,
    taken: Arc<AtomicUsize>,
}

impl RunSlots {
    /// So many at a time.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self { limit, taken: Arc::default() }
    }

    /// Starts a command as [`Plan::spawn`] does, or refuses with [`Error::Busy`] where all slots are taken.
    pub fn spawn(&self, plan: &Plan, command: &Command) -> Result<RunningCommand, Error> {
        let slot = self.take_slot().ok_or(Error::Busy(self.limit))?;
        plan.spawn_holding(command, Some(slot))
    }

    fn take_slot(&self) -> Option<RunSlot> {
        let free = |taken| (taken < self.limit).then_some(taken + 1);
        self.taken.fetch_update(Ordering::AcqRel, Ordering::Acquire, free).ok()?;
        Some(RunSlot(Arc::clone(&self.taken)))
    }
}

/// A slot that is taken; given back when this is dropped.
#[derive(Debug)]
pub(crate) struct RunSlot(Arc<AtomicUsize>);

impl Drop for RunSlot {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}
