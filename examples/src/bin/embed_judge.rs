//! A second opinion: what the scanner says of skills, and what a model at an endpoint adds to it.
//!
//! ```sh
//! cargo run -p skillsandbox-examples --bin embed_judge -- http://127.0.0.1:11434/v1 llama3.1 examples/skills/weather
//! ```
#![allow(clippy::print_stdout)] // a program for a terminal

use skillsandbox_judge::{Judge, JudgeSettings, JudgeUrl};
use skillsandbox_scanner::{Scanner, SkillFiles, SkillJudge as _};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(url), Some(model)) = (arguments.next(), arguments.next()) else {
        return Err("usage: embed_judge URL MODEL SKILL...".into());
    };
    // Nothing is sent before it is asked, and nothing to anybody but this address.
    let judge = Judge::new(JudgeSettings::new(JudgeUrl::parse(&url)?, model))?;
    let scanner = Scanner::new();
    for folder in arguments {
        let skill = SkillFiles::from_dir(&folder)?;
        let mut report = scanner.scan(&skill);
        let opinion = judge.ask_about(&skill, &report);
        let summary = opinion.summary();
        // It can only get worse.
        scanner.add_opinion(opinion, &mut report);
        println!("{}: {}\n  second opinion: {summary}", report.skill, report.verdict.as_str());
    }
    Ok(())
}
