//! The system's git in the sandbox: one host or one folder to read, one folder to write.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use skillsandbox_manifest::{Destination, EgressRule, Protocol};
use skillsandbox_terms::ObserveLevel;

use crate::history::RunHistory;
use crate::job::{AddressPin, Job};
use crate::report::RunStatus;
use crate::session::{RunOptions, run};
use crate::streams::OutputTarget;

/// The largest pack that is fetched. A skill is at most an eighth of it; a repository holds more than one.
const MAX_PACK: u64 = 512 << 20;
const MAX_MEMORY: u64 = 2 << 30;
const MAX_PROCESSES: u32 = 64;
/// What a slow server and a slow line may take.
const TIMEOUT: Duration = Duration::from_mins(5);
/// Most that git may say.
const MAX_OUTPUT: u64 = 1 << 20;
/// Most of its complaint that is told.
const MAX_COMPLAINT: usize = 600;

/// The certificates of a server that only this user's company vouches for. It is all of git's environment that is handed on.
const AUTHORITIES: &str = "GIT_SSL_CAINFO";

/// One call of git, and all that it may touch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitCall {
    /// Its arguments; no shell may see them.
    pub arguments: Vec<String>,
    /// All of its environment, besides what the sandbox itself sets.
    pub environment: Vec<(String, String)>,
    /// The one host and port that may be reached.
    pub host: Option<(String, u16)>,
    /// The one folder that may be read.
    pub read: Option<PathBuf>,
    /// The one folder that may be written.
    pub write: PathBuf,
}

/// Runs git confined, and records each call in the history.
///
/// ```no_run
/// use std::sync::Arc;
///
/// use skillsandbox_run::{ConfinedGit, GitCall, Unrecorded};
///
/// let git = ConfinedGit::new(Arc::new(Unrecorded));
/// let version = git.run(&GitCall {
///     arguments: vec!["--version".into()],
///     environment: Vec::new(),
///     host: None,
///     read: None,
///     write: "/tmp/quarantine".into(),
/// })?;
/// # Ok::<(), String>(())
/// ```
#[derive(Clone)]
pub struct ConfinedGit {
    pins: Vec<AddressPin>,
    history: Arc<dyn RunHistory>,
}

impl fmt::Debug for ConfinedGit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConfinedGit").field("pins", &self.pins).finish_non_exhaustive()
    }
}

impl ConfinedGit {
    /// Git whose calls are recorded here.
    #[must_use]
    pub fn new(history: Arc<dyn RunHistory>) -> Self {
        Self { pins: Vec::new(), history }
    }

    /// Lets names lead to addresses of the caller's choice, for tests and development.
    #[must_use]
    pub fn pins(mut self, pins: impl IntoIterator<Item = AddressPin>) -> Self {
        self.pins.extend(pins);
        self
    }

    /// Runs git once to its end, with nothing but what the call names, and gives back what it printed.
    ///
    /// # Errors
    /// Why it could not be run, or what it said when it failed.
    pub fn run(&self, call: &GitCall) -> Result<Vec<u8>, String> {
        let mut options = RunOptions { history_tool: Some("git".to_owned()), ..RunOptions::default() };
        (options.streams.stdout, options.streams.stderr) = (OutputTarget::Kept, OutputTarget::Kept);
        let report = run(&self.job(call)?, self.history.as_ref(), options);
        if report.status() == RunStatus::Success {
            return Ok(report.stdout.kept);
        }
        let complaint = String::from_utf8_lossy(&report.stderr.kept);
        let complaint: String = complaint.trim().chars().take(MAX_COMPLAINT).collect();
        let why = report.error().unwrap_or_else(|| "it failed".to_owned());
        Err(if complaint.is_empty() { why } else { complaint })
    }

    fn job(&self, call: &GitCall) -> Result<Job, String> {
        let mut job = Job::new("git", "git");
        job.arguments = call.arguments.iter().map(Into::into).collect();
        job.set_env = call.environment.iter().cloned().collect();
        job.workdir = Some(call.write.clone());
        job.write.push(call.write.clone());
        job.is_stores_own = true;
        job.read.extend(call.read.clone());
        if let Some((host, port)) = &call.host {
            let name = host.parse().map_err(|_| format!("{host} is not a host name"))?;
            let authorities = std::env::var_os(AUTHORITIES).map(PathBuf::from);
            if let Some(file) = authorities.filter(|file| file.is_absolute()) {
                job.set_env.insert(AUTHORITIES.to_owned(), file.to_string_lossy().into_owned());
                job.read.push(file);
            }
            job.pins.clone_from(&self.pins);
            job.egress.push(EgressRule::new(Destination::Domain(name), [*port], Protocol::Https));
        }
        job.limits.disk = Some(MAX_PACK);
        job.limits.memory = Some(MAX_MEMORY);
        job.limits.processes = Some(MAX_PROCESSES);
        job.limits.timeout = Some(TIMEOUT);
        job.limits.output = Some(MAX_OUTPUT);
        job.observe = ObserveLevel::Violations;
        Ok(job)
    }
}
