//! Changing what was not granted, plainly.

use std::fs::{self, File, OpenOptions};
use std::io::Write as _;

use nix::sys::stat::{Mode, SFlag, mknod};

use super::{Control, Group, Technique, technique};
use crate::outcome::{Stopped, Tried};
use crate::scene::Scene;

const fn writing(name: &'static str, what: &'static str, run: fn(&Scene) -> Tried) -> Technique {
    technique(Group::Write, name, Control::User, what, run)
}

pub(super) const TECHNIQUES: &[Technique] = &[
    writing("write-append", "Adds to a file outside.", |s| {
        add_to(OpenOptions::new().append(true).open(s.outside("appended"))?)
    }),
    writing("write-truncate", "Empties a file outside.", |s| {
        nix::unistd::truncate(&s.outside("truncated"), 0)?;
        Ok("emptied".into())
    }),
    writing("write-create", "Makes a file outside.", |s| {
        s.outside_is_the_hosts()?;
        File::create_new(s.outside("new-file"))?;
        Ok("made".into())
    }),
    writing("write-mkdir", "Makes a folder outside.", |s| {
        s.outside_is_the_hosts()?;
        fs::create_dir(s.outside("new-folder"))?;
        Ok("made".into())
    }),
    writing("write-symlink", "Makes a link outside.", |s| {
        s.outside_is_the_hosts()?;
        std::os::unix::fs::symlink("marker", s.outside("new-link"))?;
        Ok("made".into())
    }),
    writing("write-fifo", "Makes a pipe with a name outside.", |s| {
        s.outside_is_the_hosts()?;
        mknod(&s.outside("new-pipe"), SFlag::S_IFIFO, Mode::S_IRUSR, 0)?;
        Ok("made".into())
    }),
    writing("write-remove", "Removes a file outside.", |s| {
        fs::remove_file(s.outside("removed"))?;
        Ok("removed".into())
    }),
    writing("write-rename", "Renames a file outside.", |s| {
        fs::rename(s.outside("renamed"), s.outside("renamed-to"))?;
        Ok("renamed".into())
    }),
    writing("write-home", "Adds a key to those that may log in.", |s| {
        add_to(OpenOptions::new().append(true).open(s.context.home.join(".ssh/id_ed25519"))?)
    }),
    writing("write-startup", "Adds a file to the home that every shell would run.", |s| {
        s.leaked_by(s.context.home.join(".env"))?;
        File::create(s.context.home.join(".profile"))?;
        fs::remove_file(s.context.home.join(".profile"))?;
        Ok("made".into())
    }),
    writing("write-mapped", "Changes a file outside through memory that is mapped to it.", |s| {
        // A mapping that may be written needs a descriptor that may be; that is where it is stopped or not.
        let file = OpenOptions::new().read(true).write(true).open(s.outside("mapped"))?;
        file.set_len(1)?;
        Ok("opened for mapping and cut".into())
    }),
    technique(Group::Write, "write-etc", Control::Root, "Opens a file of the system for writing.", |_| {
        // Opened and closed: nothing is written and nothing is cut.
        OpenOptions::new().append(true).open("/etc/passwd")?;
        Ok("/etc/passwd can be written".into())
    }),
    technique(
        Group::Write,
        "write-program",
        Control::Root,
        "Opens a folder of programs for a new one.",
        |_| {
            let path = std::path::Path::new("/usr/bin/skillsandbox-probe-was-here");
            File::create_new(path)?;
            fs::remove_file(path)?;
            Ok("a program could be added".into())
        },
    ),
];

fn add_to(mut file: File) -> Tried {
    file.write_all(b"changed\n")?;
    Ok("changed".into())
}

/// Writes through any path and says whether it came to be in the file outside.
pub(super) fn changed_by(scene: &Scene, name: &str, path: &std::path::Path) -> Tried {
    let mut file = OpenOptions::new().append(true).open(path)?;
    file.write_all(b"changed\n")?;
    // What the host has is seen by its name there, where that can be seen at all; otherwise the witness tells.
    match fs::read_to_string(scene.outside(name)) {
        Ok(text) if !text.ends_with("changed\n") => Err(Stopped::held("written to another file")),
        _ => Ok("the file outside was written".into()),
    }
}
