//! Limits that a rehearsal ran into, raised a few times.

use std::time::Duration;

use skillsandbox_run::{Job, RunExit};

/// Most memory that a rehearsal is given.
const MOST_MEMORY: u64 = 4 << 30;
/// Most processes.
const MOST_PROCESSES: u32 = 1024;

/// A limit that had to be raised, under its key in a manifest.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RaisedLimit {
    /// The key below `resources`.
    pub key: &'static str,
    /// What it was raised to.
    pub value: u64,
    /// Why.
    pub evidence: String,
}

impl RaisedLimit {
    /// The time that a run is given, where one took more than half of what is declared. `allowed` is what the person gave the rehearsal.
    #[must_use]
    pub fn runtime(taken: Duration, declared: Duration, allowed: Option<Duration>) -> Option<Self> {
        let allowed = allowed.filter(|allowed| *allowed > declared && taken.saturating_mul(2) > declared)?;
        let evidence =
            format!("it took {:.1} s, and {} s are declared", taken.as_secs_f32(), declared.as_secs());
        Some(Self { key: "max_runtime_seconds", value: allowed.as_secs(), evidence })
    }
}

/// Raises what was run into, where that is known to help. What was raised; nothing where no more is to be had.
pub(crate) fn raise_limits(job: &mut Job, exit: &RunExit) -> Vec<RaisedLimit> {
    let mut raised = Vec::new();
    for limit in &exit.limits_hit {
        match limit.as_str() {
            "memory" => {
                let Some(old) = job.limits.memory.filter(|old| *old < MOST_MEMORY) else { continue };
                let new = old.saturating_mul(4).min(MOST_MEMORY);
                job.limits.memory = Some(new);
                let evidence = format!("it reached its limit of {} MiB", old >> 20);
                raised.push(RaisedLimit { key: "memory_mb", value: new >> 20, evidence });
            }
            "processes" => {
                let Some(old) = job.limits.processes.filter(|old| *old < MOST_PROCESSES) else { continue };
                let new = old.saturating_mul(4).min(MOST_PROCESSES);
                job.limits.processes = Some(new);
                let evidence = format!("it reached its limit of {old} processes");
                raised.push(RaisedLimit { key: "max_processes", value: new.into(), evidence });
            }
            _ => {}
        }
    }
    raised
}
