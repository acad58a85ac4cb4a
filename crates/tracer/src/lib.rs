//! What a confined program really tried, in one honest trace.
#![forbid(unsafe_code)]

mod event;
mod trace;

pub use event::{Connection, Event, FileOperation, Line, Process, Verdict, What};
pub use trace::{Class, Classification, FORMAT, Header, Severity, Summary, Technique, Trace};

mod classify;
mod lines;
mod redact;

pub use classify::{ATLAS_VERSION, ATTACK_VERSION, Classifier};
pub use lines::{LINE_LIMIT, Lines, line_bytes};
pub use redact::{RedactError, Redactor, Unused};
