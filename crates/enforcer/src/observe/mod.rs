//! What a run tries: observed before the kernel carries it out, and reported.
//!
//! One thread receives notifications of calls and answers them (`notify_listener.rs`); it reads only what must be read while the
//! caller waits. Another judges the calls and tells the observer (`reporter.rs`), however long that takes. The queue between them
//! (`record_queue.rs`) is bounded, and what does not fit is counted.

mod caller_memory;
mod caller_socket;
mod connector;
mod destinations;
mod job_bell;
mod leave_to_kernel;
mod local_walk;
mod mount_table;
mod notify_listener;
mod path_resolver;
mod path_verdicts;
mod process_lookup;
mod process_table;
mod record_queue;
mod refusals;
mod reporter;
mod run_observation;
mod sandbox_root;
mod socket_closer;
mod socket_judge;
mod syscall_record;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Instant, SystemTime};

use serde::Serialize;
use skillsandbox_egress::Attempt;
use skillsandbox_terms::FileOperation;

pub(crate) use path_verdicts::PathJudge;
pub use refusals::RefusedCall;
pub(crate) use run_observation::RunObservation;

/// Is told what a run tries, in a thread of its own.
///
/// ```
/// use std::sync::{Arc, Mutex};
/// use skillsandbox_enforcer::{Command, ObservedAction, ObservedEvent, Observer, Plan};
///
/// /// The programs that a run executes.
/// #[derive(Default)]
/// struct Programs(Mutex<Vec<String>>);
///
/// impl Observer for Programs {
///     fn observed(&self, observed: &ObservedEvent) {
///         if let ObservedAction::Exec(execution) = &observed.tried {
///             self.0.lock().unwrap().push(execution.path.display().to_string());
///         }
///     }
/// }
///
/// # fn main() -> Result<(), skillsandbox_enforcer::Error> {
/// let programs = Arc::new(Programs::default());
/// let command = Command::new("/bin/sh").args(["-c", "/bin/true; exit"]).observer(Arc::clone(&programs) as Arc<dyn Observer>);
/// let outcome = Plan::builder().build()?.spawn(&command)?.wait()?;
/// // Inside another supervised sandbox, nothing can be observed.
/// assert!(!outcome.reports_refusals || programs.0.lock().unwrap().contains(&"/bin/true".to_owned()));
/// # Ok(())
/// # }
/// ```
pub trait Observer: Send + Sync {
    /// Called for one event after the other. It may take its time: a run does not wait for it. [`Command::observe_required`] ends a run
    /// of which something could not be reported.
    ///
    /// [`Command::observe_required`]: crate::Command::observe_required
    fn observed(&self, observed: &ObservedEvent);
}

/// Something that was tried.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ObservedEvent {
    /// When.
    pub at: SystemTime,
    /// The same by a clock that never goes back.
    pub instant: Instant,
    /// Who it was, where that is known.
    pub actor: Option<Arc<Actor>>,
    /// What it was.
    pub tried: ObservedAction,
}

/// A process of a run.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[non_exhaustive]
pub struct Actor {
    /// Its number on the host.
    pub pid: u32,
    /// The thread's number on the host.
    pub thread: u32,
    /// The process's number inside, as it knows itself.
    pub inner_pid: Option<u32>,
    /// Who started it, by the number on the host.
    pub parent: Option<u32>,
    /// The program it executes.
    pub binary: Option<String>,
}

/// What was tried.
///
/// A closed set: a new variant is a compile error in every `match` over it, so that none is let through unnoticed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ObservedAction {
    /// Something with a file.
    File(ObservedFile),
    /// To execute a program.
    Exec(Execution),
    /// To reach something. `process` of it is the same as the actor.
    Network(Attempt),
    /// A call that the profile does not have. Its `count` is 1.
    Refused(RefusedCall),
    /// So many events were not reported, because too many came at a time.
    Lost(u64),
}

/// Something with a file.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[non_exhaustive]
pub struct ObservedFile {
    /// What was to be done.
    pub operation: FileOperation,
    /// The file, as the program named it, from the root on.
    pub path: PathBuf,
    /// Where that leads, if there are links on the way.
    pub real: Option<PathBuf>,
    /// The other file, of operations that have two.
    pub to: Option<PathBuf>,
    /// What comes of it, by the rules of the run.
    pub verdict: AccessVerdict,
}

/// A program that was to be executed.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[non_exhaustive]
pub struct Execution {
    /// The program, as it was named, from the root on.
    pub path: PathBuf,
    /// Where that leads, if there are links on the way.
    pub real: Option<PathBuf>,
    /// Its arguments: at most 256, of each the first 17 KiB, and 65 KiB of all.
    pub arguments: Vec<String>,
    /// That is not all: there are more, or longer ones, or some that could not be read.
    pub are_cut: bool,
    /// What comes of it, by the rules of the run.
    pub verdict: AccessVerdict,
}

/// What comes of an access, by the rules of the run.
///
/// A closed set: a new variant is a compile error in every `match` over it, so that none is let through unnoticed.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AccessVerdict {
    /// It is allowed, by this grant.
    Allowed(String),
    /// It is not, for this reason: nothing inside has this name, though something on the host has; or it may not be changed.
    Denied(&'static str),
    /// It is not forbidden, but there is nothing of this name.
    NotThere,
    /// It cannot be known, for this reason.
    Unknown(&'static str),
}
