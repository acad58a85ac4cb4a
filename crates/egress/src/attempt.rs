//! What was tried, and what came of it.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, SystemTime};

use serde::Serialize;
use skillsandbox_text::escape_line;

use skillsandbox_terms::Transport;

/// One attempt to look up a name, to connect, or to send a datagram.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Attempt {
    /// When it began.
    pub at: SystemTime,
    /// Who it was, where that is known.
    pub process: Option<CallingProcess>,
    /// What was tried.
    pub action: AttemptAction,
    /// The name that was meant, where one was.
    pub name: Option<String>,
    /// The address that the program used: for a granted name, the one it was told.
    pub address: Option<IpAddr>,
    /// The port.
    pub port: u16,
    /// Whether it was let through.
    pub verdict: AttemptVerdict,
    /// The server that TLS named, where it was looked at.
    pub server_name: Option<String>,
    /// The address that was connected to on its behalf.
    pub dialled: Option<SocketAddr>,
    /// Bytes from the program to the destination.
    pub sent: u64,
    /// Bytes from the destination to the program.
    pub received: u64,
    /// How long it took.
    pub duration: Duration,
    /// How it ended; `None` while it goes on, and where nothing began.
    pub end: Option<AttemptEnd>,
    /// How often the same was tried.
    pub count: u64,
}

impl Attempt {
    /// An attempt that begins now.
    #[must_use]
    pub fn new(
        action: AttemptAction,
        name: Option<String>,
        to: SocketAddr,
        process: Option<CallingProcess>,
        verdict: AttemptVerdict,
    ) -> Self {
        Self {
            at: SystemTime::now(),
            process,
            action,
            name,
            address: Some(to.ip()),
            port: to.port(),
            verdict,
            server_name: None,
            dialled: None,
            sent: 0,
            received: 0,
            duration: Duration::ZERO,
            end: None,
            count: 1,
        }
    }
}

/// What was tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AttemptAction {
    /// To look up a name.
    LookUp,
    /// To connect, or to send.
    Reach(Transport),
}

/// A process that tried something.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[non_exhaustive]
pub struct CallingProcess {
    /// Its number on the host.
    pub pid: u32,
    /// The program it executed, where that could be read.
    pub binary: Option<String>,
}

impl CallingProcess {
    /// A process by its number on the host.
    #[must_use]
    pub fn new(pid: u32, binary: Option<String>) -> Self {
        Self { pid, binary }
    }
}

/// Whether an attempt was let through.
///
/// A closed set: a new variant is a compile error in every `match` over it, so that none is let through unnoticed.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AttemptVerdict {
    /// By this rule, in its own words.
    Allowed(String),
    /// For this reason. Nothing that the program said was sent to the destination; where anything may be spoken (`tcp`), it may
    /// have been connected to.
    Refused(RefusalReason),
    /// For this reason, after it had begun: what came before is in the counts of bytes.
    Cut(RefusalReason),
}

/// Why something was refused.
///
/// A closed set: a new variant is a compile error in every `match` over it, so that none is let through unnoticed.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RefusalReason {
    /// No rule grants this name, address, port or protocol.
    NotGranted,
    /// Below a granted `*.` name, but it looks like encoded data and not like a host name.
    LooksLikeData,
    /// Below a granted `*.` name, but too many different ones were asked for.
    TooManyNames,
    /// The name belongs to an address of a kind that only a range of addresses can grant.
    Special {
        /// The address.
        address: IpAddr,
        /// What it is: "a loopback address".
        kind: &'static str,
    },
    /// TLS was granted, and this is something else.
    NotTls,
    /// TLS that names no server.
    NoServerName,
    /// TLS that names another server.
    OtherServerName(String),
    /// TLS whose server name may be hidden (Encrypted Client Hello).
    HiddenServerName,
    /// The beginning of TLS, but not as the standard has it, or too long.
    BadHello,
    /// HTTP was granted, and this is something else, or cannot be read in one way only.
    NotHttp,
    /// A request without a host, or with several.
    NoHost,
    /// A request for another host.
    OtherHost(String),
    /// HTTP/2 without TLS, of which requests are not looked at.
    Http2,
}

/// How something that was let through ended.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AttemptEnd {
    /// Both sides had said all they had to say.
    Closed,
    /// The program broke it off.
    ResetByProgram,
    /// The destination broke it off.
    ResetByDestination,
    /// The name could not be resolved; what the resolver said.
    NotResolved(String),
    /// No connection could be made; what the kernel said.
    NotConnected(String),
    /// Nothing came for a while (datagrams).
    Idle,
    /// The run ended.
    RunEnded,
}

impl Attempt {
    /// What was meant, as a person would write it: `api.weather.test:443`.
    #[must_use]
    pub fn target(&self) -> String {
        let is_lookup = self.action == AttemptAction::LookUp;
        match (&self.name, self.address) {
            (Some(name), _) if is_lookup => name.clone(),
            (None, Some(address)) if is_lookup => format!("a name, asked of {address}"),
            (Some(name), _) => format!("{name}:{}", self.port),
            (None, Some(address)) => SocketAddr::new(address, self.port).to_string(),
            (None, None) => format!("port {}", self.port),
        }
    }

    /// What would grant it, as an entry of `permissions.network.egress`; `None` where it is granted, or where a grant would not
    /// help.
    #[must_use]
    pub fn grant(&self) -> Option<String> {
        let (AttemptVerdict::Refused(reason) | AttemptVerdict::Cut(reason)) = &self.verdict else {
            return None;
        };
        let udp = if self.action == AttemptAction::Reach(Transport::Udp) { ", protocol: udp" } else { "" };
        let port = if self.action == AttemptAction::LookUp { 443 } else { self.port };
        match (reason, &self.name, self.address) {
            (RefusalReason::NotGranted, Some(name), _) => {
                Some(format!("{{ domain: {name}, ports: [{port}]{udp} }}"))
            }
            (RefusalReason::NotGranted, None, Some(address)) if self.action != AttemptAction::LookUp => {
                Some(format!("{{ cidr: {address}, ports: [{port}]{udp} }}"))
            }
            (RefusalReason::Special { address, .. }, ..) => {
                Some(format!("{{ cidr: {address}, ports: [{port}]{udp} }}"))
            }
            _ => None,
        }
    }
}

/// One line for a person: `blocked: webhook.test (not in permissions.network.egress)`.
impl fmt::Display for Attempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let target = self.target();
        match &self.verdict {
            AttemptVerdict::Refused(reason) => write!(f, "blocked: {target} ({reason})")?,
            AttemptVerdict::Cut(reason) => write!(f, "cut off: {target} ({reason})")?,
            AttemptVerdict::Allowed(_) if self.action == AttemptAction::LookUp => {
                write!(f, "looked up: {target}")?;
            }
            AttemptVerdict::Allowed(rule) => write!(f, "allowed: {target} (by {rule})")?,
        }
        if let Some(dialled) = self.dialled {
            write!(f, ", at {dialled}: {} bytes sent, {} received", self.sent, self.received)?;
        }
        match &self.end {
            None | Some(AttemptEnd::Closed | AttemptEnd::Idle) => {}
            Some(AttemptEnd::ResetByProgram) => f.write_str(", reset by the program")?,
            Some(AttemptEnd::ResetByDestination) => f.write_str(", reset by the destination")?,
            Some(AttemptEnd::NotResolved(error)) => write!(f, ", not resolved: {error}")?,
            Some(AttemptEnd::NotConnected(error)) => write!(f, ", not connected: {error}")?,
            Some(AttemptEnd::RunEnded) => f.write_str(", until the end of the run")?,
        }
        if self.count > 1 {
            write!(f, ", {} times", self.count)?;
        }
        if let Some(CallingProcess { pid, binary }) = &self.process {
            // A program may have any name, also one that looks like another line of this.
            write!(f, " [{} {pid}]", escape_line(binary.as_deref().unwrap_or("?")))?;
        }
        Ok(())
    }
}

impl RefusalReason {
    /// What to do about it, where something can be done; for a person, or for the model that wrote the program.
    #[must_use]
    pub fn advice(&self) -> &'static str {
        match self {
            Self::NotGranted => "grant it in permissions.network.egress",
            Self::LooksLikeData | Self::TooManyNames => "grant the names themselves instead of a wildcard",
            Self::Special { .. } => {
                "grant the address as a `cidr` in permissions.network.egress, with the port"
            }
            Self::NotTls | Self::Http2 => "grant the name with `protocol: tcp`",
            Self::NoServerName | Self::OtherServerName(_) | Self::BadHello => {
                "connect to the name that is wanted, and let TLS send that name"
            }
            Self::HiddenServerName => "switch Encrypted Client Hello off in the client",
            Self::NotHttp => "grant the name with `protocol: tcp`, or `https` for TLS",
            Self::NoHost | Self::OtherHost(_) => {
                "connect to the name that is wanted, and send it as the host"
            }
        }
    }
}

impl fmt::Display for RefusalReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotGranted => f.write_str("not in permissions.network.egress"),
            Self::LooksLikeData => {
                f.write_str("below a granted wildcard, but it looks like data and not like a host name")
            }
            Self::TooManyNames => f.write_str("too many different names below a granted wildcard"),
            Self::Special { address, kind } => write!(f, "the name belongs to {address}, {kind}"),
            Self::NotTls => f.write_str("granted for https, but this is not TLS"),
            Self::NoServerName => f.write_str("TLS without a server name"),
            Self::OtherServerName(name) => {
                write!(f, "TLS for another server, {}: domain fronting", escape_line(name))
            }
            Self::HiddenServerName => f.write_str("TLS with a server name that may be hidden (ECH)"),
            Self::BadHello => f.write_str("TLS with an unreadable ClientHello"),
            Self::NotHttp => f.write_str("granted for http, but this is not unambiguous HTTP/1"),
            Self::NoHost => f.write_str("HTTP without exactly one host"),
            Self::OtherHost(name) => {
                write!(f, "HTTP for another host, {}: domain fronting", escape_line(name))
            }
            Self::Http2 => f.write_str("HTTP/2 without TLS"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_cannot_write_lines_by_its_name() {
        let process = CallingProcess::new(1, Some("/tmp/x\nallowed: all.test\u{1b}[2K".into()));
        let (to, verdict) =
            ("192.0.2.1:443".parse().unwrap(), AttemptVerdict::Refused(RefusalReason::NotGranted));
        let attempt = Attempt::new(AttemptAction::Reach(Transport::Tcp), None, to, Some(process), verdict);
        assert!(!attempt.to_string().chars().any(char::is_control), "{attempt:?}");
    }
}
