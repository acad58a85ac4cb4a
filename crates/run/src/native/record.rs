//! One run, recorded.

use std::io::{Read as _, Write as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use skillsandbox_enforcer::{
    Command, EndCause, Error, ObserveLevel, ObservedEvent, Observer, OutputMode, OutputPipe, Plan,
    RunOutcome, RunTeardown, RunningCommand, StdinMode, TerminalControl, TerminalSize,
};
use skillsandbox_text::Secret;
use skillsandbox_tracer::{Event, EventKind, EventVerdict, RecordedTrace, Recorder, RedactError, Redactor};

use super::output::{OutputBudget, OutputReader};
use super::{events, policy};
use crate::session::RunStreams;
use crate::streams::{PrintedOutput, RunTerminal};

/// Events that are kept until it is certain that the program runs.
const MOST_EARLY: usize = 1024;

/// What is left of a recorded run.
#[derive(Debug)]
#[non_exhaustive]
pub struct RecordedRun {
    /// How it ended, or why it did not start.
    pub outcome: Result<RunOutcome, Error>,
    /// What was recorded: of a run that did not start, too.
    pub recorded: RecordedTrace,
    /// What it printed to standard output.
    pub stdout: PrintedOutput,
    /// What it printed to standard error.
    pub stderr: PrintedOutput,
    /// What is still being taken down of it, where it ran.
    pub teardown: Option<RunTeardown>,
}

/// Runs a command under a plan, and records what it tries, without the secrets in it. Its outputs are read here, whatever the command says
/// of them; at most `output` bytes of both together are handed on and recorded.
///
/// For callers with a plan of their own; [`run`](crate::run) makes one of a [`Job`](crate::Job).
///
/// # Errors
/// Secrets that cannot be taken out of what is recorded: nothing is run then.
pub fn record(
    plan: &Plan,
    command: Command,
    recorder: Recorder,
    secrets: &[(String, Secret)],
    output: Option<u64>,
    streams: &RunStreams,
) -> Result<RecordedRun, RedactError> {
    Ok(record_redacted(&redactor(secrets)?, plan, command, recorder, output, streams))
}

/// What takes these secrets out.
pub(super) fn redactor(secrets: &[(String, Secret)]) -> Result<Arc<Redactor>, RedactError> {
    let secrets = secrets.iter().map(|(name, value)| (name.as_str(), value.expose()));
    Ok(Arc::new(Redactor::new(secrets)?))
}

/// The same, with what takes secrets out made already.
pub(super) fn record_redacted(
    redactor: &Arc<Redactor>,
    plan: &Plan,
    command: Command,
    recorder: Recorder,
    output: Option<u64>,
    streams: &RunStreams,
) -> RecordedRun {
    let shared = SharedRecorder::new(recorder.redact(Box::new(Arc::clone(redactor))));
    for event in policy::before(plan) {
        shared.record(event);
    }
    let words = command.words();
    let mut command = command
        .stdin(if streams.stdin || streams.input.is_some() { StdinMode::Piped } else { StdinMode::Empty })
        .stdout(OutputMode::Piped)
        .stderr(OutputMode::Piped)
        .observer(Arc::new(shared.clone()) as Arc<dyn Observer>);
    if let Some(terminal) = &streams.terminal {
        let (rows, columns) = terminal.size();
        command = command.terminal(TerminalSize { rows, columns });
    }
    let (mut stdout, mut stderr) = (PrintedOutput::default(), PrintedOutput::default());
    let outcome = plan.spawn(&command).and_then(|mut running| {
        shared.begin(Some(Event::new(EventKind::RunStarted { command: words })));
        let killer = running.killer();
        streams.stop.runs(move || killer.kill());
        feed(&mut running, streams);
        let shown = attach_terminal(&mut running, streams);
        let (out, err) = readers(&mut running, shown, redactor, output, streams);
        (stdout, stderr) = follow_both(out, err, &shared);
        let ended = running.wait_for_end();
        streams.stop.ended();
        streams.terminal.iter().for_each(RunTerminal::ended);
        ended
    });
    let (outcome, teardown) = match outcome {
        Ok((outcome, teardown)) => (Ok(outcome), Some(teardown)),
        Err(error) => (Err(error), None),
    };
    shared.begin(None);
    let mut recorder = shared.take();
    match &outcome {
        Ok(outcome) => {
            for event in policy::after(outcome) {
                recorder.record(event);
            }
            if stdout.omitted + stderr.omitted > 0 {
                let (limit, mechanism) = ("output".to_owned(), "supervised".to_owned());
                let event = Event::new(EventKind::ResourceLimitHit { limit, mechanism });
                recorder.record(event.with_verdict(EventVerdict::Denied, "resources: output".to_owned()));
            }
            events::limits(outcome).for_each(|event| recorder.record(event));
            recorder.record(events::ended(outcome));
            if outcome.lost > 0 {
                recorder.mark_incomplete(format!("{} things that were tried were not told", outcome.lost));
            }
            if outcome.end == EndCause::Uncovered {
                recorder.mark_incomplete(
                    "what was hidden, or might only be read, was replaced while it ran: until it ended, it may have touched what took its place",
                );
            }
            let unseen = policy::unseen(outcome);
            if !unseen.is_empty() {
                recorder.mark_incomplete(format!(
                    "{} passed, which can open files and reach hosts that no observer sees: the profile is permissive",
                    unseen.join(", ")
                ));
            }
            if outcome.observe_level != ObserveLevel::Full {
                recorder.mark_incomplete(format!(
                    "files and programs were not observed: observe level {}",
                    outcome.observe_level.as_str()
                ));
            }
        }
        Err(error) => {
            let error = Some(error.to_string());
            let what =
                EventKind::RunEnded { exit_code: None, signal: None, end: "refused".to_owned(), error };
            recorder.record(Event::new(what));
        }
    }
    RecordedRun { outcome, recorded: recorder.finish(), stdout, stderr, teardown }
}

/// A recorder that several threads talk to.
#[derive(Clone)]
struct SharedRecorder(Arc<Mutex<RecorderState>>);

struct RecorderState {
    recorder: Recorder,
    started: Instant,
    /// What was seen before it was certain that the program runs.
    early: Option<Vec<Event>>,
}

impl SharedRecorder {
    fn new(recorder: Recorder) -> Self {
        let started = recorder.started();
        Self(Arc::new(Mutex::new(RecorderState { recorder, started, early: Some(Vec::new()) })))
    }

    fn lock(&self) -> MutexGuard<'_, RecorderState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn record(&self, event: Event) {
        self.lock().recorder.record(event);
    }

    /// The program runs, or never will: what was seen of it already comes after this.
    fn begin(&self, event: Option<Event>) {
        let mut book = self.lock();
        let early = book.early.take().unwrap_or_default();
        // It runs since the first of them, whenever that is told.
        let event = event.map(|mut event| {
            if let Some(first) = early.iter().min_by_key(|early| early.time) {
                (event.time, event.elapsed_us) = (first.time, first.elapsed_us);
            }
            event
        });
        for event in event.into_iter().chain(early) {
            book.recorder.record(event);
        }
    }
}

impl Observer for SharedRecorder {
    fn observed(&self, observed: &ObservedEvent) {
        let mut book = self.lock();
        let Some(event) = events::observed(observed, book.started) else { return };
        match &mut book.early {
            // What comes before the program does is its launcher's doing, and little.
            Some(early) if early.len() < MOST_EARLY => early.push(event),
            Some(_) => book.recorder.record(Event::new(EventKind::Lost { at: "observer".to_owned() })),
            None => book.recorder.record(event),
        }
    }
}

impl SharedRecorder {
    /// The recorder, when everybody else has said all they had to say.
    fn take(self) -> Recorder {
        let nobody = Recorder::new(&skillsandbox_tracer::TraceHeader::new("", ""), None, Vec::new());
        std::mem::replace(&mut self.lock().recorder, nobody)
    }
}

/// Hands this program's standard input on, or these bytes, in a thread that nobody waits for: who types may never stop, and who is written to may
/// never read.
fn feed(running: &mut RunningCommand, streams: &RunStreams) {
    let Some(mut pipe) = running.stdin() else { return };
    let input = streams.input.clone();
    let (stop, patience) = (streams.stop.clone(), streams.end_after_input);
    let copy = move || {
        // Whoever does not read on is not written to.
        let copied = match input {
            Some(bytes) => pipe.write_all(&bytes),
            None => std::io::copy(&mut std::io::stdin().lock(), &mut pipe).map(|_| ()),
        };
        let copied = copied.and_then(|()| pipe.flush());
        drop(pipe);
        // A run that does not read on may well go on to write; only the end of the input means that the caller is done.
        if let (Ok(()), Some(patience)) = (copied, patience) {
            std::thread::sleep(patience);
            stop.stop();
        }
    };
    let _ = std::thread::Builder::new().name("skillsandbox-in".into()).spawn(copy);
}

/// Hands on what is typed, and new sizes of the window; returns what the run shows.
fn attach_terminal(running: &mut RunningCommand, streams: &RunStreams) -> Option<OutputPipe> {
    let (outer, terminal) = (running.terminal()?, streams.terminal.as_ref()?);
    let shown = outer.output().ok()?;
    let control = outer.control();
    if let Ok(window) = control.try_clone() {
        terminal.on_resize(move |rows, columns| window.resize(TerminalSize { rows, columns }));
    }
    let copy = move || {
        let (mut stdin, mut buffer) = (std::io::stdin().lock(), [0; 4096]);
        while let Ok(count @ 1..) = stdin.read(&mut buffer) {
            if !type_all(&control, buffer.get(..count).unwrap_or_default()) {
                return;
            }
        }
    };
    let _ = std::thread::Builder::new().name("skillsandbox-in".into()).spawn(copy);
    Some(shown)
}

/// Types all of it, as the run makes room; whether the terminal is still there.
fn type_all(control: &TerminalControl, mut bytes: &[u8]) -> bool {
    while !bytes.is_empty() {
        match control.type_bytes(bytes) {
            Ok(count) => bytes = bytes.get(count..).unwrap_or_default(),
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                if control.wait_for_room().is_err() {
                    return false;
                }
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => return false,
        }
    }
    true
}

type PipeReader = OutputReader<OutputPipe>;

/// What reads the two outputs.
fn readers(
    running: &mut RunningCommand,
    shown: Option<OutputPipe>,
    redactor: &Arc<Redactor>,
    output: Option<u64>,
    streams: &RunStreams,
) -> (Option<PipeReader>, Option<PipeReader>) {
    let budget = OutputBudget::new(output);
    let reader = |pipe, kind, forward, is_error| {
        let (budget, redactor) = (budget.clone(), Arc::clone(redactor));
        let keep = streams.keep.unwrap_or(usize::MAX);
        let pass = streams.most_errors.filter(|_| is_error).unwrap_or(usize::MAX);
        OutputReader { pipe, kind, forward, is_error, budget, keep, pass, redactor }
    };
    let stdout =
        running.stdout().or(shown).map(|pipe| reader(pipe, EventKind::Stdout, streams.stdout, false));
    let stderr = running.stderr().map(|pipe| reader(pipe, EventKind::Stderr, streams.stderr, true));
    (stdout, stderr)
}

/// Reads both to their ends, one of them here and now: the other in a thread, because either may have to wait for whom it is handed on to.
fn follow_both(
    stdout: Option<PipeReader>,
    stderr: Option<PipeReader>,
    shared: &SharedRecorder,
) -> (PrintedOutput, PrintedOutput) {
    let follow = |reader: Option<PipeReader>, shared: &SharedRecorder| {
        reader.map(|reader| reader.follow(|event| shared.record(event))).unwrap_or_default()
    };
    if stderr.is_none() {
        return (follow(stdout, shared), PrintedOutput::default());
    }
    let elsewhere = shared.clone();
    let thread = std::thread::Builder::new().name("skillsandbox-out".into());
    let thread = thread.spawn(move || follow(stdout, &elsewhere));
    let stderr = follow(stderr, shared);
    (thread.ok().and_then(|thread| thread.join().ok()).unwrap_or_default(), stderr)
}
