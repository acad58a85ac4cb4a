//! From a plan and a command to everything a child needs: paths looked up, filters compiled, pipes made. Nothing runs yet.

pub(crate) mod cover_watch;
pub(crate) mod exec_mounts;
pub(crate) mod executable;
pub(crate) mod grants;
pub(crate) mod links;
pub(crate) mod rehearsed;
#[cfg(test)]
mod start_cost;
mod system_folders;

use std::collections::BTreeMap;
use std::ffi::{CString, OsStr, OsString};
use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use crate::cgroup::orphan_reaper::OrphanGroup;
use crate::cgroup::{ControlGroup, GroupLimits, LimitMechanism};
use crate::child::{Prepared, SeccompFilters, WaivedLayers};
use crate::error::{Error, PlanProblem};
use crate::layers::Layer;
use crate::layers::env::{self, EnvironmentCounts};
use crate::layers::fds::{PipeEnds, StandardStreams};
use crate::layers::landlock::LandlockLayer;
use crate::layers::mounts::{HOME, MountsLayer, NAME, RUNTIME_DIR, TMP};
use crate::layers::namespaces::NamespacesLayer;
use crate::layers::network::NetworkLayer;
use crate::layers::rlimits::RlimitsLayer;
use crate::layers::settings::KernelSettings;
use crate::observe::PathJudge;
use crate::plan::{Command, Plan};
use crate::program::{self, FoundProgram, ProgramSearch};
use crate::seccomp::{FilterRestrictions, RefusalMode, SyscallRules};
use crate::sys::exec::ExecStrings;
use skillsandbox_terms::{ObserveLevel, SyscallProfile};

use self::cover_watch::CoverWatch;
use self::executable::AllowedPrograms;
use self::grants::{FolderCreation, GrantedSocket, Grants};
use self::links::LinkRules;

/// Where programs are looked for inside unless the plan says otherwise.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin";

/// The launching program's part of a run.
#[derive(Debug)]
pub(crate) struct LauncherResources {
    pub(crate) ends: PipeEnds,
    pub(crate) group: Option<ControlGroup>,
    /// What is to be removed of the group if this program cannot.
    pub(crate) orphan_groups: Vec<OrphanGroup>,
    pub(crate) mechanism: LimitMechanism,
    pub(crate) environment: EnvironmentCounts,
    /// Layers that are missing and were waived, and why.
    pub(crate) waived: Vec<(Layer, String)>,
    /// The calls that the run may make.
    pub(crate) rules: SyscallRules,
    /// What the run may do with files, to judge what it tries.
    pub(crate) paths: PathJudge,
    /// Sockets of the host that it may connect to.
    pub(crate) sockets: Vec<GrantedSocket>,
    /// Whether what is covered stays covered, where something is.
    pub(crate) covers: Option<CoverWatch>,
}

/// What a plan means on this host, before anything is made for it.
#[derive(Debug)]
pub(crate) struct LocatedPlan {
    pub(crate) program: FoundProgram,
    pub(crate) grants: Grants,
    pub(crate) executable: Option<AllowedPrograms>,
    pub(crate) workdir: PathBuf,
    pub(crate) variables: BTreeMap<OsString, OsString>,
    pub(crate) counts: EnvironmentCounts,
}

impl LocatedPlan {
    /// `folders` says whether write grants that do not exist are made.
    pub(crate) fn new(plan: &Plan, command: &Command, folders: FolderCreation) -> Result<Self, Error> {
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
        let search = ProgramSearch {
            path: &host_path,
            home: home.as_deref(),
            workdir: &workdir,
            environment: &|name| std::env::var_os(name),
            links: LinkRules { untrusted: &plan.untrusted },
        };
        let program = program::find(&command.program, &search).map_err(|error| {
            let why = error.to_string();
            if error.is_absence() { Error::NoProgram(why) } else { Error::Program(why) }
        })?;
        let mut needs = program.needs.clone();
        let executable = match &plan.programs {
            Some(names) => Some(AllowedPrograms::find(names, &program, &search, &mut needs)?),
            None => None,
        };
        let grants = Grants::resolve(plan, &needs, folders)?;
        if plan.workdir.is_some() && grants.deciding_grant(&workdir).is_none() {
            return Err(PlanProblem::WorkdirNotGranted(workdir).into());
        }
        let (variables, counts) = command_variables(plan, &program, &host_path);
        Ok(Self { program, grants, executable, workdir, variables, counts })
    }
}

/// Makes everything for one run.
pub(crate) fn prepare(plan: &Plan, command: &Command) -> Result<(Prepared, LauncherResources), Error> {
    // A rehearsal makes nothing on the host.
    let folders = if plan.rehearsal { FolderCreation::Look } else { FolderCreation::Make };
    let mut located = LocatedPlan::new(plan, command, folders)?;
    let covers = CoverWatch::start(&located.grants)?;
    let mut waived = Vec::new();
    let landlock = LandlockLayer::prepare(
        plan,
        &located.grants,
        located.executable.as_ref(),
        command.terminal.is_some(),
    )?;
    if landlock.is_none() {
        waived.push((Layer::Landlock, "this kernel has no Landlock".to_owned()));
    }
    let group = create_group(plan);
    let restrictions = FilterRestrictions {
        named_programs: located.executable.is_some(),
        uncounted_memory: group.is_none() && plan.limits.memory.is_some(),
    };
    let rules = SyscallRules { profile: plan.profile, restrictions };
    let filter = |refusal| {
        rules.compile(refusal).map_err(|error| Error::Layer {
            layer: Layer::Seccomp,
            step: "compile the profile".into(),
            source: std::io::Error::other(error.to_string()),
            cure: None,
        })
    };
    let notifying = match command.effective_level() {
        // Who may connect to Unix sockets needs somebody who judges them.
        ObserveLevel::Off if plan.profile == SyscallProfile::Strict => None,
        ObserveLevel::Off => Some(filter(RefusalMode::Supervise)?),
        ObserveLevel::Violations => Some(filter(RefusalMode::Notify)?),
        ObserveLevel::Full => Some(filter(RefusalMode::Observe)?),
    };
    let seccomp = SeccompFilters { notifying, silent: filter(RefusalMode::Errno)? };
    let mechanism = group.as_ref().map_or(LimitMechanism::Supervised, ControlGroup::mechanism);
    let (join, orphan_groups) = open_group(group.as_ref())?;
    let is_root = rustix::process::geteuid().is_root();
    let settings = KernelSettings::prepare(&plan.limits, group.is_none(), is_root);
    let (standard, ends) = StandardStreams::prepare(command)?;
    let prepared = Prepared {
        namespaces: NamespacesLayer::prepare(mechanism == LimitMechanism::CgroupV2Systemd, plan.rehearsal)?,
        join,
        mounts: MountsLayer::prepare(plan, &located, settings, is_root, command.terminal.is_some())?,
        network: NetworkLayer::prepare(&plan.egress),
        standard,
        rlimits: RlimitsLayer::prepare(&plan.limits, group.is_none()),
        landlock,
        seccomp,
        program: c_string(located.program.path.as_os_str())?,
        arguments: command_arguments(command)?,
        environment: ExecStrings::new(env::env_lines(&located.variables)?),
        waived: WaivedLayers {
            cgroup: plan.waives(Layer::Cgroup),
            landlock: plan.waives(Layer::Landlock),
            seccomp: plan.waives(Layer::Seccomp),
        },
        awaits_last_check: command.last_check.is_some(),
    };
    let sockets = std::mem::take(&mut located.grants.sockets);
    let paths = PathJudge::new(located.grants, located.executable, plan.no_exec);
    Ok((
        prepared,
        LauncherResources {
            ends,
            orphan_groups,
            group,
            mechanism,
            environment: located.counts,
            waived,
            rules,
            paths,
            sockets,
            covers,
        },
    ))
}

/// A group where one can be had; otherwise limits on each process and the supervisor hold the limits.
fn create_group(plan: &Plan) -> Option<ControlGroup> {
    let limits = &plan.limits;
    let wanted = GroupLimits {
        memory: limits.memory,
        processes: limits.processes,
        cpu_percent: limits.cpu_percent,
        counts_cpu: limits.cpu_time.is_some(),
    };
    if wanted == GroupLimits::default() {
        return None;
    }
    ControlGroup::create(&wanted).ok()
}

/// The group as the child sees it: descriptors of its own, since the supervisor keeps the group.
fn open_group(group: Option<&ControlGroup>) -> Result<(Vec<OwnedFd>, Vec<OrphanGroup>), Error> {
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
fn command_variables(
    plan: &Plan,
    program: &FoundProgram,
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

fn command_arguments(command: &Command) -> Result<ExecStrings, Error> {
    let all = std::iter::once(&command.program).chain(&command.arguments);
    let strings: Result<Vec<CString>, Error> = all.map(|argument| c_string(argument)).collect();
    Ok(ExecStrings::new(strings?))
}

fn c_string(text: &OsStr) -> Result<CString, Error> {
    CString::new(text.as_bytes()).map_err(|_| PlanProblem::Nul(text.into()).into())
}
