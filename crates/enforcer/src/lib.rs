//! Confines a command on Linux without root.
#![deny(unsafe_code)]
#![cfg(target_os = "linux")]

mod layer;
#[allow(dead_code, reason = "called by the part that builds a plan, which follows")]
mod program;

pub use layer::Layer;
