//! Lets a network namespace without a way out reach exactly the names it was granted.
//!
//! ```
//! use skillsandbox_egress::{EgressPolicy, NetworkRule, Protocol};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut policy = EgressPolicy::new();
//! policy.allow(NetworkRule::domain("api.weather.test")?.protocol(Protocol::Https))?;
//! assert!(policy.listens().streams.contains(&443));
//! # Ok(())
//! # }
//! ```
//!
//! The caller makes sockets in the namespace on the ports of [`EgressPolicy::listens`], and gives them to [`Broker::start`]. What was
//! tried is in an [`AttemptLog`], and told to an [`AttemptObserver`] as it happens.
//!
//! # Inside
//!
//! ```text
//!  EgressPolicy: rule.rs, policy.rs ──► Broker (broker.rs): a thread a run
//!                                         broker_loop.rs, one epoll loop
//!  sockets made inside ─────────────────► ├─ datagrams.rs, name_service.rs ──► dns/answer.rs, synthetic_addresses.rs, tunnel.rs: names, answered here
//!                                         ├─ connection.rs: gate/ (tls, http) ──► lookup.rs (threads), special.rs ──► dial.rs ──► relay.rs (splice)
//!                                         ├─ datagrams.rs: UDP that was granted
//!                                         └─ tap.rs: packets without a listener ──► attempt_log.rs: attempts, folded, and an observer
//! ```
//!
//! - What reads hostile bytes (`dns/answer.rs`, `gate/`) does no input or output, holds bounded state, and is fuzzed. There is no unsafe
//!   code.
//! - `connection.rs` is one connection from its acceptance to its end; the loop never waits for one.
//! - `connect_observations.rs` knows which process named a destination, from what the enforcer observes of `connect`.
//!
//! # What it does not protect
//!
//! What is sent to a granted destination: it is passed on as it is. `docs/network.md` in the repository says more.
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
pub use rule::NetworkRule;
pub use skillsandbox_terms::{Protocol, Transport};
pub use special::special_address;
pub use tap::{PacketTap, tap_filter};

/// What the fuzz targets need. No part of the interface.
#[cfg(fuzzing)]
#[doc(hidden)]
#[allow(missing_docs, missing_debug_implementations)]
pub mod hostile {
    pub use crate::dns::hostile::{dns_answer, dns_reply};
    pub use crate::gate::hostile::FuzzGate;
}
