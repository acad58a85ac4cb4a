//! Packets without a listener: what was tried and cannot go anywhere.
//!
//! Inside, every address is local, so the kernel refuses a connection to a port that was not granted by itself. A raw socket
//! sees it do so. (A packet socket would see it too, but the kernel takes milliseconds to close one.)

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::os::fd::OwnedFd;
use std::time::Instant;

use rustix::net::RecvFlags;

use crate::attempt::{AttemptAction, AttemptVerdict, RefusalReason};
use crate::broker_loop::BrokerShared;
use crate::datagrams::receive_datagram;
use crate::policy::ListenPorts;
use skillsandbox_terms::Transport;

/// So much of a packet is looked at: the longest headers, and the ports behind them.
const LOOKED_AT: u32 = 128;

/// Packets that are read before others have their turn.
const AT_ONCE: usize = 64;

/// A raw socket inside, for one kind of packets, with [`tap_filter`] and, for IPv6, `IPV6_RECVPKTINFO`. It only sees.
#[derive(Debug)]
pub struct PacketTap {
    /// What it sees.
    pub transport: Transport,
    /// IPv6 instead of IPv4.
    pub is_v6: bool,
    /// The socket, non-blocking.
    pub socket: OwnedFd,
}

impl PacketTap {
    /// Writes down what was tried. Whether there may be more.
    pub(crate) fn serve(&self, shared: &BrokerShared, control: &mut [u8], now: Instant) -> bool {
        for _ in 0..AT_ONCE {
            let mut packet = [0; LOOKED_AT as usize];
            let to = if self.is_v6 {
                let Some(received) = receive_datagram(&self.socket, &mut packet, control) else {
                    return false;
                };
                port(&packet, 0).map(|port| SocketAddr::new(received.to, port))
            } else {
                let Ok((count, _)) = rustix::net::recv(&self.socket, &mut packet, RecvFlags::DONTWAIT) else {
                    return false;
                };
                destination(packet.get(..count).unwrap_or_default())
            };
            if let Some(to) = to {
                let verdict = AttemptVerdict::Refused(RefusalReason::NotGranted);
                shared.log.record(shared.attempt(AttemptAction::Reach(self.transport), to, verdict, now));
            }
        }
        true
    }
}

/// Where a packet of IPv4 was going.
fn destination(packet: &[u8]) -> Option<SocketAddr> {
    let length = usize::from(packet.first()? & 0xf) * 4;
    let address: [u8; 4] = packet.get(16..20)?.try_into().ok()?;
    Some(SocketAddr::new(IpAddr::V4(Ipv4Addr::from(address)), port(packet, length)?))
}

/// The port to which a packet goes, whose header of TCP or UDP begins at `at`.
fn port(packet: &[u8], at: usize) -> Option<u16> {
    let port: [u8; 2] = packet.get(at + 2..at + 4)?.try_into().ok()?;
    Some(u16::from_be_bytes(port))
}

/// The filter for a [`PacketTap`]: the bytes of an array of `struct sock_filter`. It lets the first packet of a connection through, and
/// datagrams, to ports that are not served; nothing that goes to the loopback addresses, where programs inside talk to each other.
#[must_use]
pub fn tap_filter(listens: &ListenPorts, transport: Transport, is_v6: bool) -> Vec<u8> {
    let mut program = BpfProgram(Vec::new());
    if is_v6 {
        // The packet begins behind the header of IPv6, which is found from the network's header on.
        for (word, skip) in [(24, 7), (28, 5), (32, 3)] {
            program.load(LOAD_WORD, NETWORK_HEADER + word);
            program.push(EQUAL, 0, skip, 0);
        }
        program.load(LOAD_WORD, NETWORK_HEADER + 36);
        program.accept_unless(1);
        program.push(SET_INDEX, 0, 0, 0);
    } else {
        program.load(LOAD_WORD, 16);
        program.and(0xff00_0000);
        program.accept_unless(0x7f00_0000);
        program.load(LOAD_HEADER_LENGTH, 0);
    }
    match transport {
        Transport::Tcp => {
            // SYN without ACK.
            program.load(LOAD_BYTE_AT, 13);
            program.and(0x12);
            program.accept_only(0x02);
            program.load(LOAD_HALF_AT, 2);
            listens.streams.iter().for_each(|port| program.accept_unless((*port).into()));
        }
        Transport::Udp => {
            // From a port that is served, it is an answer.
            program.load(LOAD_HALF_AT, 0);
            listens.datagrams.iter().for_each(|port| program.accept_unless((*port).into()));
            program.load(LOAD_HALF_AT, 2);
            listens.datagrams.iter().for_each(|port| program.accept_unless((*port).into()));
        }
    }
    program.push(RETURN, 0, 0, LOOKED_AT);
    program.0
}

/// A classic BPF program (linux/filter.h).
struct BpfProgram(Vec<u8>);

const LOAD_WORD: u16 = 0x20;
/// From the index on.
const LOAD_HALF_AT: u16 = 0x48;
const LOAD_BYTE_AT: u16 = 0x50;
/// The index becomes the length of the IPv4 header.
const LOAD_HEADER_LENGTH: u16 = 0xb1;
const SET_INDEX: u16 = 0x01;
const AND: u16 = 0x54;
const EQUAL: u16 = 0x15;
const RETURN: u16 = 0x06;
/// Where a filter finds the header of IP, wherever the packet begins (`SKF_NET_OFF`).
const NETWORK_HEADER: u32 = 0xfff0_0000;

impl BpfProgram {
    fn push(&mut self, code: u16, if_true: u8, if_false: u8, value: u32) {
        self.0.extend_from_slice(&code.to_ne_bytes());
        self.0.extend_from_slice(&[if_true, if_false]);
        self.0.extend_from_slice(&value.to_ne_bytes());
    }

    fn load(&mut self, how: u16, at: u32) {
        self.push(how, 0, 0, at);
    }

    fn and(&mut self, mask: u32) {
        self.push(AND, 0, 0, mask);
    }

    /// Ends with nothing if what was loaded is `value`.
    fn accept_unless(&mut self, value: u32) {
        self.push(EQUAL, 0, 1, value);
        self.push(RETURN, 0, 0, 0);
    }

    /// Ends with nothing if what was loaded is not `value`.
    fn accept_only(&mut self, value: u32) {
        self.push(EQUAL, 1, 0, value);
        self.push(RETURN, 0, 0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_destination_is_behind_a_header_of_any_length() {
        let mut packet = [0; 64];
        packet[0] = 0x45;
        packet[16..20].copy_from_slice(&[192, 0, 2, 1]);
        packet[20..24].copy_from_slice(&[1, 2, 0x1f, 0x90]);
        assert_eq!(destination(&packet), Some("192.0.2.1:8080".parse().unwrap()));
        packet[0] = 0x4f;
        assert_eq!(destination(&packet), Some("192.0.2.1:0".parse().unwrap()));
        assert_eq!(destination(&packet[..20]), None);
        assert_eq!(destination(&[]), None);
    }

    #[test]
    fn filters_are_whole_instructions_and_fit_into_the_kernel() {
        let ports = (1..=128).collect();
        let listens = ListenPorts { streams: ports, datagrams: (1..=128).collect() };
        for transport in [Transport::Tcp, Transport::Udp] {
            for is_v6 in [false, true] {
                let filter = tap_filter(&listens, transport, is_v6);
                assert!(filter.len().is_multiple_of(8) && filter.len() / 8 < 4096, "{}", filter.len());
            }
        }
    }
}
