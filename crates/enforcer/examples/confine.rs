//! Runs a command in the sandbox:
//!
//! ```text
//! confine [--read PATH]... [--write PATH]... [--forbid PATH]... [--env NAME=VALUE]... [--allow-env PATTERN]...
//!         [--memory BYTES] [--processes N] [--cpu PERCENT] [--timeout SECONDS] [--profile NAME] -- PROGRAM [ARGUMENT]...
//! ```
#![allow(clippy::print_stderr)]

use std::process::ExitCode;
use std::time::Duration;

use skillsandbox_enforcer::{Command, Input, Plan, Profile, Status};

fn main() -> ExitCode {
    match run() {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("confine: {error}");
            ExitCode::from(125)
        }
    }
}

fn run() -> Result<u8, Box<dyn std::error::Error>> {
    let mut plan = Plan::builder();
    let mut arguments = std::env::args_os().skip(1);
    let program = loop {
        let option = arguments.next().ok_or("no program given")?;
        if option == "--" {
            break arguments.next().ok_or("no program given")?;
        }
        let value = arguments.next().ok_or("an option without a value")?;
        let text = || value.to_str().ok_or("not text");
        plan = match option.to_str() {
            Some("--read") => plan.read(value),
            Some("--write") => plan.write(value),
            Some("--forbid") => plan.forbid(value),
            Some("--workdir") => plan.workdir(value),
            Some("--env") => {
                let (name, value) = text()?.split_once('=').ok_or("--env takes NAME=VALUE")?;
                plan.env(name, value)
            }
            Some("--allow-env") => plan.allow_env(text()?),
            Some("--memory") => plan.memory(text()?.parse()?),
            Some("--processes") => plan.processes(text()?.parse()?),
            Some("--cpu") => plan.cpu_percent(text()?.parse()?),
            Some("--disk") => plan.disk(text()?.parse()?),
            Some("--timeout") => plan.timeout(Duration::from_secs_f64(text()?.parse()?)),
            Some("--profile") => plan.syscalls(match text()? {
                "strict" => Profile::Strict,
                "permissive" => Profile::Permissive,
                _ => Profile::Default,
            }),
            _ => return Err(format!("unknown option {}", option.display()).into()),
        };
    };
    let command = Command::new(program).args(arguments).stdin(Input::Inherited);
    let outcome = plan.build()?.spawn(&command)?.wait()?;
    for hit in &outcome.limits_hit {
        eprintln!("confine: limit reached: {hit:?}");
    }
    Ok(match outcome.status {
        Status::Exited(code) => u8::try_from(code).unwrap_or(255),
        Status::Signalled(signal) => 128 + u8::try_from(signal).unwrap_or(0),
    })
}
