//! Installing a filter that was compiled before, and hearing of the calls it refuses (`seccomp_unotify(2)`).

use std::os::fd::{AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd};

use super::{Errno, Result, checked};

/// A caller that is being answered can be killed, but not interrupted (Linux 5.19).
const WAIT_KILLABLE_RECV: libc::c_ulong = 1 << 5;

/// The caller runs on where its answer was given, instead of on another processor that must wake up first (Linux 6.6).
const SYNC_WAKE_UP: u64 = 1;

/// The kernel carries the call out (`SECCOMP_USER_NOTIF_FLAG_CONTINUE`).
const CONTINUE: u32 = 1;

/// Puts this process, and all it starts, under a filter: the bytes of an array of `struct sock_filter`.
pub(crate) fn install(program: &[u8]) -> Result<()> {
    set_filter(program, 0)?;
    Ok(())
}

/// The same with a filter that asks a supervisor: the descriptor on which it does. `EBUSY` means that another supervisor
/// listens already.
pub(crate) fn install_listening(program: &[u8]) -> Result<OwnedFd> {
    let listen = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER;
    let number = match set_filter(program, listen | WAIT_KILLABLE_RECV) {
        Err(Errno(libc::EINVAL)) => set_filter(program, listen)?,
        result => result?,
    };
    // SAFETY: with this flag the call returns a new descriptor, which nobody else owns.
    Ok(unsafe { OwnedFd::from_raw_fd(i32::try_from(number).unwrap_or(-1)) })
}

fn set_filter(program: &[u8], flags: libc::c_ulong) -> Result<libc::c_long> {
    let count = program.len() / size_of::<libc::sock_filter>();
    let filter = libc::sock_fprog {
        len: u16::try_from(count).unwrap_or(u16::MAX),
        filter: program.as_ptr().cast_mut().cast(),
    };
    // SAFETY: `filter` points to `len` instructions that outlive the call; the kernel copies them without regard to their
    // alignment, checks them, and writes nothing.
    checked(unsafe {
        libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, &raw const filter)
    })
}

/// A call that waits for an answer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Notification {
    id: u64,
    /// The thread that made it, by its number where the listener is read.
    pub(crate) pid: u32,
    pub(crate) number: i32,
    pub(crate) arguments: [u64; 6],
}

/// What a waiting call is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotifyReply {
    /// It fails with this number.
    Fail(i32),
    /// It was carried out for it, and succeeds with 0.
    Succeed,
    /// The kernel carries it out.
    Continue,
}

/// Answers are to wake the caller up where they are given. Not all kernels can.
pub(crate) fn wake_in_place(listener: BorrowedFd<'_>) {
    // SAFETY: takes a number, not a pointer.
    unsafe { libc::ioctl(listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_SET_FLAGS, SYNC_WAKE_UP) };
}

/// The next call that waits. `ENOENT` means that its caller was killed in the meantime, and nothing else.
pub(crate) fn receive(listener: BorrowedFd<'_>) -> Result<Notification> {
    // SAFETY: all fields may be zero, and the kernel insists that they are.
    let mut asked: libc::seccomp_notif = unsafe { std::mem::zeroed() };
    // SAFETY: the kernel fills the structure, which has the size that is part of the request's number.
    let result = unsafe { libc::ioctl(listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_RECV, &raw mut asked) };
    checked(result.into())?;
    Ok(Notification { id: asked.id, pid: asked.pid, number: asked.data.nr, arguments: asked.data.args })
}

/// Whether a caller still waits: if it does, its number was its own all the time.
pub(crate) fn is_waiting(listener: BorrowedFd<'_>, asked: Notification) -> bool {
    // SAFETY: the kernel reads a number of the size that is part of the request's number.
    let result =
        unsafe { libc::ioctl(listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_ID_VALID, &raw const asked.id) };
    result == 0
}

/// Whether [`receive`] comes back when nobody is left who could call (Linux 6.11). Before that, it waits for ever.
pub(crate) fn receive_ends() -> bool {
    super::kernel_release() >= Some((6, 11))
}

/// Answers one: whether it still waited, and so was what was asked about all the time.
pub(crate) fn answer(listener: BorrowedFd<'_>, asked: Notification, answer: NotifyReply) -> Result<bool> {
    // SAFETY: all fields may be zero.
    let mut response: libc::seccomp_notif_resp = unsafe { std::mem::zeroed() };
    response.id = asked.id;
    match answer {
        NotifyReply::Fail(errno) => response.error = -errno,
        NotifyReply::Succeed => {}
        NotifyReply::Continue => response.flags = CONTINUE,
    }
    loop {
        // SAFETY: the kernel reads the structure, which has the size that is part of the request's number.
        let result =
            unsafe { libc::ioctl(listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_SEND, &raw mut response) };
        match checked(result.into()) {
            Ok(_) => return Ok(true),
            Err(Errno(libc::ENOENT)) => return Ok(false),
            // Before anything was answered.
            Err(Errno(libc::EINTR)) => {}
            Err(errno) => return Err(errno),
        }
    }
}
