//! `skillsandbox history show`: all that is known of one run.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::Context as _;
use clap::Args;
use serde_json::{Value, json};
use skillsandbox_store::history::Details;
use skillsandbox_tracer::TraceError;

use super::{BOLD, DIM, GREEN, RED, RESET, YELLOW, colour, duration, open, whole};
use crate::args::OutputFormat;
use crate::output::{self, ExitAnswer};

/// Tell all that is known of one run: what it was given, what was denied, and whether its trace is still as it was written
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  skillsandbox history show 3f2a9c1b
  skillsandbox history show --format json 3f2a9c1b | jq .denials")]
pub(super) struct HistoryShowArgs {
    /// The id of the run, or how it begins
    #[arg(value_name = "ID")]
    id: String,

    /// How to show it
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: OutputFormat,
}

impl HistoryShowArgs {
    pub(super) fn run(&self) -> anyhow::Result<ExitAnswer> {
        let history = open()?.context("nothing was recorded yet")?;
        let details = history.find(&self.id)?;
        let state = TraceCheck::of(details.record.trace.as_deref(), details.record.digest.as_deref());
        match self.format {
            OutputFormat::Text => output::result(&page(&details, &state))?,
            OutputFormat::Json => {
                let mut value = serde_json::to_value(&details)?;
                if let Some(object) = value.as_object_mut() {
                    object.insert("trace_state".to_owned(), json!(state.word));
                    object.insert("trace_detail".to_owned(), json!(state.detail));
                }
                output::json(&value)?;
            }
        }
        Ok(ExitAnswer::Yes)
    }
}

/// What became of the trace since.
struct TraceCheck {
    word: &'static str,
    detail: Option<String>,
}

impl TraceCheck {
    fn of(trace: Option<&Path>, digest: Option<&str>) -> Self {
        let Some(trace) = trace else { return Self { word: "none", detail: None } };
        match trace.metadata() {
            Ok(found) if !found.is_file() => {
                return Self { word: "unreadable", detail: Some("it is not a file".to_owned()) };
            }
            _ => {}
        }
        match skillsandbox_tracer::verify_trace(trace) {
            Ok(verified) => match digest {
                Some(digest) if verified.digest.to_string() != digest => {
                    let detail = format!("it fits together, but its digest is {}", verified.digest);
                    Self { word: "replaced", detail: Some(detail) }
                }
                Some(_) => Self { word: "intact", detail: None },
                None => Self { word: "unknown", detail: Some("no digest of it was recorded".to_owned()) },
            },
            Err(TraceError::Read { .. }) if !trace.exists() => Self { word: "gone", detail: None },
            Err(error @ TraceError::Read { .. }) => {
                Self { word: "unreadable", detail: Some(error.to_string()) }
            }
            Err(error) => Self { word: "changed", detail: Some(error.to_string()) },
        }
    }
}

fn page(details: &Details, state: &TraceCheck) -> String {
    let record = &details.record;
    let version = record.version.as_deref().map(|version| format!(" {version}")).unwrap_or_default();
    let (colour, status) = (colour(record.status), record.status.as_str());
    let mut page = format!(
        "{BOLD}{}{}{RESET}: {colour}{status}{RESET} ({})\n",
        whole(&record.skill),
        whole(&version),
        whole(&record.ending)
    );
    let mut line = |name: &str, text: &str| {
        let _ = writeln!(page, "  {DIM}{name:<11}{RESET} {text}");
    };
    let when = record.timestamp.to_zoned(jiff::tz::TimeZone::system());
    line("id", &whole(&record.execution_id));
    line("when", &when.strftime("%Y-%m-%d %H:%M:%S %:z").to_string());
    line("took", &duration(record.duration_ms));
    line("tool", &whole(&record.tool));
    if let Some(user) = &record.user {
        line("user", &whole(user));
    }
    if let Some(code) = record.exit_code {
        line("exit code", &code.to_string());
    }
    for text in record.error.iter().flat_map(|error| error.lines()) {
        line("error", &whole(text));
    }
    if let Value::Object(parameters) = &record.parameters {
        for (name, value) in parameters {
            line("parameter", &format!("{} = {}", whole(name), whole(&value.to_string())));
        }
    }
    if let Value::Array(arguments) = &record.arguments
        && !arguments.is_empty()
    {
        let words: Vec<String> = arguments.iter().map(|argument| whole(&argument.to_string())).collect();
        line("arguments", &words.join(" "));
    }
    let trace =
        record.trace.as_ref().map_or_else(|| "none".to_owned(), |trace| whole(&trace.display().to_string()));
    line("trace", &trace);
    let shade = match state.word {
        "intact" => GREEN,
        "none" | "gone" | "unknown" => YELLOW,
        _ => RED,
    };
    if record.trace.is_some() {
        let detail = state.detail.as_deref().map(|detail| format!(": {}", whole(detail))).unwrap_or_default();
        line("", &format!("{shade}{}{RESET}{detail}", state.word));
        if !record.complete {
            line("", "not everything that was tried is in it");
        }
    }
    if let Some(digest) = &record.digest {
        line("digest", &whole(digest));
    }
    classes(&mut page, details);
    denials(&mut page, details);
    page
}

fn classes(page: &mut String, details: &Details) {
    for class in &details.classifications {
        let prevented = match (class.prevented, class.unknown) {
            (_, true) => "UNKNOWN whether prevented",
            (true, false) => "prevented",
            (false, false) => "NOT prevented",
        };
        let _ = writeln!(
            page,
            "\n{RED}{}{RESET} ({}, {prevented})\n  {}",
            whole(&class.class),
            whole(&class.severity),
            whole(&class.message)
        );
    }
}

fn denials(page: &mut String, details: &Details) {
    if details.record.unknown > 0 {
        let _ = writeln!(
            page,
            "\n{RED}unknown{RESET} what became of: {} attempts, which the trace names",
            details.record.unknown
        );
    }
    if details.record.denied == 0 {
        return;
    }
    let _ = writeln!(page, "\n{YELLOW}prevented{RESET} attempts: {}", details.record.denied);
    for denial in &details.denials {
        let times = if denial.count > 1 { format!(" ({} times)", denial.count) } else { String::new() };
        let by = denial.process.as_deref().map(|process| format!(" by {process}")).unwrap_or_default();
        let _ = writeln!(page, "  {}{DIM}{}{times}{RESET}", whole(&denial.what), whole(&by));
        if let Some(declare) = &denial.declare {
            let _ = writeln!(page, "    {DIM}allow it: {}{RESET}", whole(declare));
        }
    }
    if details.denials_omitted > 0 {
        let _ = writeln!(page, "  {DIM}and {} more kinds, in the trace{RESET}", details.denials_omitted);
    }
}
