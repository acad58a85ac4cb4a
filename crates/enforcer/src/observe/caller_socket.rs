//! The socket and the address that a call was given, each taken once, while its caller waits.
//!
//! Whatever the caller's other threads do to its descriptors and its memory afterwards, what is judged is what is used.

use std::io::IoSliceMut;
use std::os::fd::OwnedFd;

use nix::sys::uio::{RemoteIoVec, process_vm_readv};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketType};
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};

use crate::sys::seccomp::Notification;

/// The longest address that the kernel takes: `struct sockaddr_storage`.
const LONGEST: usize = 128;

/// `PIDFD_THREAD` (Linux 6.9): the descriptor is of one thread, which may have a table of descriptors of its own.
const THREAD: PidfdFlags = PidfdFlags::from_bits_retain(libc::O_EXCL.cast_unsigned());

/// What a socket is, which never changes.
#[derive(Debug)]
pub(super) struct CallerSocket {
    pub(super) socket: OwnedFd,
    pub(super) domain: AddressFamily,
    pub(super) kind: SocketType,
}

impl CallerSocket {
    /// A duplicate of the socket at the descriptor that is a call's first argument, or what the kernel would say.
    ///
    /// Whether the caller still waits is to be asked afterwards: only then is it its own.
    pub(super) fn take(call: Notification, process: u32) -> Result<Self, Errno> {
        let [number, ..] = call.arguments;
        let number = i32::try_from(number & 0xffff_ffff).map_err(|_| Errno::BADF)?;
        let pid = |id: u32| i32::try_from(id).ok().and_then(Pid::from_raw).ok_or(Errno::SRCH);
        // Before Linux 6.9, the descriptors of its process, which are nearly always the same.
        let owner =
            pidfd_open(pid(call.pid)?, THREAD).or_else(|_| pidfd_open(pid(process)?, PidfdFlags::empty()))?;
        let socket = pidfd_getfd(owner, number, PidfdGetfdFlags::empty())?;
        let domain = rustix::net::sockopt::socket_domain(&socket)?;
        let kind = rustix::net::sockopt::socket_type(&socket)?;
        Ok(Self { socket, domain, kind })
    }
}

/// Why an address could not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AddressError {
    /// The kernel would refuse it, too, with this number.
    Fails(Errno),
    /// The caller's memory is not for this process to read.
    Hidden,
}

/// The address that a call was given: of `connect` and of `sendto`.
pub(super) fn read_address(call: Notification) -> Result<Vec<u8>, AddressError> {
    let [_, address, length, _, to, to_length] = call.arguments;
    let is_connect = i64::from(call.number) == libc::SYS_connect;
    let (at, length) = if is_connect { (address, length) } else { (to, to_length) };
    // The kernel reads an int.
    let length = usize::try_from(length & 0xffff_ffff).unwrap_or(usize::MAX);
    if length > LONGEST {
        return Err(AddressError::Fails(Errno::INVAL));
    }
    let mut bytes = vec![0; length];
    if length == 0 {
        return Ok(bytes);
    }
    let fault = AddressError::Fails(Errno::FAULT);
    let from = [RemoteIoVec { base: usize::try_from(at).map_err(|_| fault)?, len: length }];
    let pid = nix::unistd::Pid::from_raw(i32::try_from(call.pid).map_err(|_| AddressError::Hidden)?);
    match process_vm_readv(pid, &mut [IoSliceMut::new(&mut bytes)], &from) {
        Ok(read) if read == length => Ok(bytes),
        Ok(_) | Err(nix::errno::Errno::EFAULT) => Err(fault),
        Err(_) => Err(AddressError::Hidden),
    }
}
