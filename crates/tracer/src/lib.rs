//! What a confined program really tried, in one honest trace.
//!
//! Something that watches a run tells a [`Recorder`] what happens. It writes a file, event by event ([`TraceWriter`]), and tells whoever
//! else wants to know ([`Sink`]). Later somebody checks the file ([`verify`]) and reads it ([`read()`], [`Reader`]).
//!
//! ```
//! use skillsandbox_tracer::{Event, Header, Recorder, Verdict, What};
//!
//! let mut recorder = Recorder::new(&Header::new("weather-lookup", "my-runtime 1.0"), None, Vec::new());
//! let lookup = What::DnsQuery { name: Some("collector.evil.test".into()), server: None };
//! recorder.record(Event::new(lookup).judged(Verdict::Denied, None));
//! assert_eq!(recorder.finish().summary.denied, 1);
//! ```
//!
//! # What it guarantees
//!
//! - A trace that verifies is, byte for byte, one that was written by this format's rules; every change to a part of it is found.
//! - Nothing counts as prevented that was not tried: a policy is an event of a kind of its own.
//! - Counts, `complete`, `all_prevented` and the worst severity are computed from the events, and computed again by [`verify`].
//! - What was prevented is handed to the system before [`Recorder::record`] returns. A run that is killed leaves a trace that can be read.
//! - Memory, file, lines and texts are bounded, for whoever writes and for whoever reads a hostile file. No panic, no unsafe code.
//!
//! # What it does not protect
//!
//! The chain has no key. Somebody who can write the file and knows the format can write another one that verifies; only the
//! digest, kept elsewhere, tells them apart. And a trace is as true as its observer: what nobody saw is not in it.
//!
//! # Features
//!
//! - `otel`: export of a run as OpenTelemetry spans.
//! - `schema`: JSON Schema of a trace, from the types.

#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod event;
mod trace;

mod bounds;
mod chain;
mod error;
mod fold;
mod json;
mod read;
mod recorder;
#[cfg(feature = "schema")]
pub mod schema;
mod tally;
mod verify;
mod writer;

/// The code of the README, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
pub mod export;
#[cfg(feature = "otel")]
pub mod otel;
pub mod render;

pub use event::{Connection, Event, FileOperation, Line, Process, Verdict, What};
pub use trace::{Class, Classification, FORMAT, Header, MAX_VIOLATIONS, Severity, Summary, Technique, Trace};

pub use bounds::{MAX_ARGUMENTS, MAX_TEXT};
pub use chain::{Digest, NoDigest};
pub use error::{Error, How, Tampered};
pub use fold::Fold;
pub use read::{Ending, MAX_LINE, Part, Reader, read, read_part};
pub use recorder::{Classify, MAX_FILE, Recorded, Recorder, Redact, Sink};
pub use skillsandbox_text::{RedactError, Redactor, Unused};
pub use verify::{Verified, verify, verify_from};
pub use writer::TraceWriter;

mod classify;
mod lines;

pub use classify::{ATLAS_VERSION, ATTACK_VERSION, Classifier};
pub use lines::{LINE_LIMIT, Lines, line_bytes};
