//! Changing what may be read but not written: the skill, its manifest, its trace, a folder granted for reading.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use nix::mount::{MsFlags, mount};

use super::{Control, Group, Technique, mounts, technique};
use crate::outcome::{Stopped, Tried};
use crate::scene::{Scene, c_path};
use crate::sys;

const fn skill(
    name: &'static str,
    control: Control,
    what: &'static str,
    run: fn(&Scene) -> Tried,
) -> Technique {
    technique(Group::Skill, name, control, what, run)
}
const REMOUNT: Control = Control::Root;

pub(super) const TECHNIQUES: &[Technique] = &[
    skill("skill-write-manifest", Control::User, "Adds to the skill's manifest.", |s| append(&manifest(s))),
    skill("skill-replace-manifest", Control::User, "Moves another file over the manifest.", |s| {
        let own = s.scratch_file("manifest", "skill: { name: mine, version: \"6.6.6\" }\n")?;
        let moved = fs::rename(&own, manifest(s));
        let _ = fs::remove_file(own);
        moved?;
        Ok("replaced".into())
    }),
    skill("skill-write-code", Control::User, "Adds to the skill's code.", |s| {
        append(&s.context.skill.join("main.py"))
    }),
    skill("skill-create", Control::User, "Adds a file to the skill.", |s| {
        File::create_new(s.context.skill.join("added"))?;
        Ok("made".into())
    }),
    skill("skill-remove", Control::User, "Removes a file of the skill.", |s| {
        fs::remove_file(s.context.skill.join("removed"))?;
        Ok("removed".into())
    }),
    skill("skill-rename", Control::User, "Renames a file of the skill.", |s| {
        fs::rename(s.context.skill.join("renamed"), s.context.skill.join("renamed-to"))?;
        Ok("renamed".into())
    }),
    skill("skill-chmod", Control::User, "Changes the mode of a file of the skill.", |s| {
        fs::set_permissions(s.context.skill.join("chmod-me"), Permissions::from_mode(0o600))?;
        Ok("changed".into())
    }),
    skill("skill-move-away", Control::User, "Moves the whole skill away.", |s| {
        let away = s.context.dir.join("skill-away");
        fs::rename(&s.context.skill, &away)?;
        fs::rename(away, &s.context.skill)?;
        Ok("moved, and put back".into())
    }),
    skill("skill-remount", REMOUNT, "Mounts the skill again, for writing.", |s| {
        remount(&s.context.skill, "main.py")
    }),
    skill("skill-bind-over", REMOUNT, "Mounts another file over one of the skill.", |s| {
        mounts::in_private();
        let own = s.scratch_file("over", "mine\n")?;
        let target = s.context.skill.join("bound-over");
        let bound = mount(Some(&own), &target, None::<&str>, MsFlags::MS_BIND, None::<&str>);
        let seen = fs::read_to_string(&target);
        if bound.is_ok() {
            let _ = nix::mount::umount(&target);
        }
        let _ = fs::remove_file(own);
        bound?;
        match seen?.as_str() {
            "mine\n" => Ok("the skill has another file now".into()),
            _ => Err(Stopped::held("the file is as before")),
        }
    }),
    skill(
        "skill-clone-writable",
        REMOUNT,
        "Copies the mount of the skill and makes the copy writable.",
        |s| writable_copy(&s.context.skill),
    ),
    skill("readonly-write", Control::User, "Adds to a file granted for reading.", |s| {
        append(&s.context.readonly.join("written"))
    }),
    skill("readonly-create", Control::User, "Makes a file in a folder granted for reading.", |s| {
        File::create_new(s.context.readonly.join("added"))?;
        Ok("made".into())
    }),
    skill("readonly-remove", Control::User, "Removes a file granted for reading.", |s| {
        fs::remove_file(s.context.readonly.join("removed"))?;
        Ok("removed".into())
    }),
    skill("readonly-chmod", Control::User, "Changes the mode of a file granted for reading.", |s| {
        fs::set_permissions(s.context.readonly.join("chmod-me"), Permissions::from_mode(0o600))?;
        Ok("changed".into())
    }),
    skill(
        "readonly-by-proc-fd",
        Control::User,
        "Opens a file granted for reading again, for writing.",
        |s| {
            let file = File::open(s.context.readonly.join("written"))?;
            append(Path::new(&format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&file))))
        },
    ),
    skill("readonly-remount", REMOUNT, "Mounts a folder granted for reading again, for writing.", |s| {
        remount(&s.context.readonly, "written")
    }),
    skill("readonly-clone-writable", REMOUNT, "Copies the mount and makes the copy writable.", |s| {
        writable_copy(&s.context.readonly)
    }),
    skill("trace-write", Control::User, "Adds to the trace of the run.", |s| append(&s.context.trace)),
    skill("trace-truncate", Control::User, "Empties the trace of the run.", |s| {
        OpenOptions::new().write(true).truncate(true).open(&s.context.trace)?;
        Ok("emptied".into())
    }),
    skill("trace-remove", Control::User, "Removes the trace of the run.", |s| {
        fs::remove_file(&s.context.trace)?;
        Ok("removed".into())
    }),
];

fn manifest(scene: &Scene) -> PathBuf {
    scene.context.skill.join("skillsandbox.yaml")
}

fn append(path: &Path) -> Tried {
    OpenOptions::new().append(true).open(path)?.write_all(b"# changed\n")?;
    Ok("changed".into())
}

/// Outside, the folder is no mount of its own, and the kernel says so only to those who may mount.
fn remount(folder: &Path, file: &str) -> Tried {
    mounts::in_private();
    let flags = MsFlags::MS_REMOUNT | MsFlags::MS_BIND;
    let reached = crate::outcome::reached(mount(None::<&str>, folder, None::<&str>, flags, None::<&str>))?;
    Ok(format!("{reached}; then: {:?}", append(&folder.join(file))))
}

fn writable_copy(folder: &Path) -> Tried {
    mounts::in_private();
    let tree = sys::clone_tree(&c_path(folder)?)?;
    sys::make_tree_writable(std::os::fd::AsFd::as_fd(&tree))?;
    let flags = nix::fcntl::OFlag::O_CREAT | nix::fcntl::OFlag::O_WRONLY;
    nix::fcntl::openat(&tree, "by-copy", flags, nix::sys::stat::Mode::S_IRUSR)?;
    Ok("a file was made in the copy".into())
}
