//! Descriptors: standard input, output and error, and nothing else; no controlling terminal but one of the sandbox's own, where that is asked
//! for.

use std::os::fd::{AsRawFd as _, BorrowedFd, IntoRawFd as _, OwnedFd};

use rustix::fs::{CWD, FileType, Mode, OFlags};

use crate::child::step::{AtStep as _, SetupStep, StepResult};
use crate::error::Error;
use crate::layers::terminal;
use crate::plan::{Command, OutputMode, StdinMode, TerminalSize};
use crate::sys;

/// What the command has as 0, 1 and 2, and what the launching program keeps of the pipes.
#[derive(Debug)]
pub(crate) struct StandardStreams {
    /// `None` is /dev/null, which the child opens in its own root, where it is read-only: by a descriptor of the host's, root could change the
    /// mode of the host's.
    pub(crate) child: [Option<OwnedFd>; 3],
    /// In the place of all three: a terminal of the sandbox's own.
    pub(crate) terminal: Option<TerminalSize>,
}

/// The launching program's ends.
#[derive(Debug, Default)]
pub(crate) struct PipeEnds {
    pub(crate) stdin: Option<OwnedFd>,
    pub(crate) stdout: Option<OwnedFd>,
    pub(crate) stderr: Option<OwnedFd>,
}

impl StandardStreams {
    pub(crate) fn prepare(command: &Command) -> Result<(Self, PipeEnds), Error> {
        if command.terminal.is_some() {
            // Made in the child, of its own file system of terminals: nobody else can open it.
            return Ok((Self { child: [None, None, None], terminal: command.terminal }, PipeEnds::default()));
        }
        let (stdin, in_end) = match command.stdin {
            StdinMode::Empty => (None, None),
            StdinMode::Inherited => (copy(rustix::stdio::stdin())?, None),
            StdinMode::Piped => {
                let (read, write) = make_pipe()?;
                (Some(read), Some(write))
            }
        };
        let (stdout, out_end) = output(command.stdout, rustix::stdio::stdout())?;
        let (stderr, err_end) = output(command.stderr, rustix::stdio::stderr())?;
        Ok((
            Self { child: [stdin, stdout, stderr], terminal: None },
            PipeEnds { stdin: in_end, stdout: out_end, stderr: err_end },
        ))
    }

    /// Puts them in place, `ready` and `ruleset` at [`READY`] and [`RULESET`] until `exec`, and closes all others.
    pub(crate) fn apply(&self, ready: i32, ruleset: i32) -> StepResult {
        rustix::process::setsid().at(SetupStep::Session)?;
        let [stdin, stdout, stderr] = if let Some(size) = self.terminal {
            [terminal::make(size, sys::fds::borrow(ready))?; 3]
        } else {
            let [stdin, stdout, stderr] = self.child.each_ref().map(Option::as_ref);
            [open_stream(stdin)?, open_stream(stdout)?, open_stream(stderr)?]
        };
        let mut fds = [stdin, stdout, stderr, ready, ruleset];
        // First out of the way, then into place: each may hold what another is to become.
        for fd in fds.iter_mut().filter(|fd| **fd >= 0) {
            *fd = sys::fds::raise(sys::fds::borrow(*fd), ABOVE).at(SetupStep::Standard)?;
        }
        for (place, fd) in (0..).zip(fds).filter(|(_, fd)| *fd >= 0) {
            let fd = sys::fds::borrow(fd);
            let placed = if place < READY {
                sys::fds::place(fd, place)
            } else {
                sys::fds::place_until_exec(fd, place)
            };
            placed.at(SetupStep::Standard)?;
        }
        sys::fds::close_but(ABOVE.cast_unsigned(), &[]).at(SetupStep::CloseOthers)
    }
}

/// The number of a stream; one that is /dev/null stays open until all others are closed.
fn open_stream(stream: Option<&OwnedFd>) -> StepResult<i32> {
    if let Some(stream) = stream {
        return Ok(number(stream));
    }
    let flags = OFlags::RDWR | OFlags::CLOEXEC;
    let null = rustix::fs::openat(CWD, c"/dev/null", flags, Mode::empty()).at(SetupStep::Standard)?;
    Ok(null.into_raw_fd())
}

/// Where the command's process finds the socket to the launching program, until it executes the command. The strict profile
/// lets it send on this one.
pub(crate) const READY: i32 = 3;
/// Where it finds the rules of Landlock.
pub(crate) const RULESET: i32 = 4;
/// The first number of no use.
const ABOVE: i32 = 5;

/// Closes everything but `keep`, which is in ascending order: for the init, which talks to nobody.
pub(crate) fn close_all_but(keep: &[i32]) -> StepResult {
    sys::fds::close_but(0, keep).at(SetupStep::CloseOthers)
}

fn output(wanted: OutputMode, own: BorrowedFd<'_>) -> Result<(Option<OwnedFd>, Option<OwnedFd>), Error> {
    match wanted {
        OutputMode::Discarded => Ok((None, None)),
        OutputMode::Inherited => Ok((copy(own)?, None)),
        OutputMode::Piped | OutputMode::Captured(_) => {
            let (read, write) = make_pipe()?;
            Ok((Some(write), Some(read)))
        }
    }
}

fn host_error(what: &'static str) -> impl FnOnce(rustix::io::Errno) -> Error {
    move |source| Error::Host { what, source: source.into() }
}

fn make_pipe() -> Result<(OwnedFd, OwnedFd), Error> {
    rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).map_err(host_error("make a pipe"))
}

/// A stream of the launching program's own; `None` where that is closed, or is /dev/null.
fn copy(fd: BorrowedFd<'_>) -> Result<Option<OwnedFd>, Error> {
    match rustix::io::fcntl_dupfd_cloexec(fd, 3) {
        Ok(copy) if is_null(&copy) => Ok(None),
        Ok(copy) => Ok(Some(copy)),
        Err(rustix::io::Errno::BADF) => Ok(None),
        Err(errno) => Err(host_error("copy a descriptor")(errno)),
    }
}

/// By its number, which is the same everywhere (Documentation/admin-guide/devices.txt).
fn is_null(fd: &OwnedFd) -> bool {
    rustix::fs::fstat(fd).is_ok_and(|found| {
        FileType::from_raw_mode(found.st_mode) == FileType::CharacterDevice
            && found.st_rdev == rustix::fs::makedev(1, 3)
    })
}

/// Number of a descriptor, for the child, which names its copies by number.
pub(crate) fn number(fd: &OwnedFd) -> i32 {
    fd.as_raw_fd()
}
