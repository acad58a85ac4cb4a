//! `cargo xtask eval`: the scanner on labelled corpora, as it is, out of source, and after an attacker rewrote what was found.
//!
//! The corpus is not part of the repository: a folder with `labels.csv` (path, label, category) and the skills it names, given
//! with `--corpus`. It may hold live malware: it is only read.

#![forbid(unsafe_code)]
// It prints, and indexes what it made itself.
#![allow(clippy::print_stdout, clippy::print_stderr, clippy::indexing_slicing)]

mod corpus;
mod fit;
mod folds;
mod judged;
mod mutate;
mod options;
mod rules;
mod sources;
mod tables;
mod verdicts;
mod weights_file;

use std::process::ExitCode;

use crate::options::{EvalOptions, EvalTask};

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let result = EvalOptions::read(&args).and_then(|options| match options.task {
        EvalTask::Mutate => mutate::run(&options),
        EvalTask::Tables | EvalTask::Fit | EvalTask::Check => verdicts::run(&options),
    });
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("\neval: {error:#}");
            ExitCode::FAILURE
        }
    }
}
