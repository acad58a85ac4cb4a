//! Asks the kernel who a thread is, while it waits. What is asked for here costs more than all else that is done for a call, so each
//! question is the cheapest that has the answer, and nothing is asked for twice.

use std::os::fd::{AsFd as _, OwnedFd};

use rustix::fs::{CWD, Mode, OFlags, openat, readlinkat};
use rustix::io::Errno;

use super::Actor;
use crate::sys::process_info::{
    ProcessNumbers, has_process_numbers, process_inside, process_numbers, process_outside,
};
use crate::sys::signals::is_thread_of;

/// What is held open for that.
#[derive(Debug, Default)]
pub(super) struct ProcessLookup {
    /// `/proc`.
    proc: Option<OwnedFd>,
    /// The sandbox's namespace of processes, once one of them has shown it. Never where a run may make namespaces of its own: who is
    /// in one has another number there.
    namespace: Option<OwnedFd>,
    makes_namespaces: bool,
    has_numbers: bool,
}

/// The process that a thread was found to belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FoundProcess {
    /// Its number on the host.
    pub(super) pid: u32,
    /// Its number inside.
    inner_pid: u32,
}

impl ProcessLookup {
    pub(super) fn new(makes_namespaces: bool) -> Self {
        Self { proc: None, namespace: None, makes_namespaces, has_numbers: has_process_numbers() }
    }

    /// The process that a thread belongs to, where the kernel has a short answer.
    pub(super) fn find_process(&mut self, thread: u32) -> Option<FoundProcess> {
        if self.namespace.is_none() && self.has_numbers && !self.makes_namespaces {
            let path = format!("{thread}/ns/pid");
            let flags = OFlags::RDONLY | OFlags::CLOEXEC;
            self.namespace = openat(self.proc()?, path, flags, Mode::empty()).ok();
        }
        let namespace = self.namespace.as_ref()?.as_fd();
        let inner_pid = process_inside(namespace, thread)?;
        Some(FoundProcess { pid: process_outside(namespace, inner_pid)?, inner_pid })
    }

    /// Whether a thread is one of this process: the short question where there is no [`find_process`](Self::find_process).
    pub(super) fn is_thread_of(&self, process: u32, thread: u32) -> bool {
        self.namespace.is_none() && is_thread_of(process, thread)
    }

    /// All there is to know of a thread.
    pub(super) fn read(&mut self, thread: u32, found: Option<FoundProcess>) -> Option<Actor> {
        let numbers =
            found.and_then(|found| process_numbers(thread).filter(|numbers| numbers.pid == found.pid));
        let (ProcessNumbers { pid, parent }, inner_pid) = match (numbers, found) {
            (Some(numbers), Some(found)) => (numbers, Some(found.inner_pid)),
            (None, _) | (_, None) => self.read_status(thread)?,
        };
        Some(Actor { pid, thread, inner_pid, parent, binary: self.binary(thread) })
    }

    /// The program that a thread executes.
    pub(super) fn binary(&mut self, thread: u32) -> Option<String> {
        let path = self.link(thread, "exe").ok()?;
        Some(
            String::from_utf8(path)
                .unwrap_or_else(|path| String::from_utf8_lossy(path.as_bytes()).into_owned()),
        )
    }

    /// The folder that a thread is in, or that one of its descriptors is of. `NOENT` is a descriptor that is not open.
    pub(super) fn folder(&mut self, thread: u32, descriptor: Option<i32>) -> Result<Vec<u8>, Errno> {
        let Some(number) = descriptor else { return self.link(thread, "cwd") };
        match self.link(thread, &format!("fd/{number}")) {
            // Nor is there one of a thread that is gone, or that hides.
            Err(Errno::NOENT) => Err(self.link(thread, "cwd").err().map_or(Errno::NOENT, |_| Errno::SRCH)),
            link => link,
        }
    }

    fn link(&mut self, thread: u32, name: &str) -> Result<Vec<u8>, Errno> {
        let proc = self.proc().ok_or(Errno::SRCH)?;
        // Room for nearly all of them at the first attempt.
        let link = readlinkat(proc, format!("{thread}/{name}"), Vec::with_capacity(256))?;
        Ok(link.into_bytes())
    }

    fn read_status(&mut self, thread: u32) -> Option<(ProcessNumbers, Option<u32>)> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let file = openat(self.proc()?, format!("{thread}/status"), flags, Mode::empty()).ok()?;
        let mut status = [0; 4096];
        let count = rustix::io::read(&file, &mut status).ok()?;
        let status = String::from_utf8_lossy(status.get(..count)?);
        let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name));
        let number = |text: Option<&str>| text.and_then(|text| text.trim().parse().ok());
        let numbers = ProcessNumbers { pid: number(field("Tgid:"))?, parent: number(field("PPid:")) };
        // The number in each namespace, the innermost last.
        Some((numbers, number(field("NStgid:").and_then(|all| all.split_whitespace().last()))))
    }

    fn proc(&mut self) -> Option<&OwnedFd> {
        if self.proc.is_none() {
            let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
            self.proc = openat(CWD, "/proc", flags, Mode::empty()).ok();
        }
        self.proc.as_ref()
    }
}
