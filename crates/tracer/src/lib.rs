//! What a confined program really tried, in one honest trace.
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

pub use event::{Connection, Event, FileOperation, Line, Process, Verdict, What};
pub use trace::{Class, Classification, FORMAT, Header, MAX_VIOLATIONS, Severity, Summary, Technique, Trace};

pub use bounds::{MAX_ARGUMENTS, MAX_TEXT};
pub use chain::{Digest, NoDigest};
pub use error::{Error, How, Tampered};
pub use fold::Fold;
pub use read::{Ending, MAX_LINE, Reader, read};
pub use recorder::{Classify, MAX_FILE, Recorded, Recorder, Redact, Sink};
pub use verify::{Verified, verify, verify_from};
pub use writer::TraceWriter;
