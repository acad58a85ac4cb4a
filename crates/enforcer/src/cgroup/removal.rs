//! The end of a group.
//!
//! The sandbox has ended its processes by then: they go with the init of their pid namespace. What is still in a group is dying, or was
//! put there by somebody else's mistake, and ends now. A group can be removed only when it is empty.

use std::collections::HashSet;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::{Pid, PidfdFlags, Signal};

use super::kernel::CgroupKernel;
use super::read;

/// How often removing is tried, and the wait between: about a second in all. What is not gone by then is left for the next run's sweep
/// rather than to hold up this one.
const ROUNDS: u32 = 120;
const LONGEST_WAIT: Duration = Duration::from_millis(10);

/// Ends what is in the folders and removes them. Those below come first.
pub(super) fn remove(kernel: &dyn CgroupKernel, folders: &mut Vec<PathBuf>) {
    let mut wait = Duration::from_micros(250);
    for _ in 0..ROUNDS {
        folders.retain(|folder| match kernel.remove(folder) {
            Ok(()) => false,
            Err(error) => error.kind() != io::ErrorKind::NotFound,
        });
        if folders.is_empty() {
            return;
        }
        for folder in &*folders {
            kill_members(kernel, folder);
        }
        std::thread::sleep(wait);
        wait = LONGEST_WAIT.min(wait * 2);
    }
}

/// Ends all processes of a group: in one step where the kernel has it (5.14, version 2), otherwise one by one.
fn kill_members(kernel: &dyn CgroupKernel, folder: &Path) {
    if kernel.write(&folder.join("cgroup.kill"), "1").is_ok() {
        return;
    }
    // None more than there are, so that this comes to an end. There is no such file without the controller; then it takes rounds.
    let _ = kernel.write(&folder.join("pids.max"), "0");
    // A number may be given to another process as soon as its owner is gone. So first take hold of the process that has the number now,
    // then ask whether the number is still in the group: if it is, it is the one held.
    let held: Vec<(i32, OwnedFd)> = read_members(folder)
        .into_iter()
        .filter(|pid| pid.unsigned_abs() != std::process::id())
        .filter_map(|pid| {
            Some((pid, rustix::process::pidfd_open(Pid::from_raw(pid)?, PidfdFlags::empty()).ok()?))
        })
        .collect();
    let still = read_members(folder);
    for (pid, process) in held {
        if still.contains(&pid) {
            let _ = rustix::process::pidfd_send_signal(&process, Signal::KILL);
        }
    }
}

/// The processes of a group that we can see; those of other pid namespaces are told as 0.
fn read_members(folder: &Path) -> HashSet<i32> {
    let text = read(&folder.join("cgroup.procs")).unwrap_or_default();
    text.lines().filter_map(|line| line.trim().parse().ok()).filter(|pid| *pid > 0).collect()
}
