//! Connecting to the first of several addresses that answers (RFC 8305).

use std::collections::VecDeque;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with, sockopt};

/// Before the next address is tried as well.
const HEAD_START: Duration = Duration::from_millis(250);

/// Before one address is given up.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Before a socket is asked for again, where the launching program has no descriptors left.
const ACCEPT_BACKOFF: Duration = Duration::from_millis(50);

/// Attempts that go on at a time.
const MOST: usize = 8;

/// Several addresses, of which one is wanted.
#[derive(Debug)]
pub(crate) struct DialAttempts {
    waiting: VecDeque<SocketAddr>,
    going_on: Vec<DialInProgress>,
    /// Attempts so far: what tells their sockets apart.
    started: u8,
    next: Instant,
    /// Descriptors are waited for until then.
    give_up: Instant,
    error: Option<Errno>,
}

#[derive(Debug)]
struct DialInProgress {
    socket: OwnedFd,
    to: SocketAddr,
    number: u8,
    until: Instant,
}

/// How far it has come.
#[derive(Debug)]
pub(crate) enum DialProgress {
    /// Look again when a socket is ready, or at this time.
    Waits(Instant),
    Connected(OwnedFd, SocketAddr, u8),
    Failed(io::Error),
}

impl DialAttempts {
    /// The addresses in the order in which a resolver gave them; the other kind gets every second turn.
    pub(crate) fn new(addresses: impl IntoIterator<Item = SocketAddr>, now: Instant) -> Self {
        let (mut first, mut second): (VecDeque<_>, VecDeque<_>) = (VecDeque::new(), VecDeque::new());
        for address in addresses {
            let is_first = first.front().is_none_or(|one: &SocketAddr| one.is_ipv6() == address.is_ipv6());
            if is_first { first.push_back(address) } else { second.push_back(address) }
        }
        let mut waiting = VecDeque::new();
        while let Some(one) = first.pop_front() {
            waiting.push_back(one);
            waiting.extend(second.pop_front());
        }
        waiting.extend(second);
        Self { waiting, going_on: Vec::new(), started: 0, next: now, give_up: now + TIMEOUT, error: None }
    }

    /// A socket of an attempt has news. `has_failed`: the kernel says that something is wrong with it; if not, it is connected.
    pub(crate) fn take_connected(&mut self, number: u8, has_failed: bool) -> Option<(OwnedFd, SocketAddr)> {
        let position = self.going_on.iter().position(|going| going.number == number)?;
        let going = self.going_on.get(position)?;
        if !has_failed {
            let going = self.going_on.swap_remove(position);
            return Some((going.socket, going.to));
        }
        match sockopt::socket_error(&going.socket) {
            Ok(Ok(())) if rustix::net::getpeername(&going.socket).is_ok() => {
                let going = self.going_on.swap_remove(position);
                Some((going.socket, going.to))
            }
            // Not yet.
            Ok(Ok(())) => None,
            Ok(Err(errno)) | Err(errno) => {
                self.error = Some(errno);
                self.going_on.swap_remove(position);
                None
            }
        }
    }

    /// Starts what is due. `watch` is given each new socket and the number of its attempt.
    pub(crate) fn advance(
        &mut self,
        now: Instant,
        watch: impl FnMut(&OwnedFd, u8) -> io::Result<()>,
    ) -> DialProgress {
        self.advance_with(now, watch, start_connect)
    }

    fn advance_with(
        &mut self,
        now: Instant,
        mut watch: impl FnMut(&OwnedFd, u8) -> io::Result<()>,
        mut start_connect: impl FnMut(SocketAddr) -> Result<(OwnedFd, bool), Errno>,
    ) -> DialProgress {
        self.going_on.retain(|going| {
            let in_time = now < going.until;
            if !in_time {
                self.error = Some(Errno::TIMEDOUT);
            }
            in_time
        });
        while (now >= self.next || self.going_on.is_empty()) && self.going_on.len() < MOST {
            let Some(to) = self.waiting.pop_front() else { break };
            let number = self.started;
            match start_connect(to) {
                Ok((socket, is_connected)) => match watch(&socket, number) {
                    Ok(()) if is_connected => return DialProgress::Connected(socket, to, number),
                    Ok(()) => {
                        self.started = self.started.wrapping_add(1);
                        self.going_on.push(DialInProgress { socket, to, number, until: now + TIMEOUT });
                        self.next = now + HEAD_START;
                    }
                    Err(error) => return DialProgress::Failed(error),
                },
                // Of the launching program, not of the destination: others give theirs back.
                Err(Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM) if now < self.give_up => {
                    self.waiting.push_front(to);
                    self.next = now + ACCEPT_BACKOFF;
                    return DialProgress::Waits(self.next);
                }
                Err(errno) => self.error = Some(errno),
            }
        }
        let due = self.going_on.iter().map(|going| going.until).min();
        // Where as many go on as may, the next one waits for the end of one of them, not for its own time, which has come.
        let may_start = !self.waiting.is_empty() && self.going_on.len() < MOST;
        match due {
            None => DialProgress::Failed(self.error.unwrap_or(Errno::HOSTUNREACH).into()),
            Some(due) if may_start => DialProgress::Waits(due.min(self.next)),
            Some(due) => DialProgress::Waits(due),
        }
    }
}

/// A socket, and whether it is connected already.
fn start_connect(to: SocketAddr) -> Result<(OwnedFd, bool), Errno> {
    let family = match to.ip() {
        IpAddr::V4(_) => AddressFamily::INET,
        IpAddr::V6(_) => AddressFamily::INET6,
    };
    let socket = socket_with(family, SocketType::STREAM, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC, None)?;
    // Bytes go on as they come: the sender has decided how to cut them.
    let _ = sockopt::set_tcp_nodelay(&socket, true);
    match rustix::net::connect(&socket, &to) {
        Ok(()) => Ok((socket, true)),
        Err(Errno::INPROGRESS) => Ok((socket, false)),
        Err(errno) => Err(errno),
    }
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    /// A listener on loopback that never answers: its queue is full, and the kernel drops new connections.
    fn deaf() -> (TcpListener, Vec<TcpStream>, SocketAddr) {
        let listener =
            socket_with(AddressFamily::INET, SocketType::STREAM, SocketFlags::CLOEXEC, None).unwrap();
        rustix::net::bind(&listener, &SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
        rustix::net::listen(&listener, 0).unwrap();
        let listener = TcpListener::from(listener);
        let to = listener.local_addr().unwrap();
        let mut queued = Vec::new();
        while queued.len() < 16 {
            match TcpStream::connect_timeout(&to, Duration::from_millis(200)) {
                Ok(stream) => queued.push(stream),
                Err(_) => return (listener, queued, to),
            }
        }
        panic!("the queue has no end");
    }

    /// A name may have many addresses, and none may answer: the caller is never told to look again at once.
    #[test]
    fn looks_again_later_however_many_do_not_answer() {
        let (_listener, _queued, to) = deaf();
        let mut now = Instant::now();
        let mut dial = DialAttempts::new(vec![to; 20], now);
        let mut most = 0;
        for _ in 0..200 {
            match dial.advance(now, |_, _| Ok(())) {
                DialProgress::Waits(at) => {
                    assert!(at > now, "with {} of them going on", dial.going_on.len());
                    now = at;
                }
                DialProgress::Connected(..) => panic!("somebody answered"),
                DialProgress::Failed(error) => {
                    assert_eq!(error.raw_os_error(), Some(Errno::TIMEDOUT.raw_os_error()));
                    assert_eq!((dial.started, most), (20, MOST), "all were tried");
                    return;
                }
            }
            most = most.max(dial.going_on.len());
        }
        panic!("it goes on for ever");
    }

    #[test]
    fn descriptors_are_waited_for_and_not_for_ever() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (begun, to) = (Instant::now(), listener.local_addr().unwrap());
        let without = |_| Err(Errno::MFILE);
        let mut dial = DialAttempts::new([to], begun);
        let mut now = begun;
        for _ in 0..10 {
            let DialProgress::Waits(at) = dial.advance_with(now, |_, _| Ok(()), without) else {
                panic!("it gave up")
            };
            assert!(at > now && at < begun + TIMEOUT);
            now = at;
        }
        match dial.advance(now, |_, _| Ok(())) {
            DialProgress::Waits(_) => assert_eq!(dial.going_on.len(), 1, "there is one now"),
            DialProgress::Connected(_, connected, _) => assert_eq!(connected, to),
            DialProgress::Failed(error) => panic!("{error}"),
        }
        let mut dial = DialAttempts::new([to], begun);
        let DialProgress::Failed(error) = dial.advance_with(begun + TIMEOUT, |_, _| Ok(()), without) else {
            panic!("it waits for ever");
        };
        assert_eq!(error.raw_os_error(), Some(Errno::MFILE.raw_os_error()));
    }
}
