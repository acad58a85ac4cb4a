//! Wakes a thread that waits for descriptors, when there is a job for it in a channel.
//!
//! A channel wakes who waits for it alone. A thread that waits for sockets as well says so first; only then is there a call to make for
//! who sends.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering, fence};

use rustix::event::{EventfdFlags, eventfd};

/// The bell, and whether somebody listens to it rather than to the channel.
#[derive(Debug)]
pub(super) struct JobBell {
    event: OwnedFd,
    is_heard: AtomicBool,
}

impl JobBell {
    pub(super) fn new() -> rustix::io::Result<Self> {
        let event = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Self { event, is_heard: AtomicBool::new(false) })
    }

    /// From now on it is rung. Look into the channel afterwards: what was sent before is there.
    pub(super) fn listen(&self) {
        self.is_heard.store(true, Ordering::SeqCst);
        // Either the sender sees this, or the receiver sees what was sent.
        fence(Ordering::SeqCst);
    }

    /// The receiver looks into the channel again, whatever woke it.
    pub(super) fn ignore(&self) {
        self.is_heard.store(false, Ordering::SeqCst);
        // Always: one that is rung just now would be heard again and again.
        let mut number = [0; 8];
        let _ = rustix::io::read(&self.event, &mut number);
    }

    /// Something was sent, or will never be again.
    pub(super) fn ring(&self) {
        fence(Ordering::SeqCst);
        if self.is_heard.swap(false, Ordering::SeqCst) {
            // Cannot fail but by counting to the end of numbers.
            let _ = rustix::io::write(&self.event, &1_u64.to_ne_bytes());
        }
    }
}

impl AsFd for JobBell {
    /// Readable when it was rung.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.event.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::mpsc::channel;

    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    use super::*;

    fn is_rung(bell: &JobBell) -> bool {
        let mut fds = [PollFd::new(bell, PollFlags::IN)];
        poll(&mut fds, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).unwrap() > 0
    }

    #[test]
    fn it_is_rung_only_for_who_listens_and_once() {
        let bell = JobBell::new().unwrap();
        bell.ring();
        assert!(!is_rung(&bell), "nobody listens: no call is made");
        bell.listen();
        bell.ring();
        bell.ring();
        assert!(is_rung(&bell));
        bell.ignore();
        assert!(!is_rung(&bell));
        bell.listen();
        bell.ignore();
        bell.ring();
        assert!(!is_rung(&bell), "nobody listens any more");
    }

    #[test]
    fn no_job_is_missed() {
        const JOBS: u32 = 20_000;
        let bell = Arc::new(JobBell::new().unwrap());
        let (sender, jobs) = channel();
        let ringer = Arc::clone(&bell);
        let thread = std::thread::spawn(move || {
            for number in 0..JOBS {
                sender.send(number).unwrap();
                ringer.ring();
            }
        });
        let mut next = 0;
        while next < JOBS {
            bell.listen();
            if jobs.try_recv().map(|job| assert_eq!(job, next)).is_ok() {
                next += 1;
            } else {
                // A job that is missed is waited for in vain.
                let longest = Timespec { tv_sec: 30, tv_nsec: 0 };
                let mut fds = [PollFd::new(&*bell, PollFlags::IN)];
                assert_eq!(poll(&mut fds, Some(&longest)).unwrap(), 1, "after {next} jobs");
            }
            bell.ignore();
        }
        thread.join().unwrap();
    }
}
