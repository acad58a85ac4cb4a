//! Limits on each process.

use rustix::process::{Resource, Rlimit, setrlimit};

use crate::child::step::{AtStep as _, SetupStep, StepResult};
use crate::plan::RunLimits;

/// Most bytes of locked memory and of queued messages: what programs use, not what would hurt.
const SMALL: u64 = 1 << 20;

/// The limits, in the order in which they are set.
#[derive(Debug)]
pub(crate) struct RlimitsLayer(Vec<(Resource, u64)>);

impl RlimitsLayer {
    /// `supervised`: no cgroup holds the memory and the processes of the tree, so what a process can hold of them is.
    pub(crate) fn prepare(limits: &RunLimits, supervised: bool) -> Self {
        let mut list = vec![
            // Not 0: a handler that core_pattern pipes to gets the memory at 0 too, and only 1 tells the kernel to give
            // it to nobody (core(5), fs/coredump.c). No file of so few bytes is written either.
            (Resource::Core, 1),
            (Resource::Nofile, limits.open_files),
            (Resource::Fsize, limits.disk),
            (Resource::Memlock, SMALL),
            (Resource::Msgqueue, SMALL),
            (Resource::Nice, 0),
            (Resource::Rtprio, 0),
            (Resource::Sigpending, 4096),
        ];
        if let Some(time) = limits.cpu_time {
            // A second more than all together may use: the supervisor, who knows what it is about, comes first where it can.
            list.push((Resource::Cpu, time.as_secs().saturating_add(2)));
        }
        if supervised {
            if let Some(memory) = limits.memory {
                // Far more than may be used: address space that is reserved and never touched is not memory. It only
                // stops one process from running away between two looks of the supervisor.
                list.push((Resource::Data, memory.saturating_mul(4).saturating_add(1 << 30)));
            }
            if let Some(processes) = limits.processes {
                // Counted for each user namespace apart since Linux 5.14, and so for this sandbox alone. The init counts.
                list.push((Resource::Nproc, u64::from(processes).saturating_add(1)));
            }
        }
        Self(list)
    }

    pub(crate) fn apply(&self) -> StepResult {
        for (index, (resource, value)) in self.0.iter().enumerate() {
            let now = rustix::process::getrlimit(*resource);
            // A host's own limit may be lower; it cannot be raised without a capability, and need not be.
            let value = now.maximum.map_or(*value, |maximum| maximum.min(*value));
            let limit = Rlimit { current: Some(value), maximum: Some(value) };
            setrlimit(*resource, limit).at_index(SetupStep::Limit, index)?;
        }
        Ok(())
    }

    /// The name of a limit, for a message.
    pub(crate) fn describe(&self, index: u16) -> String {
        self.0
            .get(usize::from(index))
            .map(|(resource, value)| format!("{resource:?} {value}"))
            .unwrap_or_default()
    }
}
