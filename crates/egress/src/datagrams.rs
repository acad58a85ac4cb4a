//! Datagrams: names that are asked for, and what was granted as UDP.

use std::collections::HashMap;
use std::io::{IoSlice, IoSliceMut};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use nix::sys::socket::{
    ControlMessage, ControlMessageOwned, MsgFlags, SockaddrIn, SockaddrIn6, SockaddrStorage, recvmsg, sendmsg,
};
use rustix::event::epoll::EventFlags;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, socket_with};

use crate::attempt::{Attempt, AttemptAction, AttemptEnd, AttemptVerdict, RefusalReason};
use crate::broker_loop::{BrokerShared, MOST_ROUNDS, canonical_address};
use crate::connection::{ConnectionEnding, DialTarget};
use crate::dns::answer::DnsTransport;
use crate::event_token::{EventSource, EventToken, SlotKey, SlotTable};
use crate::lookup::own_addresses;
use crate::name_service::answer_query;
use crate::rule::DNS_PORT;
use skillsandbox_terms::Transport;

/// How long a conversation may be silent.
const IDLE: Duration = Duration::from_mins(2);

/// Datagrams that wait for a name to be resolved.
const MOST_WAITING: usize = 16;

/// Bytes that wait for names to be resolved, in all conversations: they are the launching program's memory.
const MOST_BYTES_WAITING: usize = 1 << 20;

/// Datagrams that are read before others have their turn.
const AT_ONCE: usize = 64;

/// The sockets inside, and the conversations that go through them.
#[derive(Debug)]
pub(crate) struct DatagramService {
    sockets: Vec<(u16, OwnedFd)>,
    flows: SlotTable<DatagramFlow>,
    /// Conversations at a time; another one ends the one that was silent longest.
    most_flows: usize,
    keys: HashMap<(SocketAddr, SocketAddr), SlotKey>,
    next_sweep: Option<Instant>,
    /// Bytes that wait in all of them.
    waiting: usize,
    control: Vec<u8>,
}

/// A conversation between one socket inside and one destination.
#[derive(Debug)]
struct DatagramFlow {
    /// The socket that it came by.
    by: usize,
    /// Who speaks inside, as the socket sees it.
    client: SocketAddr,
    /// Whom they believe to speak to.
    to: SocketAddr,
    target: DialTarget,
    outside: Option<OwnedFd>,
    waiting: Vec<Vec<u8>>,
    begun: Instant,
    last: Instant,
    attempt: Attempt,
}

/// One datagram from inside.
pub(crate) struct ReceivedDatagram {
    count: usize,
    client: SocketAddr,
    pub(crate) to: IpAddr,
}

impl DatagramService {
    pub(crate) fn new(sockets: Vec<(u16, OwnedFd)>, most_flows: usize) -> Self {
        Self {
            sockets,
            flows: SlotTable::new(),
            most_flows,
            keys: HashMap::new(),
            next_sweep: None,
            waiting: 0,
            control: control_space(),
        }
    }

    pub(crate) fn next(&self) -> Option<Instant> {
        self.next_sweep
    }

    /// Whether something that was said has not been sent yet.
    pub(crate) fn is_waiting(&mut self) -> bool {
        let keys = self.flows.keys();
        keys.into_iter().any(|key| self.flows.get_mut(key).is_some_and(|flow| !flow.waiting.is_empty()))
    }

    /// Serves all that was sent before the run ended. No process is left that could send more.
    pub(crate) fn serve_rest(&mut self, shared: &mut BrokerShared, now: Instant) {
        for index in 0..self.sockets.len() {
            let _ = (0..MOST_ROUNDS).all(|_| self.serve_inside(index, shared, now));
        }
    }

    /// Whether there may be more.
    pub(crate) fn serve_inside(&mut self, index: usize, shared: &mut BrokerShared, now: Instant) -> bool {
        for _ in 0..AT_ONCE {
            let Some((port, socket)) = self.sockets.get(index) else { return false };
            let port = *port;
            let Some(received) = receive_datagram(socket, &mut shared.buffers.scratch, &mut self.control)
            else {
                return false;
            };
            let to = canonical_address(SocketAddr::new(received.to, port));
            let bytes = shared.buffers.scratch.get(..received.count).unwrap_or_default().to_vec();
            if port == DNS_PORT {
                if let Some(reply) = answer_query(&bytes, to, DnsTransport::Udp, shared, now) {
                    send_inside(socket, &reply, to, received.client);
                }
            } else {
                self.take_datagram(index, received.client, to, bytes, shared, now);
            }
        }
        true
    }

    /// A datagram for somewhere: part of a conversation, or the first of one, or refused.
    fn take_datagram(
        &mut self,
        by: usize,
        client: SocketAddr,
        to: SocketAddr,
        bytes: Vec<u8>,
        shared: &mut BrokerShared,
        now: Instant,
    ) {
        let action = AttemptAction::Reach(Transport::Udp);
        let key = match self.keys.get(&(client, to)) {
            Some(key) => *key,
            None => match admit_datagram(shared, to) {
                Ok((target, rule)) => {
                    self.make_room(shared, now);
                    let attempt = shared.attempt(action, to, AttemptVerdict::Allowed(rule), now);
                    let flow = DatagramFlow {
                        by,
                        client,
                        to,
                        target,
                        outside: None,
                        waiting: Vec::new(),
                        begun: now,
                        last: now,
                        attempt,
                    };
                    let key = self.flows.insert(flow);
                    self.keys.insert((client, to), key);
                    self.next_sweep.get_or_insert(now + IDLE);
                    key
                }
                Err(reason) => {
                    let attempt = shared.attempt(action, to, AttemptVerdict::Refused(reason), now);
                    return shared.log.record(attempt);
                }
            },
        };
        let Some(flow) = self.flows.get_mut(key) else { return };
        flow.last = now;
        if flow.waiting.len() < MOST_WAITING && self.waiting + bytes.len() <= MOST_BYTES_WAITING {
            self.waiting += bytes.len();
            flow.waiting.push(bytes);
        }
        self.advance(key, shared, now);
    }

    /// Sends what waits, if it is known where to.
    fn advance(&mut self, key: SlotKey, shared: &mut BrokerShared, now: Instant) {
        let Some(flow) = self.flows.get_mut(key) else { return };
        if flow.outside.is_none() {
            let to = match &flow.target {
                DialTarget::Address(address) => Ok(*address),
                DialTarget::Name(name, port) => match shared.addresses(name, *port, Transport::Udp, now) {
                    None => return,
                    Some(Ok(addresses)) => {
                        addresses.first().copied().ok_or(ConnectionEnding::End(AttemptEnd::Idle))
                    }
                    Some(Err(ending)) => Err(ending),
                },
            };
            let opened = to.and_then(|to| {
                let failed = |errno: rustix::io::Errno| {
                    ConnectionEnding::End(AttemptEnd::NotConnected(errno.to_string()))
                };
                let socket = open_socket(to).map_err(failed)?;
                let failed = |error: std::io::Error| {
                    ConnectionEnding::End(AttemptEnd::NotConnected(error.to_string()))
                };
                shared
                    .watch(&socket, EventToken::new(EventSource::Flow, key), EventFlags::IN)
                    .map_err(failed)?;
                flow.attempt.dialled = Some(to);
                flow.outside = Some(socket);
                Ok(())
            });
            if let Err(ending) = opened {
                return self.end(key, ending, shared, now);
            }
            shared.log.report_begin(&flow.attempt);
        }
        let Some(outside) = &flow.outside else { return };
        for datagram in flow.waiting.drain(..) {
            self.waiting -= datagram.len();
            // One that is too long, or that nobody waits for, is lost, as on any network.
            if let Ok(count) =
                rustix::net::send(outside, &datagram, SendFlags::DONTWAIT | SendFlags::NOSIGNAL)
            {
                flow.attempt.sent += count as u64;
            }
        }
    }

    pub(crate) fn serve_resolved(&mut self, shared: &mut BrokerShared, now: Instant) {
        for key in self.flows.keys() {
            if self.flows.get_mut(key).is_some_and(|flow| flow.outside.is_none()) {
                self.advance(key, shared, now);
            }
        }
    }

    pub(crate) fn serve_outside(&mut self, key: SlotKey, shared: &mut BrokerShared, now: Instant) {
        let Some(flow) = self.flows.get_mut(key) else { return };
        let (Some(outside), Some((_, inside))) = (&flow.outside, self.sockets.get(flow.by)) else { return };
        for _ in 0..AT_ONCE {
            match rustix::net::recv(outside, &mut *shared.buffers.scratch, RecvFlags::DONTWAIT) {
                Ok((_, count)) => {
                    let bytes = shared.buffers.scratch.get(..count).unwrap_or_default();
                    flow.last = now;
                    flow.attempt.received += count as u64;
                    send_inside(inside, bytes, flow.to, flow.client);
                }
                // That nobody listens there shows here, once; the program finds out by waiting.
                Err(rustix::io::Errno::CONNREFUSED) => {}
                Err(_) => return,
            }
        }
    }

    fn make_room(&mut self, shared: &mut BrokerShared, now: Instant) {
        if self.flows.len() < self.most_flows {
            return;
        }
        let keys = self.flows.keys();
        let oldest = keys.into_iter().min_by_key(|key| self.flows.get_mut(*key).map(|flow| flow.last));
        if let Some(oldest) = oldest {
            self.end(oldest, ConnectionEnding::End(AttemptEnd::Idle), shared, now);
        }
    }

    pub(crate) fn end_idle(&mut self, shared: &mut BrokerShared, now: Instant) {
        if self.next_sweep.is_none_or(|at| now < at) {
            return;
        }
        self.next_sweep = None;
        for key in self.flows.keys() {
            let Some(flow) = self.flows.get_mut(key) else { continue };
            let until = flow.last + IDLE;
            if until <= now {
                self.end(key, ConnectionEnding::End(AttemptEnd::Idle), shared, now);
            } else {
                self.next_sweep = Some(self.next_sweep.map_or(until, |next| next.min(until)));
            }
        }
    }

    fn end(&mut self, key: SlotKey, ending: ConnectionEnding, shared: &mut BrokerShared, now: Instant) {
        let Some(flow) = self.flows.remove(key) else { return };
        self.keys.remove(&(flow.client, flow.to));
        self.waiting -= flow.waiting.iter().map(Vec::len).sum::<usize>();
        let mut attempt = flow.attempt;
        attempt.duration = now.duration_since(flow.begun);
        match ending {
            ConnectionEnding::End(end) => attempt.end = Some(end),
            ConnectionEnding::Refused(reason) => attempt.verdict = AttemptVerdict::Refused(reason),
        }
        shared.log.record(attempt);
    }

    pub(crate) fn finish(&mut self, shared: &mut BrokerShared, now: Instant) {
        for key in self.flows.keys() {
            self.end(key, ConnectionEnding::End(AttemptEnd::RunEnded), shared, now);
        }
    }
}

/// What a datagram to this address means.
fn admit_datagram(shared: &BrokerShared, to: SocketAddr) -> Result<(DialTarget, String), RefusalReason> {
    let policy = &shared.policy;
    if let Some(name) = shared.name_of(to.ip()) {
        let rule =
            policy.for_name(&name, to.port(), Transport::Udp).next().ok_or(RefusalReason::NotGranted)?;
        return Ok((DialTarget::Name(name.clone(), to.port()), rule.to_string()));
    }
    let rule = policy.for_address(to.ip(), to.port(), Transport::Udp).ok_or(RefusalReason::NotGranted)?;
    if !rule.is_one_address() {
        // Where it cannot be known what this machine's own addresses are, it may be one of them.
        let own = own_addresses().unwrap_or_else(|_| Arc::new([to.ip()]));
        policy.may_dial(to, &own, Transport::Udp)?;
    }
    Ok((DialTarget::Address(to), rule.to_string()))
}

fn open_socket(to: SocketAddr) -> Result<OwnedFd, rustix::io::Errno> {
    let family = if to.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let socket = socket_with(family, SocketType::DGRAM, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC, None)?;
    rustix::net::connect(&socket, &to)?;
    Ok(socket)
}

/// Room for the address that a datagram was sent to.
pub(crate) fn control_space() -> Vec<u8> {
    nix::cmsg_space!(libc::in6_pktinfo, libc::in_pktinfo)
}

/// A datagram, who sent it, and the address that it was sent to.
pub(crate) fn receive_datagram(
    socket: &OwnedFd,
    into: &mut [u8],
    control: &mut [u8],
) -> Option<ReceivedDatagram> {
    let mut into = [IoSliceMut::new(into)];
    let flags = MsgFlags::MSG_DONTWAIT;
    let message = recvmsg::<SockaddrStorage>(socket.as_raw_fd(), &mut into, Some(control), flags).ok()?;
    let client = message.address.as_ref().and_then(socket_address)?;
    let to = message.cmsgs().ok()?.find_map(|control| match control {
        ControlMessageOwned::Ipv6PacketInfo(told) => Some(IpAddr::from(told.ipi6_addr.s6_addr)),
        ControlMessageOwned::Ipv4PacketInfo(told) => Some(IpAddr::from(told.ipi_addr.s_addr.to_ne_bytes())),
        _ => None,
    })?;
    Some(ReceivedDatagram { count: message.bytes, client, to })
}

/// Sends from the address that the program believes to speak to.
fn send_inside(socket: &OwnedFd, bytes: &[u8], from: SocketAddr, client: SocketAddr) {
    let bytes = [IoSlice::new(bytes)];
    // That it is not taken is for the program to find out by waiting, as on any network.
    let _ = match client {
        SocketAddr::V6(client) => {
            let address = match from.ip() {
                IpAddr::V4(v4) => v4.to_ipv6_mapped(),
                IpAddr::V6(v6) => v6,
            };
            let info = libc::in6_pktinfo {
                ipi6_addr: libc::in6_addr { s6_addr: address.octets() },
                ipi6_ifindex: 0,
            };
            let control = [ControlMessage::Ipv6PacketInfo(&info)];
            sendmsg(
                socket.as_raw_fd(),
                &bytes,
                &control,
                MsgFlags::MSG_DONTWAIT,
                Some(&SockaddrIn6::from(client)),
            )
        }
        SocketAddr::V4(client) => {
            let IpAddr::V4(address) = from.ip() else { return };
            let address = libc::in_addr { s_addr: u32::from_ne_bytes(address.octets()) };
            let info = libc::in_pktinfo {
                ipi_ifindex: 0,
                ipi_spec_dst: address,
                ipi_addr: libc::in_addr { s_addr: 0 },
            };
            let control = [ControlMessage::Ipv4PacketInfo(&info)];
            sendmsg(
                socket.as_raw_fd(),
                &bytes,
                &control,
                MsgFlags::MSG_DONTWAIT,
                Some(&SockaddrIn::from(client)),
            )
        }
    };
}

fn socket_address(address: &SockaddrStorage) -> Option<SocketAddr> {
    let v6 = address.as_sockaddr_in6().map(|v6| SocketAddr::from((v6.ip(), v6.port())));
    v6.or_else(|| address.as_sockaddr_in().map(|v4| SocketAddr::from((v4.ip(), v4.port()))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attempt_log::AttemptLog;
    use crate::broker::BrokerControl;
    use crate::descriptor_share::DescriptorShare;
    use crate::policy::EgressPolicy;
    use crate::rule::NetworkRule;
    use skillsandbox_terms::Protocol;

    #[test]
    fn what_waits_for_a_resolver_takes_little_memory() {
        let mut policy = EgressPolicy::new();
        policy.resolver([127, 0, 0, 1].into());
        policy
            .allow(NetworkRule::domain("time.test").unwrap().ports([5000]).protocol(Protocol::Udp))
            .unwrap();
        let (policy, log) = (Arc::new(policy), AttemptLog::new(None));
        let control = Arc::new(BrokerControl::new(&policy).unwrap());
        let share = DescriptorShare::new();
        let mut shared = BrokerShared::new(policy, log.clone(), control, share).unwrap();
        let mut datagrams = DatagramService::new(Vec::new(), share.flows);
        let (to, now) = ("198.18.0.1:5000".parse().unwrap(), Instant::now());
        for client in 0..300 {
            for _ in 0..MOST_WAITING {
                let client = SocketAddr::from(([127, 0, 0, 1], 1024 + client));
                datagrams.take_datagram(0, client, to, vec![0; 60_000], &mut shared, now);
            }
        }
        let keys = datagrams.flows.keys();
        assert_eq!(keys.len(), share.flows);
        let held = |key| datagrams.flows.get_mut(key).unwrap().waiting.iter().map(Vec::len).sum::<usize>();
        let held: usize = keys.into_iter().map(held).sum();
        assert!(held <= MOST_BYTES_WAITING && held == datagrams.waiting, "{held}");
        datagrams.finish(&mut shared, now);
        assert_eq!(datagrams.waiting, 0);
        assert_eq!(log.take().attempts.iter().map(|one| one.count).sum::<u64>(), 300);
    }
}
