//! `skillsandbox wrap`: somebody else's MCP server, confined. `docs/wrap.md`.

use std::ffi::OsString;
use std::io::{IsTerminal as _, stderr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;
use clap::Args;
use skillsandbox_manifest::{ByteSize, SkillDoc};
use skillsandbox_run::{
    Job, LoadChoice, LoadedSkill, OutputTarget, Refusal, RunHistory, RunOptions, RunReport, SkillCall,
    StopHandle, UserPolicy, run,
};

use super::run_history::{optional_history, tidy_later, unrecorded_history};
#[cfg(target_os = "linux")]
use super::running::grants::AskedReach;
use super::running::{self, flags, grants::GrantFlags, grants::NarrowFlags, signals};
use crate::output::ExitAnswer;

/// What the history calls it.
const VERB: &str = "wrap";
/// How long a server has to end by itself after its client is gone. The protocol asks for that; the clients that wait before they kill wait no
/// less.
const PATIENCE: Duration = Duration::from_secs(2);
/// Most bytes of a server's standard error that are handed on: agents keep it in a log, which nobody bounds.
const MOST_ERRORS: usize = 16 << 20;
/// Processes and threads that a server may have: one of Node has a dozen.
const PROCESSES: u32 = 256;

/// Run somebody else's MCP server in the sandbox: put it before the server's command in the agent's configuration
///
/// Standard input and output are the server's own, byte for byte; nothing else is ever written to standard output. Nothing is granted but what
/// the flags, or a manifest, say.
#[derive(Debug, Args)]
#[command(
    after_help = "It ends when the server does. When its input ends, or at a signal, the server is ended with all its processes.

Examples:
  skillsandbox wrap --workspace . -- node server-filesystem/dist/index.js .
  skillsandbox wrap --read ./repository -- mcp-server-git --repository ./repository
  skillsandbox wrap --allow-host api.example.com --env API_KEY -- my-server
  skillsandbox wrap --manifest my-server.yaml -- my-server

In an agent's configuration (.mcp.json):
  {\"mcpServers\": {\"files\": {\"command\": \"skillsandbox\", \"args\": [\"wrap\", \"--workspace\", \".\", \"--\", \"my-server\", \".\"]}}}

Exit codes: the server's own; 125 refused or the sandbox failed, 126 it cannot be executed, 127 it is not there, 128+n ended by signal n."
)]
pub(crate) struct WrapArgs {
    /// Grant what this manifest declares; the flags add to it. Its time limit is for skills, and is not the server's
    #[arg(long, value_name = "FILE")]
    manifest: Option<PathBuf>,

    /// Narrow the manifest by this policy file instead of ~/.config/skillsandbox/policy.yaml
    #[arg(long, value_name = "FILE", requires = "manifest")]
    policy: Option<PathBuf>,

    #[command(flatten)]
    grants: GrantFlags,

    /// Most memory of all its processes together, such as 512M
    #[arg(long, value_name = "SIZE")]
    memory: Option<ByteSize>,

    /// End the server after this many seconds; without it, it may run as long as its client wants
    #[arg(long, value_name = "SECONDS", value_parser = flags::seconds)]
    timeout: Option<Duration>,

    /// Run without this layer if this host lacks it; the trace says so
    #[arg(long, value_name = "LAYER")]
    best_effort: Vec<String>,

    /// Write the trace to this file instead of a new one in the state folder
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,

    /// Do not record the run in the history
    #[arg(long)]
    no_history: bool,

    /// Print no summary to standard error when it has ended
    #[arg(long, short)]
    quiet: bool,

    /// The server and its arguments; no shell reads them
    #[arg(value_name = "SERVER", required = true, last = true)]
    server: Vec<OsString>,
}

impl WrapArgs {
    /// What decides how far it reaches.
    #[cfg(target_os = "linux")]
    pub(crate) fn asked_reach(&self) -> AskedReach<'_> {
        AskedReach {
            grants: Some(&self.grants),
            manifest: self.manifest.as_deref(),
            policy: self.policy.as_deref(),
            best_effort: &self.best_effort,
            ..AskedReach::default()
        }
    }

    pub(crate) fn run(&self) -> anyhow::Result<ExitAnswer> {
        running::prepare_threads();
        let stop = signals::stop_handle(None)?;
        let stand_in = self.manifest.as_ref().map(|_| StandIn::new()).transpose()?;
        let job = match self.job(stand_in.as_ref())? {
            Ok(job) => job,
            Err(refusal) => {
                running::refused(&refusal);
                return Ok(ExitAnswer::Code(refusal.exit_code()));
            }
        };
        let history = if self.no_history { unrecorded_history() } else { optional_history(None) };
        let report = self.serve(&job, history.as_ref(), stop);
        match &report.ended {
            Err(refusal) => running::refused(refusal),
            Ok(_) if self.quiet => {}
            Ok(_) => running::show_summary(&report),
        }
        tidy_later(&report);
        Ok(ExitAnswer::Code(report.exit_code()))
    }

    fn serve(&self, job: &Job, history: &dyn RunHistory, stop: StopHandle) -> RunReport {
        let mut options = RunOptions::default();
        options.trace.clone_from(&self.trace);
        options.tool = Some(concat!("skillsandbox ", env!("CARGO_PKG_VERSION")).to_owned());
        options.history_tool = Some(VERB.to_owned());
        options.streams.stdin = true;
        options.streams.end_after_input = Some(PATIENCE);
        options.streams.stop = stop;
        options.streams.stdout = OutputTarget::Own;
        let is_terminal = stderr().is_terminal();
        options.streams.most_errors = Some(MOST_ERRORS);
        options.streams.stderr = if is_terminal { OutputTarget::Terminal } else { OutputTarget::Own };
        run(job, history, options)
    }

    fn job(&self, stand_in: Option<&StandIn>) -> anyhow::Result<Result<Job, Refusal>> {
        let (program, arguments) = self.server.split_first().context("there is no server")?;
        let mut job = if let Some((file, stand_in)) = self.manifest.as_ref().zip(stand_in) {
            match self.declared(file, stand_in)? {
                Ok(job) => job,
                Err(refusal) => return Ok(Err(refusal)),
            }
        } else {
            let name = Path::new(program).file_name().unwrap_or(program).to_string_lossy();
            let mut job = Job::new(name, program);
            self.grants.apply(&mut job)?;
            job.limits.processes = Some(PROCESSES);
            job
        };
        // The server is what stands in the agent's configuration, whatever a manifest has as its entrypoint.
        (job.program, job.arguments) = (program.clone(), arguments.to_vec());
        job.limits.memory = self.memory.map_or(job.limits.memory, |memory| Some(memory.bytes()));
        // Limits of a skill's one run mean nothing to a server.
        job.limits.timeout = self.timeout;
        job.limits.output = None;
        job.best_effort.extend(self.best_effort.iter().cloned());
        Ok(Ok(job))
    }

    /// What a manifest grants to the server.
    fn declared(&self, file: &Path, stand_in: &StandIn) -> anyhow::Result<Result<Job, Refusal>> {
        let grants = self.grants.for_skill(&NarrowFlags::default())?;
        let load = || {
            let policy = UserPolicy::load(self.policy.as_deref(), [&stand_in.0])?;
            let mut choice = LoadChoice::default();
            choice.workspace = self.grants.workspace()?;
            choice.grants = grants;
            choice.manifest = Some(file.to_owned());
            let server = LoadedSkill::load_with(&stand_in.0, &choice, &policy)?;
            server.job(&SkillCall { arguments: self.server.clone(), ..SkillCall::default() })
        };
        Ok(load())
    }
}

/// A folder that stands for the folder of a skill, which a server does not have: permissions are of a skill, and a skill is a folder with a
/// document.
struct StandIn(PathBuf);

impl StandIn {
    fn new() -> anyhow::Result<Self> {
        let folder = std::env::temp_dir().join(format!("skillsandbox-{}", uuid::Uuid::new_v4()));
        let mut builder = std::fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        let stand_in = Self(folder);
        std::fs::write(stand_in.document(), "An MCP server, whose permissions were declared for it.\n")?;
        Ok(stand_in)
    }
}

impl StandIn {
    fn document(&self) -> PathBuf {
        self.0.join(SkillDoc::FILE_NAME)
    }
}

impl Drop for StandIn {
    fn drop(&mut self) {
        // Nobody else could write there; what is left of it harms nobody.
        let _ = std::fs::remove_file(self.document());
        let _ = std::fs::remove_dir(&self.0);
    }
}
