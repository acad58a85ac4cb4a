//! Captured output.

use std::os::fd::{BorrowedFd, OwnedFd};

use rustix::event::{PollFd, PollFlags};

use super::CapturedOutput;
use super::output_pipe::held_bytes;
use crate::plan::OutputMode;

/// Bytes read at a time.
const BUFFER: usize = 16 << 10;

/// Most bytes taken before the supervisor looks at its clock again: a writer as fast as this reader could otherwise keep it
/// here past every time limit.
const TURN: usize = 1 << 20;

/// An output that is kept, up to a bound.
pub(crate) struct OutputCapture {
    from: Option<OwnedFd>,
    keep: usize,
    pub(crate) captured: CapturedOutput,
}

impl OutputCapture {
    pub(crate) fn new(from: Option<OwnedFd>, wanted: OutputMode) -> Self {
        let keep = match wanted {
            OutputMode::Captured(keep) => keep,
            OutputMode::Discarded | OutputMode::Inherited | OutputMode::Piped => 0,
        };
        if let Some(from) = &from {
            let _ = rustix::io::ioctl_fionbio(from, true);
        }
        Self { from, keep, captured: CapturedOutput::default() }
    }

    /// What to wait for; nothing, on a descriptor that is there anyway, when the output has ended.
    pub(crate) fn poll<'a>(&'a self, otherwise: BorrowedFd<'a>) -> PollFd<'a> {
        match &self.from {
            Some(from) => PollFd::new(from, PollFlags::IN),
            None => PollFd::from_borrowed_fd(otherwise, PollFlags::empty()),
        }
    }

    /// Reads what there is, but no more than is right for one turn.
    pub(crate) fn read_available(&mut self) {
        self.read_at_most(TURN);
    }

    /// Reads what the pipe held when its writers ended. A writer may have handed its end to a process that still writes, so no
    /// more than that.
    pub(crate) fn read_rest(&mut self) {
        let held = self.from.as_ref().map(held_bytes).unwrap_or_default();
        self.read_at_most(held);
    }

    fn read_at_most(&mut self, most: usize) {
        let mut buffer = [0; BUFFER];
        let mut taken = 0;
        while let Some(from) = self.from.as_ref().filter(|_| taken < most) {
            let part = BUFFER.min(most - taken);
            match rustix::io::read(from, buffer.get_mut(..part).unwrap_or_default()) {
                Ok(0) => self.from = None,
                Ok(read) => {
                    taken += read;
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

#[cfg(test)]
mod tests {
    use super::*;

    /// It never ends and is never empty, like a pipe that is filled as fast as it is read.
    fn endless() -> OutputCapture {
        let zero = std::fs::File::open("/dev/zero").unwrap();
        OutputCapture::new(Some(zero.into()), OutputMode::Captured(100))
    }

    #[test]
    fn a_writer_that_never_stops_does_not_keep_the_reader() {
        let mut capture = endless();
        capture.read_available();
        assert_eq!(capture.captured.bytes.len(), 100);
        assert!(capture.captured.total >= 100 && capture.captured.total <= TURN as u64);
    }

    #[test]
    fn row_179_what_is_written_after_the_end_is_not_captured() {
        let (read, write) = rustix::pipe::pipe().unwrap();
        rustix::io::write(&write, b"before").unwrap();
        let mut capture = OutputCapture::new(Some(read), OutputMode::Captured(100));
        // As by somebody who was handed the descriptor and writes while the rest is read.
        let held = held_bytes(capture.from.as_ref().unwrap());
        rustix::io::write(&write, b" and after").unwrap();
        capture.read_at_most(held);
        assert_eq!(capture.captured.text(), "before");
    }

    #[test]
    fn what_was_written_before_the_end_is_all_there() {
        let (read, write) = rustix::pipe::pipe().unwrap();
        let size = rustix::pipe::fcntl_setpipe_size(&write, 1 << 18).unwrap();
        assert_eq!(rustix::io::write(&write, &vec![7; size]), Ok(size));
        let mut capture = OutputCapture::new(Some(read), OutputMode::Captured(usize::MAX));
        capture.read_rest();
        assert_eq!(capture.captured.bytes.len(), size);
    }
}
