//! How much a skill may use.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Serialize, Serializer};

use crate::decode::Amount;
use crate::diagnostic::{Code, DiagnosticSink, Fault, Spanned, quoted};
use crate::raw;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;
const TIB: u64 = 1 << 40;

/// Limits of one run, each with its default.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ResourceLimits {
    /// Memory of all processes together.
    #[serde(rename = "memory_mb", serialize_with = "in_mib")]
    pub memory: ByteSize,
    /// Processor time, in percent of one core.
    #[serde(rename = "max_cpu_percent")]
    pub cpu_percent: u32,
    /// Processor time of all processes together; no limit unless one is declared.
    #[serde(
        rename = "max_cpu_seconds",
        serialize_with = "in_seconds_if_any",
        skip_serializing_if = "Option::is_none"
    )]
    pub cpu_time: Option<Duration>,
    /// Processes and threads at one time.
    #[serde(rename = "max_processes")]
    pub processes: u32,
    /// Open files of one process.
    #[serde(rename = "max_open_files")]
    pub open_files: u32,
    /// The private directories together, and the largest file.
    #[serde(rename = "disk_mb", serialize_with = "in_mib")]
    pub disk: ByteSize,
    /// From start to end.
    #[serde(rename = "max_runtime_seconds", serialize_with = "in_seconds")]
    pub runtime: Duration,
    /// What it may print, standard output and error together.
    #[serde(rename = "max_output_bytes", serialize_with = "in_bytes")]
    pub output: ByteSize,
}

impl Default for ResourceLimits {
    fn default() -> Self {
        Self {
            memory: ByteSize(256 * MIB),
            cpu_percent: 100,
            cpu_time: None,
            processes: 64,
            open_files: 256,
            disk: ByteSize(64 * MIB),
            runtime: Duration::from_secs(30),
            output: ByteSize(MIB),
        }
    }
}

/// A number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ByteSize(u64);

impl ByteSize {
    pub(crate) fn from_bytes(bytes: u64) -> Self {
        Self(bytes)
    }

    /// The bytes.
    #[must_use]
    pub fn bytes(self) -> u64 {
        self.0
    }
}

impl FromStr for ByteSize {
    type Err = Fault;

    /// A number with a unit, as a manifest has it: `128M`, `1G`.
    fn from_str(text: &str) -> Result<Self, Fault> {
        match parse_size(text)? {
            0 => Err(range(1, u64::MAX)),
            bytes => Ok(Self(bytes)),
        }
    }
}

impl fmt::Display for ByteSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (unit, name) in [(TIB, "TiB"), (GIB, "GiB"), (MIB, "MiB"), (KIB, "KiB")] {
            if self.0 >= unit && self.0.is_multiple_of(unit) {
                return write!(f, "{} {name}", self.0 / unit);
            }
        }
        write!(f, "{} bytes", self.0)
    }
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde's signature
fn in_mib<S: Serializer>(size: &ByteSize, serializer: S) -> Result<S::Ok, S::Error> {
    if size.0.is_multiple_of(MIB) {
        serializer.serialize_u64(size.0 / MIB)
    } else {
        serializer.collect_str(&format_args!("{}B", size.0))
    }
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde's signature
fn in_bytes<S: Serializer>(size: &ByteSize, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(size.0)
}

fn in_seconds<S: Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(time.as_secs())
}

#[allow(clippy::ref_option, clippy::trivially_copy_pass_by_ref)] // serde's signature
fn in_seconds_if_any<S: Serializer>(time: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
    time.map(|time| time.as_secs()).serialize(serializer)
}

/// The limits a text names; `None` for those it leaves out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct DeclaredLimits {
    pub(crate) memory: Option<ByteSize>,
    pub(crate) cpu_percent: Option<u32>,
    pub(crate) cpu_time: Option<Duration>,
    pub(crate) processes: Option<u32>,
    pub(crate) open_files: Option<u32>,
    pub(crate) disk: Option<ByteSize>,
    pub(crate) runtime: Option<Duration>,
    pub(crate) output: Option<ByteSize>,
}

impl DeclaredLimits {
    pub(crate) fn lower(raw: &raw::Resources, sink: &mut DiagnosticSink) -> Self {
        fn size(
            raw: Option<&Spanned<Amount>>,
            name: &str,
            unit: u64,
            most: u64,
            sink: &mut DiagnosticSink,
        ) -> Option<ByteSize> {
            let checked = sink.check(raw?, format_args!("resources.{name}"), |amount| {
                let bytes = match amount {
                    Amount::Number(number) => {
                        number.checked_mul(unit).ok_or_else(|| range(1, most / unit))?
                    }
                    Amount::Text(text) => parse_size(text)?,
                };
                // Less than the field's own unit is as good as nothing.
                if bytes < unit || bytes > most { Err(range(1, most / unit)) } else { Ok(ByteSize(bytes)) }
            });
            checked.map(|size| size.value)
        }
        fn count(
            raw: Option<&Spanned<u64>>,
            name: &str,
            most: u32,
            sink: &mut DiagnosticSink,
        ) -> Option<u32> {
            let checked = sink.check(raw?, format_args!("resources.{name}"), |number| bounded(*number, most));
            checked.map(|number| number.value)
        }
        fn time(
            raw: Option<&Spanned<Amount>>,
            name: &str,
            most: u32,
            sink: &mut DiagnosticSink,
        ) -> Option<Duration> {
            let checked = sink.check(raw?, format_args!("resources.{name}"), |amount| {
                let seconds = match amount {
                    Amount::Number(number) => *number,
                    Amount::Text(text) => parse_seconds(text)?,
                };
                bounded(seconds, most).map(|seconds| Duration::from_secs(seconds.into()))
            });
            checked.map(|time| time.value)
        }
        let cpu = raw.max_cpu_percent.as_ref().and_then(|raw| {
            sink.check(raw, format_args!("resources.max_cpu_percent"), |amount| match amount {
                Amount::Number(number) => bounded(*number, MAX_CPU_PERCENT),
                Amount::Text(text) => parse_percent(text),
            })
        });
        Self {
            memory: size(raw.memory_mb.as_ref(), "memory_mb", MIB, 64 * TIB, sink),
            cpu_percent: cpu.map(|cpu| cpu.value),
            cpu_time: time(raw.max_cpu_seconds.as_ref(), "max_cpu_seconds", MAX_CPU_SECONDS, sink),
            processes: count(raw.max_processes.as_ref(), "max_processes", MAX_PROCESSES, sink),
            open_files: count(raw.max_open_files.as_ref(), "max_open_files", MAX_OPEN_FILES, sink),
            disk: size(raw.disk_mb.as_ref(), "disk_mb", MIB, 64 * TIB, sink),
            runtime: time(raw.max_runtime_seconds.as_ref(), "max_runtime_seconds", MAX_SECONDS, sink),
            output: size(raw.max_output_bytes.as_ref(), "max_output_bytes", 1, GIB, sink),
        }
    }

    pub(crate) fn or_default(&self) -> ResourceLimits {
        let default = ResourceLimits::default();
        ResourceLimits {
            memory: self.memory.unwrap_or(default.memory),
            cpu_percent: self.cpu_percent.unwrap_or(default.cpu_percent),
            cpu_time: self.cpu_time.or(default.cpu_time),
            processes: self.processes.unwrap_or(default.processes),
            open_files: self.open_files.unwrap_or(default.open_files),
            disk: self.disk.unwrap_or(default.disk),
            runtime: self.runtime.unwrap_or(default.runtime),
            output: self.output.unwrap_or(default.output),
        }
    }
}

/// A thousand cores.
const MAX_CPU_PERCENT: u32 = 100_000;
/// The kernel's `PID_MAX_LIMIT`.
const MAX_PROCESSES: u32 = 4_194_304;
/// The kernel's default `fs.nr_open`.
const MAX_OPEN_FILES: u32 = 1_048_576;
/// A week: longer is a service, not a skill.
const MAX_SECONDS: u32 = 604_800;
/// A week of a thousand cores.
const MAX_CPU_SECONDS: u32 = 604_800_000;

fn range(least: u64, most: u64) -> Fault {
    Fault::new(Code::OutOfRange, format!("the number must be {least} to {most}"))
}

fn bounded(number: u64, most: u32) -> Result<u32, Fault> {
    match u32::try_from(number) {
        Ok(number) if number > 0 && number <= most => Ok(number),
        _ => Err(range(1, most.into())),
    }
}

/// Splits `1.5G` into thousandths and the unit.
fn number_and_unit(text: &str) -> Option<(u64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    let digits =
        |part: &str| !part.is_empty() && part.len() <= 15 && part.bytes().all(|b| b.is_ascii_digit());
    if !digits(whole) || !digits(fraction) || fraction.len() > 3 {
        return None;
    }
    let fraction: u64 = format!("{fraction:0<3}").parse().ok()?;
    Some((whole.parse::<u64>().ok()?.checked_mul(1000)?.checked_add(fraction)?, unit.trim()))
}

/// `512M`, `1.5 GiB`, `100KB`: units are powers of 1024.
fn parse_size(text: &str) -> Result<u64, Fault> {
    let refused = || {
        let message = format!("{} is not a size", quoted(text));
        Fault::new(Code::WrongType, message)
            .help("write a whole number, or one with a unit: \"512M\", \"1.5G\"")
    };
    let (thousandths, unit) = number_and_unit(text).ok_or_else(refused)?;
    let factor = match unit.to_ascii_lowercase().as_str() {
        "b" => 1,
        "k" | "kb" | "kib" => KIB,
        "m" | "mb" | "mib" => MIB,
        "g" | "gb" | "gib" => GIB,
        "t" | "tb" | "tib" => TIB,
        _ => return Err(refused()),
    };
    let bytes = u128::from(thousandths) * u128::from(factor) / 1000;
    u64::try_from(bytes).map_err(|_| refused())
}

/// `30s`, `5m`, `1.5h`.
fn parse_seconds(text: &str) -> Result<u64, Fault> {
    let refused = || {
        let message = format!("{} is not a time", quoted(text));
        Fault::new(Code::WrongType, message)
            .help("write seconds, or a number with a unit: \"30s\", \"5m\", \"1h\"")
    };
    let (thousandths, unit) = number_and_unit(text).ok_or_else(refused)?;
    let factor = match unit {
        "s" => 1,
        "m" | "min" => 60,
        "h" => 3600,
        _ => return Err(refused()),
    };
    thousandths.checked_mul(factor).map(|total| total / 1000).ok_or_else(refused)
}

/// `50%`.
fn parse_percent(text: &str) -> Result<u32, Fault> {
    let number = text.strip_suffix('%').map(str::trim_end).and_then(|number| number.parse().ok());
    let number = number.ok_or_else(|| {
        let message = format!("{} is not a percentage", quoted(text));
        Fault::new(Code::WrongType, message).help("write a whole number, in percent of one core")
    })?;
    bounded(number, MAX_CPU_PERCENT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_times() {
        for (text, expected) in [
            ("512M", Some(512 * MIB)),
            ("1G", Some(GIB)),
            ("1.5 GiB", Some(3 * GIB / 2)),
            ("100kb", Some(100 * KIB)),
            ("7B", Some(7)),
            ("0.5", None),
            ("12", None),
            ("M", None),
            ("1.2345M", None),
            ("-1M", None),
            ("1e3M", None),
            ("99999999999999999999G", None),
            ("1 000M", None),
        ] {
            assert_eq!(parse_size(text).ok(), expected, "{text}");
        }
        for (text, expected) in
            [("30s", Some(30)), ("5m", Some(300)), ("1.5h", Some(5400)), ("1d", None), ("s", None)]
        {
            assert_eq!(parse_seconds(text).ok(), expected, "{text}");
        }
        for (text, expected) in
            [("50%", Some(50)), ("250 %", Some(250)), ("0%", None), ("50", None), ("%", None)]
        {
            assert_eq!(parse_percent(text).ok(), expected, "{text}");
        }
    }
}
