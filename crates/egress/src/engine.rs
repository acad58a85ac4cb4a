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

use crate::attempt::{Action, Attempt, End, Process, Reason, Verdict};
use crate::broker::{Control, Order, Sockets};
use crate::connection::{Connection, Ending, Step, Target};
use crate::datagrams::{Datagrams, control_space};
use crate::gate::Gate;
use crate::ledger::Ledger;
use crate::lookup::{Lookups, own_addresses};
use crate::policy::Policy;
use crate::relay::{Workbench, reset};
use crate::rule::{DNS_PORT, Protocol, Transport};
use crate::service::NameStreams;
use crate::share::Share;
use crate::tap::Tap;
use crate::token::{Kind, Place, Places, Token};

/// How long nothing is accepted where the launching program has no descriptors left.
const BREATH: Duration = Duration::from_millis(50);

/// Connections that are accepted before others have their turn.
const ACCEPTED_AT_ONCE: usize = 32;

/// The longest that is waited for what a run has said to reach its destination, whatever was asked for.
const LONGEST_DRAIN: Duration = Duration::from_hours(24);

/// Rounds of reading what was said before the run ended: far more than sockets hold.
pub(crate) const MOST_ROUNDS: usize = 256;

const RELAYED: EventFlags = EventFlags::IN
    .union(EventFlags::PRI)
    .union(EventFlags::OUT)
    .union(EventFlags::RDHUP)
    .union(EventFlags::ET);

/// What everything that is served has in common.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) policy: Arc<Policy>,
    pub(crate) ledger: Ledger,
    pub(crate) lookups: Lookups,
    pub(crate) bench: Workbench,
    /// All processes of the run are gone: what they said is still brought to its destination.
    pub(crate) is_draining: bool,
    pub(crate) control: Arc<Control>,
    epoll: OwnedFd,
}

impl Shared {
    pub(crate) fn new(
        policy: Arc<Policy>,
        ledger: Ledger,
        control: Arc<Control>,
        share: Share,
    ) -> io::Result<Self> {
        Ok(Self {
            lookups: Lookups::new(policy.resolver)?,
            policy,
            ledger,
            bench: Workbench::new(share.pipes),
            is_draining: false,
            control,
            epoll: epoll::create(CreateFlags::CLOEXEC)?,
        })
    }

    pub(crate) fn watch(&self, socket: impl AsFd, token: Token, flags: EventFlags) -> io::Result<()> {
        epoll::add(&self.epoll, socket, EventData::new_u64(token.bits()), flags)?;
        Ok(())
    }

    /// Watches a socket that was watched already, for what a relay wants to know.
    pub(crate) fn watch_instead(&self, socket: impl AsFd, token: Token) -> io::Result<()> {
        epoll::modify(&self.epoll, socket, EventData::new_u64(token.bits()), RELAYED)?;
        Ok(())
    }

    /// The addresses at which a granted name may be reached; `None` while that is found out.
    pub(crate) fn addresses(
        &mut self,
        name: &str,
        port: u16,
        transport: Transport,
        now: Instant,
    ) -> Option<Result<Vec<SocketAddr>, Ending>> {
        if let Some(pinned) = self.policy.pins.get(&(name.to_owned(), port)) {
            return Some(Ok(vec![*pinned]));
        }
        let meaning = match self.lookups.meaning(name, now)? {
            Ok(meaning) => meaning,
            Err(error) => return Some(Err(Ending::End(End::NotResolved(error)))),
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
            Some(reason) if permitted.is_empty() => Some(Err(Ending::Refused(reason))),
            _ => Some(Ok(permitted)),
        }
    }

    /// The name that an address stands for in this run.
    pub(crate) fn name_of(&self, address: IpAddr) -> Option<String> {
        self.control.names().name_of(address).map(str::to_owned)
    }

    /// Who named a destination just now, if that is known.
    pub(crate) fn who(&self, destination: SocketAddr, transport: Transport, now: Instant) -> Option<Process> {
        self.control.witnesses().who(destination, transport, now)
    }

    /// An attempt that begins now.
    pub(crate) fn attempt(&self, action: Action, to: SocketAddr, verdict: Verdict, now: Instant) -> Attempt {
        let transport = match action {
            Action::Reach(transport) => transport,
            Action::LookUp => Transport::Udp,
        };
        Attempt::new(action, self.name_of(to.ip()), to, self.who(to, transport, now), verdict)
    }
}

/// Everything that is served.
pub(crate) struct Engine {
    shared: Shared,
    listeners: Vec<(u16, OwnedFd)>,
    connections: Places<Connection>,
    name_streams: NameStreams,
    datagrams: Datagrams,
    taps: Vec<Tap>,
    /// Room for what a tap is told beside its packets.
    control: Vec<u8>,
    /// Connections with a timer, and when.
    timers: BTreeSet<(Instant, Token)>,
    /// Connections that have more to do at once.
    again: Vec<Token>,
    /// Whether listeners are watched.
    is_accepting: bool,
    /// Connections that are relayed at a time. Others wait to be accepted.
    most_connections: usize,
    accept_again: Option<Instant>,
    until: Option<Instant>,
}

impl Engine {
    pub(crate) fn new(
        policy: Arc<Policy>,
        sockets: Sockets,
        ledger: Ledger,
        control: Arc<Control>,
    ) -> io::Result<Self> {
        let share = Share::new();
        let shared = Shared::new(policy, ledger, control, share)?;
        let at = |index: usize| Place { index: u32::try_from(index).unwrap_or(u32::MAX), generation: 0 };
        shared.watch(shared.control.wake(), Token::new(Kind::Control, Place::default()), EventFlags::IN)?;
        shared.watch(
            shared.lookups.answered(),
            Token::new(Kind::Lookups, Place::default()),
            EventFlags::IN,
        )?;
        for (index, (_, socket)) in sockets.streams.iter().enumerate() {
            shared.watch(socket, Token::new(Kind::Listener, at(index)), EventFlags::IN)?;
        }
        for (index, (_, socket)) in sockets.datagrams.iter().enumerate() {
            shared.watch(socket, Token::new(Kind::Datagrams, at(index)), EventFlags::IN)?;
        }
        for (index, tap) in sockets.taps.iter().enumerate() {
            shared.watch(&tap.socket, Token::new(Kind::Tap, at(index)), EventFlags::IN)?;
        }
        Ok(Self {
            shared,
            listeners: sockets.streams,
            connections: Places::new(),
            name_streams: NameStreams::new(),
            datagrams: Datagrams::new(sockets.datagrams, share.flows),
            taps: sockets.taps,
            control: control_space(),
            timers: BTreeSet::new(),
            again: Vec::new(),
            is_accepting: true,
            most_connections: share.connections,
            accept_again: None,
            until: None,
        })
    }

    /// Serves until the launching program says that it is over.
    pub(crate) fn run(mut self) {
        // What is spliced to a socket that is gone raises SIGPIPE, which is no business of the embedding program's; nor may its
        // handlers run here.
        let _ = SigSet::all().thread_block();
        let mut events: Vec<Event> = Vec::with_capacity(256);
        loop {
            let now = Instant::now();
            if self.until.is_some_and(|until| now >= until || self.has_nothing_left()) {
                break;
            }
            let patience = self.patience(now);
            events.clear();
            match epoll::wait(
                &self.shared.epoll,
                rustix::buffer::spare_capacity(&mut events),
                patience.as_ref(),
            ) {
                Ok(_) | Err(Errno::INTR) => {}
                // The set itself is broken, which nothing can cause; nothing is relayed any more.
                Err(_) => break,
            }
            let now = Instant::now();
            for event in &events {
                self.serve(Token::from_bits(event.data.u64()), event.flags, now);
            }
            for token in std::mem::take(&mut self.again) {
                self.go_on(token, now);
            }
            self.serve_timers(now);
        }
        self.finish();
    }

    fn patience(&mut self, now: Instant) -> Option<Timespec> {
        if !self.again.is_empty() {
            return Some(Timespec { tv_sec: 0, tv_nsec: 0 });
        }
        let timer = self.timers.first().map(|(at, _)| *at);
        let others = [self.until, self.accept_again, self.name_streams.next(), self.datagrams.next()];
        let next = others.into_iter().flatten().chain(timer).min()?;
        let left = next.saturating_duration_since(now).saturating_add(Duration::from_micros(100));
        Some(Timespec { tv_sec: i64::try_from(left.as_secs()).ok()?, tv_nsec: left.subsec_nanos().into() })
    }

    fn serve(&mut self, token: Token, flags: EventFlags, now: Instant) {
        match token.kind() {
            Kind::Control => self.obey(now),
            Kind::Lookups => self.resolved(now),
            Kind::Listener => self.accept(token.place().index as usize, now),
            Kind::Client | Kind::Server | Kind::Dial => {
                if let Some(connection) = self.connections.get_mut(token.place()) {
                    connection.hear(token, flags, &self.shared);
                    self.go_on(token, now);
                }
            }
            Kind::NameStream => self.name_streams.serve(token.place(), &mut self.shared, now),
            Kind::Datagrams => {
                self.datagrams.serve_inside(token.place().index as usize, &mut self.shared, now);
            }
            Kind::Flow => self.datagrams.serve_outside(token.place(), &mut self.shared, now),
            Kind::Tap => {
                if let Some(tap) = self.taps.get(token.place().index as usize) {
                    tap.serve(&self.shared, &mut self.control, now);
                }
            }
        }
    }

    /// The launching program says that the run is over.
    fn obey(&mut self, now: Instant) {
        match self.shared.control.order() {
            Order::GoOn => {}
            Order::Drain(patience) => {
                self.shared.is_draining = true;
                // A patience without end has one all the same: the run is over.
                self.until = now.checked_add(patience).or_else(|| now.checked_add(LONGEST_DRAIN));
                // Those that have been accepted by the kernel only, too.
                for index in 0..self.listeners.len() {
                    self.accept(index, now);
                }
                for place in self.connections.taken() {
                    self.go_on(Token::new(Kind::Client, place), now);
                }
                self.datagrams.serve_rest(&mut self.shared, now);
            }
        }
    }

    fn has_nothing_left(&mut self) -> bool {
        self.connections.len() == 0 && !self.datagrams.is_waiting()
    }

    fn resolved(&mut self, now: Instant) {
        let names = self.shared.lookups.collect(now);
        for place in self.connections.taken() {
            let waits = self
                .connections
                .get_mut(place)
                .is_some_and(|one| names.iter().any(|name| one.waits_for(name)));
            if waits {
                self.go_on(Token::new(Kind::Client, place), now);
            }
        }
        self.datagrams.resolved(&mut self.shared, now);
    }

    fn go_on(&mut self, token: Token, now: Instant) {
        let place = token.place();
        let token = Token::new(Kind::Client, place);
        let Some(connection) = self.connections.get_mut(place) else { return };
        let before = connection.timer;
        let step = connection.go_on(token, &mut self.shared, now);
        if connection.timer != before {
            if let Some(before) = before {
                self.timers.remove(&(before, token));
            }
            if let Some(timer) = connection.timer {
                self.timers.insert((timer, token));
            }
        }
        match step {
            Step::Wait => {}
            Step::Again => self.again.push(token),
            Step::Over(ending) => {
                if let Some(mut connection) = self.connections.remove(place) {
                    connection.let_go(&mut self.shared);
                    self.shared.ledger.note(connection.end(ending, now));
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
            if let Some(connection) = self.connections.get_mut(token.place()) {
                connection.timer = None;
                self.go_on(token, now);
            }
        }
        if self.accept_again.is_some_and(|at| at <= now) {
            self.accept_again = None;
            self.accept_again(now);
        }
        self.name_streams.sweep(now);
        self.datagrams.sweep(&mut self.shared, now);
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
                Ok(socket) => self.admit(socket, now),
                Err(Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM) => {
                    return self.pause_accepting(Some(now + BREATH));
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
            let place = Place { index: u32::try_from(index).unwrap_or(u32::MAX), generation: 0 };
            let data = EventData::new_u64(Token::new(Kind::Listener, place).bits());
            // It is in the set, so there is nothing that could fail.
            let _ = epoll::modify(&self.shared.epoll, listener, data, flags);
        }
    }

    /// Lets a connection in, or breaks it off.
    fn admit(&mut self, socket: OwnedFd, now: Instant) {
        let Ok(to) = rustix::net::getsockname(&socket).map(SocketAddr::try_from) else { return };
        let Ok(to) = to.map(canonical) else { return };
        let action = Action::Reach(Transport::Tcp);
        match admission(&self.shared, to) {
            Ok((target, gate, listens_first, rule)) => {
                let attempt = self.shared.attempt(action, to, Verdict::Allowed(rule), now);
                let _ = sockopt::set_tcp_nodelay(&socket, true);
                let connection = Connection::new(socket, target, gate, listens_first, attempt, now);
                let place = self.connections.insert(connection);
                let token = Token::new(Kind::Client, place);
                let Some(connection) = self.connections.get_mut(place) else { return };
                if self.shared.watch(&connection.client.socket, token, RELAYED).is_err() {
                    self.connections.remove(place);
                    return;
                }
                self.go_on(token, now);
            }
            Err(reason) => {
                let _ = reset(&socket);
                self.shared.ledger.note(self.shared.attempt(action, to, Verdict::Refused(reason), now));
            }
        }
    }

    /// What goes on now is over.
    fn finish(mut self) {
        let now = Instant::now();
        for place in self.connections.taken() {
            if let Some(connection) = self.connections.remove(place) {
                self.shared.ledger.note(connection.end(Ending::End(End::RunEnded), now));
            }
        }
        self.datagrams.finish(&mut self.shared, now);
        for tap in &self.taps {
            let mut more = || tap.serve(&self.shared, &mut self.control, now);
            let _ = (0..MOST_ROUNDS).all(|_| more());
        }
    }
}

type Admitted = (Target, Gate, bool, String);

/// What a connection to this address means, and how it is looked at.
fn admission(shared: &Shared, to: SocketAddr) -> Result<Admitted, Reason> {
    let policy = &shared.policy;
    if let Some(name) = shared.name_of(to.ip()) {
        let rules: Vec<_> = policy.for_name(&name, to.port(), Transport::Tcp).collect();
        let first = rules.first().ok_or(Reason::NotGranted)?;
        // Anything may be spoken where TCP is granted, by either side first; elsewhere the program speaks first, and says what it wants.
        let listens_first = rules.iter().all(|rule| rule.protocol != Protocol::Tcp);
        let gate = Gate::new(rules.iter().map(|rule| rule.protocol), &name, to.port());
        return Ok((Target::Name(name.clone(), to.port()), gate, listens_first, first.to_string()));
    }
    let rule = policy.for_address(to.ip(), to.port(), Transport::Tcp).ok_or(Reason::NotGranted)?;
    if !rule.is_one_address() {
        // Where it cannot be known what this machine's own addresses are, it may be one of them.
        let own = own_addresses().unwrap_or_else(|_| Arc::new([to.ip()]));
        policy.may_dial(to, &own, Transport::Tcp)?;
    }
    Ok((Target::Address(to), Gate::Open, false, rule.to_string()))
}

/// An IPv4 address in the clothes of IPv6, as what it is.
pub(crate) fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}
