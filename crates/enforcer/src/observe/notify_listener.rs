//! The thread that hears of calls and answers them, while their callers wait.

use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};

use super::caller_memory::{self, Unread};
use super::destinations::{Destinations, unix_socket};
use super::path_resolver::Inside;
use super::process_table::Processes;
use super::record_queue::Queue;
use super::refusals::Refusals;
use super::syscall_record::{Place, Raw, RawPath, RawTried, What, shape, writes};
use super::{Actor, Operation};
use crate::seccomp::{Judgement, Profile};
use crate::supervise::Wake;
use crate::sys::seccomp::{Answer, Asked, answer, receive, receive_ends, wake_in_place};

/// `AT_FDCWD`, as a register has it.
const HERE: u32 = libc::AT_FDCWD.cast_unsigned();

/// What an eye sees with, and what it has seen.
#[derive(Debug)]
pub(crate) struct Sight {
    profile: Profile,
    pub(crate) refusals: Refusals,
    pub(crate) destinations: Destinations,
    queue: Option<Arc<Queue>>,
    processes: Processes,
    inside: Inside,
    /// Whether the run's own program was about to be executed: by a process of ours, whose memory need not be for us to read. What it
    /// executes is known.
    is_launched: bool,
    /// Woken up when something that must be told could not be.
    required: Option<Arc<Wake>>,
    patience: Patience,
}

/// With those who try what is refused again and again: to answer costs time of the launching program, which no limit of the run holds.
#[derive(Debug)]
struct Patience {
    since: Instant,
    refused: u32,
}

impl Patience {
    /// Refusals in a tenth of a second that are answered at once.
    const MOST: u32 = 200;

    /// What each one more has to wait.
    const WAIT: Duration = Duration::from_millis(1);

    /// How long the next one has to wait.
    fn lose(&mut self, now: Instant) -> Duration {
        if now.duration_since(self.since) > Duration::from_millis(100) {
            *self = Self { since: now, refused: 0 };
        }
        self.refused += 1;
        if self.refused > Self::MOST { Self::WAIT } else { Duration::ZERO }
    }
}

impl Sight {
    pub(crate) fn new(
        profile: Profile,
        destinations: Destinations,
        queue: Option<Arc<Queue>>,
        inside: Inside,
        required: Option<Arc<Wake>>,
    ) -> Self {
        let refusals = Refusals::default();
        let patience = Patience { since: Instant::now(), refused: 0 };
        let processes = Processes::default();
        let is_launched = false;
        Self { profile, refusals, destinations, queue, processes, inside, is_launched, required, patience }
    }
}

/// An eye that is open. It closes by itself when nobody is left to be seen.
#[derive(Debug)]
pub(crate) struct Eye {
    thread: Option<JoinHandle<Sight>>,
    stop: OwnedFd,
}

impl Eye {
    /// Listens to a filter, in a thread of its own.
    pub(crate) fn open(listener: OwnedFd, mut sight: Sight) -> io::Result<Self> {
        wake_in_place(listener.as_fd());
        let stop = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let stopped = rustix::io::fcntl_dupfd_cloexec(&stop, 0)?;
        let thread = std::thread::Builder::new().name("skillsandbox-eye".into()).stack_size(128 << 10);
        let thread = thread.spawn(move || {
            sight.look(&listener, &stopped);
            sight
        })?;
        Ok(Self { thread: Some(thread), stop })
    }

    /// What it has seen, when everybody is gone.
    pub(crate) fn close(mut self) -> Option<Sight> {
        self.end()
    }

    fn end(&mut self) -> Option<Sight> {
        let thread = self.thread.take()?;
        let _ = rustix::io::write(&self.stop, &1_u64.to_ne_bytes());
        thread.join().ok()
    }
}

impl Drop for Eye {
    fn drop(&mut self) {
        self.end();
    }
}

impl Sight {
    fn look(&mut self, listener: &OwnedFd, stop: &OwnedFd) {
        let is_told_of_the_end = receive_ends();
        loop {
            // One call less for each that is observed.
            if is_told_of_the_end && let Ok(asked) = receive(listener.as_fd()) {
                self.serve(listener.as_fd(), asked);
                continue;
            }
            let mut fds = [PollFd::new(listener, PollFlags::IN), PollFd::new(stop, PollFlags::IN)];
            if poll(&mut fds, None).is_err() {
                continue;
            }
            let [asked, stopped] = fds.map(|fd| fd.revents());
            if asked.contains(PollFlags::IN) {
                // Where nobody waits nothing is asked for: before Linux 6.11 that question is not answered even when all who could
                // call are gone. That the caller was killed meanwhile is no error.
                if let Ok(asked) = receive(listener.as_fd()) {
                    self.serve(listener.as_fd(), asked);
                }
            } else if !stopped.is_empty() || !asked.is_empty() {
                return;
            }
        }
    }

    fn serve(&mut self, listener: BorrowedFd<'_>, asked: Asked) {
        let reply = if self.profile.observes(asked.number, asked.arguments) {
            let now = Instant::now();
            if let Some(socket) = unix_socket(asked) {
                return self.connects(listener, asked, socket, now);
            }
            self.destinations.see(listener, asked, || self.processes.actor(asked.pid, now))
        } else {
            match self.profile.judge(asked.number, asked.arguments) {
                Ok(Judgement::Allowed) if shape(asked.number).is_some() => {
                    return self.watch(listener, asked);
                }
                judgement => {
                    let (reply, call) = self.refusals.judge(asked, &judgement);
                    self.tell(asked, RawTried::Refused(call));
                    reply
                }
            }
        };
        if matches!(reply, Answer::Fail(_)) {
            let wait = self.patience.lose(Instant::now());
            if !wait.is_zero() {
                std::thread::sleep(wait);
            }
        }
        // A caller that was killed in the meantime needs no answer; another failure leaves it waiting for its end.
        let _ = answer(listener, asked, reply);
        self.destinations.tell();
    }

    /// Somebody connects to a socket that has a place in the file system, and goes on.
    fn connects(&mut self, listener: BorrowedFd<'_>, asked: Asked, text: Vec<u8>, now: Instant) {
        let actor = self.processes.actor(asked.pid, now);
        let is_relative = text.first() != Some(&b'/');
        let base = is_relative.then(|| self.processes.folder(asked.pid, None, now));
        let path = base.transpose().map(|base| {
            let path = RawPath::new(text, base, true, false);
            self.led(path, actor.as_deref())
        });
        if !answer(listener, asked, Answer::GoOn).unwrap_or(false) {
            return;
        }
        match path {
            Ok(path) => {
                let what = RawTried::File { operation: Operation::Connect, path, to: None };
                self.put(Raw { at: now, actor, what });
            }
            Err(_) => self.miss(),
        }
    }

    /// Sees what a call is about, and lets it go on. What the kernel could not read either is not left to it: another thread might put
    /// something there before it looks.
    fn watch(&mut self, listener: BorrowedFd<'_>, asked: Asked) {
        let now = Instant::now();
        let actor = self.processes.actor(asked.pid, now);
        let seen = self.seen(asked, actor.as_deref(), now);
        let mut is_launch = false;
        if matches!(shape(asked.number), Some(shape) if matches!(shape.operation, What::Exec(_))) {
            self.processes.executes(asked.pid, now);
            is_launch = !std::mem::replace(&mut self.is_launched, true);
        }
        self.inside.hold(asked.pid);
        let reply = match seen {
            Err(Unread::Fails(errno)) => Answer::Fail(errno),
            _ => Answer::GoOn,
        };
        // If its caller still waits, what was read was its own.
        let is_its_own = answer(listener, asked, reply).unwrap_or(false);
        match seen {
            Ok(what) if is_its_own => self.put(Raw { at: now, actor, what }),
            Err(Unread::Hidden) if is_its_own && !is_launch => self.miss(),
            _ => {}
        }
    }

    fn seen(&mut self, asked: Asked, actor: Option<&Actor>, now: Instant) -> Result<RawTried, Unread> {
        let shape = shape(asked.number).ok_or(Unread::Hidden)?;
        let argument = |index: usize| asked.arguments.get(index).copied().unwrap_or_default();
        let path = self.path(asked, shape.path, now)?;
        // An empty path is no file that can be opened.
        let path = if matches!(shape.operation, What::Open(_)) { path } else { path.or_descriptor() };
        let path = self.led(path, actor);
        Ok(match shape.operation {
            What::Exec(at) => {
                let arguments = caller_memory::arguments(asked.pid, argument(at));
                RawTried::Exec { path, arguments }
            }
            What::Open(flags) => {
                let operation = if writes(argument(flags)) { Operation::Write } else { Operation::Read };
                RawTried::File { operation, path, to: None }
            }
            What::Does(operation @ Operation::Symlink) => {
                // What a link says is a text, and begins where the link is.
                let to =
                    shape.to.map(|place| caller_memory::path(asked.pid, argument(place.path))).transpose()?;
                let to = to.map(|text| RawPath::new(text, None, true, false));
                RawTried::File { operation, path, to }
            }
            What::Does(operation) => {
                let to = shape.to.map(|place| self.path(asked, place, now)).transpose()?;
                let to = to.map(|to| self.led(to, actor));
                RawTried::File { operation, path, to }
            }
        })
    }

    fn path(&mut self, asked: Asked, place: Place, now: Instant) -> Result<RawPath, Unread> {
        let argument = |index: usize| asked.arguments.get(index).copied().unwrap_or_default();
        let text = caller_memory::path(asked.pid, argument(place.path))?;
        let (follows, makes) = place.last.of(argument);
        if text.first() == Some(&b'/') {
            return Ok(RawPath::new(text, None, follows, makes));
        }
        let folder = place.folder.map(|folder| u32::try_from(argument(folder) & 0xffff_ffff).unwrap_or(HERE));
        let folder = folder.filter(|folder| *folder != HERE).map(u32::cast_signed);
        let base = match self.processes.folder(asked.pid, folder, now) {
            // A descriptor that is not open.
            Err(rustix::io::Errno::NOENT) if folder.is_some() => return Err(Unread::Fails(libc::EBADF)),
            base => base.map_err(|_| Unread::Hidden)?,
        };
        Ok(RawPath::new(text, Some(base), follows, makes))
    }

    /// Finds out where a path leads while its caller waits, if that might be elsewhere a moment later.
    fn led(&mut self, mut path: RawPath, actor: Option<&Actor>) -> RawPath {
        if self.queue.is_some() && !self.inside.is_settled(&path) {
            path.lead = self.inside.lead(&path, actor);
        }
        path
    }

    /// Tells of something that did not have to be looked at while its caller waits.
    fn tell(&mut self, asked: Asked, what: RawTried) {
        if self.queue.is_some() {
            let now = Instant::now();
            let actor = self.processes.actor(asked.pid, now);
            self.put(Raw { at: now, actor, what });
        }
    }

    fn put(&self, raw: Raw) {
        let has_room = self.queue.as_ref().is_none_or(|queue| queue.put(raw));
        if let Some(required) = self.required.as_ref().filter(|_| !has_room) {
            required.signal();
        }
    }

    /// Something was tried, and it could not be seen what.
    fn miss(&self) {
        if let Some(queue) = &self.queue {
            queue.miss();
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
    fn whoever_tries_again_and_again_waits_and_whoever_stops_does_not() {
        let now = Instant::now();
        let mut patience = Patience { since: now, refused: 0 };
        assert!((0..Patience::MOST).all(|_| patience.lose(now).is_zero()));
        assert_eq!(patience.lose(now), Patience::WAIT);
        assert_eq!(patience.lose(now + Duration::from_millis(100)), Patience::WAIT);
        assert_eq!(patience.lose(now + Duration::from_millis(101)), Duration::ZERO);
    }
}
