//! The words that every part of `SkillSandbox` uses alike.
//!
//! A manifest declares a [`SyscallProfile`], a plan enforces it, a trace names it. The crates that do so are embedded one by one, so
//! what they share lies below all of them, and is written once.
//!
//! ```
//! use skillsandbox_terms::{Protocol, SyscallProfile};
//!
//! assert_eq!("https".parse(), Ok(Protocol::Https));
//! assert_eq!(SyscallProfile::Strict.to_string(), "strict");
//! let error = "lax".parse::<SyscallProfile>().unwrap_err();
//! assert_eq!(error.to_string(), "unknown syscall profile `lax`; accepted are default, strict and permissive");
//! ```
//!
//! # Exhaustive on purpose
//!
//! No enum here is `#[non_exhaustive]`. Where a term decides what is allowed, an arm for "everything else" would widen what it does not
//! know; so there is none, and a new variant does not compile until every crate has decided what it means.
//!
//! # Features
//!
//! - `serde`: every term as its word.
//! - `schema`: `schemars::JsonSchema`, too.
#![forbid(unsafe_code)]

mod fail_on;
mod file_operation;
mod layer_standing;
mod observe_level;
mod parameter_type;
mod protocol;
mod run_end;
mod runtime;
mod syscall_profile;
mod term;

pub use fail_on::FailOn;
pub use file_operation::FileOperation;
pub use layer_standing::LayerStanding;
pub use observe_level::ObserveLevel;
pub use parameter_type::ParameterType;
pub use protocol::{Protocol, Transport};
pub use run_end::{EndCause, RunLimit};
pub use runtime::Runtime;
pub use syscall_profile::SyscallProfile;
pub use term::UnknownTerm;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
