//! What a command says, as it says it, to the end of the run and no further.
//!
//! A pipe ends when nobody can write to it any more, but a run can hand its end of one to a process that outlives it: to another run, by
//! a socket in a folder that both may write. So the end of the run is the end of its output, whatever the pipe says: what it held then
//! is read, and nothing that comes later.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::sync::Arc;

use rustix::event::{PollFd, PollFlags, poll};

use super::WakeEvent;

/// Standard output or standard error of a run, where it was asked for as a pipe: read it to its end, which comes when the run ends.
#[derive(Debug)]
pub struct OutputPipe {
    pipe: File,
    ended: Arc<WakeEvent>,
    /// Bytes that are still to come, once the run has ended.
    rest: Option<usize>,
    /// Whether it is the outer end of a terminal, which is an error to read while nobody has the inner one open.
    is_terminal: bool,
}

/// The most that a terminal holds when its run ends. The kernel keeps less (`TTYB_DEFAULT_MEM_LIMIT`, 64 KiB).
const TERMINAL_HOLDS: usize = 128 << 10;

/// How long to wait for somebody to open a terminal again that all programs of a run have closed.
const REOPEN_LOOK: rustix::event::Timespec = rustix::event::Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

impl OutputPipe {
    pub(super) fn new(pipe: OwnedFd, ended: &Arc<WakeEvent>) -> Self {
        // Others may read from the same pipe, so that what was there a moment ago is there no more.
        let _ = rustix::io::ioctl_fionbio(&pipe, true);
        Self { pipe: pipe.into(), ended: Arc::clone(ended), rest: None, is_terminal: false }
    }

    /// The same of a terminal's outer end.
    pub(super) fn of_terminal(outer: OwnedFd, ended: &Arc<WakeEvent>) -> io::Result<Self> {
        rustix::io::ioctl_fionbio(&outer, true)?;
        Ok(Self { pipe: outer.into(), ended: Arc::clone(ended), rest: None, is_terminal: true })
    }

    /// Whether an error says that nobody has the inner end of the terminal open.
    fn is_closed(&self, error: &io::Error) -> bool {
        self.is_terminal && error.raw_os_error() == Some(libc::EIO)
    }

    fn read_rest(&mut self, buffer: &mut [u8], rest: usize) -> io::Result<usize> {
        let most = buffer.len().min(rest);
        let read = match self.pipe.read(buffer.get_mut(..most).unwrap_or_default()) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock || self.is_closed(&error) => 0,
            result => result?,
        };
        self.rest = Some(if read == 0 { 0 } else { rest - read });
        Ok(read)
    }
}

impl Read for OutputPipe {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if let Some(rest) = self.rest {
                return self.read_rest(buffer, rest);
            }
            let mut fds = [PollFd::new(&self.ended.0, PollFlags::IN), PollFd::new(&self.pipe, PollFlags::IN)];
            match poll(&mut fds, None) {
                Err(rustix::io::Errno::INTR) => continue,
                result => result?,
            };
            let [ended, _] = fds.map(|fd| !fd.revents().is_empty());
            if ended {
                self.rest = Some(if self.is_terminal { TERMINAL_HOLDS } else { held_bytes(&self.pipe) });
                continue;
            }
            match self.pipe.read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) if self.is_closed(&error) => {
                    let _ = poll(&mut [PollFd::new(&self.ended.0, PollFlags::IN)], Some(&REOPEN_LOOK));
                }
                result => return result,
            }
        }
    }
}

/// How much a pipe holds at this moment.
pub(super) fn held_bytes(pipe: impl std::os::fd::AsFd) -> usize {
    rustix::io::ioctl_fionread(pipe).ok().and_then(|bytes| usize::try_from(bytes).ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pipe() -> (OutputPipe, OwnedFd, Arc<WakeEvent>) {
        let (read, write) = rustix::pipe::pipe().unwrap();
        let ended = Arc::new(WakeEvent::new().unwrap());
        (OutputPipe::new(read, &ended), write, ended)
    }

    #[test]
    fn row_179_an_end_that_somebody_else_holds_does_not_keep_the_reader() {
        let (mut output, write, ended) = pipe();
        rustix::io::write(&write, b"said before the end").unwrap();
        ended.signal();
        // As another run would that was handed the descriptor: it never closes it, and goes on writing.
        let mut text = String::new();
        let mut part = [0; 4];
        assert_eq!(output.read(&mut part).unwrap(), 4);
        rustix::io::write(&write, b" and forged after it").unwrap();
        output.read_to_string(&mut text).unwrap();
        assert_eq!((part, text.as_str()), (*b"said", " before the end"));
        assert_eq!(output.read(&mut part).unwrap(), 0, "the end stays the end");
        drop(write);
    }

    #[test]
    fn row_179_somebody_else_who_reads_the_pipe_empty_does_not_keep_the_reader() {
        let (mut output, write, ended) = pipe();
        rustix::io::write(&write, b"0123456789").unwrap();
        ended.signal();
        let mut part = [0; 4];
        assert_eq!(output.read(&mut part).unwrap(), 4);
        let thief =
            File::open(format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&output.pipe))).unwrap();
        assert_eq!((&thief).read(&mut [0; 64]).unwrap(), 6);
        assert_eq!(output.read(&mut part).unwrap(), 0);
        drop(write);
    }

    #[test]
    fn output_comes_as_it_is_said_and_ends_with_its_last_writer() {
        let (mut output, write, _ended) = pipe();
        let writer = std::thread::spawn(move || {
            for _ in 0..100 {
                rustix::io::write(&write, &[7; 4096]).unwrap();
            }
        });
        let mut all = Vec::new();
        output.read_to_end(&mut all).unwrap();
        writer.join().unwrap();
        assert_eq!(all.len(), 100 * 4096);
    }
}
