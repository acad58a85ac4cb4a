//! Lets a network namespace without a way out reach exactly the names it was granted.
#![forbid(unsafe_code)]
#![cfg(target_os = "linux")]

mod attempt;
#[allow(dead_code)]
mod dns;
mod gate;
#[allow(dead_code)]
mod names;
mod policy;
mod rule;
#[allow(dead_code)]
mod special;
#[allow(dead_code)]
mod tunnel;

pub use attempt::{Action, Attempt, End, Process, Reason, Verdict};
pub use policy::{Policy, Problem};
pub use rule::{Protocol, Rule, Transport};

/// What is fed with any bytes by the fuzzer, and checks what comes of them.
#[cfg(any(fuzzing, test))]
#[doc(hidden)]
pub mod hostile {
    #![allow(missing_docs)]
    pub use crate::dns::hostile::dns_answer;
}
