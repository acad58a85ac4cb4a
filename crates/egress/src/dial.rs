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
const PATIENCE: Duration = Duration::from_secs(10);

/// Attempts that go on at a time.
const MOST: usize = 8;

/// Several addresses, of which one is wanted.
#[derive(Debug)]
pub(crate) struct Dial {
    waiting: VecDeque<SocketAddr>,
    going_on: Vec<Going>,
    /// Attempts so far: what tells their sockets apart.
    started: u8,
    next: Instant,
    error: Option<Errno>,
}

#[derive(Debug)]
struct Going {
    socket: OwnedFd,
    to: SocketAddr,
    number: u8,
    until: Instant,
}

/// How far it has come.
#[derive(Debug)]
pub(crate) enum Dialled {
    /// Look again when a socket is ready, or at this time.
    Waits(Instant),
    Connected(OwnedFd, SocketAddr),
    Failed(io::Error),
}

impl Dial {
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
        Self { waiting, going_on: Vec::new(), started: 0, next: now, error: None }
    }

    /// A socket of an attempt has news.
    pub(crate) fn ready(&mut self, number: u8) -> Option<(OwnedFd, SocketAddr)> {
        let place = self.going_on.iter().position(|going| going.number == number)?;
        let going = self.going_on.get(place)?;
        match sockopt::socket_error(&going.socket) {
            Ok(Ok(())) if rustix::net::getpeername(&going.socket).is_ok() => {
                let going = self.going_on.swap_remove(place);
                Some((going.socket, going.to))
            }
            // Not yet.
            Ok(Ok(())) => None,
            Ok(Err(errno)) | Err(errno) => {
                self.error = Some(errno);
                self.going_on.swap_remove(place);
                None
            }
        }
    }

    /// Starts what is due. `watch` is given each new socket and the number of its attempt.
    pub(crate) fn go_on(
        &mut self,
        now: Instant,
        mut watch: impl FnMut(&OwnedFd, u8) -> io::Result<()>,
    ) -> Dialled {
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
            self.started = self.started.wrapping_add(1);
            match start(to) {
                Ok((socket, true)) => return Dialled::Connected(socket, to),
                Ok((socket, false)) => match watch(&socket, number) {
                    Ok(()) => {
                        self.going_on.push(Going { socket, to, number, until: now + PATIENCE });
                        self.next = now + HEAD_START;
                    }
                    Err(error) => return Dialled::Failed(error),
                },
                Err(errno) => self.error = Some(errno),
            }
        }
        let due = self.going_on.iter().map(|going| going.until).min();
        match due {
            None => Dialled::Failed(self.error.unwrap_or(Errno::HOSTUNREACH).into()),
            // With all that may go on going on, the next one has its turn when one is given up.
            Some(due) if self.waiting.is_empty() || self.going_on.len() >= MOST => Dialled::Waits(due),
            Some(due) => Dialled::Waits(due.min(self.next)),
        }
    }
}

/// A socket, and whether it is connected already.
fn start(to: SocketAddr) -> Result<(OwnedFd, bool), Errno> {
    let family = match to.ip() {
        IpAddr::V4(_) => AddressFamily::INET,
        IpAddr::V6(_) => AddressFamily::INET6,
    };
    let socket = socket_with(family, SocketType::STREAM, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC, None)?;
    // Bytes go on as they come: whoever speaks has decided how to cut them.
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

    /// A server whose queue is full: whoever connects waits.
    fn silent() -> (TcpListener, Vec<OwnedFd>) {
        let socket =
            socket_with(AddressFamily::INET, SocketType::STREAM, SocketFlags::CLOEXEC, None).unwrap();
        rustix::net::bind(&socket, &SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
        rustix::net::listen(&socket, 0).unwrap();
        let listener = TcpListener::from(socket);
        let to = listener.local_addr().unwrap();
        let mut waiting = vec![TcpStream::connect(to).unwrap().into()];
        // It is full as soon as one does not get through at once.
        while let Ok((socket, true)) = start(to) {
            waiting.push(socket);
        }
        for _ in 0..4 {
            waiting.extend(start(to).map(|(socket, _)| socket));
        }
        (listener, waiting)
    }

    /// More than may be tried at a time, and none of them answers.
    #[test]
    fn many_silent_addresses_are_waited_for_and_given_up() {
        let (listener, _waiting) = silent();
        let to = listener.local_addr().unwrap();
        let mut now = Instant::now();
        let mut dial = Dial::new([to; MOST + 3], now);
        for _ in 0..100 {
            match dial.go_on(now, |_, _| Ok(())) {
                Dialled::Waits(until) => {
                    assert!(until > now, "to be asked again at once, for ever");
                    now = until;
                }
                Dialled::Connected(..) => panic!("nobody answers"),
                Dialled::Failed(error) => {
                    assert_eq!(error.raw_os_error(), Some(Errno::TIMEDOUT.raw_os_error()));
                    return;
                }
            }
        }
        panic!("none of them was given up");
    }
}
