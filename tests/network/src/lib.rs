//! A small Internet on one machine, for tests of what a confined program can reach.
//!
//! - [`on_stage`] runs a test in a network namespace that leads nowhere, where public, private and special addresses are all at home.
//!   Whatever goes wrong there, no packet leaves the machine.
//! - [`Sink`] and [`DatagramSink`] count what reaches them, and prove with a visitor of their own, each time they are asked, that they
//!   can be reached: that is what "nothing left the sandbox" is measured by.
//! - [`serve`] is a server for anything else, [`Resolver`] a name server that counts its questions and may lie.
//! - [`python`] runs a program in the sandbox that does exactly what a test wants done.
//!
//! Not published; a test tool of the workspace.

#![cfg(target_os = "linux")]
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![allow(clippy::missing_panics_doc, reason = "all of it is for tests, where a panic is the answer")]

mod client;
mod launcher;
mod names;
mod servers;
mod stage;

pub use client::{attempts, command, outside, plan, python, reached, refused, said};
pub use launcher::{descriptors, highest_resident, limit_descriptors, resident, threads};
pub use names::{Reply, Resolver};
pub use servers::{DatagramSink, Server, Sink, datagrams, echo, echo_datagrams, serve};
pub use stage::{bounded, helper, ip, on_stage, until};
