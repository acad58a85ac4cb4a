//! Lets a network namespace without a way out reach exactly the names it was granted.
#![forbid(unsafe_code)]
#![cfg(target_os = "linux")]

mod attempt;
mod broker;
mod connection;
mod datagrams;
mod dial;
mod dns;
mod engine;
mod gate;
mod ledger;
mod lookup;
mod names;
mod policy;
mod relay;
mod rule;
mod service;
mod share;
mod special;
mod tap;
mod token;
mod tunnel;
mod witnesses;

pub use attempt::{Action, Attempt, End, Process, Reason, Verdict};
pub use broker::{Broker, Sockets};
pub use ledger::{Ledger, Observer, Record};
pub use policy::{Listens, Policy, Problem};
pub use rule::{Protocol, Rule, Transport};
pub use tap::{Tap, tap_filter};

/// What the fuzz targets need. No part of the interface.
#[cfg(fuzzing)]
#[doc(hidden)]
#[allow(missing_docs, missing_debug_implementations)]
pub mod hostile {
    pub use crate::dns::hostile::{dns_answer, dns_reply};
    pub use crate::gate::hostile::Gate;
}
