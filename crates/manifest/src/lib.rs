//! What an agent skill declares about itself, read into types that cannot hold an invalid declaration.
//!
//! A skill is a folder with a `SKILL.md` and scripts, often from an unknown author. Beside it lies a
//! `skillsandbox.yaml` that says which hosts, files, variables and programs it needs. This crate reads both files
//! and nothing else: it does no network, starts nothing, prints nothing.
//!
//! ```
//! use skillsandbox_manifest::Manifest;
//!
//! let text = r#"
//! skill: { name: weather-lookup, version: "0.1.0" }
//! permissions:
//!   network:
//!     egress: [{ domain: "*.com" }]
//!   filesytem: { read: [/tmp/cache] }
//! entrypoint: { command: python3, args: [main.py] }
//! "#;
//! let invalid = Manifest::parse(text).unwrap_err();
//! let found: Vec<_> = invalid.diagnostics.iter().map(|d| (d.line, d.code.as_str())).collect();
//! assert_eq!(found, [(5, "invalid-wildcard"), (6, "unknown-key")]);
//! assert_eq!(invalid.diagnostics[1].help.as_deref(), Some("did you mean `filesystem`?"));
//! ```
//!
//! # What it guarantees
//!
//! - A [`Manifest`] that exists is valid: every name, path, port, pattern and limit was checked, defaults are filled
//!   in, and an omitted section grants nothing.
//! - Errors come all at once, each with its place in the text ([`Diagnostic`]); unknown and misspelt keys are errors.
//! - A text means what a reader sees: anchors, aliases, merge keys, tags, directives, several documents, duplicate
//!   keys, control characters and characters that reorder text are refused.
//! - Hostile input costs little: at most [`MAX_BYTES`] of text, bounded nesting, number of values and size of
//!   regular expressions; no recursion that input controls, no panic.
//! - A user's [`Policy`] narrows a manifest and can widen nothing.
//!
//! # How a text becomes a manifest
//!
//! A text goes through three forms, each a type that cannot hold what the next one refuses:
//!
//! ```text
//!  text ──► yaml.rs ──► tree with spans ──► decode.rs ──► raw.rs ──► each section's lower() ──► Manifest
//!           bounds, no anchors,             types, known  as         names, paths, ranges,      valid
//!           tags, duplicates                keys,         written    contradictions
//!                                           suggestion.rs
//! ```
//!
//! - Complaints go to one `DiagnosticSink` and reading continues behind them, so an author sees all mistakes at once.
//! - A section of the manifest is declared once, in `raw.rs`: its struct, its decoder, its known keys and its JSON Schema come from that
//!   declaration. What its values must be is in the module named after it (`network.rs`, `filesystem.rs`, …).
//! - `permissions/` enumerates what a manifest allows, once: a [`PermissionSet`] can be read, stored and compared. The lock of installed skills,
//!   the question about an update, the list of what a policy took away and `inspect` all use it. It takes the structs apart without `..`, so a
//!   new key does not compile until it has a place there.
//! - `policy.rs` narrows a manifest by a user's own ceiling; property tests compare it, point by point, with "what both allow".
//! - `skill_doc.rs` reads `SKILL.md` in whatever state it is in: judging it is the scanner's work.
//! - [`user_folders`] is the one place that asks where the user's home, data, state and settings are.
//! - The enums of the vocabulary ([`Protocol`], [`SyscallProfile`], [`Runtime`], [`Resolver`], [`Destination`], [`ParameterType`]) are not
//!   `non_exhaustive`: code that matches them names every word, and a new word cannot fall to a loose default.
//!
//! # What it does not protect
//!
//! It reads declarations; it does not look at what the skill does, and enforces nothing. Paths are compared by
//! name: the caller that opens them has to resolve symbolic links and ask again. `SKILL.md` is read as it is
//! ([`SkillDoc`]); judging it is a scanner's work.
//!
//! # Features
//!
//! - `declarations` (default): [`Manifest`] and [`Policy`]. Without it there is only the reader of `SKILL.md`.
//! - `schema`: JSON Schema of both files, from the types.

#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "declarations")]
mod commands;
#[cfg_attr(not(feature = "declarations"), allow(unused))] // what only declarations need
mod decode;
#[cfg_attr(not(feature = "declarations"), allow(unused))] // what only declarations need
mod diagnostic;
#[cfg(feature = "declarations")]
mod domain;
#[cfg(feature = "declarations")]
mod env_vars;
#[cfg(feature = "declarations")]
mod filesystem;
mod front_matter;
#[cfg(feature = "declarations")]
mod judge_policy;
#[cfg(feature = "declarations")]
mod load;
#[cfg(feature = "declarations")]
mod manifest;
#[cfg(feature = "declarations")]
mod network;
#[cfg(feature = "declarations")]
mod parameters;
#[cfg(feature = "declarations")]
mod pattern;
#[cfg(feature = "declarations")]
mod permissions;
#[cfg(feature = "declarations")]
mod policy;
#[cfg(feature = "declarations")]
mod policy_edit;
#[cfg(feature = "declarations")]
mod raw;
#[cfg(feature = "declarations")]
mod resources;
#[cfg(feature = "declarations")]
mod safe_defaults;
#[cfg(feature = "declarations")]
mod scan_policy;
#[cfg(feature = "schema")]
pub mod schema;
mod skill_doc;
mod span;
mod suggestion;
#[cfg(feature = "declarations")]
mod unknown_term;
#[cfg(feature = "declarations")]
pub mod user_folders;
mod yaml;

/// The code of the README, run as a test.
#[cfg(all(doctest, feature = "declarations"))]
#[doc = include_str!("../README.md")]
mod readme {}

#[cfg(feature = "declarations")]
pub use crate::commands::{CommandPermissions, Entrypoint, ProgramSpec};
pub use crate::diagnostic::{Code, Diagnostic, Fault, Invalid, Related, Span, Spanned};
#[cfg(feature = "declarations")]
pub use crate::domain::DomainPattern;
#[cfg(feature = "declarations")]
pub use crate::env_vars::{EnvDecision, EnvPattern, EnvPermissions};
#[cfg(feature = "declarations")]
pub use crate::filesystem::{FileAccess, FilePermissions, GrantBases, GrantPath};
pub use crate::front_matter::{AllowedTool, FrontMatter};
#[cfg(feature = "declarations")]
pub use crate::judge_policy::JudgePolicy;
#[cfg(feature = "declarations")]
pub use crate::load::LoadError;
#[cfg(feature = "declarations")]
pub use crate::manifest::{Manifest, SkillIdentity};
#[cfg(feature = "declarations")]
pub use crate::network::{Cidr, Destination, EgressRule, NetworkPermissions, Resolver};
#[cfg(feature = "declarations")]
pub use crate::parameters::{InvalidParameters, Parameter, ParameterViolation};
#[cfg(feature = "declarations")]
pub use crate::pattern::ParameterPattern;
#[cfg(feature = "declarations")]
pub use crate::permissions::{
    DocumentPermissions, LimitValue, ParameterRule, PermissionChange, PermissionDiff, PermissionEntry,
    PermissionSet, ResourceLimit,
};
#[cfg(feature = "declarations")]
pub use crate::policy::{NarrowedManifest, Policy, PolicyChange};
#[cfg(feature = "declarations")]
pub use crate::policy_edit::PolicyEditError;
#[cfg(feature = "declarations")]
pub use crate::resources::{ByteSize, ResourceLimits};
#[cfg(feature = "declarations")]
pub use crate::scan_policy::{Date, ScanPolicy, Suppression};
pub use crate::skill_doc::SkillDoc;
#[cfg(feature = "declarations")]
pub use skillsandbox_terms::{FailOn, ParameterType, Protocol, Runtime, SyscallProfile};

/// Largest text that is read as a manifest, a policy or front matter: 256 KiB, a hundred times the largest one seen.
pub const MAX_BYTES: usize = 256 * 1024;
