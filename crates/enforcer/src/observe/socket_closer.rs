//! Closes sockets of a run's programs that were inspected.
//!
//! To inspect a socket is to hold a reference to it. If the program is killed meanwhile that is the last one, and to close it would take as
//! long as the program has chosen (`SO_LINGER`): an hour, if nobody reads what it sent. The supervisor does not wait for that, and the thread
//! that closes waits a moment only: who could read may be a socket on its way in one that is closed after it. The kernel goes on sending.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use crate::sys::wake_timer::WakeTimer;

/// Sockets that may wait to be closed. Beyond them none is inspected.
const MOST: usize = 64;

/// How long room is waited for: the thread may only be behind, on a machine that is busy.
const LOOKS: u32 = 400;
const BETWEEN_LOOKS: Duration = Duration::from_micros(100);

/// A thread that closes what it is given, made when it is needed. It ends when all is closed, and nobody waits for that.
#[derive(Debug, Default)]
pub(crate) struct SocketCloser {
    thread: Option<Sender<OwnedFd>>,
    waiting: Arc<AtomicUsize>,
}

impl SocketCloser {
    /// Whether one more would be closed. To be asked before a socket is taken.
    pub(crate) fn has_room(&mut self) -> bool {
        let is_full = || self.waiting.load(Ordering::Acquire) >= MOST;
        for _ in 0..LOOKS {
            if !is_full() {
                break;
            }
            std::thread::sleep(BETWEEN_LOOKS);
        }
        if is_full() {
            return false;
        }
        if self.thread.is_none() {
            let (sender, given) = channel::<OwnedFd>();
            let waiting = Arc::clone(&self.waiting);
            let thread = std::thread::Builder::new().name("skillsandbox-end".into()).stack_size(64 << 10);
            let close = move || close_all(given, &waiting);
            self.thread = thread.spawn(close).is_ok().then_some(sender);
        }
        self.thread.is_some()
    }

    pub(crate) fn close_later(&self, socket: OwnedFd) {
        if let Some(thread) = &self.thread {
            self.waiting.fetch_add(1, Ordering::AcqRel);
            // It ends only after its sender.
            let _ = thread.send(socket);
        }
    }
}

/// Closes what comes, and counts down, until there is nobody left to send any.
pub(super) fn close_all(given: Receiver<OwnedFd>, waiting: &AtomicUsize) {
    let timer = WakeTimer::start().ok();
    for socket in given {
        match &timer {
            // Closed it is in any case.
            Some(timer) => timer.interrupting(|| drop(socket)),
            None => drop(socket),
        }
        waiting.fetch_sub(1, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::net::{TcpListener, TcpStream};
    use std::time::Duration;

    use super::*;

    fn lingering(listener: &TcpListener) -> (TcpStream, TcpStream) {
        let mut socket = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (peer, _) = listener.accept().unwrap();
        socket.set_nonblocking(true).unwrap();
        while socket.write(&[0; 4096]).is_ok() {}
        rustix::net::sockopt::set_socket_linger(&socket, Some(Duration::from_hours(1))).unwrap();
        (socket, peer)
    }

    #[test]
    fn sockets_that_linger_are_closed_all_the_same_while_nobody_reads_what_they_sent() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut closer = SocketCloser::default();
        let mut peers = Vec::new();
        for _ in 0..MOST {
            let (socket, peer) = lingering(&listener);
            peers.push(peer);
            assert!(closer.has_room());
            closer.close_later(socket.into());
        }
        // The other ends are kept all the while.
        for _ in 0..10_000 {
            if closer.waiting.load(Ordering::Acquire) > 0 {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        assert_eq!(closer.waiting.load(Ordering::Acquire), 0);
        drop(peers);
    }

    #[test]
    fn only_so_many_are_taken_that_are_not_closed_yet() {
        let mut closer = SocketCloser::default();
        assert!(closer.has_room());
        closer.waiting.store(MOST, Ordering::Release);
        assert!(!closer.has_room());
        closer.waiting.store(MOST - 1, Ordering::Release);
        assert!(closer.has_room());
    }
}
