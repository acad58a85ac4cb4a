//! Who a thread is. Asked once, and again after a while, since numbers are used again.

use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::fs::{CWD, Mode, OFlags, openat, readlinkat};

use super::Actor;

/// How long what is known of a thread is believed. A number is used again only after all others were.
const BELIEVED: Duration = Duration::from_secs(1);

/// Threads that are remembered.
const MOST: usize = 1024;

/// What is known of the threads of a run.
#[derive(Debug, Default)]
pub(super) struct Processes {
    known: HashMap<u32, Known>,
}

#[derive(Debug)]
struct Known {
    actor: Arc<Actor>,
    /// Its folder in /proc, which stays its own: when the thread is gone there is nothing in it.
    folder: OwnedFd,
    since: Instant,
    /// It has executed another program since.
    is_stale: bool,
}

impl Processes {
    /// Who a thread is.
    pub(super) fn actor(&mut self, thread: u32, now: Instant) -> Option<Arc<Actor>> {
        self.known(thread, now).map(|known| Arc::clone(&known.actor))
    }

    /// It is about to execute another program.
    pub(super) fn executes(&mut self, thread: u32) {
        if let Some(known) = self.known.get_mut(&thread) {
            known.is_stale = true;
        }
    }

    /// The folder that a thread is in, or that one of its descriptors is of.
    pub(super) fn folder(&mut self, thread: u32, descriptor: Option<i32>, now: Instant) -> Option<Vec<u8>> {
        let known = self.known(thread, now)?;
        let link = match descriptor {
            None => readlinkat(&known.folder, "cwd", Vec::new()),
            Some(number) => readlinkat(&known.folder, format!("fd/{number}"), Vec::new()),
        };
        link.ok().map(std::ffi::CString::into_bytes)
    }

    fn known(&mut self, thread: u32, now: Instant) -> Option<&Known> {
        let is_good = |known: &Known| !known.is_stale && now.duration_since(known.since) < BELIEVED;
        if !self.known.get(&thread).is_some_and(is_good) {
            if self.known.len() >= MOST {
                self.known.retain(|_, known| is_good(known));
            }
            if self.known.len() >= MOST {
                self.known.clear();
            }
            self.known.insert(thread, Known::of(thread, now)?);
        }
        self.known.get(&thread)
    }
}

impl Known {
    fn of(thread: u32, now: Instant) -> Option<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = openat(CWD, format!("/proc/{thread}"), flags, Mode::empty()).ok()?;
        let file = openat(&folder, "status", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok()?;
        let mut status = [0; 4096];
        let count = rustix::io::read(&file, &mut status).ok()?;
        let status = String::from_utf8_lossy(status.get(..count)?);
        let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name));
        let number = |text: Option<&str>| text.and_then(|text| text.trim().parse().ok());
        let binary = readlinkat(&folder, "exe", Vec::new()).ok();
        let actor = Actor {
            pid: number(field("Tgid:"))?,
            thread,
            // The number in each namespace, the innermost last.
            inner_pid: number(field("NStgid:").and_then(|all| all.split_whitespace().last())),
            parent: number(field("PPid:")),
            binary: binary.map(|path| path.to_string_lossy().into_owned()),
        };
        Some(Self { actor: Arc::new(actor), folder, since: now, is_stale: false })
    }
}
