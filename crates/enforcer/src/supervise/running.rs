//! A run that is going on.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::mpsc;
use std::thread::JoinHandle;

use super::run_slots::RunSlot;
use super::supervisor::{StartedRun, Supervisor, WakeEvent};
use super::{OutputPipe, RunOutcome, RunTerminal};
use crate::error::Error;
use crate::plan::{Command, OutputMode, Plan};
use crate::prepare::prepare;

impl Plan {
    /// Starts a command under this plan. When this returns, every layer is in place and the program is running; when a
    /// layer is not available, nothing was executed and the error says which and why.
    ///
    /// May be called from any thread of any program.
    pub fn spawn(&self, command: &Command) -> Result<RunningCommand, Error> {
        self.spawn_holding(command, None)
    }

    /// Holds the slot until the run has ended.
    pub(crate) fn spawn_holding(
        &self,
        command: &Command,
        slot: Option<RunSlot>,
    ) -> Result<RunningCommand, Error> {
        let (prepared, mut outside) = prepare(self, command)?;
        let host_error = |what| move |source: std::io::Error| Error::Host { what, source };
        let wake = Arc::new(WakeEvent::new().map_err(host_error("make an event"))?);
        let stdin = outside.ends.stdin.take().map(File::from);
        let ended = Arc::new(WakeEvent::new().map_err(host_error("make an event"))?);
        let piped = |wanted: OutputMode, end: &mut Option<OwnedFd>| match wanted {
            OutputMode::Piped => end.take().map(|pipe| OutputPipe::new(pipe, &ended)),
            OutputMode::Discarded | OutputMode::Inherited | OutputMode::Captured(_) => None,
        };
        let stdout = piped(command.stdout, &mut outside.ends.stdout);
        let stderr = piped(command.stderr, &mut outside.ends.stderr);
        let ended_too = Arc::clone(&ended);
        let (started, wait_for_start) = mpsc::sync_channel(1);
        let (told, outcome) = mpsc::sync_channel(1);
        let supervisor = Supervisor::new(self, command, outside, Arc::clone(&wake), ended);
        let watched = move || {
            supervisor.run(prepared, &started, &told);
            drop(slot);
        };
        // The kernel ends a sandbox with the thread that made it, so the one that makes it is the one that stays.
        let thread = std::thread::Builder::new().name("skillsandbox".into()).stack_size(128 << 10);
        let thread = thread.spawn(watched).map_err(host_error("start a thread"))?;
        match wait_for_start.recv() {
            Ok(Ok(StartedRun { pid, terminal })) => {
                let terminal = terminal.map(|outer| RunTerminal::new(outer, &ended_too));
                let teardown = Some(RunTeardown(Some(thread)));
                Ok(RunningCommand { outcome, teardown, wake, pid, stdin, stdout, stderr, terminal })
            }
            Ok(Err(error)) => {
                let _ = thread.join();
                Err(error)
            }
            Err(mpsc::RecvError) => {
                let _ = thread.join();
                Err(Error::Host { what: "start a run", source: std::io::Error::other("its thread ended") })
            }
        }
    }
}

/// A command that runs. Dropping it ends every process of it.
#[derive(Debug)]
pub struct RunningCommand {
    outcome: mpsc::Receiver<RunOutcome>,
    /// `None` after its end was waited for.
    teardown: Option<RunTeardown>,
    wake: Arc<WakeEvent>,
    pid: i32,
    stdin: Option<File>,
    stdout: Option<OutputPipe>,
    stderr: Option<OutputPipe>,
    terminal: Option<RunTerminal>,
}

/// What is still to be taken down of a run whose processes are all gone: its mounts, its control group, the threads that watched it. That goes on
/// by itself; dropping this waits for it.
#[derive(Debug)]
#[must_use = "dropping it waits until nothing of the run is left"]
pub struct RunTeardown(Option<JoinHandle<()>>);

impl RunTeardown {
    fn is_done(&self) -> bool {
        self.0.as_ref().is_none_or(JoinHandle::is_finished)
    }
}

impl Drop for RunTeardown {
    fn drop(&mut self) {
        if let Some(thread) = self.0.take() {
            let _ = thread.join();
        }
    }
}

impl RunningCommand {
    /// The number that the sandbox's init has on the host.
    #[must_use]
    pub fn pid(&self) -> i32 {
        self.pid
    }

    /// Takes the pipe to its standard input, where one was asked for. Dropping it is the end of the input.
    pub fn stdin(&mut self) -> Option<File> {
        self.stdin.take()
    }

    /// Takes the pipe from its standard output, where one was asked for. It ends with the run, whoever else holds the other end.
    pub fn stdout(&mut self) -> Option<OutputPipe> {
        self.stdout.take()
    }

    /// Takes the pipe from its standard error, where one was asked for.
    pub fn stderr(&mut self) -> Option<OutputPipe> {
        self.stderr.take()
    }

    /// Takes the outer end of its terminal, where one was asked for.
    pub fn terminal(&mut self) -> Option<RunTerminal> {
        self.terminal.take()
    }

    /// Whether it has ended, and nothing of it is left.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.teardown.as_ref().is_none_or(RunTeardown::is_done)
    }

    /// Ends every process of it. [`RunningCommand::wait`] then returns.
    pub fn kill(&self) {
        self.wake.signal();
    }

    /// A handle that can end the run from another thread while this one waits.
    #[must_use]
    pub fn killer(&self) -> RunKiller {
        RunKiller(Arc::clone(&self.wake))
    }

    /// Waits for its end, and until nothing of it is left. The pipe to its standard input is closed first, unless it was taken.
    pub fn wait(self) -> Result<RunOutcome, Error> {
        self.wait_for_end().map(|(outcome, _)| outcome)
    }

    /// Waits until all processes of it have ended and all that was observed is told, which is sooner: the kernel takes its time over what
    /// is left then.
    pub fn wait_for_end(mut self) -> Result<(RunOutcome, RunTeardown), Error> {
        self.stdin = None;
        let outcome = self.outcome.recv();
        let teardown = self.teardown.take();
        let lost =
            || Error::Host { what: "watch the run", source: std::io::Error::other("its thread failed") };
        outcome.ok().zip(teardown).ok_or_else(lost)
    }
}

impl Drop for RunningCommand {
    fn drop(&mut self) {
        if self.teardown.is_some() {
            self.kill();
        }
    }
}

/// Ends a run from any thread.
#[derive(Debug, Clone)]
pub struct RunKiller(Arc<WakeEvent>);

impl RunKiller {
    /// Ends every process of the run, if it is still going on.
    pub fn kill(&self) {
        self.0.signal();
    }
}
