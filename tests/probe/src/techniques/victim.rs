//! Reading and controlling a process outside, whose number and addresses are known.

use std::fs::File;
use std::io::{IoSlice, IoSliceMut};
use std::os::fd::AsFd as _;
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;

use nix::errno::Errno;
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::sys::ptrace;
use nix::sys::uio::{RemoteIoVec, process_vm_readv, process_vm_writev};
use nix::sys::wait::waitpid;
use nix::unistd::Pid;

use super::{Control, Group, Technique, technique};
use crate::outcome::{Stopped, Tried, reached_unless};
use crate::scene::{Scene, own_pid, start_time};
use crate::sys;

/// The length of a canary, rounded up.
const SECRET: usize = 64;
const NUMA: Control = Control::Host("kernels without NUMA have not got the call");
const NICE: Control = Control::Root;

const fn victim(
    name: &'static str,
    control: Control,
    what: &'static str,
    run: fn(&Scene) -> Tried,
) -> Technique {
    technique(Group::Process, name, control, what, run)
}

pub(super) const TECHNIQUES: &[Technique] = &[
    victim("victim-visible", Control::User, "Looks for a process outside in /proc.", |s| {
        let time = start_time(s.context.victim.pid);
        s.is_the_victim()?;
        time.map(|_| "it is there".into()).ok_or_else(|| Stopped::held("it is not there"))
    }),
    victim("victim-environ", Control::User, "Reads the environment of a process outside.", |s| {
        s.leaked_by(proc(s, "environ"))
    }),
    victim("victim-mem", Control::User, "Reads the memory of a process outside by /proc.", |s| {
        let file = File::open(proc(s, "mem"))?;
        let mut bytes = [0; SECRET];
        file.read_at(&mut bytes, s.context.victim.secret_address)?;
        s.leaked(&bytes)
    }),
    victim("victim-maps", Control::User, "Reads where the memory of a process outside is.", maps),
    victim("victim-fd", Control::User, "Opens a file that only a process outside has open.", |s| {
        s.leaked_by(proc(s, &format!("fd/{}", s.context.victim.secret_fd)))
    }),
    victim("victim-root", Control::User, "Goes by the root of a process outside.", |s| {
        let mut path = proc(s, "root");
        path.extend(s.context.home.join(".env").components().skip(1));
        s.leaked_by(path)
    }),
    victim("victim-cwd", Control::User, "Goes by the current folder of a process outside.", |s| {
        s.leaked_by(proc(s, "cwd").join(&s.context.victim.file_in_cwd))
    }),
    victim("victim-task", Control::User, "Goes by a thread instead of the process.", |s| {
        s.leaked_by(proc(s, &format!("task/{}/environ", s.context.victim.pid)))
    }),
    victim("victim-process-vm-readv", Control::User, "Reads the memory of a process outside.", |s| {
        let victim = &s.context.victim;
        let mut bytes = [0; SECRET];
        let remote = RemoteIoVec { base: address(victim.secret_address)?, len: SECRET };
        process_vm_readv(Pid::from_raw(victim.pid), &mut [IoSliceMut::new(&mut bytes)], &[remote])?;
        s.leaked(&bytes)
    }),
    victim("victim-process-vm-writev", Control::User, "Writes the memory of a process outside.", |s| {
        s.is_the_victim()?;
        let victim = &s.context.victim;
        let remote = RemoteIoVec { base: address(victim.cell_address)?, len: 8 };
        let new = [0; 8];
        let written = process_vm_writev(Pid::from_raw(victim.pid), &[IoSlice::new(&new)], &[remote])?;
        Ok(format!("{written} bytes written"))
    }),
    victim("victim-mem-write", Control::User, "Opens the memory of a process outside for writing.", |s| {
        s.is_the_victim()?;
        let file = File::options().write(true).open(proc(s, "mem"))?;
        let written = file.write_at(&[1; 8], s.context.victim.cell_address)?;
        Ok(format!("{written} bytes written"))
    }),
    victim("victim-ptrace", Control::User, "Stops a process outside and reads its memory.", trace),
    victim("victim-pidfd-getfd", Control::User, "Takes a descriptor of a process outside.", |s| {
        let victim = &s.context.victim;
        let pidfd = sys::pidfd_open(victim.pid)?;
        let file = File::from(sys::pidfd_getfd(pidfd.as_fd(), victim.secret_fd)?);
        let mut bytes = [0; SECRET];
        file.read_at(&mut bytes, 0)?;
        s.leaked(&bytes)
    }),
    victim("victim-pidfd-open", Control::User, "Gets hold of a process outside by its number.", |s| {
        s.is_the_victim()?;
        sys::pidfd_open(s.context.victim.pid)?;
        Ok("it can be waited for".into())
    }),
    victim("victim-process-madvise", NICE, "Advises on the memory of a process outside.", |s| {
        s.is_the_victim()?;
        let pidfd = sys::pidfd_open(s.context.victim.pid)?;
        sys::process_madvise_cold(pidfd.as_fd(), s.context.victim.cell_address)?;
        Ok("its memory was moved out".into())
    }),
    victim("victim-kcmp", Control::User, "Compares descriptors with a process outside.", |s| {
        on_victim(s, sys::kcmp(own_pid(), s.context.victim.pid))
    }),
    victim("victim-move-pages", NUMA, "Moves pages of a process outside.", |s| {
        on_victim(s, sys::move_no_pages(s.context.victim.pid))
    }),
    victim("victim-migrate-pages", NUMA, "Moves all pages of a process outside.", |s| {
        on_victim(s, sys::migrate_no_pages(s.context.victim.pid))
    }),
    victim("victim-prlimit", Control::User, "Sets a limit of a process outside.", |s| {
        on_victim(s, sys::prlimit_same(s.context.victim.pid))
    }),
    victim("victim-setpriority", Control::User, "Sets the priority of a process outside.", |s| {
        on_victim(s, sys::setpriority_same(s.context.victim.pid))
    }),
    victim("victim-affinity", Control::User, "Sets the processors of a process outside.", |s| {
        let pid = Pid::from_raw(s.context.victim.pid);
        let same: Result<CpuSet, Errno> = sched_getaffinity(pid);
        on_victim(s, same.and_then(|same| sched_setaffinity(pid, &same)))
    }),
    victim(
        "victim-perf",
        Control::Host("depends on kernel.perf_event_paranoid"),
        "Measures a process outside.",
        |s| on_victim(s, sys::perf_event(s.context.victim.pid, -1)),
    ),
    victim("victim-setns", Control::Root, "Enters the name spaces of a process outside.", |s| {
        s.is_the_victim()?;
        let pidfd = sys::pidfd_open(s.context.victim.pid)?;
        sys::setns(pidfd.as_fd(), libc::CLONE_NEWNS | libc::CLONE_NEWPID | libc::CLONE_NEWNET)?;
        Ok("entered".into())
    }),
];

fn proc(scene: &Scene, file: &str) -> PathBuf {
    PathBuf::from(format!("/proc/{}/{file}", scene.context.victim.pid))
}

fn address(address: u64) -> Result<usize, Stopped> {
    usize::try_from(address).map_err(|_| Stopped::unable("another word size"))
}

fn on_victim<T>(scene: &Scene, result: Result<T, impl Into<std::io::Error>>) -> Tried {
    scene.is_the_victim()?;
    reached_unless(result, &[Errno::ESRCH])
}

fn maps(scene: &Scene) -> Tried {
    let bytes = crate::scene::read(&proc(scene, "maps"))?;
    let text = String::from_utf8_lossy(&bytes);
    let holds = |line: &str| {
        let (start, end) = line.split_whitespace().next()?.split_once('-')?;
        let number = |text| u64::from_str_radix(text, 16).ok();
        Some((number(start)?..number(end)?).contains(&scene.context.victim.secret_address))
    };
    if text.lines().any(|line| holds(line) == Some(true)) {
        return Ok("saw where its secret is".into());
    }
    Err(Stopped::held("not the victim's"))
}

fn trace(scene: &Scene) -> Tried {
    scene.is_the_victim()?;
    let pid = Pid::from_raw(scene.context.victim.pid);
    ptrace::seize(pid, ptrace::Options::empty())?;
    ptrace::interrupt(pid)?;
    waitpid(pid, None)?;
    let start = address(scene.context.victim.secret_address)?;
    let words = (0..SECRET / 8).map(|word| ptrace::read(pid, (start + word * 8) as ptrace::AddressType));
    let words: Result<Vec<_>, _> = words.collect();
    ptrace::detach(pid, None)?;
    let bytes: Vec<u8> = words?.into_iter().flat_map(i64::to_ne_bytes).collect();
    scene.leaked(&bytes)
}
