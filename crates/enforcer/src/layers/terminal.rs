//! A terminal of the sandbox's own: made inside, of the file system of terminals that only this run has. The launching program holds its other
//! end, and no descriptor of the user's terminal is ever inside, so that nothing can be typed into that one.

use std::io::IoSlice;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, BorrowedFd, IntoRawFd as _, OwnedFd};

use rustix::fs::{CWD, Mode, OFlags};
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags};
use rustix::pty::OpenptFlags;
use rustix::termios::Winsize;

use crate::child::step::{AtStep as _, SetupStep, StepResult};
use crate::plan::TerminalSize;

/// What a message with the terminal's other end says. No other message is as long.
pub(crate) const TERMINAL_MESSAGE: [u8; 4] = [4, 0, 0, 0];

/// Makes the terminal, hands its other end to the launching program, and makes it the controlling terminal of this session. In the child,
/// after `setsid` and before Landlock: only kernel calls. Returns the number of the descriptor.
pub(crate) fn make(size: TerminalSize, ready: BorrowedFd<'_>) -> StepResult<i32> {
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    let outer = rustix::fs::openat(CWD, c"/dev/ptmx", flags, Mode::empty()).at(SetupStep::Terminal)?;
    rustix::pty::unlockpt(&outer).at(SetupStep::Terminal)?;
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let inner = rustix::pty::ioctl_tiocgptpeer(&outer, flags).at(SetupStep::Terminal)?;
    rustix::termios::tcsetwinsize(&inner, window(size)).at(SetupStep::Terminal)?;
    rustix::process::ioctl_tiocsctty(&inner).at(SetupStep::Terminal)?;
    hand_over(ready, &outer)?;
    drop(outer);
    Ok(inner.into_raw_fd())
}

/// As the kernel has it.
pub(crate) fn window(size: TerminalSize) -> Winsize {
    Winsize { ws_row: size.rows, ws_col: size.columns, ws_xpixel: 0, ws_ypixel: 0 }
}

fn hand_over(ready: BorrowedFd<'_>, outer: &OwnedFd) -> StepResult {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut rights = SendAncillaryBuffer::new(&mut space);
    let outer = [outer.as_fd()];
    rights.push(SendAncillaryMessage::ScmRights(&outer));
    rustix::net::sendmsg(ready, &[IoSlice::new(&TERMINAL_MESSAGE)], &mut rights, SendFlags::NOSIGNAL)
        .at(SetupStep::Terminal)?;
    Ok(())
}
