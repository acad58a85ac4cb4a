//! One connection of a program, from the moment it was accepted to its end.

use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::time::Instant;

use rustix::event::epoll::EventFlags;
use rustix::net::RecvFlags;

use crate::attempt::{Attempt, AttemptEnd, AttemptVerdict, RefusalReason};
use crate::broker_loop::{BrokerShared, RELAYED};
use crate::dial::{DialAttempts, DialProgress};
use crate::event_token::{EventSource, EventToken};
use crate::gate::ProtocolGate;
use crate::relay::{GateInput, RelayDirection, RelayFailure, RelayNext, SocketSide, reset};
use skillsandbox_terms::Transport;

/// A connection that a rule allows.
#[derive(Debug)]
pub(crate) struct ProgramConnection {
    pub(crate) client: SocketSide,
    stage: ConnectionStage,
    gate: ProtocolGate,
    target: DialTarget,
    up: RelayDirection,
    down: RelayDirection,
    pub(crate) attempt: Attempt,
    begun: Instant,
    /// When to look at it again, whatever its sockets say.
    pub(crate) timer: Option<Instant>,
}

/// Where it leads.
#[derive(Debug, Clone)]
pub(crate) enum DialTarget {
    Name(String, u16),
    Address(SocketAddr),
}

#[derive(Debug)]
enum ConnectionStage {
    /// Nothing leaves until the program has said whom it wants to talk to.
    Listening,
    /// The name is being resolved.
    Resolving,
    Dialling(DialAttempts),
    /// With the destination, by the attempt of this number.
    Relaying(SocketSide, u8),
}

/// What is to be done with a connection now.
#[derive(Debug)]
pub(crate) enum ConnectionStep {
    /// Wait for its sockets, or for its timer.
    Wait,
    /// Come back to it soon: it has more to do.
    Again,
    /// It is over.
    Over(ConnectionEnding),
}

#[derive(Debug)]
pub(crate) enum ConnectionEnding {
    End(AttemptEnd),
    /// Refused before anything was sent, or cut off after.
    Refused(RefusalReason),
}

impl ProgramConnection {
    /// `listens_first`: the rule says what is spoken, so nothing is dialled before that was heard.
    pub(crate) fn new(
        client: OwnedFd,
        target: DialTarget,
        gate: ProtocolGate,
        listens_first: bool,
        attempt: Attempt,
        now: Instant,
    ) -> Self {
        Self {
            client: SocketSide::new(client),
            stage: if listens_first { ConnectionStage::Listening } else { ConnectionStage::Resolving },
            gate,
            target,
            up: RelayDirection::default(),
            down: RelayDirection::default(),
            attempt,
            begun: now,
            timer: None,
        }
    }

    /// A socket of it has news.
    pub(crate) fn note_events(&mut self, token: EventToken, flags: EventFlags, shared: &BrokerShared) {
        let gone = flags.intersects(EventFlags::HUP | EventFlags::ERR);
        let side = match (token.source(), &mut self.stage) {
            (EventSource::Client, _) => &mut self.client,
            (EventSource::Dial, ConnectionStage::Relaying(server, number)) if *number == token.number() => {
                server
            }
            (EventSource::Dial, ConnectionStage::Dialling(dial)) => {
                let number = token.number();
                let Some((socket, to)) = dial.take_connected(number, gone) else { return };
                self.connected(socket, to, number, shared);
                let ConnectionStage::Relaying(server, _) = &mut self.stage else { return };
                server
            }
            _ => return,
        };
        side.reads_short |= gone || flags.intersects(EventFlags::RDHUP | EventFlags::PRI);
        side.readable |= gone || flags.intersects(EventFlags::IN | EventFlags::RDHUP | EventFlags::PRI);
        side.writable |= gone || flags.contains(EventFlags::OUT);
    }

    /// Whether it waits for this name to be resolved.
    pub(crate) fn waits_for(&self, resolved: &str) -> bool {
        matches!((&self.stage, &self.target), (ConnectionStage::Resolving, DialTarget::Name(name, _)) if name == resolved)
    }

    /// Does what can be done without waiting.
    pub(crate) fn advance(
        &mut self,
        token: EventToken,
        shared: &mut BrokerShared,
        now: Instant,
    ) -> ConnectionStep {
        self.timer = None;
        if shared.is_draining && self.has_said_nothing() {
            return ConnectionStep::Over(ConnectionEnding::End(AttemptEnd::RunEnded));
        }
        loop {
            let step = match &mut self.stage {
                ConnectionStage::Listening => self.read_client(shared),
                ConnectionStage::Resolving => self.resolve(shared, now),
                ConnectionStage::Dialling(_) => self.dial(token, shared, now),
                ConnectionStage::Relaying(..) => return self.relay(shared),
            };
            if let Err(step) = step {
                return step;
            }
        }
    }

    /// Whether nothing is left to connect for: the program is gone, and left nothing to bring to a destination that was not
    /// reached yet.
    fn has_said_nothing(&self) -> bool {
        if matches!(self.stage, ConnectionStage::Relaying(..)) || !self.up.is_empty() {
            return false;
        }
        let flags = RecvFlags::PEEK | RecvFlags::DONTWAIT;
        !matches!(rustix::net::recv(&self.client.socket, &mut [0], flags), Ok((1.., _)))
    }

    fn read_client(&mut self, shared: &mut BrokerShared) -> Result<(), ConnectionStep> {
        match self.up.read_client(&mut self.client, &mut self.gate, &mut shared.buffers) {
            Ok(false) => Err(ConnectionStep::Wait),
            Ok(true) if self.up.has_nothing() => {
                Err(ConnectionStep::Over(ConnectionEnding::End(AttemptEnd::Closed)))
            }
            Ok(true) => {
                self.stage = ConnectionStage::Resolving;
                Ok(())
            }
            Err(broken) => Err(ConnectionStep::Over(ConnectionEnding::of(broken, true))),
        }
    }

    fn resolve(&mut self, shared: &mut BrokerShared, now: Instant) -> Result<(), ConnectionStep> {
        let over = |ending| Err(ConnectionStep::Over(ending));
        let addresses = match &self.target {
            DialTarget::Address(address) => vec![*address],
            DialTarget::Name(name, port) => match shared.addresses(name, *port, Transport::Tcp, now) {
                None => return Err(ConnectionStep::Wait),
                Some(Ok(addresses)) => addresses,
                Some(Err(ending)) => return over(ending),
            },
        };
        self.stage = ConnectionStage::Dialling(DialAttempts::new(addresses, now));
        Ok(())
    }

    fn dial(
        &mut self,
        token: EventToken,
        shared: &mut BrokerShared,
        now: Instant,
    ) -> Result<(), ConnectionStep> {
        let ConnectionStage::Dialling(dial) = &mut self.stage else { return Ok(()) };
        // From the attempt on as for the relay that may become of it: nothing has to be changed when it is connected.
        let watch =
            |socket: &OwnedFd, number| shared.watch(socket, token.with(EventSource::Dial, number), RELAYED);
        match dial.advance(now, watch) {
            DialProgress::Waits(until) => {
                self.timer = Some(until);
                Err(ConnectionStep::Wait)
            }
            DialProgress::Connected(socket, to, number) => {
                self.connected(socket, to, number, shared);
                Ok(())
            }
            DialProgress::Failed(error) => {
                if let DialTarget::Name(name, _) = &self.target {
                    shared.lookups.doubt(name, now);
                }
                Err(ConnectionStep::Over(ConnectionEnding::End(AttemptEnd::NotConnected(error.to_string()))))
            }
        }
    }

    /// What the destination has said already is among the events of the socket, as what it says later will be.
    fn connected(&mut self, socket: OwnedFd, to: SocketAddr, number: u8, shared: &BrokerShared) {
        let mut side = SocketSide::new(socket);
        side.writable = true;
        self.attempt.dialled = Some(to);
        self.stage = ConnectionStage::Relaying(side, number);
        shared.log.report_begin(&self.attempt);
    }

    fn relay(&mut self, shared: &mut BrokerShared) -> ConnectionStep {
        let ConnectionStage::Relaying(server, _) = &mut self.stage else { return ConnectionStep::Wait };
        let (client, buffers) = (&mut self.client, &mut shared.buffers);
        // What the destination says first: it may open the gate.
        // Where the other way is done, both sockets are closed next, which says all that there is to say.
        self.down.is_last = self.up.is_done();
        let down = self.down.relay_bytes(server, client, GateInput::Server(&mut self.gate), buffers);
        let down = match down {
            Ok(next) => next,
            Err(broken) => return ConnectionStep::Over(ConnectionEnding::of(broken, false)),
        };
        self.up.is_last = self.down.is_done();
        let up = match self.up.relay_bytes(client, server, GateInput::Client(&mut self.gate), buffers) {
            Ok(next) => next,
            Err(broken) => return ConnectionStep::Over(ConnectionEnding::of(broken, true)),
        };
        if self.up.is_done() && (self.down.is_done() || shared.is_draining) {
            return ConnectionStep::Over(ConnectionEnding::End(if self.down.is_done() {
                AttemptEnd::Closed
            } else {
                AttemptEnd::RunEnded
            }));
        }
        if up == RelayNext::Again || down == RelayNext::Again {
            ConnectionStep::Again
        } else {
            ConnectionStep::Wait
        }
    }

    /// Closes both sides as the ending has it, and says how it went.
    pub(crate) fn finish(mut self, ending: ConnectionEnding, now: Instant) -> Attempt {
        self.attempt.server_name = self.gate.server_name().map(str::to_owned);
        self.attempt.sent = self.up.bytes;
        self.attempt.received = self.down.bytes;
        self.attempt.duration = now.duration_since(self.begun);
        let is_clean = matches!(ending, ConnectionEnding::End(AttemptEnd::Closed));
        match ending {
            ConnectionEnding::End(end) => self.attempt.end = Some(end),
            ConnectionEnding::Refused(reason) if self.up.bytes == 0 => {
                self.attempt.verdict = AttemptVerdict::Refused(reason);
            }
            ConnectionEnding::Refused(reason) => self.attempt.verdict = AttemptVerdict::Cut(reason),
        }
        if !is_clean {
            let _ = reset(&self.client.socket);
            if let ConnectionStage::Relaying(server, _) = &self.stage
                && !self.up.is_done()
            {
                let _ = reset(&server.socket);
            }
        }
        self.attempt
    }

    /// Gives back what others can use.
    pub(crate) fn release_buffers(&mut self, shared: &mut BrokerShared) {
        self.up.release_buffers(&mut shared.buffers);
        self.down.release_buffers(&mut shared.buffers);
    }
}

impl ConnectionEnding {
    /// `up`: on the way from the program to the destination.
    fn of(broken: RelayFailure, up: bool) -> Self {
        match (broken, up) {
            (RelayFailure::Refused(reason), _) => Self::Refused(reason),
            (RelayFailure::From, true) | (RelayFailure::To, false) => Self::End(AttemptEnd::ResetByProgram),
            (RelayFailure::From, false) | (RelayFailure::To, true) => {
                Self::End(AttemptEnd::ResetByDestination)
            }
        }
    }
}
