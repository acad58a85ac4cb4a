//! Limits on the whole tree where no cgroup holds them: a look every 20 ms.
//!
//! Weaker than a cgroup in one way: between two looks a run can use more than it may. Memory over the limit ends it at the
//! second look that finds it so; processor time over the share stops it until time has caught up, and
//! ends it if it does not stay stopped.

use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::cgroup::ResourceUsage;
use crate::cgroup::accounting::ProcessTree;
use crate::plan::RunLimits;
use skillsandbox_terms::EndCause;

/// How often the tree is looked at.
const TICK: Duration = Duration::from_millis(20);

/// When it is looked at first: a run that is over by then has used little, and need not be looked at.
const FIRST_LOOK: Duration = Duration::from_millis(5);

/// Processor time that a run may use at once before its share counts.
const BURST: Duration = Duration::from_millis(50);

/// How far ahead of its share a run may be before it is ended, and how much farther for each processor: on a busy machine it takes a
/// moment until a process that is stopped stops, and all its processes can use that moment.
const AHEAD: Duration = Duration::from_secs(1);
const AHEAD_EACH: Duration = Duration::from_millis(250);

pub(crate) struct TreeWatch {
    init: i32,
    /// Made at the first look, which a short run does not live to see.
    tree: Option<ProcessTree>,
    limits: RunLimits,
    pub(crate) next: Instant,
    peak: u64,
    cpu: Duration,
    stopped: bool,
    /// Processor time that it may have used by now, and when that was worked out.
    share: (Duration, Instant),
    /// Whether the share of processor time was ever used up.
    pub(crate) throttled: bool,
    /// Whether a look ever found as many processes as may be: then the next is refused, by the limit on the user inside. One that
    /// was refused between two looks is refused anyway, and not counted.
    pub(crate) crowded: bool,
}

fn processors() -> u32 {
    std::thread::available_parallelism().map_or(1, |count| u32::try_from(count.get()).unwrap_or(u32::MAX))
}

impl TreeWatch {
    /// `None` where there is nothing to watch.
    pub(crate) fn new(limits: &RunLimits, init: i32) -> Option<Self> {
        let wanted = limits.memory.is_some()
            || limits.processes.is_some()
            || limits.cpu_percent.is_some()
            || limits.cpu_time.is_some();
        wanted.then(|| Self {
            init,
            tree: None,
            limits: limits.clone(),
            next: Instant::now() + FIRST_LOOK,
            peak: 0,
            cpu: Duration::ZERO,
            stopped: false,
            share: (BURST, Instant::now()),
            throttled: false,
            crowded: false,
        })
    }

    /// Looks at the tree if it is time to; tells what must end the run.
    pub(crate) fn check_limits(&mut self, now: Instant, init: BorrowedFd<'_>) -> Option<EndCause> {
        if now < self.next {
            return None;
        }
        let tree = self.tree.get_or_insert_with(|| ProcessTree::of(self.init));
        let measured = tree.measure();
        self.next = Instant::now() + TICK;
        self.peak = self.peak.max(measured.memory);
        self.cpu = measured.cpu;
        if let Some(limit) = self.limits.memory
            && measured.memory > limit
            && tree.over_limit(limit).is_some()
        {
            return Some(EndCause::Memory);
        }
        self.crowded |= self.limits.processes.is_some_and(|limit| measured.processes >= limit);
        if self.limits.processes.is_some_and(|limit| measured.processes > limit) {
            return Some(EndCause::Processes);
        }
        if self.limits.cpu_time.is_some_and(|limit| self.cpu >= limit) {
            return Some(EndCause::CpuTime);
        }
        self.limits.cpu_percent.and_then(|percent| self.hold_back(percent, now, init))
    }

    /// Stops every process of the run while it has used more than its share, and lets it go on after that.
    ///
    /// There are many ways to have a process sent SIGCONT (kill, timers, descriptors, the end of a child, a terminal), too many to
    /// forbid, and one that comes while a process is being stopped undoes that. So it is stopped again at every look, and a run that
    /// goes on anyway until it is far ahead of its share is ended.
    fn hold_back(&mut self, percent: u32, now: Instant, init: BorrowedFd<'_>) -> Option<EndCause> {
        let (before, since) = self.share;
        let share = grow_share(before, now.saturating_duration_since(since), percent, self.cpu);
        self.share = (share, now);
        if self.cpu > share + AHEAD && self.cpu > share + AHEAD + AHEAD_EACH * processors() {
            return Some(EndCause::CpuTime);
        }
        let stop = self.cpu > share;
        let was_stopped = std::mem::replace(&mut self.stopped, stop);
        self.throttled |= stop;
        let signal = match (stop, was_stopped) {
            (true, _) => Signal::USR1,
            (false, true) => Signal::USR2,
            (false, false) => return None,
        };
        // If the init is gone, so is the run.
        let _ = rustix::process::pidfd_send_signal(init, signal);
        None
    }

    pub(crate) fn usage(&self) -> ResourceUsage {
        ResourceUsage {
            peak_memory: (self.peak > 0).then_some(self.peak),
            cpu: (!self.cpu.is_zero()).then_some(self.cpu),
        }
    }
}

/// What a run may have used of the processor after some more time. What it does not use it cannot save up, but for a moment's worth.
fn grow_share(before: Duration, passed: Duration, percent: u32, used: Duration) -> Duration {
    (before + passed.mul_f64(f64::from(percent) / 100.0)).min(used + BURST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_that_is_not_used_is_not_saved_up() {
        let second = Duration::from_secs(1);
        // It sleeps for an hour, at one look or at many.
        assert_eq!(grow_share(BURST, second * 3600, 10, Duration::ZERO), BURST);
        let mut share = BURST;
        for _ in 0..180_000 {
            share = grow_share(share, TICK, 10, Duration::ZERO);
        }
        assert_eq!(share, BURST);
        // What it uses it gets back, as fast as its share says.
        let used = second * 5;
        assert_eq!(grow_share(second * 4, second, 10, used), second * 4 + second / 10);
        assert_eq!(grow_share(used, second, 100, used), used + BURST);
    }
}
