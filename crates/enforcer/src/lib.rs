//! Confines a command on Linux without root.
//!
//! ```
//! use std::time::Duration;
//! use skillsandbox_enforcer::{Command, Plan};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let plan = Plan::builder().env("LANG", "C.UTF-8").timeout(Duration::from_secs(10)).build()?;
//! let outcome = plan.spawn(&Command::new("ls").arg("/home").captured(1 << 20))?.wait()?;
//! assert_eq!(outcome.stdout.text(), "skill\n");
//! # Ok(())
//! # }
//! ```
//!
//! # From a plan to an outcome
//!
//! A [`Plan`] says what is wanted. [`Plan::spawn`] looks up its paths and compiles what it needs in this process, makes a child in
//! new namespaces, and lets it put the layers in place ([`Layer`], in the order of [`Layer::ALL`]) before it executes the command. A
//! [`RunningCommand`] is watched by a thread of its own, which is also the one that the kernel ties its life to. Its
//! [`RunOutcome`] says how it ended and what held it.
//!
//! # It refuses rather than weakens
//!
//! A layer that is missing is an [`Error::Layer`], with the step that failed and the cure where one is known, and nothing was
//! executed. [`PlanBuilder::best_effort`] can waive the cgroup, Landlock and seccomp layers, each by name;
//! [`RunOutcome::waived`] then says what was missing and why. [`HostSupport::probe`] finds out beforehand, by trying.
//!
//! # The network
//!
//! Nothing leads out of a run's network namespace. [`PlanBuilder::egress`] lets it reach destinations by name or address: see [`egress`] and
//! `docs/network.md`. [`RunOutcome::network`] has what was tried.
//!
//! # What it does not protect
//!
//! - Against a bug in the kernel: it is one kernel for both sides.
//! - What is granted is granted: a run can fill a write grant, and leave anything in it that an ordinary program of the user could, set-user-id
//!   bits excepted.
//! - Unix sockets in granted folders are hidden when a run starts, not those that are bound there later.
//! - A forbidden file is hidden by its path; another hard link to it below a grant is another file.
//! - Supplementary groups of an ordinary user stay (the kernel does not let go of them), so files that only a group may read can be read
//!   where they are granted.
//! - Facts about the host that every process may read: its kernel, its processors, its load (`/proc`).
//! - Time: side channels.
//! - Limits without a cgroup hold programs that mean no harm: one that does can hold memory that a supervisor does not see
//!   (`docs/THREAT-MODEL.md`). [`RunOutcome::mechanism`] says which it was.
//!
//! # Kernel
//!
//! Linux 5.13 for all layers, 6.12 for what Landlock knows of signals and abstract sockets; user namespaces for ordinary users.
//! `docs/kernel-support.md` in the repository has the table.
//!
//! # Features
//!
//! - `systemd`: asks systemd's user manager for a cgroup where none is delegated.
//!
//! # Inside
//!
//! ```text
//!  plan/: Plan, Command ──► program/: which program, what it needs ──► prepare/: grants as they are here, everything a child needs
//!                                                                         │
//!    launching program: supervise/, a thread a run                        ▼
//!    ├─ launch.rs: clone3, receives the report   child/, the init: namespaces, mounts, loopback ──► the command's process: cgroup, fds,
//!    ├─ tree_watch.rs, cgroup/: limits             └─ layers/lifetime.rs: reaps, ends with it          rlimits, caps, no_new_privs, Landlock, seccomp, exec
//!    ├─ observe/: notify_listener.rs, a thread that receives notifications of calls and answers them (refusals.rs, destinations.rs)
//!    │     ──► record_queue.rs ──► reporter.rs, a thread that judges them (path_verdicts.rs) and tells the Observer;
//!    │     path_resolver.rs resolves a path before its caller goes on
//!    ├─ egress::Broker: serves the sockets of layers/network.rs
//!    └─ cgroup/orphan_reaper.rs: removes cgroups should this program be killed ──► RunOutcome
//! ```
//!
//! - `plan/` is what is wanted. `plan/resolve.rs` is pure: what a plan gets on a host; `plan/inspect.rs` is a plan as it would be
//!   carried out here.
//! - `prepare/` runs in the launching program, where memory may be allocated and errors have words; `child/` runs between `clone3` and
//!   `exec`, where only kernel calls may be made. `child/mod.rs` is the order of the layers, read from top to bottom.
//!   `child/step.rs` names every step, because a child can only report a number.
//! - `layers/` has one file a layer: `prepare` in the launching program, `apply` in the child.
//! - `supervise/` starts a run, watches it and ends it. `observe/` sees what it tries.
//! - `sys/` is the only unsafe code: small functions, one call each.
//! - `seccomp/groups/` are tables with a reason for every group of calls; `docs/seccomp.md` and the compiled filters are made from
//!   them.
//! - `support/` tries each layer in a throw-away child; `cures/` is a table of what to do.
//! - `tests/probe` of the repository attacks it: its `tests/control.rs` shows that each technique works without a sandbox,
//!   `tests/escape.rs` that none does in it.
//!
//! Enums that others match (verdicts, levels, layers, ends) are closed sets: a new variant is a compile error wherever it is matched.
#![deny(unsafe_code)]
#![cfg(target_os = "linux")]

mod cgroup;
mod child;
mod cures;
mod error;
mod layers;
mod observe;
mod plan;
mod prepare;
mod program;
mod seccomp;
mod supervise;
mod support;
mod sys;

/// What may be reached: rules, attempts, and their observer.
pub use skillsandbox_egress as egress;

pub use cgroup::{LimitMechanism, ResourceUsage};
pub use cures::Cure;
pub use error::{Error, PlanProblem};
pub use layers::Layer;
pub use layers::env::EnvironmentCounts;
pub use observe::{
    AccessVerdict, Actor, Execution, ObservedAction, ObservedEvent, ObservedFile, Observer, RefusedCall,
};
pub use plan::{
    Command, FolderAuthor, GrantedPath, LayerResolution, NeededPath, OutputMode, PathAccess, PathLink,
    PathSource, Plan, PlanBuilder, PlanInspection, PlanResolution, ResolvedStanding, RunLimits, StdinMode,
    TerminalSize, UntrustedFolder, follow_links,
};
pub use prepare::links::make_folder;
pub use seccomp::{CompileError, SyscallFilters, SyscallVerdict, unobserved_calls};
pub use skillsandbox_terms::{EndCause, FileOperation, ObserveLevel, RunLimit, SyscallProfile};
pub use supervise::{
    CapturedOutput, CommandStatus, LimitHit, OutputPipe, RunKiller, RunOutcome, RunSlots, RunTeardown,
    RunTerminal, RunningCommand, TerminalControl,
};
pub use support::{
    Container, HostCheck, HostCheckResult, HostFacts, HostSupport, KernelKind, LayerState, LayerSupport,
    LimitFacts, ObserveSupport, TrialRun,
};
pub use sys::fds::keep_from_programs;
pub use sys::heap::share_one_heap;
pub use sys::startup::is_stdout_closed;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
