//! What is inherited from whoever started the sandbox: open files, folders and sockets; signals ignored and held back.

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::fs::{FileExt as _, FileTypeExt as _};

use nix::fcntl::{FcntlArg, OFlag, fcntl, openat};
use nix::sys::stat::Mode;

use super::{Control, Group, Technique, technique};
use crate::outcome::{Stopped, Tried, any_of};
use crate::scene::Scene;
use crate::{status, sys};

const HANDED: Control = Control::Host("only if whoever starts the attack has something open");
const SIGNALS: Control = Control::Host("only if whoever starts the attack ignores or holds back signals");

const fn inherited(
    name: &'static str,
    control: Control,
    what: &'static str,
    run: fn(&Scene) -> Tried,
) -> Technique {
    technique(Group::Inherited, name, control, what, run)
}

pub(super) const TECHNIQUES: &[Technique] = &[
    inherited("fd-inherited", HANDED, "Looks for descriptors beyond the first three.", |s| {
        each(s, |fd| Ok(described(fd)))
    }),
    inherited("fd-read", HANDED, "Reads secrets from inherited descriptors.", |s| {
        each(s, |fd| s.leaked(&content(fd)?))
    }),
    inherited("fd-climb", HANDED, "Climbs from inherited folders to a secret.", |s| {
        each(s, |fd| {
            let mut path = std::path::PathBuf::from("../".repeat(40));
            path.extend(s.context.home.join(".env").components().skip(1));
            let file = openat(fd, &path, OFlag::O_RDONLY | OFlag::O_CLOEXEC, Mode::empty())?;
            let mut bytes = Vec::new();
            File::from(file).read_to_end(&mut bytes)?;
            s.leaked(&bytes)
        })
    }),
    inherited("fd-send", HANDED, "Sends through inherited sockets.", |s| {
        each(s, |fd| {
            let file = File::from(fd.try_clone()?);
            if !file.metadata()?.file_type().is_socket() {
                return Err(Stopped::held("no socket"));
            }
            nonblocking(fd)?;
            (&file).write_all(b"probe")?;
            Ok("sent".into())
        })
    }),
    inherited("signals-ignored", SIGNALS, "Looks for signals that are ignored from the start.", |s| {
        signals(s, "SigIgn")
    }),
    inherited("signals-blocked", SIGNALS, "Looks for signals that are held back from the start.", |s| {
        signals(s, "SigBlk")
    }),
];

/// Tries something with every descriptor that was there at the start.
fn each(scene: &Scene, attempt: impl Fn(&OwnedFd) -> Tried) -> Tried {
    if scene.inherited.is_empty() {
        return Err(match scene.context.launcher.open_files {
            0 => Stopped::unable("whoever started this may have had none"),
            handed => Stopped::held(format!("none of {handed} came along")),
        });
    }
    any_of(
        scene.inherited.iter().map(|number| {
            (number, sys::inherited(*number).map_err(Stopped::from).and_then(|fd| attempt(&fd)))
        }),
    )
}

fn described(fd: &OwnedFd) -> String {
    use std::os::fd::AsRawFd as _;
    let link = fs::read_link(format!("/proc/self/fd/{}", fd.as_raw_fd()));
    link.map_or_else(|_| "something".into(), |path| path.display().to_string())
}

/// Files from their beginning, everything else as far as there is something.
fn content(fd: &OwnedFd) -> Result<Vec<u8>, Stopped> {
    let mut file = File::from(fd.try_clone()?);
    let mut bytes = vec![0; 4096];
    if file.metadata()?.is_dir() {
        return Err(Stopped::held("a folder"));
    }
    let length = if let Ok(length) = file.read_at(&mut bytes, 0) {
        length
    } else {
        nonblocking(fd)?;
        file.read(&mut bytes)?
    };
    bytes.truncate(length);
    Ok(bytes)
}

/// Shared with whoever has it open too, but nothing else keeps a read from waiting for ever.
fn nonblocking(fd: &OwnedFd) -> Result<(), Stopped> {
    let flags = OFlag::from_bits_retain(fcntl(fd.as_fd(), FcntlArg::F_GETFL)?);
    fcntl(fd.as_fd(), FcntlArg::F_SETFL(flags | OFlag::O_NONBLOCK))?;
    Ok(())
}

/// Rust's runtime ignores SIGPIPE by itself; its mask bit says nothing of whoever started this.
fn signals(scene: &Scene, field: &str) -> Tried {
    const SIGPIPE: u64 = 1 << (libc::SIGPIPE - 1);
    match status::mask(field)? & !SIGPIPE {
        0 if scene.context.launcher.signals => Err(Stopped::held("none")),
        0 => Err(Stopped::unable("none, but whoever started this may have had none")),
        mask => Ok(format!("mask {mask:016x}")),
    }
}
