//! Confines a command on Linux without root.
#![deny(unsafe_code)]
#![cfg(target_os = "linux")]

mod layer;

pub use layer::Layer;
