//! Every technique of the probe, inside our own sandbox: none may get through, and the victim must not have noticed anything. The
//! control, the same techniques without a sandbox, is `control.rs`.
//!
//! Run as root and as an ordinary user; `SKILLSANDBOX_PROBE` names the probe where it is not where cargo built it.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::fs::{self, File};
use std::net::UdpSocket;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use skillsandbox_enforcer::{
    Command, CommandStatus, EndCause, Error, Plan, PlanBuilder, RunOutcome, StdinMode, SyscallProfile,
};
use skillsandbox_probe::{Canary, Context, Control, Group, Planted, Report, Verdict, all, reports};
use tempfile::TempDir;

fn probe() -> PathBuf {
    let named = std::env::var_os("SKILLSANDBOX_PROBE").map(PathBuf::from);
    named.unwrap_or_else(|| env!("CARGO_BIN_EXE_skillsandbox-probe").into()).canonicalize().unwrap()
}

struct Stage {
    planted: Planted,
    _folder: TempDir,
}

impl Stage {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let planted = Planted::start(&probe(), &folder.path().join("victim")).unwrap();
        Self { planted, _folder: folder }
    }

    fn plan(&self) -> PlanBuilder {
        grants(Plan::builder(), self.planted.context())
    }

    fn attack(&self, plan: PlanBuilder, arguments: &[&str]) -> RunOutcome {
        attack(plan, self.planted.context(), arguments)
    }
}

/// What a skill of this victim would be granted.
fn grants(plan: PlanBuilder, context: &Context) -> PlanBuilder {
    let plan = plan.read(probe()).read(&context.readonly).read(&context.skill).write(&context.granted);
    plan.memory(512 << 20).processes(128).open_files(256).disk(16 << 20).timeout(Duration::from_mins(2))
}

fn attack(plan: PlanBuilder, context: &Context, arguments: &[&str]) -> RunOutcome {
    let command = Command::new(probe())
        .args(["attack", "--context", &context.to_json()])
        .args(arguments.iter().copied());
    plan.build().unwrap().spawn(&command.captured(4 << 20)).unwrap().wait().unwrap()
}

fn parsed(outcome: &RunOutcome) -> Vec<Report> {
    assert!(!outcome.stdout.is_truncated());
    reports(&outcome.stdout.text()).unwrap_or_else(|error| panic!("{error}: {outcome:?}"))
}

/// All reports that are not as they should be.
fn wrong(reports: &[Report], allowed_to_be_unable: &[&str]) -> String {
    let bad = reports.iter().filter(|report| match report.verdict {
        Verdict::Held => false,
        Verdict::Unable => !allowed_to_be_unable.contains(&report.technique.as_str()),
        Verdict::Through => true,
    });
    bad.map(|report| format!("{}: {:?} ({})\n", report.technique, report.verdict, report.detail)).collect()
}

/// What cannot be tried for lack of something on this host, not because of the sandbox: the terminal has a test of its own, and
/// only root can plant other users' files.
const NEEDS_MORE: &[&str] = &[
    "tty-open",
    "tty-type",
    "tty-type-high-bits",
    "tty-console",
    "unix-services",
    "setuid-known",
    "setuid-planted",
    "read-other-user",
];

#[test]
fn no_technique_gets_out_of_the_default_profile() {
    // In a process of its own, which has what a careless launcher has: open descriptors, ignored signals, secrets.
    let secret = Canary::random().unwrap();
    let script = format!(
        "trap '' HUP INT TERM USR1 USR2 PIPE; exec '{}' helper_attack --exact --ignored --nocapture",
        std::env::current_exe().unwrap().display()
    );
    let mut careless = std::process::Command::new("/bin/sh");
    careless
        .args(["-c", &script])
        .env("LAUNCHER_SECRET", secret.reveal())
        .env("LAUNCHER_HASH", secret.sha256())
        .stdin(Stdio::null());
    let said = careless.output().unwrap();
    let text = String::from_utf8_lossy(&said.stdout).into_owned() + &String::from_utf8_lossy(&said.stderr);
    assert!(said.status.success(), "{text}");
    assert!(text.contains("techniques were held"), "{text}");
}

#[test]
#[ignore = "run by another test, as a launcher that leaves things open"]
fn helper_attack() {
    let mut stage = Stage::new();
    let context = stage.planted.context_mut();
    context.secrets.insert("launcher".into(), std::env::var("LAUNCHER_HASH").unwrap());
    let file = File::open(context.home.join(".ssh/id_ed25519")).unwrap();
    let folder = File::open(&context.home).unwrap();
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.connect(("127.0.0.1", context.sockets.udp)).unwrap();
    let memory = rustix::fs::memfd_create("left-open", rustix::fs::MemfdFlags::empty()).unwrap();
    let open: [&dyn AsFd; 4] = [&file, &folder, &socket, &memory];
    for fd in open {
        rustix::io::fcntl_setfd(fd.as_fd(), rustix::io::FdFlags::empty()).unwrap();
    }
    context.launcher.open_files = 4;
    context.launcher.signals = true;

    let outcome = stage.attack(stage.plan(), &["--no-bombs"]);
    let reports = parsed(&outcome);
    let expected = all().filter(|technique| !matches!(technique.control, Control::Skipped(_))).count();
    assert_eq!(reports.len(), expected, "every technique was tried");
    let wrong = wrong(&reports, NEEDS_MORE);
    assert!(wrong.is_empty(), "{wrong}");
    let witness = stage.planted.finish().unwrap();
    assert!(witness.untouched(), "{witness:?}");
    println!(
        "{} techniques were held",
        reports.iter().filter(|report| report.verdict == Verdict::Held).count()
    );
}

#[test]
fn what_was_granted_works() {
    let stage = Stage::new();
    let command = Command::new(probe()).args(["grants", "--context", &stage.planted.context().to_json()]);
    let outcome = stage.plan().build().unwrap().spawn(&command.captured(1 << 20)).unwrap().wait().unwrap();
    assert!(outcome.success(), "{}{}", outcome.stdout.text(), outcome.stderr.text());
}

#[test]
fn no_technique_gets_out_of_the_strict_profile() {
    let stage = Stage::new();
    let mut tried = 0;
    for technique in all().filter(|technique| technique.group != Group::Bomb) {
        // Each in a run of its own: there is no new process to try it in.
        let plan = stage.plan().syscalls(SyscallProfile::Strict).timeout(Duration::from_secs(20));
        let outcome = stage.attack(plan, &["--no-fork", "--only", technique.name]);
        let reports = reports(&outcome.stdout.text()).unwrap_or_default();
        let through: Vec<_> = reports.iter().filter(|report| report.verdict == Verdict::Through).collect();
        assert!(through.is_empty(), "{through:?}");
        // One that was killed in the middle of it says nothing.
        tried += usize::from(!reports.is_empty() || matches!(outcome.status, CommandStatus::Signalled(_)));
    }
    assert!(tried > 300, "{tried} were tried");
    assert!(stage.planted.finish().unwrap().untouched());
}

/// Where only the probe may be executed, no other program runs, wherever it lies and whoever starts it.
#[test]
fn no_other_program_runs_where_programs_are_limited() {
    let stage = Stage::new();
    let roads = ["exec-memfd", "exec-granted", "exec-tmp"];
    let has_run = |plan: PlanBuilder, name: &str| {
        let reports = parsed(&stage.attack(plan, &["--only", name]));
        assert_eq!(reports.len(), 1, "{reports:?}");
        assert_eq!(reports[0].verdict, Verdict::Held, "{reports:?}");
        reports[0].detail.starts_with("it ran")
    };
    for name in roads {
        assert!(has_run(stage.plan(), name), "control: {name}");
        assert!(!has_run(stage.plan().programs([probe()]), name), "{name}");
    }
    // The loader starts the probe itself, which may be executed; a copy of it may not.
    let context = stage.planted.context();
    let copy = context.readonly.join("copy");
    fs::copy(probe(), &copy).unwrap();
    let loader = ["/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1"];
    let loader = loader.iter().find(|path| Path::new(path).exists()).unwrap();
    let starts = |plan: PlanBuilder| {
        let script = format!("'{loader}' '{}' helper read /dev/null", copy.display());
        let command = Command::new("/bin/sh").args(["-c", &script]);
        plan.build()
            .unwrap()
            .spawn(&command.captured(1 << 16))
            .unwrap()
            .wait()
            .unwrap()
            .stdout
            .text()
            .into_owned()
    };
    assert!(starts(stage.plan()).starts_with("ran"), "control");
    assert_eq!(starts(stage.plan().programs([Path::new("/bin/sh").to_path_buf(), probe()])), "");
}

/// Without the filter of system calls, the other walls still keep everything that is the user's.
#[test]
fn secrets_files_processes_and_networks_are_safe_without_the_filter_of_calls() {
    let stage = Stage::new();
    let groups = [Group::Read, Group::Process, Group::Write, Group::Skill, Group::Ipc];
    for group in groups {
        let outcome =
            stage.attack(stage.plan().syscalls(SyscallProfile::Permissive), &["--group", group.name()]);
        let reports = parsed(&outcome);
        let through: Vec<_> = reports.iter().filter(|report| report.verdict == Verdict::Through).collect();
        assert!(through.is_empty(), "{}: {through:?}", group.name());
        assert!(!reports.is_empty());
    }
    let witness = stage.planted.finish().unwrap();
    assert!(witness.untouched(), "{witness:?}");
}

#[test]
fn bombs_are_held_one_by_one() {
    let stage = Stage::new();
    let bombs: Vec<_> = all().filter(|technique| technique.group == Group::Bomb).collect();
    assert!(bombs.len() >= 6);
    for bomb in bombs {
        let plan = stage.plan().memory(160 << 20).processes(64).open_files(128);
        let outcome = stage.attack(plan, &["--only", bomb.name]);
        // The attacker says that it was held back, or the sandbox says that it had to end it.
        let ended = matches!(outcome.end, EndCause::Memory | EndCause::Processes | EndCause::Timeout);
        let wrong = if ended { String::new() } else { wrong(&parsed(&outcome), &[]) };
        assert!(wrong.is_empty(), "{wrong} {outcome:?}");
        assert!(ended || outcome.stdout.total > 0, "{}: {outcome:?}", bomb.name);
    }
    assert!(stage.planted.finish().unwrap().untouched());
}

#[test]
fn stubborn_processes_and_daemons_end_with_the_run() {
    let stage = Stage::new();
    let granted = stage.planted.context().granted.clone();
    let beats = granted.join("beats");
    let program = probe().display().to_string();
    let daemon = format!("'{program}' daemonise 60 '{}'; sleep 0.3", beats.display());
    for script in [daemon, format!("exec '{program}' stubborn")] {
        let plan = stage.plan().timeout(Duration::from_millis(800)).build().unwrap();
        let command = Command::new("/bin/sh").args(["-c", &script]).captured(1000);
        let outcome = plan.spawn(&command).unwrap().wait().unwrap();
        assert!(outcome.duration < Duration::from_secs(20), "{outcome:?}");
    }
    let size = || fs::metadata(&beats).unwrap().len();
    let before = size();
    assert!(before > 0, "control: the daemon lived");
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(size(), before, "the daemon outlived the run");
}

#[test]
fn a_sandbox_inside_the_sandbox_is_refused_clearly() {
    let program = std::env::current_exe().unwrap().canonicalize().unwrap();
    let command = Command::new(&program).args(["helper_nested", "--exact", "--ignored", "--nocapture"]);
    let plan = Plan::builder().read(&program).timeout(Duration::from_mins(1)).build().unwrap();
    let outcome = plan.spawn(&command.captured(1 << 16)).unwrap().wait().unwrap();
    let text = outcome.stdout.text().into_owned() + &outcome.stderr.text();
    assert!(text.contains("refused: the namespaces layer is not available"), "{text}");
}

#[test]
#[ignore = "run by another test, inside the sandbox"]
fn helper_nested() {
    match Plan::builder().build().unwrap().spawn(&Command::new("/bin/true")) {
        Ok(_) => println!("it started"),
        Err(error @ Error::Layer { .. }) => println!("refused: {error}"),
        Err(error) => println!("another error: {error}"),
    }
}

/// The launcher has a terminal, made by script(1): nothing can be typed into it from inside.
#[test]
fn the_launchers_terminal_is_out_of_reach() {
    if !Path::new("/usr/bin/script").exists() {
        eprintln!("SKIPPED: script(1) is not installed, so there is no terminal to attack");
        return;
    }
    let helper = format!(
        "'{}' helper_terminal --exact --ignored --nocapture",
        std::env::current_exe().unwrap().display()
    );
    let mut script = std::process::Command::new("/usr/bin/script");
    let said = script
        .args(["--quiet", "--return", "--command", &helper, "/dev/null"])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&said.stdout);
    assert!(text.contains("the terminal was held"), "{text}");
}

#[test]
#[ignore = "run by another test, with a terminal"]
fn helper_terminal() {
    let mut stage = Stage::new();
    stage.planted.context_mut().launcher.terminal = true;
    let context = stage.planted.context().to_json();
    let command =
        Command::new(probe()).args(["attack", "--context", &context, "--group", Group::Terminal.name()]);
    // Standard input and error are the terminal itself.
    let command = command
        .captured(1 << 20)
        .stdin(StdinMode::Inherited)
        .stderr(skillsandbox_enforcer::OutputMode::Inherited);
    let outcome = stage.plan().build().unwrap().spawn(&command).unwrap().wait().unwrap();
    let reports = parsed(&outcome);
    let wrong = wrong(&reports, &[]);
    assert!(wrong.is_empty() && reports.len() >= 3, "{wrong} {reports:?}");
    println!("the terminal was held");
}
