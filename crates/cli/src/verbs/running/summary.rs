//! What a run came to, in a few lines on standard error.

use std::fmt::Write as _;

use skillsandbox_run::{DeniedAttempt, RunReport, RunStatus};
use skillsandbox_tracer::Prevention;

use crate::output::{message, visible};
use crate::style::{BOLD, DIM, GREEN, RED, RESET, YELLOW};

/// Denials that are shown; the trace has all.
const SHOWN: usize = 10;

pub(super) fn print(report: &RunReport) {
    message(&text(report));
}

fn text(report: &RunReport) -> String {
    let mut text = headline(report);
    prevented(&mut text, report);
    for found in &report.summary.classifications {
        let techniques: Vec<&str> = found.techniques.iter().map(|technique| technique.id.as_str()).collect();
        let how = found.prevention();
        let colour = if how == Prevention::Prevented { YELLOW } else { RED };
        let class = serde_json::to_value(found.class).ok();
        let class = class.as_ref().and_then(|class| class.as_str()).unwrap_or("unknown");
        let _ = write!(
            text,
            "\n  {colour}{class}{RESET} {} {DIM}{}{RESET}, {}",
            visible(&found.message),
            techniques.join(" "),
            how.as_str()
        );
    }
    for note in notes(report) {
        let _ = write!(text, "\n  {DIM}{}{RESET}", visible(&note));
    }
    text
}

fn headline(report: &RunReport) -> String {
    let version = report.version.as_deref().map(|version| format!(" {version}")).unwrap_or_default();
    let colour = if report.status() == RunStatus::Success { GREEN } else { RED };
    let how = match &report.ended {
        Err(_) => "refused, nothing was executed".to_owned(),
        Ok(ended) => {
            let code = match (ended.exit_code, ended.signal) {
                (Some(code), _) => format!("exit code {code}"),
                (None, Some(signal)) => format!("ended by signal {signal}"),
                (None, None) => "ended".to_owned(),
            };
            let why = report.error().map(|why| format!(": {why}")).unwrap_or_default();
            format!("{code} after {:.2} s{why}", ended.duration.as_secs_f64())
        }
    };
    format!("{BOLD}{}{}{RESET}: {colour}{}{RESET}", visible(&report.skill), visible(&version), visible(&how))
}

fn prevented(text: &mut String, report: &RunReport) {
    if report.denials.is_empty() {
        return;
    }
    let count = report.denials.len() as u64 + report.denials_omitted;
    let _ = write!(text, "\n  {YELLOW}prevented{RESET} {count} kinds of attempts");
    for denial in report.denials.iter().take(SHOWN) {
        line(text, denial);
    }
    if let more @ 1.. = count.saturating_sub(SHOWN as u64) {
        let _ = write!(text, "\n    {DIM}and {more} more: `skillsandbox trace show` has them{RESET}");
    }
}

fn line(text: &mut String, denial: &DeniedAttempt) {
    let times = if denial.count > 1 { format!(" ({} times)", denial.count) } else { String::new() };
    let by = denial.process.as_deref().map(|process| format!(" by {process}")).unwrap_or_default();
    let _ = write!(text, "\n    {}{DIM}{}{times}{RESET}", visible(&denial.what), visible(&by));
    if let Some(declare) = &denial.declare {
        let _ = write!(text, "\n      {DIM}not declared: {}{RESET}", visible(declare));
    }
}

/// Where the trace is, and what is wrong with it.
pub(super) fn notes(report: &RunReport) -> Vec<String> {
    let mut notes = Vec::new();
    if let Ok(ended) = &report.ended {
        for (layer, why) in &ended.waived {
            notes.push(format!("without the {layer} layer, which was not required: {why}"));
        }
    }
    if let unknown @ 1.. = report.summary.unknown {
        notes.push(format!("of {unknown} attempts it is not known what became of them"));
    }
    for because in &report.summary.incomplete_because {
        notes.push(format!("the trace is not complete: {because}"));
    }
    let omitted = report.stdout.omitted + report.stderr.omitted;
    if omitted > 0 {
        notes.push(format!(
            "{omitted} bytes of output were thrown away: the limit is resources.max_output_bytes"
        ));
    }
    if let Some(trace) = &report.trace {
        notes.push(format!("trace: {}", trace.display()));
    }
    if let Some(digest) = &report.digest {
        notes.push(format!("digest: {digest}"));
    }
    notes
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn what_is_unknown_is_said_in_the_summary_and_is_not_prevented() {
        let mut report = skillsandbox_run::run(
            &skillsandbox_run::Job::new("tested", "/there/is/no/such/program"),
            &skillsandbox_run::Unrecorded,
            skillsandbox_run::RunOptions::default(),
        );
        let found = |unknown: bool| {
            serde_json::from_value(serde_json::json!({
                "class": "credential_harvesting", "severity": "high", "mitre_tactic": "credential-access", "techniques": [], "evidence": [0],
                "prevented": !unknown, "unknown": unknown, "message": "looked for credentials",
            }))
            .unwrap()
        };
        report.summary.classifications = vec![found(false)];
        let known = text(&report);
        assert!(known.contains(", prevented") && !known.contains("not known"), "{known}");
        report.summary.unknown = 2;
        report.summary.classifications = vec![found(true)];
        let unknown = text(&report);
        assert!(unknown.contains("of 2 attempts it is not known what became of them"), "{unknown}");
        assert!(unknown.contains(&format!(", {}", Prevention::Unknown.as_str())), "{unknown}");
        assert!(!unknown.contains(", prevented"), "{unknown}");
    }
}
