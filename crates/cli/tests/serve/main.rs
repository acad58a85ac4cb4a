//! `skillsandbox serve`: an agent's way to skills, and what it is no way to.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod alarms;
mod arguments;
mod behaviours;
mod client;
mod confinement;
mod decisions;
mod installed;
mod lifetime;
mod lines;
mod others;
mod output;
mod reading;
mod roots;
mod skill_tools;
mod traces;
