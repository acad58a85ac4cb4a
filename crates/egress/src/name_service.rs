//! Names, asked for over UDP and TCP.

use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::event::epoll::EventFlags;
use rustix::net::{RecvFlags, SendFlags};

use crate::attempt::{Attempt, AttemptAction, AttemptVerdict};
use crate::broker_loop::{BrokerShared, canonical_address};
use crate::dns::answer::{DnsQuestion, DnsReply, DnsTransport, answer};
use crate::event_token::{EventSource, EventToken, SlotKey, SlotTable};
use crate::rule::normalise_name;
use skillsandbox_terms::Transport;

/// Connections that may ask at a time; another one ends the oldest.
const MOST: usize = 32;

/// How long a connection may say nothing.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Answers one question, and writes down that it was asked.
pub(crate) fn answer_query(
    packet: &[u8],
    asked: SocketAddr,
    over: DnsTransport,
    shared: &BrokerShared,
    now: Instant,
) -> Option<Vec<u8>> {
    let DnsReply { reply, question } = answer(&mut shared.control.names(), packet, over)?;
    if let Some(question) = question {
        let transport = if over == DnsTransport::Tcp { Transport::Tcp } else { Transport::Udp };
        let caller = shared.find_caller(asked, transport, now);
        shared.log.record(lookup_attempt(question, asked, shared, caller));
    }
    Some(reply)
}

fn lookup_attempt(
    question: DnsQuestion,
    asked: SocketAddr,
    shared: &BrokerShared,
    caller: Option<crate::attempt::CallingProcess>,
) -> Attempt {
    let verdict = if let Some(reason) = question.refused {
        AttemptVerdict::Refused(reason)
    } else {
        let name = normalise_name(&question.name).unwrap_or_default();
        let rule = shared.policy.rules.iter().find(|rule| rule.grants_name(&name));
        AttemptVerdict::Allowed(rule.map(ToString::to_string).unwrap_or_default())
    };
    Attempt::new(AttemptAction::LookUp, Some(question.name), asked, caller, verdict)
}

/// Connections over which names are asked for.
#[derive(Debug)]
pub(crate) struct NameStreams(SlotTable<NameStream>);

#[derive(Debug)]
struct NameStream {
    socket: OwnedFd,
    asked: SocketAddr,
    /// What was said of the next question.
    buffered: Vec<u8>,
    until: Instant,
}

impl NameStreams {
    pub(crate) fn new() -> Self {
        Self(SlotTable::new())
    }

    pub(crate) fn accept(&mut self, socket: OwnedFd, shared: &mut BrokerShared, now: Instant) {
        let Ok(Ok(asked)) = rustix::net::getsockname(&socket).map(SocketAddr::try_from) else { return };
        if self.0.len() >= MOST {
            let oldest =
                self.0.keys().into_iter().min_by_key(|key| self.0.get_mut(*key).map(|one| one.until));
            oldest.map(|key| self.0.remove(key));
        }
        let stream = NameStream {
            socket,
            asked: canonical_address(asked),
            buffered: Vec::new(),
            until: now + TIMEOUT,
        };
        let key = self.0.insert(stream);
        let Some(stream) = self.0.get_mut(key) else { return };
        if shared
            .watch(&stream.socket, EventToken::new(EventSource::NameStream, key), EventFlags::IN)
            .is_err()
        {
            self.0.remove(key);
        }
    }

    pub(crate) fn serve(&mut self, key: SlotKey, shared: &mut BrokerShared, now: Instant) {
        let Some(stream) = self.0.get_mut(key) else { return };
        if stream.serve(shared, now).is_none() {
            self.0.remove(key);
        }
    }

    pub(crate) fn next(&mut self) -> Option<Instant> {
        self.0.keys().into_iter().filter_map(|key| self.0.get_mut(key).map(|one| one.until)).min()
    }

    /// Ends those that have been silent for too long.
    pub(crate) fn end_idle(&mut self, now: Instant) {
        if self.0.len() == 0 {
            return;
        }
        for key in self.0.keys() {
            if self.0.get_mut(key).is_some_and(|one| one.until <= now) {
                self.0.remove(key);
            }
        }
    }
}

impl NameStream {
    /// `None` at its end.
    fn serve(&mut self, shared: &mut BrokerShared, now: Instant) -> Option<()> {
        let received = rustix::net::recv(&self.socket, &mut *shared.buffers.scratch, RecvFlags::DONTWAIT);
        let count = match received {
            Ok((_, 0)) => return None,
            Ok((_, count)) => count,
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => return Some(()),
            Err(_) => return None,
        };
        self.buffered.extend_from_slice(shared.buffers.scratch.get(..count)?);
        self.until = now + TIMEOUT;
        // Each question has its length before it.
        while let Some((length, rest)) = self.buffered.split_first_chunk::<2>() {
            let length = usize::from(u16::from_be_bytes(*length));
            let Some(question) = rest.get(..length) else { break };
            let reply = answer_query(question, self.asked, DnsTransport::Tcp, shared, now)?;
            let mut framed = u16::try_from(reply.len()).ok()?.to_be_bytes().to_vec();
            framed.extend_from_slice(&reply);
            let sent = rustix::net::send(&self.socket, &framed, SendFlags::DONTWAIT | SendFlags::NOSIGNAL);
            // A client that does not read its answers gets no more of them.
            sent.ok().filter(|sent| *sent == framed.len())?;
            self.buffered.drain(..length + 2);
        }
        Some(())
    }
}
