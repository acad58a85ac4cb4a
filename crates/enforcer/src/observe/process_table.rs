//! Which process a thread belongs to. Asked for once, and again after a while, since numbers are used again.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::io::Errno;

use super::Actor;
use super::process_lookup::{FoundProcess, ProcessLookup};

/// How long what is known of a thread counts. A number is used again only after all others were.
const VALID_FOR: Duration = Duration::from_secs(1);

/// Threads that are remembered.
const MOST: usize = 1024;

/// What is known of the threads of a run.
#[derive(Debug)]
pub(super) struct ProcessTable {
    known: HashMap<u32, KnownThread>,
    /// The process of which a thread was seen last: a new one is mostly of the same.
    last: Option<u32>,
    /// Processes that were about to execute another program, and when: until they have, another thread of theirs may call, and be
    /// known by the old one.
    executing: HashMap<u32, PendingExec>,
    lookup: ProcessLookup,
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
    since: Instant,
    /// It has executed another program since.
    is_stale: bool,
}

impl KnownThread {
    fn is_recent(&self, now: Instant) -> bool {
        now.duration_since(self.since) < VALID_FOR
    }

    fn is_current(&self, now: Instant) -> bool {
        !self.is_stale && self.is_recent(now)
    }
}

impl ProcessTable {
    /// Of a run that may make namespaces of its own, or that may not.
    pub(super) fn new(makes_namespaces: bool) -> Self {
        let lookup = ProcessLookup::new(makes_namespaces);
        Self { known: HashMap::new(), last: None, executing: HashMap::new(), lookup }
    }

    /// Who a thread is.
    pub(super) fn actor(&mut self, thread: u32, now: Instant) -> Option<Arc<Actor>> {
        if !self.known.get(&thread).is_some_and(|known| known.is_current(now))
            || self.has_executed(thread, now)
        {
            self.look_up(thread, now)?;
        }
        let actor = Arc::clone(&self.known.get(&thread)?.actor);
        self.last = Some(actor.pid);
        Some(actor)
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
        // Its other threads are gone by then.
        for known in self.known.values_mut().filter(|known| known.actor.pid == pid) {
            known.is_stale = true;
        }
    }

    /// The folder that a thread is in, or that one of its descriptors is of.
    pub(super) fn folder(&mut self, thread: u32, descriptor: Option<i32>) -> Result<Vec<u8>, Errno> {
        self.lookup.folder(thread, descriptor)
    }

    /// Asks who a thread is.
    fn look_up(&mut self, thread: u32, now: Instant) -> Option<()> {
        let known = match self.read_program(thread, now) {
            Some(known) => known,
            None => self.read_new(thread, now)?,
        };
        if self.known.len() >= MOST {
            self.known.retain(|_, known| known.is_current(now));
        }
        if self.known.len() >= MOST {
            self.known.clear();
        }
        self.known.insert(thread, known);
        Some(())
    }

    /// A process that has executed another program is the same one: only the program is asked for. The thread that leads it has the
    /// number of the process before and after, whichever thread it was that executed it.
    fn read_program(&mut self, thread: u32, now: Instant) -> Option<KnownThread> {
        let known = self.known.get(&thread)?;
        if known.actor.pid != thread || !known.is_recent(now) {
            return None;
        }
        let (since, before) = (known.since, Arc::clone(&known.actor));
        let actor = Actor { binary: self.lookup.binary(thread), ..Actor::clone(&before) };
        Some(KnownThread { actor: Arc::new(actor), since, is_stale: false })
    }

    fn read_new(&mut self, thread: u32, now: Instant) -> Option<KnownThread> {
        let found = self.lookup.find_process(thread);
        let actor = match self.find_sibling(thread, found, now) {
            Some(actor) => actor,
            None => self.lookup.read(thread, found)?,
        };
        Some(KnownThread { actor: Arc::new(actor), since: now, is_stale: false })
    }

    /// A thread of a process that is known already. Its program is what the other's is, unless that is about to be another.
    fn find_sibling(&self, thread: u32, found: Option<FoundProcess>, now: Instant) -> Option<Actor> {
        let pid = found.map(|found| found.pid).or(self.last).filter(|pid| *pid != thread)?;
        let known = self.known.get(&pid).filter(|known| known.is_current(now))?;
        if self.executing.contains_key(&pid) || (found.is_none() && !self.lookup.is_thread_of(pid, thread)) {
            return None;
        }
        Some(Actor { thread, ..Actor::clone(&known.actor) })
    }

    /// Whether a thread that was about to execute another program has done so since it was looked at.
    fn has_executed(&mut self, thread: u32, now: Instant) -> bool {
        if self.executing.is_empty() {
            return false;
        }
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
        !(is_known && self.lookup.binary(thread) == known.actor.binary)
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
        let mut processes = ProcessTable::new(false);
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
