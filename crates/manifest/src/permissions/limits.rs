//! Limits of resources as they are recorded, shown and compared.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::resources::{ByteSize, ResourceLimits};

/// A limit as a lock has it: a number in the unit of its key, or a size with its own unit (`1536B`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum LimitValue {
    /// A number, in the unit of the key.
    Number(u64),
    /// A size that is not a whole number of that unit.
    Text(String),
}

/// What is recorded of a limit that there is not.
const UNLIMITED: &str = "unlimited";

/// One limit of the manifest's `resources`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ResourceLimit {
    /// `memory_mb`.
    Memory,
    /// `max_cpu_percent`.
    CpuPercent,
    /// `max_cpu_seconds`.
    CpuTime,
    /// `max_processes`.
    Processes,
    /// `max_open_files`.
    OpenFiles,
    /// `disk_mb`.
    Disk,
    /// `max_runtime_seconds`.
    Runtime,
    /// `max_output_bytes`.
    Output,
}

impl ResourceLimit {
    /// Every limit, in the manifest's order.
    pub const ALL: [Self; 8] = [
        Self::Memory,
        Self::CpuPercent,
        Self::CpuTime,
        Self::Processes,
        Self::OpenFiles,
        Self::Disk,
        Self::Runtime,
        Self::Output,
    ];

    /// Its place in the manifest.
    #[must_use]
    pub fn path(self) -> &'static str {
        match self {
            Self::Memory => "resources.memory_mb",
            Self::CpuPercent => "resources.max_cpu_percent",
            Self::CpuTime => "resources.max_cpu_seconds",
            Self::Processes => "resources.max_processes",
            Self::OpenFiles => "resources.max_open_files",
            Self::Disk => "resources.disk_mb",
            Self::Runtime => "resources.max_runtime_seconds",
            Self::Output => "resources.max_output_bytes",
        }
    }

    /// Its key below `resources`.
    #[must_use]
    pub fn key(self) -> &'static str {
        self.path().strip_prefix("resources.").unwrap_or_default()
    }

    /// The smallest amount that it counts: bytes, processes, seconds.
    fn amount(self, value: &LimitValue) -> Option<u64> {
        match (self, value) {
            (Self::Memory | Self::Disk, LimitValue::Number(mib)) => mib.checked_mul(1 << 20),
            (
                Self::CpuPercent
                | Self::CpuTime
                | Self::Processes
                | Self::OpenFiles
                | Self::Runtime
                | Self::Output,
                LimitValue::Number(number),
            ) => Some(*number),
            (Self::Memory | Self::Disk | Self::Output, LimitValue::Text(text)) => {
                text.parse::<ByteSize>().ok().map(ByteSize::bytes)
            }
            (Self::CpuTime, LimitValue::Text(text)) => (text == UNLIMITED).then_some(u64::MAX),
            (Self::CpuPercent | Self::Processes | Self::OpenFiles | Self::Runtime, LimitValue::Text(_)) => {
                None
            }
        }
    }

    /// The limit for people: `64 MiB`, `50 % of one core`, `30 s`.
    #[must_use]
    pub fn show(self, value: &LimitValue) -> String {
        let Some(amount) = self.amount(value) else {
            return match value {
                LimitValue::Number(number) => number.to_string(),
                LimitValue::Text(text) => text.clone(),
            };
        };
        match self {
            Self::CpuTime if amount == u64::MAX => UNLIMITED.to_owned(),
            Self::Memory | Self::Disk | Self::Output => ByteSize::from_bytes(amount).to_string(),
            Self::CpuPercent => format!("{amount} % of one core"),
            Self::Processes | Self::OpenFiles => amount.to_string(),
            Self::CpuTime | Self::Runtime => format!("{amount} s"),
        }
    }

    /// How `new` compares with `old`. What cannot be read is less than anything in `old`, and more than anything in `new`.
    pub(super) fn order(self, old: &LimitValue, new: &LimitValue) -> std::cmp::Ordering {
        if old == new {
            return std::cmp::Ordering::Equal;
        }
        self.amount(new).unwrap_or(u64::MAX).cmp(&self.amount(old).unwrap_or(0))
    }
}

/// Every limit of a manifest under its key. No `..` here: a new limit does not compile until it is recorded.
pub(super) fn record(resources: &ResourceLimits) -> BTreeMap<String, LimitValue> {
    let ResourceLimits { memory, cpu_percent, cpu_time, processes, open_files, disk, runtime, output } =
        resources;
    let mebibytes = |size: &ByteSize| match size.bytes() {
        bytes if bytes.is_multiple_of(1 << 20) => LimitValue::Number(bytes >> 20),
        bytes => LimitValue::Text(format!("{bytes}B")),
    };
    let value = |limit: ResourceLimit| match limit {
        ResourceLimit::Memory => mebibytes(memory),
        ResourceLimit::CpuPercent => LimitValue::Number((*cpu_percent).into()),
        ResourceLimit::CpuTime => {
            cpu_time.map_or(LimitValue::Text(UNLIMITED.to_owned()), |time| LimitValue::Number(time.as_secs()))
        }
        ResourceLimit::Processes => LimitValue::Number((*processes).into()),
        ResourceLimit::OpenFiles => LimitValue::Number((*open_files).into()),
        ResourceLimit::Disk => mebibytes(disk),
        ResourceLimit::Runtime => LimitValue::Number(runtime.as_secs()),
        ResourceLimit::Output => LimitValue::Number(output.bytes()),
    };
    ResourceLimit::ALL.into_iter().map(|limit| (limit.key().to_owned(), value(limit))).collect()
}

/// What a manifest gets that does not say.
pub(super) fn default_of(limit: ResourceLimit) -> LimitValue {
    record(&ResourceLimits::default()).remove(limit.key()).unwrap_or(LimitValue::Number(0))
}
