//! The demo, from without: as a user starts it, and as its table is to be trusted.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![cfg(target_os = "linux")]

mod played;
mod shown;
mod table;
mod victim;
