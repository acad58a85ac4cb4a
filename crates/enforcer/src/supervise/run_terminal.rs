//! The outer end of a run's terminal: what the command shows is read from it, what a person types is written to it.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use super::{OutputPipe, WakeEvent};
use crate::layers::terminal::window;
use crate::plan::TerminalSize;

/// The outer end of the terminal of a [`RunningCommand`](crate::RunningCommand).
#[derive(Debug)]
pub struct RunTerminal {
    outer: OwnedFd,
    ended: Arc<WakeEvent>,
}

impl RunTerminal {
    pub(super) fn new(outer: OwnedFd, ended: &Arc<WakeEvent>) -> Self {
        Self { outer, ended: Arc::clone(ended) }
    }

    /// What the command shows, to the end of the run and no further.
    ///
    /// # Errors
    /// No further descriptor can be had.
    pub fn output(&self) -> io::Result<OutputPipe> {
        OutputPipe::of_terminal(self.outer.try_clone()?, &self.ended)
    }

    /// What a person types goes here, and the size of their window.
    #[must_use]
    pub fn control(self) -> TerminalControl {
        TerminalControl(self.outer.into())
    }
}

/// Types into a run's terminal, and says how large it is.
#[derive(Debug)]
pub struct TerminalControl(File);

impl TerminalControl {
    /// The same once more, for another thread.
    ///
    /// # Errors
    /// No further descriptor can be had.
    pub fn try_clone(&self) -> io::Result<Self> {
        self.0.try_clone().map(Self)
    }

    /// The window has this size from now on; programs inside are told (`SIGWINCH`).
    pub fn resize(&self, size: TerminalSize) {
        // Fails only where the run has ended.
        let _ = rustix::termios::tcsetwinsize(&self.0, window(size));
    }

    /// Types bytes. What the command does not read waits; as much as there is room for is taken.
    ///
    /// # Errors
    /// The terminal is gone, or takes nothing now ([`io::ErrorKind::WouldBlock`]).
    pub fn type_bytes(&self, bytes: &[u8]) -> io::Result<usize> {
        io::Write::write(&mut &self.0, bytes)
    }

    /// Waits until bytes can be typed, a moment at most.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn wait_for_room(&self) -> io::Result<()> {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let moment = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
        let mut fds = [PollFd::new(&self.0, PollFlags::OUT)];
        match poll(&mut fds, Some(&moment)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(errno) => Err(errno.into()),
        }
    }
}
