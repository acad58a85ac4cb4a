//! Confines a command on Linux without root.
#![deny(unsafe_code)]
#![cfg(target_os = "linux")]

// Nothing calls it yet.
#[allow(dead_code)]
mod cgroup;
mod layer;

pub use cgroup::Mechanism;
pub use layer::Layer;
