//! What a program says to a destination before it is passed on.
//!
//! A gate stands between a program and the destination that it was connected to. It is shown what the program says, changes
//! nothing, decrypts nothing, and says how many bytes may be sent on. It does no input or output of its own.
//!
//! Where what comes next is wrong and something right came before it, the right part passes first and the refusal is given when the
//! gate is asked again: what passes never depends on how the bytes were cut into pieces. So it is asked again as long as something
//! passed, with what did not pass, even if that is nothing.

#[cfg(fuzzing)]
pub(crate) mod hostile;
pub(crate) mod http;
#[cfg(test)]
mod tests;
pub(crate) mod tls;

use crate::attempt::RefusalReason;
use skillsandbox_terms::Protocol;

/// How far the bytes that a gate was shown may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct GatePassage {
    /// So many of the bytes may be sent on. They are not shown again; the others are, with those that come after them.
    pub(crate) bytes: usize,
    /// Whatever comes from now on, in either direction, need not be shown.
    pub(crate) open: bool,
}

/// The first byte of TLS, which no request of HTTP begins with.
const TLS_BEGINS: u8 = 22;

/// Most bytes that a gate may hold back.
pub(crate) const MOST_HELD: usize = 64 << 10;

/// Most bytes of a name that is told of in a refusal: no host name is longer.
const MOST_TOLD: usize = 255;

pub(crate) type GateResult = Result<GatePassage, RefusalReason>;

/// What stands between a program and a destination.
#[derive(Debug)]
pub(crate) enum ProtocolGate {
    /// Everything passes.
    Open,
    /// TLS, or whatever is not TLS.
    Tls(tls::TlsGate),
    /// HTTP/1, every request of it.
    Http(http::HttpGate),
    /// TLS or HTTP/1, both of which were granted on one port: the first byte tells.
    Either(String, u16),
}

impl ProtocolGate {
    /// The gate for a name whose rules allow these protocols.
    pub(crate) fn new(protocols: impl Iterator<Item = Protocol>, name: &str, port: u16) -> Self {
        let (mut tcp, mut https, mut http) = (false, false, false);
        for protocol in protocols {
            match protocol {
                Protocol::Tcp => tcp = true,
                // Grants nothing over TCP.
                Protocol::Udp => {}
                Protocol::Https => https = true,
                Protocol::Http => http = true,
            }
        }
        match (tcp, https, http) {
            (false, true, true) => Self::Either(name.to_owned(), port),
            (false, false, true) => Self::Http(http::HttpGate::new(name.to_owned(), port)),
            // Without any rule nothing is let through here at all; were it, then the strictest.
            (false, true | false, false) => Self::Tls(tls::TlsGate::new(Some(name.to_owned()), true)),
            (true, _, _) => Self::Tls(tls::TlsGate::new(Some(name.to_owned()), false)),
        }
    }

    /// Everything from the program that was not yet let pass, in order.
    pub(crate) fn judge_client(&mut self, bytes: &[u8]) -> GateResult {
        if let Self::Either(name, port) = self {
            let Some(first) = bytes.first() else { return Ok(GatePassage { bytes: 0, open: false }) };
            let (name, port) = (std::mem::take(name), *port);
            *self = if *first == TLS_BEGINS {
                Self::Tls(tls::TlsGate::new(Some(name), true))
            } else {
                Self::Http(http::HttpGate::new(name, port))
            };
        }
        match self {
            Self::Open => Ok(GatePassage { bytes: bytes.len(), open: true }),
            Self::Either(..) => Ok(GatePassage { bytes: 0, open: false }),
            Self::Tls(gate) => gate.judge_client(bytes),
            Self::Http(gate) => gate.judge_client(bytes),
        }
    }

    /// What the destination says, in order, as it passes. It is never held back.
    pub(crate) fn observe_server(&mut self, bytes: &[u8]) {
        match self {
            Self::Open | Self::Either(..) => {}
            Self::Tls(gate) => gate.observe_server(bytes),
            Self::Http(gate) => gate.observe_server(bytes),
        }
    }

    /// The server name that was sent, for the record.
    pub(crate) fn server_name(&self) -> Option<&str> {
        match self {
            Self::Tls(gate) => gate.server_name(),
            Self::Open | Self::Http(_) | Self::Either(..) => None,
        }
    }

    /// Whether everything may now pass unseen in both directions.
    pub(crate) fn is_open(&self) -> bool {
        match self {
            Self::Open => true,
            Self::Either(..) => false,
            Self::Tls(gate) => gate.is_open(),
            Self::Http(gate) => gate.is_open(),
        }
    }
}

/// What becomes of the next bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum GateStep {
    /// So many pass, at least one, and then the next step is taken.
    Pass(usize),
    /// More bytes, or the answer of the server, are needed.
    Wait,
    /// Everything passes from here on.
    Open,
}

/// What stays for good.
#[derive(Debug, Clone, PartialEq, Eq)]
enum GateDecision {
    Open,
    Refused(RefusalReason),
}

/// A gate that goes from step to step. Each step depends only on the bytes from where it begins, never on where they end.
trait StepwiseGate {
    fn step(&mut self, bytes: &[u8]) -> Result<GateStep, RefusalReason>;

    fn decision(&mut self) -> &mut Option<GateDecision>;

    fn judge(&mut self, bytes: &[u8]) -> GateResult {
        let mut passed = 0;
        loop {
            match self.decision() {
                Some(GateDecision::Open) => return Ok(GatePassage { bytes: bytes.len(), open: true }),
                Some(GateDecision::Refused(reason)) if passed == 0 => return Err(reason.clone()),
                Some(GateDecision::Refused(_)) => return Ok(GatePassage { bytes: passed, open: false }),
                None => {}
            }
            match self.step(bytes.get(passed..).unwrap_or_default()) {
                Ok(GateStep::Pass(count)) => passed += count,
                Ok(GateStep::Wait) => return Ok(GatePassage { bytes: passed, open: false }),
                Ok(GateStep::Open) => *self.decision() = Some(GateDecision::Open),
                Err(reason) => *self.decision() = Some(GateDecision::Refused(reason)),
            }
        }
    }
}

/// A name for a refusal, cut to a length that any log can bear.
fn shorten_name(name: &[u8]) -> String {
    String::from_utf8_lossy(name.get(..MOST_TOLD).unwrap_or(name)).into_owned()
}
