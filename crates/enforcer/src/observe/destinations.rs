//! Where the processes of a run connect and send to, as they are about to.
//!
//! What is seen here names the process, and lets a connection that goes nowhere fail at once. Nothing depends on it: a process that
//! changes the address while it is looked at reaches the same sockets as every other.

use std::io::IoSliceMut;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::BorrowedFd;
use std::sync::Arc;

use nix::sys::uio::{RemoteIoVec, process_vm_readv};
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};
use skillsandbox_egress::{
    Action, Attempt, Broker, Ledger, Observer, Process, Reason, Record, Transport, Verdict,
};

use super::Actor;
use super::socket_closer::Closer;
use crate::sys::seccomp::{Answer, Asked, is_waiting};

/// The longest address of IP: `struct sockaddr_in6`.
const LONGEST: usize = 28;

/// The longest address of a Unix socket: `struct sockaddr_un`.
const LONGEST_UNIX: usize = 110;

/// The port on which names are asked for.
const DNS: u16 = 53;

/// What is known of a run's destinations.
#[derive(Debug)]
pub(crate) struct Destinations {
    /// `None` where nothing is granted.
    broker: Option<Broker>,
    ledger: Ledger,
    /// An attempt that comes to nothing, to be written down when the caller has its answer.
    untold: Option<Attempt>,
    closer: Closer,
}

impl Destinations {
    pub(crate) fn new(observer: Option<Arc<dyn Observer>>) -> Self {
        Self { broker: None, ledger: Ledger::new(observer), untold: None, closer: Closer::default() }
    }

    pub(crate) fn ledger(&self) -> Ledger {
        self.ledger.clone()
    }

    pub(crate) fn serve(&mut self, broker: Broker) {
        self.broker = Some(broker);
    }

    /// Looks at a call that names a destination. Only a connection that would be refused anyway is refused.
    /// `who` is asked only if there is something to say of it.
    pub(crate) fn see(
        &mut self,
        listener: BorrowedFd<'_>,
        asked: Asked,
        who: impl FnOnce() -> Option<Arc<Actor>>,
    ) -> Answer {
        let Some(to) = destination(asked) else { return Answer::GoOn };
        let actor = who();
        let pid = actor.as_ref().map_or(asked.pid, |actor| actor.pid);
        let process = Process::new(pid, actor.and_then(|actor| actor.binary.clone()));
        if !is_waiting(listener, asked) {
            return Answer::GoOn;
        }
        let Some(broker) = &self.broker else {
            return self.without_network(asked, process, to);
        };
        broker.saw(process.clone(), to);
        let is_local = to.ip().is_loopback() || to.ip().is_unspecified();
        let Some((name, reason)) = broker.refuses(to) else { return Answer::GoOn };
        // A program's own servers are nobody's business.
        if is_local && !broker.serves(to.port()) {
            return Answer::GoOn;
        }
        let (transport, answer) = match transport(asked, pid, &mut self.closer) {
            Some(Transport::Tcp) => (Transport::Tcp, Answer::Fail(libc::ECONNREFUSED)),
            // To a group of IPv4 that nobody has joined: the kernel drops it before a raw socket sees it.
            Some(Transport::Udp) if to.ip().is_multicast() && to.is_ipv4() => (Transport::Udp, Answer::GoOn),
            // A datagram that was not sent yet.
            _ => return Answer::GoOn,
        };
        let verdict = Verdict::Refused(reason);
        self.untold = Some(Attempt::new(Action::Reach(transport), name, to, Some(process), verdict));
        answer
    }

    /// Nothing is granted, and the kernel says so. A question for a name goes to an address of the sandbox itself.
    fn without_network(&mut self, asked: Asked, process: Process, to: SocketAddr) -> Answer {
        let is_local = to.ip().is_loopback() || to.ip().is_unspecified();
        let action = match transport(asked, process.pid, &mut self.closer).unwrap_or(Transport::Tcp) {
            Transport::Udp if to.port() == DNS => Action::LookUp,
            _ if is_local => return Answer::GoOn,
            transport => Action::Reach(transport),
        };
        let verdict = Verdict::Refused(Reason::NotGranted);
        self.ledger.note(Attempt::new(action, None, to, Some(process), verdict));
        Answer::GoOn
    }

    /// Writes down what was refused, now that the caller does not wait for it.
    pub(crate) fn tell(&mut self) {
        if let Some(attempt) = self.untold.take() {
            self.ledger.note(attempt);
        }
    }

    /// All processes are gone. What they said is still brought to its destination, for no longer than this.
    pub(crate) fn finish(self, patience: std::time::Duration) -> Record {
        if let Some(broker) = self.broker {
            broker.finish(patience);
        }
        self.ledger.take()
    }
}

/// The address of IP that a call was given.
fn destination(asked: Asked) -> Option<SocketAddr> {
    let mut bytes = [0; LONGEST];
    address_in(address(asked, &mut bytes)?)
}

/// The path of the Unix socket that a call was given, if it has one.
pub(crate) fn unix_socket(asked: Asked) -> Option<Vec<u8>> {
    let mut bytes = [0; LONGEST_UNIX];
    path_in(address(asked, &mut bytes)?)
}

/// The beginning of the address that a call was given.
fn address(asked: Asked, bytes: &mut [u8]) -> Option<&[u8]> {
    let [_, address, length, _, to, to_length] = asked.arguments;
    let is_connect = i64::from(asked.number) == libc::SYS_connect;
    let (at, length) = if is_connect { (address, length) } else { (to, to_length) };
    // The kernel reads an int.
    let length = usize::try_from(length & 0xffff_ffff).ok()?.min(bytes.len());
    let local = bytes.get_mut(..length)?;
    let from = [RemoteIoVec { base: usize::try_from(at).ok()?, len: length }];
    let pid = nix::unistd::Pid::from_raw(i32::try_from(asked.pid).ok()?);
    let read = process_vm_readv(pid, &mut [IoSliceMut::new(local)], &from).ok()?;
    bytes.get(..read)
}

/// Not of sockets without a name, or with one that is in no file system.
fn path_in(bytes: &[u8]) -> Option<Vec<u8>> {
    let family = u16::from_ne_bytes(*bytes.first_chunk()?);
    let path = bytes.get(2..).filter(|_| i32::from(family) == libc::AF_UNIX)?;
    let path = path.split(|byte| *byte == 0).next()?;
    (!path.is_empty()).then(|| path.to_owned())
}

fn address_in(bytes: &[u8]) -> Option<SocketAddr> {
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
fn transport(asked: Asked, pid: u32, closer: &mut Closer) -> Option<Transport> {
    if !closer.has_room() {
        return None;
    }
    let pid = Pid::from_raw(i32::try_from(pid).ok()?)?;
    let process = pidfd_open(pid, PidfdFlags::empty()).ok()?;
    let number = i32::try_from(asked.arguments.first()? & 0xffff_ffff).ok()?;
    let socket = pidfd_getfd(process, number, PidfdGetfdFlags::empty()).ok()?;
    let kind = rustix::net::sockopt::socket_type(&socket);
    closer.close(socket);
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
        assert_eq!(address_in(&v4), Some("198.18.0.1:443".parse().unwrap()));
        let mut v6 = [0; LONGEST];
        v6[0] = 10;
        v6[3] = 80;
        v6[8..24].copy_from_slice(&"2001:db8::1".parse::<Ipv6Addr>().unwrap().octets());
        assert_eq!(address_in(&v6), Some("[2001:db8::1]:80".parse().unwrap()));
        v6[8..24].copy_from_slice(&"::ffff:10.0.0.1".parse::<Ipv6Addr>().unwrap().octets());
        assert_eq!(address_in(&v6), Some("10.0.0.1:80".parse().unwrap()));
        assert_eq!(address_in(&v6[..20]), None, "too short");
        assert_eq!(address_in(&[1, 0, b'/', b'x']), None, "a Unix socket");
        assert_eq!(address_in(&[]), None);
        assert_eq!(path_in(&[1, 0, b'/', b'x']).as_deref(), Some(b"/x".as_slice()));
        assert_eq!(path_in(&[1, 0, b'/', b'x', 0, b'y']).as_deref(), Some(b"/x".as_slice()));
        assert_eq!(path_in(&[1, 0, 0, b'x']), None, "abstract");
        assert_eq!(path_in(&[1, 0]), None);
        assert_eq!(path_in(&v4), None);
    }
}
