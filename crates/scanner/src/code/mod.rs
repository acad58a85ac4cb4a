//! What code does: its capabilities, and the secrets that it sends away.
//!
//! `objects.rs` and `hosts.rs` know what paths, names and addresses stand for; every language's reader asks them. `capability.rs` has the
//! words that all of them answer in.

pub(crate) mod capability;
mod describe;
pub(crate) mod hosts;
pub(crate) mod objects;
pub(crate) mod plain;
pub(crate) mod shell;

#[doc(hidden)]
pub use describe::describe_code;
