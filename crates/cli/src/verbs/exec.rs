//! `skillsandbox exec`: any command in the same sandbox, without a manifest.

use std::ffi::OsString;
use std::path::Path;

use anyhow::Context as _;
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use skillsandbox_manifest::{ByteSize, SyscallProfile};
use skillsandbox_run::{Job, run};

#[cfg(target_os = "linux")]
use super::running::grants::AskedReach;
use super::running::{self, flags::RunFlags, grants::GrantFlags};
use crate::output::ExitAnswer;

/// Processes that a command may have unless it is told otherwise.
const PROCESSES: u32 = 256;
/// Most that a kernel has, as manifests have it.
const MOST_PROCESSES: i64 = 4_194_304;

/// Run any command in the sandbox: nothing is granted but what the flags say
#[derive(Debug, Args)]
#[command(
    after_help = "It starts in the current directory where that is granted, and in a private home otherwise.
Exit codes: the command's own; 124 it reached its time limit, 125 refused or the sandbox failed, 126 it cannot be executed, 127 it is
not there, 128+n ended by signal n: 130 for Ctrl-C.

Examples:
  skillsandbox exec ls -la /
  skillsandbox exec --read . --write ./out python3 build.py
  skillsandbox exec -t --read . bash
  skillsandbox exec --allow-host example.com -- curl -sS https://example.com
  skillsandbox exec --watch --timeout 10 --memory 256M -- sh -c 'cat ~/.ssh/id_rsa'"
)]
pub(crate) struct ExecArgs {
    #[command(flatten)]
    grants: GrantFlags,

    /// Most memory of all its processes together, such as 128M
    #[arg(long, value_name = "SIZE", value_parser = size)]
    memory: Option<u64>,

    /// Most processor time of all its processes together, in seconds
    #[arg(long, value_name = "SECONDS", value_parser = running::flags::seconds)]
    cpu_seconds: Option<std::time::Duration>,

    /// Most processes and threads at a time
    #[arg(long, value_name = "N", default_value_t = PROCESSES, value_parser = clap::value_parser!(u32).range(1..=MOST_PROCESSES))]
    max_processes: u32,

    /// Which system calls it may make
    #[arg(long, value_name = "PROFILE", default_value = "default", value_parser = profiles())]
    profile: SyscallProfile,

    #[command(flatten)]
    flags: RunFlags,

    /// The command and its arguments; no shell reads them. The first word that is not a flag begins it, and all that follows belongs to it
    #[arg(value_name = "COMMAND", required = true, trailing_var_arg = true)]
    command: Vec<OsString>,
}

/// The profiles, each with what it means for a command.
fn profiles() -> impl TypedValueParser<Value = SyscallProfile> {
    let values = SyscallProfile::ALL.iter().map(|profile| {
        let help = match profile {
            SyscallProfile::Strict => "Also no sockets, no new processes and no signals to others",
            SyscallProfile::Permissive => "Refuses nothing, reports",
            SyscallProfile::Default => "What ordinary programs need",
        };
        PossibleValue::new(profile.as_str()).help(help)
    });
    PossibleValuesParser::new(values).try_map(|name| name.parse::<SyscallProfile>())
}

impl ExecArgs {
    /// What decides how far it reaches.
    #[cfg(target_os = "linux")]
    pub(crate) fn asked_reach(&self) -> AskedReach<'_> {
        AskedReach {
            grants: Some(&self.grants),
            best_effort: &self.flags.best_effort,
            any_system_call: self.profile == SyscallProfile::Permissive,
            ..AskedReach::default()
        }
    }

    pub(crate) fn run(&self) -> anyhow::Result<ExitAnswer> {
        let mut job = match self.job() {
            Ok(job) => job,
            Err(error) => return running::refuse_or_fail(&self.flags, error),
        };
        if self.flags.dry_run {
            self.flags.apply(&mut job, None);
            return running::dry_run(&self.flags, &job);
        }
        let kept = self.flags.keep_tmp()?;
        self.flags.apply(&mut job, kept.as_ref());
        let history = self.flags.history()?;
        running::prepare_threads();
        running::run(&self.flags, "exec", |options| run(&job, history.as_ref(), options))
    }

    fn job(&self) -> anyhow::Result<Job> {
        let (program, arguments) = self.command.split_first().context("there is no command")?;
        let name = Path::new(program).file_name().unwrap_or(program).to_string_lossy();
        let mut job = Job::new(name, program);
        job.arguments = arguments.to_vec();
        self.grants.apply(&mut job)?;
        job.profile = self.profile;
        job.limits.memory = self.memory;
        job.limits.cpu_time = self.cpu_seconds;
        job.limits.processes = Some(self.max_processes);
        Ok(job)
    }
}

fn size(text: &str) -> anyhow::Result<u64> {
    let size: ByteSize = text.parse()?;
    Ok(size.bytes())
}
