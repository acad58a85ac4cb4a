//! JSON Schema of a trace, for whoever reads one with another program.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::format::chain::Digest;
use crate::format::event::Event;
use crate::format::trace::{Header, Summary};

/// A trace as it lies on disk.
#[derive(Serialize, JsonSchema)]
struct OnDisk {
    #[serde(flatten)]
    header: Header,
    /// The SHA-256 of the header, as docs/trace.md says.
    #[schemars(with = "String", regex(pattern = "^[0-9a-f]{64}$"))]
    hash: Digest,
    /// What happened.
    events: Vec<Linked>,
    /// The places of those events that were denied: the first 10,000 of them.
    policy_violations: Vec<u64>,
    /// What it amounts to.
    violation_summary: Summary,
    /// The SHA-256 of everything before it.
    #[schemars(with = "String", regex(pattern = "^[0-9a-f]{64}$"))]
    digest: Digest,
}

/// An event with its hash.
#[derive(Serialize, JsonSchema)]
struct Linked {
    #[serde(flatten)]
    event: Event,
    /// The SHA-256 of the hash before it and of this event.
    #[schemars(with = "String", regex(pattern = "^[0-9a-f]{64}$"))]
    hash: Digest,
}

/// The schema of a trace.
#[must_use]
pub fn trace() -> Value {
    let mut schema = schemars::schema_for!(OnDisk);
    schema.insert("title".to_owned(), json!("SkillSandbox trace"));
    schema.to_value()
}
