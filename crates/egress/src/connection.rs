//! One connection of a program, from the moment it was accepted to its end.

use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::time::Instant;

use rustix::event::epoll::EventFlags;
use rustix::net::RecvFlags;

use crate::attempt::{Attempt, End, Reason, Verdict};
use crate::dial::{Dial, Dialled};
use crate::engine::Shared;
use crate::gate::Gate;
use crate::relay::{Broken, Hears, Next, Side, Way, reset};
use crate::rule::Transport;
use crate::token::{Kind, Token};

/// A connection that a rule allows.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) client: Side,
    stage: Stage,
    gate: Gate,
    target: Target,
    up: Way,
    down: Way,
    pub(crate) attempt: Attempt,
    begun: Instant,
    /// When to look at it again, whatever its sockets say.
    pub(crate) timer: Option<Instant>,
}

/// Where it leads.
#[derive(Debug, Clone)]
pub(crate) enum Target {
    Name(String, u16),
    Address(SocketAddr),
}

#[derive(Debug)]
enum Stage {
    /// Nothing leaves until the program has said whom it wants to talk to.
    Listening,
    /// The name is being resolved.
    Resolving,
    Dialling(Dial),
    Relaying(Side),
}

/// What is to be done with a connection now.
#[derive(Debug)]
pub(crate) enum Step {
    /// Wait for its sockets, or for its timer.
    Wait,
    /// Come back to it soon: it has more to do.
    Again,
    /// It is over.
    Over(Ending),
}

#[derive(Debug)]
pub(crate) enum Ending {
    End(End),
    /// Refused before anything was sent, or cut off after.
    Refused(Reason),
}

impl Connection {
    /// `listens_first`: the rule says what is spoken, so nothing is dialled before that was heard.
    pub(crate) fn new(
        client: OwnedFd,
        target: Target,
        gate: Gate,
        listens_first: bool,
        attempt: Attempt,
        now: Instant,
    ) -> Self {
        Self {
            client: Side::new(client),
            stage: if listens_first { Stage::Listening } else { Stage::Resolving },
            gate,
            target,
            up: Way::default(),
            down: Way::default(),
            attempt,
            begun: now,
            timer: None,
        }
    }

    /// A socket of it has news.
    pub(crate) fn hear(&mut self, token: Token, flags: EventFlags, shared: &Shared) {
        let side = match (token.kind(), &mut self.stage) {
            (Kind::Client, _) => &mut self.client,
            (Kind::Server, Stage::Relaying(server)) => server,
            (Kind::Dial, Stage::Dialling(dial)) => {
                if let Some((socket, to)) = dial.ready(token.number()) {
                    self.connected(token, socket, to, shared);
                }
                return;
            }
            _ => return,
        };
        let gone = flags.intersects(EventFlags::HUP | EventFlags::ERR);
        side.reads_short |= gone || flags.intersects(EventFlags::RDHUP | EventFlags::PRI);
        side.readable |= gone || flags.intersects(EventFlags::IN | EventFlags::RDHUP | EventFlags::PRI);
        side.writable |= gone || flags.contains(EventFlags::OUT);
    }

    /// Whether it waits for this name to be resolved.
    pub(crate) fn waits_for(&self, resolved: &str) -> bool {
        matches!((&self.stage, &self.target), (Stage::Resolving, Target::Name(name, _)) if name == resolved)
    }

    /// Does what can be done without waiting.
    pub(crate) fn go_on(&mut self, token: Token, shared: &mut Shared, now: Instant) -> Step {
        self.timer = None;
        if shared.is_draining && self.has_said_nothing() {
            return Step::Over(Ending::End(End::RunEnded));
        }
        loop {
            let step = match &mut self.stage {
                Stage::Listening => self.listen(shared),
                Stage::Resolving => self.resolve(shared, now),
                Stage::Dialling(_) => self.dial(token, shared, now),
                Stage::Relaying(_) => return self.relay(shared),
            };
            if let Err(step) = step {
                return step;
            }
        }
    }

    /// Whether there is nobody to connect for any more: the program is gone, and left nothing to bring to a destination that was not
    /// reached yet.
    fn has_said_nothing(&self) -> bool {
        if matches!(self.stage, Stage::Relaying(_)) || !self.up.is_empty() {
            return false;
        }
        let flags = RecvFlags::PEEK | RecvFlags::DONTWAIT;
        !matches!(rustix::net::recv(&self.client.socket, &mut [0], flags), Ok((1.., _)))
    }

    fn listen(&mut self, shared: &mut Shared) -> Result<(), Step> {
        match self.up.listen(&mut self.client, &mut self.gate, &mut shared.bench) {
            Ok(false) => Err(Step::Wait),
            Ok(true) if self.up.has_nothing() => Err(Step::Over(Ending::End(End::Closed))),
            Ok(true) => {
                self.stage = Stage::Resolving;
                Ok(())
            }
            Err(broken) => Err(Step::Over(Ending::of(broken, true))),
        }
    }

    fn resolve(&mut self, shared: &mut Shared, now: Instant) -> Result<(), Step> {
        let over = |ending| Err(Step::Over(ending));
        let addresses = match &self.target {
            Target::Address(address) => vec![*address],
            Target::Name(name, port) => match shared.addresses(name, *port, Transport::Tcp, now) {
                None => return Err(Step::Wait),
                Some(Ok(addresses)) => addresses,
                Some(Err(ending)) => return over(ending),
            },
        };
        self.stage = Stage::Dialling(Dial::new(addresses, now));
        Ok(())
    }

    fn dial(&mut self, token: Token, shared: &mut Shared, now: Instant) -> Result<(), Step> {
        let Stage::Dialling(dial) = &mut self.stage else { return Ok(()) };
        let watch = |socket: &OwnedFd, number| {
            let flags = EventFlags::OUT | EventFlags::ET;
            shared.watch(socket, token.with(Kind::Dial, number), flags)
        };
        match dial.go_on(now, watch) {
            Dialled::Waits(until) => {
                self.timer = Some(until);
                Err(Step::Wait)
            }
            Dialled::Connected(socket, to) => {
                if shared.watch(&socket, token.with(Kind::Server, 0), EventFlags::empty()).is_ok() {
                    self.connected(token, socket, to, shared);
                }
                Ok(())
            }
            Dialled::Failed(error) => Err(Step::Over(Ending::End(End::NotConnected(error.to_string())))),
        }
    }

    fn connected(&mut self, token: Token, socket: OwnedFd, to: SocketAddr, shared: &Shared) {
        // It was watched as an attempt; the change makes the kernel tell of what is there already.
        let token = token.with(Kind::Server, 0);
        let mut side = Side::new(socket);
        side.writable = true;
        if shared.watch_instead(&side.socket, token).is_err() {
            side.reads_short = true;
            side.readable = true;
        }
        self.attempt.dialled = Some(to);
        self.stage = Stage::Relaying(side);
        shared.ledger.begun(&self.attempt);
    }

    fn relay(&mut self, shared: &mut Shared) -> Step {
        let Stage::Relaying(server) = &mut self.stage else { return Step::Wait };
        let (client, bench) = (&mut self.client, &mut shared.bench);
        // What the destination says first: it may open the gate.
        let down = self.down.carry(server, client, Hears::Server(&mut self.gate), bench);
        let down = match down {
            Ok(next) => next,
            Err(broken) => return Step::Over(Ending::of(broken, false)),
        };
        let up = match self.up.carry(client, server, Hears::Client(&mut self.gate), bench) {
            Ok(next) => next,
            Err(broken) => return Step::Over(Ending::of(broken, true)),
        };
        if self.up.is_done() && (self.down.is_done() || shared.is_draining) {
            return Step::Over(Ending::End(if self.down.is_done() { End::Closed } else { End::RunEnded }));
        }
        if up == Next::Again || down == Next::Again { Step::Again } else { Step::Wait }
    }

    /// Closes both sides as the ending has it, and says how it went.
    pub(crate) fn end(mut self, ending: Ending, now: Instant) -> Attempt {
        self.attempt.server_name = self.gate.server_name().map(str::to_owned);
        self.attempt.sent = self.up.bytes;
        self.attempt.received = self.down.bytes;
        self.attempt.duration = now.duration_since(self.begun);
        let is_clean = matches!(ending, Ending::End(End::Closed));
        match ending {
            Ending::End(end) => self.attempt.end = Some(end),
            Ending::Refused(reason) if self.up.bytes == 0 => self.attempt.verdict = Verdict::Refused(reason),
            Ending::Refused(reason) => self.attempt.verdict = Verdict::Cut(reason),
        }
        if !is_clean {
            let _ = reset(&self.client.socket);
            if let Stage::Relaying(server) = &self.stage
                && !self.up.is_done()
            {
                let _ = reset(&server.socket);
            }
        }
        self.attempt
    }

    /// Gives back what others can use.
    pub(crate) fn let_go(&mut self, shared: &mut Shared) {
        self.up.let_go(&mut shared.bench);
        self.down.let_go(&mut shared.bench);
    }
}

impl Ending {
    /// `up`: on the way from the program to the destination.
    fn of(broken: Broken, up: bool) -> Self {
        match (broken, up) {
            (Broken::Refused(reason), _) => Self::Refused(reason),
            (Broken::From, true) | (Broken::To, false) => Self::End(End::ResetByProgram),
            (Broken::From, false) | (Broken::To, true) => Self::End(End::ResetByDestination),
        }
    }
}
