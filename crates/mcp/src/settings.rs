//! What is fixed when the server starts.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use skillsandbox_path_policy::PathPolicyError;
use skillsandbox_run::{InstalledSkills, Refusal, Workspace};

/// How many skills run at a time unless something else is asked for.
pub const DEFAULT_CONCURRENT: usize = 4;
/// Most skills that run at a time, whatever is asked for: each has processes, threads and open files of its own.
pub const MAX_CONCURRENT: usize = 64;

/// What is fixed when the server starts. Nothing that an agent says changes it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ServerSettings {
    /// The folders whose sub-folders are skills.
    pub roots: Vec<PathBuf>,
    /// The policy that every skill is narrowed by; without it, the user's own where there is one. It is read at each call, so that a change
    /// counts from the next one on.
    pub policy: Option<PathBuf>,
    /// How many skills run at a time, at most [`MAX_CONCURRENT`]; more wait.
    pub max_concurrent: usize,
    /// The longest that a skill may run, whatever its manifest says.
    pub timeout: Option<Duration>,
    /// Who knows which folders are installed skills: one that is not what was installed is refused. Without it, none is known to be installed.
    pub installed: Option<Arc<dyn InstalledSkills>>,
    /// The folder that every skill works in, where one was named.
    pub workspace: Option<Workspace>,
    /// Lists a tool of its own for every skill that declares parameters, with a schema of these.
    pub tools_per_skill: bool,
}

impl ServerSettings {
    /// Skills of these folders.
    #[must_use]
    pub fn new(roots: impl IntoIterator<Item = PathBuf>) -> Self {
        Self {
            roots: roots.into_iter().collect(),
            policy: None,
            max_concurrent: DEFAULT_CONCURRENT,
            timeout: None,
            installed: None,
            workspace: None,
            tools_per_skill: false,
        }
    }
}

/// Why the server does not start, or had to end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServerError {
    /// There is nothing to serve.
    #[error("name at least one folder with skills (--root)")]
    NoRoot,
    /// A root that is not a folder.
    #[error(transparent)]
    Root(#[from] PathPolicyError),
    /// A root that could be changed from within, or would show what it must not.
    #[error("cannot serve {}: {why}", path.display())]
    RootPlace {
        /// Which.
        path: PathBuf,
        /// Why not.
        why: String,
    },
    /// A policy that cannot be used.
    #[error(transparent)]
    Policy(#[from] Refusal),
    /// No skill could ever run.
    #[error("the number of skills at a time must be at least 1")]
    NoneAtATime,
    /// Standard input and output cannot be used.
    #[error("cannot use standard input and output: {0}")]
    Streams(#[from] std::io::Error),
    /// The protocol could not begin.
    #[error("the client did not begin as MCP does: {0}")]
    Protocol(String),
}
