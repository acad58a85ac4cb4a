//! What a run came to.

use std::path::PathBuf;
use std::time::Duration;

use serde::Serialize;
use skillsandbox_terms::EndCause;
use skillsandbox_tracer::{TraceDigest, TraceHeader, TraceSummary};
use uuid::Uuid;

use crate::denial_book::DenialList;
use crate::failure::RunFailure;
use crate::history::{RunHistory, RunRequest};
use crate::refusal::Refusal;
use crate::run_alarm::RunAlarm;
use crate::streams::PrintedOutput;

/// What a run came to: of one that was refused, too.
#[derive(Debug)]
#[non_exhaustive]
pub struct RunReport {
    /// Who it was.
    pub skill: String,
    /// Its version.
    pub version: Option<String>,
    /// The name of its trace.
    pub trace_id: Uuid,
    /// Where the trace is, if one was written.
    pub trace: Option<PathBuf>,
    /// What the trace's last line is; kept elsewhere, it shows a trace that was written anew.
    pub digest: Option<TraceDigest>,
    /// Why the trace is not whole.
    pub trace_error: Option<String>,
    /// Why the run is not in the history that it should be in.
    pub history_error: Option<String>,
    /// How it ended, or why it did not begin.
    pub ended: Result<RunExit, Refusal>,
    /// What a person should know first, where it looks like an attack.
    pub alarm: Option<RunAlarm>,
    /// What was tried and prevented, the worst first, and what else it missed.
    pub denied: DenialList,
    /// What it amounts to.
    pub summary: TraceSummary,
    /// What it printed to standard output.
    pub stdout: PrintedOutput,
    /// What it printed to standard error.
    pub stderr: PrintedOutput,
    /// The signal for which it was stopped, where this program was sent one.
    pub stop_signal: Option<i32>,
    /// Whether [`tidy`](crate::tidy) should be called soon, when nobody waits for it.
    pub tidy_due: bool,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RunExit {
    /// Its exit code, if it had one.
    pub exit_code: Option<i32>,
    /// The signal that ended it, if one did.
    pub signal: Option<i32>,
    /// Who ended it.
    pub by: EndCause,
    /// How long it took.
    #[serde(serialize_with = "milliseconds", rename = "duration_ms")]
    pub duration: Duration,
    /// Limits that were reached.
    pub limits_hit: Vec<String>,
    /// Layers that the host did not have, and that were not required, each with why.
    pub waived: Vec<(String, String)>,
    /// What held its limits.
    pub mechanism: String,
}

/// In a word, how it went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RunStatus {
    /// It exited with 0.
    Success,
    /// It exited with another code, or by a signal, or a limit ended it.
    Failure,
    /// Its time was up.
    Timeout,
    /// It was told to stop.
    Stopped,
    /// It did not begin.
    Refused,
}

impl RunStatus {
    /// Its name in reports.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Failure => "failure",
            Self::Timeout => "timeout",
            Self::Stopped => "stopped",
            Self::Refused => "refused",
        }
    }
}

impl RunReport {
    /// One of which there is nothing but the reason why it did not begin.
    pub(crate) fn refused(header: TraceHeader, refusal: Refusal) -> Self {
        Self {
            skill: header.skill_name,
            version: header.skill_version,
            trace_id: header.trace_id,
            trace: None,
            digest: None,
            trace_error: None,
            history_error: None,
            ended: Err(refusal),
            alarm: None,
            denied: DenialList::default(),
            summary: TraceSummary::default(),
            stdout: PrintedOutput::default(),
            stderr: PrintedOutput::default(),
            stop_signal: None,
            tidy_due: false,
        }
    }

    /// The same, now that it is recorded; or with the reason why it is not.
    pub(crate) fn recorded_in(mut self, history: &dyn RunHistory, request: &RunRequest) -> Self {
        self.history_error = history.record(request, &self).err().map(|error| error.to_string());
        self.tidy_due |= history.is_upkeep_due();
        self
    }

    /// In a word, how it went.
    #[must_use]
    pub fn status(&self) -> RunStatus {
        match &self.ended {
            Err(_) => RunStatus::Refused,
            Ok(ended) => match ended.by {
                EndCause::Timeout => RunStatus::Timeout,
                EndCause::Stopped => RunStatus::Stopped,
                _ if ended.exit_code == Some(0) => RunStatus::Success,
                _ => RunStatus::Failure,
            },
        }
    }

    /// The code that a command which ran this should exit with: the run's own; 124 when it reached its time limit; 125 when the sandbox refused it
    /// or failed, or its output could not be written; 126 and 127 for a program that cannot be executed or is not there; 128 and the signal when
    /// one ended it, or this program was sent one that did: 130 for an interrupt.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        let stopped = self.stop_signal.and_then(|signal| u8::try_from(128 + (signal & 0x7f)).ok());
        let ended = match (&self.ended, stopped) {
            (Ok(ended), _) => ended,
            (Err(Refusal::Stopped), Some(code)) => return code,
            (Err(refusal), _) => return refusal.exit_code(),
        };
        if let (EndCause::Stopped, Some(code)) = (ended.by, stopped) {
            return code;
        }
        // Who reads only the beginning has had enough; a disk that is full has lost something.
        if self.lost_output().is_some() {
            return 125;
        }
        match (ended.by, ended.exit_code, ended.signal) {
            (EndCause::Timeout, ..) => 124,
            (EndCause::Unobserved | EndCause::Uncovered, ..) => 125,
            (_, Some(code), _) => u8::try_from(code & 0xff).unwrap_or(125),
            (_, None, Some(signal)) => u8::try_from(128 + (signal & 0x7f)).unwrap_or(125),
            _ => 125,
        }
    }

    /// Why output was lost that somebody was to have: a full disk, not a pipe whose reader went away.
    #[must_use]
    pub fn lost_output(&self) -> Option<std::io::ErrorKind> {
        let failed = [self.stdout.failed, self.stderr.failed].into_iter().flatten();
        failed.into_iter().find(|kind| *kind != std::io::ErrorKind::BrokenPipe)
    }

    /// The same as [`RunReport::error`], with a code and, of parameters that break a rule, which and how.
    #[must_use]
    pub fn failure(&self) -> Option<RunFailure> {
        RunFailure::of_report(self)
    }

    /// Why it did not begin, or was ended; `None` for one that came to its own end.
    #[must_use]
    pub fn error(&self) -> Option<String> {
        match &self.ended {
            Err(refusal) => Some(refusal.to_string()),
            Ok(ended) => match ended.by {
                EndCause::Itself => {
                    self.lost_output().map(|why| format!("its output could not be written: {why}"))
                }
                EndCause::Timeout => Some("it reached its time limit".to_owned()),
                EndCause::Memory => Some("it used more memory than granted".to_owned()),
                EndCause::Processes => Some("it started more processes than granted".to_owned()),
                EndCause::CpuTime => Some("it used more processor time than granted".to_owned()),
                EndCause::Stopped => Some("it was stopped".to_owned()),
                EndCause::Unobserved => Some("it could not be observed as required".to_owned()),
                EndCause::Uncovered => Some(
                    "something that is forbidden to it was made or replaced meanwhile, or something that it may only read was replaced; run it again"
                        .to_owned(),
                ),
            },
        }
    }
}

fn milliseconds<S: serde::Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX))
}

impl Serialize for RunReport {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap as _;

        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("skill", &self.skill)?;
        map.serialize_entry("version", &self.version)?;
        map.serialize_entry("status", &self.status())?;
        map.serialize_entry("exit_code", &self.exit_code())?;
        map.serialize_entry("error", &self.failure())?;
        map.serialize_entry("ended", &self.ended.as_ref().ok())?;
        map.serialize_entry("stdout", &OutputAsText(&self.stdout))?;
        map.serialize_entry("stderr", &OutputAsText(&self.stderr))?;
        map.serialize_entry("alarm", &self.alarm)?;
        map.serialize_entry("denials", &self.denied.denials)?;
        map.serialize_entry("denials_omitted", &self.denied.omitted)?;
        map.serialize_entry("expected_lookups", &self.denied.expected)?;
        map.serialize_entry("unreached", &self.denied.unreached)?;
        map.serialize_entry("missed_tmp", &self.denied.missed_tmp)?;
        map.serialize_entry("summary", &self.summary)?;
        map.serialize_entry("trace_id", &self.trace_id.to_string())?;
        map.serialize_entry("trace", &self.trace)?;
        map.serialize_entry("digest", &self.digest.map(|digest| digest.to_string()))?;
        map.serialize_entry("trace_error", &self.trace_error)?;
        map.serialize_entry("history_error", &self.history_error)?;
        map.end()
    }
}

/// Output in JSON: as text, invalid bytes replaced.
struct OutputAsText<'a>(&'a PrintedOutput);

impl Serialize for OutputAsText<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap as _;

        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("text", &String::from_utf8_lossy(&self.0.kept))?;
        map.serialize_entry("bytes", &self.0.total)?;
        // Whether the limit took it or the caller had no room for it: it is not in the text.
        let kept = self.0.kept.len() as u64;
        let omitted = if kept == 0 { self.0.omitted } else { self.0.total.saturating_sub(kept) };
        map.serialize_entry("omitted", &omitted)?;
        map.end()
    }
}
