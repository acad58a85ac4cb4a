//! Which process a thread belongs to. Read once, and again after a while, since numbers are used again.

use std::collections::{HashMap, VecDeque};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::fs::{CWD, Mode, OFlags, openat, readlinkat};
use rustix::io::Errno;

use super::Actor;
use crate::sys::signals::is_thread_of;

/// How long what is known of a thread counts. A number is used again only after all others were.
const VALID_FOR: Duration = Duration::from_secs(1);

/// Threads that are remembered.
const MOST: usize = 1024;

/// Processes of which a new thread may be one: those that were seen last.
const MOST_LEADERS: usize = 8;

/// What is known of the threads of a run.
#[derive(Debug, Default)]
pub(super) struct ProcessTable {
    known: HashMap<u32, KnownThread>,
    leaders: VecDeque<(Arc<Actor>, Instant)>,
    /// Processes that were about to execute another program, and when: until they have, another thread of theirs may call, and be
    /// known by the old one.
    executing: HashMap<u32, PendingExec>,
}

#[derive(Debug)]
struct PendingExec {
    since: Instant,
    /// The program before.
    binary: Option<String>,
}

#[derive(Debug)]
struct KnownThread {
    actor: Arc<Actor>,
    /// Its folder in /proc, once it was needed, which stays its own: when the thread is gone there is nothing in it.
    folder: Option<OwnedFd>,
    since: Instant,
    /// It has executed another program since.
    is_stale: bool,
}

impl ProcessTable {
    /// Who a thread is.
    pub(super) fn actor(&mut self, thread: u32, now: Instant) -> Option<Arc<Actor>> {
        self.look_up(thread, now).map(|known| Arc::clone(&known.actor))
    }

    /// It is about to execute another program.
    pub(super) fn note_exec(&mut self, thread: u32, now: Instant) {
        let Some(actor) = self.known.get(&thread).map(|known| &known.actor) else { return };
        let (pid, binary) = (actor.pid, actor.binary.clone());
        if self.executing.len() >= MOST {
            self.executing.retain(|_, executing| now.duration_since(executing.since) < VALID_FOR);
        }
        if self.executing.len() >= MOST {
            self.executing.clear();
        }
        self.executing.insert(pid, PendingExec { since: now, binary });
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
        self.look_up(thread, now).ok_or(Errno::SRCH)?;
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

    fn look_up(&mut self, thread: u32, now: Instant) -> Option<&KnownThread> {
        let is_good = |known: &KnownThread| !known.is_stale && now.duration_since(known.since) < VALID_FOR;
        if !self.known.get(&thread).is_some_and(is_good) || self.has_executed(thread, now) {
            if self.known.len() >= MOST {
                self.known.retain(|_, known| is_good(known));
            }
            if self.known.len() >= MOST {
                self.known.clear();
            }
            let known = match self.find_sibling(thread, now) {
                Some(actor) => KnownThread { actor, folder: None, since: now, is_stale: false },
                None => self.read_new(thread, now)?,
            };
            self.known.insert(thread, known);
        }
        self.known.get(&thread)
    }

    /// Whether a thread that was about to execute another program has done so since it was looked at.
    fn has_executed(&mut self, thread: u32, now: Instant) -> bool {
        let Some(known) = self.known.get(&thread) else { return false };
        let pid = known.actor.pid;
        let Some(executing) = self.executing.get(&pid) else { return false };
        // A thread that is just being ended executes nothing any more, and its number is the next program's.
        let is_known = known.actor.binary.is_some();
        // Another program than before: it is done.
        let is_done = is_known && known.actor.binary != executing.binary;
        if is_done || now.duration_since(executing.since) >= VALID_FOR {
            self.executing.remove(&pid);
            return false;
        }
        let is_same =
            is_known && known.folder.as_ref().is_some_and(|folder| binary_of(folder) == known.actor.binary);
        if !is_same {
            self.leaders.retain(|(leader, _)| leader.pid != pid);
        }
        !is_same
    }

    /// A thread of a process that is known already: one question, where reading of it takes many.
    fn find_sibling(&self, thread: u32, now: Instant) -> Option<Arc<Actor>> {
        let valid = self.leaders.iter().filter(|(_, since)| now.duration_since(*since) < VALID_FOR);
        let leader = valid.map(|(leader, _)| leader).find(|leader| is_thread_of(leader.pid, thread))?;
        Some(Arc::new(Actor { thread, ..Actor::clone(leader) }))
    }

    fn read_new(&mut self, thread: u32, now: Instant) -> Option<KnownThread> {
        let known = KnownThread::of(thread, now)?;
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

fn binary_of(folder: &OwnedFd) -> Option<String> {
    readlinkat(folder, "exe", Vec::new()).ok().map(|path| path.to_string_lossy().into_owned())
}

impl KnownThread {
    fn of(thread: u32, now: Instant) -> Option<Self> {
        let folder = folder_of(thread)?;
        let file = openat(&folder, "status", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok()?;
        let mut status = [0; 4096];
        let count = rustix::io::read(&file, &mut status).ok()?;
        let status = String::from_utf8_lossy(status.get(..count)?);
        let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name));
        let number = |text: Option<&str>| text.and_then(|text| text.trim().parse().ok());
        let actor = Actor {
            pid: number(field("Tgid:"))?,
            thread,
            // The number in each namespace, the innermost last.
            inner_pid: number(field("NStgid:").and_then(|all| all.split_whitespace().last())),
            parent: number(field("PPid:")),
            binary: binary_of(&folder),
        };
        Some(Self { actor: Arc::new(actor), folder: Some(folder), since: now, is_stale: false })
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    /// A thread that calls while another one of its process is about to execute a program is looked at again when that is done.
    #[test]
    fn a_program_is_not_known_by_the_name_of_the_one_before() {
        let mut child = Command::new("/bin/sh")
            .args(["-c", "read go; exec /bin/sleep 60"])
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        let (pid, now) = (child.id(), Instant::now());
        let is_sleeping = || std::fs::read_link(format!("/proc/{pid}/exe")).unwrap().ends_with("sleep");
        let mut processes = ProcessTable::default();
        let first = processes.actor(pid, now).unwrap().binary.clone().unwrap();
        processes.note_exec(pid, now);
        // It is not done yet, and asked for again.
        assert_eq!(processes.actor(pid, now).unwrap().binary.as_ref(), Some(&first));
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), b"\n").unwrap();
        while !is_sleeping() {
            std::thread::yield_now();
        }
        let then = processes.actor(pid, now).unwrap().binary.clone().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(then.ends_with("sleep"), "{then}, and before {first}");
    }
}
