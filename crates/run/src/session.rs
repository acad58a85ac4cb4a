//! One run from its beginning to its report: the trace is open before anything else happens, and is closed whatever does.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use skillsandbox_manifest::user_folders;
use skillsandbox_tracer::{
    CALLERS_SUBJECT, CALLERS_WORDS, Classifier, Event, EventKind, EventSink, Recorder, TraceHeader,
    TraceWriter,
};

use crate::backend::{BackendResult, RunPreview, backend};
use crate::denial_book::DenialSink;
use crate::hint_context::HintContext;
use crate::history::{RunHistory, RunRequest};
use crate::job::Job;
use crate::new_files::MadeFiles;
use crate::reach::real_path;
use crate::refusal::Refusal;
use crate::report::RunReport;
use crate::run_alarm::RunAlarm;
use crate::scan_admission::ScanAdmission;
use crate::skill::{LoadedSkill, SkillCall};
use crate::state;
use crate::stop::StopHandle;
use crate::streams::{OutputTarget, PrintedOutput, RunTerminal};
use crate::trace_folder::TraceBudget;
use crate::trace_tidy::AddedTrace;
use crate::written_places;

/// Where a run's inputs and outputs are, besides the trace.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct RunStreams {
    /// Where standard output goes.
    pub stdout: OutputTarget,
    /// Where standard error goes.
    pub stderr: OutputTarget,
    /// Hands this program's own standard input on. Otherwise there is none.
    pub stdin: bool,
    /// A terminal of the run's own, in the place of the three.
    pub terminal: Option<RunTerminal>,
    /// Ends the run this long after that input has ended, for servers whose client is gone then. Otherwise it may go on.
    pub end_after_input: Option<Duration>,
    /// These bytes as standard input instead, such as those that an earlier run was given.
    pub input: Option<Arc<[u8]>>,
    /// Ends the run from elsewhere.
    pub stop: StopHandle,
    /// The most bytes of each output that are kept, where they are; the rest is counted. Without it, as many as may be printed.
    pub keep: Option<usize>,
    /// The most bytes of standard error that are handed on to this program's own; one line says that there was more, which the trace still has. Without
    /// it, all.
    pub most_errors: Option<usize>,
}

/// How a run is recorded and shown.
#[derive(Default)]
#[non_exhaustive]
pub struct RunOptions {
    /// Where the trace is written; without it, in the user's state folder, under a name of its own.
    pub trace: Option<PathBuf>,
    /// Who else is told what happens, as it happens.
    pub sinks: Vec<Box<dyn EventSink>>,
    /// The same of those that are made for one trace, by its header.
    pub late_sinks: Vec<LateSink>,
    /// Inputs and outputs.
    pub streams: RunStreams,
    /// Who runs it, for the trace; this crate unless set.
    pub tool: Option<String>,
    /// The most bytes that the trace may have, [`MIN_TRACE_LIMIT`] at least; [`TRACE_LIMIT`] unless set. What does not fit is counted in it, and
    /// half of it is for what was denied.
    pub trace_limit: Option<u64>,
    /// What the traces in the user's state folder may take together; [`tidy`](crate::tidy) removes the oldest.
    pub trace_budget: TraceBudget,
    /// What the history says asked for it, such as `run` or a tool of a server; what the trace says unless set.
    pub history_tool: Option<String>,
    /// Whether a person typed the arguments of the call. A file that they name and did not grant is then not held against the program.
    pub arguments_are_a_persons: bool,
}

/// The most bytes that a trace has unless something else is asked for.
pub const TRACE_LIMIT: u64 = 64 << 20;
/// The least that can be asked for.
pub const MIN_TRACE_LIMIT: u64 = 4 << 20;
/// What is kept free for the end of a trace: an event that is being written (600 KiB at most), what a trace is none without, and the summary.
const TRACE_RESERVE: u64 = 2 << 20;

/// Makes a sink for a run, when that begins; `None` for none.
pub type LateSink = Box<dyn FnOnce(&TraceHeader) -> Option<Box<dyn EventSink>>>;

impl fmt::Debug for RunOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunOptions")
            .field("trace", &self.trace)
            .field("sinks", &(self.sinks.len() + self.late_sinks.len()))
            .field("streams", &self.streams)
            .field("tool", &self.tool)
            .field("history_tool", &self.history_tool)
            .field("trace_limit", &self.trace_limit)
            .field("trace_budget", &self.trace_budget)
            .field("arguments_are_a_persons", &self.arguments_are_a_persons)
            .finish()
    }
}

/// Runs a skill: scans it, checks the values, puts the walls up, runs it, writes down what it tries, and records what came of it. `adjust` has
/// the last word on the job, for what the command line adds to it.
///
/// The values of this program's variables whose names speak of secrets are in nothing that is written.
#[must_use]
pub fn run_skill(
    skill: &LoadedSkill,
    call: &SkillCall,
    admission: ScanAdmission,
    history: &dyn RunHistory,
    adjust: impl FnOnce(&mut Job),
    options: RunOptions,
) -> RunReport {
    let identity = skill.manifest().skill();
    let request = RunRequest::of_call(history_tool(&options), skill, call);
    let session = Session::begin(&identity.name.value, skill.version(), history, options);
    session.run_job(request, call.arguments.len(), history, || {
        let (note, scanned) = admission.admit_folder(skill)?;
        let mut job = skill.job(call)?;
        job.notes.push(("scan".to_owned(), note));
        job.scanned = scanned;
        adjust(&mut job);
        Ok(job)
    })
}

/// Runs a job that was described by hand, and records what came of it.
#[must_use]
pub fn run(job: &Job, history: &dyn RunHistory, options: RunOptions) -> RunReport {
    let request = RunRequest::of_job(history_tool(&options), job);
    let session = Session::begin(&job.name, job.version.clone(), history, options);
    session.run_job(request, job.arguments.len(), history, || Ok(job.clone()))
}

fn history_tool(options: &RunOptions) -> String {
    options.history_tool.clone().unwrap_or_else(|| tool(options))
}

fn tool(options: &RunOptions) -> String {
    let own = || concat!("skillsandbox-run ", env!("CARGO_PKG_VERSION")).to_owned();
    options.tool.clone().unwrap_or_else(own)
}

/// What a run of a job would have on this host. Executes nothing of it.
///
/// # Errors
/// A job that would be refused whatever the host offers.
pub fn preview(job: &Job) -> Result<RunPreview, Refusal> {
    let mut job = job.clone();
    job.check_resolver()?;
    keep_out(&mut job);
    check_installed(&job)?;
    written_places::apply(&mut job)?;
    backend(job.runtime)?.preview(&job)
}

/// A run whose trace is open.
struct Session {
    header: TraceHeader,
    recorder: Result<Recorder, Refusal>,
    trace: Option<PathBuf>,
    added: Option<AddedTrace>,
    denials: DenialSink,
    streams: RunStreams,
    arguments_are_a_persons: bool,
}

impl Session {
    fn begin(name: &str, version: Option<String>, history: &dyn RunHistory, options: RunOptions) -> Self {
        let mut header = TraceHeader::new(name, tool(&options));
        header.skill_version = version;
        header.host.insert("os".to_owned(), std::env::consts::OS.to_owned());
        header.host.insert("arch".to_owned(), std::env::consts::ARCH.to_owned());
        #[cfg(target_os = "linux")]
        header.not_covered.extend(skillsandbox_enforcer::unobserved_calls().map(str::to_owned));
        let trace = options.trace.or_else(|| state::trace_file(name, header.trace_id));
        let denials = DenialSink::default();
        let mut sinks = options.sinks;
        sinks.extend(options.late_sinks.into_iter().filter_map(|make| make(&header)));
        sinks.push(Box::new(denials.clone()));
        let limit = options.trace_limit.unwrap_or(TRACE_LIMIT).max(MIN_TRACE_LIMIT) - TRACE_RESERVE;
        let added = AddedTrace::count(trace.as_deref(), options.trace_budget);
        let pruned = added.as_ref().and_then(|added| added.make_room(options.trace_budget, history));
        let recorder = open(trace.as_deref(), &header).map(|writer| {
            let recorder = Recorder::new(&header, Some(writer), sinks).max_file(limit);
            let mut recorder = recorder.classify(Box::new(Classifier::new()));
            if let Some(note) = pruned {
                recorder.record(note);
            }
            recorder
        });
        let arguments_are_a_persons = options.arguments_are_a_persons;
        Self { header, recorder, trace, added, denials, streams: options.streams, arguments_are_a_persons }
    }

    /// Finds out what to run, runs it, and records it; what is in the way of that ends in the trace and in the history, too.
    fn run_job(
        self,
        mut request: RunRequest,
        callers: usize,
        history: &dyn RunHistory,
        job: impl FnOnce() -> Result<Job, Refusal>,
    ) -> RunReport {
        let Self { header, recorder, trace, added, denials, streams, arguments_are_a_persons } = self;
        let callers = if arguments_are_a_persons { callers } else { 0 };
        let mut recorder = match recorder {
            Ok(recorder) => recorder,
            // Nobody would know what was done, so nothing is.
            Err(refusal) => return RunReport::refused(header, refusal).recorded_in(history, &request),
        };
        let prepared = job().and_then(|mut job| {
            job.check_resolver()?;
            make_own_folders(&job)?;
            keep_out(&mut job);
            job.redact_environment(&request.secrets);
            request.secrets.clone_from(&job.secrets);
            check_installed(&job)?;
            check_reach(&mut job, trace.as_deref())?;
            written_places::apply(&mut job)?;
            if !job.rehearsal {
                written_places::remember(&job)?;
            }
            Ok((backend(job.runtime)?, MadeFiles::make(&job)?, job))
        });
        let (mut hints, mut egress) = (HintContext::default(), Vec::new());
        let ran = match prepared {
            Ok((backend, made, job)) => {
                hints = HintContext::of_job(&job);
                egress.clone_from(&job.egress);
                if let Some(note) = callers_words(&job, callers) {
                    recorder.record(note);
                }
                for (subject, message) in &job.notes {
                    recorder.record(note(subject, message.clone()));
                }
                let ran = backend.run(&job, recorder, &streams);
                // Once more, now that the folders that it made are there. They are known by their paths in any case.
                if !job.rehearsal {
                    let _ = written_places::remember(&job);
                }
                drop(made);
                ran
            }
            Err(refusal) => refuse(recorder, refusal),
        };
        let found = &ran.recorded.summary.classifications;
        let (denied, sent) = denials.take().finish(found, &hints);
        let alarm = RunAlarm::of(found, sent.finish(ran.ended.as_ref().ok(), found, &egress));
        let report = RunReport {
            skill: header.skill_name,
            version: header.skill_version,
            trace_id: header.trace_id,
            trace,
            digest: ran.recorded.digest,
            trace_error: ran.recorded.error.map(|error| error.to_string()),
            history_error: None,
            ended: ran.ended,
            alarm,
            denied,
            summary: ran.recorded.summary,
            stdout: ran.stdout,
            stderr: ran.stderr,
            stop_signal: streams.stop.signal(),
            tidy_due: added.is_some_and(AddedTrace::finish),
        };
        let report = report.recorded_in(history, &request);
        // Only now: it went on meanwhile, and nothing of a run is left when its report is given.
        drop(ran.remains);
        report
    }
}

/// Something that holds, or was decided: nothing was tried.
pub(crate) fn note(subject: &str, message: impl Into<String>) -> Event {
    let (subject, message) = (subject.to_owned(), message.into());
    Event::new(EventKind::Policy { subject, message, figures: BTreeMap::new() })
}

/// Says how many words at the end of the command are a person's own, where one of them is a path.
fn callers_words(job: &Job, callers: usize) -> Option<Event> {
    let words = job.arguments.iter().rev().take(callers);
    let is_path = |word: &std::ffi::OsString| word.to_string_lossy().contains('/');
    if !words.into_iter().any(is_path) {
        return None;
    }
    let message = format!("the last {callers} words of the command are those of the person who started it");
    let figures = BTreeMap::from([(CALLERS_WORDS.to_owned(), callers as u64)]);
    Some(Event::new(EventKind::Policy { subject: CALLERS_SUBJECT.to_owned(), message, figures }))
}

/// Closes a trace of nothing, with the reason.
pub(crate) fn refuse(mut recorder: Recorder, refusal: Refusal) -> BackendResult {
    let error = Some(refusal.to_string());
    let what = EventKind::RunEnded { exit_code: None, signal: None, end: "refused".to_owned(), error };
    recorder.record(Event::new(what));
    let (stdout, stderr) = (PrintedOutput::default(), PrintedOutput::default());
    BackendResult { ended: Err(refusal), recorded: recorder.finish(), stdout, stderr, remains: None }
}

fn open(trace: Option<&Path>, header: &TraceHeader) -> Result<TraceWriter, Refusal> {
    let trace = trace.ok_or(Refusal::NoHome)?;
    if let Some(folder) = trace.parent().filter(|folder| user_folders::traces().as_deref() == Some(folder)) {
        state::make_private(folder)?;
    }
    Ok(TraceWriter::create(trace, header)?)
}

/// Our own folders are not there for a run, and installed skills are read-only, whatever is granted above them.
pub(crate) fn keep_out(job: &mut Job) {
    // Under their names and where those lead: a grant is compared with both.
    for folder in state::folders() {
        job.forbidden.extend([real_path(&folder), folder]);
    }
    // The policy may be a link to where its owner keeps such files.
    let policy = user_folders::policy_file().filter(|file| file.symlink_metadata().is_ok());
    job.forbidden.extend(policy.map(|file| real_path(&file)));
    for grant in job.write.clone() {
        job.judge_write(grant);
    }
    let writes: Vec<PathBuf> = job.judged_writes.iter().map(|(_, real)| real.clone()).collect();
    for installed in state::installed().into_iter().filter(|folder| folder.is_dir()) {
        if writes.iter().any(|grant| *grant != installed && installed.starts_with(grant)) {
            job.read.push(installed);
        }
    }
}

/// Nobody writes where skills are installed but the store itself, and a skill in its own folder.
fn check_installed(job: &Job) -> Result<(), Refusal> {
    if job.is_stores_own {
        return Ok(());
    }
    for place in state::installed() {
        let own = |grant: &Path| {
            job.as_named.iter().any(|folder| folder.starts_with(&place) && grant.starts_with(folder))
        };
        let mut writes = job.judged_writes.iter().map(|(_, real)| real);
        if let Some(grant) = writes.find(|grant| grant.starts_with(&place) && !own(grant)) {
            return Err(Refusal::InItsReach { path: place, grant: grant.clone() });
        }
    }
    Ok(())
}

/// Makes our own folders where a grant covers them: so that a run that may write finds them there, and not its own in their place; and so that
/// none that may only read ends because another run of ours has made them.
fn make_own_folders(job: &Job) -> Result<(), Refusal> {
    let grants = job.read.iter().chain(&job.write).chain(&job.tmp);
    let grants: Vec<PathBuf> = grants.map(|grant| real_path(grant)).collect();
    for own in state::folders().into_iter().chain(user_folders::data()) {
        if grants.iter().any(|grant| real_path(&own).starts_with(grant)) && !own.exists() {
            state::make_private(&own)?;
        }
    }
    Ok(())
}

/// What a run is recorded in is out of its reach: its trace lies in no write grant, and in a read grant it is hidden.
fn check_reach(job: &mut Job, trace: Option<&Path>) -> Result<(), Refusal> {
    let grants: Vec<PathBuf> = job.write.iter().chain(&job.tmp).map(|grant| real_path(grant)).collect();
    let Some(trace) = trace.map(real_path) else { return Ok(()) };
    let hidden = job.forbidden.iter().any(|hidden| trace.starts_with(real_path(hidden)));
    match grants.into_iter().find(|grant| trace.starts_with(grant)) {
        Some(grant) if !hidden => Err(Refusal::InItsReach { path: trace, grant }),
        Some(_) => Ok(()),
        None => {
            job.forbidden.push(trace);
            Ok(())
        }
    }
}
