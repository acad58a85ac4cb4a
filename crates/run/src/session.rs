//! One run, recorded.

use std::fs::File;
use std::io::{Read as _, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Instant;

use skillsandbox_enforcer::{Audit, Command, Error, Observed, Observer, Outcome, Output, Plan, Running};
use skillsandbox_tracer::{Event, Line, Lines, Recorded, Recorder, RedactError, Redactor, What};

use crate::{events, policy};

/// How a run is recorded.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Options {
    /// The variables whose values are taken out of everything that is recorded, by name.
    pub secrets: Vec<(String, String)>,
    /// Where standard output goes, besides the trace.
    pub stdout: Forward,
    /// Where standard error goes, besides the trace.
    pub stderr: Forward,
}

/// Where output goes, besides the trace.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Forward {
    /// Nowhere.
    #[default]
    Nowhere,
    /// To the same output of this program, as it is.
    Own,
}

/// What is left of a run.
#[derive(Debug)]
#[non_exhaustive]
pub struct Ran {
    /// How it ended, or why it did not start.
    pub outcome: Result<Outcome, Error>,
    /// What was recorded: of a run that did not start, too.
    pub recorded: Recorded,
}

/// Runs a command under a plan, and records what it tries. Its outputs are read here, whatever the command says of them.
///
/// # Errors
/// Secrets that cannot be taken out of what is recorded: nothing is run then.
pub fn record(
    plan: &Plan,
    command: Command,
    recorder: Recorder,
    options: &Options,
) -> Result<Ran, RedactError> {
    let redactor = redactor(options)?;
    let shared = Shared::new(recorder.redact(Box::new(Arc::clone(&redactor))));
    for event in policy::before(plan) {
        shared.record(event);
    }
    let words = command.words();
    let command = command
        .stdout(Output::Piped)
        .stderr(Output::Piped)
        .observer(Arc::new(shared.clone()) as Arc<dyn Observer>);
    let outcome = plan.spawn(&command).and_then(|mut running| {
        shared.begin(Some(Event::new(What::RunStarted { command: words })));
        let readers = readers(&mut running, &shared, &redactor, options);
        let outcome = running.wait();
        for reader in readers {
            let _ = reader.join();
        }
        outcome
    });
    shared.begin(None);
    let mut recorder = shared.take();
    match &outcome {
        Ok(outcome) => {
            let after = policy::after(outcome).into_iter().chain(events::limits(outcome));
            after.chain([events::ended(outcome)]).for_each(|event| recorder.record(event));
            if outcome.lost > 0 {
                recorder.incomplete(format!("{} things that were tried were not told", outcome.lost));
            }
            let unseen = policy::unseen(outcome);
            if !unseen.is_empty() {
                recorder.incomplete(format!(
                    "{} passed, which can open files and reach hosts that no observer sees: the profile is permissive",
                    unseen.join(", ")
                ));
            }
            if outcome.audit != Audit::Full {
                recorder.incomplete(format!(
                    "files and programs were not observed: audit level {}",
                    outcome.audit.name()
                ));
            }
        }
        Err(error) => {
            let error = Some(error.to_string());
            let what = What::RunEnded { exit_code: None, signal: None, end: "refused".to_owned(), error };
            recorder.record(Event::new(what));
        }
    }
    Ok(Ran { outcome, recorded: recorder.finish() })
}

fn redactor(options: &Options) -> Result<Arc<Redactor>, RedactError> {
    let secrets = options.secrets.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    Ok(Arc::new(Redactor::new(secrets)?))
}

/// A recorder that several threads talk to.
#[derive(Clone)]
struct Shared(Arc<Mutex<Book>>);

struct Book {
    recorder: Recorder,
    started: Instant,
    /// What was seen before it was certain that the program runs.
    early: Option<Vec<Event>>,
}

impl Shared {
    fn new(recorder: Recorder) -> Self {
        let started = recorder.started();
        Self(Arc::new(Mutex::new(Book { recorder, started, early: Some(Vec::new()) })))
    }

    fn lock(&self) -> MutexGuard<'_, Book> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn record(&self, event: Event) {
        self.lock().recorder.record(event);
    }

    /// The program runs, or never will: what was seen of it already comes after this.
    fn begin(&self, event: Option<Event>) {
        let mut book = self.lock();
        let early = book.early.take().unwrap_or_default();
        for event in event.into_iter().chain(early) {
            book.recorder.record(event);
        }
    }
}

impl Observer for Shared {
    fn observed(&self, observed: &Observed) {
        let mut book = self.lock();
        let Some(event) = events::observed(observed, book.started) else { return };
        match &mut book.early {
            Some(early) => early.push(event),
            None => book.recorder.record(event),
        }
    }
}

impl Shared {
    /// The recorder, when everybody else has said all they had to say.
    fn take(self) -> Recorder {
        let nobody = Recorder::new(&skillsandbox_tracer::Header::new("", ""), None, Vec::new());
        std::mem::replace(&mut self.lock().recorder, nobody)
    }
}

/// Reads both outputs, each in a thread of its own.
fn readers(
    running: &mut Running,
    shared: &Shared,
    redactor: &Arc<Redactor>,
    options: &Options,
) -> Vec<JoinHandle<()>> {
    let reader = |pipe, kind, forward, is_error| Reader {
        pipe,
        kind,
        forward,
        is_error,
        shared: shared.clone(),
        redactor: Arc::clone(redactor),
    };
    let stdout = running.stdout().map(|pipe| reader(pipe, What::Stdout, options.stdout, false));
    let stderr = running.stderr().map(|pipe| reader(pipe, What::Stderr, options.stderr, true));
    let thread = || std::thread::Builder::new().name("skillsandbox-out".into());
    let readers = stdout.into_iter().chain(stderr);
    readers.filter_map(|reader| thread().spawn(move || reader.follow()).ok()).collect()
}

/// Reads one output to its end.
struct Reader {
    pipe: File,
    kind: fn(Line) -> What,
    forward: Forward,
    is_error: bool,
    shared: Shared,
    redactor: Arc<Redactor>,
}

impl Reader {
    fn follow(mut self) {
        let mut lines = Lines::new();
        let mut buffer = vec![0; 64 << 10];
        while let Ok(count @ 1..) = self.pipe.read(&mut buffer) {
            let bytes = buffer.get(..count).unwrap_or_default();
            if self.forward == Forward::Own {
                pass_on(bytes, self.is_error);
            }
            lines.push(bytes, &self.redactor, |line| self.shared.record(Event::new((self.kind)(line))));
        }
        if let Some(line) = lines.finish(&self.redactor) {
            self.shared.record(Event::new((self.kind)(line)));
        }
    }
}

/// To this program's own output. That nobody reads it is no reason to stop.
fn pass_on(bytes: &[u8], is_error: bool) {
    let _ = if is_error {
        std::io::stderr().write_all(bytes)
    } else {
        let mut stdout = std::io::stdout();
        stdout.write_all(bytes).and_then(|()| stdout.flush())
    };
}
