//! What a confined program really tried, in one honest trace.
//!
//! Something that watches a run tells a [`Recorder`] what happens. It writes a file, event by event ([`TraceWriter`]), and tells whoever
//! else wants to know ([`EventSink`]). Later somebody checks the file ([`verify_trace`]) and reads it ([`read_trace`], [`TraceReader`]).
//!
//! ```
//! use skillsandbox_tracer::{Event, TraceHeader, Recorder, EventVerdict, EventKind};
//!
//! let mut recorder = Recorder::new(&TraceHeader::new("weather-lookup", "my-runtime 1.0"), None, Vec::new());
//! let lookup = EventKind::DnsQuery { name: Some("collector.evil.test".into()), server: None };
//! recorder.record(Event::new(lookup).with_verdict(EventVerdict::Denied, None));
//! assert_eq!(recorder.finish().summary.denied, 1);
//! ```
//!
//! # What it guarantees
//!
//! - A trace that verifies is, byte for byte, one that was written by this format's rules; every change to a part of it is found.
//! - Nothing counts as prevented that was not tried: a policy is an event of a kind of its own. What nobody saw the end of is `unknown`, and
//!   then not all was prevented.
//! - Counts, `complete`, `all_prevented` and the worst severity are computed from the events, and computed again by [`verify_trace`].
//! - What was prevented is handed to the system before [`Recorder::record`] returns. A run that is killed leaves a trace that can be read.
//! - Memory, file, lines and texts are bounded, for whoever writes and for whoever reads a hostile file. No panic, no unsafe code.
//!
//! # What it does not protect
//!
//! The chain has no key. Somebody who can write the file and knows the format can write another one that verifies; only the
//! digest, kept elsewhere, tells them apart. And a trace is as true as its observer: what nobody saw is not in it.
//!
//! # Inside
//!
//! ```text
//! event ──► record/: clock, redaction, bounds ──► fold ──► sequence number ──► format/writer: a line, format/chain: its hash ──► trace.json
//!                                                             ├─► classify/: what it amounts to                              │
//!                                                             └─► sinks: render/ (live view), otel/ (OTLP)   format/read ◄───┘
//!                                                                                                           format/verify
//! ```
//!
//! - `format/` is the trace and its file. `event` and `trace` are the types, and the schema comes from them. The crate uses no other crate that
//!   observes: the observer makes these events. `tally` counts for the writer and for the verifier, so that the two cannot disagree. The
//!   reader returns only what it has checked.
//! - `record/` writes a new event at once. Repeats are counted, and written when the run ends: no attempt waits in memory.
//! - `classify/` says what the attempts amount to, from tables of paths, programs, system calls and hosts.
//! - `render/` shows a trace as text, as a page and live; `export/` writes it as NDJSON and OCSF.
//! - `otel/` (a feature) turns events into spans: `settings` reads the variables, `spans` and `root` say what is exported, `queue` is the
//!   bounded way to the sending thread, `client` is the HTTP, which trusts nothing it receives. A run never waits for it.
//!
//! `docs/trace.md` describes the format; `tests/verify.py` was written from that page, and its results are compared with the reader's.
//!
//! # Features
//!
//! - `otel`: export of a run as OpenTelemetry spans.
//! - `schema`: JSON Schema of a trace, from the types.

#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod classify;
pub mod export;
mod format;
#[cfg(feature = "otel")]
pub mod otel;
mod record;
pub mod render;

/// The code of the README, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

#[cfg(feature = "schema")]
pub use format::schema;

pub use format::event::{
    Event, EventKind, EventVerdict, NetConnection, OutputLine, Prevention, TracedProcess,
};
pub use format::trace::{
    AttackClass, AttackSeverity, AttackTechnique, Classification, MAX_VIOLATIONS, TRACE_FORMAT, Trace,
    TraceHeader, TraceSummary,
};

pub use format::bounds::{MAX_ARGUMENTS, MAX_TEXT};
pub use format::chain::{ParseDigestError, TraceDigest};
pub use format::error::{TamperError, TamperKind, TraceError};
pub use format::lines::{LINE_LIMIT, LineSplitter, decode_line};
pub use format::read::{MAX_LINE, TraceEnding, TracePart, TraceReader, read_trace, read_trace_part};
pub use format::verify::{VerifiedTrace, verify_trace, verify_trace_from};
pub use format::writer::TraceWriter;

pub use classify::{
    ATLAS_VERSION, ATTACK_VERSION, AttemptWeigher, AttemptWeight, CALLERS_SUBJECT, CALLERS_WORDS, Classifier,
    CredentialPlace, PlaceAccess, credential_place, may_hold_sensitive, sensitive_place,
};
pub use record::fold::FoldMode;
pub use record::recorder::{Classify, EventSink, MAX_FILE, RecordedTrace, Recorder, Redact};
pub use skillsandbox_terms::FileOperation;
pub use skillsandbox_text::{RedactError, Redactor, Unused};
