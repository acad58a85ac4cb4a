//! What was seen, before anybody judges it.

use serde::{Deserialize, Serialize};
use skillsandbox_tracer::Trace;

use crate::sink::Arrived;
use crate::victim::Planted;

/// Everything that the closing table is computed from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// What there was to steal.
    pub planted: Planted,
    /// What the scanner said of the thief, and how `run` answered where it said BLOCKED.
    pub scan: Scan,
    /// The thief, without a sandbox.
    pub without: Played,
    /// The thief, in the sandbox. What arrived counts until the very end, so that nothing comes late unseen.
    pub with: Played,
    /// The honest skill, in the sandbox.
    pub honest: Played,
    /// What was tried by hand.
    pub by_hand: Vec<ByHand>,
    /// How often we visited the sink ourselves after the first part, to know that it was there.
    pub visits: usize,
}

/// What the scanner said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Scan {
    /// `SAFE`, `WARNING` or `BLOCKED`.
    pub verdict: String,
    /// The exit code of `run` without `--skip-scan`; only of what is BLOCKED.
    pub run: Option<i32>,
}

/// A skill that ran.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Played {
    /// How it ended.
    pub ran: Ran,
    /// What arrived at the sink.
    pub arrived: Arrived,
    /// Files that hold something planted, where nothing was planted.
    pub stashed: Vec<String>,
    /// The trace, or why there is none.
    pub trace: Result<Trace, String>,
}

/// A program that ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ran {
    /// Its exit code, if it ended by itself.
    pub code: Option<i32>,
    /// What it printed to standard output: all that an agent sees.
    pub output: String,
    /// And to standard error.
    pub errors: String,
}

/// The same command outside and in a sandbox.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ByHand {
    /// What it does.
    pub what: String,
    /// What should come of it inside.
    pub should: Should,
    /// What it is about, as the trace names it: a host or a file.
    pub object: String,
    /// Outside.
    pub outside: Ran,
    /// Inside.
    pub inside: Ran,
    /// The trace of the run inside.
    pub trace: Result<Trace, String>,
}

/// What should come of a command inside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Should {
    /// The same as outside.
    Work,
    /// Nothing, and it is on record.
    BeRefused,
}
