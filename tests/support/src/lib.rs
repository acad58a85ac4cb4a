//! What the tests of several crates share.
//!
//! Every crate may have it as a dev-dependency by its path alone, which cargo leaves out when it packages the crate.
//! Only tests use it, so it panics where something that a test needs is wrong.
#![forbid(unsafe_code)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::missing_panics_doc,
    clippy::indexing_slicing
)]
#![allow(
    missing_docs,
    missing_debug_implementations,
    clippy::must_use_candidate,
    reason = "no API for others"
)]

pub mod browser;
pub mod hostile_manifests;
pub mod judge_server;
pub mod missing;
pub mod small_trace;
pub mod stories;
