//! Sockets, by family, kind and protocol.

use crate::seccomp::table::{
    ArgumentRule, ArgumentTest, CallGroup, CallList, CallSupervision, ListedCall, ProfileScope, bits, is,
    with, without,
};

const UNIX: u32 = 1;
const INET: u32 = 2;
const INET6: u32 = 10;
const NETLINK: u32 = 16;
const TCP: u32 = 6;
const UDP: u32 = 17;

/// The kind of socket; `SOCK_NONBLOCK` and `SOCK_CLOEXEC` are above these bits (`SOCK_TYPE_MASK` in the kernel).
const fn kind(kind: u32) -> ArgumentTest {
    bits(1, 0xf, kind)
}
const STREAM: ArgumentTest = kind(1);
const DATAGRAM: ArgumentTest = kind(2);
const RAW: ArgumentTest = kind(3);
const PACKETS: ArgumentTest = kind(5);

pub(super) const MSG_FASTOPEN: u32 = 0x2000_0000;

const CONNECTED_FIRST: &str = "without MSG_FASTOPEN";

pub(super) const SOCKETS: CallGroup = CallGroup {
    name: "sockets",
    reason: "TCP and UDP, pairs of Unix sockets, and questions to the routing table, which C libraries, Go and Node ask for the \
             addresses there are; where they lead is for the network namespace to say. Other families and protocols are drivers \
             that programs do not need, or ways past the observer",
    within: ProfileScope::NotStrict("strict has no sockets, neither new ones nor those it was given"),
    supervision: CallSupervision::None,
    calls: CallList {
        both: "bind listen accept accept4 recvfrom recvmsg recvmmsg shutdown getsockname getpeername getsockopt",
        x86_64: "",
        more: &[
            ListedCall::both(
                "socket",
                &[
                    ArgumentRule::new("IPv4, TCP", &[is(0, INET), STREAM, is(2, 0)]),
                    ArgumentRule::new("IPv4, TCP", &[is(0, INET), STREAM, is(2, TCP)]),
                    ArgumentRule::new("IPv4, UDP", &[is(0, INET), DATAGRAM, is(2, 0)]),
                    ArgumentRule::new("IPv4, UDP", &[is(0, INET), DATAGRAM, is(2, UDP)]),
                    ArgumentRule::new("IPv6, TCP", &[is(0, INET6), STREAM, is(2, 0)]),
                    ArgumentRule::new("IPv6, TCP", &[is(0, INET6), STREAM, is(2, TCP)]),
                    ArgumentRule::new("IPv6, UDP", &[is(0, INET6), DATAGRAM, is(2, 0)]),
                    ArgumentRule::new("IPv6, UDP", &[is(0, INET6), DATAGRAM, is(2, UDP)]),
                    ArgumentRule::new("netlink, routes", &[is(0, NETLINK), RAW, is(2, 0)]),
                    ArgumentRule::new("netlink, routes", &[is(0, NETLINK), DATAGRAM, is(2, 0)]),
                ],
            ),
            ListedCall::both(
                "socketpair",
                &[
                    ArgumentRule::new("Unix, a stream", &[is(0, UNIX), STREAM]),
                    ArgumentRule::new("Unix, packets in order", &[is(0, UNIX), PACKETS]),
                ],
            ),
            ListedCall::both(
                "sendto",
                &[ArgumentRule::new(
                    "without an address, without MSG_FASTOPEN",
                    &[without(3, MSG_FASTOPEN), NO_ADDRESS],
                )],
            ),
            ListedCall::both("sendmsg", &[ArgumentRule::new(CONNECTED_FIRST, &[without(2, MSG_FASTOPEN)])]),
            ListedCall::both("sendmmsg", &[ArgumentRule::new(CONNECTED_FIRST, &[without(3, MSG_FASTOPEN)])]),
            ListedCall::both("setsockopt", OPTIONS),
        ],
    },
};

/// The length of an address: one that the kernel takes has at least 16 bytes and at most 128.
const NO_ADDRESS: ArgumentTest = without(5, 0xf0);

/// Sockets that can be connected to a name in the file system, of whoever is bound there.
pub(super) const UNIX_SOCKETS: CallGroup = CallGroup {
    name: "Unix sockets",
    reason: "streams and packets in order, which go only where they were connected to, and that is judged. No other layer keeps \
             a program from a socket in a folder that it may read, so without a supervisor there are none; pairs there are",
    within: ProfileScope::NotStrict("strict has no sockets, neither new ones nor those it was given"),
    supervision: CallSupervision::Required,
    calls: CallList {
        both: "",
        x86_64: "",
        more: &[ListedCall::both(
            "socket",
            &[
                ArgumentRule::new("Unix, a stream", &[is(0, UNIX), STREAM]),
                ArgumentRule::new("Unix, packets in order", &[is(0, UNIX), PACKETS]),
            ],
        )],
    },
};

/// Unix sockets that send to any name, without being connected (`unix_dgram_sendmsg`): where to is in memory. `SOCK_RAW` is another
/// word for the same (`unix_create`).
pub(super) const UNIX_DATAGRAMS: &[ListedCall] =
    &[ListedCall::both("socket", UNCONNECTED), ListedCall::both("socketpair", UNCONNECTED)];

const UNCONNECTED: &[ArgumentRule] = &[
    ArgumentRule::new("Unix, datagrams", &[is(0, UNIX), DATAGRAM]),
    ArgumentRule::new("Unix, raw", &[is(0, UNIX), RAW]),
];

/// The call that names whom a socket is to talk to.
pub(super) const CONNECTING: CallGroup = CallGroup {
    name: "connecting",
    reason: "the supervisor looks where it leads and connects the socket itself; the network namespace says what comes of it",
    within: ProfileScope::NotStrict("strict has no sockets, neither new ones nor those it was given"),
    supervision: CallSupervision::Performed,
    calls: CallList { both: "connect", x86_64: "", more: &[] },
};

/// Calls that name a destination of datagrams.
pub(super) const DESTINATIONS: CallGroup = CallGroup {
    name: "destinations",
    reason: "where a program sends; the network namespace says what comes of it, and the observer knows who it was",
    within: ProfileScope::NotStrict("strict has no sockets, neither new ones nor those it was given"),
    supervision: CallSupervision::Observed,
    calls: CallList {
        both: "",
        x86_64: "",
        more: &[ListedCall::both(
            "sendto",
            &[
                ArgumentRule::new(
                    "to an address, without MSG_FASTOPEN",
                    &[without(3, MSG_FASTOPEN), with(5, 0x10)],
                ),
                ArgumentRule::new(
                    "to an address, without MSG_FASTOPEN",
                    &[without(3, MSG_FASTOPEN), with(5, 0x20)],
                ),
                ArgumentRule::new(
                    "to an address, without MSG_FASTOPEN",
                    &[without(3, MSG_FASTOPEN), with(5, 0x40)],
                ),
                ArgumentRule::new(
                    "to an address, without MSG_FASTOPEN",
                    &[without(3, MSG_FASTOPEN), with(5, 0x80)],
                ),
            ],
        )],
    },
};

/// Whether a call is one of [`CONNECTING`] and [`DESTINATIONS`].
pub(in crate::seccomp) fn is_destination(number: i32, arguments: [u64; 6]) -> bool {
    match i64::from(number) {
        libc::SYS_connect => true,
        libc::SYS_sendto => {
            let [call, ..] = DESTINATIONS.calls.more else { return false };
            call.rules.iter().any(|rule| rule.holds(arguments))
        }
        _ => false,
    }
}

/// `sendmsg` on the descriptor at which the enforcer has its socket, before the skill is executed. Afterwards it is whatever
/// the skill has opened there, which cannot be a socket.
pub(super) const LISTENER: CallGroup = CallGroup {
    name: "the listener",
    reason: "the listener of this very filter is sent to the supervisor, over the one socket there is, which is closed when the \
             skill is executed",
    within: ProfileScope::OnlyStrict,
    supervision: CallSupervision::None,
    calls: CallList {
        both: "",
        x86_64: "",
        more: &[ListedCall::both(
            "sendmsg",
            &[ArgumentRule::new("on descriptor 3", &[is(0, 3), without(2, MSG_FASTOPEN)])],
        )],
    },
};

pub(super) const SOL_SOCKET: u32 = 1;
const SOL_IP: u32 = 0;
const SOL_IPV6: u32 = 41;
const SOL_NETLINK: u32 = 270;
/// Options below 64. Those of packet filters begin there.
const FIRST_64: ArgumentTest = bits(2, !63, 0);

/// Options, by level: of TCP and UDP those that are about speed and keeping alive, of IP what is not for packet filters, of netlink
/// what `ip` asks for (nobody listens to what others change).
const OPTIONS: &[ArgumentRule] = &[
    // All but those that attach and lock filters: 26, 44, 50, 51 and 52.
    ArgumentRule::new("SOL_SOCKET: 0 to 15", &[is(1, SOL_SOCKET), bits(2, !15, 0)]),
    ArgumentRule::new("SOL_SOCKET: 16 to 23", &[is(1, SOL_SOCKET), bits(2, !7, 16)]),
    ArgumentRule::new("SOL_SOCKET: 24 and 25", &[is(1, SOL_SOCKET), bits(2, !1, 24)]),
    ArgumentRule::new("SO_DETACH_FILTER", &[is(1, SOL_SOCKET), is(2, 27)]),
    ArgumentRule::new("SOL_SOCKET: 28 to 31", &[is(1, SOL_SOCKET), bits(2, !3, 28)]),
    ArgumentRule::new("SOL_SOCKET: 32 to 39", &[is(1, SOL_SOCKET), bits(2, !7, 32)]),
    ArgumentRule::new("SOL_SOCKET: 40 to 43", &[is(1, SOL_SOCKET), bits(2, !3, 40)]),
    ArgumentRule::new("SO_SELECT_ERR_QUEUE", &[is(1, SOL_SOCKET), is(2, 45)]),
    ArgumentRule::new("SOL_SOCKET: 46 and 47", &[is(1, SOL_SOCKET), bits(2, !1, 46)]),
    ArgumentRule::new("SOL_SOCKET: 48 and 49", &[is(1, SOL_SOCKET), bits(2, !1, 48)]),
    ArgumentRule::new("SO_CNX_ADVICE", &[is(1, SOL_SOCKET), is(2, 53)]),
    ArgumentRule::new("SOL_SOCKET: 54 and 55", &[is(1, SOL_SOCKET), bits(2, !1, 54)]),
    ArgumentRule::new("SOL_SOCKET: 56 to 63", &[is(1, SOL_SOCKET), bits(2, !7, 56)]),
    ArgumentRule::new("SOL_SOCKET: 64 to 95", &[is(1, SOL_SOCKET), bits(2, !31, 64)]),
    ArgumentRule::new("NETLINK_EXT_ACK", &[is(1, SOL_NETLINK), is(2, 11)]),
    ArgumentRule::new("NETLINK_GET_STRICT_CHK", &[is(1, SOL_NETLINK), is(2, 12)]),
    ArgumentRule::new("IPPROTO_IP: those below 64", &[is(1, SOL_IP), FIRST_64]),
    ArgumentRule::new("IPPROTO_IPV6: those below 64", &[is(1, SOL_IPV6), FIRST_64]),
    ArgumentRule::new("IPV6_RECVTCLASS", &[is(1, SOL_IPV6), is(2, 66)]),
    ArgumentRule::new("IPV6_TCLASS", &[is(1, SOL_IPV6), is(2, 67)]),
    ArgumentRule::new("IPV6_AUTOFLOWLABEL", &[is(1, SOL_IPV6), is(2, 70)]),
    ArgumentRule::new("IPV6_ADDR_PREFERENCES", &[is(1, SOL_IPV6), is(2, 72)]),
    ArgumentRule::new("IPV6_MINHOPCOUNT", &[is(1, SOL_IPV6), is(2, 73)]),
    ArgumentRule::new("IPV6_RECVORIGDSTADDR", &[is(1, SOL_IPV6), is(2, 74)]),
    ArgumentRule::new("IPV6_UNICAST_IF", &[is(1, SOL_IPV6), is(2, 76)]),
    ArgumentRule::new("IPV6_RECVFRAGSIZE", &[is(1, SOL_IPV6), is(2, 77)]),
    ArgumentRule::new("IPV6_FREEBIND", &[is(1, SOL_IPV6), is(2, 78)]),
    ArgumentRule::new("TCP_NODELAY", &[is(1, TCP), is(2, 1)]),
    ArgumentRule::new("TCP_MAXSEG", &[is(1, TCP), is(2, 2)]),
    ArgumentRule::new("TCP_CORK", &[is(1, TCP), is(2, 3)]),
    ArgumentRule::new("TCP_KEEPIDLE", &[is(1, TCP), is(2, 4)]),
    ArgumentRule::new("TCP_KEEPINTVL", &[is(1, TCP), is(2, 5)]),
    ArgumentRule::new("TCP_KEEPCNT", &[is(1, TCP), is(2, 6)]),
    ArgumentRule::new("TCP_SYNCNT", &[is(1, TCP), is(2, 7)]),
    ArgumentRule::new("TCP_LINGER2", &[is(1, TCP), is(2, 8)]),
    ArgumentRule::new("TCP_DEFER_ACCEPT", &[is(1, TCP), is(2, 9)]),
    ArgumentRule::new("TCP_WINDOW_CLAMP", &[is(1, TCP), is(2, 10)]),
    ArgumentRule::new("TCP_QUICKACK", &[is(1, TCP), is(2, 12)]),
    ArgumentRule::new("TCP_CONGESTION", &[is(1, TCP), is(2, 13)]),
    ArgumentRule::new("TCP_THIN_LINEAR_TIMEOUTS", &[is(1, TCP), is(2, 16)]),
    ArgumentRule::new("TCP_THIN_DUPACK", &[is(1, TCP), is(2, 17)]),
    ArgumentRule::new("TCP_USER_TIMEOUT", &[is(1, TCP), is(2, 18)]),
    ArgumentRule::new("TCP_TIMESTAMP", &[is(1, TCP), is(2, 24)]),
    ArgumentRule::new("TCP_NOTSENT_LOWAT", &[is(1, TCP), is(2, 25)]),
    ArgumentRule::new("TCP_SAVE_SYN", &[is(1, TCP), is(2, 27)]),
    ArgumentRule::new("TCP_INQ", &[is(1, TCP), is(2, 36)]),
    ArgumentRule::new("UDP_CORK", &[is(1, UDP), is(2, 1)]),
    ArgumentRule::new("UDP_SEGMENT", &[is(1, UDP), is(2, 103)]),
    ArgumentRule::new("UDP_GRO", &[is(1, UDP), is(2, 104)]),
];
