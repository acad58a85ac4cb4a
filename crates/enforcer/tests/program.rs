//! Which program a name means, on made-up hosts and on this one.
//!
//! The module is the crate's own and not public, so it is compiled into this test as it stands.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![allow(dead_code, reason = "the module serves the crate, and tests use what they need of it")]
#![cfg(target_os = "linux")]

#[path = "program/errors.rs"]
mod errors;
#[path = "program/here.rs"]
mod here;
#[path = "program/hostile.rs"]
mod hostile;
#[path = "program/installations.rs"]
mod installations;
#[path = "program/libraries.rs"]
mod libraries;
#[path = "../src/program/mod.rs"]
mod program;
#[path = "program/scripts.rs"]
mod scripts;
#[path = "program/shims.rs"]
mod shims;
#[path = "program/venvs.rs"]
mod venvs;
#[path = "program/world.rs"]
mod world;
