//! Runs a command in the sandbox:
//!
//! ```text
//! confine [--read PATH]... [--write PATH]... [--forbid PATH]... [--env NAME=VALUE]... [--allow-env PATTERN]...
//!         [--host NAME[:PORT[:PROTOCOL]]]... [--cidr ADDRESS/PREFIX:PORT]... [--resolve NAME:PORT:ADDRESS:PORT]...
//!         [--resolver ADDRESS] [--observe_level off|violations|full] [--memory BYTES] [--processes N] [--cpu PERCENT] [--timeout SECONDS] [--profile NAME] -- PROGRAM [ARGUMENT]...
//! ```
#![allow(clippy::print_stderr)]

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use skillsandbox_enforcer::egress::{NetworkRule, Protocol};
use skillsandbox_enforcer::{
    Command, CommandStatus, ObserveLevel, ObservedEvent, Observer, Plan, StdinMode, SyscallProfile,
};

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
    let mut observe_level = ObserveLevel::Violations;
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
            Some("--host") => plan.egress(host(text()?)?),
            Some("--cidr") => plan.egress(range(text()?)?),
            Some("--resolver") => plan.resolver(text()?.parse()?),
            Some("--resolve") => {
                let mut parts = text()?.splitn(3, ':');
                let mut next = || parts.next().ok_or("--resolve takes NAME:PORT:ADDRESS:PORT");
                let (name, port, to) = (next()?.to_owned(), next()?.parse()?, next()?.parse()?);
                plan.pin(name, port, to)
            }
            Some("--observe") => {
                observe_level = text()?.parse()?;
                plan
            }
            Some("--memory") => plan.memory(text()?.parse()?),
            Some("--processes") => plan.processes(text()?.parse()?),
            Some("--cpu") => plan.cpu_percent(text()?.parse()?),
            Some("--disk") => plan.disk(text()?.parse()?),
            Some("--timeout") => plan.timeout(Duration::from_secs_f64(text()?.parse()?)),
            Some("--profile") => plan.syscalls(match text()? {
                "strict" => SyscallProfile::Strict,
                "permissive" => SyscallProfile::Permissive,
                _ => SyscallProfile::Default,
            }),
            _ => return Err(format!("unknown option {}", option.display()).into()),
        };
    };
    let mut command =
        Command::new(program).args(arguments).stdin(StdinMode::Inherited).observe_level(observe_level);
    if observe_level == ObserveLevel::Full {
        command = command.observer(Arc::new(Printer));
    }
    let outcome = plan.build()?.spawn(&command)?.wait()?;
    for hit in &outcome.limits_hit {
        eprintln!("confine: limit reached: {hit:?}");
    }
    for attempt in &outcome.network.attempts {
        eprintln!("confine: {attempt}");
    }
    Ok(match outcome.status {
        CommandStatus::Exited(code) => u8::try_from(code).unwrap_or(255),
        CommandStatus::Signalled(signal) => 128 + u8::try_from(signal).unwrap_or(0),
    })
}

/// With `--observe_level full`: everything, as it happens.
struct Printer;

impl Observer for Printer {
    fn observed(&self, observed: &ObservedEvent) {
        let who = observed.actor.as_ref().map(|actor| (actor.pid, actor.inner_pid, actor.binary.as_deref()));
        eprintln!("confine: {who:?} {:?}", observed.tried);
    }
}

fn host(text: &str) -> Result<NetworkRule, Box<dyn std::error::Error>> {
    let mut parts = text.split(':');
    let mut rule = NetworkRule::domain(parts.next().unwrap_or_default())?;
    if let Some(port) = parts.next() {
        rule = rule.ports([port.parse()?]);
    }
    Ok(rule.protocol(match parts.next() {
        Some("https") => Protocol::Https,
        Some("http") => Protocol::Http,
        Some("udp") => Protocol::Udp,
        _ => Protocol::Tcp,
    }))
}

fn range(text: &str) -> Result<NetworkRule, Box<dyn std::error::Error>> {
    let (range, port) = text.rsplit_once(':').ok_or("--cidr takes ADDRESS/PREFIX:PORT")?;
    let (address, prefix) = range.split_once('/').ok_or("--cidr takes ADDRESS/PREFIX:PORT")?;
    Ok(NetworkRule::cidr(address.parse()?, prefix.parse()?)?.ports([port.parse()?]))
}
