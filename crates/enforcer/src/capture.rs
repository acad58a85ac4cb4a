//! Captured output.

use std::os::fd::{BorrowedFd, OwnedFd};

use rustix::event::{PollFd, PollFlags};

use crate::outcome::Captured;
use crate::plan::Output;

/// An output that is kept, up to a bound.
pub(crate) struct Capture {
    from: Option<OwnedFd>,
    keep: usize,
    pub(crate) captured: Captured,
}

impl Capture {
    pub(crate) fn new(from: Option<OwnedFd>, wanted: Output) -> Self {
        let keep = match wanted {
            Output::Captured(keep) => keep,
            _ => 0,
        };
        if let Some(from) = &from {
            let _ = rustix::io::ioctl_fionbio(from, true);
        }
        Self { from, keep, captured: Captured::default() }
    }

    /// What to wait for; nothing, on a descriptor that is there anyway, when the output has ended.
    pub(crate) fn poll<'a>(&'a self, otherwise: BorrowedFd<'a>) -> PollFd<'a> {
        match &self.from {
            Some(from) => PollFd::new(from, PollFlags::IN),
            None => PollFd::from_borrowed_fd(otherwise, PollFlags::empty()),
        }
    }

    pub(crate) fn read_available(&mut self) {
        let mut buffer = [0; 16 << 10];
        while let Some(from) = &self.from {
            match rustix::io::read(from, &mut buffer) {
                Ok(0) => self.from = None,
                Ok(read) => {
                    self.captured.total += read as u64;
                    let room = self.keep.saturating_sub(self.captured.bytes.len());
                    self.captured.bytes.extend_from_slice(buffer.get(..read.min(room)).unwrap_or_default());
                }
                Err(rustix::io::Errno::INTR) => {}
                Err(rustix::io::Errno::AGAIN) => return,
                Err(_) => self.from = None,
            }
        }
    }
}
