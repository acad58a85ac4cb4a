//! The launching program's side of a run: `running.rs` starts a thread, `supervisor.rs` is that thread, from the start of a sandbox to its
//! [`RunOutcome`].
//!
//! `launch.rs` makes the processes and receives what they report. `tree_watch.rs` holds limits where no cgroup does, `capture.rs` keeps
//! output, `output_pipe.rs` hands it on, `run_terminal.rs` is the outer end of a terminal, `run_slots.rs` bounds how many runs there are at a time.

mod capture;
pub(crate) mod launch;
mod outcome;
mod output_pipe;
mod run_slots;
mod run_terminal;
mod running;
mod supervisor;
mod tree_watch;

pub use outcome::{CapturedOutput, CommandStatus, LimitHit, RunOutcome};
pub use output_pipe::OutputPipe;
pub use run_slots::RunSlots;
pub use run_terminal::{RunTerminal, TerminalControl};
pub use running::{RunKiller, RunTeardown, RunningCommand};
pub(crate) use supervisor::WakeEvent;
