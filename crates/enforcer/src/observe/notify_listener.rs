//! The thread that receives the notifications of a filter and answers them, while the callers wait.

use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::mpsc::{self, SyncSender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::net::{AddressFamily, SocketType};
use skillsandbox_egress::CallingProcess;

use super::Actor;
use super::caller_memory::{self, MemoryReadError};
use super::caller_socket::{AddressError, CallerSocket, read_address};
use super::connector::{ConnectJob, ConnectTarget, Connector};
use super::destinations::{DestinationMonitor, UnixAddress, parse_unix_address};
use super::path_resolver::{SandboxPathResolver, join_base};
use super::process_table::ProcessTable;
use super::record_queue::RecordSink;
use super::refusals::RefusalLog;
use super::socket_judge::SocketJudge;
use super::syscall_record::{
    CallerPath, PathArgument, RecordedAction, SyscallKind, SyscallRecord, opens_to_write, syscall_shape,
};
use crate::prepare::grants::GrantedSocket;
use crate::seccomp::{SyscallRules, SyscallVerdict, observes_call};
use crate::sys::seccomp::{
    Notification, NotifyReply, answer, is_waiting, receive, receive_ends, wake_in_place,
};
use skillsandbox_terms::{FileOperation, SyscallProfile};

/// `AT_FDCWD`, as a register has it.
const HERE: u32 = libc::AT_FDCWD.cast_unsigned();

/// Calls that wait for descriptors, at most: more than a run has threads, unless it has no limit.
const MOST_PARKED: usize = 4096;

/// How long descriptors are waited for before they are asked for again.
const PARKED_LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 5_000_000 };

/// What the listener works with, and what it has observed.
#[derive(Debug)]
pub(crate) struct ListenerState {
    rules: SyscallRules,
    pub(crate) refusals: RefusalLog,
    pub(crate) destinations: DestinationMonitor,
    sink: RecordSink,
    connector: Connector,
    /// Calls of `connect` that wait until there are descriptors again.
    parked: Vec<Notification>,
    processes: ProcessTable,
    resolver: SandboxPathResolver,
    /// Whether the run's own program was about to be executed: by a process of ours, whose memory need not be for us to read. What it
    /// executes is known.
    is_launched: bool,
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
        sink: RecordSink,
        resolver: SandboxPathResolver,
    ) -> Self {
        let refusals = RefusalLog::default();
        let throttle = RefusalThrottle { since: Instant::now(), refused: 0 };
        let makes_namespaces = match rules.profile {
            SyscallProfile::Permissive => true,
            SyscallProfile::Default | SyscallProfile::Strict => false,
        };
        let processes = ProcessTable::new(makes_namespaces);
        let is_launched = false;
        let (connector, parked) = (Connector::new(sink.clone()), Vec::new());
        Self {
            rules,
            refusals,
            destinations,
            sink,
            connector,
            parked,
            processes,
            resolver,
            is_launched,
            throttle,
        }
    }

    /// The run's private file system is made, and these sockets of the host are granted.
    pub(crate) fn set_sockets(&mut self, private: Option<OwnedFd>, granted: Vec<GrantedSocket>) {
        self.connector.set_sockets(SocketJudge::new(self.resolver.root(), private, granted));
    }
}

/// The thread that listens to a filter. It ends by itself when no process is left that could call.
#[derive(Debug)]
pub(crate) struct NotifyListener {
    thread: Option<JoinHandle<Option<ListenerState>>>,
    /// `None` when it was given something to listen to.
    begin: Option<SyncSender<(OwnedFd, ListenerState)>>,
    stop: OwnedFd,
}

impl NotifyListener {
    /// A thread that will listen. Made while the sandbox is: when its filter is there, the program waits for this.
    pub(crate) fn start() -> io::Result<Self> {
        let stop = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let stopped = rustix::io::fcntl_dupfd_cloexec(&stop, 0)?;
        let (begin, given) = mpsc::sync_channel::<(OwnedFd, ListenerState)>(1);
        let thread = std::thread::Builder::new().name("sandbox-notify".into()).stack_size(128 << 10);
        let thread = thread.spawn(move || {
            SyscallRules::prepare_judging();
            let (listener, mut state) = given.recv().ok()?;
            state.run(&Arc::new(listener), &stopped);
            // Before the observer is told the rest.
            state.connector.finish();
            Some(state)
        })?;
        Ok(Self { thread: Some(thread), begin: Some(begin), stop })
    }

    /// Listens to a filter from now on.
    pub(crate) fn listen(&mut self, listener: OwnedFd, state: ListenerState) {
        wake_in_place(listener.as_fd());
        if let Some(begin) = self.begin.take() {
            let _ = begin.send((listener, state));
        }
    }

    /// Ends the thread, and returns what it has observed, where it had something to listen to.
    pub(crate) fn close(mut self) -> Option<ListenerState> {
        self.end()
    }

    fn end(&mut self) -> Option<ListenerState> {
        self.begin = None;
        let thread = self.thread.take()?;
        let _ = rustix::io::write(&self.stop, &1_u64.to_ne_bytes());
        thread.join().ok().flatten()
    }
}

impl Drop for NotifyListener {
    fn drop(&mut self) {
        self.end();
    }
}

impl ListenerState {
    fn run(&mut self, listener: &Arc<OwnedFd>, stop: &OwnedFd) {
        let is_told_of_the_end = receive_ends();
        loop {
            // One call less for each that is observed.
            if is_told_of_the_end
                && self.parked.is_empty()
                && let Ok(call) = receive(listener.as_fd())
            {
                self.serve(listener, call);
                continue;
            }
            let mut fds = [PollFd::new(listener, PollFlags::IN), PollFd::new(stop, PollFlags::IN)];
            let wait = (!self.parked.is_empty()).then_some(&PARKED_LOOK);
            if poll(&mut fds, wait).is_err() {
                continue;
            }
            self.serve_parked(listener);
            let [waiting, stopped] = fds.map(|fd| fd.revents());
            if waiting.contains(PollFlags::IN) {
                // Where nobody waits nothing is asked for: before Linux 6.11 that question is not answered even when all who could
                // call are gone. That the caller was killed meanwhile is not an error.
                if let Ok(call) = receive(listener.as_fd()) {
                    self.serve(listener, call);
                }
            } else if !stopped.is_empty() || !waiting.is_empty() {
                return;
            }
        }
    }

    fn serve(&mut self, shared: &Arc<OwnedFd>, call: Notification) {
        let listener = shared.as_fd();
        let reply = if observes_call(self.rules.profile, call.number, call.arguments) {
            let now = Instant::now();
            if i64::from(call.number) == libc::SYS_connect {
                return self.serve_connect(shared, call, now);
            }
            match read_address(call) {
                Ok(address) => self
                    .destinations
                    .observe(listener, call, &address, || self.processes.actor(call.pid, now)),
                Err(AddressError::Fails(_)) => NotifyReply::Continue,
                Err(AddressError::Hidden) => {
                    self.sink.record_miss();
                    NotifyReply::Continue
                }
            }
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
            self.slow_down();
        }
        // A caller that was killed in the meantime needs no answer; another failure leaves it waiting for its end.
        let _ = answer(listener, call, reply);
        self.destinations.record_refused();
    }

    fn slow_down(&mut self) {
        let wait = self.throttle.delay(Instant::now());
        if !wait.is_zero() {
            std::thread::sleep(wait);
        }
    }

    /// Somebody connects a socket. It never goes on: see `connector.rs`.
    fn serve_connect(&mut self, listener: &Arc<OwnedFd>, call: Notification, now: Instant) {
        let actor = self.processes.actor(call.pid, now);
        let process = actor.as_ref().map_or(call.pid, |actor| actor.pid);
        let fail = |errno: rustix::io::Errno| {
            let _ = answer(listener.as_fd(), call, NotifyReply::Fail(errno.raw_os_error()));
        };
        let CallerSocket { socket, domain, kind } = match CallerSocket::take(call, process) {
            Ok(taken) => taken,
            Err(errno @ (rustix::io::Errno::BADF | rustix::io::Errno::NOTSOCK)) => return fail(errno),
            // The launching program has no descriptor to spare at the moment. Its caller waits, so it can wait here.
            Err(rustix::io::Errno::MFILE | rustix::io::Errno::NFILE) if self.parked.len() < MOST_PARKED => {
                return self.parked.push(call);
            }
            Err(_) => {
                self.sink.record_miss();
                return fail(rustix::io::Errno::ACCESS);
            }
        };
        let target = match read_address(call) {
            Ok(address) => self.connect_target(call, domain, kind, address, actor.as_ref()),
            Err(AddressError::Fails(errno)) => ConnectTarget::Refused(errno.raw_os_error()),
            Err(AddressError::Hidden) => {
                self.sink.record_miss();
                ConnectTarget::Refused(libc::EACCES)
            }
        };
        if matches!(target, ConnectTarget::Refused(_)) {
            self.slow_down();
        }
        // If its caller still waits, what was read was its own; otherwise there is nobody to connect for.
        let is_its_own = is_waiting(listener.as_fd(), call);
        let target = if is_its_own { target } else { ConnectTarget::Refused(libc::ECANCELED) };
        self.destinations.record_refused();
        self.connector.submit(listener, ConnectJob { call, socket, target, at: now, actor });
    }

    /// Tries those once more for which there was no descriptor.
    fn serve_parked(&mut self, listener: &Arc<OwnedFd>) {
        for call in std::mem::take(&mut self.parked) {
            if is_waiting(listener.as_fd(), call) {
                self.serve_connect(listener, call, Instant::now());
            }
        }
    }

    /// Where a socket is to be connected to, by what the socket is: the address says only what somebody wants it to be.
    fn connect_target(
        &mut self,
        call: Notification,
        domain: AddressFamily,
        kind: SocketType,
        address: Vec<u8>,
        actor: Option<&Arc<Actor>>,
    ) -> ConnectTarget {
        match domain {
            AddressFamily::UNIX => self.unix_target(call, kind, address, actor),
            AddressFamily::INET | AddressFamily::INET6 => {
                let pid = actor.map_or(call.pid, |actor| actor.pid);
                let process = CallingProcess::new(pid, actor.and_then(|actor| actor.binary.clone()));
                match self.destinations.judge_connect(&address, kind, process) {
                    Some(errno) => ConnectTarget::Refused(errno),
                    None => ConnectTarget::Address(address),
                }
            }
            // It names a process of the sandbox, or the kernel, which answers questions only.
            AddressFamily::NETLINK => ConnectTarget::Netlink(address),
            // One that was handed to the run, of a family that no profile has.
            _ => ConnectTarget::Refused(libc::EACCES),
        }
    }

    fn unix_target(
        &mut self,
        call: Notification,
        kind: SocketType,
        address: Vec<u8>,
        actor: Option<&Arc<Actor>>,
    ) -> ConnectTarget {
        // One that sends to other names afterwards, and can only have been handed to the run.
        if !matches!(kind, SocketType::STREAM | SocketType::SEQPACKET) {
            return ConnectTarget::Refused(libc::EACCES);
        }
        match parse_unix_address(&address) {
            UnixAddress::Abstract => ConnectTarget::Abstract(address),
            UnixAddress::Invalid => ConnectTarget::Refused(libc::EINVAL),
            UnixAddress::Path(text) => {
                self.resolver.hold_root(call.pid);
                let is_relative = text.first() != Some(&b'/');
                let base = is_relative.then(|| self.processes.folder(call.pid, None));
                let Ok(base) = base.transpose() else {
                    self.sink.record_miss();
                    return ConnectTarget::Refused(libc::EACCES);
                };
                let path = CallerPath::new(text, base, true, false);
                let full = join_base(&path).into_owned();
                ConnectTarget::Path(self.resolve_now(path, actor.map(Arc::as_ref)), full)
            }
        }
    }

    /// Sees what a call is about, and lets it go on. What the kernel could not read either is not left to it: another thread might put
    /// something there before it looks.
    fn observe_call(&mut self, listener: BorrowedFd<'_>, call: Notification) {
        let now = Instant::now();
        let actor = self.processes.actor(call.pid, now);
        let seen = self.read_call(call, actor.as_deref());
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
            Ok(action) if is_its_own => self.sink.record(SyscallRecord { at: now, actor, action }),
            Err(MemoryReadError::Hidden) if is_its_own && !is_launch => self.sink.record_miss(),
            _ => {}
        }
    }

    fn read_call(
        &mut self,
        call: Notification,
        actor: Option<&Actor>,
    ) -> Result<RecordedAction, MemoryReadError> {
        let shape = syscall_shape(call.number).ok_or(MemoryReadError::Hidden)?;
        let register = |index: usize| call.arguments.get(index).copied().unwrap_or_default();
        let path = self.read_path(call, shape.path)?;
        // An empty path cannot be opened, and means a descriptor only to calls that take one.
        let is_name = matches!(shape.operation, SyscallKind::Open(_)) || shape.path.folder.is_none();
        let path = if is_name { path } else { path.or_descriptor() };
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
                let to = shape.to.map(|argument| self.read_path(call, argument)).transpose()?;
                let to = to.map(|to| self.resolve_now(to, actor));
                RecordedAction::File { operation, path, to }
            }
        })
    }

    fn read_path(
        &mut self,
        call: Notification,
        argument: PathArgument,
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
        let base = match self.processes.folder(call.pid, folder) {
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
        if self.sink.is_heard() && !self.resolver.is_settled(&path) {
            path.resolved = self.resolver.resolve(&path, actor);
        }
        path
    }

    /// Tells of something that did not have to be looked at while its caller waits.
    fn record(&mut self, call: Notification, action: RecordedAction) {
        if self.sink.is_heard() {
            let now = Instant::now();
            let actor = self.processes.actor(call.pid, now);
            self.sink.record(SyscallRecord { at: now, actor, action });
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
