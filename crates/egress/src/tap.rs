//! Packets that nobody listens for: what was tried and cannot go anywhere.
//!
//! Inside, every address is local, so the kernel refuses a connection to a port that was not granted by itself. A packet socket
//! sees it do so.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::OwnedFd;
use std::time::Instant;

use rustix::net::RecvFlags;

use crate::attempt::{Action, Reason, Verdict};
use crate::engine::Shared;
use crate::policy::Listens;
use crate::rule::Transport;

/// So much of a packet is looked at: the longest headers, and the ports behind them.
const LOOKED_AT: u32 = 128;

/// Packets that are read before others have their turn.
const AT_ONCE: usize = 64;

const TCP: u8 = 6;
const UDP: u8 = 17;

/// Writes down what was tried.
pub(crate) fn serve(tap: &OwnedFd, shared: &Shared, now: Instant) {
    for _ in 0..AT_ONCE {
        let mut packet = [0; LOOKED_AT as usize];
        let Ok((_, count)) = rustix::net::recv(tap, &mut packet, RecvFlags::DONTWAIT | RecvFlags::TRUNC)
        else {
            return;
        };
        let packet = packet.get(..count.min(packet.len())).unwrap_or_default();
        if let Some((transport, to)) = destination(packet) {
            let verdict = Verdict::Refused(Reason::NotGranted);
            shared.ledger.note(shared.attempt(Action::Reach(transport), to, verdict, now));
        }
    }
}

/// Where a packet was going.
fn destination(packet: &[u8]) -> Option<(Transport, SocketAddr)> {
    let version = packet.first()? >> 4;
    let (protocol, address, ports): (u8, IpAddr, usize) = match version {
        4 => {
            let length = usize::from(packet.first()? & 0xf) * 4;
            let address: [u8; 4] = packet.get(16..20)?.try_into().ok()?;
            (*packet.get(9)?, Ipv4Addr::from(address).into(), length)
        }
        6 => {
            let address: [u8; 16] = packet.get(24..40)?.try_into().ok()?;
            (*packet.get(6)?, Ipv6Addr::from(address).into(), 40)
        }
        _ => return None,
    };
    let transport = match protocol {
        TCP => Transport::Tcp,
        UDP => Transport::Udp,
        _ => return None,
    };
    let port: [u8; 2] = packet.get(ports + 2..ports + 4)?.try_into().ok()?;
    Some((transport, SocketAddr::new(address, u16::from_be_bytes(port))))
}

/// The filter for [`Sockets::tap`](crate::Sockets::tap), a packet socket of kind `SOCK_DGRAM`: the bytes of an array of `struct
/// sock_filter`. It lets the first packet of a connection through, and datagrams, to ports that are not served; nothing that goes
/// to the loopback addresses, where programs inside talk to each other.
#[must_use]
pub fn tap_filter(listens: &Listens) -> Vec<u8> {
    let mut program = Filter(Vec::new());
    // Each packet is seen twice, going and coming.
    program.load(LOAD_BYTE, PACKET_TYPE);
    program.unless(OUTGOING);
    let mut v4 = Filter(Vec::new());
    v4.load(LOAD_WORD, 16);
    v4.and(0xff00_0000);
    v4.unless(0x7f00_0000);
    // Later fragments have no ports.
    v4.load(LOAD_HALF, 6);
    v4.and(0x1fff);
    v4.only(0);
    v4.load(LOAD_HEADER_LENGTH, 0);
    v4.load(LOAD_BYTE, 9);
    v4.by_protocol(listens);
    let mut v6 = Filter(Vec::new());
    v6.load(LOAD_BYTE, 0);
    v6.and(0xf0);
    v6.only(0x60);
    for (word, skip) in [(24, 7), (28, 5), (32, 3)] {
        v6.load(LOAD_WORD, word);
        v6.push(EQUAL, 0, skip, 0);
    }
    v6.load(LOAD_WORD, 36);
    v6.unless(1);
    v6.push(SET_INDEX, 0, 0, 40);
    v6.load(LOAD_BYTE, 6);
    v6.by_protocol(listens);

    program.load(LOAD_BYTE, 0);
    program.and(0xf0);
    program.push(EQUAL, 1, 0, 0x40);
    program.push(SKIP, 0, 0, v4.instructions());
    program.0.extend(v4.0);
    program.0.extend(v6.0);
    program.0
}

/// A classic BPF program (linux/filter.h).
struct Filter(Vec<u8>);

const LOAD_WORD: u16 = 0x20;
const LOAD_HALF: u16 = 0x28;
const LOAD_BYTE: u16 = 0x30;
/// From the index on.
const LOAD_HALF_AT: u16 = 0x48;
const LOAD_BYTE_AT: u16 = 0x50;
/// The index becomes the length of the IPv4 header.
const LOAD_HEADER_LENGTH: u16 = 0xb1;
const SET_INDEX: u16 = 0x01;
const AND: u16 = 0x54;
const EQUAL: u16 = 0x15;
const SKIP: u16 = 0x05;
const RETURN: u16 = 0x06;
/// Where a filter finds which way a packet goes (`SKF_AD_OFF + SKF_AD_PKTTYPE`).
const PACKET_TYPE: u32 = 0xffff_f004;
const OUTGOING: u32 = 4;

impl Filter {
    fn push(&mut self, code: u16, if_true: u8, if_false: u8, value: u32) {
        self.0.extend_from_slice(&code.to_ne_bytes());
        self.0.extend_from_slice(&[if_true, if_false]);
        self.0.extend_from_slice(&value.to_ne_bytes());
    }

    fn instructions(&self) -> u32 {
        u32::try_from(self.0.len() / 8).unwrap_or(u32::MAX)
    }

    fn load(&mut self, how: u16, at: u32) {
        self.push(how, 0, 0, at);
    }

    fn and(&mut self, mask: u32) {
        self.push(AND, 0, 0, mask);
    }

    /// Ends with nothing if what was loaded is `value`.
    fn unless(&mut self, value: u32) {
        self.push(EQUAL, 0, 1, value);
        self.push(RETURN, 0, 0, 0);
    }

    /// Ends with nothing if what was loaded is not `value`.
    fn only(&mut self, value: u32) {
        self.push(EQUAL, 1, 0, value);
        self.push(RETURN, 0, 0, 0);
    }

    /// The protocol was loaded, and the index is where its header begins.
    fn by_protocol(&mut self, listens: &Listens) {
        let mut tcp = Self(Vec::new());
        // SYN without ACK.
        tcp.load(LOAD_BYTE_AT, 13);
        tcp.and(0x12);
        tcp.only(0x02);
        tcp.load(LOAD_HALF_AT, 2);
        listens.streams.iter().for_each(|port| tcp.unless((*port).into()));
        tcp.push(RETURN, 0, 0, LOOKED_AT);
        self.push(EQUAL, 0, 1, TCP.into());
        self.push(SKIP, 0, 0, 1);
        self.push(SKIP, 0, 0, tcp.instructions());
        self.0.extend(tcp.0);
        self.only(UDP.into());
        // From a port that is served, it is an answer.
        self.load(LOAD_HALF_AT, 0);
        listens.datagrams.iter().for_each(|port| self.unless((*port).into()));
        self.load(LOAD_HALF_AT, 2);
        listens.datagrams.iter().for_each(|port| self.unless((*port).into()));
        self.push(RETURN, 0, 0, LOOKED_AT);
    }
}
