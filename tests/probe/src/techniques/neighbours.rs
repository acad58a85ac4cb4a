//! Reading and controlling the processes a sandbox itself consists of: its first process, and whoever started the attack. They may
//! hold the environment, the memory and the files of the user.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{IoSlice, IoSliceMut};
use std::os::fd::AsFd as _;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::sys::ptrace;
use nix::sys::signal::kill;
use nix::sys::uio::{RemoteIoVec, process_vm_readv, process_vm_writev};
use nix::unistd::Pid;

use super::{Control, Group, Technique, technique};
use crate::outcome::{Stopped, Tried, any_of, reached_unless};
use crate::scene::{Scene, own_pid, read};
use crate::sys;

const fn near(
    name: &'static str,
    control: Control,
    what: &'static str,
    run: fn(&Scene) -> Tried,
) -> Technique {
    technique(Group::Process, name, control, what, run)
}

const INIT: Control = Control::Host("root may have fewer rights than the first process of the host");
const LEFT_ALONE: Control = Control::Host("outside, the first process of the host is left alone");

pub(super) const TECHNIQUES: &[Technique] = &[
    near("init-environ", INIT, "Reads the environment of process 1.", |s| environ(s, init(s)?)),
    near("init-mem", INIT, "Reads the memory of process 1.", |s| memory(init(s)?)),
    near("init-maps", INIT, "Reads where the memory of process 1 is.", |s| maps(init(s)?)),
    near("init-fd", INIT, "Opens the files of process 1.", |s| files(init(s)?)),
    near("init-root", INIT, "Goes by the root of process 1.", |s| by_root(s, init(s)?)),
    near("init-cwd", INIT, "Goes by the current folder of process 1.", |s| by_cwd(s, init(s)?)),
    near("init-signal", Control::Root, "Asks whether process 1 of the host may be signalled.", |s| {
        signal(s, init(s)?)
    }),
    near("init-ptrace", LEFT_ALONE, "Traces process 1.", |s| {
        if s.shares_with_host("pid") != Some(false) {
            return Err(Stopped::unable("this may be the first process of the host"));
        }
        trace(init(s)?)
    }),
    near("init-process-vm-readv", INIT, "Reads the memory of process 1 by its call.", |s| vm_read(init(s)?)),
    near("init-process-vm-writev", INIT, "Writes the memory of process 1, at no address.", |s| {
        vm_write(init(s)?)
    }),
    near("init-pidfd-getfd", INIT, "Takes descriptors of process 1.", |s| take_files(init(s)?)),
    near("init-kcmp", INIT, "Compares descriptors with process 1.", |s| {
        reached_unless(sys::kcmp(own_pid(), init(s)?), &[Errno::ESRCH])
    }),
    near("launcher-environ", Control::User, "Reads the environment of whoever started this.", |s| {
        environ(s, launcher(s)?)
    }),
    near("launcher-mem", Control::User, "Reads the memory of whoever started this.", |s| {
        memory(launcher(s)?)
    }),
    near("launcher-maps", Control::User, "Reads where the memory of the parent is.", |s| maps(launcher(s)?)),
    near("launcher-fd", Control::User, "Opens the files of whoever started this.", |s| files(launcher(s)?)),
    near("launcher-root", Control::User, "Goes by the root of the parent.", |s| by_root(s, launcher(s)?)),
    near("launcher-cwd", Control::Host("it may stand anywhere"), "Goes by the parent's folder.", |s| {
        by_cwd(s, launcher(s)?)
    }),
    near("launcher-signal", Control::User, "Asks whether the parent on the host may be signalled.", |s| {
        signal(s, launcher(s)?)
    }),
    near("launcher-ptrace", Control::User, "Traces whoever started this.", |s| trace(launcher(s)?)),
    near("launcher-process-vm-readv", Control::User, "Reads the memory of the parent by its call.", |s| {
        vm_read(launcher(s)?)
    }),
    near("launcher-process-vm-writev", Control::User, "Writes the parent's memory, at no address.", |s| {
        vm_write(launcher(s)?)
    }),
    near("launcher-pidfd-getfd", Control::User, "Takes descriptors of the parent.", |s| {
        take_files(launcher(s)?)
    }),
    near("all-environs", Control::User, "Looks for secrets in every environment in /proc.", all_environs),
    near("all-cmdlines", Control::User, "Counts the processes of the host in /proc.", host_processes),
];

/// Process 1, unless that is the attack itself.
fn init(scene: &Scene) -> Result<i32, Stopped> {
    if scene.runner == 1 {
        return Err(Stopped::unable("the attack itself is process 1"));
    }
    Ok(1)
}

/// The process that started the attack, unless it is not to be seen.
fn launcher(scene: &Scene) -> Result<i32, Stopped> {
    match scene.launcher {
        0 => Err(Stopped::held("the parent is outside of what can be seen")),
        1 if scene.shares_with_host("pid") != Some(false) => {
            Err(Stopped::unable("the parent is the first process of the host"))
        }
        pid => Ok(pid),
    }
}

fn proc(pid: i32, file: &str) -> PathBuf {
    PathBuf::from(format!("/proc/{pid}/{file}"))
}

/// Through if it holds a secret, or any variable that this process was not given.
fn environ(scene: &Scene, pid: i32) -> Tried {
    let theirs = read(&proc(pid, "environ"))?;
    if let Ok(secret) = scene.leaked(&theirs) {
        return Ok(secret);
    }
    let own = read(Path::new("/proc/self/environ"))?;
    let own: BTreeSet<&[u8]> = variables(&own).collect();
    let new = variables(&theirs).filter(|variable| !own.contains(variable)).count();
    if new == 0 {
        return Err(Stopped::held(format!("{} bytes, nothing new in them", theirs.len())));
    }
    Ok(format!("{new} variables that were not given"))
}

fn variables(environ: &[u8]) -> impl Iterator<Item = &[u8]> {
    environ.split(|byte| *byte == 0).filter(|variable| variable.contains(&b'='))
}

/// Through if anything at all can be read at an address that the map names.
fn memory(pid: i32) -> Tried {
    let file = File::open(proc(pid, "mem"))?;
    let map = read(&proc(pid, "maps"))?;
    let map = String::from_utf8_lossy(&map).into_owned();
    let start = |line: &str| {
        let (range, rest) = line.split_once(' ')?;
        if !rest.starts_with('r') {
            return None;
        }
        u64::from_str_radix(range.split_once('-')?.0, 16).ok()
    };
    let mut bytes = [0; 64];
    let read =
        map.lines().filter_map(start).take(32).any(|at| file.read_at(&mut bytes, at).is_ok_and(|n| n > 0));
    if read { Ok("its memory can be read".into()) } else { Err(Stopped::held("no byte of it can be read")) }
}

fn maps(pid: i32) -> Tried {
    match read(&proc(pid, "maps"))?.len() {
        0 => Err(Stopped::held("it is empty")),
        length => Ok(format!("{length} bytes")),
    }
}

fn files(pid: i32) -> Tried {
    let links = fs::read_dir(proc(pid, "fd"))?.flatten();
    let links: Vec<_> = links.filter_map(|entry| fs::read_link(entry.path()).ok()).collect();
    if links.is_empty() {
        return Err(Stopped::held("it has none open"));
    }
    Ok(format!(
        "it has {} open, the first is {}",
        links.len(),
        links.first().map_or("", |l| l.to_str().unwrap_or(""))
    ))
}

/// Its root is a way out only if it is not ours.
fn by_root(scene: &Scene, pid: i32) -> Tried {
    let mut path = proc(pid, "root");
    path.extend(scene.context.home.join(".env").components().skip(1));
    scene.leaked_by(path)
}

fn by_cwd(scene: &Scene, pid: i32) -> Tried {
    let cwd = proc(pid, "cwd");
    // Held by errors of the link itself, not of what is or is not in it.
    fs::read_dir(&cwd)?;
    let mut up = cwd.join("../".repeat(40));
    up.extend(scene.context.home.join(".env").components().skip(1));
    scene.leaked_by(up)
}

/// Signals to the sandbox's own first process are its own affair; signals to a process of the host are not.
fn signal(scene: &Scene, pid: i32) -> Tried {
    kill(Pid::from_raw(pid), None)?;
    if scene.shares_with_host("pid") == Some(false) {
        return Err(Stopped::held("it is a process of the sandbox"));
    }
    Ok("it may be signalled".into())
}

/// Seizing does not stop it, and ends with this process.
fn trace(pid: i32) -> Tried {
    ptrace::seize(Pid::from_raw(pid), ptrace::Options::empty())?;
    Ok("it is traced".into())
}

/// No address is mapped at 8: the error says whether it came to that.
const NO_ADDRESS: RemoteIoVec = RemoteIoVec { base: 8, len: 8 };

fn vm_read(pid: i32) -> Tried {
    let mut bytes = [0; 8];
    let result = process_vm_readv(Pid::from_raw(pid), &mut [IoSliceMut::new(&mut bytes)], &[NO_ADDRESS]);
    reached_unless(result, &[Errno::ESRCH])
}

fn vm_write(pid: i32) -> Tried {
    let result = process_vm_writev(Pid::from_raw(pid), &[IoSlice::new(&[0; 8])], &[NO_ADDRESS]);
    reached_unless(result, &[Errno::ESRCH])
}

fn take_files(pid: i32) -> Tried {
    let pidfd = sys::pidfd_open(pid)?;
    any_of((0..4).map(|fd| (fd, reached_unless(sys::pidfd_getfd(pidfd.as_fd(), fd), &[Errno::ESRCH]))))
}

/// Numbers of all processes that can be seen, but this one and the runner.
fn others(scene: &Scene) -> Result<Vec<i32>, Stopped> {
    let entries = fs::read_dir("/proc")?.flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    Ok(pids.filter(|pid| *pid != own_pid() && *pid != scene.runner).collect())
}

fn all_environs(scene: &Scene) -> Tried {
    let found = others(scene)?.into_iter().filter_map(|pid| scene.leaked_by(proc(pid, "environ")).ok());
    let found: Vec<_> = found.collect();
    if found.is_empty() {
        return Err(Stopped::held("no secret in any environment that can be read"));
    }
    Ok(found.join("; "))
}

/// The victim is one of the host's; if it can be seen, so can others.
fn host_processes(scene: &Scene) -> Tried {
    let pids = others(scene)?;
    let victim = &scene.context.victim;
    if pids.contains(&victim.pid) && crate::scene::start_time(victim.pid) == Some(victim.start_time) {
        return Ok(format!("{} processes can be seen, the victim among them", pids.len()));
    }
    Err(Stopped::held(format!("{} other processes can be seen, none of the host", pids.len())))
}
