//! The system's git, in our own sandbox: one host or one folder, and the quarantine.

use std::path::PathBuf;
use std::time::Duration;

use skillsandbox_manifest::{Destination, EgressRule, Protocol};
use skillsandbox_run::{AddressPin, Job, ObserveLevel, OutputTarget, RunOptions, RunStatus, run};
use skillsandbox_store::{Git, GitCall};

/// The largest pack that is fetched. A skill is at most an eighth of it; a repository holds more than one.
const MAX_PACK: u64 = 512 << 20;
const MAX_MEMORY: u64 = 2 << 30;
const MAX_PROCESSES: u32 = 64;
/// What a slow server and a slow line may take.
const PATIENCE: Duration = Duration::from_mins(5);
/// Most that git may say.
const MAX_OUTPUT: u64 = 1 << 20;
/// Most of its complaint that is told.
const TOLD: usize = 600;

/// The certificates of a server that only this user's company vouches for. It is all of git's environment that is handed on.
const AUTHORITIES: &str = "GIT_SSL_CAINFO";

pub(super) struct ConfinedGit {
    pins: Vec<AddressPin>,
}

impl ConfinedGit {
    pub(super) fn new(pins: Vec<AddressPin>) -> Self {
        Self { pins }
    }
}

impl Git for ConfinedGit {
    fn run(&self, call: &GitCall) -> Result<Vec<u8>, String> {
        let mut job = Job::new("git", "git");
        job.arguments = call.arguments.iter().map(Into::into).collect();
        job.set_env = call.environment.iter().cloned().collect();
        job.workdir = Some(call.write.clone());
        job.write.push(call.write.clone());
        job.read.extend(call.read.clone());
        if let Some((host, port)) = &call.host {
            let name = host.parse().map_err(|_| format!("{host} is not a host"))?;
            if let Some(file) =
                std::env::var_os(AUTHORITIES).map(PathBuf::from).filter(|file| file.is_absolute())
            {
                job.set_env.insert(AUTHORITIES.to_owned(), file.to_string_lossy().into_owned());
                job.read.push(file);
            }
            job.pins.clone_from(&self.pins);
            job.egress.push(EgressRule::new(Destination::Domain(name), [*port], Protocol::Https));
        }
        job.limits.disk = Some(MAX_PACK);
        job.limits.memory = Some(MAX_MEMORY);
        job.limits.processes = Some(MAX_PROCESSES);
        job.limits.timeout = Some(PATIENCE);
        job.limits.output = Some(MAX_OUTPUT);
        job.observe = ObserveLevel::Violations;
        let mut options = RunOptions::default();
        options.tool = Some(concat!("skillsandbox ", env!("CARGO_PKG_VERSION")).to_owned());
        (options.streams.stdout, options.streams.stderr) = (OutputTarget::Kept, OutputTarget::Kept);
        let report = run(&job, options);
        if report.status() == RunStatus::Success {
            return Ok(report.stdout.kept);
        }
        let said = String::from_utf8_lossy(&report.stderr.kept).trim().chars().take(TOLD).collect::<String>();
        let why = report.error().unwrap_or_else(|| "it failed".to_owned());
        Err(if said.is_empty() { why } else { said })
    }
}
