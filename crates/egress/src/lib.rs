//! Lets a network namespace without a way out reach exactly the names it was granted.
#![forbid(unsafe_code)]
#![cfg(target_os = "linux")]

mod attempt;
#[allow(dead_code, reason = "the broker is to use it")]
mod dns;
mod gate;
#[allow(dead_code, reason = "the broker is to use it")]
mod names;
mod policy;
mod rule;
#[allow(dead_code, reason = "the broker is to use it")]
mod special;
#[allow(dead_code, reason = "the broker is to use it")]
mod tunnel;

pub use attempt::{Action, Attempt, End, Process, Reason, Verdict};
pub use policy::{Policy, Problem};
pub use rule::{Protocol, Rule, Transport};

/// What the fuzz targets need. No part of the interface.
#[cfg(fuzzing)]
#[doc(hidden)]
#[allow(missing_docs, missing_debug_implementations)]
pub mod hostile {
    pub use crate::dns::hostile::{dns_answer, dns_reply};
}
