//! Version 1: a hierarchy for each controller, or for a few of them together.
//!
//! Only root can use it: delegation to users is not safe there, and nobody does it. A run has a group in each hierarchy that is needed,
//! all of the same name, inside the group that we are in ourselves there, so that limits on us hold for it as well.

use std::io;
use std::path::{Path, PathBuf};

use rustix::io::Errno;

use super::host::{CgroupHost, OwnGroup};
use super::kernel::CgroupKernel;
use super::{
    ControlGroup, GroupLimits, LimitMechanism, MAX_PIDS, PERIOD, at_most, leftovers, limit, open_procs, read,
};

/// A group in each hierarchy that the limits need.
pub(super) fn create(host: &CgroupHost, wanted: &GroupLimits) -> Result<ControlGroup, String> {
    let kernel = &*host.kernel;
    let mut places: Vec<(&str, OwnGroup)> = Vec::new();
    for controller in wanted.controllers() {
        places.push((controller, host.legacy_group(controller)?));
    }
    // To count with, where it can be had; without it the supervisor does.
    if wanted.counts_cpu
        && let Ok(own) = host.legacy_group("cpuacct")
    {
        places.push(("cpuacct", own));
    }
    // Controllers that are mounted together share a folder.
    let mut parents: Vec<&Path> = Vec::new();
    for (_, own) in &places {
        if !parents.contains(&own.folder.as_path()) {
            parents.push(&own.folder);
        }
    }
    if parents.is_empty() {
        return Err("no limit was asked for, and groups of version 1 do nothing else".to_owned());
    }

    for parent in &parents {
        leftovers::remove_leftovers(kernel, parent);
    }
    let (made, name) = leftovers::make_in(&host.kernel, &parents)?;
    for parent in &parents {
        inherit_cpuset(kernel, parent, &parent.join(&name))?;
    }
    let folder = |controller: &str| -> Option<PathBuf> {
        places.iter().find(|(name, _)| *name == controller).map(|(_, own)| own.folder.join(&name))
    };
    let (memory, pids, cpu) = (folder("memory"), folder("pids"), folder("cpu"));
    if let (Some(folder), Some(bytes)) = (&memory, wanted.memory) {
        limit_memory(kernel, folder, bytes)?;
    }
    if let (Some(folder), Some(processes)) = (&pids, wanted.processes) {
        let processes = processes.min(MAX_PIDS);
        limit(kernel, &folder.join("pids.max"), &processes.to_string(), at_most(processes.into()))?;
    }
    if let (Some(folder), Some(percent)) = (&cpu, wanted.cpu_percent) {
        let top = places.iter().find(|(name, _)| *name == "cpu").map(|(_, own)| own.top.as_path());
        limit_cpu(kernel, folder, top.unwrap_or(folder), percent)?;
    }
    let join =
        parents.iter().map(|parent| open_procs(kernel, &parent.join(&name))).collect::<Result<_, _>>()?;
    Ok(ControlGroup {
        mechanism: LimitMechanism::CgroupV1,
        folder: None,
        join,
        memory,
        pids,
        cpu_account: folder("cpuacct").or_else(|| cpu.clone()),
        cpu,
        made,
        #[cfg(feature = "systemd")]
        promise: None,
    })
}

fn limit_memory(kernel: &dyn CgroupKernel, folder: &Path, bytes: u64) -> Result<(), String> {
    let text = bytes.to_string();
    limit(kernel, &folder.join("memory.limit_in_bytes"), &text, at_most(bytes))?;
    // Buffers of TCP, which are not in the sum above and are bounded by themselves.
    let tcp = folder.join("memory.kmem.tcp.limit_in_bytes");
    if tcp.exists() {
        limit(kernel, &tcp, &text, at_most(bytes))?;
    }
    // Memory and swap together; there only if the kernel was started to count swap. After the other: it must not be lower.
    let with_swap = folder.join("memory.memsw.limit_in_bytes");
    if with_swap.exists() {
        return limit(kernel, &with_swap, &text, at_most(bytes));
    }
    // The next best: nothing of this group is swapped out.
    let swappiness = folder.join("memory.swappiness");
    if swappiness.exists() {
        return limit(kernel, &swappiness, "0", at_most(0));
    }
    Ok(())
}

fn limit_cpu(kernel: &dyn CgroupKernel, folder: &Path, top: &Path, percent: u32) -> Result<(), String> {
    let period = folder.join("cpu.cfs_period_us");
    limit(kernel, &period, &PERIOD.to_string(), |now| now == PERIOD.to_string())?;
    let quota = u64::from(percent) * (PERIOD / 100);
    let file = folder.join("cpu.cfs_quota_us");
    match kernel.write(&file, &quota.to_string()) {
        // Version 1 refuses more than a group above has. Then that one holds it already.
        Err(error) if error.raw_os_error() == Some(Errno::INVAL.raw_os_error()) => {
            if held_above(folder, top, percent) {
                return Ok(());
            }
            Err(describe_refusal(&file, quota, &error))
        }
        Err(error) => Err(describe_refusal(&file, quota, &error)),
        Ok(()) => {
            let now = read(&file)?;
            if now.trim() == quota.to_string() {
                return Ok(());
            }
            Err(format!("{}: {quota} was written, but it says {:?}", file.display(), now.trim()))
        }
    }
}

fn describe_refusal(file: &Path, quota: u64, error: &io::Error) -> String {
    format!("{}: writing {quota}: {error}", file.display())
}

/// Whether a group above has no more than this share.
fn held_above(folder: &Path, top: &Path, percent: u32) -> bool {
    let above = folder.ancestors().skip(1).take_while(|above| above.starts_with(top));
    let number = |path: PathBuf| -> Option<u64> { read(&path).ok()?.trim().parse().ok() };
    above.into_iter().any(|above| {
        match (number(above.join("cpu.cfs_quota_us")), number(above.join("cpu.cfs_period_us"))) {
            (Some(quota), Some(period)) => {
                quota.saturating_mul(100) <= u64::from(percent).saturating_mul(period)
            }
            _ => false,
        }
    })
}

/// Where cpuset is mounted together with a controller that we use, a new group has no processors and nobody can join it.
fn inherit_cpuset(kernel: &dyn CgroupKernel, parent: &Path, folder: &Path) -> Result<(), String> {
    for name in ["cpuset.cpus", "cpuset.mems"] {
        let file = folder.join(name);
        if read(&file).is_ok_and(|text| text.trim().is_empty()) {
            let text = read(&parent.join(name))?;
            kernel
                .write(&file, text.trim())
                .map_err(|error| format!("{}: writing {:?}: {error}", file.display(), text.trim()))?;
        }
    }
    Ok(())
}
