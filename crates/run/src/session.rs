//! One run from its beginning to its report: the trace is open before anything else happens, and is closed whatever does.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::DirBuilder;
use std::path::{Path, PathBuf};

use skillsandbox_manifest::Policy;
use skillsandbox_tracer::{
    Classifier, Event, EventKind, EventSink, Recorder, TraceHeader, TraceSummary, TraceWriter,
};

use crate::backend::{Preview, Ran, backend};
use crate::denial::Denials;
use crate::job::Job;
use crate::refusal::Refusal;
use crate::report::Report;
use crate::skill::{Call, Skill};
use crate::stop::Stop;
use crate::streams::{Forward, Printed};
use crate::{gate, state};

/// Where a run's inputs and outputs are, besides the trace.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Streams {
    /// Where standard output goes.
    pub stdout: Forward,
    /// Where standard error goes.
    pub stderr: Forward,
    /// Hands this program's own standard input on. Otherwise there is none.
    pub stdin: bool,
    /// Ends the run from elsewhere.
    pub stop: Stop,
    /// The most bytes of each output that are kept, where they are; the rest is counted. Without it, as many as may be printed.
    pub keep: Option<usize>,
}

/// How a run is recorded and shown.
#[derive(Default)]
#[non_exhaustive]
pub struct Options {
    /// Where the trace is written; without it, in the user's state folder, under a name of its own.
    pub trace: Option<PathBuf>,
    /// Who else is told what happens, as it happens.
    pub sinks: Vec<Box<dyn EventSink>>,
    /// The same of those that are made for one trace, by its header.
    pub late_sinks: Vec<LateSink>,
    /// Inputs and outputs.
    pub streams: Streams,
    /// Who runs it, for the trace; this crate unless set.
    pub tool: Option<String>,
}

/// Makes a sink for a run, when that begins; `None` for none.
pub type LateSink = Box<dyn FnOnce(&TraceHeader) -> Option<Box<dyn EventSink>>>;

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("trace", &self.trace)
            .field("sinks", &(self.sinks.len() + self.late_sinks.len()))
            .field("streams", &self.streams)
            .field("tool", &self.tool)
            .finish()
    }
}

/// How a skill is admitted.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct Admission<'a> {
    /// The user's policy: what it narrows was applied when the skill was loaded; here it says how to scan.
    pub policy: Option<&'a Policy>,
    /// Runs a skill that the scanner blocks; the trace says so.
    pub skip_scan: bool,
}

impl Admission<'_> {
    fn admit(&self, skill: &Skill) -> Result<String, Refusal> {
        if self.skip_scan {
            return Ok("skipped: the skill was not scanned".to_owned());
        }
        gate::admit(skill.folder(), self.policy)
    }
}

/// What the trace of a run would say of its scan.
///
/// # Errors
/// A skill that is blocked, or cannot be scanned.
pub fn scan_note(skill: &Skill, admission: &Admission<'_>) -> Result<String, Refusal> {
    admission.admit(skill)
}

/// Runs a skill: scans it, checks the values, puts the walls up, runs it, and writes down what it tries. `adjust` has the last word on the
/// job, for what the command line adds to it.
#[must_use]
pub fn run_skill(
    skill: &Skill,
    call: &Call,
    admission: &Admission<'_>,
    adjust: impl FnOnce(&mut Job),
    options: Options,
) -> Report {
    let identity = skill.manifest().skill();
    let session = Session::begin(&identity.name.value, Some(identity.version.value.clone()), options);
    session.go_on(|| {
        let scanned = admission.admit(skill)?;
        let mut job = skill.job(call)?;
        job.notes.push(("scan".to_owned(), scanned));
        adjust(&mut job);
        Ok(job)
    })
}

/// Runs a job that was described by hand.
#[must_use]
pub fn run(job: &Job, options: Options) -> Report {
    Session::begin(&job.name, job.version.clone(), options).go_on(|| Ok(job.clone()))
}

/// What a run of a job would have on this host. Executes nothing of it.
///
/// # Errors
/// A job that would be refused whatever the host offers.
pub fn preview(job: &Job) -> Result<Preview, Refusal> {
    let mut job = job.clone();
    keep_out(&mut job);
    backend(job.runtime)?.preview(&job)
}

/// A run whose trace is open.
struct Session {
    header: TraceHeader,
    recorder: Result<Recorder, Refusal>,
    trace: Option<PathBuf>,
    denials: Denials,
    streams: Streams,
}

impl Session {
    fn begin(name: &str, version: Option<String>, options: Options) -> Self {
        let own = || concat!("skillsandbox-run ", env!("CARGO_PKG_VERSION")).to_owned();
        let mut header = TraceHeader::new(name, options.tool.unwrap_or_else(own));
        header.skill_version = version;
        header.host.insert("os".to_owned(), std::env::consts::OS.to_owned());
        header.host.insert("arch".to_owned(), std::env::consts::ARCH.to_owned());
        let trace = options.trace.or_else(|| state::trace_file(name, header.trace_id));
        let denials = Denials::default();
        let mut sinks = options.sinks;
        sinks.extend(options.late_sinks.into_iter().filter_map(|make| make(&header)));
        sinks.push(Box::new(denials.clone()));
        let recorder = open(trace.as_deref(), &header)
            .map(|writer| Recorder::new(&header, Some(writer), sinks).classify(Box::new(Classifier::new())));
        Self { header, recorder, trace, denials, streams: options.streams }
    }

    /// Finds out what to run, and runs it; what is in the way of that ends in the trace, too.
    fn go_on(self, job: impl FnOnce() -> Result<Job, Refusal>) -> Report {
        let Self { header, recorder, trace, denials, streams } = self;
        let mut recorder = match recorder {
            Ok(recorder) => recorder,
            Err(refusal) => return nothing(header, refusal),
        };
        let prepared = job().and_then(|mut job| {
            keep_out(&mut job);
            check_reach(&job, trace.as_deref())?;
            Ok((backend(job.runtime)?, job))
        });
        let ran = match prepared {
            Ok((backend, job)) => {
                for (subject, message) in &job.notes {
                    recorder.record(note(subject, message.clone()));
                }
                backend.run(&job, recorder, &streams)
            }
            Err(refusal) => refuse(recorder, refusal),
        };
        let (denials, denials_omitted) = denials.take();
        Report {
            skill: header.skill_name,
            version: header.skill_version,
            trace_id: header.trace_id,
            trace,
            digest: ran.recorded.digest,
            trace_error: ran.recorded.error.map(|error| error.to_string()),
            ended: ran.ended,
            denials,
            denials_omitted,
            summary: ran.recorded.summary,
            stdout: ran.stdout,
            stderr: ran.stderr,
        }
    }
}

/// A trace that cannot be written: nobody would know what was done, so nothing is.
fn nothing(header: TraceHeader, refusal: Refusal) -> Report {
    Report {
        skill: header.skill_name,
        version: header.skill_version,
        trace_id: header.trace_id,
        trace: None,
        digest: None,
        trace_error: None,
        ended: Err(refusal),
        denials: Vec::new(),
        denials_omitted: 0,
        summary: TraceSummary::default(),
        stdout: Printed::default(),
        stderr: Printed::default(),
    }
}

/// Something that holds, or was decided: nothing was tried.
pub(crate) fn note(subject: &str, message: impl Into<String>) -> Event {
    let (subject, message) = (subject.to_owned(), message.into());
    Event::new(EventKind::Policy { subject, message, figures: BTreeMap::new() })
}

/// Closes a trace of nothing, with the reason.
pub(crate) fn refuse(mut recorder: Recorder, refusal: Refusal) -> Ran {
    let error = Some(refusal.to_string());
    let what = EventKind::RunEnded { exit_code: None, signal: None, end: "refused".to_owned(), error };
    recorder.record(Event::new(what));
    let (stdout, stderr) = (Printed::default(), Printed::default());
    Ran { ended: Err(refusal), recorded: recorder.finish(), stdout, stderr }
}

fn open(trace: Option<&Path>, header: &TraceHeader) -> Result<TraceWriter, Refusal> {
    let trace = trace.ok_or(Refusal::NoHome)?;
    if let Some(folder) = trace.parent().filter(|folder| state::traces_folder().as_deref() == Some(folder)) {
        let failed = |source| Refusal::Folder { path: folder.to_owned(), source };
        private(&mut DirBuilder::new()).recursive(true).create(folder).map_err(failed)?;
    }
    Ok(TraceWriter::create(trace, header)?)
}

/// Only its owner may look into it.
fn private(builder: &mut DirBuilder) -> &mut DirBuilder {
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(builder, 0o700);
    builder
}

/// Our own folders are not there for a run, and installed skills are read-only, whatever is granted above them.
fn keep_out(job: &mut Job) {
    job.forbidden.extend(state::folders());
    let Some(installed) = state::data_folder().filter(|folder| folder.is_dir()) else { return };
    if job.write.iter().any(|grant| *grant != installed && real(&installed).starts_with(real(grant))) {
        job.read.push(installed);
    }
}

fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// What a run is recorded in and judged by is out of its reach: its trace lies in no write grant, and our own folders, which are forbidden to
/// it, exist before it could make them itself.
fn check_reach(job: &Job, trace: Option<&Path>) -> Result<(), Refusal> {
    let grants: Vec<PathBuf> = job.write.iter().chain(&job.tmp).map(|grant| real(grant)).collect();
    for own in state::folders() {
        if grants.iter().any(|grant| own.starts_with(grant)) && !own.exists() {
            let failed = |source| Refusal::Folder { path: own.clone(), source };
            private(&mut DirBuilder::new()).recursive(true).create(&own).map_err(failed)?;
        }
    }
    let Some(trace) = trace.map(real) else { return Ok(()) };
    let hidden = job.forbidden.iter().any(|hidden| trace.starts_with(real(hidden)));
    match grants.into_iter().find(|grant| trace.starts_with(grant)) {
        Some(grant) if !hidden => Err(Refusal::InItsReach { path: trace, grant }),
        _ => Ok(()),
    }
}
