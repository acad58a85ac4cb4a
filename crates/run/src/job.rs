//! What is wanted of a run, in no backend's terms.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use skillsandbox_manifest::{EgressRule, Resolver, Runtime, SyscallProfile};
use skillsandbox_terms::ObserveLevel;
use skillsandbox_text::{Secret, is_secret_name};

/// What is wanted of a run: a command, and all that it may touch. What is not named is not granted.
///
/// A [`LoadedSkill`](crate::LoadedSkill) makes one of its manifest; a program without a manifest is described by hand.
///
/// ```
/// use skillsandbox_run::Job;
///
/// let mut job = Job::new("ls", "ls");
/// job.arguments.push("-l".into());
/// job.read.push("/srv/data".into());
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub struct Job {
    /// What the trace calls it.
    pub name: String,
    /// Its version, where it has one.
    pub version: Option<String>,
    /// What runs it.
    pub runtime: Runtime,
    /// The program: a name that is looked for in `PATH`, or a path.
    pub program: OsString,
    /// Its arguments, as they are; no shell sees them.
    pub arguments: Vec<OsString>,
    /// The folder it starts in; it must lie in a grant. Without one it is the private home.
    pub workdir: Option<PathBuf>,
    /// Files and folders that may be read.
    pub read: Vec<PathBuf>,
    /// Those of them that were looked at before: one that has become a link is refused, and not followed.
    pub as_named: Vec<PathBuf>,
    /// Files and folders that may be changed, too. A folder that is not there is made.
    pub write: Vec<PathBuf>,
    /// Where write grants led when they were judged: a grant, and its path without links. One that leads elsewhere when the run is prepared is
    /// refused, so that nothing is made in a place that nobody judged.
    pub judged_writes: Vec<(PathBuf, PathBuf)>,
    /// What may not be touched, whatever is granted above it.
    pub forbidden: Vec<PathBuf>,
    /// Unix sockets of this machine that may be connected to.
    pub unix_sockets: Vec<PathBuf>,
    /// What may be reached. Without any, there is no network.
    pub egress: Vec<EgressRule>,
    /// Who resolves the names in it.
    pub resolver: Resolver,
    /// Where names lead, for tests and development.
    pub pins: Vec<AddressPin>,
    /// Names and patterns of the variables that are handed on.
    pub allow_env: Vec<String>,
    /// Those that never are.
    pub deny_env: Vec<String>,
    /// Variables that are set.
    pub set_env: BTreeMap<String, String>,
    /// The system calls it may make.
    pub profile: SyscallProfile,
    /// The programs it may execute; `None` for any that it sees.
    pub commands: Option<ProgramRules>,
    /// What it may use.
    pub limits: JobLimits,
    /// Names of layers without which it may run where the host does not have them.
    pub best_effort: Vec<String>,
    /// How much of it is seen.
    pub observe: ObserveLevel,
    /// Ends it rather than not record something it tried.
    pub observe_required: bool,
    /// A folder that takes the place of the private `/tmp`, and is there when the run has ended.
    pub tmp: Option<PathBuf>,
    /// Values that are taken out of everything that is recorded, by name.
    pub secrets: Vec<(String, Secret)>,
    /// What the trace should say of how this came about: a subject and a sentence each.
    pub notes: Vec<(String, String)>,
}

/// The programs that a run may execute, and with what. Each is a name that is looked for in `PATH`, or a path.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProgramRules {
    /// The programs.
    pub allow: Vec<OsString>,
    /// For a program, what its first argument may be.
    pub allowed_args: BTreeMap<OsString, Vec<String>>,
    /// For a program, arguments that it may not be given, also as `--flag=value`.
    pub forbidden_args: BTreeMap<OsString, Vec<String>>,
}

/// A name that leads to an address of the caller's choice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddressPin {
    /// The name.
    pub name: String,
    /// The port it is asked for.
    pub port: u16,
    /// Where that leads.
    pub to: SocketAddr,
}

/// What a run may use. `None` is no limit.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct JobLimits {
    /// Bytes of memory.
    pub memory: Option<u64>,
    /// Processes and threads at a time.
    pub processes: Option<u32>,
    /// Processor time: 100 is one core.
    pub cpu_percent: Option<u32>,
    /// Open files of a process.
    pub open_files: Option<u64>,
    /// Bytes of the private folders together, and of the largest file.
    pub disk: Option<u64>,
    /// How long it may take.
    pub timeout: Option<Duration>,
    /// Bytes of standard output and standard error together. What comes after is thrown away, and the trace says so.
    pub output: Option<u64>,
}

impl JobLimits {
    /// No limit but those that every run has.
    #[must_use]
    pub fn none() -> Self {
        Self {
            memory: None,
            processes: None,
            cpu_percent: None,
            open_files: None,
            disk: None,
            timeout: None,
            output: None,
        }
    }
}

impl Job {
    /// A command that may touch nothing.
    #[must_use]
    pub fn new(name: impl Into<String>, program: impl Into<OsString>) -> Self {
        Self {
            name: name.into(),
            version: None,
            runtime: Runtime::Native,
            program: program.into(),
            arguments: Vec::new(),
            workdir: None,
            read: Vec::new(),
            as_named: Vec::new(),
            write: Vec::new(),
            judged_writes: Vec::new(),
            forbidden: Vec::new(),
            unix_sockets: Vec::new(),
            egress: Vec::new(),
            resolver: Resolver::System,
            pins: Vec::new(),
            allow_env: Vec::new(),
            deny_env: Vec::new(),
            set_env: BTreeMap::new(),
            profile: SyscallProfile::Default,
            commands: None,
            limits: JobLimits::none(),
            best_effort: Vec::new(),
            observe: ObserveLevel::default(),
            observe_required: false,
            tmp: None,
            secrets: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Where a write grant leads, now and for this run.
    pub(crate) fn judge_write(&mut self, grant: PathBuf) -> PathBuf {
        if let Some((_, real)) = self.judged_writes.iter().find(|(judged, _)| *judged == grant) {
            return real.clone();
        }
        let real = crate::reach::real_path(&grant);
        self.judged_writes.push((grant, real.clone()));
        real
    }

    /// Takes out of what is recorded the values of variables whose names speak of secrets: of this program's own, whether the run is given
    /// them or not, and of those that are set for it.
    pub(crate) fn redact_environment(&mut self) {
        self.secrets.extend(secret_variables());
        let set = self.set_env.iter().filter(|(name, _)| is_secret_name(name));
        self.secrets.extend(set.map(|(name, value)| (name.clone(), value.as_str().into())));
    }
}

/// This program's own variables whose names speak of secrets.
pub(crate) fn secret_variables() -> Vec<(String, Secret)> {
    let variables = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    variables.filter(|(name, _)| is_secret_name(name)).map(|(name, value)| (name, value.into())).collect()
}
