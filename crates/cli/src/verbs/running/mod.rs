//! What `run` and `exec` have in common: the flags, the live view, the summary, and how they are stopped.

pub(super) mod flags;
pub(super) mod grants;
mod otel;
mod plan;
pub(super) mod signals;
pub(super) mod skill_target;
mod summary;
mod targets;
#[cfg(unix)]
mod user_terminal;
mod view;

use skillsandbox_run::{Job, Refusal, RunFailure, RunOptions, RunReport, RunStatus, preview};

use crate::args::OutputFormat;
use crate::output::{self, ExitAnswer};
use crate::style::{RED, RESET};
use crate::verbs::run_history::tidy_later;
use flags::RunFlags;

/// Bytes of each output that a JSON result has: a command without a limit must not fill this program's memory.
const MOST_KEPT: usize = 16 << 20;

/// Runs something in the way the flags ask for, and says what came of it. The history calls it by the verb's name.
pub(super) fn run(
    flags: &RunFlags,
    verb: &str,
    run: impl FnOnce(RunOptions) -> RunReport,
) -> anyhow::Result<ExitAnswer> {
    flags.warn_of_old_names();
    if flags.format == OutputFormat::Text {
        output::check_stdout()?;
    }
    let terminal = flags.run_terminal()?;
    let stop = signals::stop_handle(terminal.as_ref())?;
    let mut options = RunOptions::default();
    options.trace.clone_from(&flags.trace);
    options.tool = Some(concat!("skillsandbox ", env!("CARGO_PKG_VERSION")).to_owned());
    options.history_tool = Some(verb.to_owned());
    options.streams.stop = stop;
    options.streams.stdin = flags.stdin;
    options.trace_limit = Some(flags.trace_limit);
    options.streams.keep = Some(MOST_KEPT);
    options.arguments_are_a_persons = true;
    (options.streams.stdout, options.streams.stderr) = targets::of(flags);
    let mut view = None;
    if flags.watch {
        let (sink, handle) = view::start()?;
        options.sinks.push(sink);
        view = Some(handle);
    }
    let spans = if flags.otel { Some(otel::start(&mut options)?) } else { None };
    options.streams.terminal = terminal;
    let raw = flags.enter_terminal()?;
    let report = run(options);
    // Before anything is said to the user.
    drop(raw);
    if let (Err(refusal), OutputFormat::Text) = (&report.ended, flags.format) {
        refused(refusal);
    }
    match view {
        Some(view) => view.finish(&report),
        None if flags.format == OutputFormat::Text && !flags.quiet => summary::print(&report),
        None => {}
    }
    if let (Some(why), OutputFormat::Text) = (report.lost_output(), flags.format) {
        output::message(&format!("{RED}error{RESET}: cannot write the output of the run: {why}"));
    }
    if flags.format == OutputFormat::Json {
        output::json(&serde_json::to_value(&report)?)?;
    }
    if let Some(spans) = spans {
        spans.finish();
    }
    tidy_later(&report);
    Ok(ExitAnswer::Code(report.exit_code()))
}

/// The threads of a run are few, and short: they share one heap.
pub(super) fn prepare_threads() {
    #[cfg(target_os = "linux")]
    skillsandbox_enforcer::share_one_heap();
}

/// Shows what would be run, and runs nothing.
pub(super) fn dry_run(flags: &RunFlags, job: &Job) -> anyhow::Result<ExitAnswer> {
    flags.warn_of_old_names();
    let shown = preview(job);
    if flags.format == OutputFormat::Json {
        output::json(&plan::json(job, &shown)?)?;
    } else {
        output::result(&plan::text(job, shown.as_ref().ok()))?;
        if let Err(refusal) = &shown {
            refused(refusal);
        }
    }
    Ok(match shown {
        Ok(preview) if preview.refused.is_none() => ExitAnswer::Yes,
        Ok(_) => ExitAnswer::Code(125),
        Err(refusal) => ExitAnswer::Code(refusal.exit_code()),
    })
}

/// Why nothing was run, where there is no report: in the form that was asked for.
pub(super) fn show_refusal(format: OutputFormat, refusal: &Refusal) -> anyhow::Result<()> {
    if format == OutputFormat::Json {
        return output::json(&serde_json::json!({
            "status": RunStatus::Refused,
            "exit_code": refusal.exit_code(),
            "error": RunFailure::from(refusal),
        }));
    }
    refused(refusal);
    Ok(())
}

/// A refusal is an answer; everything else is an error.
pub(super) fn refuse_or_fail(flags: &RunFlags, error: anyhow::Error) -> anyhow::Result<ExitAnswer> {
    let refusal = error.downcast::<Refusal>()?;
    show_refusal(flags.format, &refusal)?;
    Ok(ExitAnswer::Code(refusal.exit_code()))
}

/// Why nothing was run. A declaration that is not valid is shown with its lines.
pub(super) fn refused(refusal: &Refusal) {
    if let Refusal::Load(error) | Refusal::Policy(error) = refusal {
        output::message(&crate::render::load_error(error));
        return;
    }
    output::message(&format!("{RED}refused{RESET}: {}", lines(&refusal.to_string())));
}

/// What came of a run, in a few lines on standard error.
pub(super) fn show_summary(report: &RunReport) {
    summary::print(report);
}

/// Several lines, each without what could deceive.
pub(super) fn lines(text: &str) -> String {
    text.lines().map(output::visible).collect::<Vec<_>>().join("\n")
}
