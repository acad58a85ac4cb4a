//! An MCP server through which an agent runs skills in the sandbox.
//!
//! ```no_run
//! use std::sync::Arc;
//!
//! use skillsandbox_mcp::{McpServer, ServerSettings};
//! use skillsandbox_run::Unrecorded;
//!
//! let mut settings = ServerSettings::new(["skills".into()]);
//! settings.max_concurrent = 2;
//! // Where its runs are recorded: `skillsandbox_store::history::HistoryFile`, or nowhere.
//! let server = McpServer::new(&settings, Arc::new(Unrecorded))?;
//! // Speaks on this program's standard input and output until the client goes away.
//! server.serve_stdio()?;
//! # Ok::<(), skillsandbox_mcp::ServerError>(())
//! ```
//!
//! # What an agent can and cannot do with it
//!
//! It can name a skill below the roots, give it parameters and arguments, and read what came of it. It cannot widen anything: roots, policy
//! and limits are fixed when the server starts, every tool refuses arguments it does not know, and there is none for skipping the scan, for
//! waiving a wall, for hosts, folders or variables. A skill is known by the name of its folder, never by what its own files call it, so that
//! none can pass for another.
//!
//! # What it guarantees
//!
//! - Standard output carries JSON-RPC and nothing else. It is moved away before anything runs, so that what a skill, a library or a panic
//!   prints ends elsewhere.
//! - What a skill did wrong, or was refused, is an answer with `isError` and a text that says what a person can do; protocol errors are
//!   for what is not a valid request.
//! - What `read_skill` reads lies in the skill's folder, and the scanner does not refuse it; it is marked as its author's words.
//! - Answers are bounded: 256 KiB of each output, 200 refusals, 1 MiB of a trace, pages of 100 entries. What was left out is said.
//! - A line that is too long, or no JSON that every reader reads alike, is answered with an error, under its id where that can be had.
//! - A name leads only to what `list_skills` lists: to no folder below another skill, hidden, linked, or writable by others or by another skill.
//! - A call that is cancelled, and a client that goes away, end the skill with all its processes.
//! - Skills at a time, calls that wait and answers that nobody reads are bounded.
//! - Every run is in the history that the server was given, and its answer has the digest of its trace.
//!
//! # What is inside
//!
//! ```text
//!  client ──► stdio.rs ──► strict_lines.rs ──► backpressure.rs: no more than can be answered ──► rmcp ──► server.rs ──► tools/: a table; run.rs, skills.rs, read.rs, skill_tools.rs, check.rs, explain.rs ──► answer.rs
//!                                                                                                          │             └─ skill_roots.rs: the roots, each held open
//!                                                                                                          └─ run_slots.rs: slots for runs, and their end     trace_folder.rs: resources
//! ```
//!
//! - `ToolContext` is all that tools work with, and all of it is fixed when the server starts. A tool is a function of it and of its arguments,
//!   whose type refuses what it does not know.
//! - `answer.rs` is the one way into a text: what others wrote is escaped into a line, or quoted between marks.
//! - `run_slots.rs` ends every run there is in one call; backpressure makes that call when the client goes away, and so does a signal.
//!
//! # What the model reads
//!
//! Structured content holds what a skill printed as it is (invalid UTF-8 replaced, and said so). The text shows it between two lines with a
//! random mark that the skill cannot know, characters that could deceive a reader escaped. So a skill can print what it likes, but not step
//! out of its quotation. Whether a model obeys a text that it is shown is beyond any server.
//!
//! # What it does not protect
//!
//! The client is believed to be the user's own: a program that speaks to standard input may run the skills below the roots. A person or program that may
//! change files below the roots, while the server runs, chooses what is run; a skill that runs cannot.

#![forbid(unsafe_code)]

mod answer;
mod backpressure;
mod run_slots;
mod server;
mod settings;
mod skill_roots;
mod stdio;
mod strict_lines;
mod tools;
mod trace_folder;

pub use run_slots::ServerShutdown;
pub use server::McpServer;
pub use settings::{DEFAULT_CONCURRENT, MAX_CONCURRENT, ServerError, ServerSettings};

/// The code of the README, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
