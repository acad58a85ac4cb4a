//! Keeps the file tools of an AI agent inside its workspace.
//!
//! An agent calls tools (`Read`, `write_file`, `Glob`, …) with arguments a language model made up, and a skill or a web page may have
//! told it what to make up. This crate answers, before the tool runs, whether every path in the call is inside; and it opens files in a
//! way that holds even while something moves folders and links about.
//!
//! ```
//! use serde_json::json;
//! use skillsandbox_path_policy::{OpenOptions, PathPolicy};
//!
//! # let workspace = tempfile::tempdir()?;
//! # std::fs::write(workspace.path().join("notes.md"), "hello")?;
//! let policy = PathPolicy::new(workspace.path())?;
//!
//! // Judge a call …
//! let arguments = json!({ "file_path": "../../etc/passwd" });
//! let decision = policy.validate_call("Read", &arguments);
//! assert!(decision.reason().starts_with("path traversal blocked: tool `Read`: argument `file_path`: `../../etc/passwd` climbs out"));
//!
//! // … and open what it names, race-free.
//! let file = policy.open("notes.md", &OpenOptions::reading())?;
//! # drop(file);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Two forms
//!
//! - [`PathPolicy::validate_call`] and [`PathPolicy::check`] **judge**. The answer is about the moment it is given; it is right for tools
//!   that open by themselves, in a workspace that nothing hostile changes meanwhile.
//! - [`PathPolicy::open`], [`create`](PathPolicy::create), [`read_dir`](PathPolicy::read_dir), [`create_dir`](PathPolicy::create_dir),
//!   [`rename`](PathPolicy::rename) and [`remove`](PathPolicy::remove) **do**, beneath folders that are held open, so that what is
//!   opened is what was checked. Use them for your own tools.
//!
//! # What a path means
//!
//! | written | meaning |
//! |---|---|
//! | `a/b` | starts at the root, whatever the process's directory is |
//! | `/ws/a` | inside if it is below a root by whole names (`/ws2` is not), in the root's real spelling or the one it was given in |
//! | `a/../b` | as the kernel does it: links first, `..` after. A climb out of a root is refused even if it comes back; it may lead to another root |
//! | a link, anywhere, in chains | followed, 40 at most; judged by where it leads, dangling or not. Absolute links may lead inside |
//! | a name that does not exist yet | judged by its nearest existing folder; `..` behind it is refused |
//! | `/proc/self/root`, `/proc/self/fd/3`, `/dev/fd/3` | never inside: links that lie on procfs are refused, even below a granted `/proc` |
//! | `~`, `~user`, `$HOME…` at the beginning; `${`, `$(`, a backquote anywhere; `$X` in a path that climbs | refused; `routes/$id.tsx` is a name |
//! | `file:…`, `scheme://…`, `C:…` | refused |
//! | `%2e%2e%2f`, `%252e`, `%c0%ae`, `%u002e` | decoded up to six times; every stage must pass too. `a%20b` passes |
//! | `\` | refused: a separator to some |
//! | `a.`, `a `, ` a`, `...` | refused: some cut it off |
//! | `．．`, `a／b`, `∕`, `․`, `‥` | refused: NFKC and code pages make `.` and `/` of them |
//! | zero-width, bidirectional and control characters, NUL | refused |
//! | `é` as one letter or two | two names to the kernel; both are judged, the stricter counts. A forbidden name is forbidden in both |
//! | `{a,../../etc}/x`, `.*/x` as patterns | taken apart; what can climb is refused |
//! | more than 4095 bytes, 255 a name, 256 names; not UTF-8; empty | refused |
//!
//! # What it does not protect
//!
//! - **A check is racy.** Between [`check`](PathPolicy::check) and a tool's own open a folder can be swapped for a link. Only the
//!   race-free form closes that.
//! - **Hard links** have no direction: a second name inside the root for a file outside is the file. Linux lets users make them to files
//!   they may write, or to all with `fs.protected_hardlinks=0`. The same holds for a second name of a forbidden file.
//! - **Mount points** inside a root belong to it, bind mounts included: whoever can mount has other ways.
//! - **A folder moved out** of the root while it is held open is still written to. Who can do that can write outside anyway.
//! - **The roots' own places**: a root is held open, but an absolute path is compared with its name. Folders above a root must not be
//!   writable for whoever is not trusted.
//! - **Forbidden paths are names.** On file systems that ignore case say [`CaseHandling::Insensitive`]. A tool that walks whole trees
//!   meets them by itself; see [`ForbiddenBelow`].
//! - **Patterns** are judged by their beginning. Files they match may be links: open matches by [`open`](PathPolicy::open), or check each.
//! - **Paths inside text**: commands (`Bash`), patches (`apply_patch`), code. They are not looked at; confine the process.
//! - **Arguments nobody has heard of.** Under keys that say nothing, a value counts as paths from every place where one can begin
//!   (`x=/etc/passwd`, `@../x`, `["/etc/passwd"]`, keys too), unless it is an address of a network with a host and without `..`, or prose: words
//!   with blanks between, the first a plain one (`tests/unknown_tools.rs`). A plain relative name under a key like `subject` is not taken for a path, nor is
//!   anything under a key for text (`body`, `command`, `query`): a tool that takes files' names there must be described by a [`ToolSpec`].
//! - It confines calls, not processes. A tool that runs code needs a sandbox.
//!
//! # Inside
//!
//! ```text
//! tool call ──► call: every path in it ──► syntax, percent, glob: what the text decides ──► one openat2, no links ──► allow
//!               tools: which keys                          │ no disk, no allocation                    │ anything but yes
//!                                                          ▼                                           ▼
//!                                                        deny ◄───────────────────────── walk: name by name, every folder held
//! ```
//!
//! - The fast way can only allow. Otherwise the walk decides, so one place knows the reason of a denial.
//! - `open` uses the same two ways, and opens in the folder that the walk holds: what is opened is what was checked.
//! - `loose_text` finds the paths in values of which nothing is known.
//! - Tools, keys and characters are tables (`tools`, `lookalike`). The rules and their texts are one table (`decision`). `decision_json` is a
//!   decision as programs in other languages read it.
//!
//! # Kernel support
//!
//! Linux. From 5.6 on a path without links costs one `openat2`; before, and where a filter forbids that call, a walk name by name decides
//! the same. No unsafe code.

#![forbid(unsafe_code)]

mod builder;
mod call;
mod decision;
mod decision_json;
mod glob;
mod json;
mod lookalike;
mod loose_text;
mod open;
mod percent;
mod policy;
mod real_path;
mod roots;
mod settings;
mod syntax;
mod sys;
mod tools;
mod walk;

/// The code of the README, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

pub use crate::builder::{PathPolicyBuilder, PathPolicyError};
pub use crate::decision::{PathDecision, PathDenial, PathRule};
pub use crate::decision_json::PathErrorCode;
pub use crate::json::strict_json;
pub use crate::open::{DirEntry, OpenError, OpenOptions};
pub use crate::policy::{PathPolicy, PromptRequest, SanitizeError};
pub use crate::real_path::real_path;
pub use crate::settings::{AccessKind, CaseHandling, ForbiddenBelow, ToolMode, UnknownTools};
pub use crate::tools::ToolSpec;
