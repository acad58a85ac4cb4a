//! Namespaces: processes, mounts, network, IPC, host name and cgroups of its own, owned by a user namespace of its own.
//!
//! Inside, everybody is user 1000. An ordinary user's child writes its own map, which the kernel allows for one's own number
//! once `setgroups` is given up. Where the launching program may map others (root), it writes the map itself, because only
//! then may the child drop its supplementary groups.

use std::fs;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};

use caps::{CapSet, Capability};
use rustix::fs::{CWD, Mode, OFlags};

use super::mounts::ID;
use crate::child::step::{AtStep as _, SetupStep, StepResult};
use crate::error::Error;
use crate::sys;

/// The namespaces that the child is made in.
pub(crate) const AT_CLONE: i32 = libc::CLONE_NEWUSER
    | libc::CLONE_NEWNS
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWCGROUP;

/// The group that owns nothing. Files that root's runs leave behind belong to it: with its set-group-id bit, which no profile but
/// `strict` refuses since folders need it, a program left in a write grant would otherwise give root's group away.
const NOBODY: u32 = 65534;

/// The name of every sandbox's host.
const HOST_NAME: &[u8] = b"skillsandbox";

/// How users are mapped.
#[derive(Debug)]
pub(crate) struct NamespacesLayer {
    uid_map: Vec<u8>,
    gid_map: Vec<u8>,
    /// What root's child is instead of a member of root's group.
    nobodys_map: Option<Vec<u8>>,
    /// The launching program writes the maps.
    mapped_from_outside: bool,
    /// The child waits here until that, or whatever else has to be done to it first, is done.
    gate: Option<MapGate>,
}

#[derive(Debug)]
struct MapGate {
    wait: OwnedFd,
    open: OwnedFd,
}

impl NamespacesLayer {
    /// `waits`: something has to be done to the child before it goes on. A rehearsal leaves nothing behind, and an overlay keeps the group of
    /// what is changed: root's it has to know.
    pub(crate) fn prepare(waits: bool, rehearsal: bool) -> Result<Self, Error> {
        let map = |id: u32| format!("{ID} {id} 1").into_bytes();
        let mapped_from_outside = may_map_others();
        let gate = if mapped_from_outside || waits {
            let pipe = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC);
            let (wait, open) =
                pipe.map_err(|source| Error::Host { what: "make a pipe", source: source.into() })?;
            Some(MapGate { wait, open })
        } else {
            None
        };
        let (uid, gid) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
        let nobodys_map = (mapped_from_outside && gid == 0 && !rehearsal).then(|| map(NOBODY));
        Ok(Self { uid_map: map(uid), gid_map: map(gid), nobodys_map, mapped_from_outside, gate })
    }

    /// What the child waits at.
    pub(crate) fn descriptor(&self) -> Option<&OwnedFd> {
        self.gate.as_ref().map(|gate| &gate.wait)
    }

    /// The launching program's part, once the child exists. A child that waits in vain for its maps ends by itself.
    pub(crate) fn map_from_outside(&self, pid: i32) -> io::Result<()> {
        if self.mapped_from_outside {
            fs::write(format!("/proc/{pid}/uid_map"), &self.uid_map)?;
            let file = format!("/proc/{pid}/gid_map");
            let nobody = self.nobodys_map.as_ref().is_some_and(|map| fs::write(&file, map).is_ok());
            // In a container that has no such group, root's it is.
            if !nobody {
                fs::write(&file, &self.gid_map)?;
            }
        }
        if let Some(gate) = &self.gate {
            rustix::io::write(&gate.open, b".")?;
        }
        Ok(())
    }

    pub(crate) fn apply(&self) -> StepResult {
        if let Some(gate) = &self.gate {
            let mut byte = [0; 1];
            let read = rustix::io::read(&gate.wait, &mut byte).at(SetupStep::Maps)?;
            if read == 0 {
                return Err(sys::Errno(libc::ECANCELED)).at(SetupStep::Maps);
            }
        }
        if self.mapped_from_outside {
            rustix::thread::set_thread_groups(&[]).at(SetupStep::Groups)?;
        } else {
            write(c"/proc/self/setgroups", b"deny").at(SetupStep::Maps)?;
            write(c"/proc/self/uid_map", &self.uid_map).at(SetupStep::Maps)?;
            write(c"/proc/self/gid_map", &self.gid_map).at(SetupStep::Maps)?;
        }
        let (uid, gid) = (rustix::process::Uid::from_raw(ID), rustix::process::Gid::from_raw(ID));
        rustix::thread::set_thread_res_gid(gid, gid, gid).at(SetupStep::Maps)?;
        rustix::thread::set_thread_res_uid(uid, uid, uid).at(SetupStep::Maps)?;
        rustix::system::sethostname(HOST_NAME).at(SetupStep::HostName)?;
        sys::keyring::join_new_session().at(SetupStep::Keyring)
    }
}

/// Whether this program may write any map, and so keep `setgroups` for the child.
fn may_map_others() -> bool {
    // Where it was given up, as in `unshare --map-root-user`, it is given up for all namespaces below (user_namespaces(7)).
    let setgroups = fs::read("/proc/self/setgroups").is_ok_and(|text| text.starts_with(b"allow"));
    setgroups
        && [Capability::CAP_SETUID, Capability::CAP_SETGID]
            .iter()
            .all(|capability| caps::has_cap(None, CapSet::Effective, *capability).unwrap_or(false))
}

fn write(path: &std::ffi::CStr, content: &[u8]) -> sys::Result<()> {
    let file = rustix::fs::openat(CWD, path, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
    rustix::io::write(file.as_fd(), content)?;
    Ok(())
}
