//! Collects a [`Plan`] and checks it.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::net::{IpAddr, SocketAddr};
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use skillsandbox_egress::{EgressPolicy, NetworkRule};

use super::{Plan, RunLimits, UntrustedFolder};
use crate::error::{Error, PlanProblem};
use crate::layers::Layer;
use crate::layers::env::EnvironmentRules;
use crate::layers::mounts::HOME;
use skillsandbox_terms::SyscallProfile;

/// Paths that no grant may name or lie in: the sandbox has its own there.
const OWN: [&str; 3] = ["/proc", "/sys", "/dev"];

/// Collects a [`Plan`]. [`PlanBuilder::build`] reports mistakes.
#[derive(Debug, Clone, Default)]
pub struct PlanBuilder {
    read: Vec<PathBuf>,
    as_named: Vec<PathBuf>,
    write: Vec<PathBuf>,
    leads_to: Vec<(PathBuf, PathBuf)>,
    forbidden: Vec<PathBuf>,
    unix_sockets: Vec<PathBuf>,
    untrusted: Vec<UntrustedFolder>,
    read_within: Option<Vec<PathBuf>>,
    write_within: Option<Vec<PathBuf>>,
    workdir: Option<PathBuf>,
    tmp: Option<PathBuf>,
    environment: EnvironmentRules,
    limits: RunLimits,
    profile: SyscallProfile,
    no_exec: bool,
    programs: Option<Vec<OsString>>,
    egress: Vec<NetworkRule>,
    resolver: Option<IpAddr>,
    pins: Vec<(String, u16, SocketAddr)>,
    rehearsal: bool,
    best_effort: BTreeSet<Layer>,
}

impl PlanBuilder {
    /// Lets a file or folder be read, and what is in it be executed. It must exist when the plan is carried out.
    #[must_use]
    pub fn read(mut self, path: impl Into<PathBuf>) -> Self {
        self.read.push(path.into());
        self
    }

    /// Like [`read`](Self::read), for a path that was inspected before: if there is a link anywhere in it by now, it is refused and not
    /// followed.
    #[must_use]
    pub fn read_as_named(mut self, path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        self.as_named.push(path.clone());
        self.read(path)
    }

    /// Lets a file or folder be read and changed. A folder that does not exist is created when the plan is carried out.
    #[must_use]
    pub fn write(mut self, path: impl Into<PathBuf>) -> Self {
        self.write.push(path.into());
        self
    }

    /// Where a grant led when somebody judged it, without links. It is refused, and nothing is made, if it leads elsewhere when the plan is
    /// carried out.
    #[must_use]
    pub fn leads_to(mut self, grant: impl Into<PathBuf>, real: impl Into<PathBuf>) -> Self {
        self.leads_to.push((grant.into(), real.into()));
        self
    }

    /// Hides a file or folder below a grant.
    #[must_use]
    pub fn forbid(mut self, path: impl Into<PathBuf>) -> Self {
        self.forbidden.push(path.into());
        self
    }

    /// Lets a Unix socket of the host be connected to: this one, and no other that takes its place. It must exist when the plan is
    /// carried out, and not lie in a write grant. Without it no socket of the host is reached, whatever folder it lies in.
    ///
    /// Who listens there is told that the launching program connects, not which process of the run.
    #[must_use]
    pub fn unix_socket(mut self, path: impl Into<PathBuf>) -> Self {
        self.unix_sockets.push(path.into());
        self
    }

    /// Follows no link in this folder, at any depth, on the way to a grant, a forbidden path or a program: who could put one there would choose
    /// what is granted.
    #[must_use]
    pub fn no_links_in(mut self, folder: UntrustedFolder) -> Self {
        self.untrusted.push(folder);
        self
    }

    /// The most that may be read: every grant, and all that programs need besides the system's folders, must lie in one of these, by where
    /// each of them leads. Paths of [`read_as_named`](Self::read_as_named) are not held to it.
    #[must_use]
    pub fn read_within<P: Into<PathBuf>>(mut self, paths: impl IntoIterator<Item = P>) -> Self {
        self.read_within = Some(paths.into_iter().map(Into::into).collect());
        self
    }

    /// The most that may be written, likewise.
    #[must_use]
    pub fn write_within<P: Into<PathBuf>>(mut self, paths: impl IntoIterator<Item = P>) -> Self {
        self.write_within = Some(paths.into_iter().map(Into::into).collect());
        self
    }

    /// The folder the command starts in. It must lie in a grant; without one it is the private home.
    #[must_use]
    pub fn workdir(mut self, path: impl Into<PathBuf>) -> Self {
        self.workdir = Some(path.into());
        self
    }

    /// A folder of the host that takes the place of the private `/tmp`, so that it is there when the run has ended. It must exist, and
    /// the limit of [`disk`](Self::disk) does not hold in it but for single files.
    #[must_use]
    pub fn tmp(mut self, path: impl Into<PathBuf>) -> Self {
        self.tmp = Some(path.into());
        self
    }

    /// Sets a variable of the environment.
    #[must_use]
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.environment.set(name.as_ref(), value.as_ref());
        self
    }

    /// Hands on variables of the launching program: an exact name, or a pattern such as `APP_*`; `!NAME` is [`deny_env`].
    ///
    /// A pattern never matches a name that looks like a secret (`TOKEN`, `PASSWORD`, ...): such names are declared in full.
    ///
    /// [`deny_env`]: Self::deny_env
    #[must_use]
    pub fn allow_env(mut self, pattern: impl Into<String>) -> Self {
        self.environment.allow(pattern.into());
        self
    }

    /// Never hands on variables of this name or pattern, whatever else allows them.
    #[must_use]
    pub fn deny_env(mut self, pattern: impl Into<String>) -> Self {
        self.environment.deny(pattern.into());
        self
    }

    /// The most memory, in bytes, that all processes of the run may use together.
    #[must_use]
    pub fn memory(mut self, bytes: u64) -> Self {
        self.limits.memory = Some(bytes);
        self
    }

    /// The most processes and threads at a time.
    #[must_use]
    pub fn processes(mut self, count: u32) -> Self {
        self.limits.processes = Some(count);
        self
    }

    /// The share of processor time: 100 is one core.
    #[must_use]
    pub fn cpu_percent(mut self, percent: u32) -> Self {
        self.limits.cpu_percent = Some(percent);
        self
    }

    /// The most files a process may have open.
    #[must_use]
    pub fn open_files(mut self, count: u64) -> Self {
        self.limits.open_files = count;
        self
    }

    /// The size in bytes of the private folders together, and of the largest file that may be written anywhere.
    #[must_use]
    pub fn disk(mut self, bytes: u64) -> Self {
        self.limits.disk = bytes;
        self
    }

    /// The time after which every process of the run is ended.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.limits.timeout = Some(timeout);
        self
    }

    /// The profile of system calls; [`SyscallProfile::Default`] unless set.
    #[must_use]
    pub fn syscalls(mut self, profile: SyscallProfile) -> Self {
        self.profile = profile;
        self
    }

    /// Processor time that all processes together may use, those that ended included.
    #[must_use]
    pub fn cpu_time(mut self, time: Duration) -> Self {
        self.limits.cpu_time = Some(time);
        self
    }

    /// Nothing in the private folders and the write grants may be executed.
    #[must_use]
    pub fn no_exec(mut self) -> Self {
        self.no_exec = true;
        self
    }

    /// Only these programs may be executed, by whatever process of the run: names that are looked for in `PATH` as the command's is, or
    /// paths; of a folder, all that is in it. Those that are not there are left out. It means [`no_exec`](Self::no_exec), too, and the
    /// command must be among them.
    ///
    /// The kernel looks at what is executed, not at its arguments: a program that may execute an interpreter may do all that it can be told to. It
    /// needs Landlock, which cannot be waived then.
    ///
    /// Nothing else can be mapped to be executed either, but the system's libraries and those of these programs: native modules that are only
    /// granted for reading are not loaded, unless their folder is named here. `memfd_create` answers `ENOSYS`.
    #[must_use]
    pub fn programs<S: Into<OsString>>(mut self, programs: impl IntoIterator<Item = S>) -> Self {
        self.programs = Some(programs.into_iter().map(Into::into).collect());
        self.no_exec = true;
        self
    }

    /// Lets a destination be reached. Without any, there is no network at all.
    #[must_use]
    pub fn egress(mut self, rule: NetworkRule) -> Self {
        self.egress.push(rule);
        self
    }

    /// The resolver for granted names, instead of the host's own. The command itself never talks to one.
    #[must_use]
    pub fn resolver(mut self, address: IpAddr) -> Self {
        self.resolver = Some(address);
        self
    }

    /// Connects to `to` when a granted name is connected to on this port, without resolving it, whatever kind of address it is. For
    /// tests and development.
    #[must_use]
    pub fn pin(mut self, name: impl Into<String>, port: u16, to: SocketAddr) -> Self {
        self.pins.push((name.into(), port, to));
        self
    }

    /// Changes nothing on the host: what is written goes into an overlay that ends with the run, folders of write grants are not made, and
    /// a name that is not granted has an address that nobody answers on, so that the port is seen that a program wants.
    ///
    /// What is written is kept in memory, 1 GiB at most unless [`disk`](Self::disk) is more. Without overlays in user namespaces (Linux 5.11) it is refused.
    #[must_use]
    pub fn rehearse(mut self) -> Self {
        self.rehearsal = true;
        self
    }

    /// Goes on without this layer where the host does not offer it; the outcome says so. Refused for layers without which
    /// there is no sandbox ([`Layer::may_be_waived`]).
    #[must_use]
    pub fn best_effort(mut self, layer: Layer) -> Self {
        self.best_effort.insert(layer);
        self
    }

    /// The plan, or what is wrong with it. Nothing of the file system is looked at.
    pub fn build(self) -> Result<Plan, Error> {
        for path in
            self.read.iter().chain(&self.write).chain(&self.forbidden).chain(&self.workdir).chain(&self.tmp)
        {
            check_path(path)?;
        }
        let ceiling = [&self.read_within, &self.write_within];
        for path in ceiling.into_iter().flatten().flatten().chain(&self.unix_sockets) {
            check_path(path)?;
        }
        for grant in self.read.iter().chain(&self.write).chain(&self.unix_sockets) {
            check_grant(grant, &self.forbidden)?;
        }
        self.environment.check()?;
        self.limits.check()?;
        if let Some(layer) = self.best_effort.iter().find(|layer| !layer.may_be_waived()) {
            return Err(PlanProblem::NotWaivable(*layer).into());
        }
        let egress = self.policy()?;
        Ok(Plan {
            read: self.read,
            as_named: self.as_named,
            write: self.write,
            leads_to: self.leads_to,
            forbidden: self.forbidden,
            unix_sockets: self.unix_sockets,
            untrusted: self.untrusted,
            read_within: self.read_within,
            write_within: self.write_within,
            workdir: self.workdir,
            tmp: self.tmp,
            environment: self.environment,
            limits: self.limits,
            profile: self.profile,
            no_exec: self.no_exec,
            programs: self.programs,
            egress,
            rehearsal: self.rehearsal,
            best_effort: self.best_effort,
        })
    }
}

impl PlanBuilder {
    fn policy(&self) -> Result<EgressPolicy, PlanProblem> {
        let mut policy = EgressPolicy::new();
        if self.rehearsal {
            policy.rehearse();
        }
        for rule in &self.egress {
            policy.allow(rule.clone())?;
        }
        if let Some(address) = self.resolver {
            policy.resolver(address);
        }
        for (name, port, to) in &self.pins {
            policy.pin(name, *port, *to)?;
        }
        Ok(policy)
    }
}

fn check_path(path: &Path) -> Result<(), Error> {
    let problem = |problem: fn(PathBuf) -> PlanProblem| Err(problem(path.to_owned()).into());
    if !path.is_absolute() {
        return problem(PlanProblem::Relative);
    }
    if path.components().any(|part| part == Component::ParentDir) {
        return problem(PlanProblem::Upwards);
    }
    if path.as_os_str().as_encoded_bytes().contains(&0) {
        return problem(PlanProblem::Nul);
    }
    Ok(())
}

/// What a grant may not be, by its name or, once links are followed, by where it leads.
pub(crate) fn check_grant(path: &Path, forbidden: &[PathBuf]) -> Result<(), Error> {
    if path.parent().is_none() {
        return Err(PlanProblem::WholeRoot.into());
    }
    if OWN.iter().any(|own| path.starts_with(own)) {
        return Err(PlanProblem::Own(path.to_owned()).into());
    }
    if path != Path::new(HOME) && Path::new(HOME).starts_with(path) {
        return Err(PlanProblem::HoldsHome(path.to_owned()).into());
    }
    if let Some(forbidden) = forbidden.iter().find(|forbidden| path.starts_with(forbidden)) {
        return Err(PlanProblem::GrantedAndForbidden {
            grant: path.to_owned(),
            forbidden: forbidden.clone(),
        }
        .into());
    }
    Ok(())
}
