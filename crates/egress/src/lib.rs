//! Lets a network namespace without a way out reach exactly the names it was granted.
#![forbid(unsafe_code)]
#![cfg(target_os = "linux")]

mod attempt;
mod attempt_log;
mod broker;
mod broker_loop;
mod connect_observations;
mod connection;
mod datagrams;
mod descriptor_share;
mod dial;
mod dns;
mod event_token;
mod gate;
mod lookup;
mod name_service;
mod policy;
mod relay;
mod rule;
mod special;
mod synthetic_addresses;
mod tap;
mod tunnel;

pub use attempt::{Attempt, AttemptAction, AttemptEnd, AttemptVerdict, CallingProcess, RefusalReason};
pub use attempt_log::{AttemptLog, AttemptObserver, NetworkRecord};
pub use broker::{Broker, NamespaceSockets};
pub use policy::{EgressPolicy, EgressProblem, ListenPorts};
pub use rule::{NetworkRule, Protocol, Transport};
pub use tap::{PacketTap, tap_filter};

/// What the fuzz targets need. No part of the interface.
#[cfg(fuzzing)]
#[doc(hidden)]
#[allow(missing_docs, missing_debug_implementations)]
pub mod hostile {
    pub use crate::dns::hostile::{dns_answer, dns_reply};
    pub use crate::gate::hostile::FuzzGate;
}
