//! The thread that makes a sandbox, watches it and ends it.

use std::io::{self, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::mpsc::SyncSender;
use std::time::{Duration, Instant};

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SocketFlags, SocketType,
};
use rustix::process::Signal;

use crate::cgroup::{Group, Mechanism, Usage};
use crate::child::{Pipes, Prepared, init};
use crate::cures;
use crate::error::Error;
use crate::janitor::Janitor;
use crate::layer::Layer;
use crate::layers::namespaces;
use crate::limits::Limits;
use crate::outcome::{Captured, End, Limit, LimitHit, Outcome, Status};
use crate::plan::{Command, Output, Plan};
use crate::prepare::Outside;
use crate::refusals::Refusals;
use crate::step::{MESSAGE_SIZE, Message, Step};
use crate::sys;
use crate::sys::clone::Child;
use crate::watch::Watch;

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
    refusals: Refusals,
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
            refusals: Refusals::new(plan.profile),
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
                if let Some(listener) = said.listener {
                    self.refusals.listen(listener);
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
            self.janitor = Some(Janitor::start(&leftovers).map_err(host("start a process"))?);
        }
        start(prepared)
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
            let next = [deadline, self.watch.as_ref().map(|watch| watch.next)].into_iter().flatten().min();
            let patience = next.map(|next| timespec(next.saturating_duration_since(now)));
            match self.wait_for_something(run, patience.as_ref()) {
                Event::Ended => return End::Itself,
                Event::Woken => return End::Killed,
                Event::Nothing => {}
            }
        }
    }

    fn wait_for_something(&mut self, run: &Run, patience: Option<&Timespec>) -> Event {
        let mut fds = [
            PollFd::new(&run.child.pidfd, PollFlags::IN),
            PollFd::new(&self.wake.0, PollFlags::IN),
            self.stdout.poll(run.child.pidfd.as_fd()),
            self.stderr.poll(run.child.pidfd.as_fd()),
            match self.refusals.listener() {
                Some(listener) => PollFd::new(listener, PollFlags::IN),
                None => PollFd::new(&run.child.pidfd, PollFlags::empty()),
            },
        ];
        if poll(&mut fds, patience).is_err() {
            return Event::Nothing;
        }
        let [ended, woken, out, err, asked] = fds.map(|fd| fd.revents());
        if !asked.is_empty() && self.refusals.listener().is_some() {
            self.refusals.serve(asked.contains(PollFlags::HUP));
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
            let _ = rustix::process::pidfd_send_signal(&run.child.pidfd, Signal::KILL);
        }
        run.child.reap();
        let duration = run.since.elapsed();
        // All writers are dead by now: what can be read is all there is.
        self.stdout.read_available();
        self.stderr.read_available();
        let status = run.status();
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
            refused: self.refusals.into_calls(),
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
        let reached = [
            (Limit::Timeout, end == End::Timeout),
            (Limit::Memory, end == End::Memory || hits.memory > 0),
            (Limit::Processes, end == End::Processes || hits.processes > 0),
            (Limit::Cpu, hits.cpu_throttled > 0 || self.watch.as_ref().is_some_and(|watch| watch.throttled)),
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

/// A sandbox that stands, with the command running in it.
struct Run {
    child: Child,
    result: OwnedFd,
    since: Instant,
}

impl Run {
    /// What the init wrote; where it was killed itself, so was the command.
    fn status(&self) -> Status {
        let mut bytes = [0; 4];
        match rustix::io::read(&self.result, &mut bytes) {
            Ok(4) => {
                let status = i32::from_ne_bytes(bytes);
                if libc::WIFSIGNALED(status) {
                    Status::Signalled(libc::WTERMSIG(status))
                } else {
                    Status::Exited(libc::WEXITSTATUS(status))
                }
            }
            _ => Status::Signalled(libc::SIGKILL),
        }
    }
}

/// Makes the processes of a sandbox and waits until the program runs.
fn start(prepared: &Prepared) -> Result<(Run, Said), Error> {
    let (family, kind) = (AddressFamily::UNIX, SocketType::SEQPACKET);
    let sockets = rustix::net::socketpair(family, kind, SocketFlags::CLOEXEC, None);
    let (ready, ready_end) = sockets.map_err(host("make a pair of sockets"))?;
    let (result, result_end) = pipe()?;
    let pipes = Pipes { ready: ready_end, result: result_end };
    let child = sys::clone::child(namespaces::AT_CLONE, || init(prepared, &pipes));
    let child =
        child.map_err(|errno| layer_error(Step::Clone, Step::Clone.text().to_owned(), errno.into()))?;
    drop(pipes);
    let mapped = prepared.namespaces.map_from_outside(child.pid);
    let mut run = Run { child, result, since: Instant::now() };
    if let Err(source) = mapped {
        run.end();
        return Err(layer_error(Step::Maps, Step::Maps.text().to_owned(), source));
    }
    let said = match hear(ready.as_fd()) {
        Ok(said) => said,
        Err(source) => {
            run.end();
            return Err(Error::Host { what: "hear from the sandbox", source });
        }
    };
    run.since = Instant::now();
    if let Some(message) = said.messages.iter().find(|message| !message.waived) {
        run.end();
        return Err(failure(prepared, *message));
    }
    Ok((run, said))
}

impl Run {
    fn end(&self) {
        let _ = rustix::process::pidfd_send_signal(&self.child.pidfd, Signal::KILL);
        self.child.reap();
    }
}

/// What the child said until it executed the program or ended, which closes the socket.
#[derive(Default)]
struct Said {
    messages: Vec<Message>,
    listener: Option<OwnedFd>,
}

fn hear(ready: BorrowedFd<'_>) -> io::Result<Said> {
    let mut said = Said::default();
    loop {
        let mut bytes = [0; MESSAGE_SIZE];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut rights = RecvAncillaryBuffer::new(&mut space);
        let receive = || {
            let into = &mut [IoSliceMut::new(&mut bytes)];
            rustix::net::recvmsg(ready, into, &mut rights, RecvFlags::CMSG_CLOEXEC)
        };
        let received = rustix::io::retry_on_intr(receive)?;
        if received.bytes == 0 {
            return Ok(said);
        }
        if received.bytes == MESSAGE_SIZE {
            said.messages.extend(Message::decode(bytes));
        }
        for message in rights.drain() {
            if let RecvAncillaryMessage::ScmRights(mut fds) = message {
                said.listener = fds.next();
            }
        }
    }
}

fn failure(prepared: &Prepared, message: Message) -> Error {
    let failure = message.failure;
    let source: io::Error = failure.errno.into();
    match failure.step {
        Step::Exec => {
            Error::Program(format!("cannot execute {}: {source}", prepared.program.to_string_lossy()))
        }
        step => layer_error(step, described(prepared, message), source),
    }
}

fn described(prepared: &Prepared, message: Message) -> String {
    let step = message.failure.step;
    let detail = match step {
        Step::Place => prepared.mounts.describe(message.failure.index),
        Step::Limit => prepared.rlimits.describe(message.failure.index),
        _ => String::new(),
    };
    format!("cannot {} {detail}", step.text()).trim_end().to_owned()
}

fn waived(prepared: &Prepared, message: Message) -> (Layer, String) {
    let source: io::Error = message.failure.errno.into();
    (message.failure.step.layer(), format!("{}: {source}", described(prepared, message)))
}

fn layer_error(step: Step, what: String, source: io::Error) -> Error {
    let cure = cures::of(step, source.raw_os_error().unwrap_or(0));
    Error::Layer { layer: step.layer(), step: what, source, cure }
}

fn host<E: Into<io::Error>>(what: &'static str) -> impl FnOnce(E) -> Error {
    move |source| Error::Host { what, source: source.into() }
}

fn pipe() -> Result<(OwnedFd, OwnedFd), Error> {
    rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).map_err(host("make a pipe"))
}

fn timespec(duration: Duration) -> Timespec {
    // A moment too late rather than one too early, which would mean a second look.
    let duration = duration.saturating_add(Duration::from_micros(100));
    Timespec {
        tv_sec: i64::try_from(duration.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(duration.subsec_nanos()),
    }
}

/// An output that is kept, up to a bound.
struct Capture {
    from: Option<OwnedFd>,
    keep: usize,
    captured: Captured,
}

impl Capture {
    fn new(from: Option<OwnedFd>, wanted: Output) -> Self {
        let keep = match wanted {
            Output::Captured(keep) => keep,
            _ => 0,
        };
        if let Some(from) = &from {
            let _ = rustix::io::ioctl_fionbio(from, true);
        }
        Self { from, keep, captured: Captured::default() }
    }

    /// What to wait for; nothing, on a descriptor that is there anyway, when the output has ended.
    fn poll<'a>(&'a self, otherwise: BorrowedFd<'a>) -> PollFd<'a> {
        match &self.from {
            Some(from) => PollFd::new(from, PollFlags::IN),
            None => PollFd::from_borrowed_fd(otherwise, PollFlags::empty()),
        }
    }

    fn read_available(&mut self) {
        let mut buffer = [0; 16 << 10];
        while let Some(from) = &self.from {
            match rustix::io::read(from, &mut buffer) {
                Ok(0) => self.from = None,
                Ok(read) => {
                    self.captured.total += read as u64;
                    let room = self.keep.saturating_sub(self.captured.bytes.len());
                    self.captured.bytes.extend_from_slice(buffer.get(..read.min(room)).unwrap_or_default());
                }
                Err(rustix::io::Errno::INTR) => {}
                Err(rustix::io::Errno::AGAIN) => return,
                Err(_) => self.from = None,
            }
        }
    }
}
