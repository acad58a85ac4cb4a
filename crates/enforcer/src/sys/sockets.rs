//! Options of sockets that safe types do not offer.

use std::os::fd::{AsRawFd as _, BorrowedFd};

use super::{Result, checked};

/// Lets only what `filter`, the bytes of an array of `struct sock_filter`, lets through come to a socket.
pub(crate) fn attach_filter(socket: BorrowedFd<'_>, filter: &[u8]) -> Result<()> {
    let count = filter.len() / size_of::<libc::sock_filter>();
    let program = libc::sock_fprog {
        len: u16::try_from(count).unwrap_or(u16::MAX),
        filter: filter.as_ptr().cast_mut().cast(),
    };
    set(socket, libc::SOL_SOCKET, libc::SO_ATTACH_FILTER, &program)
}

/// Datagrams come with the address that they were sent to, and answers can be sent from it.
pub(crate) fn tell_destinations(socket: BorrowedFd<'_>, is_v6: bool) -> Result<()> {
    let on: libc::c_int = 1;
    if !is_v6 {
        return set(socket, libc::IPPROTO_IP, libc::IP_PKTINFO, &on);
    }
    set(socket, libc::IPPROTO_IPV6, libc::IPV6_RECVPKTINFO, &on)?;
    // A route makes every address local, which is enough for IPv4; to send from an address of IPv6, an interface must have it, or
    // this must be said (ipv6(7), Linux 4.15).
    set(socket, libc::IPPROTO_IPV6, libc::IPV6_FREEBIND, &on)
}

fn set<T>(socket: BorrowedFd<'_>, level: libc::c_int, option: libc::c_int, value: &T) -> Result<()> {
    let length = u32::try_from(size_of::<T>()).unwrap_or(0);
    let value = (&raw const *value).cast();
    // SAFETY: the value has the length that is given and outlives the call; what it points to, the kernel copies.
    checked(unsafe { libc::setsockopt(socket.as_raw_fd(), level, option, value, length) }.into())?;
    Ok(())
}

/// Connects a socket to an address in the form that the kernel takes.
pub(crate) fn connect(socket: BorrowedFd<'_>, address: &[u8]) -> Result<()> {
    let length = u32::try_from(address.len()).unwrap_or(0);
    // SAFETY: the kernel reads as many bytes as the slice has, which outlives the call.
    checked(unsafe { libc::connect(socket.as_raw_fd(), address.as_ptr().cast(), length) }.into())?;
    Ok(())
}

/// The number of the network namespace that a socket belongs to, which is used once until the machine starts anew (Linux 5.14).
pub(crate) fn namespace_cookie(socket: BorrowedFd<'_>) -> Result<u64> {
    let mut cookie = 0_u64;
    let mut length = u32::try_from(size_of::<u64>()).unwrap_or(0);
    let value = (&raw mut cookie).cast();
    let (socket, level) = (socket.as_raw_fd(), libc::SOL_SOCKET);
    // SAFETY: the kernel writes at most `length` bytes into a number of that length.
    let result = unsafe { libc::getsockopt(socket, level, SO_NETNS_COOKIE, value, &raw mut length) };
    checked(result.into())?;
    Ok(cookie)
}

/// Newer than the name that the C library has for it.
const SO_NETNS_COOKIE: libc::c_int = 71;
