//! Descriptors: standard input, output and error, and nothing else; no controlling terminal.

use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd};

use crate::error::Error;
use crate::plan::{Command, Input, Output};
use crate::step::{Applied, At as _, Step};
use crate::sys;

/// What the command has as 0, 1 and 2, and what the launching program keeps of the pipes.
#[derive(Debug)]
pub(crate) struct Standard {
    pub(crate) child: [OwnedFd; 3],
}

/// The launching program's ends.
#[derive(Debug, Default)]
pub(crate) struct Ends {
    pub(crate) stdin: Option<OwnedFd>,
    pub(crate) stdout: Option<OwnedFd>,
    pub(crate) stderr: Option<OwnedFd>,
}

impl Standard {
    pub(crate) fn prepare(command: &Command) -> Result<(Self, Ends), Error> {
        let (stdin, in_end) = match command.stdin {
            Input::Empty => (null()?, None),
            Input::Inherited => (copy(rustix::stdio::stdin())?, None),
            Input::Piped => {
                let (read, write) = pipe()?;
                (read, Some(write))
            }
        };
        let (stdout, out_end) = output(command.stdout, rustix::stdio::stdout())?;
        let (stderr, err_end) = output(command.stderr, rustix::stdio::stderr())?;
        Ok((
            Self { child: [stdin, stdout, stderr] },
            Ends { stdin: in_end, stdout: out_end, stderr: err_end },
        ))
    }

    /// Puts them in place and closes all others but `keep`, which get new numbers and close themselves on `exec`.
    pub(crate) fn apply(&self, keep: &mut [i32; 2]) -> Applied {
        rustix::process::setsid().at(Step::Session)?;
        // First out of the way of 0, 1 and 2, then into place: either may hold what the other is to become.
        let mut raised = [0; 3];
        for (slot, fd) in raised.iter_mut().zip(&self.child) {
            *slot = sys::fds::raise(fd.as_fd(), 3).at(Step::Standard)?;
        }
        raise_all(keep)?;
        for (number, fd) in (0..).zip(raised) {
            sys::fds::place(sys::fds::borrow(fd), number).at(Step::Standard)?;
        }
        sys::fds::close_but(3, keep).at(Step::CloseOthers)
    }
}

/// Closes everything but `keep`, which is in ascending order: for the init, which talks to nobody.
pub(crate) fn close_all_but(keep: &[i32]) -> Applied {
    sys::fds::close_but(0, keep).at(Step::CloseOthers)
}

/// New numbers for descriptors, out of the way of the standard ones and in ascending order; -1 stays what it is.
fn raise_all(numbers: &mut [i32; 2]) -> Applied {
    let mut least = 3;
    for number in numbers.iter_mut().filter(|number| **number >= 0) {
        *number = sys::fds::raise(sys::fds::borrow(*number), least).at(Step::Standard)?;
        least = *number + 1;
    }
    Ok(())
}

fn output(wanted: Output, own: BorrowedFd<'_>) -> Result<(OwnedFd, Option<OwnedFd>), Error> {
    match wanted {
        Output::Discarded => Ok((null()?, None)),
        Output::Inherited => Ok((copy(own)?, None)),
        Output::Piped | Output::Captured(_) => {
            let (read, write) = pipe()?;
            Ok((write, Some(read)))
        }
    }
}

fn host(what: &'static str) -> impl FnOnce(rustix::io::Errno) -> Error {
    move |source| Error::Host { what, source: source.into() }
}

fn pipe() -> Result<(OwnedFd, OwnedFd), Error> {
    rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).map_err(host("make a pipe"))
}

fn null() -> Result<OwnedFd, Error> {
    let flags = rustix::fs::OFlags::RDWR | rustix::fs::OFlags::CLOEXEC;
    rustix::fs::open(c"/dev/null", flags, rustix::fs::Mode::empty()).map_err(host("open /dev/null"))
}

fn copy(fd: BorrowedFd<'_>) -> Result<OwnedFd, Error> {
    // One that is closed here is nothing there.
    match rustix::io::fcntl_dupfd_cloexec(fd, 3) {
        Ok(copy) => Ok(copy),
        Err(rustix::io::Errno::BADF) => null(),
        Err(errno) => Err(host("copy a descriptor")(errno)),
    }
}

/// Number of a descriptor, for the child, which names its copies by number.
pub(crate) fn number(fd: &OwnedFd) -> i32 {
    fd.as_raw_fd()
}
