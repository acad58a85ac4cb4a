//! Finds out what came of what was seen, and tells the observer. However long that takes, nobody waits for it.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Instant, SystemTime};

use super::path_verdicts::{self, Judged, Paths};
use super::record_queue::Queue;
use super::syscall_record::{Arguments, Raw, RawTried};
use super::{Access, Execution, FileAccess, Observed, Observer, Operation, Tried};

/// The thread that tells.
#[derive(Debug)]
pub(crate) struct Desk {
    queue: Arc<Queue>,
    thread: Option<JoinHandle<()>>,
}

impl Desk {
    pub(crate) fn open(queue: Arc<Queue>, observer: Arc<dyn Observer>, paths: Paths) -> io::Result<Self> {
        let mut work = Work { queue: Arc::clone(&queue), observer: Some(observer), paths };
        let thread = std::thread::Builder::new().name("skillsandbox-log".into()).stack_size(256 << 10);
        let thread = thread.spawn(move || work.run())?;
        Ok(Self { queue, thread: Some(thread) })
    }

    /// Tells what is left.
    pub(crate) fn close(mut self) {
        self.end();
    }

    fn end(&mut self) {
        self.queue.close();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        self.end();
    }
}

struct Work {
    queue: Arc<Queue>,
    /// `None` after it has failed.
    observer: Option<Arc<dyn Observer>>,
    paths: Paths,
}

impl Work {
    fn run(&mut self) {
        loop {
            let batch = self.queue.take();
            for raw in batch.seen {
                let observed = self.observed(raw);
                self.tell(&observed);
            }
            if batch.lost > 0 {
                let tried = Tried::Lost(batch.lost);
                let (at, instant) = (SystemTime::now(), Instant::now());
                self.tell(&Observed { at, instant, actor: None, tried });
            }
            if batch.is_last {
                return;
            }
        }
    }

    /// Who panics is not told again. What they were not told of is lost.
    fn tell(&mut self, observed: &Observed) {
        let Some(told) = &self.observer else { return self.queue.lose() };
        if catch_unwind(AssertUnwindSafe(|| told.observed(observed))).is_err() {
            self.observer = None;
            self.queue.lose();
        }
    }

    fn observed(&mut self, raw: Raw) -> Observed {
        let actor = raw.actor.as_deref();
        let tried = match raw.what {
            RawTried::File { operation, path, to } => {
                let judged = self.paths.judge(operation, &path, actor);
                // Both names have to be allowed; what a symbolic link says need not, and begins where the link is.
                let (to, verdict) = match to {
                    Some(to) if operation == Operation::Symlink => {
                        (Some(path_verdicts::below(&judged.path, &to)), judged.verdict)
                    }
                    Some(to) => {
                        let to = self.paths.judge(operation, &to, actor);
                        let is_allowed = matches!(judged.verdict, Access::Allowed(_));
                        let verdict = if is_allowed { to.verdict } else { judged.verdict };
                        (Some(to.real.unwrap_or(to.path)), verdict)
                    }
                    None => (None, judged.verdict),
                };
                Tried::File(FileAccess { operation, path: judged.path, real: judged.real, to, verdict })
            }
            RawTried::Exec { path, arguments } => {
                let judged = self.paths.judge_program(&path, actor);
                let Judged { path, real, verdict } = judged;
                let text = |bytes: &Vec<u8>| String::from_utf8_lossy(bytes).into_owned();
                let Arguments { texts, are_cut } = arguments;
                let arguments = texts.iter().map(text).collect();
                Tried::Exec(Execution { path, real, arguments, are_cut, verdict })
            }
            RawTried::Network(attempt) => Tried::Network(attempt),
            RawTried::Refused(call) => Tried::Refused(call),
        };
        // One clock is read while a caller waits; the other follows from it.
        let ago = raw.at.elapsed();
        let at = SystemTime::now().checked_sub(ago).unwrap_or(SystemTime::UNIX_EPOCH);
        Observed { at, instant: raw.at, actor: raw.actor, tried }
    }
}
