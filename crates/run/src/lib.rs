//! Where the enforcer and the tracer meet: a confined run, and the trace of it.
//!
//! `events.rs` turns what the enforcer sees into events, `policy.rs` says what the walls hold, `session.rs` runs a command and records it.
#![forbid(unsafe_code)]
#![cfg(target_os = "linux")]

mod events;
mod policy;
mod session;

pub use session::{Forward, Options, Ran, record};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
