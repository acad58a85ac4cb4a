//! Mounting and unmounting. As root outside it would really happen: so it happens in a mount name space of the technique's own
//! whenever one can be had, below the granted folder, and is undone at once.

use std::fs;
use std::path::Path;

use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::unistd::{chdir, chroot, fchdir};

use super::kernel::call;
use super::{Control, Group, Technique, technique};
use crate::outcome::{Stopped, Tried, any_of, code, reached};
use crate::scene::Scene;
use crate::sys;

const fn mounting(
    name: &'static str,
    control: Control,
    what: &'static str,
    run: fn(&Scene) -> Tried,
) -> Technique {
    technique(Group::Mount, name, control, what, run)
}
const ROOT: Control = Control::Root;
const NEW: Control = Control::Host("older kernels have not got the call");

pub(super) const TECHNIQUES: &[Technique] = &[
    mounting("mount-tmpfs", ROOT, "Mounts an empty file system.", |s| {
        mounted(s, "tmpfs", "tmpfs", MsFlags::empty())
    }),
    mounting("mount-proc", ROOT, "Mounts another view of the processes.", |s| {
        mounted(s, "proc", "proc", MsFlags::empty())
    }),
    mounting("mount-sysfs", ROOT, "Mounts the view of the devices.", |s| {
        mounted(s, "sysfs", "sysfs", MsFlags::empty())
    }),
    mounting("mount-bind", ROOT, "Mounts the root a second time.", |s| mounted(s, "/", "", MsFlags::MS_BIND)),
    mounting(
        "mount-overlay",
        Control::Host("the file system may be missing"),
        "Mounts a layered file system.",
        |s| {
            in_private();
            let target = s.scratch_dir("overlay")?;
            let options =
                format!("lowerdir={}:{}", s.context.readonly.display(), s.context.granted.display());
            let result =
                mount(Some("overlay"), &target, Some("overlay"), MsFlags::empty(), Some(options.as_str()));
            finish(&target, result)
        },
    ),
    mounting("mount-remount-root", ROOT, "Mounts the root again, for writing.", |_| {
        // Only in a private name space, or in a sandbox's: the host's own root stays as it is.
        if !in_private() {
            return call("mount");
        }
        let flags = MsFlags::MS_REMOUNT | MsFlags::MS_BIND;
        reached(mount(None::<&str>, "/", None::<&str>, flags, None::<&str>))
    }),
    mounting("call-mount", ROOT, "Asks to mount a file system that does not exist.", |_| call("mount")),
    mounting("call-umount2", ROOT, "Asks to unmount the root in a way that does not exist.", |_| {
        call("umount2")
    }),
    mounting("call-pivot-root", ROOT, "Asks for another root that does not exist.", |_| call("pivot_root")),
    mounting("call-fsopen", ROOT, "Prepares a file system by the new calls.", |_| call("fsopen")),
    mounting("call-fspick", ROOT, "Takes a mounted file system to change it.", |_| call("fspick")),
    mounting("call-fsmount", ROOT, "Makes a mount of a prepared file system.", |_| call("fsmount")),
    mounting("call-fsconfig", Control::User, "Configures a prepared file system, with none.", |_| {
        call("fsconfig")
    }),
    mounting("call-move-mount", ROOT, "Moves a mount to another folder.", |_| call("move_mount")),
    mounting("call-open-tree", ROOT, "Copies all mounts to a place of its own.", |_| call("open_tree")),
    mounting("call-open-tree-attr", NEW, "Copies all mounts with other rights.", |_| call("open_tree_attr")),
    mounting("call-mount-setattr", ROOT, "Changes the rights of a mount.", |_| call("mount_setattr")),
    mounting("chroot", ROOT, "Takes the granted folder as root.", |s| {
        chroot(&s.context.granted)?;
        Ok("it is the root now".into())
    }),
    mounting("chroot-breakout", ROOT, "Takes another root, keeps a hand outside, and climbs.", breakout),
    // These could take away what others stand on: last.
    mounting("umount-masks", ROOT, "Unmounts everything that can be unmounted.", umount_all),
    mounting("pivot-root-real", ROOT, "Takes a file system of its own as root.", pivot),
];

/// A mount name space of our own, whose changes nobody else sees. `false` where it cannot be had.
pub(super) fn in_private() -> bool {
    let private = MsFlags::MS_REC | MsFlags::MS_PRIVATE;
    sys::unshare(libc::CLONE_NEWNS).is_ok()
        && mount(None::<&str>, "/", None::<&str>, private, None::<&str>).is_ok()
}

fn mounted(scene: &Scene, source: &str, kind: &str, flags: MsFlags) -> Tried {
    in_private();
    let target = scene.scratch_dir("mount")?;
    let kind = Some(kind).filter(|kind| !kind.is_empty());
    finish(&target, mount(Some(source), &target, kind, flags, None::<&str>))
}

fn finish(target: &Path, result: nix::Result<()>) -> Tried {
    if result.is_ok() {
        umount2(target, MntFlags::MNT_DETACH)?;
    }
    let _ = fs::remove_dir(target);
    result?;
    Ok("mounted, and unmounted".into())
}

/// The oldest way out of a changed root (chroot(2), "NOTES").
fn breakout(scene: &Scene) -> Tried {
    let inside = scene.scratch_dir("chroot")?;
    let hand = fs::File::open("/")?;
    let changed = chroot(&inside);
    let _ = fs::remove_dir(&inside);
    changed?;
    fchdir(&hand)?;
    for _ in 0..40 {
        chdir("..")?;
    }
    chroot(".")?;
    scene.leaked_by(scene.context.home.join(".env"))
}

/// Masks and mounts of a sandbox. Of the host's mounts only a copy of `/proc` is tried, in a private name space.
fn umount_all(scene: &Scene) -> Tried {
    let a_sandboxes = scene.shares_with_host("mnt") == Some(false);
    if !in_private() && !a_sandboxes {
        return call("umount2");
    }
    let table = fs::read_to_string("/proc/self/mountinfo")?;
    let points = table.lines().filter_map(|line| line.split_whitespace().nth(4));
    let points = points.filter(|point| if a_sandboxes { *point != "/" } else { *point == "/proc" });
    let points: Vec<_> = points.take(64).collect();
    // Without MNT_DETACH, so that what is in use stays; that it is (EBUSY) is said only to those who may.
    any_of(points.into_iter().map(|point| {
        let tried = match umount2(point, MntFlags::UMOUNT_NOFOLLOW) {
            Ok(()) => Ok("unmounted".to_owned()),
            // A mount that came with its name space as one with others is locked (mount_namespaces(7)), also for its owner.
            Err(nix::errno::Errno::EINVAL) => Err(Stopped::held("EINVAL: it is locked")),
            result => reached(result),
        };
        (point, tried)
    }))
}

fn pivot(scene: &Scene) -> Tried {
    let a_sandboxes = scene.shares_with_host("mnt") == Some(false);
    if !in_private() && !a_sandboxes {
        return call("pivot_root");
    }
    let target = scene.scratch_dir("pivot")?;
    let mounted = mount(Some("tmpfs"), &target, Some("tmpfs"), MsFlags::empty(), None::<&str>);
    if mounted.is_err() {
        let _ = fs::remove_dir(&target);
        return call("pivot_root").map_err(|stopped| match (stopped, mounted.map_err(code)) {
            (Stopped::Held(why), Err(errno)) => Stopped::held(format!("{why}; mount: {errno:?}")),
            (stopped, _) => stopped,
        });
    }
    chdir(&target)?;
    let pivoted = nix::unistd::pivot_root(".", ".");
    if pivoted.is_err() {
        chdir("/")?;
        let _ = umount2(&target, MntFlags::MNT_DETACH);
    }
    pivoted?;
    Ok("another root".into())
}
