//! Where the processes of a run connect and send to, as they are about to.
//!
//! This names the process, and lets a connection that goes nowhere fail at once. Nothing depends on it: a process that changes the
//! address meanwhile reaches the same sockets as every other.

use std::io::IoSliceMut;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::BorrowedFd;
use std::sync::Arc;

use nix::sys::uio::{RemoteIoVec, process_vm_readv};
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};
use skillsandbox_egress::{
    Attempt, AttemptAction, AttemptLog, AttemptObserver, AttemptVerdict, Broker, CallingProcess,
    NetworkRecord, RefusalReason, Transport,
};

use super::Actor;
use super::socket_closer::SocketCloser;
use crate::sys::seccomp::{Notification, NotifyReply, is_waiting};

/// The longest address of IP: `struct sockaddr_in6`.
const LONGEST: usize = 28;

/// The longest address of a Unix socket: `struct sockaddr_un`.
const LONGEST_UNIX: usize = 110;

/// The port on which names are asked for.
const DNS: u16 = 53;

/// What is known of a run's destinations.
#[derive(Debug)]
pub(crate) struct DestinationMonitor {
    /// `None` where nothing is granted.
    broker: Option<Broker>,
    log: AttemptLog,
    /// An attempt that comes to nothing, to be written down when the caller has its answer.
    unrecorded: Option<Attempt>,
    closer: SocketCloser,
}

impl DestinationMonitor {
    pub(crate) fn new(observer: Option<Arc<dyn AttemptObserver>>) -> Self {
        Self {
            broker: None,
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
        who: impl FnOnce() -> Option<Arc<Actor>>,
    ) -> NotifyReply {
        let Some(to) = read_destination(call) else { return NotifyReply::Continue };
        let actor = who();
        let pid = actor.as_ref().map_or(call.pid, |actor| actor.pid);
        let process = CallingProcess::new(pid, actor.and_then(|actor| actor.binary.clone()));
        if !is_waiting(listener, call) {
            return NotifyReply::Continue;
        }
        let Some(broker) = &self.broker else {
            return self.observe_without_network(call, process, to);
        };
        broker.note_connect(process.clone(), to);
        let is_local = to.ip().is_loopback() || to.ip().is_unspecified();
        let Some((name, reason)) = broker.refuses(to) else { return NotifyReply::Continue };
        // A program may reach its own servers.
        if is_local && !broker.serves(to.port()) {
            return NotifyReply::Continue;
        }
        let (transport, answer) = match socket_transport(call, pid, &mut self.closer) {
            Some(Transport::Tcp) => (Transport::Tcp, NotifyReply::Fail(libc::ECONNREFUSED)),
            // To a group of IPv4 that nobody has joined: the kernel drops it before a raw socket sees it.
            Some(Transport::Udp) if to.ip().is_multicast() && to.is_ipv4() => {
                (Transport::Udp, NotifyReply::Continue)
            }
            // A datagram that was not sent yet.
            Some(Transport::Udp) | None => return NotifyReply::Continue,
        };
        let verdict = AttemptVerdict::Refused(reason);
        self.unrecorded =
            Some(Attempt::new(AttemptAction::Reach(transport), name, to, Some(process), verdict));
        answer
    }

    /// Nothing is granted, and the kernel says so. A question for a name goes to an address of the sandbox itself.
    fn observe_without_network(
        &mut self,
        call: Notification,
        process: CallingProcess,
        to: SocketAddr,
    ) -> NotifyReply {
        let is_local = to.ip().is_loopback() || to.ip().is_unspecified();
        let action = match socket_transport(call, process.pid, &mut self.closer).unwrap_or(Transport::Tcp) {
            Transport::Udp if to.port() == DNS => AttemptAction::LookUp,
            _ if is_local => return NotifyReply::Continue,
            transport => AttemptAction::Reach(transport),
        };
        let verdict = AttemptVerdict::Refused(RefusalReason::NotGranted);
        self.log.record(Attempt::new(action, None, to, Some(process), verdict));
        NotifyReply::Continue
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

/// The address of IP that a call was given.
fn read_destination(call: Notification) -> Option<SocketAddr> {
    let mut bytes = [0; LONGEST];
    parse_ip_address(read_address(call, &mut bytes)?)
}

/// The path of the Unix socket that a call was given, if it has one.
pub(crate) fn read_unix_path(call: Notification) -> Option<Vec<u8>> {
    let mut bytes = [0; LONGEST_UNIX];
    parse_unix_path(read_address(call, &mut bytes)?)
}

/// The beginning of the address that a call was given.
fn read_address(call: Notification, bytes: &mut [u8]) -> Option<&[u8]> {
    let [_, address, length, _, to, to_length] = call.arguments;
    let is_connect = i64::from(call.number) == libc::SYS_connect;
    let (at, length) = if is_connect { (address, length) } else { (to, to_length) };
    // The kernel reads an int.
    let length = usize::try_from(length & 0xffff_ffff).ok()?.min(bytes.len());
    let local = bytes.get_mut(..length)?;
    let from = [RemoteIoVec { base: usize::try_from(at).ok()?, len: length }];
    let pid = nix::unistd::Pid::from_raw(i32::try_from(call.pid).ok()?);
    let read = process_vm_readv(pid, &mut [IoSliceMut::new(local)], &from).ok()?;
    bytes.get(..read)
}

/// Not of sockets without a name, or with one that is in no file system.
fn parse_unix_path(bytes: &[u8]) -> Option<Vec<u8>> {
    let family = u16::from_ne_bytes(*bytes.first_chunk()?);
    let path = bytes.get(2..).filter(|_| i32::from(family) == libc::AF_UNIX)?;
    let path = path.split(|byte| *byte == 0).next()?;
    (!path.is_empty()).then(|| path.to_owned())
}

fn parse_ip_address(bytes: &[u8]) -> Option<SocketAddr> {
    let family = u16::from_ne_bytes(*bytes.first_chunk()?);
    let port = u16::from_be_bytes(bytes.get(2..4)?.try_into().ok()?);
    let ip: IpAddr = match i32::from(family) {
        libc::AF_INET => Ipv4Addr::from(<[u8; 4]>::try_from(bytes.get(4..8)?).ok()?).into(),
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
    match kind.ok()? {
        rustix::net::SocketType::STREAM => Some(Transport::Tcp),
        rustix::net::SocketType::DGRAM => Some(Transport::Udp),
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
        let mut v6 = [0; LONGEST];
        v6[0] = 10;
        v6[3] = 80;
        v6[8..24].copy_from_slice(&"2001:db8::1".parse::<Ipv6Addr>().unwrap().octets());
        assert_eq!(parse_ip_address(&v6), Some("[2001:db8::1]:80".parse().unwrap()));
        v6[8..24].copy_from_slice(&"::ffff:10.0.0.1".parse::<Ipv6Addr>().unwrap().octets());
        assert_eq!(parse_ip_address(&v6), Some("10.0.0.1:80".parse().unwrap()));
        assert_eq!(parse_ip_address(&v6[..20]), None, "too short");
        assert_eq!(parse_ip_address(&[1, 0, b'/', b'x']), None, "a Unix socket");
        assert_eq!(parse_ip_address(&[]), None);
        assert_eq!(parse_unix_path(&[1, 0, b'/', b'x']).as_deref(), Some(b"/x".as_slice()));
        assert_eq!(parse_unix_path(&[1, 0, b'/', b'x', 0, b'y']).as_deref(), Some(b"/x".as_slice()));
        assert_eq!(parse_unix_path(&[1, 0, 0, b'x']), None, "abstract");
        assert_eq!(parse_unix_path(&[1, 0]), None);
        assert_eq!(parse_unix_path(&v4), None);
    }
}
