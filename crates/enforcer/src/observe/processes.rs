//! Who a thread is. Asked once, and again after a while, since numbers are used again.

use std::collections::{HashMap, VecDeque};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::fs::{CWD, Mode, OFlags, openat, readlinkat};
use rustix::io::Errno;

use super::Actor;
use crate::sys::signals::is_thread_of;

/// How long what is known of a thread is believed. A number is used again only after all others were.
const BELIEVED: Duration = Duration::from_secs(1);

/// Threads that are remembered.
const MOST: usize = 1024;

/// Processes of which a new thread may be one: those that were seen last.
const MOST_LEADERS: usize = 8;

/// What is known of the threads of a run.
#[derive(Debug, Default)]
pub(super) struct Processes {
    known: HashMap<u32, Known>,
    leaders: VecDeque<(Arc<Actor>, Instant)>,
}

#[derive(Debug)]
struct Known {
    actor: Arc<Actor>,
    /// Its folder in /proc, once it was needed, which stays its own: when the thread is gone there is nothing in it.
    folder: Option<OwnedFd>,
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
        let Some(pid) = self.known.get(&thread).map(|known| known.actor.pid) else { return };
        self.leaders.retain(|(leader, _)| leader.pid != pid);
        // Its other threads are gone by then.
        for known in self.known.values_mut().filter(|known| known.actor.pid == pid) {
            known.is_stale = true;
        }
    }

    /// The folder that a thread is in, or that one of its descriptors is of.
    pub(super) fn folder(
        &mut self,
        thread: u32,
        descriptor: Option<i32>,
        now: Instant,
    ) -> Result<Vec<u8>, Errno> {
        self.known(thread, now).ok_or(Errno::SRCH)?;
        let known = self.known.get_mut(&thread).ok_or(Errno::SRCH)?;
        if known.folder.is_none() {
            known.folder = Some(folder_of(thread).ok_or(Errno::SRCH)?);
        }
        let folder = known.folder.as_ref().ok_or(Errno::SRCH)?;
        let link = match descriptor {
            None => readlinkat(folder, "cwd", Vec::new()),
            Some(number) => readlinkat(folder, format!("fd/{number}"), Vec::new()),
        };
        link.map(std::ffi::CString::into_bytes)
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
            let known = match self.sibling(thread, now) {
                Some(actor) => Known { actor, folder: None, since: now, is_stale: false },
                None => self.stranger(thread, now)?,
            };
            self.known.insert(thread, known);
        }
        self.known.get(&thread)
    }

    /// A thread of a process that is known already: one question, where reading of it takes many.
    fn sibling(&self, thread: u32, now: Instant) -> Option<Arc<Actor>> {
        let believed = self.leaders.iter().filter(|(_, since)| now.duration_since(*since) < BELIEVED);
        let leader = believed.map(|(leader, _)| leader).find(|leader| is_thread_of(leader.pid, thread))?;
        Some(Arc::new(Actor { thread, ..Actor::clone(leader) }))
    }

    fn stranger(&mut self, thread: u32, now: Instant) -> Option<Known> {
        let known = Known::of(thread, now)?;
        self.leaders.retain(|(leader, _)| leader.pid != known.actor.pid);
        self.leaders.truncate(MOST_LEADERS - 1);
        self.leaders.push_front((Arc::clone(&known.actor), now));
        Some(known)
    }
}

fn folder_of(thread: u32) -> Option<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    openat(CWD, format!("/proc/{thread}"), flags, Mode::empty()).ok()
}

impl Known {
    fn of(thread: u32, now: Instant) -> Option<Self> {
        let folder = folder_of(thread)?;
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
        Some(Self { actor: Arc::new(actor), folder: Some(folder), since: now, is_stale: false })
    }
}
