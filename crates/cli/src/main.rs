//! The `skillsandbox` command: arguments in, rendering and exit codes out. What it does lives in the libraries.

#![forbid(unsafe_code)]

mod args;
mod decision_lines;
mod output;
mod render;
mod style;
mod verbs;

use std::process::ExitCode;

use clap::Parser;

use crate::args::Cli;
use crate::output::ExitAnswer;

fn main() -> ExitCode {
    let cli = Cli::parse();
    cli.color.apply();
    match cli.verb.run() {
        Ok(ExitAnswer::Yes) => ExitCode::SUCCESS,
        Ok(ExitAnswer::No) => ExitCode::from(1),
        Ok(ExitAnswer::Code(code)) => ExitCode::from(code),
        Err(error) if output::is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            output::error(&error);
            ExitCode::from(2)
        }
    }
}
