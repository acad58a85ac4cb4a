//! The only unsafe code: small functions, one kernel call each, with owned or borrowed descriptors.
//!
//! Everything here that a child calls between `clone` and `exec` allocates nothing, takes no lock and cannot panic: another
//! thread of the embedding program may have held any lock when the child was made.
#![allow(unsafe_code)]

pub(crate) mod clone;
pub(crate) mod exec;
pub(crate) mod fds;
pub(crate) mod heap;
pub(crate) mod keyring;
pub(crate) mod landlock;
pub(crate) mod loopback;
pub(crate) mod mount;
pub(crate) mod probe;
pub(crate) mod process_info;
pub(crate) mod seccomp;
pub(crate) mod signals;
pub(crate) mod sockets;
pub(crate) mod startup;
pub(crate) mod wake_timer;

use std::io;

/// An error number as the kernel gave it: the only error a child can report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Errno(pub(crate) i32);

impl Errno {
    fn last() -> Self {
        // SAFETY: the location is the calling thread's own `errno`, valid for as long as the thread lives.
        Self(unsafe { *libc::__errno_location() })
    }
}

impl From<rustix::io::Errno> for Errno {
    fn from(errno: rustix::io::Errno) -> Self {
        Self(errno.raw_os_error())
    }
}

impl From<nix::errno::Errno> for Errno {
    fn from(errno: nix::errno::Errno) -> Self {
        Self(errno as i32)
    }
}

impl From<Errno> for io::Error {
    fn from(errno: Errno) -> Self {
        Self::from_raw_os_error(errno.0)
    }
}

pub(crate) type Result<T> = std::result::Result<T, Errno>;

/// The first two numbers of the kernel's release, where it has some.
pub(crate) fn kernel_release() -> Option<(u32, u32)> {
    let name = rustix::system::uname();
    let mut numbers = name.release().to_bytes().split(|byte| !byte.is_ascii_digit());
    let mut number = || -> Option<u32> { std::str::from_utf8(numbers.next()?).ok()?.parse().ok() };
    Some((number()?, number()?))
}

/// The usual convention: -1 is an error, described by `errno`.
fn checked(result: libc::c_long) -> Result<libc::c_long> {
    if result == -1 { Err(Errno::last()) } else { Ok(result) }
}
