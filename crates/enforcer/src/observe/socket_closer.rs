//! Closes sockets of a run's programs that were inspected.
//!
//! To inspect a socket is to hold a reference to it. If the program is killed meanwhile that is the last one, and to close it takes as
//! long as the program has chosen (`SO_LINGER`): an hour, if nobody reads what it sent. The supervisor must not wait for that.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

/// Sockets that may wait to be closed. Beyond them none is inspected.
const MOST: usize = 64;

/// How long room is waited for: the thread may only be behind, on a machine that is busy.
const LOOKS: u32 = 400;
const BETWEEN_LOOKS: Duration = Duration::from_micros(100);

/// A thread that closes what it is given, made when it is needed. It ends when all is closed, and nobody waits for that: with the
/// programs of the run, the other ends of their sockets are gone, and so is the reason to linger.
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
            let close = move || {
                for socket in given {
                    drop(socket);
                    waiting.fetch_sub(1, Ordering::Release);
                }
            };
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

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::net::{TcpListener, TcpStream};
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_socket_that_does_not_close_holds_nobody_up_and_few_are_taken() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut closer = SocketCloser::default();
        let mut peers = Vec::new();
        for _ in 0..MOST {
            let mut socket = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            peers.push(listener.accept().unwrap());
            socket.set_nonblocking(true).unwrap();
            while socket.write(&[0; 4096]).is_ok() {}
            rustix::net::sockopt::set_socket_linger(&socket, Some(Duration::from_hours(1))).unwrap();
            assert!(closer.has_room());
            closer.close_later(socket.into());
        }
        assert!(!closer.has_room(), "the first of them is not closed, nor are those behind it");
        drop(peers);
        // What is left in the others' buffers is nobody's any more, so all are closed.
        while !closer.has_room() {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}
