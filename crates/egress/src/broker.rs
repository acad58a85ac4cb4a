//! The broker as a launching program sees it.

use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::event::{EventfdFlags, eventfd};

use crate::attempt::{CallingProcess, RefusalReason};
use crate::attempt_log::AttemptLog;
use crate::broker_loop::{BrokerLoop, canonical_address};
use crate::connect_observations::ConnectObservations;
use crate::policy::EgressPolicy;
use crate::rule::DNS_PORT;
use crate::synthetic_addresses::SyntheticAddresses;
use crate::tap::PacketTap;
use skillsandbox_terms::Transport;

/// Sockets that were made inside the namespace, on every port of [`EgressPolicy::listens`] and on every address.
///
/// They are non-blocking. Those for streams listen; those for datagrams have `IPV6_RECVPKTINFO` and `IPV6_FREEBIND` set, or
/// `IP_PKTINFO` where there is no IPv6.
#[derive(Debug)]
pub struct NamespaceSockets {
    /// Each port and its listening socket.
    pub streams: Vec<(u16, OwnedFd)>,
    /// Each port and its socket.
    pub datagrams: Vec<(u16, OwnedFd)>,
    /// Raw sockets that see packets without a listener. Without them, such attempts fail unseen.
    pub taps: Vec<PacketTap>,
}

/// Serves a namespace from outside, in a thread of its own.
#[derive(Debug)]
pub struct Broker {
    thread: Option<JoinHandle<()>>,
    control: Arc<BrokerControl>,
    policy: Arc<EgressPolicy>,
}

/// How the launching program talks to the thread.
#[derive(Debug)]
pub(crate) struct BrokerControl {
    wake: OwnedFd,
    order: Mutex<BrokerOrder>,
    connects: Mutex<ConnectObservations>,
    names: Mutex<SyntheticAddresses>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum BrokerOrder {
    Continue,
    Drain(Duration),
}

impl BrokerControl {
    pub(crate) fn new(policy: &EgressPolicy) -> io::Result<Self> {
        Ok(Self {
            wake: eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?,
            order: Mutex::new(BrokerOrder::Continue),
            connects: Mutex::default(),
            names: Mutex::new(SyntheticAddresses::new(policy)),
        })
    }

    pub(crate) fn wake(&self) -> &OwnedFd {
        &self.wake
    }

    pub(crate) fn read_order(&self) -> BrokerOrder {
        let mut number = [0; 8];
        let _ = rustix::io::read(&self.wake, &mut number);
        *self.order.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn names(&self) -> MutexGuard<'_, SyntheticAddresses> {
        self.names.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn connects(&self) -> MutexGuard<'_, ConnectObservations> {
        self.connects.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Broker {
    /// Begins to serve. What is tried is recorded in the log.
    pub fn start(policy: Arc<EgressPolicy>, sockets: NamespaceSockets, log: AttemptLog) -> io::Result<Self> {
        let control = Arc::new(BrokerControl::new(&policy)?);
        let engine = BrokerLoop::new(Arc::clone(&policy), sockets, log, Arc::clone(&control))?;
        let thread = std::thread::Builder::new().name("skillsandbox-net".into()).stack_size(256 << 10);
        let thread = thread.spawn(move || engine.run())?;
        Ok(Self { thread: Some(thread), control, policy })
    }

    /// A process is about to connect or send to a destination: who it was is known when its packets come.
    pub fn note_connect(&self, process: CallingProcess, destination: SocketAddr) {
        self.control.connects().note_connect(process, destination, Instant::now());
    }

    /// Whether connections to this port, of any address, come here.
    #[must_use]
    pub fn serves(&self, port: u16) -> bool {
        port == DNS_PORT || self.policy.rules.iter().any(|rule| rule.grants_port(port, Transport::Tcp))
    }

    /// Whether a connection to this address would be refused: its name, if it stands for one, and why.
    ///
    /// For a supervisor that can tell a program so when it tries. Nothing depends on it.
    #[must_use]
    pub fn refuses(&self, destination: SocketAddr) -> Option<(Option<String>, RefusalReason)> {
        let to = canonical_address(destination);
        let name = self.control.names().name_of(to.ip()).map(str::to_owned);
        let granted = match &name {
            Some(name) => self.policy.for_name(name, to.port(), Transport::Tcp).next().is_some(),
            None => self.policy.for_address(to.ip(), to.port(), Transport::Tcp).is_some(),
        };
        (!granted && to.port() != DNS_PORT).then_some((name, RefusalReason::NotGranted))
    }

    /// All processes of the run are gone. What they said is brought to where it was going, for no longer than `timeout`; then
    /// everything is closed.
    pub fn finish(mut self, timeout: Duration) {
        self.stop(timeout);
    }

    fn stop(&mut self, timeout: Duration) {
        let Some(thread) = self.thread.take() else { return };
        *self.control.order.lock().unwrap_or_else(PoisonError::into_inner) = BrokerOrder::Drain(timeout);
        let _ = rustix::io::write(&self.control.wake, &1_u64.to_ne_bytes());
        let _ = thread.join();
    }
}

impl Drop for Broker {
    fn drop(&mut self) {
        self.stop(Duration::ZERO);
    }
}
