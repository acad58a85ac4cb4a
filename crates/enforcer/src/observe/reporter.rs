//! Judges what was observed and tells the observer. A run does not wait for it, however long that takes.

use std::convert::Infallible;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};
use std::thread::JoinHandle;
use std::time::{Instant, SystemTime};

use super::path_verdicts::{self, JudgedPath, PathJudge};
use super::record_queue::RecordQueue;
use super::socket_judge;
use super::syscall_record::{ProgramArguments, RecordedAction, SyscallRecord};
use super::{AccessVerdict, Execution, ObservedAction, ObservedEvent, ObservedFile, Observer};
use skillsandbox_terms::FileOperation;

/// Records for which there is room from one batch to the next.
const MOST_KEPT: usize = 1024;

/// The thread that tells the observer.
#[derive(Debug)]
pub(crate) struct ObservationReporter {
    queue: Arc<RecordQueue>,
    /// Closed when all was reported.
    reported: Receiver<Infallible>,
    thread: Option<JoinHandle<()>>,
}

impl ObservationReporter {
    pub(crate) fn start(
        queue: Arc<RecordQueue>,
        observer: Arc<dyn Observer>,
        paths: PathJudge,
    ) -> io::Result<Self> {
        let mut report_loop = ReportLoop { queue: Arc::clone(&queue), observer: Some(observer), paths };
        let thread = std::thread::Builder::new().name("skillsandbox-log".into()).stack_size(256 << 10);
        let (reports, reported) = mpsc::channel();
        let thread = thread.spawn(move || {
            report_loop.run();
            drop(reports);
            // The judge of paths holds the run's mounts: to let go of the last of them takes the kernel longer than all else at the end.
            drop(report_loop);
        })?;
        Ok(Self { queue, reported, thread: Some(thread) })
    }

    /// Reports what is left.
    pub(crate) fn report_rest(&self) {
        self.queue.close();
        let _ = self.reported.recv();
    }
}

impl Drop for ObservationReporter {
    fn drop(&mut self) {
        self.queue.close();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

struct ReportLoop {
    queue: Arc<RecordQueue>,
    /// `None` after it has failed.
    observer: Option<Arc<dyn Observer>>,
    paths: PathJudge,
}

impl ReportLoop {
    fn run(&mut self) {
        let mut emptied = Vec::new();
        loop {
            let mut batch = self.queue.take_all(std::mem::take(&mut emptied));
            for record in batch.records.drain(..) {
                let event = self.judge(record);
                self.report(&event);
            }
            if batch.lost > 0 {
                let tried = ObservedAction::Lost(batch.lost);
                let (at, instant) = (SystemTime::now(), Instant::now());
                self.report(&ObservedEvent { at, instant, actor: None, tried });
            }
            if batch.is_last {
                return;
            }
            // What one burst took is not kept for the rest of a run.
            batch.records.shrink_to(MOST_KEPT);
            emptied = batch.records;
        }
    }

    /// An observer that panics is not told again. What it was not told of counts as lost.
    fn report(&mut self, event: &ObservedEvent) {
        let Some(observer) = &self.observer else { return self.queue.count_unreported() };
        if catch_unwind(AssertUnwindSafe(|| observer.observed(event))).is_err() {
            self.observer = None;
            self.queue.count_unreported();
        }
    }

    fn judge(&mut self, record: SyscallRecord) -> ObservedEvent {
        let actor = record.actor.as_deref();
        let tried = match record.action {
            RecordedAction::File { operation, path, to } => {
                let judged = self.paths.judge(operation, &path, actor);
                // Both names have to be allowed; what a symbolic link says need not, and begins where the link is.
                let (to, verdict) = match to {
                    Some(to) if operation == FileOperation::Symlink => {
                        (Some(path_verdicts::link_target(&judged.path, &to)), judged.verdict)
                    }
                    Some(to) => {
                        let to = self.paths.judge(operation, &to, actor);
                        let is_allowed = matches!(judged.verdict, AccessVerdict::Allowed(_));
                        let verdict = if is_allowed { to.verdict } else { judged.verdict };
                        (Some(to.real.unwrap_or(to.path)), verdict)
                    }
                    None => (None, judged.verdict),
                };
                ObservedAction::File(ObservedFile {
                    operation,
                    path: judged.path,
                    real: judged.real,
                    to,
                    verdict,
                })
            }
            RecordedAction::Exec { path, arguments } => {
                let judged = self.paths.judge_program(&path, actor);
                let JudgedPath { path, real, verdict } = judged;
                let text = |bytes: &Vec<u8>| String::from_utf8_lossy(bytes).into_owned();
                let ProgramArguments { texts, are_cut } = arguments;
                let arguments = texts.iter().map(text).collect();
                ObservedAction::Exec(Execution { path, real, arguments, are_cut, verdict })
            }
            RecordedAction::Connect { path, verdict } => {
                let operation = FileOperation::Connect;
                let judged = self.paths.judge(operation, &path, actor);
                let verdict = verdict.unwrap_or(judged.verdict);
                let JudgedPath { path, real, .. } = judged;
                ObservedAction::File(ObservedFile { operation, path, real, to: None, verdict })
            }
            RecordedAction::ConnectAbstract { name, is_reached } => {
                let verdict = if is_reached {
                    AccessVerdict::Allowed("an abstract name of the sandbox".to_owned())
                } else {
                    socket_judge::host_has_abstract(&name)
                };
                ObservedAction::File(ObservedFile {
                    operation: FileOperation::Connect,
                    path: socket_judge::abstract_path(&name),
                    real: None,
                    to: None,
                    verdict,
                })
            }
            RecordedAction::Network(attempt) => ObservedAction::Network(attempt),
            RecordedAction::Refused(call) => ObservedAction::Refused(call),
        };
        // One clock is read while a caller waits; the other follows from it.
        let ago = record.at.elapsed();
        let at = SystemTime::now().checked_sub(ago).unwrap_or(SystemTime::UNIX_EPOCH);
        ObservedEvent { at, instant: record.at, actor: record.actor, tried }
    }
}
