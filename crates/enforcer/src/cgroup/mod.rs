//! Limits on a whole tree of processes, held by the kernel.
//!
//! A limit on each process (`setrlimit`) does not limit a skill: it starts another process. Control groups count a tree as one. Which
//! kind there is, and whether we may make a group, differs from host to host, so they are tried in order:
//!
//! 1. version 2, in our own group or beside it, where that was delegated to us (root, a systemd user session, some containers);
//! 2. version 2, by asking systemd's user manager for a scope (feature `systemd`);
//! 3. version 1, as root.
//!
//! Where none of them works, [`ControlGroup::create`] says why for each, and what would help. What is left then is `setrlimit` and the sum
//! that [`accounting`] makes of a tree.
//!
//! # What a group holds
//!
//! - Memory: everything the kernel charges to the group: anonymous pages, page cache, tmpfs, memfd, and what the kernel keeps for it
//!   (sockets, pipes). Without swap. On version 2 the whole group ends when it is over, on version 1 only its largest process.
//!   Pages of hugetlbfs are not memory in this sense; version 2 refuses them where it can.
//! - Processes: tasks, so threads count, and so does the sandbox's own init.
//! - CPU: time in each tenth of a second.
//!
//! What was in memory before a process joins stays charged to the group it came from.

pub(crate) mod accounting;
#[cfg(feature = "systemd")]
mod dbus;
mod host;
mod kernel;
mod leftovers;
pub(crate) mod orphan_reaper;
mod removal;
#[cfg(feature = "systemd")]
mod systemd;
mod v1;
mod v2;

#[cfg(test)]
mod tests;

use std::fmt;
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;

pub(crate) use host::CgroupHost;
use kernel::{CgroupKernel, RealKernel};

/// The limits that are asked for; `None` is no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct GroupLimits {
    /// Bytes.
    pub(crate) memory: Option<u64>,
    /// Processes and threads.
    pub(crate) processes: Option<u32>,
    /// In percent of one core.
    pub(crate) cpu_percent: Option<u32>,
    /// Processor time is not held by the group, but counted by it.
    pub(crate) counts_cpu: bool,
}

impl GroupLimits {
    /// The controllers that hold these limits.
    fn controllers(&self) -> Vec<&'static str> {
        let asked = [
            ("memory", self.memory.is_some()),
            ("pids", self.processes.is_some()),
            ("cpu", self.cpu_percent.is_some()),
        ];
        asked.into_iter().filter_map(|(name, asked)| asked.then_some(name)).collect()
    }
}

/// What holds the limits of a whole tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitMechanism {
    /// A control group of version 2, made by us.
    CgroupV2,
    /// A control group of version 2, made for us by systemd's user manager.
    CgroupV2Systemd,
    /// A control group of version 1 in each hierarchy that is needed.
    CgroupV1,
    /// No control group: limits on each process, and a supervisor that sums the tree.
    Supervised,
}

impl fmt::Display for LimitMechanism {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::CgroupV2 => "cgroup v2",
            Self::CgroupV2Systemd => "cgroup v2 by systemd",
            Self::CgroupV1 => "cgroup v1",
            Self::Supervised => "rlimits and supervision",
        })
    }
}

/// No control group can hold the limits: what was tried, and why it failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) struct NoGroup {
    tried: Vec<(LimitMechanism, String)>,
    root: bool,
}

impl NoGroup {
    /// What the user can do about it.
    pub(crate) fn cure(&self) -> &'static str {
        if self.root {
            "in a container, start it with a cgroup namespace of its own and a writable /sys/fs/cgroup, with its processes in a group \
             below the root; elsewhere, mount cgroup2 with the memory, pids and cpu controllers"
        } else {
            "start it by `systemd-run --user --scope -p Delegate=yes …`, so that it has control groups of its own; if a controller is \
             missing there, `systemctl edit user@.service` and set `Delegate=memory pids cpu`"
        }
    }
}

impl fmt::Display for NoGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no control group can hold the limits")?;
        for (index, (mechanism, reason)) in self.tried.iter().enumerate() {
            write!(f, "{} {mechanism}: {reason}", if index == 0 { ":" } else { ";" })?;
        }
        Ok(())
    }
}

/// How often limits were hit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct LimitHitCounts {
    /// Ends for want of memory: of the group (version 2), or of a process in it (version 1, and version 2 before Linux 5.17).
    pub(crate) memory: u64,
    /// Processes and threads that were refused.
    pub(crate) processes: u64,
    /// Tenths of a second in which the group had to wait for the next one.
    pub(crate) cpu_throttled: u64,
}

/// What the group used, as far as the kernel tells.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ResourceUsage {
    /// The most memory at any time, in bytes.
    pub peak_memory: Option<u64>,
    /// Processor time of all processes, those that ended included.
    pub cpu: Option<Duration>,
}

/// One way to make a group; the reason if it is not open.
type GroupMaker = fn(&CgroupHost, &GroupLimits) -> Result<ControlGroup, String>;

/// The group of one run. When it is dropped, what is left in it is ended and the group removed.
pub(crate) struct ControlGroup {
    mechanism: LimitMechanism,
    /// Version 2: what a child is cloned into.
    folder: Option<OwnedFd>,
    join: Vec<OwnedFd>,
    /// Where each controller's files are.
    memory: Option<PathBuf>,
    pids: Option<PathBuf>,
    cpu: Option<PathBuf>,
    /// Of version 1, where processor time is counted: mounted together with `cpu`, or by itself.
    cpu_account: Option<PathBuf>,
    /// Removed last, when nothing refers to the files any more.
    made: MadeFolders,
    /// A scope that is yet to be made for a process.
    #[cfg(feature = "systemd")]
    promise: Option<systemd::PendingScope>,
}

impl ControlGroup {
    /// A group on this host.
    pub(crate) fn create(wanted: &GroupLimits) -> Result<Self, NoGroup> {
        match CgroupHost::read(Arc::new(RealKernel)) {
            Ok(host) => Self::create_in(&host, wanted),
            Err(error) => Err(NoGroup {
                tried: vec![(LimitMechanism::CgroupV2, error.to_string())],
                root: rustix::process::geteuid().is_root(),
            }),
        }
    }

    /// A group on a host that was looked at before.
    pub(crate) fn create_in(host: &CgroupHost, wanted: &GroupLimits) -> Result<Self, NoGroup> {
        let mut tried = Vec::new();
        let ways: &[(LimitMechanism, GroupMaker)] = &[
            (LimitMechanism::CgroupV2, v2::create),
            #[cfg(feature = "systemd")]
            (LimitMechanism::CgroupV2Systemd, |host, wanted| {
                systemd::create(host, wanted, &systemd::socket()?)
            }),
            (LimitMechanism::CgroupV1, v1::create),
        ];
        for (mechanism, create) in ways {
            match create(host, wanted) {
                Ok(group) => return Ok(group),
                Err(reason) => tried.push((*mechanism, reason)),
            }
        }
        Err(NoGroup { tried, root: rustix::process::geteuid().is_root() })
    }

    /// Takes in a process that has not begun its work, for groups that can only be made around one (by systemd). For all groups: makes
    /// sure that the process is in it, so that nothing runs without limits because joining went wrong.
    pub(crate) fn adopt(&mut self, pid: i32) -> Result<(), NoGroup> {
        self.try_adopt(pid).map_err(|reason| NoGroup {
            tried: vec![(self.mechanism, reason)],
            root: rustix::process::geteuid().is_root(),
        })
    }

    fn try_adopt(&mut self, pid: i32) -> Result<(), String> {
        #[cfg(feature = "systemd")]
        if let Some(promise) = self.promise.take() {
            promise.keep(pid, self)?;
        }
        let groups = if self.mechanism == LimitMechanism::CgroupV1 { self.made.folders.len() } else { 1 };
        // A scope that was refused, or that does not hold what it should, is none.
        if self.made.folders.is_empty()
            || (self.mechanism == LimitMechanism::CgroupV2Systemd && self.folder.is_none())
        {
            return Err("there is no group".to_owned());
        }
        for folder in self.made.folders.iter().take(groups) {
            let file = folder.join("cgroup.procs");
            if !read(&file)?.lines().any(|line| line.trim().parse() == Ok(pid)) {
                return Err(format!("{}: process {pid} is not in the group", file.display()));
            }
        }
        Ok(())
    }

    /// What holds the limits.
    pub(crate) fn mechanism(&self) -> LimitMechanism {
        self.mechanism
    }

    /// Files open for writing, close-on-exec. A child that writes `0` to each of them, in one write, has joined, with all its threads.
    pub(crate) fn join(&self) -> &[OwnedFd] {
        &self.join
    }

    /// The folders of the group, for messages.
    pub(crate) fn folders(&self) -> &[PathBuf] {
        &self.made.folders
    }

    /// How often the limits were hit so far.
    pub(crate) fn hits(&self) -> LimitHitCounts {
        let count = |folder: &Option<PathBuf>, file: &str, key: &str| {
            folder
                .as_deref()
                .and_then(|folder| read(&folder.join(file)).ok())
                .and_then(|text| value(&text, key))
        };
        let memory = if self.mechanism == LimitMechanism::CgroupV1 {
            count(&self.memory, "memory.oom_control", "oom_kill")
        } else {
            // The end of a group counts each process, and the first one twice. Its own count came with Linux 5.17.
            count(&self.memory, "memory.events", "oom_group_kill")
                .filter(|count| *count > 0)
                .or_else(|| count(&self.memory, "memory.events", "oom_kill"))
        };
        LimitHitCounts {
            memory: memory.unwrap_or(0),
            processes: count(&self.pids, "pids.events", "max").unwrap_or(0),
            cpu_throttled: count(&self.cpu, "cpu.stat", "nr_throttled").unwrap_or(0),
        }
    }

    /// What the group used so far.
    pub(crate) fn usage(&self) -> ResourceUsage {
        let text = |folder: &Option<PathBuf>, file: &str| read(&folder.as_deref()?.join(file)).ok();
        let number = |text: String| text.trim().parse::<u64>().ok();
        if self.mechanism == LimitMechanism::CgroupV1 {
            return ResourceUsage {
                peak_memory: text(&self.memory, "memory.max_usage_in_bytes").and_then(number),
                cpu: text(&self.cpu_account, "cpuacct.usage").and_then(number).map(Duration::from_nanos),
            };
        }
        ResourceUsage {
            peak_memory: text(&self.memory, "memory.peak").and_then(number),
            cpu: text(&self.cpu, "cpu.stat")
                .and_then(|text| value(&text, "usage_usec"))
                .map(Duration::from_micros),
        }
    }
}

impl fmt::Debug for ControlGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Group")
            .field("mechanism", &self.mechanism)
            .field("folders", &self.made.folders)
            .finish_non_exhaustive()
    }
}

/// Folders we made, the ones below first. They go when this goes, be it that a later step of making a group failed.
struct MadeFolders {
    folders: Vec<PathBuf>,
    /// Held until the folders are gone, so that no other supervisor takes them for left behind.
    locks: Vec<OwnedFd>,
    kernel: Arc<dyn CgroupKernel>,
    /// A child that was forked and not yet replaced has a copy of this, and must leave the group alone.
    creator: u32,
}

impl MadeFolders {
    fn new(kernel: Arc<dyn CgroupKernel>) -> Self {
        Self { folders: Vec::new(), locks: Vec::new(), kernel, creator: std::process::id() }
    }

    /// Makes one more folder, below or beside those before it.
    fn make(&mut self, folder: &Path) -> io::Result<()> {
        self.kernel.make(folder)?;
        self.folders.insert(0, folder.to_path_buf());
        Ok(())
    }
}

impl Drop for MadeFolders {
    fn drop(&mut self) {
        if self.creator == std::process::id() {
            removal::remove(&*self.kernel, &mut self.folders);
        }
        self.locks.clear();
    }
}

/// A file of a group holds a few lines; what is longer is not one.
const MAX_FILE: u64 = 64 << 10;

/// A file of a group, with its name in the error.
fn read(file: &Path) -> Result<String, String> {
    use std::io::Read as _;
    let mut text = String::new();
    fs::File::open(file)
        .and_then(|open| open.take(MAX_FILE).read_to_string(&mut text))
        .map_err(|error| format!("{}: {error}", file.display()))?;
    Ok(text)
}

/// The number after a key: `oom_kill 3`.
fn value(text: &str, key: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' ')?.trim().parse().ok())
}

/// Writes a limit and reads it back: one that the kernel did not take, or took as a higher number, does not hold.
fn limit(
    kernel: &dyn CgroupKernel,
    file: &Path,
    text: &str,
    holds: impl Fn(&str) -> bool,
) -> Result<(), String> {
    kernel.write(file, text).map_err(|error| format!("{}: writing {text:?}: {error}", file.display()))?;
    let now = read(file)?;
    if holds(now.trim()) {
        Ok(())
    } else {
        Err(format!("{}: {text:?} was written, but it says {:?}", file.display(), now.trim()))
    }
}

/// For a limit that is a number.
fn at_most(most: u64) -> impl Fn(&str) -> bool {
    move |now| now.parse::<u64>().is_ok_and(|now| now <= most)
}

/// A group's list of processes, open for writing.
fn open_procs(kernel: &dyn CgroupKernel, group: &Path) -> Result<OwnedFd, String> {
    let file = group.join("cgroup.procs");
    kernel.open(&file).map_err(|error| format!("{}: {error}", file.display()))
}

/// Opens a folder to keep.
fn open(path: &Path) -> Result<OwnedFd, String> {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    rustix::fs::open(path, flags, Mode::empty())
        .map_err(|error| format!("{}: {}", path.display(), io::Error::from(error)))
}

/// The period over which CPU time is shared out, in microseconds: the kernel's default. A percent of a core is a hundredth of it.
const PERIOD: u64 = 100_000;

/// The kernel's `PID_MAX_LIMIT`; it refuses more.
pub(crate) const MAX_PIDS: u32 = 4_194_304;
