//! `skillsandbox serve`: an agent's way to skills, and what it is no way to.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod arguments;
mod client;
mod confinement;
mod decisions;
mod lifetime;
// Skips are told in one way, by whoever skips.
#[allow(dead_code)]
#[path = "../../../enforcer/tests/common/missing.rs"]
mod missing;
mod others;
mod output;
mod rows;
mod traces;
