//! Signals to a process outside, by every call that sends one. The victim counts SIGUSR1, and its word decides; only what this side
//! sees is judged here.

use std::os::fd::AsFd as _;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::{Control, Group, Technique, technique};
use crate::outcome::Tried;
use crate::scene::Scene;
use crate::sys;

const fn by(name: &'static str, what: &'static str, run: fn(&Scene) -> Tried) -> Technique {
    technique(Group::Process, name, Control::User, what, run)
}

/// Ordinary users may signal their own processes, and the victim is one.
pub(super) const TECHNIQUES: &[Technique] = &[
    by("signal-zero", "Asks whether a process outside could be signalled.", |s| {
        s.is_the_victim()?;
        kill(Pid::from_raw(s.context.victim.pid), None)?;
        Ok("it could".into())
    }),
    by("signal-kill", "Signals a process outside by kill.", |s| {
        sent(s, |pid| Ok(kill(Pid::from_raw(pid), Signal::SIGUSR1)?))
    }),
    by("signal-tgkill", "Signals a thread outside.", |s| sent(s, |pid| sys::tgkill(pid, libc::SIGUSR1))),
    by("signal-sigqueue", "Signals a process outside with a value.", |s| {
        sent(s, |pid| sys::sigqueue(pid, libc::SIGUSR1))
    }),
    by("signal-pidfd", "Signals a process outside by a descriptor of it.", |s| {
        sent(s, |pid| sys::pidfd_send_signal(sys::pidfd_open(pid)?.as_fd(), libc::SIGUSR1))
    }),
    by("signal-by-pipe", "Has the kernel signal a process outside that a pipe can be read.", |s| {
        sent(s, sys::signal_by_pipe)
    }),
];

/// Nothing is sent to a process that only has the victim's number.
fn sent(scene: &Scene, send: fn(i32) -> std::io::Result<()>) -> Tried {
    scene.is_the_victim()?;
    send(scene.context.victim.pid)?;
    Ok("sent".into())
}
