//! The project's own commands. `cargo xtask` lists them.
//!
//! This program is the first thing a fresh machine builds, so it needs no C library and little else.

#![forbid(unsafe_code)]
// It prints, and trusts what cargo says of its own workspace.
#![allow(clippy::print_stdout, clippy::print_stderr, clippy::indexing_slicing)]

mod behaviours;
mod bench;
mod compatibility;
mod demo;
mod elsewhere;
mod eval;
mod generate;
mod mcp_clients;
mod ordinary;
mod packages;
mod rotel;
mod setup;
mod skipped;
mod test;
mod workspace;

use std::process::ExitCode;

use anyhow::bail;

const HELP: &str = "\
Usage: cargo xtask COMMAND

For everybody:
  demo                  set up this machine, build, and show the product at work
  demo shell            the same stage, and a shell on it
  test                  set up this machine and run every check there is

For parts of the work:
  setup [--tests]       only the set-up: find or install libseccomp; and what the tests need
  test-ordinary         as root: the sandbox's tests again, as an ordinary user (part of `test`)
  packages              whether every crate could be published as it is (part of `test`)
  behaviours [--check]  how many of the promised behaviours a named test proves
  generate [--check]    write the generated files, or fail where one is stale
  eval --corpus DIR …   the scanner on labelled corpora: recall and false alarms, as it is and out of source
  eval --fit --corpus DIR …
                        the same, and write the weights of the rules: crates/scanner/src/weights.rs
  eval --check --corpus DIR …
                        the same, and fail where a rule blocks that is wrong too often out of source
  eval --mutate --corpus DIR … [--seed N] [--sample N]
                        the same after an attacker rewrote what was found: which rules are about techniques,
                        which about strings
  compatibility --skills DIR … [--program FILE] [SKILL …]
                        real skills of vendors from a checkout: installed, learnt, run, and the results looked at
  bench enforcer        what the sandbox costs, beside bubblewrap and no sandbox
  bench peers [OPTIONS] what a start of the released command costs, beside bubblewrap and other sandboxes;
                        --help says more
  bench network         what reaching a name costs, beside bare loopback
  bench watch           how much slower a program gets when each thing that it does is shown
  bench history         queries of a million recorded runs, beside a search of the same in a file of lines
  bench audit           an audit of a thousand installed skills, beside reading their files
  bench check-path      decisions a second of `skillsandbox check-path --stdin`
  bench scanner [--corpus DIR]
                        instructions of a scan under callgrind; time and memory of `skillsandbox scan`
  bench manifest        time and memory of `skillsandbox validate` on hostile manifests
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match run(&args.iter().map(String::as_str).collect::<Vec<_>>()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("\nxtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &[&str]) -> anyhow::Result<()> {
    match args {
        ["demo", rest @ ..] => demo::run(rest),
        ["compatibility", rest @ ..] => compatibility::run(rest),
        ["test"] => test::run(),
        ["test-ordinary"] => test::test_environment().and_then(|environment| ordinary::run(&environment)),
        ["packages"] => setup::run().and_then(|environment| packages::check(&environment)),
        ["setup"] => setup::run().map(|_| ()),
        ["setup", "--tests"] => test::test_environment().map(|_| ()),
        ["behaviours"] => behaviours::run(),
        ["behaviours", "--check"] => behaviours::check(),
        ["generate"] => generate::write(),
        ["generate", "--check"] => generate::check(None),
        ["bench", "manifest"] => bench::manifest(),
        ["bench", "scanner", "--corpus", corpus] => bench::scanner::run(Some(corpus)),
        ["bench", "scanner"] => bench::scanner::run(None),
        ["bench", "enforcer"] => bench::enforcer(),
        ["bench", "peers", rest @ ..] => bench::peers::run(rest),
        ["bench", "network"] => bench::network(),
        ["bench", "history"] => bench::history(),
        ["bench", "audit"] => bench::audit(),
        ["bench", "watch"] => bench::watch::run(),
        ["bench", "check-path"] => bench::check_path(),
        ["eval", rest @ ..] => eval::run(rest),
        ["measure", command @ ..] => bench::measure(command),
        [] | ["help" | "--help" | "-h"] => {
            print!("{HELP}");
            Ok(())
        }
        other => bail!("unknown command `{}`\n\n{HELP}", other.join(" ")),
    }
}
