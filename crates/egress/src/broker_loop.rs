//! The loop that serves a run: one thread, waiting for everything at once.

use std::collections::BTreeSet;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use nix::sys::signal::SigSet;
use rustix::event::Timespec;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::io::Errno;
use rustix::net::{SocketFlags, sockopt};

use crate::attempt::{Attempt, AttemptAction, AttemptEnd, AttemptVerdict, CallingProcess, RefusalReason};
use crate::attempt_log::AttemptLog;
use crate::broker::{BrokerControl, BrokerOrder, NamespaceSockets};
use crate::connection::{ConnectionEnding, ConnectionStep, DialTarget, ProgramConnection};
use crate::datagrams::{DatagramService, control_space};
use crate::descriptor_share::DescriptorShare;
use crate::event_token::{EventSource, EventToken, SlotKey, SlotTable};
use crate::gate::ProtocolGate;
use crate::lookup::{NameLookups, own_addresses};
use crate::name_service::NameStreams;
use crate::policy::EgressPolicy;
use crate::relay::{RelayBuffers, reset};
use crate::rule::DNS_PORT;
use crate::tap::PacketTap;
use skillsandbox_terms::{Protocol, Transport};

/// How long nothing is accepted where the launching program has no descriptors left.
const ACCEPT_BACKOFF: Duration = Duration::from_millis(50);

/// Connections that are accepted before others have their turn.
const ACCEPTED_AT_ONCE: usize = 32;

/// The longest that is waited for what a run has said to reach its destination, whatever was asked for.
const LONGEST_DRAIN: Duration = Duration::from_hours(24);

/// How many times as long as for one connection is waited at most for all of them, while they end one after the other.
const DRAIN_PATIENCE: u32 = 5;

/// Rounds of reading what was said before the run ended: far more than sockets hold.
pub(crate) const MOST_ROUNDS: usize = 256;

/// What a relay wants to know of its sockets.
pub(crate) const RELAYED: EventFlags = EventFlags::IN
    .union(EventFlags::PRI)
    .union(EventFlags::OUT)
    .union(EventFlags::RDHUP)
    .union(EventFlags::ET);

/// Last words on their way, after all processes of a run are gone.
#[derive(Clone, Copy, Debug)]
struct DrainProgress {
    /// How long is waited without any connection that ends.
    timeout: Duration,
    /// When it is over, whatever is left.
    latest: Instant,
    /// The fewest connections that were left so far.
    fewest: usize,
}

/// What everything that is served has in common.
#[derive(Debug)]
pub(crate) struct BrokerShared {
    pub(crate) policy: Arc<EgressPolicy>,
    pub(crate) log: AttemptLog,
    pub(crate) lookups: NameLookups,
    pub(crate) buffers: RelayBuffers,
    /// All processes of the run are gone: what they said is still brought to its destination.
    pub(crate) is_draining: bool,
    pub(crate) control: Arc<BrokerControl>,
    epoll: OwnedFd,
}

impl BrokerShared {
    pub(crate) fn new(
        policy: Arc<EgressPolicy>,
        log: AttemptLog,
        control: Arc<BrokerControl>,
        share: DescriptorShare,
    ) -> io::Result<Self> {
        Ok(Self {
            lookups: NameLookups::new(policy.resolver)?,
            policy,
            log,
            buffers: RelayBuffers::new(share.pipes),
            is_draining: false,
            control,
            epoll: epoll::create(CreateFlags::CLOEXEC)?,
        })
    }

    pub(crate) fn watch(&self, socket: impl AsFd, token: EventToken, flags: EventFlags) -> io::Result<()> {
        epoll::add(&self.epoll, socket, EventData::new_u64(token.bits()), flags)?;
        Ok(())
    }

    /// The addresses at which a granted name may be reached; `None` while that is found out.
    pub(crate) fn addresses(
        &mut self,
        name: &str,
        port: u16,
        transport: Transport,
        now: Instant,
    ) -> Option<Result<Vec<SocketAddr>, ConnectionEnding>> {
        if let Some(pinned) = self.policy.pins.get(&(name.to_owned(), port)) {
            return Some(Ok(vec![*pinned]));
        }
        let meaning = match self.lookups.look_up(name, now)? {
            Ok(meaning) => meaning,
            Err(error) => return Some(Err(ConnectionEnding::End(AttemptEnd::NotResolved(error)))),
        };
        let mut refused = None;
        let mut permitted = Vec::new();
        for address in &meaning.addresses {
            let to = SocketAddr::new(*address, port);
            match self.policy.may_dial(to, &meaning.own, transport) {
                Ok(()) => permitted.push(to),
                Err(reason) => refused = refused.or(Some(reason)),
            }
        }
        match refused {
            Some(reason) if permitted.is_empty() => Some(Err(ConnectionEnding::Refused(reason))),
            _ => Some(Ok(permitted)),
        }
    }

    /// The name that an address stands for in this run.
    pub(crate) fn name_of(&self, address: IpAddr) -> Option<String> {
        self.control.names().name_of(address).map(str::to_owned)
    }

    /// Who named a destination just now, if that is known.
    pub(crate) fn find_caller(
        &self,
        destination: SocketAddr,
        transport: Transport,
        now: Instant,
    ) -> Option<CallingProcess> {
        self.control.connects().find_caller(destination, transport, now)
    }

    /// An attempt that begins now.
    pub(crate) fn attempt(
        &self,
        action: AttemptAction,
        to: SocketAddr,
        verdict: AttemptVerdict,
        now: Instant,
    ) -> Attempt {
        let transport = match action {
            AttemptAction::Reach(transport) => transport,
            AttemptAction::LookUp => Transport::Udp,
        };
        Attempt::new(action, self.name_of(to.ip()), to, self.find_caller(to, transport, now), verdict)
    }
}

/// Everything that is served.
pub(crate) struct BrokerLoop {
    shared: BrokerShared,
    listeners: Vec<(u16, OwnedFd)>,
    connections: SlotTable<ProgramConnection>,
    name_streams: NameStreams,
    datagrams: DatagramService,
    taps: Vec<PacketTap>,
    /// Room for what a tap is told beside its packets.
    control: Vec<u8>,
    /// Connections with a timer, and when.
    timers: BTreeSet<(Instant, EventToken)>,
    /// Connections that have more to do at once.
    again: Vec<EventToken>,
    /// Whether listeners are watched.
    is_accepting: bool,
    /// Connections that are relayed at a time. Others wait to be accepted.
    most_connections: usize,
    accept_again: Option<Instant>,
    until: Option<Instant>,
    /// How the last words of a run that is over get on.
    drain: Option<DrainProgress>,
}

impl BrokerLoop {
    pub(crate) fn new(
        policy: Arc<EgressPolicy>,
        sockets: NamespaceSockets,
        log: AttemptLog,
        control: Arc<BrokerControl>,
    ) -> io::Result<Self> {
        let share = DescriptorShare::new();
        let shared = BrokerShared::new(policy, log, control, share)?;
        let at = |index: usize| SlotKey { index: u32::try_from(index).unwrap_or(u32::MAX), generation: 0 };
        shared.watch(
            shared.control.wake(),
            EventToken::new(EventSource::Control, SlotKey::default()),
            EventFlags::IN,
        )?;
        shared.watch(
            shared.lookups.answered(),
            EventToken::new(EventSource::Lookups, SlotKey::default()),
            EventFlags::IN,
        )?;
        for (index, (_, socket)) in sockets.streams.iter().enumerate() {
            // What is accepted has it from its listener. Bytes go on as they come: the sender has decided how to cut them.
            let _ = sockopt::set_tcp_nodelay(socket, true);
            shared.watch(socket, EventToken::new(EventSource::Listener, at(index)), EventFlags::IN)?;
        }
        for (index, (_, socket)) in sockets.datagrams.iter().enumerate() {
            shared.watch(socket, EventToken::new(EventSource::Datagrams, at(index)), EventFlags::IN)?;
        }
        for (index, tap) in sockets.taps.iter().enumerate() {
            shared.watch(&tap.socket, EventToken::new(EventSource::Tap, at(index)), EventFlags::IN)?;
        }
        Ok(Self {
            shared,
            listeners: sockets.streams,
            connections: SlotTable::new(),
            name_streams: NameStreams::new(),
            datagrams: DatagramService::new(sockets.datagrams, share.flows),
            taps: sockets.taps,
            control: control_space(),
            timers: BTreeSet::new(),
            again: Vec::new(),
            is_accepting: true,
            most_connections: share.connections,
            accept_again: None,
            until: None,
            drain: None,
        })
    }

    /// Serves until the launching program says that it is over.
    pub(crate) fn run(mut self) {
        // What is spliced to a socket that is gone raises SIGPIPE, which must not reach the embedding program; nor may its
        // handlers run here.
        let _ = SigSet::all().thread_block();
        let mut events: Vec<Event> = Vec::with_capacity(256);
        loop {
            let now = Instant::now();
            if self.until.is_some_and(|until| now >= until || self.has_nothing_left(now)) {
                break;
            }
            let timeout = self.next_timeout(now);
            events.clear();
            match epoll::wait(
                &self.shared.epoll,
                rustix::buffer::spare_capacity(&mut events),
                timeout.as_ref(),
            ) {
                Ok(_) | Err(Errno::INTR) => {}
                // The set itself is broken, which nothing can cause; nothing is relayed any more.
                Err(_) => break,
            }
            let now = Instant::now();
            for event in &events {
                self.serve(EventToken::from_bits(event.data.u64()), event.flags, now);
            }
            for token in std::mem::take(&mut self.again) {
                self.advance(token, now);
            }
            self.serve_timers(now);
            self.prolong_drain(now);
        }
        self.finish();
    }

    fn next_timeout(&mut self, now: Instant) -> Option<Timespec> {
        if !self.again.is_empty() {
            return Some(Timespec { tv_sec: 0, tv_nsec: 0 });
        }
        let timer = self.timers.first().map(|(at, _)| *at);
        let others = [self.until, self.accept_again, self.name_streams.next(), self.datagrams.next()];
        let next = others.into_iter().flatten().chain(timer).min()?;
        let left = next.saturating_duration_since(now).saturating_add(Duration::from_micros(100));
        Some(Timespec { tv_sec: i64::try_from(left.as_secs()).ok()?, tv_nsec: left.subsec_nanos().into() })
    }

    fn serve(&mut self, token: EventToken, flags: EventFlags, now: Instant) {
        match token.source() {
            EventSource::Control => self.follow_order(now),
            EventSource::Lookups => self.serve_resolved(now),
            EventSource::Listener => self.accept(token.key().index as usize, now),
            EventSource::Client | EventSource::Dial => {
                if let Some(connection) = self.connections.get_mut(token.key()) {
                    connection.note_events(token, flags, &self.shared);
                    self.advance(token, now);
                }
            }
            EventSource::NameStream => self.name_streams.serve(token.key(), &mut self.shared, now),
            EventSource::Datagrams => {
                self.datagrams.serve_inside(token.key().index as usize, &mut self.shared, now);
            }
            EventSource::Flow => self.datagrams.serve_outside(token.key(), &mut self.shared, now),
            EventSource::Tap => {
                if let Some(tap) = self.taps.get(token.key().index as usize) {
                    tap.serve(&self.shared, &mut self.control, now);
                }
            }
        }
    }

    /// The launching program says that the run is over.
    fn follow_order(&mut self, now: Instant) {
        match self.shared.control.read_order() {
            BrokerOrder::Continue => {}
            BrokerOrder::Drain(timeout) => {
                self.shared.is_draining = true;
                // A timeout without end has one anyway: the run is over.
                self.until = now.checked_add(timeout).or_else(|| now.checked_add(LONGEST_DRAIN));
                let latest = timeout.checked_mul(DRAIN_PATIENCE).and_then(|longest| now.checked_add(longest));
                self.drain = latest.map(|latest| DrainProgress { timeout, latest, fewest: usize::MAX });
                // Those that have been accepted by the kernel only, too.
                for index in 0..self.listeners.len() {
                    self.accept(index, now);
                }
                for key in self.connections.keys() {
                    self.advance(EventToken::new(EventSource::Client, key), now);
                }
                self.datagrams.serve_rest(&mut self.shared, now);
            }
        }
    }

    /// Waits on while connections end one after the other: a thousand that were opened in the last moment take longer than one.
    fn prolong_drain(&mut self, now: Instant) {
        let left = self.connections.len();
        let Some(drain) = self.drain.as_mut().filter(|drain| left < drain.fewest) else { return };
        drain.fewest = left;
        self.until = now.checked_add(drain.timeout).map(|until| until.min(drain.latest)).or(self.until);
    }

    /// Whether all last words have been brought. Those of connections that only the kernel has accepted are taken first: more may wait there than
    /// are served at a time.
    fn has_nothing_left(&mut self, now: Instant) -> bool {
        if self.connections.len() == 0 {
            for index in 0..self.listeners.len() {
                self.accept(index, now);
            }
            for key in self.connections.keys() {
                self.advance(EventToken::new(EventSource::Client, key), now);
            }
        }
        self.connections.len() == 0 && !self.datagrams.is_waiting()
    }

    fn serve_resolved(&mut self, now: Instant) {
        let names = self.shared.lookups.collect_answered(now);
        for key in self.connections.keys() {
            let waits =
                self.connections.get_mut(key).is_some_and(|one| names.iter().any(|name| one.waits_for(name)));
            if waits {
                self.advance(EventToken::new(EventSource::Client, key), now);
            }
        }
        self.datagrams.serve_resolved(&mut self.shared, now);
    }

    fn advance(&mut self, token: EventToken, now: Instant) {
        let key = token.key();
        let token = EventToken::new(EventSource::Client, key);
        let Some(connection) = self.connections.get_mut(key) else { return };
        let before = connection.timer;
        let step = connection.advance(token, &mut self.shared, now);
        if connection.timer != before {
            if let Some(before) = before {
                self.timers.remove(&(before, token));
            }
            if let Some(timer) = connection.timer {
                self.timers.insert((timer, token));
            }
        }
        match step {
            ConnectionStep::Wait => {}
            ConnectionStep::Again => self.again.push(token),
            ConnectionStep::Over(ending) => {
                if let Some(mut connection) = self.connections.remove(key) {
                    connection.release_buffers(&mut self.shared);
                    self.shared.log.record(connection.finish(ending, now));
                }
                self.accept_again(now);
            }
        }
    }

    fn serve_timers(&mut self, now: Instant) {
        // Those that are due now: one that is set meanwhile has its turn when the others had theirs.
        let due: Vec<_> = self.timers.iter().take_while(|(at, _)| *at <= now).copied().collect();
        for (at, token) in due {
            // An earlier one may have ended it.
            if !self.timers.remove(&(at, token)) {
                continue;
            }
            if let Some(connection) = self.connections.get_mut(token.key()) {
                connection.timer = None;
                self.advance(token, now);
            }
        }
        if self.accept_again.is_some_and(|at| at <= now) {
            self.accept_again = None;
            self.accept_again(now);
        }
        self.name_streams.end_idle(now);
        self.datagrams.end_idle(&mut self.shared, now);
    }

    fn accept(&mut self, index: usize, now: Instant) {
        for _ in 0..ACCEPTED_AT_ONCE {
            if self.connections.len() >= self.most_connections {
                return self.pause_accepting(None);
            }
            let Some((port, listener)) = self.listeners.get(index) else { return };
            let port = *port;
            match rustix::net::accept_with(listener, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC) {
                Ok(socket) if port == DNS_PORT => self.name_streams.accept(socket, &mut self.shared, now),
                Ok(socket) => {
                    self.serve_accepted(socket, now);
                    // Where only one is served, more are seldom: the kernel says so if there are.
                    if self.connections.len() == 1 && !self.shared.is_draining {
                        return;
                    }
                }
                Err(Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM) => {
                    return self.pause_accepting(Some(now + ACCEPT_BACKOFF));
                }
                Err(Errno::INTR | Errno::CONNABORTED) => {}
                Err(_) => return,
            }
        }
    }

    fn pause_accepting(&mut self, until: Option<Instant>) {
        self.accept_again = until;
        self.watch_listeners(false);
    }

    fn accept_again(&mut self, now: Instant) {
        let paused = self.accept_again.is_some_and(|until| now < until);
        if !self.is_accepting && !paused && self.connections.len() < self.most_connections {
            self.watch_listeners(true);
        }
    }

    fn watch_listeners(&mut self, watch: bool) {
        self.is_accepting = watch;
        let flags = if watch { EventFlags::IN } else { EventFlags::empty() };
        for (index, (_, listener)) in self.listeners.iter().enumerate() {
            let key = SlotKey { index: u32::try_from(index).unwrap_or(u32::MAX), generation: 0 };
            let data = EventData::new_u64(EventToken::new(EventSource::Listener, key).bits());
            // It is in the set, so there is nothing that could fail.
            let _ = epoll::modify(&self.shared.epoll, listener, data, flags);
        }
    }

    /// Lets a connection in, or breaks it off.
    fn serve_accepted(&mut self, socket: OwnedFd, now: Instant) {
        let Ok(to) = rustix::net::getsockname(&socket).map(SocketAddr::try_from) else { return };
        let Ok(to) = to.map(canonical_address) else { return };
        let action = AttemptAction::Reach(Transport::Tcp);
        match admit_connection(&self.shared, to) {
            Ok((target, gate, listens_first, rule)) => {
                let attempt = self.shared.attempt(action, to, AttemptVerdict::Allowed(rule), now);
                let connection = ProgramConnection::new(socket, target, gate, listens_first, attempt, now);
                let key = self.connections.insert(connection);
                let token = EventToken::new(EventSource::Client, key);
                let Some(connection) = self.connections.get_mut(key) else { return };
                if self.shared.watch(&connection.client.socket, token, RELAYED).is_err() {
                    self.connections.remove(key);
                    return;
                }
                self.advance(token, now);
            }
            Err(reason) => {
                let _ = reset(&socket);
                self.shared.log.record(self.shared.attempt(action, to, AttemptVerdict::Refused(reason), now));
            }
        }
    }

    /// What goes on now is over.
    fn finish(mut self) {
        let now = Instant::now();
        for key in self.connections.keys() {
            if let Some(connection) = self.connections.remove(key) {
                self.shared.log.record(connection.finish(ConnectionEnding::End(AttemptEnd::RunEnded), now));
            }
        }
        self.datagrams.finish(&mut self.shared, now);
        for tap in &self.taps {
            let mut more = || tap.serve(&self.shared, &mut self.control, now);
            let _ = (0..MOST_ROUNDS).all(|_| more());
        }
    }
}

type AdmittedConnection = (DialTarget, ProtocolGate, bool, String);

/// What a connection to this address means, and how it is looked at.
fn admit_connection(shared: &BrokerShared, to: SocketAddr) -> Result<AdmittedConnection, RefusalReason> {
    let policy = &shared.policy;
    if let Some(name) = shared.name_of(to.ip()) {
        let rules: Vec<_> = policy.for_name(&name, to.port(), Transport::Tcp).collect();
        let first = rules.first().ok_or(RefusalReason::NotGranted)?;
        // Anything may be spoken where TCP is granted, by either side first; elsewhere the program speaks first, and says what it wants.
        let listens_first = rules.iter().all(|rule| rule.protocol != Protocol::Tcp);
        let gate = ProtocolGate::new(rules.iter().map(|rule| rule.protocol), &name, to.port());
        return Ok((DialTarget::Name(name.clone(), to.port()), gate, listens_first, first.to_string()));
    }
    let rule = policy.for_address(to.ip(), to.port(), Transport::Tcp).ok_or(RefusalReason::NotGranted)?;
    if !rule.is_one_address() {
        // Where it cannot be known what this machine's own addresses are, it may be one of them.
        let own = own_addresses().unwrap_or_else(|_| Arc::new([to.ip()]));
        policy.may_dial(to, &own, Transport::Tcp)?;
    }
    Ok((DialTarget::Address(to), ProtocolGate::Open, false, rule.to_string()))
}

/// An IPv4 address written as IPv6, as IPv4.
pub(crate) fn canonical_address(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}
