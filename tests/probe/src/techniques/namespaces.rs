//! Making name spaces, in which a process has rights again, and entering others'.

use std::fs::{self, File};
use std::io;
use std::os::fd::AsFd as _;

use nix::mount::{MsFlags, mount};
use nix::sys::wait::waitpid;

use super::{Control, Group, Technique, technique};
use crate::outcome::{Stopped, Tried, any_of};
use crate::scene::Scene;
use crate::sys;

const fn space(
    name: &'static str,
    control: Control,
    what: &'static str,
    run: fn(&Scene) -> Tried,
) -> Technique {
    technique(Group::Namespace, name, control, what, run)
}
const ROOT: Control = Control::Root;
const USER: Control = Control::Host("some hosts keep user name spaces from ordinary users");
const INIT: Control = Control::Host("root may have fewer rights than the first process of the host");
const TIME: Control = Control::Host("older kernels have no time name spaces");

const NEWTIME: i32 = 0x80;
const TREE: [(&str, i32); 7] = [
    ("user", libc::CLONE_NEWUSER),
    ("mnt", libc::CLONE_NEWNS),
    ("pid", libc::CLONE_NEWPID),
    ("net", libc::CLONE_NEWNET),
    ("ipc", libc::CLONE_NEWIPC),
    ("uts", libc::CLONE_NEWUTS),
    ("cgroup", libc::CLONE_NEWCGROUP),
];

pub(super) const TECHNIQUES: &[Technique] = &[
    space("unshare-user", USER, "Leaves the user name space for a new one.", |_| {
        unshare(libc::CLONE_NEWUSER)
    }),
    space("unshare-mnt", ROOT, "Leaves the mount name space for a new one.", |_| unshare(libc::CLONE_NEWNS)),
    space("unshare-pid", ROOT, "Has children in a new name space of processes.", |_| {
        unshare(libc::CLONE_NEWPID)
    }),
    space("unshare-net", ROOT, "Leaves the network name space for a new one.", |_| {
        unshare(libc::CLONE_NEWNET)
    }),
    space("unshare-ipc", ROOT, "Leaves the name space of shared objects.", |_| unshare(libc::CLONE_NEWIPC)),
    space("unshare-uts", ROOT, "Leaves the name space of host names.", |_| unshare(libc::CLONE_NEWUTS)),
    space("unshare-cgroup", ROOT, "Leaves the name space of control groups.", |_| {
        unshare(libc::CLONE_NEWCGROUP)
    }),
    space("unshare-time", TIME, "Has children in a new name space of clocks.", |_| unshare(NEWTIME)),
    space("clone-user", USER, "Starts a process in a new user name space.", |_| cloned(libc::CLONE_NEWUSER)),
    space("clone-mnt", ROOT, "Starts a process in a new mount name space.", |_| cloned(libc::CLONE_NEWNS)),
    space("clone-pid", ROOT, "Starts a process as the first of a name space.", |_| {
        cloned(libc::CLONE_NEWPID)
    }),
    space("clone-net", ROOT, "Starts a process in a new network name space.", |_| cloned(libc::CLONE_NEWNET)),
    space("clone-ipc", ROOT, "Starts a process in a new name space of objects.", |_| {
        cloned(libc::CLONE_NEWIPC)
    }),
    space("clone-uts", ROOT, "Starts a process in a new name space of host names.", |_| {
        cloned(libc::CLONE_NEWUTS)
    }),
    space("clone-cgroup", ROOT, "Starts a process in a new name space of groups.", |_| {
        cloned(libc::CLONE_NEWCGROUP)
    }),
    space("clone-user-high-bits", USER, "The same with a bit that a filter may compare.", |_| {
        waitpid(sys::clone_and_end(i64::from(libc::CLONE_NEWUSER) | (1 << 40))?, None)?;
        Ok("a process ran in it".into())
    }),
    space("clone3-user", USER, "The same by clone3, whose flags a filter cannot see.", |_| {
        cloned3(libc::CLONE_NEWUSER)
    }),
    space("clone3-mnt", ROOT, "The same for mounts, by clone3.", |_| cloned3(libc::CLONE_NEWNS)),
    space("clone3-pid", ROOT, "The same for processes, by clone3.", |_| cloned3(libc::CLONE_NEWPID)),
    space("clone3-net", ROOT, "The same for the network, by clone3.", |_| cloned3(libc::CLONE_NEWNET)),
    space("clone3-ipc", ROOT, "The same for shared objects, by clone3.", |_| cloned3(libc::CLONE_NEWIPC)),
    space("clone3-uts", ROOT, "The same for host names, by clone3.", |_| cloned3(libc::CLONE_NEWUTS)),
    space("clone3-cgroup", ROOT, "The same for control groups, by clone3.", |_| {
        cloned3(libc::CLONE_NEWCGROUP)
    }),
    space("clone3-time", TIME, "The same for clocks, by clone3.", |_| cloned3(NEWTIME)),
    space("userns-all", USER, "Makes all name spaces at once and mounts in them.", |s| {
        let all = TREE.iter().fold(0, |flags, (_, flag)| flags | flag);
        sys::unshare(all)?;
        let target = s.scratch_dir("userns")?;
        let mounted = mount(Some("tmpfs"), &target, Some("tmpfs"), MsFlags::empty(), None::<&str>);
        let _ = nix::mount::umount(&target);
        let _ = fs::remove_dir(target);
        mounted?;
        Ok("mounted with rights of its own".into())
    }),
    space("userns-nesting", USER, "Makes user name spaces within each other, up to 40.", |_| {
        let own = (nix::unistd::geteuid().as_raw(), nix::unistd::getegid().as_raw());
        sys::unshare(libc::CLONE_NEWUSER)?;
        let above = std::iter::once(own).chain(std::iter::repeat_n((0, 0), 38));
        let made = 1 + above.take_while(|above| nest(*above).is_ok()).count();
        Ok(format!("{made} of them"))
    }),
    space("setns-init", INIT, "Enters the name spaces of process 1.", |s| {
        if s.runner == 1 {
            return Err(Stopped::unable("the attack itself is process 1"));
        }
        entered(s, "/proc/1/ns")
    }),
    space("setns-launcher", ROOT, "Enters the name spaces of whoever started this.", |s| {
        if s.launcher == 0 {
            return Err(Stopped::held("the parent is outside of what can be seen"));
        }
        entered(s, &format!("/proc/{}/ns", s.launcher))
    }),
    space("setns-victim", ROOT, "Enters the name spaces of a process outside, one by one.", |s| {
        s.is_the_victim()?;
        entered(s, &format!("/proc/{}/ns", s.context.victim.pid))
    }),
    space("setns-own", ROOT, "Enters its own name spaces anew, which asks for the same right.", |s| {
        entered(s, "/proc/self/ns")
    }),
    space(
        "ns-parent",
        Control::Never("the first name spaces have none above them"),
        "Asks for the name spaces above its own.",
        |_| {
            let asked = [("user", true), ("user", false), ("pid", false)].map(|(name, owner)| {
                let above = File::open(format!("/proc/self/ns/{name}"))
                    .and_then(|own| sys::ns_above(own.as_fd(), owner));
                (name, above.map(|_| "it can be had".to_owned()).map_err(Stopped::from))
            });
            any_of(asked)
        },
    ),
];

fn unshare(flags: i32) -> Tried {
    sys::unshare(flags)?;
    Ok("it has one of its own".into())
}

/// Only who has a number in the name space, as a user and as a group, may make another one in it.
fn nest((user_above, group_above): (u32, u32)) -> io::Result<()> {
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("0 {user_above} 1"))?;
    fs::write("/proc/self/gid_map", format!("0 {group_above} 1"))?;
    sys::unshare(libc::CLONE_NEWUSER)
}

fn cloned(flags: i32) -> Tried {
    waitpid(sys::clone_and_end(flags.into())?, None)?;
    Ok("a process ran in it".into())
}

fn cloned3(flags: i32) -> Tried {
    let flags = u64::try_from(flags).map_err(|_| Stopped::unable("no such flag"))?;
    waitpid(sys::clone3_and_end(flags)?, None)?;
    Ok("a process ran in it".into())
}

fn entered(_: &Scene, folder: &str) -> Tried {
    any_of(TREE.iter().rev().map(|(name, kind)| {
        let entered = File::open(format!("{folder}/{name}")).and_then(|ns| sys::setns(ns.as_fd(), *kind));
        let tried = match entered.map_err(crate::outcome::code) {
            Ok(()) => Ok("entered".to_owned()),
            // Its own user name space cannot be entered by anybody.
            Err(errno) => Err(Stopped::from(errno)),
        };
        (name, tried)
    }))
}
