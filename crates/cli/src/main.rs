//! The `skillsandbox` command: arguments in, rendering and exit codes out. What it does lives in the libraries.

#![forbid(unsafe_code)]

mod args;
mod decision_lines;
mod output;
mod render;
mod style;
mod verbs;

use std::ffi::OsStr;
use std::io;
use std::process::ExitCode;

use clap::{ArgMatches, FromArgMatches as _};
use skillsandbox_manifest::LoadError;

use crate::args::Cli;
use crate::output::ExitAnswer;

/// The exit code of wrong usage and of errors that are no answer.
const FAILED: u8 = 2;

fn main() -> ExitCode {
    let words: Vec<_> = std::env::args_os().collect();
    let matches = match Cli::matches(&words) {
        Ok(matches) => matches,
        Err(error) => return usage(&error),
    };
    let wants_json = is_json_asked_for(&matches);
    let cli = match Cli::from_arg_matches(&matches) {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    cli.common.color.apply();
    if wants_json {
        output::want_json();
    }
    match cli.verb.run() {
        Ok(ExitAnswer::Yes) => ExitCode::SUCCESS,
        Ok(ExitAnswer::No) => ExitCode::from(1),
        Ok(ExitAnswer::Code(code)) => ExitCode::from(code),
        Err(error) if output::is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            output::error(&error);
            if wants_json && !output::has_result() {
                // Who cannot be told by either stream still has the exit code.
                let _ = output::error_document(error_code(&error), &format!("{error:#}"), FAILED);
            }
            ExitCode::from(FAILED)
        }
    }
}

/// Help and the version are results; wrong usage is an error, in a document where one was asked for.
fn usage(error: &clap::Error) -> ExitCode {
    if !error.use_stderr() {
        return match output::result(&error.render().ansi().to_string()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                output::error(&error);
                ExitCode::from(FAILED)
            }
        };
    }
    let _ = error.print();
    if is_json_in_words() {
        let text = error.render().to_string();
        let first = text.lines().next().unwrap_or_default();
        let _ = output::error_document("USAGE", first.trim_start_matches("error: "), FAILED);
    }
    ExitCode::from(FAILED)
}

/// Whether the verb that is called was told `--format json`.
fn is_json_asked_for(matches: &ArgMatches) -> bool {
    let mut last = matches;
    while let Some((_, inner)) = last.subcommand() {
        last = inner;
    }
    let format = last.try_get_raw("format").ok().flatten();
    format.is_some_and(|mut values| values.next_back() == Some(OsStr::new("json")))
}

/// The same of words that could not be understood.
fn is_json_in_words() -> bool {
    let words: Vec<_> = std::env::args_os().skip(1).take_while(|word| word != "--").collect();
    let pairs =
        words.windows(2).any(|pair| matches!(pair, [flag, value] if flag == "--format" && value == "json"));
    pairs || words.iter().any(|word| word == "--format=json")
}

/// What kind of error it is, for programs.
fn error_code(error: &anyhow::Error) -> &'static str {
    if error.chain().find_map(|cause| cause.downcast_ref::<LoadError>()).is_some() {
        return "INVALID_MANIFEST";
    }
    match error.chain().find_map(|cause| cause.downcast_ref::<io::Error>()).map(io::Error::kind) {
        Some(io::ErrorKind::NotFound) => "NOT_FOUND",
        Some(io::ErrorKind::PermissionDenied) => "PERMISSION_DENIED",
        _ => "FAILED",
    }
}
