//! An attacker to test sandboxes with.
//!
//! A sandbox is believed when something that tried to leave it could not, and when the same attempt outside did succeed. This crate is
//! the one that tries. It has two sides, both in the program `skillsandbox-probe`:
//!
//! - **`plant`** is the host: a home with secrets, files that must not change, sockets that must not be reached, shared memory, keys, and
//!   itself as a process to be read and signalled. It prints a [`Context`] (where everything is, and the hash of each secret, never a
//!   secret) and, when its standard input ends, a [`Witness`]: what really reached it, whatever the attacker says.
//! - **`attack`** runs inside the sandbox. It tries each [`Technique`] in a child of its own and prints a [`Report`] a line.
//!
//! A verdict is [`Through`](Verdict::Through) only when the effect was seen: a secret was read whose hash is the planted one, a file is
//! different, a call came back as done or was turned down for its arguments rather than for who made it.
//!
//! Nothing here damages a host it is run on without a sandbox, as root or not: that run is the control that shows a technique can
//! succeed at all. What it would take to do so is left out on purpose: invalid magic numbers, empty modules, files that are opened and
//! not written, the time set to what it is.
//!
//! A driver uses [`Planted`]:
//!
//! ```no_run
//! use std::path::Path;
//! use skillsandbox_probe::Planted;
//!
//! let planted = Planted::start(Path::new("skillsandbox-probe"), Path::new("/tmp/victim"))?;
//! let context = planted.context().to_json();
//! // … run `skillsandbox-probe attack --context <context>` in the sandbox, with `granted` and `readonly` granted …
//! let witness = planted.finish()?;
//! assert!(witness.untouched(), "{witness:?}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What it does not do
//!
//! It uses no kernel bug. A sandbox that holds against all of it may still fall to one.

#![cfg(target_os = "linux")]
#![deny(unsafe_code)]

mod canary;
mod context;
mod misbehaviour;
mod outcome;
mod plant;
mod planted;
mod runner;
mod scene;
mod status;
#[allow(unsafe_code, reason = "raw system calls, which no safe library makes, are the point of an attacker")]
mod sys;
mod techniques;

pub use crate::canary::Canary;
pub use crate::context::{Context, Handle, Host, Inode, Ipc, Key, Launcher, Sockets, SysV, Victim, Witness};
pub use crate::misbehaviour::{daemonise, flood, spin, stubborn};
pub use crate::outcome::{Report, Stopped, Tried, Verdict, reports};
pub use crate::plant::plant;
pub use crate::planted::Planted;
pub use crate::runner::{Isolation, attack};
pub use crate::scene::{Scene, has_borrowed_rights, helper};
pub use crate::techniques::{Control, Group, Technique, all};
