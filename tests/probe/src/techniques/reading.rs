//! Reading what was not granted, by name and by ways round names.

use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use nix::fcntl::{OFlag, openat};
use nix::sys::stat::Mode;

use super::{Control, Group, Technique, technique};
use crate::outcome::{Stopped, Tried, any_of};
use crate::scene::{Scene, read};
use crate::sys;

const fn reading(
    name: &'static str,
    control: Control,
    what: &'static str,
    run: fn(&Scene) -> Tried,
) -> Technique {
    technique(Group::Read, name, control, what, run)
}

pub(super) const TECHNIQUES: &[Technique] = &[
    reading("read-ssh-key", Control::User, "Reads the private key of SSH.", |s| home(s, ".ssh/id_ed25519")),
    reading("read-aws", Control::User, "Reads the credentials of AWS.", |s| home(s, ".aws/credentials")),
    reading("read-env", Control::User, "Reads .env in the home.", |s| home(s, ".env")),
    reading("read-netrc", Control::User, "Reads passwords in .netrc.", |s| home(s, ".netrc")),
    reading("read-kube", Control::User, "Reads the configuration of kubectl.", |s| home(s, ".kube/config")),
    reading("read-history", Control::User, "Reads the history of a shell.", |s| home(s, ".bash_history")),
    reading("read-project", Control::User, "Reads .env of another project.", |s| home(s, "project/.env")),
    reading("list-home", Control::User, "Lists the home and looks for planted names.", list_home),
    reading("stat-secret", Control::User, "Asks for the size of a secret file.", |s| {
        let size = fs::metadata(s.context.home.join(".ssh/id_ed25519"))?.size();
        Ok(format!("it has {size} bytes"))
    }),
    reading("read-real-home", Control::User, "Lists the home of the user who planted.", real_home),
    reading("read-shadow", Control::Root, "Reads the hashes of passwords.", shadow),
    reading("read-other-user", Control::Root, "Reads a file only another user may read.", |s| {
        let path = s.context.other_user.as_ref();
        s.leaked_by(path.ok_or_else(|| Stopped::unable("only root could plant one"))?)
    }),
    reading("read-trace", Control::User, "Reads the trace of the run.", |s| s.leaked_by(&s.context.trace)),
    reading(
        "read-by-planted-link",
        Control::User,
        "Follows a link in the granted folder to a secret.",
        |s| s.leaked_by(s.context.granted.join("link-to-secret")),
    ),
    reading(
        "read-by-shipped-link",
        Control::User,
        "Follows a link that the skill shipped to a secret.",
        |s| s.leaked_by(s.context.skill.join("data/.ssh/id_ed25519")),
    ),
    reading("read-by-relative-link", Control::User, "Follows a link with `..` to the home.", |s| {
        let below = s.context.home.strip_prefix(&s.context.dir);
        below.map_err(|_| Stopped::unable("the home was planted elsewhere"))?;
        s.leaked_by(s.context.granted.join("link-up/.env"))
    }),
    reading("read-by-climbing", Control::User, "Climbs from the granted folder with `..`.", |s| {
        s.leaked_by(climbing(&s.context.granted, &s.context.home.join(".env")))
    }),
    reading("read-by-proc-root", Control::User, "Goes by /proc/self/root.", |s| {
        s.leaked_by(beneath("/proc/self/root", &s.context.home.join(".env")))
    }),
    reading("read-by-proc-cwd", Control::User, "Climbs from /proc/self/cwd.", |s| {
        s.leaked_by(climbing(Path::new("/proc/self/cwd"), &s.context.home.join(".env")))
    }),
    reading("read-by-held-folder", Control::User, "Climbs from a descriptor of the granted folder.", |s| {
        let folder = File::open(&s.context.granted)?;
        let target = climbing(Path::new("."), &s.context.home.join(".env"));
        let file = openat(&folder, &target, OFlag::O_RDONLY | OFlag::O_CLOEXEC, Mode::empty())?;
        let mut bytes = Vec::new();
        File::from(file).read_to_end(&mut bytes)?;
        s.leaked(&bytes)
    }),
    reading("read-by-handle", Control::Root, "Opens a secret by its handle instead of a path.", by_handle),
    reading("name-to-handle", Control::User, "Asks for the handle of a secret.", |s| {
        let path = crate::scene::c_path(&s.context.home.join(".ssh/id_ed25519"))?;
        let (kind, bytes) = sys::name_to_handle(&path)?;
        Ok(format!("a handle of kind {kind} with {} bytes", bytes.len()))
    }),
    reading("read-disks", Control::Root, "Reads a disk past its file system.", disks),
];

fn home(scene: &Scene, name: &str) -> Tried {
    scene.leaked_by(scene.context.home.join(name))
}

/// `target` by way of `/` from `from`: more `..` than any path is deep end at the root.
fn climbing(from: &Path, target: &Path) -> PathBuf {
    beneath(from.join("../".repeat(40)), target)
}

fn beneath(root: impl Into<PathBuf>, target: &Path) -> PathBuf {
    let mut path = root.into();
    path.extend(target.components().skip(1));
    path
}

fn list_home(scene: &Scene) -> Tried {
    let names = fs::read_dir(&scene.context.home)?.flatten().map(|entry| entry.file_name());
    let names: Vec<_> = names.filter(|name| name == ".ssh" || name == ".aws" || name == "project").collect();
    if names.is_empty() {
        return Err(Stopped::held("none of what was planted is in it"));
    }
    Ok(format!("saw {names:?}"))
}

fn real_home(scene: &Scene) -> Tried {
    let home = scene.context.host.real_home.as_ref();
    let home = home.ok_or_else(|| Stopped::unable("whoever planted has no home"))?;
    let number = fs::metadata(&home.path)?.ino();
    if number != home.number {
        return Err(Stopped::held("another folder of the same name"));
    }
    let entries = fs::read_dir(&home.path)?.count();
    Ok(format!("it has {entries} entries"))
}

fn shadow(_: &Scene) -> Tried {
    any_of(["/etc/shadow", "/etc/shadow-", "/etc/gshadow"].map(|path| {
        let tried = read(Path::new(path)).map_err(Stopped::from).and_then(|bytes| {
            if bytes.contains(&b':') {
                Ok(format!("{} bytes", bytes.len()))
            } else {
                Err(Stopped::held("it is empty"))
            }
        });
        (path, tried)
    }))
}

/// The way out of early containers: a handle needs no path, only a file system, and the granted folder is on it.
fn by_handle(scene: &Scene) -> Tried {
    let handle = scene.context.handle.as_ref();
    let handle = handle.ok_or_else(|| Stopped::unable("the file system has no handles"))?;
    let mount = File::open(&scene.context.granted)?;
    let file = sys::open_by_handle(std::os::fd::AsFd::as_fd(&mount), handle.kind, &handle.bytes)?;
    let mut bytes = Vec::new();
    File::from(file).read_to_end(&mut bytes)?;
    scene.leaked(&bytes)
}

fn disks(_: &Scene) -> Tried {
    let disks = ["/dev/vda", "/dev/sda", "/dev/nvme0n1", "/dev/xvda", "/dev/dm-0", "/dev/loop0"];
    any_of(disks.map(|path| {
        let tried = File::open(path).map_err(Stopped::from).map(|_| "it can be read".to_owned());
        (path, tried)
    }))
}
