//! Connects sockets for the programs of a run.
//!
//! A call that is let go on is looked at by the kernel again, and by then another thread may have put another socket under its descriptor
//! and another address in its memory. So no `connect` ever goes on: what was taken and judged is connected here, and the caller gets the
//! result. The file behind the socket is the caller's own, so what it set holds, and what it set up around it goes on.
//!
//! A socket of the Internet is connected by the thread that was told of the call, where that can be done at once: nothing is looked up for
//! it. Everything else is done by a thread that nobody waits for: it looks up paths, which a file system may take its time for, and looks
//! after callers that wait. It does not close sockets that may have others in them: one more thread does, and all that are not closed yet
//! are bounded.
//!
//! Neither waits for a connection, nor for the end of one (`SO_LINGER`). Whether a socket waits is for all who have it to change, at any
//! moment, so a call that waits all the same is interrupted ([`WakeTimer`]) and tried again later: otherwise a program could have it wait
//! for a server that only the socket in question keeps alive, and all that the thread holds would stay for as long as the launching program.

use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::sockopt::{Timeout, socket_domain, socket_timeout, socket_type};
use rustix::net::{AddressFamily, SocketType};

use super::job_bell::JobBell;
use super::record_queue::RecordSink;
use super::socket_closer::close_all;
use super::socket_judge::{SocketJudge, SocketPlace};
use super::syscall_record::{CallerPath, RecordedAction, SyscallRecord};
use super::{AccessVerdict, Actor};
use crate::sys::Errno;
use crate::sys::seccomp::{Notification, NotifyReply, answer, is_waiting};
use crate::sys::sockets::connect;
use crate::sys::wake_timer::WakeTimer;

/// Connections that may be waited for at a time, by callers that wait themselves: each takes two descriptors of the launching program,
/// which has a thousand for all its runs.
const MOST: usize = 64;

/// How long room is waited for: the thread may only be behind, on a machine that is busy.
const ROOM_LOOKS: u32 = 400;
const BETWEEN_LOOKS: Duration = Duration::from_micros(100);

/// How long the first and any further look at a connection that is not made yet is waited for, where no socket says that it is.
const FIRST_LOOK: Duration = Duration::from_millis(1);
const LONGEST_LOOK: Duration = Duration::from_millis(20);

/// What a socket says when its connection was made or refused.
const SOCKET_NEWS: PollFlags = PollFlags::OUT.union(PollFlags::ERR).union(PollFlags::HUP);

/// How long a run that has ended waits for what is still being looked up. What takes longer is counted as not recorded.
const LAST_WAIT: Duration = Duration::from_millis(200);

/// A call of `connect`, and all that it was about.
#[derive(Debug)]
pub(super) struct ConnectJob {
    pub(super) call: Notification,
    pub(super) socket: OwnedFd,
    pub(super) target: ConnectTarget,
    pub(super) at: Instant,
    pub(super) actor: Option<Arc<Actor>>,
}

/// Where a socket is to be connected to.
#[derive(Debug)]
pub(super) enum ConnectTarget {
    /// To what the socket's own network namespace has at this address.
    Address(Vec<u8>),
    /// To the kernel, or to a process of the socket's own network namespace.
    Netlink(Vec<u8>),
    /// To what is bound at this path, and where that begins.
    Path(CallerPath, PathBuf),
    /// To an abstract name of the socket's own network namespace: the whole address.
    Abstract(Vec<u8>),
    /// Nowhere.
    Refused(i32),
}

/// The way to the thread, which is started when it is needed.
#[derive(Debug)]
pub(super) struct Connector {
    jobs: Option<Sender<ConnectJob>>,
    done: Option<Receiver<()>>,
    bell: Option<Arc<JobBell>>,
    /// Of the thread that submits. Made when it is needed.
    timer: Option<WakeTimer>,
    open: Arc<AtomicUsize>,
    /// Those of them of which it is not recorded yet what they are about.
    unjudged: Arc<AtomicUsize>,
    sockets: Option<SocketJudge>,
    sink: RecordSink,
}

impl Connector {
    pub(super) fn new(sink: RecordSink) -> Self {
        let (open, unjudged) = (Arc::default(), Arc::default());
        Self { jobs: None, done: None, bell: None, timer: None, open, unjudged, sockets: None, sink }
    }

    pub(super) fn set_sockets(&mut self, sockets: SocketJudge) {
        self.sockets = Some(sockets);
    }

    /// Has a socket connected and its caller answered. A caller for whom there is no room is told to try again. Always called by the
    /// same thread.
    pub(super) fn submit(&mut self, listener: &Arc<OwnedFd>, job: ConnectJob) {
        let call = job.call;
        let Some(job) = self.connect_at_once(listener, job) else { return };
        self.start(listener);
        let has_room = || self.open.load(Ordering::Acquire) < MOST;
        for _ in 0..ROOM_LOOKS {
            if has_room() {
                break;
            }
            std::thread::sleep(BETWEEN_LOOKS);
        }
        let is_taken = has_room()
            && self.jobs.as_ref().is_some_and(|jobs| {
                self.open.fetch_add(1, Ordering::AcqRel);
                self.unjudged.fetch_add(1, Ordering::AcqRel);
                jobs.send(job).is_ok()
            });
        self.ring();
        if !is_taken {
            let _ = answer(listener.as_fd(), call, NotifyReply::Fail(libc::EAGAIN));
        }
    }

    /// Connects a socket of the Internet and answers its caller, unless that would wait, or others do: the job is returned then, and two
    /// threads get on with them faster than one.
    fn connect_at_once(&mut self, listener: &Arc<OwnedFd>, job: ConnectJob) -> Option<ConnectJob> {
        let ConnectTarget::Address(address) = &job.target else { return Some(job) };
        self.timer = self.timer.take().or_else(|| WakeTimer::start().ok());
        let Some(timer) = &self.timer else { return Some(job) };
        let may_wait = may_wait(&job.socket);
        if may_wait && is_called_again(listener) {
            return Some(job);
        }
        let ConnectJob { call, socket, .. } = job;
        // Closed before its caller is answered, who has it too. Where the caller was killed meanwhile this may be the last that has it,
        // so that is interrupted as well.
        let connect_and_close = || match try_connect(&socket, address, may_wait) {
            ConnectResult::Done(reply) => {
                drop(socket);
                Ok(reply)
            }
            ConnectResult::Waits => Err(socket),
        };
        let result = if may_wait { timer.interrupting(connect_and_close) } else { connect_and_close() };
        match result {
            Ok(reply) => {
                let _ = answer(listener.as_fd(), call, reply);
                None
            }
            Err(socket) => Some(ConnectJob { socket, ..job }),
        }
    }

    fn ring(&self) {
        if let Some(bell) = &self.bell {
            bell.ring();
        }
    }

    fn start(&mut self, listener: &Arc<OwnedFd>) {
        if self.jobs.is_some() {
            return;
        }
        let (open, unjudged) = (Arc::clone(&self.open), Arc::clone(&self.unjudged));
        let Ok(bell) = JobBell::new().map(Arc::new) else { return };
        let Some(closer) = start_closer(Arc::clone(&open)) else { return };
        let (jobs, given) = channel();
        let (finished, done) = channel();
        let sockets = self.sockets.take().unwrap_or_default();
        let (listener, sink) = (Arc::clone(listener), self.sink.clone());
        let mut work = ConnectLoop {
            listener,
            sockets,
            sink,
            closer,
            open,
            unjudged,
            bell: Arc::clone(&bell),
            timer: None,
            waiting: Vec::new(),
        };
        let thread = std::thread::Builder::new().name("sandbox-connect".into()).stack_size(128 << 10);
        let is_started = thread.spawn(move || {
            work.run(&given);
            drop(finished);
            for waiting in std::mem::take(&mut work.waiting) {
                work.close(waiting.socket);
            }
        });
        if is_started.is_ok() {
            (self.jobs, self.done, self.bell) = (Some(jobs), Some(done), Some(bell));
        }
    }

    /// No caller is left. What is still being looked up is waited for, but not for long.
    pub(super) fn finish(&mut self) {
        self.jobs = None;
        self.ring();
        if let Some(done) = self.done.take()
            && done.recv_timeout(LAST_WAIT) == Err(RecvTimeoutError::Timeout)
        {
            for _ in 0..self.unjudged.load(Ordering::Acquire) {
                self.sink.record_miss();
            }
        }
    }
}

impl Drop for Connector {
    fn drop(&mut self) {
        self.finish();
    }
}

/// A thread that closes sockets and counts those that are not closed yet. It ends when all are, and nobody waits for that.
fn start_closer(open: Arc<AtomicUsize>) -> Option<Sender<OwnedFd>> {
    let (closer, given) = channel::<OwnedFd>();
    let close = move || {
        close_all(given, &open);
    };
    let thread = std::thread::Builder::new().name("sandbox-close".into()).stack_size(64 << 10);
    thread.spawn(close).is_ok().then_some(closer)
}

struct ConnectLoop {
    listener: Arc<OwnedFd>,
    sockets: SocketJudge,
    sink: RecordSink,
    closer: Sender<OwnedFd>,
    /// Sockets that are not closed yet: counted down by who closes them.
    open: Arc<AtomicUsize>,
    unjudged: Arc<AtomicUsize>,
    bell: Arc<JobBell>,
    /// Interrupts what would wait. Without it nothing is connected that could.
    timer: Option<WakeTimer>,
    waiting: Vec<WaitingConnect>,
}

/// A connection that is not made yet, of a caller that waits for it.
struct WaitingConnect {
    call: Notification,
    socket: OwnedFd,
    address: SocketAddress,
    deadline: Option<Instant>,
    /// Whether the socket says when there is something new. One of Unix does not, and one that did and was wrong is not asked until
    /// the next look.
    is_polled: bool,
}

/// An address, and what it must be kept open for.
#[derive(Default)]
struct SocketAddress {
    bytes: Vec<u8>,
    _place: Option<OwnedFd>,
}

/// Why the thread goes on.
enum ConnectWake {
    Job(Box<ConnectJob>),
    /// A socket of a caller that waits has news.
    Socket,
    /// It is time to look at all of them.
    Time,
    /// There will be no more jobs.
    NoMoreJobs,
}

/// What came of trying.
enum ConnectResult {
    Done(NotifyReply),
    /// The caller waits, and so it is tried again.
    Waits,
}

impl ConnectLoop {
    fn run(&mut self, given: &Receiver<ConnectJob>) {
        // What the run itself may not look up is not looked up for it: root's programs have no capability inside.
        let _ = caps::clear(None, caps::CapSet::Effective);
        self.timer = WakeTimer::start().ok();
        let mut look = FIRST_LOOK;
        loop {
            match self.wait_for_job(given, look) {
                ConnectWake::Job(job) => {
                    look = FIRST_LOOK;
                    self.perform(*job);
                }
                ConnectWake::Socket => self.look_again(),
                ConnectWake::Time => {
                    look = (look * 2).min(LONGEST_LOOK);
                    for waiting in &mut self.waiting {
                        waiting.is_polled = !is_of_unix(&waiting.socket);
                    }
                    self.look_again();
                }
                ConnectWake::NoMoreJobs => return,
            }
        }
    }

    /// Waits for a job, and for the sockets of callers that wait.
    fn wait_for_job(&self, given: &Receiver<ConnectJob>, look: Duration) -> ConnectWake {
        if self.waiting.is_empty() {
            return given.recv().map_or(ConnectWake::NoMoreJobs, |job| ConnectWake::Job(Box::new(job)));
        }
        self.bell.listen();
        let mut woken = ConnectWake::of(given.try_recv());
        if matches!(woken, ConnectWake::Time) {
            let sockets = self.waiting.iter().filter(|waiting| waiting.is_polled);
            let mut fds: Vec<_> =
                sockets.map(|waiting| PollFd::new(&waiting.socket, PollFlags::OUT)).collect();
            fds.push(PollFd::new(&*self.bell, PollFlags::IN));
            let wait = Timespec { tv_sec: 0, tv_nsec: look.subsec_nanos().into() };
            let _ = poll(&mut fds, Some(&wait));
            let is_news = fds.iter().any(|fd| fd.revents().intersects(SOCKET_NEWS));
            woken = match ConnectWake::of(given.try_recv()) {
                ConnectWake::Time if is_news => ConnectWake::Socket,
                woken => woken,
            };
        }
        self.bell.ignore();
        woken
    }

    fn perform(&mut self, job: ConnectJob) {
        let ConnectJob { call, socket, target, at, actor } = job;
        let record = |action| self.sink.record(SyscallRecord { at, actor, action });
        let (result, address) = match target {
            ConnectTarget::Refused(errno) => (fails(errno), SocketAddress::default()),
            ConnectTarget::Address(bytes) => {
                let address = SocketAddress { bytes, _place: None };
                (self.try_connect(&socket, &address.bytes), address)
            }
            ConnectTarget::Netlink(bytes) => {
                name_netlink(&socket, call.pid);
                let address = SocketAddress { bytes, _place: None };
                (self.try_connect(&socket, &address.bytes), address)
            }
            ConnectTarget::Abstract(bytes) => {
                let address = SocketAddress { bytes, _place: None };
                let is_outside = self.sockets.is_outside(&socket);
                let result =
                    if is_outside { fails(libc::EACCES) } else { self.try_connect(&socket, &address.bytes) };
                let name = address.bytes.get(2..).unwrap_or_default().to_owned();
                let is_reached = !matches!(result, ConnectResult::Done(NotifyReply::Fail(_)));
                record(RecordedAction::ConnectAbstract { name, is_reached });
                (result, address)
            }
            ConnectTarget::Path(path, full) => match self.sockets.find(&full, call.pid) {
                SocketPlace::Allowed(place, rule) => {
                    record(RecordedAction::Connect { path, verdict: Some(AccessVerdict::Allowed(rule)) });
                    let address = SocketAddress::of(place);
                    (self.try_connect(&socket, &address.bytes), address)
                }
                SocketPlace::Denied(reason) => {
                    record(RecordedAction::Connect { path, verdict: Some(AccessVerdict::Denied(reason)) });
                    (fails(libc::EACCES), SocketAddress::default())
                }
                SocketPlace::Fails(errno) => {
                    record(RecordedAction::Connect { path, verdict: None });
                    (fails(errno.raw_os_error()), SocketAddress::default())
                }
            },
        };
        self.unjudged.fetch_sub(1, Ordering::AcqRel);
        match result {
            ConnectResult::Done(reply) => self.reply(call, reply, socket),
            ConnectResult::Waits => {
                let deadline = socket_timeout(&socket, Timeout::Send).ok().flatten();
                let deadline = deadline.and_then(|wait| Instant::now().checked_add(wait));
                let is_polled = !is_of_unix(&socket);
                self.waiting.push(WaitingConnect { call, socket, address, deadline, is_polled });
            }
        }
    }

    /// Tries what is not connected yet once more, where that may have changed.
    fn look_again(&mut self) {
        let now = Instant::now();
        for mut waiting in std::mem::take(&mut self.waiting) {
            if !is_waiting(self.listener.as_fd(), waiting.call) {
                self.close(waiting.socket);
                continue;
            }
            let result = if is_ready(&waiting.socket) {
                waiting.is_polled = false;
                self.try_connect(&waiting.socket, &waiting.address.bytes)
            } else {
                ConnectResult::Waits
            };
            let is_late = waiting.deadline.is_some_and(|deadline| now >= deadline);
            match result {
                ConnectResult::Done(reply) => self.reply(waiting.call, reply, waiting.socket),
                // What `SO_SNDTIMEO` makes of it (socket(7)).
                ConnectResult::Waits if is_late => {
                    self.reply(waiting.call, NotifyReply::Fail(libc::EINPROGRESS), waiting.socket);
                }
                ConnectResult::Waits => self.waiting.push(waiting),
            }
        }
    }

    fn try_connect(&self, socket: &OwnedFd, address: &[u8]) -> ConnectResult {
        match &self.timer {
            _ if !may_wait(socket) => try_connect(socket, address, false),
            Some(timer) => timer.interrupting(|| try_connect(socket, address, true)),
            None => fails(libc::EAGAIN),
        }
    }

    /// A caller that was killed in the meantime needs no answer.
    fn reply(&self, call: Notification, reply: NotifyReply, socket: OwnedFd) {
        match &self.timer {
            // Nothing is in it that would be closed with it.
            Some(timer) if is_of_internet(&socket) => {
                timer.interrupting(|| drop(socket));
                self.open.fetch_sub(1, Ordering::AcqRel);
                let _ = answer(self.listener.as_fd(), call, reply);
            }
            _ => {
                let _ = answer(self.listener.as_fd(), call, reply);
                self.close(socket);
            }
        }
    }

    fn close(&self, socket: OwnedFd) {
        // It ends only after its sender.
        let _ = self.closer.send(socket);
    }
}

/// Whether another call waits to be looked at.
fn is_called_again(listener: &OwnedFd) -> bool {
    let mut fds = [PollFd::new(listener, PollFlags::IN)];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut fds, Some(&now)).is_ok_and(|ready| ready > 0)
}

/// Whether to connect a socket, or to close it, may wait. To connect one of datagrams is to remember an address, for which nothing is waited
/// for and nothing is to be set.
fn may_wait(socket: &OwnedFd) -> bool {
    matches!(socket_type(socket), Ok(SocketType::STREAM | SocketType::SEQPACKET))
}

/// Connects without waiting, whatever the socket is set to: while it is not connected, nothing else depends on that.
fn try_connect(socket: &OwnedFd, address: &[u8], may_wait: bool) -> ConnectResult {
    let connect = || connect(socket.as_fd(), address);
    if !may_wait {
        return connect().map_or_else(|errno| fails(errno.0), |()| ConnectResult::Done(NotifyReply::Succeed));
    }
    let Ok(flags) = fcntl_getfl(socket) else {
        return fails(libc::EBADF);
    };
    let is_blocking = !flags.contains(OFlags::NONBLOCK);
    if is_blocking && fcntl_setfl(socket, flags | OFlags::NONBLOCK).is_err() {
        return fails(libc::EACCES);
    }
    let result = match connect() {
        // A listener of the same machine has answered before the call is over, which looks at the answer only when it is asked once
        // more: the socket was in use (`inet_stream_connect`).
        Err(Errno(libc::EINPROGRESS)) if is_blocking => connect(),
        result => result,
    };
    if is_blocking {
        let flags = fcntl_getfl(socket).unwrap_or(flags);
        let _ = fcntl_setfl(socket, flags - OFlags::NONBLOCK);
    }
    match result {
        Ok(()) => ConnectResult::Done(NotifyReply::Succeed),
        // Somebody has set it back meanwhile.
        Err(Errno(libc::EINTR)) => ConnectResult::Waits,
        Err(Errno(libc::EINPROGRESS | libc::EALREADY | libc::EAGAIN)) if is_blocking => ConnectResult::Waits,
        Err(errno) => fails(errno.0),
    }
}

fn fails(errno: i32) -> ConnectResult {
    ConnectResult::Done(NotifyReply::Fail(errno))
}

impl SocketAddress {
    /// What is bound at a place that is held open, whatever its path leads to by now.
    fn of(place: OwnedFd) -> Self {
        let mut bytes = u16::try_from(libc::AF_UNIX).unwrap_or(1).to_ne_bytes().to_vec();
        bytes.extend_from_slice(format!("/proc/self/fd/{}\0", place.as_raw_fd()).as_bytes());
        Self { bytes, _place: Some(place) }
    }
}

impl ConnectWake {
    fn of(received: Result<ConnectJob, TryRecvError>) -> Self {
        match received {
            Ok(job) => Self::Job(Box::new(job)),
            Err(TryRecvError::Empty) => Self::Time,
            Err(TryRecvError::Disconnected) => Self::NoMoreJobs,
        }
    }
}

fn is_of_unix(socket: &OwnedFd) -> bool {
    socket_domain(socket) == Ok(AddressFamily::UNIX)
}

fn is_of_internet(socket: &OwnedFd) -> bool {
    matches!(socket_domain(socket), Ok(AddressFamily::INET | AddressFamily::INET6))
}

/// Whether there is something new: a connection that was made or refused. Of a Unix socket that cannot be asked.
fn is_ready(socket: &OwnedFd) -> bool {
    if is_of_unix(socket) {
        return true;
    }
    let mut fds = [PollFd::new(socket, PollFlags::OUT)];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut fds, Some(&now)).is_ok_and(|ready| ready > 0)
}

/// Names tried for a netlink socket whose process has given its own to another: far from those of processes.
const OTHER_NAMES: std::ops::Range<u32> = 0xf000_0000..0xf000_0400;

/// Names a netlink socket that has no name yet after its process, as the kernel does; it would take the launching program's number.
fn name_netlink(socket: &OwnedFd, thread: u32) {
    let named = rustix::net::getsockname(socket).ok().and_then(|name| SocketAddrNetlink::try_from(name).ok());
    if named.is_none_or(|name| name.pid() != 0) {
        return;
    }
    let status = std::fs::read_to_string(format!("/proc/{thread}/status")).unwrap_or_default();
    let inside = |line: &str| line.strip_prefix("NStgid:")?.split_whitespace().last()?.parse().ok();
    let own: Option<u32> = status.lines().find_map(inside);
    for name in own.into_iter().chain(OTHER_NAMES) {
        if rustix::net::bind(socket, &SocketAddrNetlink::new(name, 0)) != Err(rustix::io::Errno::ADDRINUSE) {
            return;
        }
    }
}
