//! What `run` and `exec` have in common: the flags, the live view, the summary, and how they are stopped.

pub(super) mod flags;
mod otel;
pub(super) mod past;
mod plan;
pub(super) mod signals;
mod summary;
mod view;

use skillsandbox_run::{Forward, Job, Options, Refusal, Report, RunFailure, Status, Stop, preview};

use crate::output::{self, Answer};
use flags::{Flags, Format};
use past::Asked;

/// Runs something in the way the flags ask for, records it, and says what came of it.
pub(super) fn run(
    flags: &Flags,
    asked: &Asked,
    run: impl FnOnce(Options) -> Report,
) -> anyhow::Result<Answer> {
    let stop = Stop::new();
    signals::watch(&stop)?;
    let mut options = Options::default();
    options.trace.clone_from(&flags.trace);
    options.tool = Some(concat!("skillsandbox ", env!("CARGO_PKG_VERSION")).to_owned());
    options.streams.stop = stop;
    options.streams.stdin = flags.stdin;
    let forward = if flags.format == Format::Json { Forward::Kept } else { Forward::Own };
    (options.streams.stdout, options.streams.stderr) = (forward, forward);
    let mut view = None;
    if flags.watch {
        let (sink, handle) = view::start()?;
        options.sinks.push(sink);
        view = Some(handle);
    }
    let spans = if flags.otel { Some(otel::start(&mut options)?) } else { None };
    let report = run(options);
    // Before anything is printed: whoever reads that may have gone away.
    asked.ended(flags, &report);
    if let (Err(refusal), Format::Text) = (&report.ended, flags.format) {
        refused(refusal);
    }
    match view {
        Some(view) => view.finish(&report),
        None if flags.format == Format::Text && !flags.quiet => summary::print(&report),
        None => {}
    }
    if flags.format == Format::Json {
        output::json(&serde_json::to_value(&report)?)?;
    }
    if let Some(spans) = spans {
        spans.finish();
    }
    Ok(Answer::Code(report.exit_code()))
}

/// Shows what would be run, and runs nothing.
pub(super) fn dry_run(flags: &Flags, job: &Job) -> anyhow::Result<Answer> {
    let shown = preview(job);
    if flags.format == Format::Json {
        output::json(&plan::json(job, &shown)?)?;
    } else {
        output::result(&plan::text(job, shown.as_ref().ok()))?;
        if let Err(refusal) = &shown {
            refused(refusal);
        }
    }
    Ok(match shown {
        Ok(preview) if preview.refused.is_none() => Answer::Yes,
        Ok(_) => Answer::Code(125),
        Err(refusal) => Answer::Code(refusal.exit_code()),
    })
}

/// Why nothing was run, where there is no report: in the form that was asked for.
pub(super) fn show_refusal(flags: &Flags, refusal: &Refusal) -> anyhow::Result<()> {
    if flags.format == Format::Json {
        return output::json(&serde_json::json!({
            "status": Status::Refused,
            "exit_code": refusal.exit_code(),
            "error": RunFailure::from(refusal),
        }));
    }
    refused(refusal);
    Ok(())
}

/// Why nothing was run. A declaration that is not valid is shown with its lines.
pub(super) fn refused(refusal: &Refusal) {
    if let Refusal::Load(error) = refusal {
        output::message(&crate::render::load_error(error));
        return;
    }
    output::message(&format!("\u{1b}[1;31mrefused\u{1b}[0m: {}", lines(&refusal.to_string())));
}

/// Several lines, each without what could deceive.
pub(super) fn lines(text: &str) -> String {
    text.lines().map(output::visible).collect::<Vec<_>>().join("\n")
}
