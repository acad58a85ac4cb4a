//! From a plan and a command to everything a child needs: paths looked up, filters compiled, pipes made. Nothing runs yet.

pub(crate) mod executable;
pub(crate) mod grants;
#[cfg(test)]
mod start_cost;

use std::collections::BTreeMap;
use std::ffi::{CString, OsStr, OsString};
use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use crate::cgroup::orphan_reaper::Leftover;
use crate::cgroup::{Group, Mechanism, Wanted};
use crate::child::{Filters, Prepared, Waived};
use crate::error::{Error, PlanProblem};
use crate::layers::Layer;
use crate::layers::env::{self, EnvironmentCounts};
use crate::layers::fds::{Ends, Standard};
use crate::layers::landlock::Landlock;
use crate::layers::mounts::{HOME, Mounts, NAME, RUNTIME_DIR, TMP};
use crate::layers::namespaces::Namespaces;
use crate::layers::network::Network;
use crate::layers::rlimits::Rlimits;
use crate::observe::{Audit, Paths};
use crate::plan::{Command, Plan};
use crate::program::{self, Program, Search};
use crate::seccomp::{self, Refusal};
use crate::sys::exec::Strings;

use self::executable::Executable;
use self::grants::{Folders, Grants};

/// Where programs are looked for inside unless the plan says otherwise.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin";

/// The launching program's part of a run.
#[derive(Debug)]
pub(crate) struct Outside {
    pub(crate) ends: Ends,
    pub(crate) group: Option<Group>,
    /// What is to be removed of the group if this program cannot.
    pub(crate) leftovers: Vec<Leftover>,
    pub(crate) mechanism: Mechanism,
    pub(crate) environment: EnvironmentCounts,
    /// Layers that are missing and were waived, and why.
    pub(crate) waived: Vec<(Layer, String)>,
    /// What the run may do with files, to judge what it tries.
    pub(crate) paths: Paths,
}

/// What a plan means on this host, before anything is made for it.
#[derive(Debug)]
pub(crate) struct Located {
    pub(crate) program: Program,
    pub(crate) grants: Grants,
    pub(crate) executable: Option<Executable>,
    pub(crate) workdir: PathBuf,
    pub(crate) variables: BTreeMap<OsString, OsString>,
    pub(crate) counts: EnvironmentCounts,
}

impl Located {
    /// `folders` says whether write grants that do not exist are made.
    pub(crate) fn new(plan: &Plan, command: &Command, folders: Folders) -> Result<Self, Error> {
        let workdir = match &plan.workdir {
            // A write grant that is made when it is needed.
            Some(path) if plan.write.iter().any(|grant| path == grant) && !path.exists() => path.clone(),
            Some(path) => path.canonicalize().map_err(|source| Error::Path {
                what: "cannot start in",
                path: path.clone(),
                source,
            })?,
            None => PathBuf::from(HOME),
        };
        let host_path = std::env::var_os("PATH").unwrap_or_else(|| PATH.into());
        let home = std::env::var_os("HOME").map(PathBuf::from);
        let search = Search {
            path: &host_path,
            home: home.as_deref(),
            workdir: &workdir,
            environment: &|name| std::env::var_os(name),
        };
        let program = program::find(&command.program, &search).map_err(|error| {
            let why = error.to_string();
            if error.is_absence() { Error::NoProgram(why) } else { Error::Program(why) }
        })?;
        let mut needs = program.needs.clone();
        let executable = match &plan.programs {
            Some(names) => Some(Executable::find(names, &program, &search, &mut needs)?),
            None => None,
        };
        let grants = Grants::resolve(plan, &needs, folders)?;
        if plan.workdir.is_some() && grants.deciding(&workdir).is_none() {
            return Err(PlanProblem::WorkdirNotGranted(workdir).into());
        }
        let (variables, counts) = variables(plan, &program, &host_path);
        Ok(Self { program, grants, executable, workdir, variables, counts })
    }
}

/// Makes everything for one run.
pub(crate) fn prepare(plan: &Plan, command: &Command) -> Result<(Prepared, Outside), Error> {
    let located = Located::new(plan, command, Folders::Make)?;
    let mut waived = Vec::new();
    let landlock = Landlock::prepare(plan, &located.grants, located.executable.as_ref())?;
    if landlock.is_none() {
        waived.push((Layer::Landlock, "this kernel has no Landlock".to_owned()));
    }
    let filter = |refusal| {
        seccomp::compile(plan.profile, refusal).map_err(|error| Error::Layer {
            layer: Layer::Seccomp,
            step: "compile the profile".into(),
            source: std::io::Error::other(error.to_string()),
            cure: None,
        })
    };
    let telling = match command.sees() {
        Audit::Off => None,
        Audit::Violations => Some(filter(Refusal::Notify)?),
        Audit::Full => Some(filter(Refusal::Observe)?),
    };
    let seccomp = Filters { telling, silent: filter(Refusal::Errno)? };
    let group = group(plan);
    let mechanism = group.as_ref().map_or(Mechanism::Supervised, Group::mechanism);
    let (join, leftovers) = joining(group.as_ref())?;
    let is_root = rustix::process::geteuid().is_root();
    let (standard, ends) = Standard::prepare(command)?;
    let prepared = Prepared {
        namespaces: Namespaces::prepare(mechanism == Mechanism::CgroupV2Systemd)?,
        join,
        mounts: Mounts::prepare(plan, &located.grants, &located.workdir, is_root)?,
        network: Network::prepare(&plan.egress),
        standard,
        rlimits: Rlimits::prepare(&plan.limits, group.is_none()),
        landlock,
        seccomp,
        program: c_string(located.program.path.as_os_str())?,
        arguments: arguments(command)?,
        environment: Strings::new(env::lines(&located.variables)?),
        waived: Waived {
            cgroup: plan.waives(Layer::Cgroup),
            landlock: plan.waives(Layer::Landlock),
            seccomp: plan.waives(Layer::Seccomp),
        },
    };
    let paths = Paths::new(located.grants, located.executable);
    Ok((prepared, Outside { ends, leftovers, group, mechanism, environment: located.counts, waived, paths }))
}

/// A group where one can be had; otherwise limits on each process and the supervisor hold the limits.
fn group(plan: &Plan) -> Option<Group> {
    let limits = &plan.limits;
    let wanted =
        Wanted { memory: limits.memory, processes: limits.processes, cpu_percent: limits.cpu_percent };
    if wanted == Wanted::default() {
        return None;
    }
    Group::create(&wanted).ok()
}

/// The group as the child sees it: descriptors of its own, since the supervisor keeps the group.
fn joining(group: Option<&Group>) -> Result<(Vec<OwnedFd>, Vec<Leftover>), Error> {
    let Some(group) = group else { return Ok((Vec::new(), Vec::new())) };
    let host = |source| Error::Host { what: "prepare the cgroup", source };
    let join = group.join().iter().map(|file| file.try_clone().map_err(host)).collect::<Result<_, _>>()?;
    let mut remove = Vec::new();
    for folder in group.folders() {
        if let (Some(parent), Some(name)) = (folder.parent(), folder.file_name()) {
            remove.push((File::open(parent).map_err(host)?.into(), c_string(name)?));
        }
    }
    Ok((join, remove))
}

/// The variables of the command: what was declared, over the sandbox's own.
fn variables(
    plan: &Plan,
    program: &Program,
    host_path: &OsStr,
) -> (BTreeMap<OsString, OsString>, EnvironmentCounts) {
    let base = if plan.environment.hands_on(OsStr::new("PATH")) { host_path } else { OsStr::new(PATH) };
    let dirs = program.path_dirs.iter().cloned().chain(std::env::split_paths(base));
    let path = std::env::join_paths(dirs).unwrap_or_else(|_| PATH.into());
    let in_home = |folder: &str| Path::new(HOME).join(folder).into_os_string();
    let own = [
        ("HOME", HOME.into()),
        ("TMPDIR", TMP.into()),
        ("USER", NAME.into()),
        ("LOGNAME", NAME.into()),
        ("SHELL", "/bin/sh".into()),
        ("PATH", path),
        ("XDG_CONFIG_HOME", in_home(".config")),
        ("XDG_CACHE_HOME", in_home(".cache")),
        ("XDG_DATA_HOME", in_home(".local/share")),
        ("XDG_STATE_HOME", in_home(".local/state")),
        ("XDG_RUNTIME_DIR", RUNTIME_DIR.into()),
    ];
    plan.environment.resolve(std::env::vars_os(), &own)
}

fn arguments(command: &Command) -> Result<Strings, Error> {
    let all = std::iter::once(&command.program).chain(&command.arguments);
    let strings: Result<Vec<CString>, Error> = all.map(|argument| c_string(argument)).collect();
    Ok(Strings::new(strings?))
}

fn c_string(text: &OsStr) -> Result<CString, Error> {
    CString::new(text.as_bytes()).map_err(|_| PlanProblem::Nul(text.into()).into())
}
