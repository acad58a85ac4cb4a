//! `cargo xtask eval`: the scanner on a labelled corpus.
//!
//! The corpus is not part of the repository: a folder with `labels.csv` (path, label, category) and the skills it names, given
//! with `--corpus`. It may hold live malware: it is only read.

#![forbid(unsafe_code)]
// It prints, and indexes what it made itself.
#![allow(clippy::print_stdout, clippy::print_stderr, clippy::indexing_slicing)]

mod corpus;
mod mutate;
mod verdicts;

use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let result = if args.contains(&"--mutate") { mutate::run(&args) } else { verdicts::run(&args) };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("\neval: {error:#}");
            ExitCode::FAILURE
        }
    }
}
