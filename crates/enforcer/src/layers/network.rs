//! The network: a namespace with nothing in it but its own loopback interface.
//!
//! Nothing leads out of it. Where destinations are granted, every address there is becomes local to it, so that whatever a program
//! connects to, it reaches a socket that was made here before the program started and handed to the launching program, whose
//! broker serves it from outside ([`skillsandbox_egress`]).

use std::io::IoSlice;
use std::mem::MaybeUninit;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags, SocketType,
    ipproto, socket_with, sockopt,
};
use skillsandbox_egress::{Policy, Transport, tap_filter};

use crate::step::{Applied, At as _, Step};
use crate::sys;

/// Connections that the kernel accepts before the broker does.
const BACKLOG: i32 = 4096;

/// Sockets that go over in one message. The kernel takes 253.
pub(crate) const AT_ONCE: usize = 32;

/// What a message with sockets says: which they are, the kind and the port of each is known on both sides. Failures are longer,
/// and so is what says that all stands shorter.
pub(crate) const SOCKETS: [u8; 2] = [2, 0];

/// What is looked at although nobody listens for it, in the order in which the sockets go over; those for IPv6 where there is IPv6.
pub(crate) const TAPS: [(Transport, bool); 4] =
    [(Transport::Tcp, false), (Transport::Udp, false), (Transport::Tcp, true), (Transport::Udp, true)];

/// What a namespace with a way to a broker has.
#[derive(Debug)]
pub(crate) struct Served {
    pub(crate) streams: Vec<u16>,
    pub(crate) datagrams: Vec<u16>,
    /// In the order of [`TAPS`].
    taps: [Vec<u8>; 4],
}

/// The network of one sandbox.
#[derive(Debug)]
pub(crate) struct Network {
    /// `None`: nothing is granted, so nobody serves anything.
    pub(crate) served: Option<Served>,
}

impl Network {
    pub(crate) fn prepare(policy: &Policy) -> Self {
        if policy.is_empty() {
            return Self { served: None };
        }
        let listens = policy.listens();
        let taps = TAPS.map(|(transport, is_v6)| tap_filter(&listens, transport, is_v6));
        let (streams, datagrams) = (listens.streams, listens.datagrams);
        Self {
            served: Some(Served {
                streams: streams.into_iter().collect(),
                datagrams: datagrams.into_iter().collect(),
                taps,
            }),
        }
    }

    /// Switches the loopback interface on, so that a program can talk to itself, and makes what the broker serves.
    pub(crate) fn apply(&self, ready: BorrowedFd<'_>) -> Applied {
        switch_on()?;
        self.served.as_ref().map_or(Ok(()), |served| served.apply(ready))
    }

    /// The port of a socket that could not be made, by its place among all.
    pub(crate) fn describe(&self, index: u16) -> String {
        let Some(served) = &self.served else { return String::new() };
        let port = served.streams.iter().chain(&served.datagrams).nth(index.into());
        port.map(|port| format!("port {port}")).unwrap_or_default()
    }
}

impl Served {
    fn apply(&self, ready: BorrowedFd<'_>) -> Applied {
        let has_v6 = make_local()?;
        let mut basket = Basket { sockets: [const { None }; AT_ONCE], count: 0, ready };
        for (index, port) in self.streams.iter().enumerate() {
            basket.put(stream(*port, has_v6).at_index(Step::Listen, index)?)?;
        }
        for (index, port) in self.datagrams.iter().enumerate() {
            let index = self.streams.len() + index;
            basket.put(datagram(*port, has_v6).at_index(Step::Listen, index)?)?;
        }
        let [tcp_v4, udp_v4, tcp_v6, udp_v6] = &self.taps;
        basket.put(tap(Transport::Tcp, false, tcp_v4).at(Step::Tap)?)?;
        basket.put(tap(Transport::Udp, false, udp_v4).at(Step::Tap)?)?;
        if has_v6 {
            basket.put(tap(Transport::Tcp, true, tcp_v6).at(Step::Tap)?)?;
            basket.put(tap(Transport::Udp, true, udp_v6).at(Step::Tap)?)?;
        }
        basket.hand_over()
    }
}

/// Sockets on their way out.
struct Basket<'a> {
    sockets: [Option<OwnedFd>; AT_ONCE],
    count: usize,
    ready: BorrowedFd<'a>,
}

impl Basket<'_> {
    fn put(&mut self, socket: OwnedFd) -> Applied {
        if self.count == AT_ONCE {
            self.hand_over()?;
        }
        if let Some(place) = self.sockets.get_mut(self.count) {
            *place = Some(socket);
            self.count += 1;
        }
        Ok(())
    }

    /// Sends them all, and keeps none.
    fn hand_over(&mut self) -> Applied {
        let mut fds = [self.ready; AT_ONCE];
        for (place, socket) in fds.iter_mut().zip(self.sockets.iter().flatten()) {
            *place = socket.as_fd();
        }
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(AT_ONCE))];
        let mut rights = SendAncillaryBuffer::new(&mut space);
        rights.push(SendAncillaryMessage::ScmRights(fds.get(..self.count).unwrap_or_default()));
        let bytes = &[IoSlice::new(&SOCKETS)];
        rustix::net::sendmsg(self.ready, bytes, &mut rights, SendFlags::NOSIGNAL).at(Step::HandOver)?;
        self.sockets = [const { None }; AT_ONCE];
        self.count = 0;
        Ok(())
    }
}

/// Switches the loopback interface on.
pub(crate) fn switch_on() -> Applied {
    let socket = socket_with(AddressFamily::INET, SocketType::DGRAM, SocketFlags::CLOEXEC, None);
    let socket = socket.at(Step::Loopback)?;
    sys::loopback::up(socket.as_fd()).at(Step::Loopback)
}

/// Makes every address local. Whether that was possible for IPv6 too.
pub(crate) fn make_local() -> Applied<bool> {
    let socket = netlink_socket().at(Step::Routes)?;
    add_route(&socket, AddressFamily::INET).at(Step::Routes)?;
    // Without IPv6, or with IPv6 switched off, there are no such addresses to reach, and nobody can.
    Ok(add_route(&socket, AddressFamily::INET6).is_ok())
}

/// Of netlink's protocols, routes are the first.
fn netlink_socket() -> Result<OwnedFd, Errno> {
    socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, None)
}

/// `ip route add local default dev lo`, as the kernel is told it: a header, a `struct rtmsg` and the number of the interface.
fn add_route(socket: &OwnedFd, family: AddressFamily) -> Result<(), Errno> {
    const LENGTH: u8 = 36;
    const NEW_ROUTE: u16 = 24;
    /// A request, to be answered, for a new route.
    const FLAGS: u16 = 0x1 | 0x4 | 0x200 | 0x400;
    const TABLE_LOCAL: u8 = 255;
    const BY_BOOT: u8 = 3;
    const SCOPE_HOST: u8 = 254;
    const LOCAL: u8 = 2;
    /// An attribute of 8 bytes: the interface, which is the first of every namespace.
    const INTERFACE: [u16; 2] = [8, 4];
    let mut message = [0; LENGTH as usize];
    let [t0, t1] = NEW_ROUTE.to_ne_bytes();
    let [f0, f1] = FLAGS.to_ne_bytes();
    let family = u8::try_from(family.as_raw()).unwrap_or(0);
    let [[l0, l1], [a0, a1]] = INTERFACE.map(u16::to_ne_bytes);
    let [i0, i1, i2, i3] = 1_u32.to_ne_bytes();
    let length = u32::from(LENGTH).to_ne_bytes();
    let parts: [&[u8]; 5] = [
        &length,
        &[t0, t1, f0, f1, 0, 0, 0, 0, 0, 0, 0, 0],
        &[family, 0, 0, 0, TABLE_LOCAL, BY_BOOT, SCOPE_HOST, LOCAL, 0, 0, 0, 0],
        &[l0, l1, a0, a1],
        &[i0, i1, i2, i3],
    ];
    for (place, byte) in message.iter_mut().zip(parts.into_iter().flatten()) {
        *place = *byte;
    }
    rustix::net::send(socket, &message, SendFlags::empty())?;
    let mut answer = [0; 64];
    rustix::net::recv(socket, &mut answer, RecvFlags::empty())?;
    // The error, which is 0 or negative, follows the header.
    let error =
        answer.get(16..20).and_then(|error| error.try_into().ok()).map_or(-libc::EPROTO, i32::from_ne_bytes);
    if error == 0 { Ok(()) } else { Err(Errno::from_raw_os_error(-error)) }
}

/// A socket that accepts what is sent to a port of any address.
fn stream(port: u16, has_v6: bool) -> Result<OwnedFd, Errno> {
    let socket = bound(port, SocketType::STREAM, has_v6)?;
    rustix::net::listen(&socket, BACKLOG)?;
    Ok(socket)
}

/// The same for datagrams, each of which comes with the address that it was sent to.
fn datagram(port: u16, has_v6: bool) -> Result<OwnedFd, Errno> {
    let socket = bound(port, SocketType::DGRAM, has_v6)?;
    sys::sockets::tell_destinations(socket.as_fd(), has_v6)
        .map_err(|errno| Errno::from_raw_os_error(errno.0))?;
    Ok(socket)
}

/// A socket that sees packets of one kind.
fn tap(transport: Transport, is_v6: bool, filter: &[u8]) -> Result<OwnedFd, Errno> {
    let family = if is_v6 { AddressFamily::INET6 } else { AddressFamily::INET };
    let protocol = match transport {
        Transport::Tcp => ipproto::TCP,
        Transport::Udp => ipproto::UDP,
    };
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let socket = socket_with(family, SocketType::RAW, flags, Some(protocol))?;
    let failed = |errno: sys::Errno| Errno::from_raw_os_error(errno.0);
    sys::sockets::attach_filter(socket.as_fd(), filter).map_err(failed)?;
    if is_v6 {
        sys::sockets::tell_destinations(socket.as_fd(), true).map_err(failed)?;
    }
    Ok(socket)
}

fn bound(port: u16, kind: SocketType, has_v6: bool) -> Result<OwnedFd, Errno> {
    let family = if has_v6 { AddressFamily::INET6 } else { AddressFamily::INET };
    let socket = socket_with(family, kind, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC, None)?;
    let any: SocketAddr = if has_v6 {
        sockopt::set_ipv6_v6only(&socket, false)?;
        (Ipv6Addr::UNSPECIFIED, port).into()
    } else {
        (Ipv4Addr::UNSPECIFIED, port).into()
    };
    rustix::net::bind(&socket, &any)?;
    Ok(socket)
}
