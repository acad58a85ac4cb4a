//! Where the processes of a run connect and send to, as they are about to.
//!
//! This names the process, and lets a connection that goes nowhere fail at once. Nothing depends on it: the network namespace has nothing
//! else to reach.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::BorrowedFd;
use std::sync::Arc;

use rustix::net::SocketType;
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};
use skillsandbox_egress::{
    Attempt, AttemptAction, AttemptLog, AttemptObserver, AttemptVerdict, Broker, CallingProcess,
    NetworkRecord, RefusalReason, Transport,
};
use skillsandbox_terms::ObserveLevel;

use super::Actor;
use super::socket_closer::SocketCloser;
use crate::sys::seccomp::{Notification, NotifyReply, is_waiting};

/// How an address without a family begins.
const UNSPECIFIED: [u8; 2] = 0_u16.to_ne_bytes();

/// The longest address of a Unix socket: `struct sockaddr_un`.
const LONGEST_UNIX: usize = 110;

/// The port on which names are asked for.
const DNS: u16 = 53;

/// What is known of a run's destinations.
#[derive(Debug)]
pub(crate) struct DestinationMonitor {
    /// `None` where nothing is granted.
    broker: Option<Broker>,
    /// Whether what the kernel refuses by itself is to be recorded.
    is_observed: bool,
    log: AttemptLog,
    /// An attempt that comes to nothing, to be written down when the caller has its answer.
    unrecorded: Option<Attempt>,
    closer: SocketCloser,
}

impl DestinationMonitor {
    pub(crate) fn new(observer: Option<Arc<dyn AttemptObserver>>, level: ObserveLevel) -> Self {
        Self {
            broker: None,
            is_observed: level != ObserveLevel::Off,
            log: AttemptLog::new(observer),
            unrecorded: None,
            closer: SocketCloser::default(),
        }
    }

    pub(crate) fn log(&self) -> AttemptLog {
        self.log.clone()
    }

    pub(crate) fn set_broker(&mut self, broker: Broker) {
        self.broker = Some(broker);
    }

    /// Looks at a call that names a destination. Only a connection that would be refused anyway is refused.
    /// `who` is called only if there is something to record.
    pub(crate) fn observe(
        &mut self,
        listener: BorrowedFd<'_>,
        call: Notification,
        address: &[u8],
        who: impl FnOnce() -> Option<Arc<Actor>>,
    ) -> NotifyReply {
        let Some(to) = parse_ip_address(address) else { return NotifyReply::Continue };
        let actor = who();
        let pid = actor.as_ref().map_or(call.pid, |actor| actor.pid);
        let process = CallingProcess::new(pid, actor.and_then(|actor| actor.binary.clone()));
        if !is_waiting(listener, call) {
            return NotifyReply::Continue;
        }
        let transport = socket_transport(call, pid, &mut self.closer);
        match self.judge(to, transport, process) {
            Some(errno) => NotifyReply::Fail(errno),
            None => NotifyReply::Continue,
        }
    }

    /// Judges where a socket is to be connected to: the number that the call fails with, if it does.
    pub(crate) fn judge_connect(
        &mut self,
        address: &[u8],
        kind: SocketType,
        process: CallingProcess,
    ) -> Option<i32> {
        // Without a family, it lets go of whom it was connected to.
        if address.starts_with(&UNSPECIFIED) {
            return None;
        }
        self.judge(parse_ip_address(address)?, transport_of(kind), process)
    }

    fn judge(
        &mut self,
        to: SocketAddr,
        transport: Option<Transport>,
        process: CallingProcess,
    ) -> Option<i32> {
        let Some(broker) = &self.broker else {
            if self.is_observed {
                self.observe_without_network(transport, process, to);
            }
            return None;
        };
        broker.note_connect(process.clone(), to);
        let is_local = to.ip().is_loopback() || to.ip().is_unspecified();
        let (name, reason) = broker.refuses(to)?;
        // A program may reach its own servers.
        if is_local && !broker.serves(to.port()) {
            return None;
        }
        let (transport, answer) = match transport? {
            Transport::Tcp => (Transport::Tcp, Some(libc::ECONNREFUSED)),
            // To a group of IPv4 that nobody has joined: the kernel drops it before a raw socket sees it.
            Transport::Udp if to.ip().is_multicast() && to.is_ipv4() => (Transport::Udp, None),
            // A datagram that was not sent yet.
            Transport::Udp => return None,
        };
        let verdict = AttemptVerdict::Refused(reason);
        self.unrecorded =
            Some(Attempt::new(AttemptAction::Reach(transport), name, to, Some(process), verdict));
        answer
    }

    /// Nothing is granted, and the kernel says so. A question for a name goes to an address of the sandbox itself.
    fn observe_without_network(&self, transport: Option<Transport>, process: CallingProcess, to: SocketAddr) {
        let is_local = to.ip().is_loopback() || to.ip().is_unspecified();
        let action = match transport.unwrap_or(Transport::Tcp) {
            Transport::Udp if to.port() == DNS => AttemptAction::LookUp,
            Transport::Tcp | Transport::Udp if is_local => return,
            transport => AttemptAction::Reach(transport),
        };
        let verdict = AttemptVerdict::Refused(RefusalReason::NotGranted);
        self.log.record(Attempt::new(action, None, to, Some(process), verdict));
    }

    /// Records the refused attempt, now that the caller does not wait for it.
    pub(crate) fn record_refused(&mut self) {
        if let Some(attempt) = self.unrecorded.take() {
            self.log.record(attempt);
        }
    }

    /// All processes are gone. What they said is still brought to its destination, for no longer than this.
    pub(crate) fn finish(self, wait: std::time::Duration) -> NetworkRecord {
        if let Some(broker) = self.broker {
            broker.finish(wait);
        }
        self.log.take()
    }
}

/// What an address of a Unix socket names.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum UnixAddress {
    /// A place in the file system.
    Path(Vec<u8>),
    /// A name that is in none.
    Abstract,
    /// Nothing that the kernel takes.
    Invalid,
}

/// As `unix_validate_addr` and `unix_mkname_bsd` of the kernel read it.
pub(crate) fn parse_unix_address(bytes: &[u8]) -> UnixAddress {
    let is_unix = bytes.first_chunk().is_some_and(|two| i32::from(u16::from_ne_bytes(*two)) == libc::AF_UNIX);
    match bytes.get(2..) {
        Some(name) if is_unix && !name.is_empty() && bytes.len() <= LONGEST_UNIX => match name.first() {
            Some(0) => UnixAddress::Abstract,
            _ => UnixAddress::Path(name.split(|byte| *byte == 0).next().unwrap_or_default().to_owned()),
        },
        _ => UnixAddress::Invalid,
    }
}

/// The address of IP that a call was given. A datagram to an address without a family goes where one of IPv4 would (`udp_sendmsg`).
fn parse_ip_address(bytes: &[u8]) -> Option<SocketAddr> {
    let family = u16::from_ne_bytes(*bytes.first_chunk()?);
    let port = u16::from_be_bytes(bytes.get(2..4)?.try_into().ok()?);
    let ip: IpAddr = match i32::from(family) {
        libc::AF_INET | libc::AF_UNSPEC => Ipv4Addr::from(<[u8; 4]>::try_from(bytes.get(4..8)?).ok()?).into(),
        libc::AF_INET6 => {
            let address = Ipv6Addr::from(<[u8; 16]>::try_from(bytes.get(8..24)?).ok()?);
            IpAddr::from(address).to_canonical()
        }
        _ => return None,
    };
    Some(SocketAddr::new(ip, port))
}

/// What a call's socket carries.
fn socket_transport(call: Notification, pid: u32, closer: &mut SocketCloser) -> Option<Transport> {
    if !closer.has_room() {
        return None;
    }
    let pid = Pid::from_raw(i32::try_from(pid).ok()?)?;
    let process = pidfd_open(pid, PidfdFlags::empty()).ok()?;
    let number = i32::try_from(call.arguments.first()? & 0xffff_ffff).ok()?;
    let socket = pidfd_getfd(process, number, PidfdGetfdFlags::empty()).ok()?;
    let kind = rustix::net::sockopt::socket_type(&socket);
    closer.close_later(socket);
    transport_of(kind.ok()?)
}

fn transport_of(kind: SocketType) -> Option<Transport> {
    match kind {
        SocketType::STREAM => Some(Transport::Tcp),
        SocketType::DGRAM => Some(Transport::Udp),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_as_the_kernel_reads_them() {
        let v4 = [2, 0, 0x01, 0xbb, 198, 18, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(parse_ip_address(&v4), Some("198.18.0.1:443".parse().unwrap()));
        let mut v6 = [0; 28];
        v6[0] = 10;
        v6[3] = 80;
        v6[8..24].copy_from_slice(&"2001:db8::1".parse::<Ipv6Addr>().unwrap().octets());
        assert_eq!(parse_ip_address(&v6), Some("[2001:db8::1]:80".parse().unwrap()));
        v6[8..24].copy_from_slice(&"::ffff:10.0.0.1".parse::<Ipv6Addr>().unwrap().octets());
        assert_eq!(parse_ip_address(&v6), Some("10.0.0.1:80".parse().unwrap()));
        assert_eq!(parse_ip_address(&v6[..20]), None, "too short");
        assert_eq!(parse_ip_address(&[1, 0, b'/', b'x']), None, "a Unix socket");
        assert_eq!(parse_ip_address(&[]), None);
        assert_eq!(parse_unix_address(&[1, 0, b'/', b'x']), UnixAddress::Path(b"/x".into()));
        assert_eq!(parse_unix_address(&[1, 0, b'/', b'x', 0, b'y']), UnixAddress::Path(b"/x".into()));
        assert_eq!(parse_unix_address(&[1, 0, 0, b'x']), UnixAddress::Abstract);
        for invalid in [&[1, 0][..], &[1], &[], &v4, &[1; 111]] {
            assert_eq!(parse_unix_address(invalid), UnixAddress::Invalid, "{invalid:?}");
        }
        let mut nameless = v4;
        nameless[0] = 0;
        assert_eq!(parse_ip_address(&nameless), parse_ip_address(&v4), "a datagram goes there");
    }
}
