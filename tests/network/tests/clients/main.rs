//! Real clients, in the sandbox, against real servers outside it.
//!
//! Whatever a skill fetches with (curl, a library, a program that brings its own resolver), a granted destination works as it does
//! without a sandbox, and no other is reached. The servers listen on loopback and count what comes to them, whatever the sandbox
//! says of itself; and where nothing may come, the same request without the sandbox does come, so that a server which counts
//! nothing is found out.
//!
//! A program that is not on this machine is a skip, told as those of `compat` are.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![cfg(target_os = "linux")]

use skillsandbox_test_support::missing;
mod run;
mod servers;
mod tls;

mod behaviours;
mod datagrams;
mod endings;
mod gates_http;
mod gates_tls;
mod git;
mod http;
mod https;
mod messages;
mod resolvers;
mod sockets;
