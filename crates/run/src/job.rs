//! What is wanted of a run, in no backend's terms.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use skillsandbox_manifest::{EgressRule, EnvPattern, Resolver, Runtime, SyscallProfile};
use skillsandbox_terms::ObserveLevel;
use skillsandbox_text::{Secret, is_secret_name};

use crate::grant_hint::HintStyle;
use crate::hint_context::WithheldGrants;
use crate::manifest_origin::InstalledSkill;

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
    /// Files among the write grants that are not there, and are made empty when the run begins.
    pub(crate) new_files: Vec<NewFile>,
    /// What may not be touched, whatever is granted above it.
    pub forbidden: Vec<PathBuf>,
    /// Unix sockets of this machine that may be connected to.
    pub unix_sockets: Vec<PathBuf>,
    /// The most that may be read, by where grants and what programs need lead; `None` is no bound. Paths of `as_named` are not held to it.
    pub read_within: Option<Vec<PathBuf>>,
    /// The most that may be written, likewise.
    pub write_within: Option<Vec<PathBuf>>,
    /// Folders that somebody filled who is not trusted: a link in them is not followed on the way to a grant or a program.
    pub untrusted: Vec<UntrustedPlace>,
    /// What may be reached. Without any, there is no network.
    pub egress: Vec<EgressRule>,
    /// Who resolves the names in it.
    pub resolver: Resolver,
    /// The resolver that a skill's manifest asks for and that nobody else has named. With it a run that has a network is refused: whoever answers
    /// for names chooses where they lead. [`choose_resolver`](Self::choose_resolver) settles it.
    pub resolver_wish: Option<IpAddr>,
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
    /// Changes nothing on this machine: what is written goes into an overlay that ends with the run, and names that are not granted lead nowhere
    /// but are seen with their ports. It is for finding out what a program needs.
    pub rehearsal: bool,
    /// The store's own work, which may write where skills are installed.
    pub(crate) is_stores_own: bool,
    /// Values that are taken out of everything that is recorded, by name.
    pub secrets: Vec<(String, Secret)>,
    /// A folder that was scanned, and the digest of what was scanned: it is read once more when every layer is in place, and nothing is run
    /// where it is another.
    pub scanned: Option<ScannedFolder>,
    /// An installed skill, and what its runs may write in its folder: it is compared with what was installed when every layer is in place, and
    /// nothing is run where it is another.
    pub(crate) installed: Option<(InstalledSkill, Vec<String>)>,
    /// What the trace should say of how this came about: a subject and a sentence each.
    pub notes: Vec<(String, String)>,
    /// In whose words it is told what would have let something happen.
    pub hint_style: HintStyle,
    /// What the skill declares and the user's policy took away: that is not to be declared once more.
    pub withheld: WithheldGrants,
}

/// A file that is made for a run, below a folder that no link leads out of.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "nothing is made there"))]
pub(crate) struct NewFile {
    pub(crate) root: PathBuf,
    pub(crate) below: PathBuf,
}

/// A folder whose links nobody vouches for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UntrustedPlace {
    /// Its path, without links.
    pub path: PathBuf,
    /// By which it is known where it was moved: device, inode number, and when it was made, since numbers are used again.
    pub identity: Option<(u64, u64, u64)>,
    /// Who filled it.
    pub author: PlaceAuthor,
}

/// Who filled a folder whose links nobody vouches for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlaceAuthor {
    /// The author of the skill that is run.
    Skill,
    /// A run that could write it.
    EarlierRun,
}

/// A folder as it was when it was scanned.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ScannedFolder {
    /// Which.
    pub folder: PathBuf,
    /// The digest of what was scanned, but for what the run may write itself, as reports have it.
    pub digest: String,
    /// The same over all that the folder held, modes and links too: what it is compared by.
    pub snapshot: String,
    /// Whether these very files were compared with what was installed, and are that.
    pub is_as_installed: bool,
    /// The folders and files below it that the run may write.
    pub writable: Vec<String>,
}

// Elsewhere nothing runs.
#[cfg(target_os = "linux")]
impl ScannedFolder {
    /// Whether it is still what was scanned. Its own git folder is not: that is hidden from the run, where it was there when the run was made.
    pub(crate) fn check(&self, git_is_hidden: bool) -> Result<(), String> {
        if !git_is_hidden && self.folder.join(".git").symlink_metadata().is_ok_and(|found| found.is_dir()) {
            return Err("a .git was put into it after it was scanned".to_owned());
        }
        let read =
            skillsandbox_scanner::FolderSnapshot::read(&self.folder).map_err(|error| error.to_string())?;
        if read.digest_without(&self.writable) == self.snapshot {
            Ok(())
        } else {
            Err("it was changed after it was scanned".to_owned())
        }
    }
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
    /// Processor time of all processes together.
    pub cpu_time: Option<Duration>,
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
            cpu_time: None,
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
            new_files: Vec::new(),
            forbidden: Vec::new(),
            unix_sockets: Vec::new(),
            read_within: None,
            write_within: None,
            untrusted: Vec::new(),
            egress: Vec::new(),
            resolver: Resolver::System,
            resolver_wish: None,
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
            rehearsal: false,
            is_stores_own: false,
            secrets: Vec::new(),
            scanned: None,
            installed: None,
            notes: Vec::new(),
            hint_style: HintStyle::ExecFlags,
            withheld: WithheldGrants::default(),
        }
    }

    /// Names the resolver, on the word of the user and whatever the skill asked for; `by` says in the trace whose word it was.
    pub fn choose_resolver(&mut self, resolver: Resolver, by: &str) {
        let asked =
            self.resolver_wish.take().map(|wish| format!("; the skill asked for {wish}")).unwrap_or_default();
        self.resolver = resolver;
        self.notes.push((
            "network".to_owned(),
            format!("names are resolved by {resolver}, which {by} names{asked}"),
        ));
    }

    /// Refuses a resolver that only the skill itself has named.
    pub(crate) fn check_resolver(&self) -> Result<(), crate::refusal::Refusal> {
        match self.resolver_wish.filter(|_| !self.egress.is_empty()) {
            Some(wish) => Err(crate::refusal::Refusal::ResolverWish(wish)),
            None => Ok(()),
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

    /// Variables that programs do better with, unless something else is said of them: texts are UTF-8, and Python leaves no compiled files
    /// behind in folders that it may write.
    pub fn set_default_variables(&mut self) {
        for (name, value) in [("LANG", "C.UTF-8"), ("PYTHONDONTWRITEBYTECODE", "1")] {
            let matches =
                |pattern: &String| pattern.parse::<EnvPattern>().is_ok_and(|pattern| pattern.matches(name));
            // What `!NAME` denies in a list of allowed ones is denied.
            let denied =
                |pattern: &String| pattern.strip_prefix('!').is_some_and(|name| matches(&name.to_owned()));
            let is_handed_on = self.allow_env.iter().any(matches) && std::env::var_os(name).is_some();
            let is_denied = self.deny_env.iter().any(matches) || self.allow_env.iter().any(denied);
            if !is_handed_on && !is_denied {
                self.set_env.entry(name.to_owned()).or_insert_with(|| value.to_owned());
            }
        }
    }

    /// Takes out of what is recorded the values of variables whose names speak of secrets: of this program's own, whether the run is given
    /// them or not, and of those that are set for it.
    pub(crate) fn redact_environment(&mut self, variables: &[(String, Secret)]) {
        self.secrets.extend_from_slice(variables);
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
