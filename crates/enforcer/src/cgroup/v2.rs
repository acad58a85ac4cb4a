//! Version 2: one hierarchy for all controllers.
//!
//! Two rules of `cgroups(7)` decide where a group can be made.
//!
//! - Controllers reach a group only through its parent's `cgroup.subtree_control`, and that can be set only while the parent has no
//!   processes of its own. Our own group has one: us. So it serves only if somebody enabled the controllers before we came, or if it is
//!   the root, which is exempt; otherwise a group is made beside ours, in the parent.
//! - Who is not root may move a process only between groups that have a common ancestor whose `cgroup.procs` they may write.
//!
//! # Two folders
//!
//! Limits and processes are in a group `run` inside the group with our name, because the parent may not be ours alone: systemd
//! rewrites `subtree_control` of its slices and takes a controller away when no unit of its own needs it, and our limits with it. The
//! kernel refuses that while a child has the controller enabled for its own children. The outer group is that child.
//!
//! Controllers that were enabled in a parent stay so when the group goes: by then somebody else may rely on them.

use std::fs;
use std::io;
use std::path::Path;

use rustix::io::Errno;

use super::host::CgroupHost;
use super::kernel::CgroupKernel;
use super::{
    ControlGroup, GroupLimits, LimitMechanism, MAX_PIDS, PERIOD, at_most, leftovers, limit, open, open_procs,
    read,
};

/// A group in our own one, or beside it.
pub(super) fn create(host: &CgroupHost, wanted: &GroupLimits) -> Result<ControlGroup, String> {
    let own = host.unified_group()?;
    let inside = match create_under(host, &own.folder, wanted) {
        Ok(group) => return Ok(group),
        Err(reason) => reason,
    };
    let parent = match own.folder.parent() {
        Some(parent) if own.folder != own.top => parent,
        _ => return Err(inside),
    };
    let tightened = tighten_limits(&own.folder, wanted);
    create_under(host, parent, &tightened).map_err(|beside| format!("{inside}; {beside}"))
}

fn create_under(host: &CgroupHost, parent: &Path, wanted: &GroupLimits) -> Result<ControlGroup, String> {
    let kernel = &*host.kernel;
    let needed = wanted.controllers();
    // Our own children start in our group: to move them, we need the right to do so here.
    open_procs(kernel, parent)?;
    enable(kernel, parent, &needed)?;
    let mut passed_on = needed.clone();
    // Large pages are not in the memory controller's sum; where they can be refused, they are.
    if wanted.memory.is_some() && enable(kernel, parent, &["hugetlb"]).is_ok() {
        passed_on.push("hugetlb");
    }

    leftovers::remove_leftovers(kernel, parent);
    let (mut made, name) = leftovers::make_in(&host.kernel, &[parent])?;
    let outer = parent.join(name);
    enable(kernel, &outer, &passed_on)?;
    let inner = outer.join(leftovers::INNER);
    made.make(&inner).map_err(|error| format!("{}: making a group: {error}", inner.display()))?;
    // Below a threaded group nothing can be held: cgroups(7), "Thread mode".
    let kind = read(&inner.join("cgroup.type")).unwrap_or_else(|_| "domain".to_owned());
    if kind.trim() != "domain" {
        return Err(format!("{}: the group is {:?}, not a domain", inner.display(), kind.trim()));
    }
    write_limits(kernel, &inner, wanted)?;

    let join = open_procs(kernel, &inner)?;
    let folder = open(&inner)?;
    Ok(ControlGroup {
        mechanism: LimitMechanism::CgroupV2,
        folder: Some(folder),
        join: vec![join],
        memory: Some(inner.clone()),
        pids: Some(inner.clone()),
        cpu: Some(inner),
        cpu_account: None,
        made,
        #[cfg(feature = "systemd")]
        promise: None,
    })
}

/// Sees to it that the children of a group have controllers.
fn enable(kernel: &dyn CgroupKernel, group: &Path, needed: &[&str]) -> Result<(), String> {
    let words = |file: &str| -> Result<Vec<String>, String> {
        Ok(read(&group.join(file))?.split_whitespace().map(str::to_owned).collect())
    };
    let has = |words: &[String], name: &str| words.iter().any(|word| word == name);
    let enabled = words("cgroup.subtree_control")?;
    let lacking: Vec<&str> = needed.iter().copied().filter(|name| !has(&enabled, name)).collect();
    if lacking.is_empty() {
        return Ok(());
    }
    let available = words("cgroup.controllers")?;
    let missing: Vec<&str> = lacking.iter().copied().filter(|name| !has(&available, name)).collect();
    if !missing.is_empty() {
        let file = group.join("cgroup.controllers");
        return Err(format!("{}: no {} controller is offered here", file.display(), missing.join(", ")));
    }
    let file = group.join("cgroup.subtree_control");
    let text = lacking.iter().map(|name| format!("+{name}")).collect::<Vec<_>>().join(" ");
    kernel.write(&file, &text).map_err(|error| {
        let why = if is(&error, Errno::BUSY) {
            "the group has processes of its own, and the kernel enables controllers only in one that has none"
                .to_owned()
        } else {
            error.to_string()
        };
        format!("{}: enabling {}: {why}", file.display(), lacking.join(", "))
    })
}

fn write_limits(kernel: &dyn CgroupKernel, group: &Path, wanted: &GroupLimits) -> Result<(), String> {
    let file = |name: &str| group.join(name);
    // No groups inside: whatever finds a way to this file system cannot hide processes in one.
    write_optional(kernel, &file("cgroup.max.descendants"), "0")?;
    if let Some(memory) = wanted.memory {
        limit(kernel, &file("memory.max"), &memory.to_string(), at_most(memory))?;
        // Otherwise the limit would be on what is not swapped out.
        write_optional(kernel, &file("memory.swap.max"), "0")?;
        // A skill that lost one of its processes is not one that somebody has tested.
        write_optional(kernel, &file("memory.oom.group"), "1")?;
        for name in large_pages(group) {
            write_optional(kernel, &file(&name), "0")?;
        }
    }
    if let Some(processes) = wanted.processes {
        let processes = processes.min(MAX_PIDS);
        limit(kernel, &file("pids.max"), &processes.to_string(), at_most(processes.into()))?;
    }
    if let Some(percent) = wanted.cpu_percent {
        let quota = u64::from(percent) * (PERIOD / 100);
        let text = format!("{quota} {PERIOD}");
        limit(kernel, &file("cpu.max"), &text, |now| now == text)?;
    }
    Ok(())
}

/// A setting that not every kernel has, or needs: without swap there is nothing to limit.
fn write_optional(kernel: &dyn CgroupKernel, file: &Path, text: &str) -> Result<(), String> {
    match kernel.write(file, text) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(format!("{}: writing {text:?}: {error}", file.display()))
        }
        _ => Ok(()),
    }
}

/// `hugetlb.2MB.max` and the like.
fn large_pages(group: &Path) -> Vec<String> {
    let entries = fs::read_dir(group).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| name.strip_prefix("hugetlb.").and_then(|rest| rest.rsplit('.').next()) == Some("max"))
        .collect()
}

/// A group beside ours is not under the limits of ours. Somebody set those for a reason, so what we start is held at least as tightly.
fn tighten_limits(own: &Path, wanted: &GroupLimits) -> GroupLimits {
    fn lower<T: Ord>(wanted: Option<T>, own: Option<T>) -> Option<T> {
        match (wanted, own) {
            (Some(wanted), Some(own)) => Some(wanted.min(own)),
            (wanted, own) => wanted.or(own),
        }
    }
    let text = |file: &str| read(&own.join(file)).unwrap_or_default();
    let cpu = text("cpu.max");
    let mut cpu = cpu.split_whitespace().map(|number| number.parse::<u64>().ok());
    let percent = match (cpu.next().flatten(), cpu.next().flatten()) {
        (Some(quota), Some(period)) if period > 0 => {
            u32::try_from((quota.saturating_mul(100) / period).max(1)).ok()
        }
        _ => None,
    };
    GroupLimits {
        memory: lower(wanted.memory, text("memory.max").trim().parse().ok()),
        processes: lower(wanted.processes, text("pids.max").trim().parse().ok()),
        cpu_percent: lower(wanted.cpu_percent, percent),
        counts_cpu: wanted.counts_cpu,
    }
}

fn is(error: &io::Error, errno: Errno) -> bool {
    error.raw_os_error() == Some(errno.raw_os_error())
}
