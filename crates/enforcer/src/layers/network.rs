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
use skillsandbox_egress::{EgressPolicy, Transport, tap_filter};

use crate::child::step::{AtStep as _, SetupStep, StepResult};
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

/// The loopback interface is the first of every namespace.
const LOOPBACK: u32 = 1;

/// The address of a namespace that a broker serves. No host has it: it is set aside as one that stands for none (RFC 7600).
const OWN_V4: Ipv4Addr = Ipv4Addr::new(192, 0, 0, 8);

/// The same for IPv6, in the range of those that stand for names, far above the last that is allotted.
const OWN_V6: Ipv6Addr = Ipv6Addr::new(0xfd53, 0x6b69, 0x6c6c, 0xffff, 0, 0, 0, 1);

/// What a namespace with a way to a broker has.
#[derive(Debug)]
pub(crate) struct ServedSockets {
    pub(crate) streams: Vec<u16>,
    pub(crate) datagrams: Vec<u16>,
    /// In the order of [`TAPS`].
    taps: [Vec<u8>; 4],
}

/// The network of one sandbox.
#[derive(Debug)]
pub(crate) struct NetworkLayer {
    /// `None`: nothing is granted, so nobody serves anything.
    pub(crate) served: Option<ServedSockets>,
}

impl NetworkLayer {
    pub(crate) fn prepare(policy: &EgressPolicy) -> Self {
        if policy.is_empty() {
            return Self { served: None };
        }
        let listens = policy.listens();
        let taps = TAPS.map(|(transport, is_v6)| tap_filter(&listens, transport, is_v6));
        let (streams, datagrams) = (listens.streams, listens.datagrams);
        Self {
            served: Some(ServedSockets {
                streams: streams.into_iter().collect(),
                datagrams: datagrams.into_iter().collect(),
                taps,
            }),
        }
    }

    /// Switches the loopback interface on, so that a program can talk to itself, and makes what the broker serves.
    pub(crate) fn apply(&self, ready: BorrowedFd<'_>) -> StepResult {
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

impl ServedSockets {
    fn apply(&self, ready: BorrowedFd<'_>) -> StepResult {
        let has_v6 = make_local()?;
        let mut basket = SocketBatch { sockets: [const { None }; AT_ONCE], count: 0, ready };
        for (index, port) in self.streams.iter().enumerate() {
            basket.put(stream(*port, has_v6).at_index(SetupStep::Listen, index)?)?;
        }
        for (index, port) in self.datagrams.iter().enumerate() {
            let index = self.streams.len() + index;
            basket.put(datagram(*port, has_v6).at_index(SetupStep::Listen, index)?)?;
        }
        let [tcp_v4, udp_v4, tcp_v6, udp_v6] = &self.taps;
        basket.put(open_tap(Transport::Tcp, false, tcp_v4).at(SetupStep::Tap)?)?;
        basket.put(open_tap(Transport::Udp, false, udp_v4).at(SetupStep::Tap)?)?;
        if has_v6 {
            basket.put(open_tap(Transport::Tcp, true, tcp_v6).at(SetupStep::Tap)?)?;
            basket.put(open_tap(Transport::Udp, true, udp_v6).at(SetupStep::Tap)?)?;
        }
        basket.hand_over()
    }
}

/// Sockets on their way out.
struct SocketBatch<'a> {
    sockets: [Option<OwnedFd>; AT_ONCE],
    count: usize,
    ready: BorrowedFd<'a>,
}

impl SocketBatch<'_> {
    fn put(&mut self, socket: OwnedFd) -> StepResult {
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
    fn hand_over(&mut self) -> StepResult {
        let mut fds = [self.ready; AT_ONCE];
        for (place, socket) in fds.iter_mut().zip(self.sockets.iter().flatten()) {
            *place = socket.as_fd();
        }
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(AT_ONCE))];
        let mut rights = SendAncillaryBuffer::new(&mut space);
        rights.push(SendAncillaryMessage::ScmRights(fds.get(..self.count).unwrap_or_default()));
        let bytes = &[IoSlice::new(&SOCKETS)];
        rustix::net::sendmsg(self.ready, bytes, &mut rights, SendFlags::NOSIGNAL).at(SetupStep::HandOver)?;
        self.sockets = [const { None }; AT_ONCE];
        self.count = 0;
        Ok(())
    }
}

/// Switches the loopback interface on.
pub(crate) fn switch_on() -> StepResult {
    let socket = socket_with(AddressFamily::INET, SocketType::DGRAM, SocketFlags::CLOEXEC, None);
    let socket = socket.at(SetupStep::Loopback)?;
    sys::loopback::switch_loopback_on(socket.as_fd()).at(SetupStep::Loopback)
}

/// Makes every address local. Whether that was possible for IPv6 too.
pub(crate) fn make_local() -> StepResult<bool> {
    let socket = netlink_socket().at(SetupStep::Routes)?;
    add_route(&socket, AddressFamily::INET).at(SetupStep::Routes)?;
    // Without IPv6, or with IPv6 switched off, there are no such addresses to reach, and nobody can.
    let has_v6 = add_route(&socket, AddressFamily::INET6).is_ok();
    // Many programs ask for addresses only of a family of which the machine has an address, besides those for talking to itself
    // (AI_ADDRCONFIG, getaddrinfo(3)). Nothing else depends on these.
    let _ = add_address(&socket, AddressFamily::INET, &OWN_V4.octets());
    let _ = add_address(&socket, AddressFamily::INET6, &OWN_V6.octets());
    Ok(has_v6)
}

/// Of netlink's protocols, routes are the first.
fn netlink_socket() -> Result<OwnedFd, Errno> {
    socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, None)
}

/// `ip route add local default dev lo`, as the kernel is told it: a `struct rtmsg` and the number of the interface.
fn add_route(socket: &OwnedFd, family: AddressFamily) -> Result<(), Errno> {
    const NEW_ROUTE: u16 = 24;
    const TABLE_LOCAL: u8 = 255;
    const BY_BOOT: u8 = 3;
    const SCOPE_HOST: u8 = 254;
    const LOCAL: u8 = 2;
    const INTERFACE: u16 = 4;
    let route = [short_family(family), 0, 0, 0, TABLE_LOCAL, BY_BOOT, SCOPE_HOST, LOCAL, 0, 0, 0, 0];
    send_netlink(socket, NEW_ROUTE, &route, INTERFACE, &LOOPBACK.to_ne_bytes())
}

/// `ip address add ADDRESS dev lo`: a `struct ifaddrmsg` and the address.
fn add_address(socket: &OwnedFd, family: AddressFamily, address: &[u8]) -> Result<(), Errno> {
    const NEW_ADDRESS: u16 = 20;
    const OWN: u16 = 2;
    let [i0, i1, i2, i3] = LOOPBACK.to_ne_bytes();
    let bits = u8::try_from(address.len() * 8).unwrap_or(0);
    send_netlink(socket, NEW_ADDRESS, &[short_family(family), bits, 0, 0, i0, i1, i2, i3], OWN, address)
}

fn short_family(family: AddressFamily) -> u8 {
    u8::try_from(family.as_raw()).unwrap_or(0)
}

/// Sends a request for something new, with one attribute, and reads the answer (netlink(7)).
fn send_netlink(socket: &OwnedFd, kind: u16, body: &[u8], attribute: u16, value: &[u8]) -> Result<(), Errno> {
    /// A request, to be answered, for something that is not there yet.
    const FLAGS: u16 = 0x1 | 0x4 | 0x200 | 0x400;
    const HEADER: usize = 16;
    const ATTRIBUTE_HEADER: usize = 4;
    let attribute_length = ATTRIBUTE_HEADER + value.len();
    let length = HEADER + body.len() + attribute_length;
    let number = |length: usize| u16::try_from(length).unwrap_or(u16::MAX);
    let mut message = [0; 64];
    let parts: [&[u8]; 8] = [
        &u32::from(number(length)).to_ne_bytes(),
        &kind.to_ne_bytes(),
        &FLAGS.to_ne_bytes(),
        &[0; 8],
        body,
        &number(attribute_length).to_ne_bytes(),
        &attribute.to_ne_bytes(),
        value,
    ];
    for (place, byte) in message.iter_mut().zip(parts.into_iter().flatten()) {
        *place = *byte;
    }
    rustix::net::send(socket, message.get(..length).ok_or(Errno::MSGSIZE)?, SendFlags::empty())?;
    let mut answer = [0; 64];
    rustix::net::recv(socket, &mut answer, RecvFlags::empty())?;
    // The error, which is 0 or negative, follows the header.
    let error = answer.get(HEADER..HEADER + 4).and_then(|error| error.try_into().ok());
    let error = error.map_or(-libc::EPROTO, i32::from_ne_bytes);
    if error == 0 { Ok(()) } else { Err(Errno::from_raw_os_error(-error)) }
}

/// A socket that accepts what is sent to a port of any address.
fn stream(port: u16, has_v6: bool) -> Result<OwnedFd, Errno> {
    let socket = bind_socket(port, SocketType::STREAM, has_v6)?;
    rustix::net::listen(&socket, BACKLOG)?;
    Ok(socket)
}

/// The same for datagrams, each of which comes with the address that it was sent to.
fn datagram(port: u16, has_v6: bool) -> Result<OwnedFd, Errno> {
    let socket = bind_socket(port, SocketType::DGRAM, has_v6)?;
    sys::sockets::tell_destinations(socket.as_fd(), has_v6)
        .map_err(|errno| Errno::from_raw_os_error(errno.0))?;
    Ok(socket)
}

/// A socket that sees packets of one kind.
fn open_tap(transport: Transport, is_v6: bool, filter: &[u8]) -> Result<OwnedFd, Errno> {
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

fn bind_socket(port: u16, kind: SocketType, has_v6: bool) -> Result<OwnedFd, Errno> {
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
