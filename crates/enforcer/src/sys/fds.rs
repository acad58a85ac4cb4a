//! Descriptors by number, which safe types do not offer.

use std::os::fd::{AsRawFd as _, BorrowedFd};

use super::{Result, checked};

/// Makes `number` refer to what `fd` refers to, across `exec`.
pub(crate) fn place(fd: BorrowedFd<'_>, number: i32) -> Result<()> {
    if fd.as_raw_fd() == number {
        // dup2 onto itself would leave close-on-exec set.
        // SAFETY: changes a flag of a descriptor that is open.
        checked(unsafe { libc::fcntl(number, libc::F_SETFD, 0) }.into())?;
        return Ok(());
    }
    // SAFETY: the child calls this for 0, 1 and 2, which no safe value of its own refers to.
    checked(unsafe { libc::dup2(fd.as_raw_fd(), number) }.into())?;
    Ok(())
}

/// Makes `number` refer to what `fd` refers to, until `exec`.
pub(crate) fn place_until_exec(fd: BorrowedFd<'_>, number: i32) -> Result<()> {
    // SAFETY: as above, for numbers of which the child has given up the owners.
    checked(unsafe { libc::dup3(fd.as_raw_fd(), number, libc::O_CLOEXEC) }.into())?;
    Ok(())
}

/// A copy of `fd` at `least` or above, so that placing others cannot overwrite it. Closed on `exec`.
pub(crate) fn raise(fd: BorrowedFd<'_>, least: i32) -> Result<i32> {
    // SAFETY: makes a new descriptor.
    let number = checked(unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_DUPFD_CLOEXEC, least) }.into())?;
    Ok(i32::try_from(number).unwrap_or(i32::MAX))
}

/// Lets the kernel send SIGIO to this process whenever something changes at the other end of `fd`.
pub(crate) fn signal_changes(fd: BorrowedFd<'_>) -> Result<()> {
    // SAFETY: takes numbers only; the process names itself.
    checked(unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_SETOWN, libc::getpid()) }.into())?;
    // SAFETY: as above.
    let flags = checked(unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_GETFL) }.into())?;
    let flags = i32::try_from(flags).unwrap_or(0);
    // SAFETY: as above.
    checked(unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_SETFL, flags | libc::O_ASYNC) }.into())?;
    Ok(())
}

/// Lets no program that this one starts from now on have any of its descriptors but the three standard ones: those neither that it got from
/// whoever started it. Closes none.
///
/// # Errors
/// A kernel before 5.11.
pub fn keep_from_programs() -> std::io::Result<()> {
    const CLOSE_RANGE_CLOEXEC: u32 = 4;
    // SAFETY: sets a flag of descriptors by their numbers; all of them stay open.
    let set = unsafe { libc::syscall(libc::SYS_close_range, 3, u32::MAX, CLOSE_RANGE_CLOEXEC) };
    if set < 0 { Err(std::io::Error::last_os_error()) } else { Ok(()) }
}

/// A descriptor by its number, in a child whose own copies of descriptors nobody else closes.
pub(crate) fn borrow(number: i32) -> BorrowedFd<'static> {
    // SAFETY: the caller got the number from `raise` or holds the owner; a child closes it only by `close_but`.
    unsafe { BorrowedFd::borrow_raw(number) }
}

/// Closes every descriptor from `first` on but those in `keep`, which is in ascending order; negative numbers are none.
pub(crate) fn close_but(first: u32, keep: &[i32]) -> Result<()> {
    let mut next = first;
    for &number in keep {
        let Ok(number) = u32::try_from(number) else { continue };
        if number < next {
            continue;
        }
        if number > next {
            close_range(next, number - 1)?;
        }
        next = number + 1;
    }
    close_range(next, u32::MAX)
}

fn close_range(first: u32, last: u32) -> Result<()> {
    // SAFETY: called in a child just before it goes its own way: no value of it is used again that owns one of these.
    checked(unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) })?;
    Ok(())
}
