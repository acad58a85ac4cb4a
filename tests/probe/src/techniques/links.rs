//! Changing what was not granted by way of links, renames, files without names and device nodes.

use std::fs::{self, File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{OpenOptionsExt as _, symlink};

use nix::errno::Errno;
use nix::fcntl::{AT_FDCWD, AtFlags, RenameFlags, renameat2};
use nix::sys::stat::{Mode, SFlag, makedev, mknod};
use nix::unistd::linkat;

use super::writing::changed_by;
use super::{Control, Group, Technique, technique};
use crate::outcome::{Stopped, Tried, any_of};
use crate::scene::Scene;

const fn link(name: &'static str, what: &'static str, run: fn(&Scene) -> Tried) -> Technique {
    technique(Group::Write, name, Control::User, what, run)
}

pub(super) const TECHNIQUES: &[Technique] = &[
    link("link-planted", "Writes through a link that lay in the granted folder.", |s| {
        changed_by(s, "planted-link", &s.context.granted.join("link-to-outside"))
    }),
    link("link-shipped", "Makes a file through a link that the skill shipped.", |s| {
        s.outside_is_the_hosts()?;
        File::create_new(s.context.skill.join("notes/new-by-shipped-link"))?;
        Ok("made".into())
    }),
    link("link-made", "Makes a link in the granted folder and writes through it.", |s| {
        let path = s.scratch("link");
        symlink(s.outside("made-link"), &path)?;
        let tried = changed_by(s, "made-link", &path);
        fs::remove_file(path)?;
        tried
    }),
    link("link-folder", "Makes a file through a link to a folder outside.", |s| {
        s.outside_is_the_hosts()?;
        File::create_new(s.context.granted.join("link-to-folder/new-by-link"))?;
        Ok("made".into())
    }),
    link("link-hard", "Gives a file outside a second name in the granted folder, and writes.", |s| {
        let path = s.scratch("hard");
        fs::hard_link(s.outside("linked"), &path)?;
        let tried = changed_by(s, "linked", &path);
        fs::remove_file(path)?;
        tried
    }),
    link("link-hard-by-descriptor", "The same from a descriptor that was opened for nothing.", |s| {
        let file = OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_PATH)
            .open(s.outside("linked-by-descriptor"))?;
        let path = s.scratch("hard-fd");
        let from = format!("/proc/self/fd/{}", file.as_raw_fd());
        linkat(AT_FDCWD, from.as_str(), AT_FDCWD, &path, AtFlags::AT_SYMLINK_FOLLOW)?;
        let tried = changed_by(s, "linked-by-descriptor", &path);
        fs::remove_file(path)?;
        tried
    }),
    link("link-secret", "Gives a secret a second name in the granted folder.", |s| {
        let path = s.scratch("secret");
        fs::hard_link(s.context.home.join(".ssh/id_ed25519"), &path)?;
        let tried = s.leaked_by(&path);
        fs::remove_file(path)?;
        tried
    }),
    link("rename-in", "Moves a file from outside to the granted folder.", |s| {
        let path = s.scratch("moved");
        fs::rename(s.outside("moved-in"), &path)?;
        fs::remove_file(path)?;
        Ok("moved".into())
    }),
    link("rename-out", "Moves a file from the granted folder to outside.", |s| {
        s.outside_is_the_hosts()?;
        let path = s.scratch_file("out", "from within\n")?;
        let moved = fs::rename(&path, s.outside("moved-out"));
        let _ = fs::remove_file(path);
        moved?;
        Ok("moved".into())
    }),
    link("rename-exchange", "Has a granted and an outside file change places.", |s| {
        let path = s.scratch_file("exchange", "from within\n")?;
        let flags = RenameFlags::RENAME_EXCHANGE;
        let done = renameat2(AT_FDCWD, &path, AT_FDCWD, &s.outside("exchanged"), flags);
        let _ = fs::remove_file(path);
        done?;
        Ok("exchanged".into())
    }),
    link("rename-grant", "Moves the granted folder itself away.", |s| {
        let away = s.context.dir.join("granted-away");
        fs::rename(&s.context.granted, &away)?;
        fs::rename(away, &s.context.granted)?;
        Ok("moved, and put back".into())
    }),
    link("tmpfile-out", "Makes a file without a name and gives it one outside.", |s| {
        s.outside_is_the_hosts()?;
        let flags = libc::O_TMPFILE;
        let opened = OpenOptions::new().read(true).write(true).custom_flags(flags).open(&s.context.granted);
        let mut file = match opened {
            Err(error) if error.raw_os_error() == Some(libc::EOPNOTSUPP) => {
                return Err(Stopped::unable("the file system has no files without names"));
            }
            opened => opened?,
        };
        file.write_all(b"from within\n")?;
        let from = format!("/proc/self/fd/{}", file.as_raw_fd());
        linkat(AT_FDCWD, from.as_str(), AT_FDCWD, &s.outside("from-tmpfile"), AtFlags::AT_SYMLINK_FOLLOW)?;
        Ok("it has a name outside".into())
    }),
    technique(Group::Write, "device-nodes", Control::Root, "Makes nodes of devices and opens them.", devices),
];

/// A node that could be made but not opened (`nodev`) is harmless, so it is opened: the null device, and the one for random numbers.
fn devices(scene: &Scene) -> Tried {
    let kinds = [
        ("null device", SFlag::S_IFCHR, makedev(1, 3)),
        ("random numbers", SFlag::S_IFCHR, makedev(1, 9)),
        ("disk", SFlag::S_IFBLK, makedev(7, 0)),
    ];
    any_of(kinds.map(|(name, kind, device)| {
        let path = scene.scratch("node");
        let tried = mknod(&path, kind, Mode::S_IRUSR, device).map_err(Stopped::from).and_then(|()| {
            let opened = File::open(&path).and_then(|mut file| file.read(&mut [0; 1]));
            fs::remove_file(&path)?;
            match opened.map_err(crate::outcome::code) {
                Ok(_) => Ok("made, and it can be read".to_owned()),
                Err(errno @ (Errno::EACCES | Errno::EPERM)) => {
                    Err(Stopped::held(format!("made, but it cannot be opened ({errno:?})")))
                }
                Err(errno) => Ok(format!("made ({errno:?} when read)")),
            }
        });
        (name, tried)
    }))
}
