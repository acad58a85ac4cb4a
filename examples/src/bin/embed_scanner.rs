//! A gate of a marketplace: skills come in as folders, and what is not SAFE says why.
//!
//! ```sh
//! cargo run -p skillsandbox-examples --bin embed_scanner -- examples/skills/*
//! ```
#![allow(clippy::print_stdout)] // a program for a terminal

use std::process::ExitCode;

use skillsandbox_scanner::{ScanVerdict, Scanner, SkillFiles};

fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    // Made once: it compiles the rules.
    let scanner = Scanner::new();
    let mut worst = ScanVerdict::Safe;
    for folder in std::env::args_os().skip(1) {
        let report = scanner.scan(&SkillFiles::from_dir(&folder)?);
        println!("{}: {}", report.skill, report.verdict.as_str());
        for finding in report.findings.iter().filter(|finding| finding.counts()) {
            println!("  {}:{}: {} ({})", finding.file, finding.line, finding.why, finding.rule);
        }
        worst = worst.max(report.verdict);
    }
    Ok(if worst < ScanVerdict::Blocked { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
