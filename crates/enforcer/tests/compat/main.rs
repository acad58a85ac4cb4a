//! Ordinary programs do real work in the sandbox, under the default profile, and their results are checked.
//!
//! A sandbox in which Python's `multiprocessing` or `git commit` fails is one that people turn off. So each case here is
//! something that skills do, and each says what must come out. When one fails, the message says whether it works outside the
//! sandbox and whether it works with the permissive profile, which tells a refused system call from a missing file.
//!
//! A program that is not on this machine is a skip: it is printed, and written to the file that `SKILLSANDBOX_SKIPPED` names,
//! from which `cargo xtask test` lists it. For a program that `SKILLSANDBOX_REQUIRE` names, it is a failure.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![cfg(target_os = "linux")]

mod case;
mod compilers;
mod documents;
mod everyday;
mod git;
mod java;
mod languages;
mod network;
mod node;
mod python;
mod shell;

use skillsandbox_test_support::missing;
