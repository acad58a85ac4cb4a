//! Programs from places where none should be, and programs that give other rights.

use std::fs::{self, File, Permissions};
use std::io::{Seek as _, Write as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use nix::sys::wait::{Id, WaitPidFlag, waitid};
use nix::unistd::{Pid, geteuid, getresuid};

use super::{Control, Group, Technique, technique};
use crate::outcome::{Stopped, Tried, any_of};
use crate::scene::Scene;
use crate::{status, sys};

const fn program(
    name: &'static str,
    control: Control,
    what: &'static str,
    run: fn(&Scene) -> Tried,
) -> Technique {
    technique(Group::Program, name, control, what, run)
}

/// Programs that often change the user, and what makes each end at once without doing anything.
const KNOWN: &[(&str, &str)] = &[
    ("/usr/bin/su", "--version"),
    ("/usr/bin/sudo", "--version"),
    ("/usr/bin/mount", "--version"),
    ("/usr/bin/umount", "--version"),
    ("/usr/bin/ping", "-V"),
    ("/usr/bin/passwd", "--help"),
    ("/usr/bin/newgrp", "--help"),
    ("/usr/bin/pkexec", "--version"),
    ("/usr/bin/fusermount3", "--version"),
    ("/bin/su", "--version"),
    ("/bin/mount", "--version"),
];

pub(super) const TECHNIQUES: &[Technique] = &[
    program("exec-memfd", Control::User, "Runs a program from memory, which reads a secret.", |s| {
        let mut memory = File::from(sys::memfd(c"program")?);
        std::io::copy(&mut own_program()?, &mut memory)?;
        memory.rewind()?;
        // Duplicated without close-on-exec it would be inherited by others too; the link in /proc is resolved before it closes.
        runs(s, Path::new(&format!("/proc/self/fd/{}", memory.as_raw_fd())))
    }),
    program(
        "exec-granted",
        Control::User,
        "Runs a program from the granted folder, which reads a secret.",
        |s| {
            let path = s.scratch("program");
            runs_copy(s, &path)
        },
    ),
    program("exec-tmp", Control::User, "Runs a program from /tmp, which reads a secret.", |s| {
        let path = std::env::temp_dir().join(format!("skillsandbox-probe-{}", crate::scene::own_pid()));
        runs_copy(s, &path)
    }),
    program("exec-loader", Control::User, "Has the loader run a program, which reads a secret.", |s| {
        let loaders = ["/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1"];
        let loader = loaders.iter().find(|path| Path::new(path).exists());
        let loader = loader.ok_or_else(|| Stopped::unable("no loader that is known"))?;
        let mut command = Command::new(loader);
        command.arg(own_path()?);
        judged(s, command)
    }),
    program(
        "setuid-planted",
        Control::Host("only root can plant one, and some file systems ignore it"),
        "Runs a program that belongs to another user and runs as that one.",
        setuid_planted,
    ),
    program(
        "setuid-known",
        Control::Host("root has nothing to gain, and a host may have none"),
        "Runs programs of the system that run as root.",
        setuid_known,
    ),
    program(
        "setuid-made",
        Control::Never("a program of one's own runs as oneself"),
        "Marks a program of its own to run as its owner.",
        |s| {
            let path = s.scratch("setuid");
            std::io::copy(&mut own_program()?, &mut File::create(&path)?)?;
            let marked = fs::set_permissions(&path, Permissions::from_mode(0o6755));
            let tried = marked.map_err(Stopped::from).and_then(|()| changes_user(&path));
            let _ = fs::remove_file(&path);
            tried
        },
    ),
];

fn own_path() -> Result<PathBuf, Stopped> {
    std::env::current_exe().map_err(|error| Stopped::unable(format!("/proc/self/exe: {error}")))
}

fn own_program() -> Result<File, Stopped> {
    File::open("/proc/self/exe").map_err(|error| Stopped::unable(format!("/proc/self/exe: {error}")))
}

fn runs_copy(scene: &Scene, path: &Path) -> Tried {
    let mut copy = File::create_new(path)?;
    let copied = std::io::copy(&mut own_program()?, &mut copy).and_then(|_| copy.flush());
    drop(copy);
    let mode = fs::set_permissions(path, Permissions::from_mode(0o755));
    let tried = copied.and(mode).map_err(Stopped::from).and_then(|()| runs(scene, path));
    let _ = fs::remove_file(path);
    tried
}

fn runs(scene: &Scene, program: &Path) -> Tried {
    judged(scene, Command::new(program))
}

/// A program may run wherever it comes from; what counts is that it can do no more than this one.
fn judged(scene: &Scene, mut command: Command) -> Tried {
    command.args(["helper", "read"]).arg(scene.context.home.join(".ssh/id_ed25519"));
    let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output()?;
    match scene.leaked(&output.stdout) {
        Ok(secret) => Ok(format!("it ran and {secret}")),
        Err(_) if output.stdout.starts_with(b"ran") => Err(Stopped::held("it ran, and could not read it")),
        Err(_) => Err(Stopped::held(format!("it did not run ({})", output.status))),
    }
}

fn setuid_planted(scene: &Scene) -> Tried {
    if scene.context.setuid.is_empty() {
        return Err(Stopped::unable("only root could plant one"));
    }
    any_of(scene.context.setuid.iter().map(|path| (path.display(), changes_user(path))))
}

/// Starts a program that prints its user numbers.
fn changes_user(path: &Path) -> Tried {
    let output = Command::new(path).args(["helper", "ids"]).stdin(Stdio::null()).output()?;
    let ids = String::from_utf8_lossy(&output.stdout).trim().replace('\n', " / ");
    let own = getresuid()?;
    let users = ids.split(" / ").next().unwrap_or_default().split_whitespace();
    let users: Vec<u32> = users.filter_map(|id| id.parse().ok()).collect();
    match users.iter().find(|user| **user != own.effective.as_raw() && **user != own.real.as_raw()) {
        Some(user) => Ok(format!("it ran as user {user}")),
        None if users.is_empty() => Err(Stopped::held(format!("it did not run ({})", output.status))),
        None => Err(Stopped::held(format!("it ran as the same user ({ids})"))),
    }
}

fn setuid_known(_: &Scene) -> Tried {
    if geteuid().is_root() {
        return Err(Stopped::unable("root has nothing to gain"));
    }
    let marked = KNOWN.iter().filter(|(path, _)| {
        fs::metadata(path).is_ok_and(|file| file.mode() & 0o4000 != 0 && file.uid() != geteuid().as_raw())
    });
    any_of(marked.map(|(path, argument)| (path, ran_as_other(path, argument)))).map_err(|stopped| {
        match stopped {
            Stopped::Unable(why) if why.is_empty() => Stopped::unable("none is installed"),
            stopped => stopped,
        }
    })
}

/// A program that ended is still in `/proc` until it is waited for, with the users it ended as.
fn ran_as_other(path: &str, argument: &str) -> Tried {
    let mut command = Command::new(path);
    command.arg(argument).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn()?;
    let pid = i32::try_from(child.id()).map_err(|_| Stopped::unable("no such number"))?;
    let ended = waitid(Id::Pid(Pid::from_raw(pid)), WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT);
    let text = fs::read_to_string(format!("/proc/{pid}/status"));
    child.wait()?;
    ended?;
    let text = text.map_err(|error| Stopped::unable(format!("/proc does not show it: {error}")))?;
    let users = status::find(&text, "Uid").unwrap_or_default();
    let own = geteuid().to_string();
    if users.is_empty() {
        return Err(Stopped::unable("/proc does not show its user"));
    }
    if users.split_whitespace().any(|user| user != own) {
        return Ok(format!("it ran as another user ({users})"));
    }
    Err(Stopped::held(format!("it ran as the same user ({users})")))
}
