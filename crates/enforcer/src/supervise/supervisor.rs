//! The thread that makes a sandbox, watches it and ends it.

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::Arc;
use std::sync::mpsc::SyncSender;
use std::time::{Duration, Instant};

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};

use super::capture::Capture;
use super::launch::{Run, Said, host, layer_error, start, waived};
use super::tree_watch::Watch;
use super::{End, Limit, LimitHit, Outcome};
use crate::cgroup::orphan_reaper::Janitor;
use crate::cgroup::{Group, Mechanism, Usage};
use crate::child::Prepared;
use crate::child::step::Step;
use crate::error::Error;
use crate::layers::Layer;
use crate::observe::Auditing;
use crate::plan::Limits;
use crate::plan::{Command, Plan};
use crate::prepare::Outside;
use crate::sys;

/// How often a cgroup of version 1 is asked whether memory was short.
const GROUP_LOOK: Duration = Duration::from_millis(50);

/// How long what a command said before it ended may take to reach its destination.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// Wakes the supervisor up to end the run.
#[derive(Debug)]
pub(crate) struct Wake(OwnedFd);

impl Wake {
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?))
    }

    pub(crate) fn signal(&self) {
        // Fails only when it was signalled more often than a number can say.
        let _ = rustix::io::write(&self.0, &1_u64.to_ne_bytes());
    }
}

/// One run, seen from the launching program.
pub(crate) struct Supervisor {
    limits: Limits,
    outside: Outside,
    stdout: Capture,
    stderr: Capture,
    wake: Arc<Wake>,
    watch: Option<Watch>,
    auditing: Auditing,
    /// When the cgroup is looked at next, where that is needed.
    next_look: Option<Instant>,
    /// After `outside`, whose groups must be gone before it.
    janitor: Option<Janitor>,
}

impl Supervisor {
    pub(crate) fn new(plan: &Plan, command: &Command, mut outside: Outside, wake: Arc<Wake>) -> Self {
        let auditing = Auditing::new(plan, command, std::mem::take(&mut outside.paths), &wake);
        let stdout = Capture::new(outside.ends.stdout.take(), command.stdout);
        let stderr = Capture::new(outside.ends.stderr.take(), command.stderr);
        Self {
            limits: plan.limits.clone(),
            outside,
            stdout,
            stderr,
            wake,
            watch: None,
            auditing,
            next_look: None,
            janitor: None,
        }
    }

    /// Makes the sandbox, says whether that worked, and stays until its end.
    pub(crate) fn run(
        mut self,
        prepared: Prepared,
        started: &SyncSender<Result<i32, Error>>,
    ) -> Option<Outcome> {
        let run = match self.start(&prepared) {
            Ok((run, said)) => {
                let waived = said.messages.iter().map(|message| waived(&prepared, *message));
                self.outside.waived.extend(waived);
                run
            }
            Err(error) => {
                let _ = started.send(Err(error));
                return None;
            }
        };
        // The child has its own copies; the pipes must have no other writers than its processes.
        drop(prepared);
        let _ = started.send(Ok(run.child.pid));
        if self.outside.waived.iter().any(|(layer, _)| *layer == Layer::Cgroup) {
            // It is not in the group that was made for it, so that holds nothing.
            self.outside.group = None;
            self.outside.mechanism = Mechanism::Supervised;
        }
        if self.outside.group.is_none() {
            self.watch = Watch::new(&self.limits, run.child.pid);
        }
        let end = self.stay(&run);
        Some(self.finish(&run, end))
    }

    fn start(&mut self, prepared: &Prepared) -> Result<(Run, Said), Error> {
        // No handler of the embedding program may run in this thread or in its children.
        let every = u64::MAX;
        sys::signals::block(every).map_err(host("block signals"))?;
        let leftovers = std::mem::take(&mut self.outside.leftovers);
        if !leftovers.is_empty() {
            self.janitor = Some(
                Janitor::start(&leftovers)
                    .map_err(|source| layer_error(Step::Clone, Step::Clone.text().to_owned(), source))?,
            );
        }
        let Self { outside, auditing, .. } = self;
        start(prepared, outside.group.as_mut(), |said| auditing.begin(prepared, said))
    }

    /// Waits until the run ends, by itself or because it must.
    fn stay(&mut self, run: &Run) -> End {
        let deadline = self.limits.timeout.and_then(|timeout| run.since.checked_add(timeout));
        loop {
            let now = Instant::now();
            if deadline.is_some_and(|deadline| now >= deadline) {
                return End::Timeout;
            }
            if let Some(end) = self.watch.as_mut().and_then(|watch| watch.look(now, run.child.pidfd.as_fd()))
            {
                return end;
            }
            if self.group_is_over(now) {
                return End::Memory;
            }
            let next = [deadline, self.next_look, self.watch.as_ref().map(|watch| watch.next)]
                .into_iter()
                .flatten()
                .min();
            let patience = next.map(|next| timespec(next.saturating_duration_since(now)));
            match self.wait_for_something(run, patience.as_ref()) {
                Event::Ended => return End::Itself,
                Event::Woken if self.auditing.is_short() => return End::Unobserved,
                Event::Woken => return End::Killed,
                Event::Nothing => {}
            }
        }
    }

    /// Version 1 ends one process where memory is short, and version 2 all of them: so here it is this thread that does.
    fn group_is_over(&mut self, now: Instant) -> bool {
        let Some(group) =
            self.outside.group.as_ref().filter(|group| group.mechanism() == Mechanism::CgroupV1)
        else {
            return false;
        };
        if self.limits.memory.is_none() || self.next_look.is_some_and(|next| now < next) {
            return false;
        }
        self.next_look = Some(now + GROUP_LOOK);
        group.hits().memory > 0
    }

    fn wait_for_something(&mut self, run: &Run, patience: Option<&Timespec>) -> Event {
        let mut fds = [
            PollFd::new(&run.child.pidfd, PollFlags::IN),
            PollFd::new(&self.wake.0, PollFlags::IN),
            self.stdout.poll(run.child.pidfd.as_fd()),
            self.stderr.poll(run.child.pidfd.as_fd()),
        ];
        if poll(&mut fds, patience).is_err() {
            return Event::Nothing;
        }
        let [ended, woken, out, err] = fds.map(|fd| !fd.revents().is_empty());
        if out {
            self.stdout.read_available();
        }
        if err {
            self.stderr.read_available();
        }
        match (ended, woken) {
            (true, _) => Event::Ended,
            (_, true) => Event::Woken,
            _ => Event::Nothing,
        }
    }

    /// Ends what is left, collects what there is, and removes what was made.
    fn finish(mut self, run: &Run, end: End) -> Outcome {
        if end != End::Itself {
            // The init cannot catch this, and the kernel ends its whole pid namespace with it.
            run.child.kill();
        }
        run.child.reap();
        let duration = run.since.elapsed();
        // All writers are dead by now: what the pipes hold is all there is.
        self.stdout.read_rest();
        self.stderr.read_rest();
        let status = run.status();
        let patience = if end == End::Itself { LAST_WORDS } else { Duration::ZERO };
        let (end, limits_hit) = self.verdict(end);
        let usage = self.usage();
        let audited = self.auditing.finish(patience);
        Outcome {
            status,
            end,
            limits_hit,
            mechanism: self.outside.mechanism,
            stdout: self.stdout.captured,
            stderr: self.stderr.captured,
            duration,
            usage,
            audit: audited.audit,
            lost: audited.lost,
            hears_refusals: audited.hears,
            refused: audited.refused,
            network: audited.network,
            environment: self.outside.environment,
            waived: self.outside.waived,
        }
    }

    fn usage(&self) -> Usage {
        let group = self.outside.group.as_ref().map(Group::usage);
        group.or_else(|| self.watch.as_ref().map(Watch::usage)).unwrap_or_default()
    }

    /// Which limits were reached: by what was seen here, and by what the cgroup counted.
    fn verdict(&self, end: End) -> (End, Vec<LimitHit>) {
        let mechanism = self.outside.mechanism;
        let hits = self.outside.group.as_ref().map(Group::hits).unwrap_or_default();
        let end = if end == End::Itself && hits.memory > 0 { End::Memory } else { end };
        let watched = |what: fn(&Watch) -> bool| self.watch.as_ref().is_some_and(what);
        let reached = [
            (Limit::Timeout, end == End::Timeout),
            (Limit::Memory, end == End::Memory || hits.memory > 0),
            (Limit::Processes, end == End::Processes || hits.processes > 0 || watched(|watch| watch.crowded)),
            (Limit::Cpu, hits.cpu_throttled > 0 || watched(|watch| watch.throttled)),
            (Limit::Output, self.stdout.captured.is_truncated() || self.stderr.captured.is_truncated()),
        ];
        let held_by = |limit| match limit {
            // These two are this thread's, whatever holds the others.
            Limit::Timeout | Limit::Output => Mechanism::Supervised,
            _ => mechanism,
        };
        let reached = reached.into_iter().filter(|(_, reached)| *reached);
        (end, reached.map(|(limit, _)| LimitHit { limit, mechanism: held_by(limit) }).collect())
    }
}

enum Event {
    Ended,
    Woken,
    Nothing,
}

fn timespec(duration: Duration) -> Timespec {
    // A moment too late rather than one too early, which would mean a second look.
    let duration = duration.saturating_add(Duration::from_micros(100));
    Timespec {
        tv_sec: i64::try_from(duration.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(duration.subsec_nanos()),
    }
}
