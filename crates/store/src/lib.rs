//! What is kept on disk of skills and their runs.
//!
//! - [`history`]: what every run came to.

#![forbid(unsafe_code)]

pub mod history;

/// The code of the README, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
