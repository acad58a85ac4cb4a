//! TLS, of which only the beginning is looked at: which server is meant.
//!
//! Nothing passes before the first `ClientHello` is complete and names the right server. A server may then ask for another one
//! (`HelloRetryRequest`), which could name another server; so every record of the client is looked at, and every `ClientHello` is
//! judged like the first, until the server has given its answer and the client has gone over to encryption. Old servers took a
//! new `ClientHello` even after their answer (server gated cryptography).
//!
//! Not looked at is what is encrypted: a renegotiation (TLS 1.2), and the host of an HTTP request within TLS.

mod answer;
mod hello;
mod record;

use crate::attempt::RefusalReason;

use super::{GateDecision, GateResult, GateStep, StepwiseGate, shorten_name};
use answer::ServerAnswer;
use record::{
    ALERT, APPLICATION_DATA, CHANGE_CIPHER_SPEC, CLIENT_HELLO, HANDSHAKE, HEADER, HEARTBEAT,
    HandshakeMessages, MessageGathering, RecordHeader,
};

/// Lets TLS pass that names the server which the connection was made for.
#[derive(Debug)]
pub(crate) struct TlsGate {
    name: Option<String>,
    required: bool,
    settled: Option<GateDecision>,
    /// Whether a `ClientHello` was let pass.
    greeted: bool,
    gathering: MessageGathering,
    /// Bytes of the record that is passing.
    left: usize,
    /// Whether that record holds handshake messages.
    in_messages: bool,
    messages: HandshakeMessages,
    answer: ServerAnswer,
    server_name: Option<String>,
}

impl TlsGate {
    /// `name` is what the connection was made for, lower case ASCII without a dot at its end; `None` for a connection to an
    /// address, of which nothing is refused. With `required`, it must be TLS that names this server; otherwise it may be
    /// anything, but TLS must not name another server.
    pub(crate) fn new(name: Option<String>, required: bool) -> Self {
        Self {
            name,
            required,
            settled: None,
            greeted: false,
            gathering: MessageGathering::default(),
            left: 0,
            in_messages: false,
            messages: HandshakeMessages::default(),
            answer: ServerAnswer::new(),
            server_name: None,
        }
    }

    /// Everything from the client that was not yet let pass, in order.
    pub(crate) fn judge_client(&mut self, bytes: &[u8]) -> GateResult {
        self.judge(bytes)
    }

    /// What the server says, in order, as it passes; never held back.
    pub(crate) fn observe_server(&mut self, bytes: &[u8]) {
        if self.greeted {
            self.answer.read(bytes);
        } else if !bytes.is_empty() {
            // This is not an answer, and what follows cannot be told from it.
            self.answer.ignore();
        }
    }

    /// The server name that was sent, for the record.
    pub(crate) fn server_name(&self) -> Option<&str> {
        self.server_name.as_deref()
    }

    /// Whether everything may now pass unseen in both directions.
    pub(crate) fn is_open(&self) -> bool {
        self.settled == Some(GateDecision::Open)
    }

    /// The beginning of the connection, up to the end of the first `ClientHello`.
    fn judge_greeting(&mut self, bytes: &[u8]) -> Result<GateStep, RefusalReason> {
        match TlsOpening::of(bytes) {
            TlsOpening::Undecided => Ok(GateStep::Wait),
            TlsOpening::Tls => self.hello(bytes),
            TlsOpening::Disguised | TlsOpening::Other if self.required => Err(RefusalReason::NotTls),
            TlsOpening::Disguised => Err(RefusalReason::BadHello),
            TlsOpening::Other => Ok(GateStep::Open),
        }
    }

    /// A `ClientHello` that begins here, with a record.
    fn hello(&mut self, bytes: &[u8]) -> Result<GateStep, RefusalReason> {
        let end = match self.gathering.gather(bytes) {
            Ok(Some(end)) => end,
            Ok(None) => return Ok(GateStep::Wait),
            Err(record::BadHello) => return Err(RefusalReason::BadHello),
        };
        self.gathering = MessageGathering::default();
        let body = record::body(bytes.get(..end).unwrap_or_default());
        self.judge_hello(&body)?;
        self.greeted = true;
        Ok(GateStep::Pass(end))
    }

    fn judge_hello(&mut self, body: &[u8]) -> Result<(), RefusalReason> {
        let hello = hello::read(body).ok_or(RefusalReason::BadHello)?;
        self.server_name.clone_from(&hello.server_name);
        if hello.hides {
            return Err(RefusalReason::HiddenServerName);
        }
        match (hello.server_name, &self.name) {
            (None, _) if self.required => Err(RefusalReason::NoServerName),
            // A dot at the end would make it another name for some servers, and RFC 6066 forbids it.
            (Some(sent), Some(name)) if !sent.eq_ignore_ascii_case(name) => {
                Err(RefusalReason::OtherServerName(shorten_name(sent.as_bytes())))
            }
            _ => Ok(()),
        }
    }

    /// A record after a `ClientHello`.
    fn judge_record(&mut self, bytes: &[u8]) -> Result<GateStep, RefusalReason> {
        let Some(header) = bytes.first_chunk::<HEADER>() else { return Ok(GateStep::Wait) };
        let header = RecordHeader::read(*header).ok_or(RefusalReason::BadHello)?;
        match header.kind {
            // From here on the client encrypts, and the server takes nothing else from it.
            CHANGE_CIPHER_SPEC | APPLICATION_DATA if self.answer.is_final() => return Ok(GateStep::Open),
            // What a client may send before it knows the answer: early data, and what calms middle boxes.
            CHANGE_CIPHER_SPEC | APPLICATION_DATA | ALERT => self.in_messages = false,
            HANDSHAKE if self.messages.is_between() => match bytes.get(HEADER) {
                None => return Ok(GateStep::Wait),
                Some(&CLIENT_HELLO) => return self.hello(bytes),
                Some(_) if self.answer.is_final() => self.in_messages = true,
                Some(_) => return Err(RefusalReason::BadHello),
            },
            HANDSHAKE => self.in_messages = true,
            _ => return Err(RefusalReason::BadHello),
        }
        self.left = header.len;
        Ok(GateStep::Pass(HEADER))
    }

    /// The body of a record that passes as it comes.
    fn body(&mut self, bytes: &[u8]) -> Result<GateStep, RefusalReason> {
        let body = bytes.get(..self.left.min(bytes.len())).unwrap_or_default();
        if body.is_empty() {
            return Ok(GateStep::Wait);
        }
        let count = if self.in_messages { self.messages.before_hello(body) } else { body.len() };
        if count == 0 {
            // A ClientHello in the middle of a record: no client does that.
            return Err(RefusalReason::BadHello);
        }
        self.left -= count;
        Ok(GateStep::Pass(count))
    }
}

impl StepwiseGate for TlsGate {
    fn step(&mut self, bytes: &[u8]) -> Result<GateStep, RefusalReason> {
        let step = if !self.greeted {
            self.judge_greeting(bytes)
        } else if self.left > 0 {
            self.body(bytes)
        } else {
            self.judge_record(bytes)
        };
        match step {
            // A connection to an address was granted by its address. The name is only noted.
            Ok(GateStep::Pass(_)) | Err(_) if self.name.is_none() => Ok(GateStep::Open),
            step => step,
        }
    }

    fn decision(&mut self) -> &mut Option<GateDecision> {
        &mut self.settled
    }
}

/// What a connection begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TlsOpening {
    Undecided,
    /// A handshake record: a `ClientHello`, or bad.
    Tls,
    /// What should not begin TLS, but does for some servers.
    Disguised,
    Other,
}

impl TlsOpening {
    fn of(bytes: &[u8]) -> Self {
        let (Some(&kind), major) = (bytes.first(), bytes.get(1).copied()) else { return Self::Undecided };
        if !(CHANGE_CIPHER_SPEC..=HEARTBEAT).contains(&kind) {
            return Self::Other;
        }
        match major {
            None => return Self::Undecided,
            Some(3) => {}
            // Go takes any version below 0x1000.
            Some(major) if major < 0x10 => {}
            Some(_) => return Self::Other,
        }
        let Some(&[_, major, _, high, low]) = bytes.first_chunk::<HEADER>() else { return Self::Undecided };
        let len = u16::from_be_bytes([high, low]);
        let first = bytes.get(HEADER);
        match (kind, major) {
            (HANDSHAKE, 3) if len == 0 => Self::Tls,
            (HANDSHAKE, 3) => match first {
                None => Self::Undecided,
                Some(&CLIENT_HELLO) => Self::Tls,
                Some(_) => Self::Disguised,
            },
            (HANDSHAKE, _) if len == 0 => Self::Disguised,
            (HANDSHAKE, _) => match first {
                None => Self::Undecided,
                Some(&CLIENT_HELLO) => Self::Disguised,
                Some(_) => Self::Other,
            },
            // Warnings and empty records are skipped by some servers, and a ClientHello may follow.
            (_, 3) => Self::Disguised,
            _ if len <= 2 => Self::Disguised,
            _ => Self::Other,
        }
    }
}
