//! Names of groups, and groups whose supervisor was killed.
//!
//! A supervisor that ends removes its groups; one that is killed cannot. Before a new group is made, those beside it that nobody owns
//! any more are removed. Nothing is ever ended for that: a group with processes stays.

use std::fs;
use std::hash::{BuildHasher as _, Hasher as _};
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::FlockOperation;
use rustix::io::Errno;
use rustix::process::Pid;

use super::kernel::CgroupKernel;
use super::{MadeFolders, open};

const PREFIX: &str = "skillsandbox-";
/// The group below ours where the processes are (version 2).
pub(super) const INNER: &str = "run";
/// Names looked at in one sweep, and groups removed: a run must not wait long for what others left.
const MAX_LOOKED_AT: usize = 4096;
const MAX_REMOVED: usize = 256;
/// Names tried until one is free. Each has 64 random bits.
const MAX_NAMES: usize = 8;

/// A name that no other group has: process, count, chance.
pub(super) fn name() -> String {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let count = COUNTER.fetch_add(1, Ordering::Relaxed);
    // The standard library's hash maps are seeded by the kernel.
    let chance = std::hash::RandomState::new().build_hasher().finish();
    format!("{PREFIX}{}-{count}-{chance:016x}", std::process::id())
}

/// Makes a group with a name of its own in each parent, the same in all of them, and takes hold of them.
pub(super) fn make_in(
    kernel: &Arc<dyn CgroupKernel>,
    parents: &[&Path],
) -> Result<(MadeFolders, String), String> {
    let mut reason = String::new();
    for _ in 0..MAX_NAMES {
        let name = name();
        let mut made = MadeFolders::new(kernel.clone());
        match parents.iter().try_for_each(|parent| take(&mut made, &parent.join(&name))) {
            Ok(()) => return Ok((made, name)),
            Err(TakenName::Refused(reason)) => return Err(reason),
            // Somebody has this name, or came to sweep before we had hold of it.
            Err(TakenName::Lost(lost)) => reason = lost,
        }
    }
    Err(reason)
}

enum TakenName {
    Lost(String),
    Refused(String),
}

fn take(made: &mut MadeFolders, folder: &Path) -> Result<(), TakenName> {
    made.make(folder).map_err(|error| {
        let reason = format!("{}: making a group: {error}", folder.display());
        if error.kind() == io::ErrorKind::AlreadyExists {
            TakenName::Lost(reason)
        } else {
            TakenName::Refused(reason)
        }
    })?;
    made.locks.push(hold(folder).map_err(TakenName::Lost)?);
    Ok(())
}

/// A lock that says somebody owns the group. Other than the number in its name it means the same in every pid namespace, and it ends
/// with its owner.
fn hold(folder: &Path) -> Result<OwnedFd, String> {
    let open = open(folder)?;
    rustix::fs::flock(&open, FlockOperation::NonBlockingLockExclusive)
        .map_err(|error| format!("{}: locking: {}", folder.display(), io::Error::from(error)))?;
    Ok(open)
}

/// Removes the empty groups in a folder whose owner is gone. What cannot be removed stays: this is tidiness, not safety.
pub(super) fn remove_leftovers(kernel: &dyn CgroupKernel, parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else { return };
    let mut removed = 0;
    for entry in entries.take(MAX_LOOKED_AT).flatten() {
        let name = entry.file_name();
        let Some(owner) = name.to_str().and_then(parse_owner) else { continue };
        if is_alive(owner) {
            continue;
        }
        let folder = entry.path();
        // The lock is let go only after the folder is gone: nobody can own it in between.
        let Ok(_lock) = hold(&folder) else { continue };
        let _ = kernel.remove(&folder.join(INNER));
        removed += usize::from(kernel.remove(&folder).is_ok());
        if removed == MAX_REMOVED {
            return;
        }
    }
}

/// The process in a name, if it is one of ours.
fn parse_owner(name: &str) -> Option<Pid> {
    let mut parts = name.strip_prefix(PREFIX)?.split('-');
    let pid = Pid::from_raw(parts.next()?.parse().ok()?)?;
    let count = parts.next()?;
    let chance = parts.next()?;
    let counted = !count.is_empty() && count.bytes().all(|byte| byte.is_ascii_digit());
    let drawn = chance.len() == 16 && chance.bytes().all(|byte| byte.is_ascii_hexdigit());
    (counted && drawn && parts.next().is_none() && pid.as_raw_nonzero().get() > 0).then_some(pid)
}

fn is_alive(pid: Pid) -> bool {
    rustix::process::test_kill_process(pid) != Err(Errno::SRCH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back_and_others_are_not() {
        let name = name();
        assert_eq!(
            parse_owner(&name).unwrap().as_raw_nonzero().get().unsigned_abs(),
            std::process::id(),
            "{name}"
        );
        for other in [
            "skillsandbox",
            "skillsandbox-",
            "skillsandbox-1",
            "skillsandbox-1-2",
            "skillsandbox-1-2-3",
            "skillsandbox-0-2-0123456789abcdef",
            "skillsandbox--1-2-0123456789abcdef",
            "skillsandbox-99999999999-2-0123456789abcdef",
            "skillsandbox-1-x-0123456789abcdef",
            "skillsandbox-1--0123456789abcdef",
            "skillsandbox-1-2-0123456789abcdeg",
            "skillsandbox-1-2-0123456789abcdef-",
            "my-skillsandbox-1-2-0123456789abcdef",
            "system.slice",
        ] {
            assert_eq!(parse_owner(other), None, "{other}");
        }
    }
}
