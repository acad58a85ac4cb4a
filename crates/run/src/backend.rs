//! What runs a job: one file a runtime.

use std::fmt;

use serde::Serialize;
use skillsandbox_manifest::Runtime;
use skillsandbox_terms::LayerStanding;
use skillsandbox_tracer::{RecordedTrace, Recorder};

use crate::job::Job;
use crate::refusal::Refusal;
use crate::report::RunExit;
use crate::session::RunStreams;
use crate::streams::PrintedOutput;

/// Runs jobs of one kind.
///
/// A backend enforces all of a job or refuses it: what it cannot hold is a [`Refusal`], never something left out.
pub trait Backend: Send + Sync {
    /// The runtime that manifests ask for it by.
    fn runtime(&self) -> Runtime;

    /// What a run of this job would have on this host, and be held by. Executes nothing of it.
    ///
    /// # Errors
    /// A job that would be refused whatever the host offers.
    fn preview(&self, job: &Job) -> Result<RunPreview, Refusal>;

    /// Runs a job to its end, and tells the recorder what it tries.
    fn run(&self, job: &Job, recorder: Recorder, streams: &RunStreams) -> BackendResult;
}

/// What is left of a run.
#[derive(Debug)]
pub struct BackendResult {
    /// How it ended, or why it did not begin.
    pub ended: Result<RunExit, Refusal>,
    /// What was recorded.
    pub recorded: RecordedTrace,
    /// What it printed to standard output.
    pub stdout: PrintedOutput,
    /// What it printed to standard error.
    pub stderr: PrintedOutput,
    /// What is still being taken down of a run that has ended, while its report is written. Dropping it waits for that.
    pub remains: Option<RunRemains>,
}

/// Whatever a backend takes down after a run.
pub type RunRemains = Box<dyn fmt::Debug + Send>;

/// What a run would have, and be held by.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RunPreview {
    /// The program that would be executed, or its name where it was not looked for.
    pub program: String,
    /// Every wall, in the order in which they are put up.
    pub layers: Vec<LayerPreview>,
    /// Why a run would be refused on this host, if it would be.
    pub refused: Option<String>,
}

/// One wall of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct LayerPreview {
    /// Its name.
    pub layer: &'static str,
    /// What it is for.
    pub purpose: &'static str,
    /// What this run would have of it.
    pub holds: Vec<String>,
    /// How much of it this host has.
    pub standing: LayerStanding,
    /// What is missing, or why all of it is.
    pub missing: Vec<String>,
    /// What to do about that.
    pub cure: Vec<String>,
    /// Whether the run would go on without it.
    pub best_effort: bool,
}

/// The backend for a runtime.
///
/// # Errors
/// One that is not available is refused: there is no other that would do instead.
pub fn backend(runtime: Runtime) -> Result<Box<dyn Backend>, Refusal> {
    match runtime {
        #[cfg(target_os = "linux")]
        Runtime::Native => Ok(Box::new(crate::native::NativeBackend)),
        #[cfg(not(target_os = "linux"))]
        Runtime::Native => Ok(Box::new(crate::unsupported::UnsupportedBackend)),
        other @ (Runtime::Wasm | Runtime::Oci) => {
            let why =
                "this version runs native skills only; there is no fallback to another runtime".to_owned();
            Err(Refusal::Runtime { runtime: other, why })
        }
    }
}
