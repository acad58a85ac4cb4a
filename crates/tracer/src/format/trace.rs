//! A whole trace: what it begins with, its events, and what it ends with.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::format::event::{Event, Prevention};

/// The version of the format that this crate writes.
pub const TRACE_FORMAT: &str = "skillsandbox.trace/1";

/// The most events that `policy_violations` names. All of them are counted, and each has its verdict.
pub const MAX_VIOLATIONS: usize = 10_000;

/// What is known when a run begins.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Header"))]
#[non_exhaustive]
pub struct TraceHeader {
    /// The format: `skillsandbox.trace/1`.
    pub format: String,
    /// The id of this run.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub trace_id: Uuid,
    /// The skill's name, or the command's.
    pub skill_name: String,
    /// The skill's version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skill_version: Option<String>,
    /// When it began.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub started: Timestamp,
    /// What wrote this trace: `skillsandbox 0.1.0`.
    pub tool: String,
    /// Facts of the host that say what the sandbox could do: kernel, layers and what holds them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub host: BTreeMap<String, String>,
    /// System calls about files and other processes that no observer is told of, so that nothing in this trace can show them, even where it
    /// is complete.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_covered: Vec<String>,
}

impl TraceHeader {
    /// The beginning of a trace that begins now.
    #[must_use]
    pub fn new(skill_name: impl Into<String>, tool: impl Into<String>) -> Self {
        Self {
            format: TRACE_FORMAT.to_owned(),
            trace_id: Uuid::new_v4(),
            skill_name: skill_name.into(),
            skill_version: None,
            started: Timestamp::now(),
            tool: tool.into(),
            host: BTreeMap::new(),
            not_covered: Vec::new(),
        }
    }
}

/// What is known when a run has ended.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Summary"))]
#[non_exhaustive]
pub struct TraceSummary {
    /// Events in the trace.
    pub events: u64,
    /// Attempts that were allowed, repeats included.
    pub allowed: u64,
    /// Attempts that were denied.
    pub denied: u64,
    /// Attempts that were allowed, and did not succeed.
    pub failed: u64,
    /// Attempts of which nobody saw what became of them.
    #[serde(default)]
    pub unknown: u64,
    /// Whether every attempt that the observers could see is in it.
    pub complete: bool,
    /// Why not, where it is not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub incomplete_because: Vec<String>,
    /// Events that were lost.
    pub lost: u64,
    /// Microseconds from the beginning to the end.
    pub duration_us: u64,
    /// What the attempts amount to.
    pub classifications: Vec<Classification>,
    /// Whether nothing that was classified took effect, no verdict is unknown and nothing is missing. Computed; `true` where nothing was
    /// classified, nothing is unknown and the trace is complete.
    pub all_prevented: bool,
    /// The worst severity of all classifications.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_severity: Option<AttackSeverity>,
}

/// What some attempts amount to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Classification {
    /// Which class.
    pub class: AttackClass,
    /// How bad it is.
    pub severity: AttackSeverity,
    /// The tactic of ATT&CK: `credential-access`.
    pub mitre_tactic: String,
    /// Techniques of ATT&CK (and of ATLAS, `AML.…`), by id and name.
    pub techniques: Vec<AttackTechnique>,
    /// The events that prove it, by their places; at most a hundred.
    pub evidence: Vec<u64>,
    /// Whether none of these attempts took effect: each was denied, or did not succeed.
    pub prevented: bool,
    /// Whether that is not known: none of it was seen to take effect, and of some nobody saw what became of it. `prevented` is `false` then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unknown: bool,
    /// A sentence for people.
    pub message: String,
}

impl Classification {
    /// Whether it was prevented, as far as that is known.
    #[must_use]
    pub fn prevention(&self) -> Prevention {
        match (self.prevented, self.unknown) {
            (_, true) => Prevention::Unknown,
            (true, false) => Prevention::Prevented,
            (false, false) => Prevention::NotPrevented,
        }
    }
}

/// A technique of an attacker.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Technique"))]
#[non_exhaustive]
pub struct AttackTechnique {
    /// `T1552.001`.
    pub id: String,
    /// `Unsecured Credentials: Credentials In Files`.
    pub name: String,
}

impl AttackTechnique {
    /// A technique by its id and name.
    #[must_use]
    pub fn new(id: impl Into<String>, name: impl Into<String>) -> Self {
        Self { id: id.into(), name: name.into() }
    }
}

/// What attempts amount to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Class"))]
#[serde(rename_all = "snake_case")]
pub enum AttackClass {
    /// Looking for credentials where they lie.
    CredentialHarvesting,
    /// Sending them away, or trying to after having looked for them.
    CredentialExfiltration,
    /// Sending other data away.
    DataExfiltration,
    /// Harvesting and exfiltration in one run.
    SupplyChainAttack,
    /// Gaining privileges.
    PrivilegeEscalation,
    /// Files that were not granted.
    UnauthorizedFileAccess,
    /// Leaving the sandbox.
    SandboxEscape,
    /// Data in names that are looked up.
    DnsTunnelling,
    /// A connection for one name that asks for another.
    DomainFronting,
    /// Using processor, memory or processes for another purpose.
    ResourceAbuse,
    /// Staying after the run.
    Persistence,
    /// Looking around.
    Discovery,
    /// Executing what was just downloaded, or the commands of a remote user.
    RemoteExecution,
}

/// How bad something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Severity"))]
#[serde(rename_all = "snake_case")]
pub enum AttackSeverity {
    /// Worth knowing.
    Low,
    /// Worth a look.
    Medium,
    /// Should be looked at today.
    High,
    /// Should be looked at now.
    Critical,
}

/// A trace as a whole, for those who want it in memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Trace {
    /// What it begins with.
    #[serde(flatten)]
    pub header: TraceHeader,
    /// What happened.
    pub events: Vec<Event>,
    /// The places of those events that were denied: the first [`MAX_VIOLATIONS`] of them.
    pub policy_violations: Vec<u64>,
    /// What it amounts to.
    pub violation_summary: TraceSummary,
}
