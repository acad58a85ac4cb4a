//! `skillsandbox trace verify`: is this trace as it was written?

use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use skillsandbox_tracer::{TraceDigest, TraceError, VerifiedTrace};

use crate::args::OutputFormat;
use crate::output::{self, ExitAnswer, visible};

/// Check that a trace is as the run wrote it
///
/// Finds every edit, removal, reordering and truncation, and an end that does not follow from the events. Whoever writes the
/// whole file anew can make it fit again: against that, compare with the digest that the run printed.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  skillsandbox trace verify trace.json
  skillsandbox trace verify trace.json --digest \"$(cat trace.digest)\"
  skillsandbox trace verify --format json trace.json | jq .how")]
pub(crate) struct TraceVerifyArgs {
    /// The trace
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// The digest that the run printed, kept somewhere else
    #[arg(long, value_name = "HEX")]
    digest: Option<TraceDigest>,

    /// How to show the result
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: OutputFormat,
}

impl TraceVerifyArgs {
    pub(crate) fn run(&self) -> anyhow::Result<ExitAnswer> {
        let verified = match skillsandbox_tracer::verify_trace(&self.file) {
            Err(error @ TraceError::Read { .. }) => return Err(error.into()),
            verified => verified,
        };
        let other = match (&verified, self.digest) {
            (Ok(verified), Some(digest)) if verified.digest != digest => Some(digest),
            _ => None,
        };
        match self.format {
            OutputFormat::Text => self.tell(&verified, other)?,
            OutputFormat::Json => output::json(&report(&verified, other))?,
        }
        Ok(if verified.is_ok() && other.is_none() { ExitAnswer::Yes } else { ExitAnswer::No })
    }

    fn tell(
        &self,
        verified: &Result<VerifiedTrace, TraceError>,
        other: Option<TraceDigest>,
    ) -> anyhow::Result<()> {
        let file = visible(&self.file.display().to_string());
        match (verified, other) {
            (Ok(verified), None) => {
                let summary = &verified.summary;
                let complete = if summary.complete { "" } else { "; not everything that was tried is in it" };
                output::result(&format!(
                    "{file}: intact, {} events of {}{complete}\ndigest {}\n",
                    summary.events,
                    visible(&verified.header.skill_name),
                    verified.digest
                ))
            }
            (Ok(verified), Some(digest)) => {
                output::message(&format!(
                    "{file}: another trace: it fits together, but its digest is {}, not {digest}",
                    verified.digest
                ));
                Ok(())
            }
            (Err(error), _) => {
                output::message(&format!("{file}: {}", visible(&error.to_string())));
                Ok(())
            }
        }
    }
}

fn report(verified: &Result<VerifiedTrace, TraceError>, other: Option<TraceDigest>) -> serde_json::Value {
    match verified {
        Ok(verified) => {
            let mut report = json!({
                "intact": other.is_none(), "digest": verified.digest, "trace_id": verified.header.trace_id,
                "skill_name": verified.header.skill_name, "events": verified.summary.events,
                "complete": verified.summary.complete,
            });
            if let (Some(digest), Some(report)) = (other, report.as_object_mut()) {
                report.insert("how".to_owned(), json!("other_digest"));
                report.insert("expected_digest".to_owned(), json!(digest));
            }
            report
        }
        Err(TraceError::Tampered(tampered)) => json!({
            "intact": false, "how": tampered.how.as_str(), "line": tampered.line, "sequence": tampered.sequence,
            "message": tampered.what,
        }),
        Err(error) => json!({ "intact": false, "how": "not_a_trace", "message": error.to_string() }),
    }
}
