//! A packet socket on the loopback interface, for packets that nobody listens for.

use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd};

use super::{Result, checked};

/// The loopback interface is the first of every namespace.
const LOOPBACK: i32 = 1;

/// Room for so many bytes of packets that were not read yet.
const ROOM: libc::c_int = 256 << 10;

/// Opens one that gets what `filter`, the bytes of an array of `struct sock_filter`, lets through.
pub(crate) fn open(filter: &[u8]) -> Result<OwnedFd> {
    let kind = libc::SOCK_DGRAM | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
    // SAFETY: takes numbers, not pointers. Protocol 0 gets no packets until it is bound.
    let number = checked(unsafe { libc::socket(libc::AF_PACKET, kind, 0) }.into())?;
    // SAFETY: a new descriptor, which nobody else owns.
    let socket = unsafe { OwnedFd::from_raw_fd(i32::try_from(number).unwrap_or(-1)) };
    let count = filter.len() / size_of::<libc::sock_filter>();
    let program = libc::sock_fprog {
        len: u16::try_from(count).unwrap_or(u16::MAX),
        filter: filter.as_ptr().cast_mut().cast(),
    };
    set(socket.as_fd(), libc::SOL_SOCKET, libc::SO_ATTACH_FILTER, &program)?;
    // Less is given where less may be asked for.
    let _ = set(socket.as_fd(), libc::SOL_SOCKET, libc::SO_RCVBUF, &ROOM);
    // SAFETY: all fields may be zero.
    let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
    address.sll_family = u16::try_from(libc::AF_PACKET).unwrap_or(0);
    address.sll_protocol = u16::try_from(libc::ETH_P_ALL).unwrap_or(0).to_be();
    address.sll_ifindex = LOOPBACK;
    let length = u32::try_from(size_of::<libc::sockaddr_ll>()).unwrap_or(0);
    // SAFETY: the address has the length that is given and outlives the call.
    checked(unsafe { libc::bind(socket.as_raw_fd(), (&raw const address).cast(), length) }.into())?;
    Ok(socket)
}

/// Datagrams come with the address that they were sent to, and may be answered from it.
pub(crate) fn tell_destinations(socket: BorrowedFd<'_>, is_v6: bool) -> Result<()> {
    let on: libc::c_int = 1;
    if !is_v6 {
        return set(socket, libc::IPPROTO_IP, libc::IP_PKTINFO, &on);
    }
    // A route makes an address local, and for IPv4 that is enough; IPv6 lets only an interface's own be spoken from, unless told.
    set(socket, libc::IPPROTO_IPV6, libc::IPV6_FREEBIND, &on)?;
    set(socket, libc::IPPROTO_IPV6, libc::IPV6_RECVPKTINFO, &on)
}

fn set<T>(socket: BorrowedFd<'_>, level: libc::c_int, option: libc::c_int, value: &T) -> Result<()> {
    let length = u32::try_from(size_of::<T>()).unwrap_or(0);
    let value = (&raw const *value).cast();
    // SAFETY: the value has the length that is given and outlives the call; what it points to, the kernel copies.
    checked(unsafe { libc::setsockopt(socket.as_raw_fd(), level, option, value, length) }.into())?;
    Ok(())
}
