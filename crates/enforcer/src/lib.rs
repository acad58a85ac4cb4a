//! Confines a command on Linux without root.
#![deny(unsafe_code)]
#![cfg(target_os = "linux")]

mod layer;
mod seccomp;

pub use layer::Layer;
pub use seccomp::{CompileError, Judgement, Profile, UnknownProfile};
