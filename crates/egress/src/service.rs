//! Names, asked for over UDP and TCP.

use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::event::epoll::EventFlags;
use rustix::net::{RecvFlags, SendFlags};

use crate::attempt::{Action, Attempt, Verdict};
use crate::dns::answer::{Answered, Over, Question, answer};
use crate::engine::{Shared, canonical};
use crate::rule::{Transport, normalised};
use crate::token::{Kind, Place, Places, Token};

/// Connections that may ask at a time; another one ends the oldest.
const MOST: usize = 32;

/// How long a connection may say nothing.
const PATIENCE: Duration = Duration::from_secs(10);

/// Answers one question, and writes down that it was asked.
pub(crate) fn reply(
    packet: &[u8],
    asked: SocketAddr,
    over: Over,
    shared: &Shared,
    now: Instant,
) -> Option<Vec<u8>> {
    let Answered { reply, question } = answer(&mut shared.control.names(), packet, over)?;
    if let Some(question) = question {
        let transport = if over == Over::Tcp { Transport::Tcp } else { Transport::Udp };
        let who = shared.who(asked, transport, now);
        shared.ledger.note(noted(question, asked, shared, who));
    }
    Some(reply)
}

fn noted(
    question: Question,
    asked: SocketAddr,
    shared: &Shared,
    who: Option<crate::attempt::Process>,
) -> Attempt {
    let verdict = if let Some(reason) = question.refused {
        Verdict::Refused(reason)
    } else {
        let name = normalised(&question.name).unwrap_or_default();
        let rule = shared.policy.rules.iter().find(|rule| rule.names(&name));
        Verdict::Allowed(rule.map(ToString::to_string).unwrap_or_default())
    };
    Attempt::new(Action::LookUp, Some(question.name), asked, who, verdict)
}

/// Connections over which names are asked for.
#[derive(Debug)]
pub(crate) struct NameStreams(Places<NameStream>);

#[derive(Debug)]
struct NameStream {
    socket: OwnedFd,
    asked: SocketAddr,
    /// What was said of the next question.
    heard: Vec<u8>,
    until: Instant,
}

impl NameStreams {
    pub(crate) fn new() -> Self {
        Self(Places::new())
    }

    pub(crate) fn accept(&mut self, socket: OwnedFd, shared: &mut Shared, now: Instant) {
        let Ok(Ok(asked)) = rustix::net::getsockname(&socket).map(SocketAddr::try_from) else { return };
        if self.0.len() >= MOST {
            let oldest =
                self.0.taken().into_iter().min_by_key(|place| self.0.get_mut(*place).map(|one| one.until));
            oldest.map(|place| self.0.remove(place));
        }
        let stream = NameStream { socket, asked: canonical(asked), heard: Vec::new(), until: now + PATIENCE };
        let place = self.0.insert(stream);
        let Some(stream) = self.0.get_mut(place) else { return };
        if shared.watch(&stream.socket, Token::new(Kind::NameStream, place), EventFlags::IN).is_err() {
            self.0.remove(place);
        }
    }

    pub(crate) fn serve(&mut self, place: Place, shared: &mut Shared, now: Instant) {
        let Some(stream) = self.0.get_mut(place) else { return };
        if stream.serve(shared, now).is_none() {
            self.0.remove(place);
        }
    }

    pub(crate) fn next(&mut self) -> Option<Instant> {
        self.0.taken().into_iter().filter_map(|place| self.0.get_mut(place).map(|one| one.until)).min()
    }

    /// Ends those that have been silent for too long.
    pub(crate) fn sweep(&mut self, now: Instant) {
        if self.0.len() == 0 {
            return;
        }
        for place in self.0.taken() {
            if self.0.get_mut(place).is_some_and(|one| one.until <= now) {
                self.0.remove(place);
            }
        }
    }
}

impl NameStream {
    /// `None` at its end.
    fn serve(&mut self, shared: &mut Shared, now: Instant) -> Option<()> {
        let received = rustix::net::recv(&self.socket, &mut *shared.bench.scratch, RecvFlags::DONTWAIT);
        let count = match received {
            Ok((_, 0)) => return None,
            Ok((_, count)) => count,
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => return Some(()),
            Err(_) => return None,
        };
        self.heard.extend_from_slice(shared.bench.scratch.get(..count)?);
        self.until = now + PATIENCE;
        // Each question has its length before it.
        while let Some((length, rest)) = self.heard.split_first_chunk::<2>() {
            let length = usize::from(u16::from_be_bytes(*length));
            let Some(question) = rest.get(..length) else { break };
            let reply = reply(question, self.asked, Over::Tcp, shared, now)?;
            let mut framed = u16::try_from(reply.len()).ok()?.to_be_bytes().to_vec();
            framed.extend_from_slice(&reply);
            let sent = rustix::net::send(&self.socket, &framed, SendFlags::DONTWAIT | SendFlags::NOSIGNAL);
            // Whoever does not read answers gets no more of them.
            sent.ok().filter(|sent| *sent == framed.len())?;
            self.heard.drain(..length + 2);
        }
        Some(())
    }
}
