//! A tool of an agent runtime that runs a program it does not trust: the current folder read-only, a private home and `/tmp`, no network,
//! bounded, and told afterwards what was refused.
//!
//! ```sh
//! cargo run -p skillsandbox-examples --bin embed_enforcer -- python3 -c 'print(open("/etc/shadow").read())'
//! ```
#![allow(clippy::print_stdout, clippy::print_stderr)] // a program for a terminal

#[cfg(target_os = "linux")]
fn main() -> Result<std::process::ExitCode, Box<dyn std::error::Error>> {
    use std::sync::{Arc, Mutex};
    use std::time::Duration;

    use skillsandbox_enforcer::{
        AccessVerdict, Command, CommandStatus, ObservedAction, ObservedEvent, Observer, Plan, SyscallProfile,
    };

    /// Keeps what was refused; it is told in a thread of its own, while the program runs.
    #[derive(Default)]
    struct Refusals(Mutex<Vec<String>>);

    impl Observer for Refusals {
        fn observed(&self, event: &ObservedEvent) {
            if let ObservedAction::File(file) = &event.tried
                && let AccessVerdict::Denied(reason) = &file.verdict
                && let Ok(mut refusals) = self.0.lock()
            {
                // A stranger chose the path: escaped, it can neither forge a line nor move the cursor.
                let path = skillsandbox_text::escape_line(&file.path.to_string_lossy());
                refusals.push(format!("{} {path}: {reason}", file.operation));
            }
        }
    }

    let mut arguments = std::env::args_os().skip(1);
    let program = arguments.next().ok_or("name a program and its arguments")?;
    let here = std::env::current_dir()?;
    let plan = Plan::builder()
        .read(&here)
        .workdir(&here)
        .env("LANG", "C.UTF-8")
        .memory(256 << 20)
        .processes(64)
        .timeout(Duration::from_secs(30))
        .syscalls(SyscallProfile::Default)
        .build()?;
    let refusals = Arc::new(Refusals::default());
    let command = Command::new(program).args(arguments).captured(1 << 20).observer(refusals.clone());
    let outcome = plan.spawn(&command)?.wait()?;
    print!("{}", outcome.stdout.text());
    eprint!("{}", outcome.stderr.text());
    for refusal in refusals.0.lock().map_err(|_| "the observer failed")?.iter() {
        eprintln!("refused: {refusal}");
    }
    eprintln!("ended by {}", outcome.end);
    Ok(match outcome.status {
        CommandStatus::Exited(code) => u8::try_from(code).unwrap_or(1).into(),
        CommandStatus::Signalled(_) => std::process::ExitCode::FAILURE,
    })
}

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("the enforcer is Linux's");
}
