//! How a run ended.

use std::time::Duration;

use serde::Serialize;
use skillsandbox_egress::NetworkRecord;
use skillsandbox_terms::{EndCause, ObserveLevel, RunLimit};

use crate::cgroup::{LimitMechanism, ResourceUsage};
use crate::layers::Layer;
use crate::layers::env::EnvironmentCounts;
use crate::observe::RefusedCall;

/// How a run ended, and what held it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RunOutcome {
    /// How the command itself ended.
    pub status: CommandStatus,
    /// What ended it.
    pub end: EndCause,
    /// Limits that were reached, and what held them.
    pub limits_hit: Vec<LimitHit>,
    /// What held the limits on the whole tree.
    pub mechanism: LimitMechanism,
    /// Captured standard output; empty unless captured.
    pub stdout: CapturedOutput,
    /// Captured standard error; empty unless captured.
    pub stderr: CapturedOutput,
    /// From the start of the program to its end.
    pub duration: Duration,
    /// What it used, where that was measured.
    pub usage: ResourceUsage,
    /// How much of it was observed: less than was asked for where another supervisor listens already, or without an observer.
    pub observe_level: ObserveLevel,
    /// Events that the observer was not told, because too many came at a time.
    pub lost: u64,
    /// Whether refused calls were reported. Inside another supervised sandbox they cannot be: they are refused anyway, and an empty
    /// list says nothing.
    pub reports_refusals: bool,
    /// Whether there was somebody to judge where Unix sockets are connected to. Without, as inside another supervised sandbox, the run
    /// had none but pairs.
    pub supervises_sockets: bool,
    /// System calls that the profile does not have and that were tried.
    pub refused: Vec<RefusedCall>,
    /// What was looked up, connected to and sent, and what came of it.
    pub network: NetworkRecord,
    /// Variables of the launching program that were handed on, and that were not.
    pub environment: EnvironmentCounts,
    /// Layers that were missing and had been named best-effort, and why they were missing.
    pub waived: Vec<(Layer, String)>,
}

impl RunOutcome {
    /// Whether the command ended by itself, with 0.
    #[must_use]
    pub fn success(&self) -> bool {
        self.end == EndCause::Itself && self.status == CommandStatus::Exited(0)
    }
}

/// How the command itself ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CommandStatus {
    /// With an exit code.
    Exited(i32),
    /// By a signal.
    Signalled(i32),
}

/// A limit that was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct LimitHit {
    /// Which one.
    pub limit: RunLimit,
    /// What held it.
    pub mechanism: LimitMechanism,
}

/// Captured output.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CapturedOutput {
    /// The first bytes, as many as were asked for.
    pub bytes: Vec<u8>,
    /// How many there were in all.
    pub total: u64,
}

impl CapturedOutput {
    /// Whether there was more than was kept.
    #[must_use]
    pub fn is_truncated(&self) -> bool {
        self.total > self.bytes.len() as u64
    }

    /// The bytes as text; what is not UTF-8 is replaced.
    #[must_use]
    pub fn text(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(&self.bytes)
    }
}
