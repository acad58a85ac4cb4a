//! How much of the machine a run may use.

use std::time::Duration;

use serde::Serialize;

use crate::error::{Error, PlanProblem};

/// The limits of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RunLimits {
    /// Bytes of memory of all processes together.
    pub memory: Option<u64>,
    /// Processes and threads at a time.
    pub processes: Option<u32>,
    /// Share of processor time: 100 is one core.
    pub cpu_percent: Option<u32>,
    /// Processor time of all processes together, those that ended included; rounded up to a second for each process.
    pub cpu_time: Option<Duration>,
    /// Files open in a process.
    pub open_files: u64,
    /// Bytes of the private folders together, and of the largest file that may be written anywhere.
    pub disk: u64,
    /// Time until everything is ended.
    pub timeout: Option<Duration>,
}

impl Default for RunLimits {
    /// Room for ordinary programs; no limit on memory, processes, processor and time unless one is asked for.
    fn default() -> Self {
        Self {
            memory: None,
            processes: None,
            cpu_percent: None,
            cpu_time: None,
            open_files: 1024,
            disk: 64 << 20,
            timeout: None,
        }
    }
}

impl RunLimits {
    pub(crate) fn check(&self) -> Result<(), Error> {
        let zero = [
            ("memory", self.memory == Some(0)),
            ("processes", self.processes == Some(0)),
            ("cpu_percent", self.cpu_percent == Some(0)),
            ("cpu_time", self.cpu_time == Some(Duration::ZERO)),
            ("open_files", self.open_files == 0),
            ("disk", self.disk == 0),
            ("timeout", self.timeout == Some(Duration::ZERO)),
        ];
        match zero.iter().find(|(_, is_zero)| *is_zero) {
            Some((name, _)) => Err(PlanProblem::ZeroLimit(name).into()),
            None => Ok(()),
        }
    }
}
