//! The thread that makes a sandbox, watches it and ends it.

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::Arc;
use std::sync::mpsc::SyncSender;
use std::time::{Duration, Instant};

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};

use skillsandbox_egress::{Broker, Policy, Sockets, Tap};

use crate::capture::Capture;
use crate::cgroup::{Group, Mechanism, Usage};
use crate::child::Prepared;
use crate::destinations::Destinations;
use crate::error::Error;
use crate::janitor::Janitor;
use crate::launch::{Run, Said, host, layer_error, start, waived};
use crate::layer::Layer;
use crate::layers::network;
use crate::limits::Limits;
use crate::listener::Listener;
use crate::outcome::{End, Limit, LimitHit, Outcome};
use crate::plan::{Command, Plan};
use crate::prepare::Outside;
use crate::step::Step;
use crate::sys;
use crate::watch::Watch;

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
    listener: Listener,
    egress: Arc<Policy>,
    /// When the cgroup is looked at next, where that is needed.
    next_look: Option<Instant>,
    /// After `outside`, whose groups must be gone before it.
    janitor: Option<Janitor>,
}

impl Supervisor {
    pub(crate) fn new(plan: &Plan, command: &Command, mut outside: Outside, wake: Arc<Wake>) -> Self {
        let stdout = Capture::new(outside.ends.stdout.take(), command.stdout);
        let stderr = Capture::new(outside.ends.stderr.take(), command.stderr);
        Self {
            limits: plan.limits.clone(),
            outside,
            stdout,
            stderr,
            wake,
            watch: None,
            listener: Listener::new(plan.profile, Destinations::new(command.observer.clone())),
            egress: Arc::new(plan.egress.clone()),
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
                if let Err(error) = self.serve(&prepared, said.sockets) {
                    run.end();
                    let _ = started.send(Err(error));
                    return None;
                }
                if let Some(listener) = said.listener {
                    self.listener.listen(listener);
                }
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
        start(prepared, self.outside.group.as_mut())
    }

    /// Begins to serve the sockets that were made inside.
    fn serve(&mut self, prepared: &Prepared, sockets: Vec<OwnedFd>) -> Result<(), Error> {
        let Some(served) = &prepared.network.served else { return Ok(()) };
        let mut sockets = sockets.into_iter();
        let streams: Vec<_> = served.streams.iter().copied().zip(sockets.by_ref()).collect();
        let datagrams: Vec<_> = served.datagrams.iter().copied().zip(sockets.by_ref()).collect();
        let taps = network::TAPS.into_iter().zip(sockets);
        let taps: Vec<_> =
            taps.map(|((transport, is_v6), socket)| Tap { transport, is_v6, socket }).collect();
        let is_complete = streams.len() == served.streams.len()
            && datagrams.len() == served.datagrams.len()
            && taps.len() >= 2;
        let sockets = Sockets { streams, datagrams, taps };
        let failed = |source| Error::Host { what: "serve the network of the sandbox", source };
        if !is_complete {
            // The kernel drops descriptors for which the launching program has no room.
            return Err(failed(io::Error::from_raw_os_error(libc::EMFILE)));
        }
        let ledger = self.listener.destinations.ledger();
        let broker = Broker::start(Arc::clone(&self.egress), sockets, ledger).map_err(failed)?;
        self.listener.destinations.serve(broker);
        Ok(())
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
            match self.listener.descriptor() {
                Some(listener) => PollFd::new(listener, PollFlags::IN),
                None => PollFd::new(&run.child.pidfd, PollFlags::empty()),
            },
        ];
        if poll(&mut fds, patience).is_err() {
            return Event::Nothing;
        }
        let [ended, woken, out, err, asked] = fds.map(|fd| fd.revents());
        if !asked.is_empty() && self.listener.descriptor().is_some() {
            self.listener.serve(asked);
        }
        let [ended, woken, out, err] = [ended, woken, out, err].map(|events| !events.is_empty());
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
        Outcome {
            status,
            end,
            limits_hit,
            mechanism: self.outside.mechanism,
            stdout: self.stdout.captured,
            stderr: self.stderr.captured,
            duration,
            usage,
            hears_refusals: self.listener.hears,
            refused: self.listener.refusals.into_calls(),
            network: self.listener.destinations.finish(patience),
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
