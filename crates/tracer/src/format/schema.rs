//! JSON Schema of a trace, for whoever reads one with another program.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::format::chain::TraceDigest;
use crate::format::event::Event;
use crate::format::trace::{TraceHeader, TraceSummary};

/// A trace as it lies on disk.
#[derive(Serialize, JsonSchema)]
struct TraceFile {
    #[serde(flatten)]
    header: TraceHeader,
    /// The SHA-256 of the header, as docs/trace.md says.
    #[schemars(with = "String", regex(pattern = "^[0-9a-f]{64}$"))]
    hash: TraceDigest,
    /// What happened.
    events: Vec<HashedEvent>,
    /// The places of those events that were denied: the first 10,000 of them.
    policy_violations: Vec<u64>,
    /// What it amounts to.
    violation_summary: TraceSummary,
    /// The SHA-256 of everything before it.
    #[schemars(with = "String", regex(pattern = "^[0-9a-f]{64}$"))]
    digest: TraceDigest,
}

/// An event with its hash.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Linked")]
struct HashedEvent {
    #[serde(flatten)]
    event: Event,
    /// The SHA-256 of the hash before it and of this event.
    #[schemars(with = "String", regex(pattern = "^[0-9a-f]{64}$"))]
    hash: TraceDigest,
}

/// The schema of a trace.
#[must_use]
pub fn trace() -> Value {
    let mut schema = schemars::schema_for!(TraceFile);
    schema.insert("title".to_owned(), json!("SkillSandbox trace"));
    schema.to_value()
}
