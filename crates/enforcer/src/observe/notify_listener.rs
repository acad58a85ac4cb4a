//! The thread that receives the notifications of a filter and answers them, while the callers wait.

use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};

use super::Actor;
use super::caller_memory::{self, MemoryReadError};
use super::destinations::{DestinationMonitor, read_unix_path};
use super::path_resolver::SandboxPathResolver;
use super::process_table::ProcessTable;
use super::record_queue::RecordQueue;
use super::refusals::RefusalLog;
use super::syscall_record::{
    CallerPath, PathArgument, RecordedAction, SyscallKind, SyscallRecord, opens_to_write, syscall_shape,
};
use crate::seccomp::{SyscallRules, SyscallVerdict, observes_call};
use crate::supervise::WakeEvent;
use crate::sys::seccomp::{Notification, NotifyReply, answer, receive, receive_ends, wake_in_place};
use skillsandbox_terms::FileOperation;

/// `AT_FDCWD`, as a register has it.
const HERE: u32 = libc::AT_FDCWD.cast_unsigned();

/// What the listener works with, and what it has observed.
#[derive(Debug)]
pub(crate) struct ListenerState {
    rules: SyscallRules,
    pub(crate) refusals: RefusalLog,
    pub(crate) destinations: DestinationMonitor,
    queue: Option<Arc<RecordQueue>>,
    processes: ProcessTable,
    resolver: SandboxPathResolver,
    /// Whether the run's own program was about to be executed: by a process of ours, whose memory need not be for us to read. What it
    /// executes is known.
    is_launched: bool,
    /// Woken up when something that must be told could not be.
    required: Option<Arc<WakeEvent>>,
    throttle: RefusalThrottle,
}

/// Slows down a caller that repeats refused calls: each answer costs time of the launching program, which no limit of the run covers.
#[derive(Debug)]
struct RefusalThrottle {
    since: Instant,
    refused: u32,
}

impl RefusalThrottle {
    /// Refusals in a tenth of a second that are answered at once.
    const MOST: u32 = 200;

    /// What each one more has to wait.
    const WAIT: Duration = Duration::from_millis(1);

    /// Counts a refusal, and returns how long its caller has to wait.
    fn delay(&mut self, now: Instant) -> Duration {
        if now.duration_since(self.since) > Duration::from_millis(100) {
            *self = Self { since: now, refused: 0 };
        }
        self.refused += 1;
        if self.refused > Self::MOST { Self::WAIT } else { Duration::ZERO }
    }
}

impl ListenerState {
    pub(crate) fn new(
        rules: SyscallRules,
        destinations: DestinationMonitor,
        queue: Option<Arc<RecordQueue>>,
        resolver: SandboxPathResolver,
        required: Option<Arc<WakeEvent>>,
    ) -> Self {
        let refusals = RefusalLog::default();
        let throttle = RefusalThrottle { since: Instant::now(), refused: 0 };
        let processes = ProcessTable::default();
        let is_launched = false;
        Self { rules, refusals, destinations, queue, processes, resolver, is_launched, required, throttle }
    }
}

/// The thread that listens to a filter. It ends by itself when no process is left that could call.
#[derive(Debug)]
pub(crate) struct NotifyListener {
    thread: Option<JoinHandle<ListenerState>>,
    stop: OwnedFd,
}

impl NotifyListener {
    /// Listens to a filter, in a thread of its own.
    pub(crate) fn start(listener: OwnedFd, mut state: ListenerState) -> io::Result<Self> {
        wake_in_place(listener.as_fd());
        let stop = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let stopped = rustix::io::fcntl_dupfd_cloexec(&stop, 0)?;
        let thread = std::thread::Builder::new().name("sandbox-notify".into()).stack_size(128 << 10);
        let thread = thread.spawn(move || {
            state.run(&listener, &stopped);
            state
        })?;
        Ok(Self { thread: Some(thread), stop })
    }

    /// Ends the thread, and returns what it has observed.
    pub(crate) fn close(mut self) -> Option<ListenerState> {
        self.end()
    }

    fn end(&mut self) -> Option<ListenerState> {
        let thread = self.thread.take()?;
        let _ = rustix::io::write(&self.stop, &1_u64.to_ne_bytes());
        thread.join().ok()
    }
}

impl Drop for NotifyListener {
    fn drop(&mut self) {
        self.end();
    }
}

impl ListenerState {
    fn run(&mut self, listener: &OwnedFd, stop: &OwnedFd) {
        let is_told_of_the_end = receive_ends();
        loop {
            // One call less for each that is observed.
            if is_told_of_the_end && let Ok(call) = receive(listener.as_fd()) {
                self.serve(listener.as_fd(), call);
                continue;
            }
            let mut fds = [PollFd::new(listener, PollFlags::IN), PollFd::new(stop, PollFlags::IN)];
            if poll(&mut fds, None).is_err() {
                continue;
            }
            let [waiting, stopped] = fds.map(|fd| fd.revents());
            if waiting.contains(PollFlags::IN) {
                // Where nobody waits nothing is asked for: before Linux 6.11 that question is not answered even when all who could
                // call are gone. That the caller was killed meanwhile is not an error.
                if let Ok(call) = receive(listener.as_fd()) {
                    self.serve(listener.as_fd(), call);
                }
            } else if !stopped.is_empty() || !waiting.is_empty() {
                return;
            }
        }
    }

    fn serve(&mut self, listener: BorrowedFd<'_>, call: Notification) {
        let reply = if observes_call(self.rules.profile, call.number, call.arguments) {
            let now = Instant::now();
            if let Some(socket) = read_unix_path(call) {
                return self.observe_connect(listener, call, socket, now);
            }
            self.destinations.observe(listener, call, || self.processes.actor(call.pid, now))
        } else {
            match self.rules.judge(call.number, call.arguments) {
                Ok(SyscallVerdict::Allowed) if syscall_shape(call.number).is_some() => {
                    return self.observe_call(listener, call);
                }
                judgement => {
                    let (reply, refused) = self.refusals.answer(call, &judgement);
                    self.record(call, RecordedAction::Refused(refused));
                    reply
                }
            }
        };
        if matches!(reply, NotifyReply::Fail(_)) {
            let wait = self.throttle.delay(Instant::now());
            if !wait.is_zero() {
                std::thread::sleep(wait);
            }
        }
        // A caller that was killed in the meantime needs no answer; another failure leaves it waiting for its end.
        let _ = answer(listener, call, reply);
        self.destinations.record_refused();
    }

    /// Somebody connects to a socket that has a place in the file system, and goes on.
    fn observe_connect(&mut self, listener: BorrowedFd<'_>, call: Notification, text: Vec<u8>, now: Instant) {
        let actor = self.processes.actor(call.pid, now);
        let is_relative = text.first() != Some(&b'/');
        let base = is_relative.then(|| self.processes.folder(call.pid, None, now));
        let path = base.transpose().map(|base| {
            let path = CallerPath::new(text, base, true, false);
            self.resolve_now(path, actor.as_deref())
        });
        if !answer(listener, call, NotifyReply::Continue).unwrap_or(false) {
            return;
        }
        match path {
            Ok(path) => {
                let action = RecordedAction::File { operation: FileOperation::Connect, path, to: None };
                self.enqueue(SyscallRecord { at: now, actor, action });
            }
            Err(_) => self.record_miss(),
        }
    }

    /// Sees what a call is about, and lets it go on. What the kernel could not read either is not left to it: another thread might put
    /// something there before it looks.
    fn observe_call(&mut self, listener: BorrowedFd<'_>, call: Notification) {
        let now = Instant::now();
        let actor = self.processes.actor(call.pid, now);
        let seen = self.read_call(call, actor.as_deref(), now);
        let mut is_launch = false;
        if matches!(syscall_shape(call.number), Some(shape) if matches!(shape.operation, SyscallKind::Exec(_)))
        {
            self.processes.note_exec(call.pid, now);
            is_launch = !std::mem::replace(&mut self.is_launched, true);
        }
        self.resolver.hold_root(call.pid);
        let reply = match seen {
            Err(MemoryReadError::Fails(errno)) => NotifyReply::Fail(errno),
            Ok(_) | Err(MemoryReadError::Hidden) => NotifyReply::Continue,
        };
        // If its caller still waits, what was read was its own.
        let is_its_own = answer(listener, call, reply).unwrap_or(false);
        match seen {
            Ok(action) if is_its_own => self.enqueue(SyscallRecord { at: now, actor, action }),
            Err(MemoryReadError::Hidden) if is_its_own && !is_launch => self.record_miss(),
            _ => {}
        }
    }

    fn read_call(
        &mut self,
        call: Notification,
        actor: Option<&Actor>,
        now: Instant,
    ) -> Result<RecordedAction, MemoryReadError> {
        let shape = syscall_shape(call.number).ok_or(MemoryReadError::Hidden)?;
        let register = |index: usize| call.arguments.get(index).copied().unwrap_or_default();
        let path = self.read_path(call, shape.path, now)?;
        // An empty path cannot be opened.
        let path = if matches!(shape.operation, SyscallKind::Open(_)) { path } else { path.or_descriptor() };
        let path = self.resolve_now(path, actor);
        Ok(match shape.operation {
            SyscallKind::Exec(at) => {
                let arguments = caller_memory::read_arguments(call.pid, register(at));
                RecordedAction::Exec { path, arguments }
            }
            SyscallKind::Open(flags) => {
                let operation =
                    if opens_to_write(register(flags)) { FileOperation::Write } else { FileOperation::Read };
                RecordedAction::File { operation, path, to: None }
            }
            SyscallKind::Does(operation @ FileOperation::Symlink) => {
                // What a link says is a text, and begins where the link is.
                let to = shape
                    .to
                    .map(|argument| caller_memory::read_path(call.pid, register(argument.path)))
                    .transpose()?;
                let to = to.map(|text| CallerPath::new(text, None, true, false));
                RecordedAction::File { operation, path, to }
            }
            SyscallKind::Does(operation) => {
                let to = shape.to.map(|argument| self.read_path(call, argument, now)).transpose()?;
                let to = to.map(|to| self.resolve_now(to, actor));
                RecordedAction::File { operation, path, to }
            }
        })
    }

    fn read_path(
        &mut self,
        call: Notification,
        argument: PathArgument,
        now: Instant,
    ) -> Result<CallerPath, MemoryReadError> {
        let register = |index: usize| call.arguments.get(index).copied().unwrap_or_default();
        let text = caller_memory::read_path(call.pid, register(argument.path))?;
        let (follows, makes) = argument.last.is_followed_or_made(register);
        if text.first() == Some(&b'/') {
            return Ok(CallerPath::new(text, None, follows, makes));
        }
        let folder =
            argument.folder.map(|folder| u32::try_from(register(folder) & 0xffff_ffff).unwrap_or(HERE));
        let folder = folder.filter(|folder| *folder != HERE).map(u32::cast_signed);
        let base = match self.processes.folder(call.pid, folder, now) {
            // A descriptor that is not open.
            Err(rustix::io::Errno::NOENT) if folder.is_some() => {
                return Err(MemoryReadError::Fails(libc::EBADF));
            }
            base => base.map_err(|_| MemoryReadError::Hidden)?,
        };
        Ok(CallerPath::new(text, Some(base), follows, makes))
    }

    /// Finds out where a path leads while its caller waits, if that might be elsewhere a moment later.
    fn resolve_now(&mut self, mut path: CallerPath, actor: Option<&Actor>) -> CallerPath {
        if self.queue.is_some() && !self.resolver.is_settled(&path) {
            path.resolved = self.resolver.resolve(&path, actor);
        }
        path
    }

    /// Tells of something that did not have to be looked at while its caller waits.
    fn record(&mut self, call: Notification, action: RecordedAction) {
        if self.queue.is_some() {
            let now = Instant::now();
            let actor = self.processes.actor(call.pid, now);
            self.enqueue(SyscallRecord { at: now, actor, action });
        }
    }

    fn enqueue(&self, record: SyscallRecord) {
        let has_room = self.queue.as_ref().is_none_or(|queue| queue.push(record));
        if let Some(required) = self.required.as_ref().filter(|_| !has_room) {
            required.signal();
        }
    }

    /// Something was tried, and it could not be seen what.
    fn record_miss(&self) {
        if let Some(queue) = &self.queue {
            queue.count_unseen();
        }
        if let Some(required) = &self.required {
            required.signal();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_in_a_row_are_delayed_and_later_ones_are_not() {
        let now = Instant::now();
        let mut throttle = RefusalThrottle { since: now, refused: 0 };
        assert!((0..RefusalThrottle::MOST).all(|_| throttle.delay(now).is_zero()));
        assert_eq!(throttle.delay(now), RefusalThrottle::WAIT);
        assert_eq!(throttle.delay(now + Duration::from_millis(100)), RefusalThrottle::WAIT);
        assert_eq!(throttle.delay(now + Duration::from_millis(101)), Duration::ZERO);
    }
}
