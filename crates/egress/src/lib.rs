//! Lets a network namespace without a way out reach exactly the names it was granted.
#![forbid(unsafe_code)]
#![cfg(target_os = "linux")]

mod attempt;
mod dns;
#[allow(dead_code, reason = "the broker is to use it")]
mod gate;
mod names;
mod policy;
mod rule;
mod special;
mod tunnel;

pub use attempt::{Action, Attempt, End, Process, Reason, Verdict};
pub use policy::{Policy, Problem};
pub use rule::{Protocol, Rule, Transport};

/// What the fuzz targets need. No part of the interface.
#[cfg(fuzzing)]
#[doc(hidden)]
#[allow(missing_docs, missing_debug_implementations)]
pub mod hostile {
    pub use crate::gate::hostile::Gate;
}
