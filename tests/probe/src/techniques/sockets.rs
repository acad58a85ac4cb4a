//! The network: the host's own loopback (no other address is ever tried), and families of sockets that lead past it.

use std::io::Read as _;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream, UdpSocket};
use std::os::fd::{AsFd as _, OwnedFd};
use std::time::Duration;

use nix::errno::Errno;

use super::{Control, Group, Technique, technique};
use crate::outcome::{Stopped, Tried, any_of, reached_unless};
use crate::scene::Scene;
use crate::sys;

/// What a socket that was reached may take to answer.
const PATIENCE: Duration = Duration::from_secs(3);
const INET: i64 = libc::AF_INET as i64;
const INET6: i64 = libc::AF_INET6 as i64;
const NETLINK: i64 = libc::AF_NETLINK as i64;
/// A bit the kernel does not look at.
const HIGH: i64 = 1 << 32;
const FAMILY: Control = Control::Host("kernels may be built without this family");

const fn net(
    name: &'static str,
    control: Control,
    what: &'static str,
    run: fn(&Scene) -> Tried,
) -> Technique {
    technique(Group::Socket, name, control, what, run)
}

pub(super) const TECHNIQUES: &[Technique] = &[
    net("tcp", Control::User, "Connects to a port of the host's loopback.", |s| {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, s.context.sockets.tcp));
        answered(s, TcpStream::connect_timeout(&address, PATIENCE)?)
    }),
    net("tcp6", Control::Host("a host may have no IPv6"), "The same by IPv6.", |s| {
        let port = s.context.sockets.tcp6.ok_or_else(|| Stopped::unable("the host has no IPv6"))?;
        let address = SocketAddr::from((Ipv6Addr::LOCALHOST, port));
        answered(s, TcpStream::connect_timeout(&address, PATIENCE)?)
    }),
    net("tcp-mapped", Control::Host("a host may have no IPv6"), "The same by IPv4 written as IPv6.", |s| {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST.to_ipv6_mapped(), s.context.sockets.tcp));
        answered(s, TcpStream::connect_timeout(&address, PATIENCE)?)
    }),
    net("tcp-unspecified", Control::User, "The same by 0.0.0.0, which means this host.", |s| {
        let address = SocketAddr::from((Ipv4Addr::UNSPECIFIED, s.context.sockets.tcp));
        answered(s, TcpStream::connect_timeout(&address, PATIENCE)?)
    }),
    net(
        "tcp-fastopen",
        Control::Host("net.ipv4.tcp_fastopen may be off"),
        "Sends without connecting first.",
        |s| {
            let socket = sys::socket(INET, libc::SOCK_STREAM, 0)?;
            sys::send_to_loopback(socket.as_fd(), s.context.sockets.tcp, b"probe", libc::MSG_FASTOPEN)?;
            answered(s, TcpStream::from(socket))
        },
    ),
    net(
        "mptcp",
        Control::Host("kernels may be built without it"),
        "Connects by several paths at once.",
        |s| {
            let socket = sys::socket(INET, libc::SOCK_STREAM, 262)?;
            sys::connect_to_loopback(socket.as_fd(), s.context.sockets.tcp)?;
            answered(s, TcpStream::from(socket))
        },
    ),
    net("udp", Control::User, "Sends to a port of the host's loopback.", |s| {
        let socket = UdpSocket::bind("127.0.0.1:0")?;
        socket.send_to(b"probe", (Ipv4Addr::LOCALHOST, s.context.sockets.udp))?;
        received(s, &socket)
    }),
    net("udp-connected", Control::User, "The same after connecting, without an address.", |s| {
        let socket = UdpSocket::bind("127.0.0.1:0")?;
        socket.connect((Ipv4Addr::LOCALHOST, s.context.sockets.udp))?;
        socket.send(b"probe")?;
        received(s, &socket)
    }),
    net("family-packet", Control::Root, "Opens a socket for packets as they are on the wire.", |_| {
        opens(17, &[libc::SOCK_RAW, libc::SOCK_DGRAM], 0x0300)
    }),
    net("family-packet-high-bits", Control::Root, "The same with a bit that a filter may compare.", |_| {
        opens(17 + HIGH, &[libc::SOCK_RAW, libc::SOCK_DGRAM], 0x0300)
    }),
    net(
        "family-vsock-high-bits",
        FAMILY,
        "A socket to the host of a virtual machine, with such a bit.",
        |_| any_kind(40 + HIGH),
    ),
    net(
        "netlink-high-bits",
        Control::User,
        "A socket to the kernel's audit and others, with such a bit.",
        |_| any_of((1..23).map(|kind| (kind, opens(NETLINK | HIGH, &[libc::SOCK_RAW], kind)))),
    ),
    net("family-inet-packet", Control::Root, "The same by its old name.", |_| opens(INET, &[10], 0x0300)),
    net("family-raw", Control::Root, "Opens a socket for any protocol of IP.", |_| {
        opens(INET, &[libc::SOCK_RAW], 1)
    }),
    net("family-raw6", Control::Host("a host may have no IPv6"), "The same for IPv6.", |_| {
        opens(INET6, &[libc::SOCK_RAW], 58)
    }),
    net(
        "family-ping",
        Control::Host("depends on net.ipv4.ping_group_range"),
        "Opens a socket for ping.",
        |_| opens(INET, &[libc::SOCK_DGRAM], 1),
    ),
    net("family-sctp", FAMILY, "Opens a socket of SCTP.", |_| opens(INET, &[libc::SOCK_STREAM], 132)),
    net("family-dccp", FAMILY, "Opens a socket of DCCP.", |_| opens(INET, &[6], 33)),
    net("family-udplite", FAMILY, "Opens a socket of UDP-Lite.", |_| opens(INET, &[libc::SOCK_DGRAM], 136)),
    net("family-vsock", FAMILY, "Opens a socket to the host of a virtual machine.", |_| any_kind(40)),
    net("family-alg", FAMILY, "Opens a socket to the kernel's ciphers.", |_| any_kind(38)),
    net("family-bluetooth", FAMILY, "Opens a socket of Bluetooth.", |_| any_kind(31)),
    net("family-tipc", FAMILY, "Opens a socket of TIPC.", |_| any_kind(30)),
    net("family-key", FAMILY, "Opens a socket to the keys of IPsec.", |_| opens(15, &[libc::SOCK_RAW], 2)),
    net("family-rds", FAMILY, "Opens a socket of RDS.", |_| any_kind(21)),
    net("family-can", FAMILY, "Opens a socket of CAN.", |_| any_kind(29)),
    net("family-smc", FAMILY, "Opens a socket of SMC.", |_| any_kind(43)),
    net("family-xdp", FAMILY, "Opens a socket of XDP.", |_| any_kind(44)),
    net("family-qipcrtr", FAMILY, "Opens a socket of Qualcomm's router.", |_| any_kind(42)),
    net("family-pppox", FAMILY, "Opens a socket of PPP.", |_| any_kind(24)),
    net("family-llc", FAMILY, "Opens a socket of LLC.", |_| any_kind(26)),
    net("family-nfc", FAMILY, "Opens a socket of NFC.", |_| any_kind(39)),
    net("family-phonet", FAMILY, "Opens a socket of Phonet.", |_| any_kind(35)),
    net("family-mctp", FAMILY, "Opens a socket of MCTP.", |_| any_kind(45)),
    net("family-x25", FAMILY, "Opens a socket of X.25.", |_| any_kind(9)),
    net("family-ax25", FAMILY, "Opens a socket of AX.25.", |_| any_kind(3)),
    net("family-appletalk", FAMILY, "Opens a socket of AppleTalk.", |_| any_kind(5)),
    net("family-rxrpc", FAMILY, "Opens a socket of RxRPC.", |_| opens(33, &[libc::SOCK_DGRAM], 2)),
    net("netlink", Control::User, "Opens sockets to the kernel other than those about routes.", |_| {
        // 0 is NETLINK_ROUTE, which libraries need to list addresses.
        any_of((1..23).map(|kind| (kind, opens(NETLINK, &[libc::SOCK_RAW, libc::SOCK_DGRAM], kind))))
    }),
];

fn answered(scene: &Scene, mut stream: TcpStream) -> Tried {
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut answer = Vec::new();
    // A connection that is cut after the answer is an answer.
    let ended = stream.read_to_end(&mut answer);
    scene.leaked(&answer).or_else(|stopped| ended.map_err(Stopped::from).and(Err(stopped)))
}

fn received(scene: &Scene, socket: &UdpSocket) -> Tried {
    socket.set_read_timeout(Some(PATIENCE))?;
    let mut answer = [0; 256];
    let length = socket.recv(&mut answer)?;
    scene.leaked(answer.get(..length).unwrap_or_default())
}

/// A family that does not exist is refused too.
fn opens(family: i64, kinds: &[i32], protocol: i32) -> Tried {
    const MISSING: &[Errno] = &[
        Errno::EAFNOSUPPORT,
        Errno::EPROTONOSUPPORT,
        Errno::ESOCKTNOSUPPORT,
        Errno::EPROTOTYPE,
        Errno::EINVAL,
    ];
    let opened = |kind: &i32| -> (i32, Tried) {
        let socket: std::io::Result<OwnedFd> = sys::socket(family, *kind, protocol);
        (*kind, reached_unless(socket, MISSING))
    };
    any_of(kinds.iter().map(opened))
}

/// Any kind of socket there may be: stream, datagram, raw, sequence.
fn any_kind(family: i64) -> Tried {
    opens(family, &[1, 2, 3, 5], 0)
}
