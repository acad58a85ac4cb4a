//! The loopback interface of a new network namespace, which starts down.

use std::os::fd::{AsRawFd as _, BorrowedFd};

use super::{Result, checked};

/// Switches `lo` on, through any socket of the namespace.
pub(crate) fn switch_loopback_on(socket: BorrowedFd<'_>) -> Result<()> {
    // SAFETY: all fields of the structure may be zero.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (slot, byte) in request.ifr_name.iter_mut().zip(b"lo") {
        *slot = byte.cast_signed();
    }
    request.ifr_ifru.ifru_flags = libc::c_short::try_from(libc::IFF_UP | libc::IFF_RUNNING).unwrap_or(0);
    // SAFETY: the request is a valid structure that outlives the call.
    checked(unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, &raw const request) }.into())?;
    Ok(())
}
