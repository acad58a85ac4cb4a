//! How a run ended.

use std::time::Duration;

use serde::Serialize;
use skillsandbox_egress::Record;

use crate::cgroup::{Mechanism, Usage};
use crate::layers::Layer;
use crate::layers::env::EnvironmentCounts;
use crate::observe::Audit;
use crate::observe::RefusedCall;

/// How a run ended, and what held it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Outcome {
    /// How the command itself ended.
    pub status: Status,
    /// What ended it.
    pub end: End,
    /// Limits that were reached, and what held them.
    pub limits_hit: Vec<LimitHit>,
    /// What held the limits on the whole tree.
    pub mechanism: Mechanism,
    /// Captured standard output; empty unless captured.
    pub stdout: Captured,
    /// Captured standard error; empty unless captured.
    pub stderr: Captured,
    /// From the start of the program to its end.
    pub duration: Duration,
    /// What it used, where that was measured.
    pub usage: Usage,
    /// How much of it was seen: less than was asked for where another supervisor listens already, or where nobody was to be told.
    pub audit: Audit,
    /// Things that the observer was not told of, because too many came at a time.
    pub lost: u64,
    /// Whether refused calls could be heard of. Inside another supervised sandbox they cannot: they are refused all the same, and an
    /// empty list says nothing.
    pub hears_refusals: bool,
    /// System calls that the profile does not have and that were tried.
    pub refused: Vec<RefusedCall>,
    /// What was looked up, connected to and sent, and what came of it.
    pub network: Record,
    /// Variables of the launching program that were handed on, and that were not.
    pub environment: EnvironmentCounts,
    /// Layers that were missing and had been named best-effort, and why they were missing.
    pub waived: Vec<(Layer, String)>,
}

impl Outcome {
    /// Whether the command ended by itself, with 0.
    #[must_use]
    pub fn success(&self) -> bool {
        self.end == End::Itself && self.status == Status::Exited(0)
    }
}

/// How the command itself ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// With an exit code.
    Exited(i32),
    /// By a signal.
    Signalled(i32),
}

/// What ended a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum End {
    /// The command ended, well or badly.
    Itself,
    /// Its time was over.
    Timeout,
    /// It used more memory than it may.
    Memory,
    /// It had more processes than it may, and nothing of the kernel's could hold it back.
    Processes,
    /// The launching program ended it.
    Killed,
    /// Not everything that it did could be told, and that was required.
    Unobserved,
}

/// A limit that was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct LimitHit {
    /// Which one.
    pub limit: Limit,
    /// What held it.
    pub mechanism: Mechanism,
}

/// A limit of a run, by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Limit {
    /// Memory of all processes.
    Memory,
    /// Processes at a time.
    Processes,
    /// Share of processor time.
    Cpu,
    /// Time.
    Timeout,
    /// Bytes of captured output.
    Output,
}

/// Captured output.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Captured {
    /// The first bytes, as many as were asked for.
    pub bytes: Vec<u8>,
    /// How many there were in all.
    pub total: u64,
}

impl Captured {
    /// Whether there was more than was kept.
    #[must_use]
    pub fn is_truncated(&self) -> bool {
        self.total > self.bytes.len() as u64
    }

    /// The bytes as text; what is no UTF-8 is replaced.
    #[must_use]
    pub fn text(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(&self.bytes)
    }
}
