//! One thing that happened in a run.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use skillsandbox_terms::FileOperation;

/// One thing that happened, or several of the same kind, folded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Event {
    /// Its place in the trace, from 0, without gaps.
    pub sequence: u64,
    /// When it happened.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub time: Timestamp,
    /// Microseconds since the run began, by a clock that never goes back.
    pub elapsed_us: u64,
    /// What happened.
    #[serde(flatten)]
    pub kind: EventKind,
    /// The path that a file's or program's path resolves to, if it passes links or is a descriptor.
    #[serde(rename = "leads_to", default, skip_serializing_if = "Option::is_none")]
    pub resolved_path: Option<String>,
    /// Whether it was allowed; absent where nothing was decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<EventVerdict>,
    /// The rule that decided, of the manifest or of the sandbox.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// The process that did it, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<TracedProcess>,
    /// How often, where this event stands for several.
    #[serde(default = "once", skip_serializing_if = "is_once")]
    pub count: u64,
    /// When it was done for the last time, where `count` is not 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_elapsed_us: Option<u64>,
    /// The event that this one says was done again, `count` more times. The two differ in times and process at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeats: Option<u64>,
}

fn once() -> u64 {
    1
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_once(count: &u64) -> bool {
    *count == 1
}

impl Event {
    /// An event. The recorder fills in its sequence number and its times.
    #[must_use]
    pub fn new(kind: EventKind) -> Self {
        Self {
            sequence: 0,
            time: Timestamp::UNIX_EPOCH,
            elapsed_us: 0,
            kind,
            resolved_path: None,
            verdict: None,
            rule: None,
            process: None,
            count: 1,
            last_elapsed_us: None,
            repeats: None,
        }
    }

    /// Whether it was allowed, and by which rule.
    #[must_use]
    pub fn with_verdict(mut self, verdict: EventVerdict, rule: impl Into<Option<String>>) -> Self {
        self.verdict = Some(verdict);
        self.rule = rule.into();
        self
    }

    /// Where its path leads, if elsewhere.
    #[must_use]
    pub fn with_resolved_path(mut self, path: impl Into<Option<String>>) -> Self {
        self.resolved_path = path.into();
        self
    }

    /// Who did it.
    #[must_use]
    pub fn with_process(mut self, process: impl Into<Option<TracedProcess>>) -> Self {
        self.process = process.into();
        self
    }

    /// Whether what was tried took effect. A policy, output and the like are no attempts, and are not prevented.
    #[must_use]
    pub fn prevention(&self) -> Prevention {
        match (&self.kind, self.verdict) {
            // The permissive profile lets a call pass and reports it; a trace that says both has to be read the worse way.
            (EventKind::SyscallRefused { errno: None, .. }, _) => Prevention::NotPrevented,
            // It was allowed and broke off; what had been sent by then was sent. One that was cut is different: what was sent before was what is
            // granted, and what it was cut for was not sent.
            (EventKind::NetConnect(connection), Some(EventVerdict::Failed)) if connection.sent > 0 => {
                Prevention::NotPrevented
            }
            (_, Some(EventVerdict::Unknown)) => Prevention::Unknown,
            (_, Some(EventVerdict::Denied | EventVerdict::Failed))
            | (EventKind::SyscallRefused { .. } | EventKind::ResourceLimitHit { .. }, None) => {
                Prevention::Prevented
            }
            (_, Some(EventVerdict::Allowed) | None) => Prevention::NotPrevented,
        }
    }

    /// How many bytes its texts have, for whoever keeps events waiting.
    #[must_use]
    pub fn text_bytes(&self) -> u64 {
        let mut bytes = 0;
        let mut copy = self.clone();
        crate::format::bounds::each_text(&mut copy, |text| bytes += text.len() as u64);
        bytes
    }

    /// Whether something was tried that the sandbox did not let happen. Never true of a policy.
    #[must_use]
    pub fn is_violation(&self) -> bool {
        self.verdict == Some(EventVerdict::Denied) && !matches!(self.kind, EventKind::Policy { .. })
    }
}

/// What became of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Verdict"))]
#[serde(rename_all = "snake_case")]
pub enum EventVerdict {
    /// It was allowed.
    Allowed,
    /// It was tried, and the sandbox prevented it.
    Denied,
    /// It was allowed, and did not succeed: the file does not exist, the host does not answer.
    Failed,
    /// It was tried, and nobody saw what became of it; the rule says why. It counts neither as prevented nor as allowed.
    Unknown,
}

/// Whether what was tried took effect, as far as that was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Prevention {
    /// It did not: each attempt was refused, or did not succeed.
    Prevented,
    /// It did, or some of it.
    NotPrevented,
    /// Nobody saw it.
    Unknown,
}

impl Prevention {
    /// In words.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Prevented => "prevented",
            Self::NotPrevented => "NOT PREVENTED",
            Self::Unknown => "UNKNOWN WHETHER PREVENTED",
        }
    }
}

/// A process of the run.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Process"))]
#[non_exhaustive]
pub struct TracedProcess {
    /// Its number on the host.
    pub pid: u32,
    /// Its number inside, as it knows itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inner_pid: Option<u32>,
    /// Who started it, by the number on the host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<u32>,
    /// The program it executes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub binary: Option<String>,
}

impl TracedProcess {
    /// A process by its number on the host.
    #[must_use]
    pub fn new(pid: u32, binary: Option<String>) -> Self {
        Self { pid, inner_pid: None, parent: None, binary }
    }
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum EventKind {
    /// The program was started, with every layer in place.
    RunStarted {
        /// The program and its arguments, bounded and redacted.
        command: Vec<String>,
    },
    /// What a layer of the sandbox holds. Nothing was tried.
    Policy {
        /// The layer, or what else: `network`, `environment`, `scan`.
        subject: String,
        /// In words.
        message: String,
        /// Figures, by name: `allowed`, `stripped`, `stripped_secrets`.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        figures: BTreeMap<String, u64>,
    },
    /// A file was opened, changed or removed, or that was tried.
    File {
        /// What was to be done.
        operation: FileOperation,
        /// The file, as it is called inside.
        path: String,
        /// The other file, of those operations that have two.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        to: Option<String>,
    },
    /// A program was executed, or that was tried.
    Exec {
        /// The program.
        path: String,
        /// Its arguments, bounded and redacted.
        argv: Vec<String>,
    },
    /// A name was looked up.
    DnsQuery {
        /// The name; absent where the query was not read.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        /// The resolver that was addressed. The query did not reach it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        server: Option<String>,
    },
    /// Something was connected to, or a datagram was sent.
    NetConnect(NetConnection),
    /// A system call that the profile does not have.
    SyscallRefused {
        /// Its name.
        name: String,
        /// Why the profile does not have it.
        reason: String,
        /// The error that the caller got; absent where the call was allowed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        errno: Option<i32>,
    },
    /// A line of standard output.
    Stdout(OutputLine),
    /// A line of standard error.
    Stderr(OutputLine),
    /// A limit was reached.
    ResourceLimitHit {
        /// Which one: `memory`, `processes`, `cpu`, `cpu_time`, `timeout`, `output`.
        limit: String,
        /// What held it.
        mechanism: String,
    },
    /// Events that were not recorded, because too many came at once.
    Lost {
        /// Where: `observer`, `sink`.
        at: String,
    },
    /// The program has ended, and every process with it.
    RunEnded {
        /// Its exit code, if it ended by itself.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        exit_code: Option<i32>,
        /// The signal, if one ended it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signal: Option<i32>,
        /// What ended the run: `itself`, `timeout`, `memory`, `processes`, `stopped`, `unobserved`, `uncovered`, or `refused` where it did not start.
        end: String,
        /// Why it did not start.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<String>,
    },
}

/// A connection, or datagrams to one destination.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Connection"))]
#[non_exhaustive]
pub struct NetConnection {
    /// The name that was meant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The address that the program used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// The port.
    pub port: u16,
    /// `tcp` or `udp`.
    pub transport: String,
    /// The server that TLS named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_name: Option<String>,
    /// The address that was connected to on its behalf.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dialled: Option<String>,
    /// Bytes to the destination.
    #[serde(default)]
    pub sent: u64,
    /// Bytes from it.
    #[serde(default)]
    pub received: u64,
    /// How long it took, in microseconds. The event is written when the connection ends.
    #[serde(default)]
    pub duration_us: u64,
    /// How it ended, or why it was refused, in words: `closed`, `not_granted`, `other_server_name`, ...
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What the resolver or the kernel said, where the name was not resolved or no connection was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// A line of output: text, with bytes that are none as `\xNN` and a backslash as `\\`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Line"))]
#[non_exhaustive]
pub struct OutputLine {
    /// The line, without its end, redacted.
    pub text: String,
    /// Bytes that were left out because the line is too long.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub omitted: u64,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl OutputLine {
    /// A line that is text already.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), omitted: 0 }
    }
}
