//! What a confined program really tried, in one honest trace.
#![forbid(unsafe_code)]

mod event;
mod trace;

pub mod export;
pub mod render;

pub use event::{Connection, Event, FileOperation, Line, Process, Verdict, What};
pub use trace::{Class, Classification, FORMAT, Header, Severity, Summary, Technique, Trace};
