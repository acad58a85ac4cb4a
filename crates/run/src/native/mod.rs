//! Processes of this host, confined by its kernel.
//!
//! `plan.rs` makes a plan of a job, `commands.rs` sees to the programs it may execute, `preview.rs` says what it would get here, `record.rs` runs
//! a command and records it, with what `events.rs` makes of observations, `policy.rs` of the walls and `output.rs` of what is printed
//! (`terminal.rs`: on a terminal; `screen.rs`: from a terminal of its own).

mod commands;
mod events;
mod output;
mod plan;
mod policy;
mod preview;
mod record;
mod screen;
mod terminal;

use skillsandbox_enforcer::{CommandStatus, Error, RunOutcome};
use skillsandbox_manifest::Runtime;
use skillsandbox_tracer::Recorder;

use crate::backend::{Backend, BackendResult, RunPreview, RunRemains};
use crate::job::Job;
use crate::refusal::Refusal;
use crate::report::RunExit;
use crate::session::{RunStreams, refuse};

pub(crate) use plan::untrusted_folder;
pub use record::{RecordedRun, record};

/// Runs processes of this host.
#[derive(Debug)]
pub(crate) struct NativeBackend;

impl Backend for NativeBackend {
    fn runtime(&self) -> Runtime {
        Runtime::Native
    }

    fn preview(&self, job: &Job) -> Result<RunPreview, Refusal> {
        let (plan, command) = plan::plan(job)?;
        preview::preview(&plan, &command)
    }

    fn run(&self, job: &Job, mut recorder: Recorder, streams: &RunStreams) -> BackendResult {
        let (plan, command) = match plan::plan(job) {
            Ok(planned) => planned,
            Err(refusal) => return refuse(recorder, refusal),
        };
        if streams.stop.is_stopped() {
            return refuse(recorder, Refusal::Stopped);
        }
        let redactor = match record::redactor(&job.secrets) {
            Ok(redactor) => redactor,
            Err(error) => return refuse(recorder, error.into()),
        };
        recorder = recorder.redact(Box::new(std::sync::Arc::clone(&redactor)));
        let given = policy::given(job, &plan);
        let notes = commands::notes(job).into_iter().chain(policy::not_taken_out(&redactor));
        for note in notes.chain(given) {
            recorder.record(note);
        }
        let traced = record::record_redacted(&redactor, &plan, command, recorder, job.limits.output, streams);
        BackendResult {
            ended: traced.outcome.map(|outcome| ended(&outcome)).map_err(|error| {
                match (error, &job.scanned) {
                    (Error::Refused(_), Some(scanned)) => Refusal::Changed(scanned.folder.clone()),
                    (error, _) => refused(error),
                }
            }),
            recorded: traced.recorded,
            stdout: traced.stdout,
            stderr: traced.stderr,
            remains: traced.teardown.map(|teardown| Box::new(teardown) as RunRemains),
        }
    }
}

fn refused(error: Error) -> Refusal {
    match error {
        Error::NoProgram(why) => Refusal::NotFound(why),
        Error::Program(why) => Refusal::NotExecutable(why),
        other => Refusal::Sandbox(other.to_string()),
    }
}

fn ended(outcome: &RunOutcome) -> RunExit {
    let (exit_code, signal) = match outcome.status {
        CommandStatus::Exited(code) => (Some(code), None),
        CommandStatus::Signalled(signal) => (None, Some(signal)),
    };
    RunExit {
        exit_code,
        signal,
        by: outcome.end,
        duration: outcome.duration,
        limits_hit: outcome.limits_hit.iter().map(|hit| hit.limit.to_string()).collect(),
        waived: outcome.waived.iter().map(|(layer, why)| (layer.name().to_owned(), why.clone())).collect(),
        mechanism: outcome.mechanism.to_string(),
    }
}
