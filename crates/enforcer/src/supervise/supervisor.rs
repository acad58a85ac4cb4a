//! The thread that makes a sandbox, watches it and ends it.

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::Arc;
use std::sync::mpsc::SyncSender;
use std::time::{Duration, Instant};

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};

use super::capture::OutputCapture;
use super::launch::{
    ChildReport, LaunchWatch, LaunchedRun, describe_waived, host_error, layer_error, start_run,
};
use super::tree_watch::TreeWatch;
use super::{LimitHit, RunOutcome};
use crate::cgroup::orphan_reaper::OrphanReaper;
use crate::cgroup::{ControlGroup, LimitMechanism, ResourceUsage};
use crate::child::Prepared;
use crate::child::step::SetupStep;
use crate::error::Error;
use crate::layers::Layer;
use crate::observe::RunObservation;
use crate::plan::{Command, LastCheck, Plan, RunLimits};
use crate::prepare::LauncherResources;
use crate::prepare::cover_watch::CoverWatch;
use crate::sys;
use skillsandbox_terms::{EndCause, ObserveLevel, RunLimit};

/// How often a cgroup of version 1 is asked whether memory was short.
const GROUP_LOOK: Duration = Duration::from_millis(50);

/// Room for the last check before a run, as a program's first thread has it.
const LAST_CHECK_STACK: usize = 8 << 20;
/// How long what a command said before it ended may take to reach its destination.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(2);

/// Wakes the supervisor up to end the run.
#[derive(Debug)]
pub(crate) struct WakeEvent(pub(super) OwnedFd);

impl WakeEvent {
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?))
    }

    pub(crate) fn signal(&self) {
        // Fails only when it was signalled more often than a number can say.
        let _ = rustix::io::write(&self.0, &1_u64.to_ne_bytes());
    }
}

/// Says that a run has ended, at the latest when its thread does, however that ends.
struct EndSignal(Arc<WakeEvent>);

impl Drop for EndSignal {
    fn drop(&mut self) {
        self.0.signal();
    }
}

/// What the launching program is told when the program runs.
pub(crate) struct StartedRun {
    pub(crate) pid: i32,
    /// The outer end of its terminal, where it has one.
    pub(crate) terminal: Option<OwnedFd>,
}

/// One run, seen from the launching program.
pub(crate) struct Supervisor {
    limits: RunLimits,
    outside: LauncherResources,
    stdout: OutputCapture,
    stderr: OutputCapture,
    wake: Arc<WakeEvent>,
    /// Signalled when nothing of the run is left that could write.
    ended: EndSignal,
    watch: Option<TreeWatch>,
    observation: RunObservation,
    last_check: Option<LastCheck>,
    /// When the cgroup is looked at next, where that is needed.
    next_look: Option<Instant>,
    /// After `outside`, whose groups must be gone before it.
    orphan_reaper: Option<OrphanReaper>,
}

impl Supervisor {
    pub(crate) fn new(
        plan: &Plan,
        command: &Command,
        mut outside: LauncherResources,
        wake: Arc<WakeEvent>,
        ended: Arc<WakeEvent>,
    ) -> Self {
        let paths = std::mem::take(&mut outside.paths);
        let sockets = std::mem::take(&mut outside.sockets);
        let observation = RunObservation::new(plan, command, outside.rules, paths, sockets, &wake);
        let stdout = OutputCapture::new(outside.ends.stdout.take(), command.stdout);
        let stderr = OutputCapture::new(outside.ends.stderr.take(), command.stderr);
        Self {
            limits: plan.limits.clone(),
            outside,
            stdout,
            stderr,
            wake,
            ended: EndSignal(ended),
            watch: None,
            observation,
            last_check: command.last_check.clone(),
            next_look: None,
            orphan_reaper: None,
        }
    }

    /// Makes the sandbox, says whether that worked, stays until its end, and says how that was before anything is taken down.
    pub(crate) fn run(
        mut self,
        prepared: Prepared,
        started: &SyncSender<Result<StartedRun, Error>>,
        ended: &SyncSender<RunOutcome>,
    ) {
        let (run, terminal) = match self.start_run(&prepared) {
            Ok((run, report)) => {
                let waived = report.messages.iter().map(|message| describe_waived(&prepared, *message));
                self.outside.waived.extend(waived);
                (run, report.terminal)
            }
            Err(error) => {
                let _ = started.send(Err(error));
                return;
            }
        };
        // The child has its own copies; the pipes must have no other writers than its processes.
        drop(prepared);
        let _ = started.send(Ok(StartedRun { pid: run.child.pid, terminal }));
        if self.outside.waived.iter().any(|(layer, _)| *layer == Layer::Cgroup) {
            // It is not in the group that was made for it, so that holds nothing.
            self.outside.group = None;
            self.outside.mechanism = LimitMechanism::Supervised;
        }
        self.watch = match &self.outside.group {
            None => TreeWatch::new(&self.limits, run.child.pid),
            // A group that cannot tell the time of its processes still holds everything else.
            Some(group) if group.usage().cpu.is_none() => {
                let only = RunLimits { cpu_time: self.limits.cpu_time, ..RunLimits::default() };
                TreeWatch::new(&only, run.child.pid)
            }
            Some(_) => None,
        };
        let end = self.wait_for_exit(&run);
        let _ = ended.send(self.finish(&run, end));
    }

    fn start_run(&mut self, prepared: &Prepared) -> Result<(LaunchedRun, ChildReport), Error> {
        // No handler of the embedding program may run in this thread or in its children.
        let every = u64::MAX;
        sys::signals::block(every).map_err(host_error("block signals"))?;
        let orphan_groups = std::mem::take(&mut self.outside.orphan_groups);
        if !orphan_groups.is_empty() {
            self.orphan_reaper = Some(OrphanReaper::start(&orphan_groups).map_err(|source| {
                layer_error(SetupStep::Clone, SetupStep::Clone.text().to_owned(), source)
            })?);
        }
        let Self { outside, observation, last_check, .. } = self;
        let mut watch = SupervisorWatch { prepared, observation, last_check: last_check.as_ref() };
        start_run(prepared, outside.group.as_mut(), &mut watch)
    }

    /// Waits until the run ends, by itself or because it must.
    fn wait_for_exit(&mut self, run: &LaunchedRun) -> EndCause {
        let deadline = self.limits.timeout.and_then(|timeout| run.since.checked_add(timeout));
        loop {
            let now = Instant::now();
            if deadline.is_some_and(|deadline| now >= deadline) {
                return EndCause::Timeout;
            }
            if let Some(end) =
                self.watch.as_mut().and_then(|watch| watch.check_limits(now, run.child.pidfd.as_fd()))
            {
                return end;
            }
            if let Some(end) = self.check_group(now) {
                return end;
            }
            let next = [deadline, self.next_look, self.watch.as_ref().map(|watch| watch.next)]
                .into_iter()
                .flatten()
                .min();
            let wait = next.map(|next| timespec(next.saturating_duration_since(now)));
            match self.wait_for_something(run, wait.as_ref()) {
                WaitEvent::Ended => return EndCause::Itself,
                WaitEvent::Woken if self.observation.is_incomplete() => return EndCause::Unobserved,
                WaitEvent::Woken => return EndCause::Stopped,
                WaitEvent::Uncovered => return EndCause::Uncovered,
                WaitEvent::Nothing => {}
            }
        }
    }

    /// What the group holds only with this thread's help. Where memory is short, version 1 ends one process, and version 2 all of them;
    /// time that was used is only counted.
    fn check_group(&mut self, now: Instant) -> Option<EndCause> {
        let group = self.outside.group.as_ref()?;
        let looks_at_memory = self.limits.memory.is_some() && group.mechanism() == LimitMechanism::CgroupV1;
        if !looks_at_memory && self.limits.cpu_time.is_none() || self.next_look.is_some_and(|next| now < next)
        {
            return None;
        }
        self.next_look = Some(now + GROUP_LOOK);
        if looks_at_memory && group.hits().memory > 0 {
            return Some(EndCause::Memory);
        }
        let limit = self.limits.cpu_time?;
        group.usage().cpu.filter(|used| *used >= limit).map(|_| EndCause::CpuTime)
    }

    fn wait_for_something(&mut self, run: &LaunchedRun, wait: Option<&Timespec>) -> WaitEvent {
        let mut fds = [
            PollFd::new(&run.child.pidfd, PollFlags::IN),
            PollFd::new(&self.wake.0, PollFlags::IN),
            self.stdout.poll(run.child.pidfd.as_fd()),
            self.stderr.poll(run.child.pidfd.as_fd()),
            match &self.outside.covers {
                Some(covers) => PollFd::new(&covers.events, PollFlags::IN),
                None => PollFd::new(&run.child.pidfd, PollFlags::empty()),
            },
        ];
        if poll(&mut fds, wait).is_err() {
            return WaitEvent::Nothing;
        }
        let [ended, woken, out, err, changed] = fds.map(|fd| !fd.revents().is_empty());
        // Before anything else: until the run has ended, it may read what was hidden.
        if changed && !ended && self.outside.covers.as_ref().is_some_and(CoverWatch::is_broken) {
            return WaitEvent::Uncovered;
        }
        if out {
            self.stdout.read_available();
        }
        if err {
            self.stderr.read_available();
        }
        match (ended, woken) {
            (true, _) => WaitEvent::Ended,
            (_, true) => WaitEvent::Woken,
            _ => WaitEvent::Nothing,
        }
    }

    /// Ends what is left, and collects what there is. What was made is removed with this supervisor.
    fn finish(&mut self, run: &LaunchedRun, end: EndCause) -> RunOutcome {
        if end != EndCause::Itself {
            // The init cannot catch this, and the kernel ends its whole pid namespace with it.
            run.child.kill();
        }
        run.child.reap();
        self.ended.0.signal();
        let duration = run.since.elapsed();
        // All writers of the run are dead by now: what the pipes hold is all there is of it.
        self.stdout.read_rest();
        self.stderr.read_rest();
        let status = run.status();
        let wait = if end == EndCause::Itself { DRAIN_TIMEOUT } else { Duration::ZERO };
        let (end, limits_hit) = self.judge_limits(end);
        let usage = self.usage();
        let observed = self.observation.finish(wait);
        RunOutcome {
            status,
            end,
            limits_hit,
            mechanism: self.outside.mechanism,
            stdout: std::mem::take(&mut self.stdout.captured),
            stderr: std::mem::take(&mut self.stderr.captured),
            duration,
            usage,
            observe_level: observed.observe_level,
            lost: observed.lost,
            reports_refusals: observed.is_listening && observed.observe_level != ObserveLevel::Off,
            supervises_sockets: observed.is_listening,
            refused: observed.refused,
            network: observed.network,
            environment: self.outside.environment,
            waived: std::mem::take(&mut self.outside.waived),
        }
    }

    fn usage(&self) -> ResourceUsage {
        let group = self.outside.group.as_ref().map(ControlGroup::usage);
        group.or_else(|| self.watch.as_ref().map(TreeWatch::usage)).unwrap_or_default()
    }

    /// Which limits were reached: by what was seen here, and by what the cgroup counted.
    fn judge_limits(&self, end: EndCause) -> (EndCause, Vec<LimitHit>) {
        let mechanism = self.outside.mechanism;
        let hits = self.outside.group.as_ref().map(ControlGroup::hits).unwrap_or_default();
        let end = if end == EndCause::Itself && hits.memory > 0 { EndCause::Memory } else { end };
        let used = self.usage().cpu.unwrap_or_default();
        let watched = |what: fn(&TreeWatch) -> bool| self.watch.as_ref().is_some_and(what);
        let reached = [
            (RunLimit::Timeout, end == EndCause::Timeout),
            (RunLimit::Memory, end == EndCause::Memory || hits.memory > 0),
            (
                RunLimit::Processes,
                end == EndCause::Processes || hits.processes > 0 || watched(|watch| watch.crowded),
            ),
            (RunLimit::Cpu, hits.cpu_throttled > 0 || watched(|watch| watch.throttled)),
            (
                RunLimit::CpuTime,
                end == EndCause::CpuTime && self.limits.cpu_time.is_some_and(|limit| used >= limit),
            ),
            (RunLimit::Output, self.stdout.captured.is_truncated() || self.stderr.captured.is_truncated()),
        ];
        let held_by = |limit| match limit {
            // These are this thread's, whatever holds the others.
            RunLimit::Timeout | RunLimit::Output | RunLimit::CpuTime => LimitMechanism::Supervised,
            RunLimit::Memory | RunLimit::Processes | RunLimit::Cpu => mechanism,
        };
        let reached = reached.into_iter().filter(|(_, reached)| *reached);
        (end, reached.map(|(limit, _)| LimitHit { limit, mechanism: held_by(limit) }).collect())
    }
}

/// What a supervisor does while its sandbox is made.
struct SupervisorWatch<'s> {
    prepared: &'s Prepared,
    observation: &'s mut RunObservation,
    last_check: Option<&'s LastCheck>,
}

impl LaunchWatch for SupervisorWatch<'_> {
    fn get_ready(&mut self) -> Result<(), Error> {
        self.observation.make_ready(self.prepared)
    }

    fn begin(&mut self, report: &mut ChildReport) -> Result<(), Error> {
        self.last_check.map_or(Ok(()), ask_last_check)?;
        self.observation.start(self.prepared, report)
    }
}

enum WaitEvent {
    Ended,
    Woken,
    /// Something that was covered no longer is.
    Uncovered,
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

/// Asks on a thread with room: the check is the caller's, and may read a whole folder with archives in it. This one has little.
fn ask_last_check(check: &LastCheck) -> Result<(), Error> {
    let check = Arc::clone(check);
    let thread = std::thread::Builder::new().name("skillsandbox-ask".into()).stack_size(LAST_CHECK_STACK);
    let asked = thread.spawn(move || check()).map_err(host_error("start a thread"))?;
    let failed = |_| Err("the last check before the run failed".to_owned());
    asked.join().unwrap_or_else(failed).map_err(Error::Refused)
}
