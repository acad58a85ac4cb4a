//! The trace and its file: the types, how they are written, read and verified.

pub(crate) mod bounds;
pub(crate) mod chain;
pub(crate) mod error;
pub(crate) mod event;
pub(crate) mod json;
pub(crate) mod lines;
pub(crate) mod read;
#[cfg(feature = "schema")]
pub mod schema;
pub(crate) mod tally;
pub(crate) mod trace;
pub(crate) mod verify;
pub(crate) mod writer;
